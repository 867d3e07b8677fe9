import ChimeSchedule
import Foundation
import Testing

/// The rrule dialect: the RFC's examples, and tables of difficult cases.
@Suite struct RecurrenceTests {
  /// Returns a context that knows the zones in the texts.
  static func scheduleContext(_ identifier: String) throws -> ScheduleContext {
    ScheduleContext(zone: try zone(identifier), zones: { try? zone($0) })
  }

  /// Returns the next occurrences in local time, `20260101T090000`; `end` if no more follow.
  static func next(
    _ text: String, in identifier: String = "UTC", after: String, count: Int, gap: GapRule? = nil, fold: FoldRule? = nil
  ) throws -> [String] {
    let scheduleContext = try scheduleContext(identifier)
    let schedule = try Schedule(canonical: text)
    #expect(try Schedule(canonical: schedule.canonical) == schedule)
    let timetable = schedule.timetable(in: scheduleContext, gap: gap, fold: fold)
    let shown = try schedule.zoneIdentifier.map { try zone($0) } ?? scheduleContext.zone
    var result: [String] = []
    var last = instant(after)
    while result.count < count {
      guard let next = timetable.next(after: last) else { return result + ["end"] }
      result.append(reading(next, in: shown))
      last = next
    }
    return result
  }

  static func reading(_ instant: Instant, in zone: Zone) -> String {
    RandomRule.text(zone.civil(at: instant).wallSecondsForTests)
  }

  @Test func examplesOfTheRFCHaveTheirTimes() throws {
    #expect(RecurrenceExamples.all.count == 38)
    for example in RecurrenceExamples.all {
      let expected = example.first.split(separator: " ").map(String.init)
      let found = try Self.next(
        "DTSTART;TZID=America/New_York:\(example.start) RRULE:\(example.rule)", in: "Europe/Prague",
        after: "1996-01-01T00:00:00Z", count: 20)
      #expect(found == (expected.count < 20 ? expected + ["end"] : expected), "\(example.rule)")
    }
  }

  struct Row: Sendable {
    var text: String
    var zone = "UTC"
    var after = "1970-01-01T00:00:00Z"
    var next: String

    init(_ text: String, in zone: String = "UTC", after: String = "1970-01-01T00:00:00Z", _ next: String) {
      (self.text, self.zone, self.after, self.next) = (text, zone, after, next)
    }
  }

