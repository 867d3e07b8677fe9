import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeExchange

@Suite struct CalendarExportTests {
  static let now = CalendarImportTests.now

  static func item(
    _ when: String, id: String = "r7k2", title: String = "Tea", zone name: String = "local",
    change: (inout Reminder) -> Void = { _ in }
  ) throws -> CalendarExport.Item {
    let own = name == "local" ? prague : try #require(zone(name))
    let scheduleContext = ScheduleContext(zone: own, zones: { zone($0) })
    var reminder = Reminder(
      id: ReminderID(rawValue: id), owner: 1_000, title: title,
      schedule: try Schedule.parse(when, now: now, in: scheduleContext), timezone: ZoneChoice(name), createdAt: now)
    change(&reminder)
    var governing = scheduleContext
    if case .named(let name) = reminder.governingZone { governing.zone = try #require(zone(name)) }
    return CalendarExport.Item(reminder: reminder, scheduleContext: governing)
  }

  static func lines(_ export: CalendarExport, within name: String = "VEVENT") -> [String] {
    let unfolded = export.text.replacing("\r\n ", with: "").split(separator: "\r\n").map(String.init)
    guard let start = unfolded.firstIndex(of: "BEGIN:\(name)"), let end = unfolded.lastIndex(of: "END:\(name)") else {
      return []
    }
    return Array(unfolded[(start + 1)..<end])
  }

  @Test func reminderIsExportedAsAnEventWithAnAlarm() throws {
    let item = try Self.item("at 2026-12-01 09:00", zone: "Europe/Prague") {
      $0.title = "Tea; with, \\cream"
      $0.body = "first\nsecond"
      $0.url = "https://example.org/?a=1;b"
      $0.location = "Room 4; Main Street 1, Prague"
      $0.tags = ["a,b", "c"]
      $0.urgency = .critical
      $0.generation = 3
    }
    let export = CalendarExport([item], now: Self.now)
    #expect(
      Self.lines(export) == [
        "UID:r7k2@chime", "DTSTAMP:20260327T082640Z", "CREATED:20260327T082640Z", "SEQUENCE:3",
        "DTSTART;TZID=Europe/Prague:20261201T090000", "SUMMARY:Tea\\; with\\, \\\\cream",
        "DESCRIPTION:first\\nsecond", "LOCATION:Room 4\\; Main Street 1\\, Prague",
        "URL:https://example.org/?a=1;b", "CATEGORIES:a\\,b,c", "PRIORITY:1",
        "TRANSP:TRANSPARENT", "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Tea\\; with\\, \\\\cream", "TRIGGER:PT0S",
        "END:VALARM",
      ])
    #expect(export.count == 1)
    #expect(export.warnings.isEmpty)
  }

  @Test(arguments: [
    ("at 2026-12-01 09:00", "local", "DTSTART:20261201T090000"),
    ("at 2026-12-01 09:00", "UTC", "DTSTART:20261201T090000Z"),
    ("at 2026-12-01 09:00", "America/New_York", "DTSTART;TZID=America/New_York:20261201T090000"),
    ("at 2026-12-01T09:00:00+01:00", "local", "DTSTART:20261201T080000Z"),
    // A time that the clocks skip is exported as the time at which it fires.
    ("at 2027-03-28 02:30", "Europe/Prague", "DTSTART;TZID=Europe/Prague:20270328T033000"),
  ])
  func momentsKeepTheirLocalTime(_ when: String, _ zone: String, _ line: String) throws {
    let export = CalendarExport([try Self.item(when, zone: zone)], now: Self.now)
    #expect(Self.lines(export).filter { $0.hasPrefix("DTSTART") } == [line])
    #expect(export.text.contains("BEGIN:VTIMEZONE") == line.contains("TZID"))
  }

  /// In a fold, calendars read a local time as the first pass; the second can only be written in UTC.
  @Test func secondPassOfAFoldIsExportedInUTC() throws {
    for (fold, expected) in [
      (FoldRule.first, ["DTSTART;TZID=Europe/Prague:20261025T023000"]), (.last, ["DTSTART:20261025T013000Z"]),
      (.both, ["DTSTART:20261025T003000Z", "RDATE:20261025T013000Z"]),
    ] {
      let item = try Self.item("at 2026-10-25 02:30", zone: "Europe/Prague") { $0.fold = fold }
      let export = CalendarExport([item], now: Self.now)
      #expect(Self.lines(export).filter { $0.hasPrefix("DTSTART") || $0.hasPrefix("RDATE") } == expected)
    }
  }

  @Test func unsupportedRemindersAreReported() throws {
    let passed = try Self.item("at 2026-12-01 09:00", title: "Passed")
    let paused = try Self.item("at 2027-12-01 09:00", title: "Paused") { $0.pause = .indefinitely }
    let skipping = try Self.item("at 2027-12-01 09:00", title: "Skipping") { $0.skipNext = 1 }
    let export = CalendarExport([passed, paused, skipping], now: Instant(seconds: 1_800_000_000))
    #expect(export.count == 2)
    #expect(
      export.warnings == [
        "\"Passed\": it has no future time, so it is left out",
        "\"Paused\": it is paused, which a calendar cannot express",
        "\"Skipping\": it skips its next times, which a calendar cannot express",
      ])
  }

  @Test func emptyExportIsAValidCalendar() throws {
    let export = CalendarExport([], now: Self.now)
    #expect(
      export.text
        == "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Chime//Chime//EN\r\nCALSCALE:GREGORIAN\r\nEND:VCALENDAR\r\n")
  }

  @Test(arguments: [
    "short", String(repeating: "x", count: 74), String(repeating: "x", count: 75), String(repeating: "x", count: 300),
    String(repeating: "é", count: 100), String(repeating: "日本", count: 60), String(repeating: "👩‍👩‍👧‍👦", count: 20),
    "e" + String(repeating: "\u{301}", count: 200),
  ])
  func linesAreFoldedAt75Octets(_ text: String) throws {
    var writer = CalendarWriter()
    writer.line("SUMMARY:" + text)
    let lines = writer.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    #expect(lines.last?.isEmpty == true)
    for line in lines.dropLast() {
      #expect(line.last == 0x0D)
      #expect(line.dropLast().count <= 75)
      #expect(String(validating: line.dropLast(), as: UTF8.self) != nil, "no character is torn")
    }
    var reader = LineReader(writer.bytes)
    #expect(reader.next().map { String(decoding: $0.bytes, as: UTF8.self) } == "SUMMARY:" + text)
    #expect(reader.next() == nil)
  }
}
