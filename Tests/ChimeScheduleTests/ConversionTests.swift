import ChimeSchedule
import Testing

/// Conversions between dialects. Now is Friday 2026-11-20 23:22:13 in Prague.
@Suite struct ConversionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var text: String
    var dialect: Dialect
    /// The canonical text; nil if the dialect cannot express it.
    var canonical: String?
    /// A part of the remarks, or of the error message.
    var says: String?

    init(_ text: String, _ dialect: Dialect, _ canonical: String?, says: String? = nil) {
      self.text = text
      self.dialect = dialect
      self.canonical = canonical
      self.says = says
    }

    var testDescription: String { "\(text) as \(dialect.rawValue)" }
  }

  static let table: [Row] = [
    // From phrases.
    Row("weekdays at 9", .cron, "cron: 0 9 * * 1-5"),
    Row("weekdays at 9", .calendar, "calendar: Mon..Fri *-*-* 09:00:00"),
    Row("weekdays at 9", .rrule, "DTSTART:20261123T090000 RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    Row("daily at 8:30 and 18:30", .cron, "cron: 30 8,18 * * *"),
    Row("daily at 8:30 and 18:00", .cron, nil, says: "do not form a grid of hours and minutes"),
    Row("daily at 2:30", .cron, "cron: 30 2 * * *", says: "the two differ at the clock change of 2027-03-28"),
    Row("daily at 2:30", .calendar, "calendar: *-*-* 02:30:00", says: "with gap = shift they agree"),
    Row("every sun at 9 10 times", .cron, nil, says: "a beginning, an end or a number of times"),
    Row("every 2h from 22:00 to 6:00 on sat", .cron, nil, says: "ends on the next day"),
    Row("every 15m from 0:00 to 23:45", .cron, "cron: */15 * * * *"),
    Row("every 30m from 9 to 17", .cron, nil, says: "do not form a grid"),
    Row("every 45m", .rrule, "DTSTART:20261120T230713Z RRULE:FREQ=MINUTELY;INTERVAL=45"),
    Row("every 45m", .cron, nil, says: "elapsed time"),
    Row("at 2026-12-01 09:00", .rrule, "DTSTART:20261201T090000"),
    Row("at 2026-12-01 09:00", .calendar, "calendar: 2026-12-01 09:00:00"),
    Row("at 2026-12-01 09:00", .cron, nil, says: "no years"),
    Row(
      "daily at 8 except 2026-11-22..2026-11-23", .rrule,
      "DTSTART:20261121T080000 RRULE:FREQ=DAILY EXDATE:20261122T080000,20261123T080000"),
    Row("daily at 8 until 2026-12-24", .rrule, "DTSTART:20261121T080000 RRULE:FREQ=DAILY;UNTIL=20261224T235959"),
    Row("daily at 8 3 times", .rrule, "DTSTART:20261121T080000 RRULE:FREQ=DAILY;COUNT=3"),
    Row("day 1,15 of month at 9", .cron, "cron: 0 9 1,15 * *"),
    Row("day 1,15 of month at 9", .calendar, "calendar: *-*-01,15 09:00:00"),
    Row("day 1,15 of month at 9", .rrule, "DTSTART:20261201T090000 RRULE:FREQ=MONTHLY;BYMONTHDAY=1,15"),
    Row("last day of month at 18", .cron, "cron: 0 18 L * *"),
    Row("last day of month at 18", .calendar, "calendar: *-*~01 18:00:00"),
    Row("first mon of month at 9", .cron, "cron: 0 9 * * 1#1"),
    Row("first mon of month at 9", .calendar, "calendar: Mon *-*-01..07 09:00:00"),
    Row("last fri of month at 9", .calendar, "calendar: Fri *-*~01..07 09:00:00"),
    Row("second last fri of month at 9", .cron, nil, says: "second last day of the week"),
    Row("first weekday of month at 9", .cron, "cron: 0 9 1W * *"),
    Row("first weekday of month at 9", .calendar, nil, says: "weekdays of a month"),
    Row("first mon of month at 9", .rrule, "DTSTART:20261207T090000 RRULE:FREQ=MONTHLY;BYDAY=1MO"),
    Row(
      "last fri of mar,jun,sep,dec at 16", .rrule,
      "DTSTART:20261225T160000 RRULE:FREQ=MONTHLY;BYMONTH=3,6,9,12;BYDAY=-1FR"),
    Row("every nov 17 at 8", .cron, "cron: 0 8 17 11 *"),
    Row(
      "every 2 weeks on tue at 19:00 starting 2026-12-01", .rrule,
      "DTSTART:20261201T190000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
    Row("every 2 weeks on tue at 19:00 starting 2026-12-01", .cron, nil, says: "cannot count weeks"),
    Row("weekdays at 9", .solar, nil, says: "does not follow the sun"),
    // To phrases.
    Row("cron: 0 9 * * 1-5", .phrase, "weekdays at 09:00"),
    Row("cron: 30 2 * * *", .phrase, "daily at 02:30", says: "03:00 as cron"),
    Row("cron: */15 9-16 * * 1-5", .phrase, "every 15m from 09:00 to 16:45 on weekdays"),
    Row("cron: 0 9 1 * 1", .phrase, nil, says: "either"),
    Row("cron: 0 9 L * *", .phrase, "last day of month at 09:00"),
    Row("cron: 0 9 * * 1#1,5L", .phrase, "first mon,last fri of month at 09:00"),
    Row("@yearly", .phrase, "every jan 1 at 00:00"),
    Row("calendar: Mon..Fri *-*-* 09:00", .phrase, "weekdays at 09:00"),
    Row("calendar: *-*~01 18:00", .phrase, "last day of month at 18:00"),
    Row("calendar: 2026-12-01 09:00", .phrase, "at 2026-12-01 09:00"),
    Row("calendar: Mon..Fri 09:00 America/New_York", .phrase, "weekdays at 09:00", says: "that of America/New_York"),
    Row("DTSTART:20240101T090000 RRULE:FREQ=WEEKLY;BYDAY=MO,WE", .phrase, "mon,wed at 09:00"),
    Row(
      "DTSTART:20261201T190000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", .phrase,
      "every 2 weeks on tue at 19:00 starting 2026-12-01"),
    Row(
      "DTSTART:20261201T190000 RRULE:FREQ=MONTHLY;BYDAY=-1FR", .phrase,
      "last fri of month at 19:00 starting 2026-12-01"),
    Row("DTSTART:20261117T080000 RRULE:FREQ=YEARLY", .phrase, "every nov 17 at 08:00"),
    Row("DTSTART:20261201T190000", .phrase, "at 2026-12-01 19:00"),
    Row(
      "RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", .phrase, nil,
      says: "weeks and days of the year"),
    Row("calendar: Mon..Fri 09:00 UTC", .rrule, "DTSTART:20261123T090000Z RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    Row(
      "calendar: 09:00 America/New_York", .rrule,
      "DTSTART;TZID=America/New_York:20261121T090000 RRULE:FREQ=DAILY"),
    Row(
      "DTSTART:20261123T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR,SA,SU", .phrase,
      "every 2 weeks on mon-sun at 09:00 starting 2026-11-23"),
    Row("calendar: Mon..Fri 09:00", .cron, "cron: 0 9 * * 1-5"),
    Row("cron: 0 9 * * 1-5", .calendar, "calendar: Mon..Fri *-*-* 09:00:00"),
    Row("DTSTART:20240101T090000 RRULE:FREQ=MONTHLY;BYMONTHDAY=-1", .cron, "cron: 0 9 L * *"),
  ]

  @Test(arguments: table) func convertsBetweenDialects(_ row: Row) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) })
    let schedule = try Schedule.parse(row.text, now: friday, in: scheduleContext)
    do {
      let conversion = try schedule.converted(to: row.dialect, now: friday, in: scheduleContext)
      #expect(conversion.schedule.canonical == row.canonical)
      if let canonical = row.canonical {
        #expect(conversion.schedule.dialect == row.dialect)
        #expect(try Schedule(canonical: canonical) == conversion.schedule)
      }
      if let says = row.says {
        #expect(conversion.remarks.joined(separator: " ").contains(says), "\(conversion.remarks)")
      } else {
        #expect(conversion.remarks.isEmpty)
      }
    } catch {
      #expect(error.code == .inexpressible)
      #expect(row.canonical == nil, "\(error.message)")
      #expect(error.message.contains(row.says ?? "?"), "\(error.message)")
    }
  }

  /// Converts every cookbook schedule to every other dialect: without a remark, both have the same times.
  @Test(arguments: Dialect.allCases) func conversionWithoutARemarkKeepsTheTimes(_ dialect: Dialect) throws {
    var converted = 0
    for row in try CookbookTests.rows() {
      let zone = try zone(row.zone)
      let now = instant(row.saidAt)
      let scheduleContext = ScheduleContext(
        zone: zone, place: Place(latitude: 50, longitude: 14), zones: { try? ChimeScheduleTests.zone($0) },
        calendar: { _ in [] })
      let schedule = try Schedule(canonical: row.canonical)
      guard let conversion = try? schedule.converted(to: dialect, now: now, in: scheduleContext) else { continue }
      #expect(conversion.schedule.dialect == dialect)
      #expect(try Schedule(canonical: conversion.schedule.canonical) == conversion.schedule)
      guard conversion.remarks.isEmpty else { continue }
      if schedule.dialect != dialect { converted += 1 }
      let mine = schedule.timetable(in: scheduleContext).occurrences(after: now).prefix(100)
      let other = conversion.schedule.timetable(in: scheduleContext).occurrences(after: now).prefix(100)
      let searchLimit = now + .days(790)
      #expect(
        mine.prefix { $0 < searchLimit } == other.prefix { $0 < searchLimit },
        "\(row.canonical) as \(conversion.schedule.canonical)")
    }
    #expect(dialect == .solar ? converted == 0 : converted >= 15, "\(converted)")
  }
}