  static let table: [Row] = [
    // RFC 7529 section 4.3: days that a month or a year lacks.
    Row(
      "DTSTART:20140131T000000 RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=4",
      "20140131T000000 20140228T000000 20140331T000000 20140430T000000 end"),
    Row(
      "DTSTART:20140131T000000 RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD;COUNT=4",
      "20140131T000000 20140301T000000 20140331T000000 20140501T000000 end"),
    Row(
      "DTSTART:20140131T000000 RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=OMIT;COUNT=4",
      "20140131T000000 20140331T000000 20140531T000000 20140731T000000 end"),
    Row(
      "DTSTART;VALUE=DATE:20120229 RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD;COUNT=5",
      "20120229T000000 20130301T000000 20140301T000000 20150301T000000 20160229T000000 end"),
    Row(
      "DTSTART;VALUE=DATE:20120229 RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;COUNT=5",
      "20120229T000000 20130228T000000 20140228T000000 20150228T000000 20160229T000000 end"),
    // A day moved onto another day of the rule counts once.
    Row(
      "DTSTART:20150201T000000 RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;SKIP=BACKWARD;COUNT=3",
      "20150228T000000 20160228T000000 20160229T000000 end"),
    Row(
      "DTSTART:20150401T000000 RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD;COUNT=4",
      "20150401T000000 20150501T000000 20150531T000000 20150601T000000 end"),
    Row(
      "DTSTART:20150101T000000 RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;BYYEARDAY=366;SKIP=FORWARD;COUNT=3",
      "20160101T000000 20161231T000000 20180101T000000 end"),
    Row(
      "DTSTART:20150101T000000 RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;BYYEARDAY=366;SKIP=BACKWARD;COUNT=3",
      "20151231T000000 20161231T000000 20171231T000000 end"),
    // Leap days, also across a century without one.
    Row("DTSTART:20960229T080000 RRULE:FREQ=YEARLY", after: "2096-02-29T08:00:00Z", "21040229T080000 21080229T080000"),
    Row(
      "DTSTART:20000101T000000 RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", after: "2026-01-01T00:00:00Z",
      "20440229T000000 20720229T000000 21120229T000000"),
    // COUNT counts from the start, however long ago.
    Row("DTSTART:19610412T090700 RRULE:FREQ=YEARLY;COUNT=9", "end"),
    Row("DTSTART:19610412T090700 RRULE:FREQ=YEARLY;COUNT=11", "19700412T090700 19710412T090700 end"),
    Row(
      "DTSTART:16010101T000000 RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10", after: "2026-01-01T00:00:00Z",
      "20261025T000000 20271031T000000"),
    // A start that does not match the rule is no occurrence, and is not counted.
    Row("DTSTART:20260101T090000 RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=2", "20260105T090000 20260112T090000 end"),
    // Exceptions are counted.
    Row(
      "DTSTART:20260101T090000 RRULE:FREQ=DAILY;COUNT=3 EXDATE:20260102T090000", "20260101T090000 20260103T090000 end"),
    Row(
      "DTSTART:20260101T090000 RRULE:FREQ=HOURLY;COUNT=30 EXDATE;VALUE=DATE:20260101", "20260102T000000 20260102T010000"
    ),
    Row(
      "DTSTART:20260101T090000 RRULE:FREQ=DAILY;COUNT=2 RDATE:20260101T120000,20260101T090000 RDATE;VALUE=DATE:20260105",
      "20260101T090000 20260101T120000 20260102T090000 20260105T090000 end"),
    Row(
      "DTSTART:20260101T090000 RRULE:FREQ=DAILY;COUNT=2 RRULE:FREQ=DAILY;BYHOUR=10;COUNT=2",
      "20260101T090000 20260101T100000 20260102T090000 20260102T100000 end"),
    Row(
      "RDATE;VALUE=PERIOD:20260101T090000Z/PT1H,20260103T090000Z/20260103T100000Z",
      "20260101T090000 20260103T090000 end"),
    Row("DTSTART:20260101T090000", "20260101T090000 end"),
    Row("DTSTART:20260101T090000 EXDATE:20260101T090000", "end"),
    // RDATE, EXDATE and UNTIL in UTC with a local start.
    Row(
      "DTSTART;TZID=America/New_York:20260101T090000 RRULE:FREQ=DAILY;UNTIL=20260103T140000Z RDATE:20260105T150000Z EXDATE:20260102T140000Z",
      "20260101T090000 20260103T090000 20260105T100000 end"),
    Row(
      "DTSTART;TZID=America/New_York:20260101T090000 RRULE:FREQ=DAILY;UNTIL=20260103T135959Z",
      "20260101T090000 20260102T090000 end"),
    // UNTIL as a date includes the whole day.
    Row("DTSTART:20260101T090000 RRULE:FREQ=DAILY;UNTIL=20260102", "20260101T090000 20260102T090000 end"),
    // Weeks that extend into neighboring years: the Mondays of week 1 of 2019 and 2020 are in December.
    Row(
      "DTSTART:20180101T000000 RRULE:FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO",
      "20180101T000000 20181231T000000 20191230T000000 20210104T000000"),
    Row(
      "DTSTART:20180101T000000 RRULE:FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1;BYDAY=MO",
      "20180101T000000 20191230T000000 20220103T000000"),
    Row(
      "DTSTART:20180101T000000 RRULE:FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO,SU;BYSETPOS=-1",
      "20180107T000000 20190106T000000 20200105T000000"),
    Row(
      "DTSTART:20180105T000000 RRULE:FREQ=YEARLY;BYWEEKNO=-1,53",
      "20181228T000000 20191227T000000 20210101T000000 20211231T000000"),
    // With BYWEEKNO alone, the weekday comes from the start.
    Row("DTSTART:19970512T090000 RRULE:FREQ=YEARLY;BYWEEKNO=20", "19970512T090000 19980511T090000 19990517T090000"),
    // Days with and without numbers are one list.
    Row(
      "DTSTART:20260101T000000 RRULE:FREQ=MONTHLY;BYDAY=1MO,-1FR,2MO",
      "20260105T000000 20260112T000000 20260130T000000 20260202T000000"),
    Row(
      "DTSTART:20260101T000000 RRULE:FREQ=MONTHLY;BYDAY=WE,1MO",
      "20260105T000000 20260107T000000 20260114T000000 20260121T000000 20260128T000000 20260202T000000"),
    // Positions in the first week count from its beginning.
    Row("DTSTART:20260107T000000 RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2", "20260107T000000 20260114T000000"),
    Row("DTSTART:20260108T000000 RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2", "20260114T000000 20260121T000000"),
    // Leap seconds are not supported: :60 is :59.
    Row("DTSTART:20260101T000060 RRULE:FREQ=MINUTELY;BYSECOND=60;COUNT=2", "20260101T000059 20260101T000159 end"),
    // Grids that rarely match their limits.
    Row("DTSTART:20260101T000000 RRULE:FREQ=HOURLY;INTERVAL=25;BYHOUR=9;BYMONTH=2;BYMONTHDAY=29", "21720229T090000"),
    Row("DTSTART:20260101T000000 RRULE:FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "21731105T090000"),
    Row("DTSTART:20260101T000000 RRULE:FREQ=DAILY;INTERVAL=2147483647", "20260101T000000 end"),
    Row("DTSTART:20260101T000000 RRULE:FREQ=MONTHLY;INTERVAL=2147483647;COUNT=10000", "20260101T000000 end"),
    Row("DTSTART:20260101T000000 RRULE:FREQ=DAILY;INTERVAL=2147483647;COUNT=10000", "20260101T000000 end"),
    Row("DTSTART:20260101T000000 RRULE:FREQ=WEEKLY;INTERVAL=2147483647;BYMONTH=1;COUNT=3", "20260101T000000 end"),
    // The end of the range.
    Row("DTSTART:99981231T235959 RRULE:FREQ=YEARLY", "99981231T235959 99991231T235959 end"),
    Row("DTSTART:99991231T235958 RRULE:FREQ=SECONDLY", "99991231T235958 99991231T235959 end"),
  ]

  @Test(arguments: table) func difficultRulesHaveTheirTimes(_ row: Row) throws {
    let expected = row.next.split(separator: " ").map(String.init)
    let found = try Self.next(row.text, in: row.zone, after: row.after, count: expected.count)
    #expect(found == expected)
  }

  /// Rules that never occur are detected at once.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30,31",
      "FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31",
      "FREQ=YEARLY;BYYEARDAY=60;BYMONTH=5", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
      "FREQ=YEARLY;BYWEEKNO=2;BYMONTH=7;BYDAY=MO",
      "FREQ=HOURLY;INTERVAL=2;BYHOUR=1", "FREQ=MINUTELY;INTERVAL=7;BYDAY=MO;BYHOUR=9;BYMINUTE=1",
      "FREQ=HOURLY;INTERVAL=168;BYDAY=FR",
      "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1", "FREQ=DAILY;INTERVAL=7;BYDAY=FR", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
      "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", "FREQ=SECONDLY;BYSETPOS=2;BYSECOND=1",
      "FREQ=MONTHLY;BYSETPOS=366;BYDAY=MO", "FREQ=SECONDLY;INTERVAL=86400;BYMONTH=2;BYMONTHDAY=30",
    ])
  func ruleThatNeverOccursIsDetected(_ rule: String) throws {
    // Thursday 1 January 2026 at midnight; 2026 is not a leap year.
    let schedule = try Schedule(canonical: "DTSTART:20260101T000000 RRULE:\(rule)")
    #expect(schedule.timetable(in: .utc).next(after: .earliest) == nil)
    let utc = Zone.utc
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse("DTSTART:20260101T000000 RRULE:\(rule)", now: .earliest, zone: utc)
    }
    #expect(error?.code == .neverOccurs)
  }

  // MARK: Zones

  static let spring = "DTSTART;TZID=America/New_York:20260307T023000 RRULE:FREQ=DAILY"
  static let autumn = "DTSTART;TZID=America/New_York:20261031T013000 RRULE:FREQ=DAILY"

  @Test func gapsAndFoldsFollowTheirRules() throws {
    func spring(_ gap: GapRule?) throws -> [String] {
      try Self.next(Self.spring, after: "2026-03-07T12:00:00Z", count: 2, gap: gap)
    }
    #expect(try spring(nil) == ["20260308T033000", "20260309T023000"])
    #expect(try spring(.skip) == ["20260309T023000", "20260310T023000"])
    func autumn(_ fold: FoldRule?) throws -> [Int64] {
      let timetable = try Schedule(canonical: Self.autumn).timetable(in: Self.scheduleContext("UTC"), fold: fold)
      return timetable.occurrences(after: instant("2026-10-31T12:00:00Z")).prefix(2).map(\.seconds)
    }
    let first = instant("2026-11-01T05:30:00Z").seconds
    #expect(try autumn(nil) == [first, first + 90_000])
    #expect(try autumn(.last) == [first + 3_600, first + 90_000])
    #expect(try autumn(.both) == [first, first + 3_600])
  }

  /// Hourly in local time: the gap's hour coincides with the next, and the fold's second pass is skipped.
  @Test func hoursFollowTheWallClock() throws {
    let hourly = "DTSTART;TZID=Europe/Prague:20260101T000000 RRULE:FREQ=HOURLY"
    #expect(
      try Self.next(hourly, after: "2026-03-29T00:00:00Z", count: 2) == ["20260329T030000", "20260329T040000"])
    let timetable = try Schedule(canonical: hourly).timetable(in: Self.scheduleContext("UTC"))
    let found = timetable.occurrences(after: instant("2026-10-24T23:30:00Z")).prefix(2).map(\.seconds)
    #expect(found == [instant("2026-10-25T00:00:00Z").seconds, instant("2026-10-25T02:00:00Z").seconds])
    // In UTC each hour is distinct.
    let utc = "DTSTART:20260101T000000Z RRULE:FREQ=HOURLY"
    #expect(
      try Self.next(utc, in: "Europe/Prague", after: "2026-03-29T00:00:00Z", count: 2) == [
        "20260329T010000", "20260329T020000",
      ])
    #expect(try Schedule(canonical: utc).zoneIdentifier == "UTC")
  }

  @Test func movedTimesGetARemark() throws {
    let scheduleContext = try Self.scheduleContext("UTC")
    let moved = instant("2026-03-08T07:30:00Z")
    for text in [
      Self.spring, Self.spring + " EXDATE:20260401T000000Z", "DTSTART;TZID=America/New_York:20260308T023000",
    ] {
      let timetable = try Schedule(canonical: text).timetable(in: scheduleContext)
      #expect(timetable.next(after: moved - .seconds(1)) == moved)
      #expect(timetable.remark(for: moved)?.description == "02:30 does not exist on 2026-03-08; moved to 03:30")
    }
  }

  // MARK: TRIGGER

  @Test(arguments: [
    // Elapsed time: fifteen minutes before 02:30, which happens at 03:30, is 03:15.
    Row(
      "DTSTART;TZID=America/New_York:20260307T023000 RRULE:FREQ=DAILY TRIGGER:-PT15M", after: "2026-03-07T12:00:00Z",
      "20260308T031500 20260309T021500"),
    Row(
      "DTSTART;TZID=America/New_York:20260307T090000 RRULE:FREQ=DAILY TRIGGER:-PT24H", after: "2026-03-07T00:00:00Z",
      "20260307T080000 20260308T090000"),
    // Days shift local time.
    Row(
      "DTSTART;TZID=America/New_York:20260308T090000 RRULE:FREQ=DAILY TRIGGER:-P1D", after: "2026-03-07T00:00:00Z",
      "20260307T090000 20260308T090000"),
    Row(
      "DTSTART;TZID=America/New_York:20260309T023000 RRULE:FREQ=DAILY TRIGGER:-P1D", after: "2026-03-08T00:00:00Z",
      "20260308T033000 20260309T023000"),
    Row("DTSTART;VALUE=DATE:20260105 RRULE:FREQ=WEEKLY;COUNT=2 TRIGGER:-PT15H", "20260104T090000 20260111T090000 end"),
    Row("DTSTART;VALUE=DATE:20260105 RRULE:FREQ=WEEKLY;COUNT=2 TRIGGER:PT9H", "20260105T090000 20260112T090000 end"),
    Row("DTSTART:20260105T090000 TRIGGER:P1W", "20260112T090000 end"),
    Row("DTSTART:20260105T090000 RDATE:20260106T090000 TRIGGER:-P1DT1H", "20260104T080000 20260105T080000 end"),
    // Limits apply to the occurrence, not to the shifted moment.
    Row(
      "DTSTART;TZID=America/New_York:20260101T090000 RRULE:FREQ=DAILY;UNTIL=20260103T140000Z EXDATE:20260102T140000Z TRIGGER:-P1D",
      "20251231T090000 20260102T090000 end"),
    Row(
      "DTSTART;TZID=America/New_York:20260101T090000 RRULE:FREQ=DAILY;UNTIL=20260103T140000Z EXDATE:20260102T090000 TRIGGER:P1DT1H",
      "20260102T100000 20260104T100000 end"),
    Row(
      "DTSTART;TZID=America/New_York:20260101T090000 RDATE:20260102T140000Z TRIGGER:-P1D",
      "20251231T090000 20260101T090000 end"),
    Row("DTSTART:20260105T090000 RRULE:FREQ=DAILY;COUNT=2 TRIGGER:PT0S", "20260105T090000 20260106T090000 end"),
  ])
  func triggersShiftTheTime(_ row: Row) throws {
    let expected = row.next.split(separator: " ").map(String.init)
    #expect(try Self.next(row.text, in: row.zone, after: row.after, count: expected.count) == expected)
  }

  @Test func oneOffRulesAreRecognized() throws {
    #expect(try Schedule(canonical: "DTSTART:20260101T090000").isOneOff)
    #expect(try Schedule(canonical: "DTSTART:20260101T090000 TRIGGER:-PT15M").isOneOff)
    #expect(try !Schedule(canonical: "DTSTART:20260101T090000 RDATE:20260102T090000").isOneOff)
    #expect(try !Schedule(canonical: "DTSTART:20260101T090000 RRULE:FREQ=DAILY;COUNT=1").isOneOff)
  }
}

extension CivilDateTime {
  /// The seconds of local time since 1970-01-01 00:00.
  var wallSecondsForTests: Int64 { Int64(date.dayNumber) * 86_400 + Int64(time.secondOfDay) }
}
