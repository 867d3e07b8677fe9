import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Restored data are validated like a client's before any computation: no fault may crash the daemon, block it, or
/// reach the store.
@Suite(.serialized) struct BackupValidationTests {
  typealias Wired = TrackersInterface

  /// A JSON value that replaces the one at a path in a line.
  struct Fault: CustomTestStringConvertible, Sendable {
    /// The kind of line: `reminder`.
    var line: String
    var path: [String]
    var value: String
    var testDescription: String { "\(line).\(path.joined(separator: ".")) = \(value.prefix(60))" }

    init(_ path: String, _ value: String) {
      let names = path.split(separator: ".").map(String.init)
      (line, self.path, self.value) = (names[0], Array(names.dropFirst()), value)
    }
  }

  private static let least = "-9223372036854775808"
  private static let most = "9223372036854775807"

  static let faults: [Fault] = [
    // The three that once crashed or blocked the daemon.
    Fault("reminder.skipNext", "-1"), Fault("reminder.skipNext", most),
    Fault("reminder.place", #"{"latitude":50,"longitude":1e308}"#),
    Fault("reminder.skipNext", "10001"), Fault("reminder.skipNext", least),
    Fault("reminder.place", #"{"latitude":1e308,"longitude":0}"#),
    Fault("reminder.place", #"{"latitude":90.1,"longitude":0}"#),
    Fault("reminder.place", #"{"latitude":0,"longitude":-180.5}"#),
    Fault("reminder.grace", "0"), Fault("reminder.grace", "-1"), Fault("reminder.grace", most),
    Fault("reminder.grace", least),
    Fault("reminder.jitter", "-1"), Fault("reminder.jitter", most), Fault("reminder.jitter", least),
    Fault("reminder.snoozeLengths", "[]"), Fault("reminder.snoozeLengths", "[0]"),
    Fault("reminder.snoozeLengths", "[600000,\(least)]"), Fault("reminder.snoozeLengths", "[\(most)]"),
    Fault("reminder.snoozeLengths", "[1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000]"),
    Fault("reminder.nag", #"{"every":0,"max":3,"escalation":[]}"#),
    Fault("reminder.nag", #"{"every":-60000,"max":3,"escalation":[]}"#),
    Fault("reminder.nag", #"{"every":60000,"max":-1,"escalation":[]}"#),
    Fault("reminder.nag", #"{"every":60000,"max":\#(most),"escalation":[]}"#),
    Fault("reminder.nag", #"{"every":60000,"max":3,"escalation":[{"from":-5,"channels":["desktop"]}]}"#),
    Fault("reminder.nag", #"{"every":60000,"max":3,"escalation":[{"from":1,"channels":[]}]}"#),
    Fault("reminder.channels", "[]"), Fault("reminder.channels", #"["a b"]"#),
    Fault("reminder.title", #""""#), Fault("reminder.title", #""a\u001b[2J""#), Fault("reminder.title", #""a\nb""#),
    Fault("reminder.title", "\"\(String(repeating: "x", count: 1_601))\""),
    Fault("reminder.body", #""a\u0000b""#), Fault("reminder.body", #""a\r\nb""#),
    Fault("reminder.body", #""\u009b2J""#),
    Fault("reminder.tags", #"["a\u0007"]"#), Fault("reminder.icon", #""a\u001b""#), Fault("reminder.sound", #""\n""#),
    Fault("reminder.url", #""https://example.org/\u0007""#), Fault("reminder.url", #""nonsense""#),
    Fault("reminder.category", #""a\tb""#),
    Fault("reminder.timezone", #""../../etc/passwd""#), Fault("reminder.timezone", #""a\u001bb""#),
    Fault("reminder.set", #""a\nb""#), Fault("reminder.schedule", #""daily at 25:00""#),
    Fault("reminder.id", #""a b""#),
    Fault("reminder.quiet", #"{"hours":["25:00-26:00"]}"#),
    Fault(
      "reminder.tracker",
      #"{"tracker":"No","logsWhenDone":true,"quietWhenDone":false,"followsEntries":false,"pace":false}"#),
    Fault(
      "reminder.tracker",
      #"{"tracker":"water","logsWhenDone":true,"amount":\#(least),"unit":"ml","quietWhenDone":false,"followsEntries":false,"pace":false}"#
    ),
    Fault("tracker.decimals", "-1"), Fault("tracker.decimals", most), Fault("tracker.dayStartsAt", "-1"),
    Fault("tracker.dayStartsAt", "1440"), Fault("tracker.experience", "-1"), Fault("tracker.experience", most),
    Fault("tracker.skipsEachMonth", "-1"), Fault("tracker.presets", "[\(least)]"), Fault("tracker.presets", "[2,1]"),
    Fault("tracker.presets", "[\(most)]"), Fault("tracker.usual", "0"), Fault("tracker.milestoneStep", least),
    Fault("tracker.title", #"{"en":"a\u001b"}"#), Fault("tracker.title", "{}"),
    Fault("tracker.verb", #"{"e\u0007n":"a"}"#),
    Fault("tracker.icon", #""\u001b""#), Fault("tracker.set", #""a\nb""#), Fault("tracker.pack", #""a\u001b""#),
    Fault("tracker.skips", #"["2026-03-02","2026-03-01"]"#),
    Fault("tracker.counting", #"{"rolling":{"times":0,"days":0}}"#),
    Fault("tracker.counting", #"{"rolling":{"times":1,"days":\#(most)}}"#),
    Fault("tracker.counting", #"{"timesAWeek":{"_0":-1}}"#),
    Fault("tracker.goal", #"{"target":{"total":{"_0":\#(least)}},"period":"day"}"#),
    Fault("tracker.unit", #""a\u001b""#),
    Fault("item.title", #""""#), Fault("item.title", #""a\u001b]52;c;eA==\u0007""#),
    Fault("item.attributes", #"{"brand\n":"x"}"#), Fault("item.attributes", #"{"brand":"\u001b[2J"}"#),
    Fault("item.note", #""a\u001b""#), Fault("item.id", #""A""#),
    Fault("milestone.title", #""a\r\nb""#), Fault("milestone.value", most), Fault("milestone.value", least),
    Fault("milestone.note", #""\u0000""#),
    Fault("entry.minute", "-1"), Fault("entry.minute", "1440"), Fault("entry.quantity", least),
    Fault("entry.quantity", most),
    Fault("entry.note", #""a\u001b[2J""#), Fault("entry.fields", #"{"a\u0007":1}"#),
    Fault("entry.fields", #"{"a":\#(least)}"#),
    Fault("entry.at", #""+999999-01-01T00:00:00Z""#), Fault("entry.day", #""9999-12-31""#),
    Fault("entry.item", #""a b""#),
    Fault("pack.pack.version", "-1"), Fault("pack.pack.version", most), Fault("pack.pack.icon", #""\u001b""#),
    Fault("pack.pack.levels", #"{"base":-1,"power":1.5}"#), Fault("pack.pack.levels", #"{"base":100,"power":1e308}"#),
    Fault("pack.pack.channels", #"["a b"]"#), Fault("pack.languages", #"["a\n"]"#),
    Fault("pack.reminders", #"{"drink":"a b"}"#),
    Fault("pack.pack.text", #"{"en":"a\u001b"}"#),
    Fault("progress.reached", "-1"), Fault("progress.reached", most), Fault("progress.achievement", #""a\u001b""#),
    Fault("experience.points", "-1"), Fault("experience.points", most),
  ]

  /// Returns a line of a backup with a replaced value.
  private static func with(_ fault: Fault, in line: String) throws -> String {
    func put(_ object: Any?, _ path: ArraySlice<String>) throws -> Any {
      guard let name = path.first else {
        return try JSONSerialization.jsonObject(with: Data(fault.value.utf8), options: .fragmentsAllowed)
      }
      var members = object as? [String: Any] ?? [:]
      members[name] = try put(members[name], path.dropFirst())
      return members
    }
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let changed = try put(object, ([fault.line] + fault.path)[...])
    return String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
  }

  @Test func eachFaultIsRefusedInADryRunAndInARestore() async throws {
    try await TestDaemon.run { daemon in
      // A small photo, because everything is uploaded and validated again for each fault.
      try BackupTests.fill(daemon, photo: BackupTests.photo(of: 1_000))
      // A solar reminder with its own location.
      let _: RemindersInterface.Add.Reply = try daemon.call(
        RemindersInterface.Add(
          reminder: .init(title: "Lamps", when: "sunset", latitude: 50, longitude: 14, nag: .init(every: "PT5M"))))
      let good = try daemon.backup()
      let lines = String(decoding: good, as: UTF8.self).split(separator: "\n").dropLast().map(String.init)
      let body = BackupTests.body(good)
      for fault in Self.faults {
        let isSunny = fault.path.first == "place"
        let place = try #require(
          lines.lastIndex { $0.hasPrefix("{\"\(fault.line)\"") && (!isSunny || $0.contains("sunset")) }, "\(fault)")
        var changed = lines
        changed[place] = try Self.with(fault, in: lines[place])
        try daemon.upload(BackupTests.sealed(changed), as: "bad")
        for dryRun in [true, nil] {
          let refusal = daemon.refusal(Wired.Restore(upload: "bad", dryRun: dryRun))
          #expect(refusal?.name == "InvalidFile", "\(fault.testDescription): \(String(describing: refusal))")
          #expect(refusal?.parameters["line"] == .int(Int64(place + 1)), "\(fault.testDescription)")
        }
      }
      #expect(BackupTests.body(try daemon.backup()) == body, "nothing has changed")
      // The unmodified backup is accepted.
      _ = try BackupTests.restore(daemon, good)
      #expect(BackupTests.body(try daemon.backup()) == body)
    }
  }

  /// Whatever the store contains, the computation of a reminder's times is bounded.
  @Test(arguments: [-1, Int.min, Int.max]) func skipsAreBoundedWhateverTheStoreContains(_ skips: Int) throws {
    let now = Instant(seconds: 1_790_000_000)
    let context = ReminderContext(zones: ZoneCatalog())
    let reminder = Reminder(
      id: ReminderID(rawValue: "a"), owner: 1, title: "A", schedule: try Schedule(canonical: "daily at 09:00"),
      skipNext: skips, createdAt: now)
    let record = ReminderRecord(reminder: reminder, next: context.timetable(of: reminder).next(after: now))
    let first = try #require(NotificationTimes(reminder, context, now: now).first(of: record))
    #expect(skips < 0 ? first.at == record.next : first.at > now + .days(9_999))
    let once = Reminder(
      id: ReminderID(rawValue: "b"), owner: 1, title: "B", schedule: try Schedule(canonical: "at 2030-01-01 09:00"),
      skipNext: skips, createdAt: now)
    let only = ReminderRecord(reminder: once, next: context.timetable(of: once).next(after: now))
    #expect((NotificationTimes(once, context, now: now).first(of: only) == nil) == (skips > 0))
  }
}
