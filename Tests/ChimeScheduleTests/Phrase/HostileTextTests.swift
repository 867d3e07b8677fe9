import ChimeSchedule
import Testing

/// Untrusted text: long, strange or damaged.
@Suite struct HostileTextTests {
  /// Long texts are rejected quickly, with a short excerpt.
  @Test(arguments: [
    String(repeating: "a", count: 100_000), String(repeating: "é", count: 200),
    "daily at " + String(repeating: "\u{7}", count: 300),
    String(repeating: "9", count: 65_000), "every " + String(repeating: "1h ", count: 20_000),
    String(repeating: "mon,", count: 16_000),
    "daily at " + String(repeating: "8,", count: 30_000),
    "daily at 8 except " + String(repeating: "2026-12-24,", count: 5_000),
    String(repeating: "(", count: 65_536), String(repeating: "\u{202E}", count: 20_000),
    String(repeating: "🐱", count: 15_000),
    String(repeating: "\r\n", count: 30_000), "every 90" + String(repeating: "n", count: 60_000),
    "today 8.,\u{7F}n weekdays[Europe9/Prague]", "every 90\u{7F}\u{202E}",
    "daily at 8 starting " + String(repeating: "-", count: 60_000), String(repeating: "every ", count: 10_000),
    "day " + String(repeating: "1,", count: 30_000) + "1 of month at 9",
    "every day " + String(repeating: "1,", count: 30_000), String(repeating: "nov 17,", count: 9_000) + "nov 17 at 9",
    "nov " + String(repeating: "17,", count: 20_000),
    String(repeating: "first,", count: 10_000) + "last day of month at 9",
    String(repeating: "first mon,", count: 6_000) + "last day of month at 9",
    "day 1 of " + String(repeating: "jan,", count: 16_000) + "feb at 9",
    String(repeating: "day 1 of jan,", count: 4_900) + "feb 1 at 9",
    "every second " + String(repeating: "tue,", count: 15_000),
    "daily at 8 except " + String(repeating: "dec 24,", count: 9_000) + "dec 24",
    "daily at 8 except on " + String(repeating: "holidays,", count: 7_000) + "a",
    "daily at 8 except on " + String(repeating: "a", count: 60_000),
    "every " + String(repeating: "9", count: 60_000) + " days at 9",
    "every 3 days after " + String(repeating: "done ", count: 12_000),

  ])
  func refusesLongTexts(_ text: String) throws {
    let prague = try zone("Europe/Prague")
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(text, now: friday, zone: prague) }
    guard let error else { return }
    #expect(error.text.unicodeScalars.count <= 600)
    #expect(error.message.unicodeScalars.count <= 1_000)
    #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || $0.value == 0x202E })
  }

  /// The limits are accepted, and one more is rejected.
  @Test func limitsAreExact() throws {
    let minutes = (0..<1_440).map { CivilTime(hour: $0 / 60, minute: $0 % 60)?.description ?? "" }
    #expect(throws: Never.self) { try Schedule(canonical: "daily at " + minutes.joined(separator: ",")) }
    let dates = (0..<1_000).compactMap { CivilDate(dayNumber: 22_000 + $0 * 2)?.description }.joined(separator: ",")
    #expect(throws: Never.self) { try Schedule(canonical: "daily at 8 except \(dates)") }
    for text in ["daily at \(minutes.joined(separator: ",")),8", "daily at 8 except \(dates),2026-01-01"] {
      let error = #expect(throws: ScheduleError.self) { try Schedule(canonical: text) }
      #expect(error?.code == .outOfRange)
    }
  }

  @Test func relativeTextIsNoCanonicalText() {
    for text in [
      "in 25m", "tomorrow at 9", "every 45m", "friday at 9", "at 18:00", "daily at 8 3 times",
      "daily at 8 until friday",
    ] {
      let error = #expect(throws: ScheduleError.self, "\(text)") { try Schedule(canonical: text) }
      #expect(error?.code == .invalidSchedule)
    }
    // Past times can still be parsed from canonical text.
    #expect(throws: Never.self) { try Schedule(canonical: "at 2020-01-01 09:00") }
    #expect(throws: Never.self) { try Schedule(canonical: "daily at 08:00 until 2020-01-01") }
  }

  /// Random damage: texts are rejected or understood, and understood ones round-trip.
  @Test func survivesDamage() throws {
    let damage = Damage(
      seed: 42, rounds: 600, proof: 20_000,
      pieces: [
        "at ", "every ", " and ", ",", "-", "..", ":", "8", "99999999999999999999", "mon", "m", " starting ", " times",
        "\0", "é", "2026-12-01", "T", "Z", "+", " from ", " to ", " of month ", "last ", "first ", "nov ", "17",
        " other ", " day ", "th ",
        " after done ", " on ", " holidays", "second ", " the ", " month ", " week ",
      ], understood: 10,
      scheduleContext: ScheduleContext(zone: try zone("Europe/Prague"), calendar: { $0 == "holidays" ? [] : nil }))
    damage.expectSurvival(of: CanonicalTests.table.map(\.text))
  }
}
