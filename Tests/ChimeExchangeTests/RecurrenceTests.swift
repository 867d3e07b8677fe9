import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeExchange

/// Recurring events: the resulting schedules, and their times.
@Suite struct RecurrenceTests {
  typealias Import = CalendarImportTests

  /// Returns the next times of a calendar's drafts, `title
  ///
  /// zone
  ///
  /// times`, in the zone's local time.
  static func times(_ components: String, _ count: Int = 4) throws -> [String] {
    let plan = try Import.plan(components)
    return plan.drafts.map { draft in
      let name = draft.schedule.zoneIdentifier ?? draft.timezone
      let own = name.flatMap { zone($0) } ?? prague
      let timetable = draft.schedule.timetable(in: ScheduleContext(zone: own, zones: { zone($0) }))
      let times = timetable.occurrences(after: Import.now).prefix(count).map { "\(own.civil(at: $0))" }
      return "\(draft.title) | \(draft.timezone ?? "-") | \(times.joined(separator: ", "))"
    } + plan.remarks.map { "\($0.line ?? 0) \($0.kind): \($0.message)" }
  }

  @Test(
    arguments: [
      // In its own zone, across a clock change (29 March 2026).
      (
        Import.event("DTSTART;TZID=Europe/Prague:20260105T092500\nRRULE:FREQ=WEEKLY;BYDAY=FR,MO"),
        ["E | Europe/Prague | 2026-03-30 09:25, 2026-04-03 09:25, 2026-04-06 09:25, 2026-04-10 09:25"]
      ),
      (
        Import.event("DTSTART:20260105T092500Z\nRRULE:FREQ=WEEKLY;BYDAY=MO"),
        ["E | - | 2026-03-30 09:25, 2026-04-06 09:25, 2026-04-13 09:25, 2026-04-20 09:25"]
      ),
      (
        Import.event("DTSTART:20260105T092500\nRRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260407"),
        ["E | - | 2026-03-30 09:25, 2026-04-06 09:25"]
      ),
      // Alarms a quarter of an hour and a day before each.
      (
        Import.event(
          "DTSTART;TZID=Europe/Prague:20260105T000500\nRRULE:FREQ=WEEKLY;COUNT=14", alarms: "TRIGGER:-PT15M",
          "TRIGGER:-P1D"),
        [
          "E | Europe/Prague | 2026-03-29 23:50, 2026-04-05 23:50",
          "E | Europe/Prague | 2026-03-29 00:05, 2026-04-05 00:05",
        ]
      ),
      (
        Import.event(
          "DTSTART;TZID=Europe/Prague:20260105T090000\nDTEND;TZID=Europe/Prague:20260105T100000\nRRULE:FREQ=WEEKLY",
          alarms: "TRIGGER;RELATED=END:-PT5M"),
        ["E | Europe/Prague | 2026-03-30 09:55, 2026-04-06 09:55, 2026-04-13 09:55, 2026-04-20 09:55"]
      ),
      // Exceptions in another zone and of a whole day, and added dates.
      (
        Import.event(
          "DTSTART;TZID=Europe/Prague:20260330T090000\nRRULE:FREQ=DAILY;COUNT=6\nEXDATE:20260331T070000Z\n"
            + "EXDATE;VALUE=DATE:20260401\nEXDATE;TZID=America/New_York:20260402T030000"),
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-03 09:00, 2026-04-04 09:00"]
      ),
      (
        Import.event(
          "DTSTART;TZID=Asia/Tokyo:20260910T100000\nRDATE;TZID=Asia/Tokyo:20260911T100000,20260914T120000\n"
            + "RDATE;VALUE=PERIOD:20260920T010000Z/PT1H"),
        ["E | Asia/Tokyo | 2026-09-10 10:00, 2026-09-11 10:00, 2026-09-14 12:00, 2026-09-20 10:00"]
      ),
      // All-day events: at nine or as the alarm says, through the last day.
      (
        Import.event(
          "DTSTART;VALUE=DATE:20260415\nRRULE:FREQ=MONTHLY;BYMONTHDAY=15;UNTIL=20260715\nEXDATE;VALUE=DATE:20260615"),
        ["E | - | 2026-04-15 09:00, 2026-05-15 09:00, 2026-07-15 09:00"]
      ),
      (
        Import.event(
          "DTSTART;VALUE=DATE:20260415\nRRULE:FREQ=MONTHLY;UNTIL=20260714T220000Z", alarms: "TRIGGER:-PT15H"),
        ["E | - | 2026-04-14 09:00, 2026-05-14 09:00, 2026-06-14 09:00, 2026-07-14 09:00"]
      ),
      // Birthdays of people born before the calendar's first year.
      (
        Import.event("DTSTART;VALUE=DATE:19440229\nRRULE:FREQ=YEARLY"),
        ["E | - | 2028-02-29 09:00, 2032-02-29 09:00, 2036-02-29 09:00, 2040-02-29 09:00"]
      ),
      (
        Import.event("DTSTART;VALUE=DATE:16040401\nRRULE:FREQ=YEARLY;INTERVAL=5"),
        ["E | - | 2029-04-01 09:00, 2034-04-01 09:00, 2039-04-01 09:00, 2044-04-01 09:00"]
      ),
      (Import.event("DTSTART;VALUE=DATE:19440229\nRRULE:FREQ=YEARLY;COUNT=200"), ["4 refused: it begins before 1970"]),
      // A recurring to-do.
      (
        Import.todo(
          "DTSTART;TZID=Europe/Prague:20260301T070000\nDUE;TZID=Europe/Prague:20260301T080000\nRRULE:FREQ=DAILY;INTERVAL=3"
        ),
        ["T | Europe/Prague | 2026-03-28 08:00, 2026-03-31 08:00, 2026-04-03 08:00, 2026-04-06 08:00"]
      ),
      (
        Import.todo("DUE;VALUE=DATE:20260301\nRRULE:FREQ=WEEKLY"),
        ["T | - | 2026-03-29 09:00, 2026-04-05 09:00, 2026-04-12 09:00, 2026-04-19 09:00"]
      ),
      // Events that are over, and an invalid rule.
      (Import.event("DTSTART:20260105T092500\nRRULE:FREQ=WEEKLY;COUNT=3"), ["4 past: it has passed"]),
      (Import.event("DTSTART:20260105T092500\nRRULE:FREQ=WEEKLY;UNTIL=20260201T000000Z;"), ["4 past: it has passed"]),
    ] as [(String, [String])])
  func seriesBecomeSchedules(_ components: String, _ expected: [String]) throws {
    #expect(try Self.times(components) == expected)
  }

