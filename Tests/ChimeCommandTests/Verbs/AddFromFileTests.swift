import ChimeControl
import Foundation
import Synchronization
import Testing
import Varlink

@testable import ChimeCommand

/// What `chime add --from` sends for each line, and how it reports lines that are refused.
@Suite struct AddFromFileTests {
  /// Adds every reminder, with an id made of the call's number and the draft's index; refuses titles containing "bad".
  private func daemon() throws -> FakeDaemon {
    let calls = Mutex(0)
    return try FakeDaemon { _, parameters in
      let drafts = parameters["reminders"]?.items ?? []
      let faults = drafts.enumerated().filter { $0.element["title"] == "bad" }.map {
        RemindersInterface.DraftFault(index: $0.offset, field: "when", message: "it never comes")
      }
      if !faults.isEmpty { return .error("InvalidDrafts", RemindersInterface.InvalidDrafts(faults: faults)) }
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      let ids = parameters["dryRun"] == true ? [] : drafts.indices.map { "c\(number)n\($0)" }
      return .reply(RemindersInterface.AddMany.Reply(ids: ids, warnings: ["there is no endpoint team yet"]))
    }
  }

  private func line(_ title: String, _ more: String = "") -> String {
    "{\"title\": \"\(title)\", \"when\": \"every 90m\"\(more)}\n"
  }

  @Test func optionsApplyToEveryLine() throws {
    let daemon = try daemon()
    let input = line("a") + "\n" + line("b", #", "channels": ["desktop"], "urgency": "low""#) + line("c")
    let outcome = chime(["add", "--from", "-", "--to", "team", "--tag", "x", "--plain"], daemon: daemon, input: input)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.output == "line\tid\n1\tc1n0\n3\tc1n1\n4\tc1n2\n")
    #expect(outcome.errors == "warning: there is no endpoint team yet\n3 reminders were added\n")
    let drafts = try #require(daemon.calls.first?.parameters["reminders"]).items
    #expect(drafts.map { $0["title"]?.text } == ["a", "b", "c"])
    #expect(drafts.map { $0["channels"]?.items.first?.text } == ["team", "desktop", "team"])
    #expect(drafts.map { $0["tags"]?.items.first?.text } == ["x", "x", "x"])
    #expect(drafts[1]["urgency"] == "low")
    // The last line may lack its line feed.
    let json = chime(["add", "--from", "-", "--json"], daemon: daemon, input: String(input.dropLast()))
    #expect(json.output.contains(#""line":4"#) && json.output.contains(#""dryRun":false"#), "\(json.output)")
  }

  @Test func linesAreSentInPartsWithTheirOwnTokens() throws {
    let daemon = try daemon()
    let input = (1...4_500).map { line("r\($0)") }.joined()
    let outcome = chime(["add", "--from", "-", "--token", "t"], daemon: daemon, input: input)
    #expect(outcome.errors.hasSuffix("4500 reminders were added\n"), "\(outcome.errors)")
    #expect(daemon.calls.map { $0.parameters["reminders"]?.items.count } == [2_000, 2_000, 500])
    #expect(daemon.calls.map { $0.parameters["token"]?.text } == ["t:1", "t:2001", "t:4001"])
  }

  @Test func longLinesAreSentInPartsThatFitAMessage() throws {
    let daemon = try daemon()
    let body = String(repeating: "/", count: 60_000)
    let input = (1...12).map { line("r\($0)", ", \"body\": \"\(body)\"") }.joined()
    #expect(chime(["add", "--from", "-"], daemon: daemon, input: input).status == .success)
    #expect(daemon.calls.map { $0.parameters["reminders"]?.items.count ?? 0 } == [5, 5, 2])
  }

  @Test(
    arguments: [
      (#"{"when": "daily"}"#, #""title" is missing"#), ("[1]", "it is not a JSON object, such as"),
      ("nonsense", "it is not a JSON object, such as"), (#"{"title": "a", "when": 3}"#, #""when" is invalid"#),
      (#"{"title": "a", "when": "daily", "chanels": []}"#, #"there is no field "chanels"; did you mean channels?"#),
      (#"{"title": "a", "when": "daily", "nag": {"evry": "10m"}}"#, #"there is no field "evry""#),
      (#"{"title": "a", "when": "daily", "urgency": "huge"}"#, #""urgency" is invalid"#),
      (#"{"title": "\#(String(repeating: "a", count: 66_000))", "when": "daily"}"#, "it is longer than 64 KiB"),
    ])
  func invalidLineIsReportedWithItsNumber(_ text: String, _ message: String) throws {
    let daemon = try daemon()
    let outcome = chime(["add", "--from", "-"], daemon: daemon, input: line("a") + text + "\n" + line("b"))
    #expect(outcome.status == .failed)
    #expect(outcome.errors.hasPrefix("chime: 1 line of standard input is invalid\n"), "\(outcome.errors)")
    #expect(outcome.errors.contains("standard input:2: \(message)"), "\(outcome.errors.prefix(500))")
    #expect(outcome.errors.hasSuffix("  nothing was added\n"), "\(outcome.errors.suffix(500))")
    #expect(daemon.calls.isEmpty, "nothing of the part is sent")
  }

  @Test func refusedPartEndsTheImport() throws {
    let daemon = try daemon()
    let input = (1...5_000).map { line($0 == 2_500 || $0 == 2_600 ? "bad" : "r\($0)") }.joined()
    let outcome = chime(["add", "--from", "-"], daemon: daemon, input: input)
    #expect(outcome.status == .failed)
    #expect(outcome.errors.contains("chime: 2 lines of standard input are invalid\n"), "\(outcome.errors)")
    #expect(outcome.errors.contains("standard input:2500: when: it never comes\n"), "\(outcome.errors)")
    #expect(outcome.errors.contains("lines 1 to 2000 were added; correct the file, then add the rest: tail -n +2001 "))
    #expect(daemon.calls.count == 2, "nothing is sent after it")
  }

  @Test func dryRunReportsAllFaultsAndAddsNothing() throws {
    let daemon = try daemon()
    let input = (1...5_000).map { line($0 % 2_000 == 7 ? "bad" : "r\($0)") }.joined() + "{}\n"
    let outcome = chime(["add", "--from", "-", "--dry-run"], daemon: daemon, input: input)
    #expect(outcome.status == .failed)
    for number in ["7: when", "2007: when", "4007: when", "5001: \"title\" is missing"] {
      #expect(outcome.errors.contains("standard input:\(number)"), "\(outcome.errors)")
    }
    #expect(daemon.calls.allSatisfy { $0.parameters["dryRun"] == true })
    let good = chime(["add", "--from", "-", "--dry-run"], daemon: daemon, input: line("a"))
    #expect(good.status == .success && good.errors.hasSuffix("1 reminder would be added\n"), "\(good.errors)")
  }

  @Test func contradictoryOptionsAreRefused() throws {
    let daemon = try daemon()
    let titled = chime(["add", "Tea", "daily", "--from", "-"], daemon: daemon)
    #expect(titled.status == .usage)
    #expect(titled.errors.contains("--from cannot be used with a title or a schedule"), "\(titled.errors)")
    let missing = chime(["add", "--from", "/nonexistent/a.jsonl"], daemon: daemon)
    #expect(missing.errors == "chime: cannot read /nonexistent/a.jsonl: No such file or directory\n")
    #expect(chime(["add", "--from", "-"], daemon: daemon).errors == "0 reminders were added\n")
    #expect(daemon.calls.isEmpty)
  }
}

extension JSON {
  fileprivate var items: [JSON] {
    if case .array(let items) = self { items } else { [] }
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
