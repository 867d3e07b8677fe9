import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// What `chime import` sends, from where, and how it reports the answer.
@Suite struct ImportTests {
  @Test func summaryAndReasonsGoToStandardError() throws {
    let outcome = chime(["import", "-"], daemon: try VerbTests.daemon())
    #expect(
      outcome.errors == """
        skipped: line 9: @reboot means the start of the machine, which is not a time
        1 reminder added, 2 skipped: 1 has passed, 1 rejected

        """)
    #expect(chime(["import", "-", "-q"], daemon: try VerbTests.daemon()).errors.isEmpty)
    let dry = chime(["import", "-", "--dry-run"], daemon: try VerbTests.daemon())
    #expect(dry.errors.contains("1 reminder would be added, 2 skipped"))
    let export = chime(["export", "--format", "ics"], daemon: try VerbTests.daemon())
    #expect(export.errors == "warning: \"Tea\": it is paused\n2 reminders exported\n")
    #expect(export.output == "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")
  }

  @Test(
    arguments: [
      ("import", "what should be imported? A file is missing", "chime import calendar.ics, or chime import crontab"),
      (
        "import a.ics b.ics", "chime import takes one file; \"b.ics\" is one too many",
        "put a name of several words in quotes"
      ),
      ("import - --all-day-at noonish", "--all-day-at needs a time of day such as 08:30, not \"noonish\"", nil),
      ("export r7k2 --tag a", "--tag cannot be used with an ID", nil),
      ("export --format json", "--format must be one of toml, ics, icalendar, not \"json\"", nil),
      ("apply", "what should be applied? A file or a directory is missing", "chime apply reminders.toml"),
      (
        "apply a b", "chime apply takes one file or one directory; \"b\" is one too many",
        "put several files into a directory"
      ),
    ] as [(String, String, String?)])
  func contradictoryOptionsAreRefused(_ line: String, _ message: String, _ hint: String?) throws {
    let outcome = chime(words(line), daemon: try VerbTests.daemon())
    #expect(outcome.status == .usage)
    #expect(outcome.errors.hasPrefix("chime: \(message)\n"), "\(outcome.errors)")
    if let hint { #expect(outcome.errors.contains("  \(hint)\n")) }
  }

  @Test func missingFileIsReported() throws {
    let outcome = chime(["import", "/nonexistent/a.ics"], daemon: try VerbTests.daemon())
    #expect(outcome.status == .failed)
    #expect(outcome.errors == "chime: cannot read /nonexistent/a.ics: No such file or directory\n")
  }

  @Test func parseErrorHasItsLineInTheFile() throws {
    let daemon = try FakeDaemon { _, _ in
      .error("InvalidText", RemindersInterface.InvalidText(line: 2, message: "it is odd"))
    }
    // The second line sent is the fourth of the file: one was folded, one is empty.
    let text = "BEGIN:VCALENDAR\r\n :\r\n\r\nVERSION:9\r\nEND:VCALENDAR\r\n"
    let outcome = chime(["import", "-"], daemon: daemon, input: text)
    #expect(outcome.status == .failed)
    #expect(outcome.errors == "chime: standard input, line 4: it is odd\n")
    let hinted = chime(["import", "-"], daemon: daemon, input: "0 1 * * * x\n")
    #expect(hinted.errors.hasSuffix("  for a crontab: chime import crontab -\n"))
  }

  @Test func foldedLinesAreJoinedEvenWithinACharacter() throws {
    let daemon = try VerbTests.daemon()
    let file = RunFolder.url.appending(path: "chime-\(UUID().uuidString).ics").path()
    defer { try? FileManager.default.removeItem(atPath: file) }
    let euro = Array("\u{20AC}".utf8)
    let bytes =
      [0xEF, 0xBB, 0xBF] + Array("BEGIN:VCALENDAR\r\nX:".utf8) + euro.prefix(1) + Array("\r\n ".utf8)
      + euro.dropFirst() + Array("\r\n\tb\nEND:VCALENDAR".utf8)
    try Data(bytes).write(to: URL(filePath: file))
    #expect(chime(["import", file], daemon: daemon).status == .success)
    #expect(daemon.calls.first?.parameters["text"] == .string("BEGIN:VCALENDAR\nX:\u{20AC}b\nEND:VCALENDAR\n"))
  }

  @Test func systemCrontabsAreDetectedByTheirPath() throws {
    let daemon = try VerbTests.daemon()
    guard FileManager.default.fileExists(atPath: "/etc/crontab") else { return }
    #expect(chime(["import", "crontab", "/etc/crontab"], daemon: daemon).status == .success)
    #expect(daemon.calls.first?.parameters["system"] == true)
  }

  // MARK: Parts

  static func event(_ uid: String, _ more: String = "") -> String {
    "BEGIN:VEVENT\nUID:\(uid)\n\(more)BEGIN:VALARM\nTRIGGER:PT0S\nEND:VALARM\nEND:VEVENT\n"
  }

  @Test func longCalendarIsSentInPartsThatAreCalendars() throws {
    let head = "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VTIMEZONE\nTZID:X\nEND:VTIMEZONE\n"
    let filler = "DESCRIPTION:" + String(repeating: "x", count: 1_000) + "\n"
    let events = (0..<3_000).map { Self.event("\($0)", filler) }.joined()
    // The exception is far from its series, but must be in the same part.
    let text = head + events + Self.event("7", "RECURRENCE-ID:20260101T000000\n") + "END:VCALENDAR\n"
    let parts = try CalendarParts.split(Array(text.utf8), name: "a.ics")
    #expect(parts.count == 4)
    var seen = 0
    for part in parts {
      #expect(part.text.hasPrefix(head))
      #expect(part.text.hasSuffix("END:VEVENT\nEND:VCALENDAR\n"))
      #expect(try JSONEncoder().encode(part.text).count < 1_000_100)
      #expect(part.numbers?.count == part.text.split(separator: "\n").count)
      seen += part.text.components(separatedBy: "BEGIN:VEVENT\n").count - 1
    }
    #expect(seen == 3_001)
    let first = try #require(parts.first)
    #expect(first.text.contains("RECURRENCE-ID"))
    let lines = text.split(separator: "\n")
    for part in parts {
      for (index, line) in part.text.split(separator: "\n").enumerated() {
        #expect(lines[part.line(index + 1) - 1] == line)
      }
    }
  }

  @Test func severalCalendarsInOneFileKeepTheirHeaders() throws {
    let filler = "DESCRIPTION:" + String(repeating: "\\", count: 300_000) + "\n"
    let calendars = (0..<4).map {
      "BEGIN:VCALENDAR\nX-N:\($0)\n" + Self.event("1", String(repeating: filler, count: 6)) + "END:VCALENDAR\n"
    }
    let parts = try CalendarParts.split(Array(calendars.joined().utf8), name: "a.ics")
    #expect(parts.count == 4)
    for (index, part) in parts.enumerated() {
      #expect(part.text.hasPrefix("BEGIN:VCALENDAR\nX-N:\(index)\n"))
      #expect(part.text.components(separatedBy: "VCALENDAR").count == 3)
    }
  }

  @Test func tooLongEventIsNamed() {
    let line = "ATTACH:" + String(repeating: "x", count: 60_000) + "\n"
    let text =
      "BEGIN:VCALENDAR\n" + Self.event("1") + Self.event("2", String(repeating: line, count: 20)) + "END:VCALENDAR\n"
    let failure = #expect(throws: Failure.self) { try CalendarParts.split(Array(text.utf8), name: "a.ics") }
    #expect(failure?.message == "a.ics, line 8: this event is longer than a message may be (1 MiB)")
  }

  @Test func longAttachmentIsCut() throws {
    let text =
      "BEGIN:VCALENDAR\n" + Self.event("1", "ATTACH:" + String(repeating: "é", count: 1_000_000) + "\n")
      + "END:VCALENDAR\n"
    let parts = try CalendarParts.split(Array(text.utf8), name: "a.ics")
    #expect(parts.count == 1)
    #expect(parts.allSatisfy { $0.text.utf8.count < 70_000 })
  }

  /// The daemon refuses every part of a truncated file, so nothing of it is imported.
  @Test(arguments: [1, 3_000])
  func truncatedFileIsRefusedWhole(_ count: Int) throws {
    let filler = "DESCRIPTION:" + String(repeating: "x", count: 1_000) + "\n"
    let text =
      "BEGIN:VCALENDAR\n" + (0..<count).map { Self.event("\($0)", filler) }.joined() + "BEGIN:VEVENT\nSUMMARY:x\n"
    let parts = try CalendarParts.split(Array(text.utf8), name: "a.ics")
    #expect(parts.count == (count == 1 ? 1 : 4))
    #expect(parts.allSatisfy { !$0.text.contains("END:VCALENDAR") })
    #expect(parts.last?.text.hasSuffix("SUMMARY:x\n") == true)
  }
}