  @Test(arguments: ["FREQ=SOMETIMES", "nonsense", "FREQ=DAILY;BYHOUR=25", "FREQ=DAILY COUNT:3\u{1B}"])
  func invalidRulesAreRefused(_ rule: String) throws {
    let plan = try Import.plan(Import.event("DTSTART:20261201T090000\nRRULE:\(rule)"))
    #expect(plan.drafts.isEmpty)
    #expect(plan.remarks.map(\.kind) == [.refused])
  }

  static let weekly =
    "BEGIN:VEVENT\nUID:1\nSUMMARY:E\nDTSTART;TZID=Europe/Prague:20260330T090000\nRRULE:FREQ=WEEKLY;COUNT=3\nEND:VEVENT\n"

  static func changed(_ lines: String) -> String {
    "BEGIN:VEVENT\nUID:1\nSUMMARY:E\nRECURRENCE-ID;TZID=Europe/Prague:20260406T090000\n\(lines)\nEND:VEVENT\n"
  }

  @Test(
    arguments: [
      // A moved occurrence: removed from the series and a reminder of its own, wherever it is in the file.
      (
        weekly + changed("DTSTART;TZID=Europe/Prague:20260407T110000"),
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-13 09:00", "E | Europe/Prague | 2026-04-07 11:00"]
      ),
      (
        changed("DTSTART;TZID=Europe/Prague:20260407T110000") + weekly,
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-13 09:00", "E | Europe/Prague | 2026-04-07 11:00"]
      ),
      (
        weekly + changed("DTSTART;TZID=Europe/Prague:20260406T090000\nSTATUS:CANCELLED"),
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-13 09:00"]
      ),
      // Only the attendees changed.
      (
        weekly + changed("DTSTART;TZID=Europe/Prague:20260406T090000\nATTENDEE:mailto:x@example.org"),
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-06 09:00, 2026-04-13 09:00"]
      ),
      (
        weekly + changed("DTSTART;TZID=Europe/Prague:20260406T090000\nDESCRIPTION:Bring cake"),
        ["E | Europe/Prague | 2026-03-30 09:00, 2026-04-13 09:00", "E | Europe/Prague | 2026-04-06 09:00"]
      ),
      (
        weekly.replacing("UID:1\n", with: "UID:1\nSTATUS:CANCELLED\n")
          + changed("DTSTART;TZID=Europe/Prague:20260406T090000"),
        ["E | Europe/Prague | 2026-04-06 09:00", "4 closed: it is cancelled"]
      ),
      (
        weekly
          + changed("DTSTART;TZID=Europe/Prague:20260407T110000").replacing(
            "RECURRENCE-ID;", with: "RECURRENCE-ID;RANGE=THISANDFUTURE;"),
        [
          "E | Europe/Prague | 2026-03-30 09:00, 2026-04-06 09:00, 2026-04-13 09:00",
          "10 refused: it changes one occurrence and all later ones (THISANDFUTURE), which Chime does not support; "
            + "the series is taken as it was before",
        ]
      ),
    ] as [(String, [String])])
  func movedOccurrencesBecomeTheirOwnReminders(_ components: String, _ expected: [String]) throws {
    #expect(try Self.times(components) == expected)
  }

