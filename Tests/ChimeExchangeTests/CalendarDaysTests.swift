import ChimeSchedule
import Testing

@testable import ChimeExchange

@Suite struct CalendarDaysTests {
  static func days(_ events: String) throws -> [String] {
    let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(events)\r\nEND:VCALENDAR\r\n"
    return try CalendarDays.read(Array(text.utf8), in: scheduleContext).map {
      $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)..\($0.upperBound)"
    }
  }

  static func event(_ lines: String...) -> String {
    "BEGIN:VEVENT\r\nUID:\(lines.hashValue)\r\n" + lines.joined(separator: "\r\n") + "\r\nEND:VEVENT"
  }

  @Test(arguments: [
    // An all-day event is one day, and DTEND is the day after the last.
    (event("DTSTART;VALUE=DATE:20261224"), ["2026-12-24"]),
    (event("DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261227"), ["2026-12-24..2026-12-26"]),
    (event("DTSTART;VALUE=DATE:20261224", "DURATION:P1W"), ["2026-12-24..2026-12-30"]),
    (event("DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261224"), ["2026-12-24"]),
    // Timed events: every day that they touch, in their own zone.
    (
      event("DTSTART;TZID=Europe/Prague:20261224T220000", "DTEND;TZID=Europe/Prague:20261225T010000"),
      ["2026-12-24..2026-12-25"]
    ),
    (event("DTSTART;TZID=Europe/Prague:20261224T220000", "DTEND;TZID=Europe/Prague:20261225T000000"), ["2026-12-24"]),
    (event("DTSTART:20261224T220000", "DURATION:PT3H"), ["2026-12-24..2026-12-25"]),
    (event("DTSTART:20261224T233000Z"), ["2026-12-24"]),
    (event("DTSTART;VALUE=DATE:20261224", "STATUS:CANCELLED"), []),
    (event("DTSTART;VALUE=DATE:20261224", "TRANSP:TRANSPARENT"), ["2026-12-24"]),
    // Touching ranges are merged, and invalid events are left out.
    (event("DTSTART;VALUE=DATE:20261225") + "\r\n" + event("DTSTART;VALUE=DATE:20261224"), ["2026-12-24..2026-12-25"]),
    (
      event("DTSTART;VALUE=DATE:20261225") + "\r\n" + event("DTSTART:soon") + "\r\n" + event("SUMMARY:x"),
      ["2026-12-25"]
    ),
    (event("DTSTART;TZID=Nowhere:20261224T220000"), []),
  ])
  func eventsCoverTheirDays(_ events: String, _ expected: [String]) throws {
    #expect(try Self.days(events) == expected)
  }
}
