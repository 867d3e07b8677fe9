import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// The built program, run as a person or a script runs it.
@Suite struct ProgramTests {
  @Test func whenPrintsTimes() throws {
    let answer = try run([
      "when", "weekdays at 8:30", "--tz", "Europe/Prague", "--after", "2026-03-27T08:26:40Z", "-n", "3", "--plain",
    ])
    #expect(answer.status == 0)
    #expect(
      answer.output == """
        next\tepochSeconds\tabbreviation\tsecondsUntil\tremark
        2026-03-30T08:30:00+02:00\t1774852200\tCEST\t252200\t
        2026-03-31T08:30:00+02:00\t1774938600\tCEST\t338600\t
        2026-04-01T08:30:00+02:00\t1775025000\tCEST\t425000\t

        """)
  }

  @Test func whenRemarksOnClockChanges() throws {
    let spring = try run([
      "when", "daily at 2:30", "--tz", "Europe/Prague", "--after", "2026-03-28T12:00:00Z", "-n", "2",
    ])
    #expect(
      spring.output == """
        daily at 02:30
        phrase, Europe/Prague

        NEXT                  OFFSET       LEFT
        Sun 2026-03-29 03:30  +02:00 CEST  in 13 h 30 min  02:30 does not exist on 2026-03-29; moved to 03:30
        Mon 2026-03-30 02:30  +02:00 CEST  in 1 d 13 h

        """)
    let autumn = try run([
      "when", "daily at 2:30", "--tz", "Europe/Prague", "--after", "2026-10-24T12:00:00Z", "--json",
    ])
    let json = try JSON(parsing: autumn.output)
    #expect(json["remarks"] == ["02:30 happens twice on 2026-10-25; this is the first"])
    guard case .array(let times)? = json["times"] else { throw CocoaError(.coderReadCorrupt) }
    #expect(times.map { $0["remark"] != .null } == [true, false, false, false, false])
    #expect(times[0]["secondsUntil"] == 45_000)
  }

  @Test func whenExplainsAnInvalidSchedule() throws {
    let answer = try run(["when", "every", "90n"])
    #expect(answer.status == 64)
    #expect(answer.output.isEmpty)
    #expect(
      answer.errors == """
        chime: "n" is not a unit of time
          every 90n
                  ^
          did you mean "every 90m"?

        """)
  }

  @Test func batchAnswersEachLineInOrder() throws {
    let questions = """
      {"when": "weekdays at 8:30", "timezone": "Europe/Prague", "after": 1774600000, "count": 2}
      {"when": "every 90n"}
      nonsense
      [1]

      {"when": 3}
      {}
      {"when": "daily at 8", "timezone": "Europe/Prag"}
      {"when": "daily at 8", "timezone": "../../etc/passwd"}
      {"when": "daily at 8", "after": -1}
      {"when": "daily at 8", "after": 99999999999999}
      {"when": "daily at 8", "count": -1}
      {"when": "daily at 8", "gap": "leap"}
      {"when": "daily at 2:30", "timezone": "Europe/Prague", "after": 1774680000, "count": 2, "gap": "skip"}
      {"when": "at 2026-12-01 09:00", "timezone": "UTC", "after": 1774600000, "count": 5}
      {"when": "at 2001-01-01 09:00", "timezone": "UTC", "after": 1774600000}
      {"when": "daily at 8", "timezone": "UTC", "after": 1774600000, "count": 1}
      {"when": "daily at 8", "latitude": 50}
      {"when": "daily at 8", "latitude": 50, "longitude": 181}
      {"when": "daily at 8", "as": "esperanto"}
      {"when": "at 2026-12-01 09:00", "timezone": "UTC", "after": 1774600000, "as": "phrase", "latitude": 50, "longitude": 14.5}
      """
    let answer = try run(["when", "--batch"], input: questions)
    #expect(answer.status == 0)
    let lines = try answer.output.split(separator: "\n").map { try JSON(parsing: $0) }
    let expected: [JSON] = [
      [1_774_852_200, 1_774_938_600], "invalidSchedule", "invalidJSON", "invalidJSON", "invalidValue", "invalidValue",
      "invalidTimezone", "invalidTimezone", "outOfRange", "outOfRange", "invalidValue", "invalidValue",
      [1_774_830_600, 1_774_917_000], [1_796_115_600], "neverOccurs", [1_774_684_800],
      "invalidValue", "invalidValue", "invalidValue", [1_796_115_600],
    ]
    try #require(lines.count == expected.count)
    for (line, expected) in zip(lines, expected) {
      #expect((line["next"] ?? line["error"]?["code"]) == expected, "\(line)")
    }
    #expect(lines[0]["canonical"] == "weekdays at 08:30")
    #expect(lines[0]["dialect"] == "phrase")
    #expect(lines[1]["error"]?["column"] == 9)
    #expect(lines[1]["error"]?["suggestion"] == "every 90m")
    #expect(lines[6]["error"]?["suggestion"] == "Europe/Prague")
    #expect(lines[0]["remarks"] == nil)
    #expect(lines.last?["remarks"] == [])
    #expect(lines.last?["dialect"] == "phrase")
  }

  /// An answer is printed before the next question is read.
  @Test func batchAnswersBeforeTheNextLineIsRead() throws {
    let process = try ChildProcess(builtCommand().path, ["when", "--batch"], input: .written, output: .piped)
    for _ in 0..<3 {
      process.write(Data("{\"when\":\"daily at 8\"}\n".utf8))
      #expect(process.outputPipe?.availableData.last == UInt8(ascii: "\n"))
    }
    process.closeInput()
    #expect(process.wait() == .exited(0))
  }

  @Test func batchAnswersHostileLines() throws {
    let long = String(repeating: "x", count: 1 << 21)
    let deep = String(repeating: "[", count: 100_000)
    let answer = try run(["when", "--batch"], input: "\(long)\n\(deep)\n\u{0}\n{\"when\":\"daily at 8\"}")
    #expect(answer.status == 0)
    #expect(answer.output.split(separator: "\n").count == 4)
    #expect(answer.output.contains("longer than 1048576 bytes"))
  }

  @Test(
    arguments: [
      (["list"], 69), (["add", "Tea", "every", "90m"], 69), (["status"], 69), (["watch"], 69), (["lsit"], 64), ([], 0),
      (["--help"], 0), (["--version"], 0), (["version", "--json"], 0), (["when"], 64),
      (["when", "daily", "at", "8"], 0),
      (["add", "Tea", "every", "90m", "--dry-run"], 0), (["list", "--socket", String(repeating: "x", count: 200)], 64),
    ] as [([String], Int32)])
  func exitStatusFollowsTheError(_ arguments: [String], _ status: Int32) throws {
    let answer = try run(arguments)
    #expect(answer.status == status, "\(answer.errors)")
    #expect(answer.output.isEmpty == (status != 0))
    if status == 69 { #expect(answer.errors.contains("systemctl --user enable --now chimed.socket chimed.service")) }
  }

  @Test func closedOutputPipeIsNoError() throws {
    let output = Pipe()
    try output.fileHandleForReading.close()
    let process = try ChildProcess(
      builtCommand().path, ["when", "every 1m", "-n", "10000"],
      output: .descriptor(output.fileHandleForWriting.fileDescriptor))
    #expect(process.wait() == .exited(0))
    #expect(process.errors.isEmpty)
  }

  @Test(arguments: [
    ("Asia/Kathmandu", "Asia/Kathmandu", "+05:45"), (":Europe/Prague", "Europe/Prague", "+01:00"), ("", "UTC", "Z"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "local", "+01:00"), ("<+03>-3", "local", "+03:00"),
    ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo", "+09:00"),
  ])
  func localZoneFollowsTheVariableTZ(_ variable: String, _ name: String, _ offset: String) throws {
    let answer = try run(
      ["when", "at 2026-12-01 09:00", "--after", "2026-11-01T00:00:00Z", "--json"], environment: ["TZ": variable])
    let json = try JSON(parsing: answer.output)
    #expect(json["zone"] == .string(name))
    #expect(json["next"] == [.string("2026-12-01T09:00:00\(offset)")])
  }

  @Test func localZoneIsFoundThroughItsLink() throws {
    let link = RunFolder.url.appending(path: "chime-localtime-\(getpid())").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr/share/zoneinfo/Asia/Tokyo")
    defer { try? FileManager.default.removeItem(atPath: link) }
    let zones = ZoneFiles(environment: [:], localLink: link)
    #expect(try zones.zone("local").identifier == "Asia/Tokyo")
    let none = ZoneFiles(environment: [:], localLink: link + "x")
    #expect(try none.zone("local") == .utc)
  }

  @Test func manualIsUpToDate() throws {
    let root = URL(filePath: Package.folder)
    let manual = try String(contentsOf: root.appending(path: "docs/command.md"), encoding: .utf8)
    #expect(manual == Manual.markdown(.standard), "make it anew: chime help --markdown > docs/command.md")
  }
}