  /// Complete files in the style of other programs.
  @Test(arguments: [
    (
      "google",
      [
        "Stand-up | Europe/Prague | 2026-03-30 09:20, 2026-04-01 09:20, 2026-04-02 09:20, 2026-04-07 09:20",
        "Stand-up | Europe/Prague | 2026-03-30 08:55, 2026-04-01 08:55, 2026-04-02 08:55, 2026-04-07 08:55",
        "Stand-up, later | Europe/Prague | 2026-03-31 10:55", "Trip | - | 2026-04-30 08:30", "closed",
      ]
    ),
    (
      "apple",
      [
        "Dentist — “check-up” 🦷 | America/New_York | 2026-09-10 08:45",
        "Dentist — “check-up” 🦷 | America/New_York | 2026-09-09 09:00",
        "Grandma’s birthday | - | 2028-02-29 09:00, 2032-02-29 09:00, 2036-02-29 09:00, 2040-02-29 09:00",
        "Renew passport | America/New_York | 2026-09-30 09:00",
      ]
    ),
    (
      "outlook",
      [
        "Board | Europe/Budapest | 2026-04-07 13:45, 2026-05-05 13:45, 2026-06-02 13:45, 2026-07-07 13:45",
        "Closed | Europe/Budapest | 2026-12-23 06:00", "refused",
      ]
    ),
    (
      "thunderbird",
      [
        "Water the plants | Europe/London | 2026-03-29 07:50, 2026-04-01 07:50, 2026-04-04 07:50, 2026-04-07 07:50",
        "Nagging | - | 2026-09-20 17:50", "closed", "note",
      ]
    ),
    (
      "nextcloud",
      [
        "Rent | - | 2026-04-15 09:00, 2026-05-15 09:00, 2026-06-15 09:00, 2026-08-15 09:00",
        "Workshop | Asia/Tokyo | 2026-09-10 10:00, 2026-09-11 10:00, 2026-09-14 12:00, 2026-09-20 10:00",
      ]
    ),
    ("torn", ["Příliš žluťoučký kůň 日本語 | - | 2026-09-10 12:00"]),
  ])
  func foreignFilesAreImported(_ name: String, _ expected: [String]) throws {
    let plan = try CalendarImport.read(try ICalendarPeerTests.bytes(name), Import.settings)
    let told = plan.drafts.map { draft in
      let own = (draft.schedule.zoneIdentifier ?? draft.timezone).flatMap { zone($0) } ?? prague
      let timetable = draft.schedule.timetable(in: ScheduleContext(zone: own, zones: { zone($0) }))
      let times = timetable.occurrences(after: Import.now).prefix(4).map { "\(own.civil(at: $0))" }
      return "\(draft.title) | \(draft.timezone ?? "-") | \(times.joined(separator: ", "))"
    }
    #expect(told + plan.remarks.map(\.kind.rawValue) == expected)
  }

  @Test func calendarsOfDaysRecurUpTo2100() throws {
    let holiday = CalendarDaysTests.event(
      "DTSTART;VALUE=DATE:20251224", "DTEND;VALUE=DATE:20251227", "RRULE:FREQ=YEARLY")
    let days = try CalendarDaysTests.days(holiday)
    #expect(days.count == 76)
    #expect(days.first == "2025-12-24..2025-12-26" && days.last == "2100-12-24..2100-12-26")
    let daily = CalendarDaysTests.event("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=DAILY")
    #expect(try CalendarDaysTests.days(daily) == ["2026-01-01..2100-12-31"])
    #expect(
      try CalendarDaysTests.days(
        CalendarDaysTests.event(
          "DTSTART;TZID=America/New_York:20260101T220000", "DURATION:PT4H", "RRULE:FREQ=MONTHLY;COUNT=2",
          "RDATE;TZID=America/New_York:20260110T220000", "EXDATE;TZID=America/New_York:20260101T220000"))
        == ["2026-01-10..2026-01-11", "2026-02-01..2026-02-02"])
  }

  @Test func numberOfCalendarDaysIsBounded() {
    let event = "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY;INTERVAL=2\nEND:VEVENT\n"
    let text = "BEGIN:VCALENDAR\n" + String(repeating: event, count: 20) + "END:VCALENDAR\n"
    let error = #expect(throws: ExchangeError.self) { try CalendarDays.read(Array(text.utf8), in: scheduleContext) }
    #expect(error?.message == "the calendar has more than 100000 days")
  }

  /// Exported and imported again, every schedule has the same next times.
  @Test func roundTripKeepsTheTimes() throws {
    let now = CalendarExportTests.now
    for when in ICalendarPeerTests.schedules {
      for name in ["local", "America/New_York", "Australia/Lord_Howe", "UTC"] {
        let item = try CalendarExportTests.item(when, zone: name) {
          $0.body = "Line\n two; three, \\four"
          $0.tags = ["a,b", "č"]
          $0.urgency = .low
          $0.url = "https://example.org/?a,b"
        }
        let export = CalendarExport([item], now: now)
        let plan = try CalendarImport.read(Array(export.text.utf8), Import.settings)
        #expect(plan.remarks.isEmpty, "\(plan.remarks)")
        let draft = try #require(plan.drafts.first)
        #expect(plan.drafts.count == 1)
        #expect(draft.title == item.reminder.title)
        #expect(draft.body == item.reminder.body)
        #expect(draft.tags == item.reminder.tags)
        #expect(draft.urgency == item.reminder.urgency)
        #expect(draft.texts["url"] == item.reminder.url)
        let own = (draft.schedule.zoneIdentifier ?? draft.timezone).flatMap { zone($0) } ?? prague
        let back = draft.schedule.timetable(in: ScheduleContext(zone: own, zones: { zone($0) })).occurrences(after: now)
        let isListed = !export.warnings.isEmpty
        let end = isListed ? now + CalendarExport.listedSpan : .latest
        let times = item.reminder.timetable(in: item.scheduleContext).occurrences(after: now).prefix(200).prefix {
          $0 <= end
        }
        #expect(Array(back.prefix(times.count)) == Array(times), "\(when) in \(name): \(draft.schedule)")
      }
    }
  }
}
