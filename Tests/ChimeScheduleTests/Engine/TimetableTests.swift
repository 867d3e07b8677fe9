import ChimeSchedule
import Testing

/// Cases beyond the cookbook: ends of the range, distant searches, counting, windows at odd hours.
@Suite struct TimetableTests {
  func next(
    _ text: String, in name: String, after: String, gap: GapRule? = nil, fold: FoldRule? = nil, _ count: Int = 1
  )
    throws -> [String]
  {
    let zone = try zone(name)
    let timetable = try Schedule(canonical: text).timetable(in: zone, gap: gap, fold: fold)
    return timetable.occurrences(after: instant(after)).prefix(count).map { RFC3339.format($0, in: zone) }
  }

  @Test func nextTimeIsStrictlyLater() throws {
    #expect(try next("daily at 08:00", in: "UTC", after: "2026-01-01T08:00:00Z") == ["2026-01-02T08:00:00Z"])
    #expect(try next("daily at 08:00", in: "UTC", after: "2026-01-01T07:59:59.999Z") == ["2026-01-01T08:00:00Z"])
    #expect(try next("daily at 08:00", in: "UTC", after: "2026-01-01T08:00:00.001Z") == ["2026-01-02T08:00:00Z"])
    #expect(
      try next("every 1s starting 2026-01-01", in: "UTC", after: "2026-01-01T08:00:00.5Z") == ["2026-01-01T08:00:01Z"])
  }

  @Test func timesEndWithTheRange() throws {
    #expect(try next("daily at 23:59:59", in: "UTC", after: "9999-12-31T23:59:58Z", 2) == ["9999-12-31T23:59:59Z"])
    #expect(try next("daily at 23:59:59", in: "America/New_York", after: "9999-12-31T12:00:00Z", 2) == [])
    #expect(try next("daily at 00:00", in: "UTC", after: "1970-01-01T00:00:00Z") == ["1970-01-02T00:00:00Z"])
    #expect(
      try next("daily at 00:30", in: "Europe/Prague", after: "1970-01-01T00:00:00Z") == ["1970-01-02T00:30:00+01:00"])
    #expect(
      try next("every 5s from 23:59:50 to 00:00", in: "UTC", after: "9999-12-31T23:59:50Z", 3) == [
        "9999-12-31T23:59:55Z"
      ])
    #expect(try next("every 1w starting 2026-01-01", in: "Europe/Prague", after: "9999-12-31T00:00:00Z", 2) == [])
  }

  /// A distant time is found without a walk.
  @Test func distantTimeIsFound() throws {
    #expect(
      try next("at 9999-06-01 09:00", in: "Europe/Prague", after: "1970-01-01T00:00:00Z", 2) == [
        "9999-06-01T09:00:00+02:00"
      ])
    #expect(
      try next("daily at 02:30 except 1970-01-01..9998-12-31", in: "America/New_York", after: "1970-01-01T00:00:00Z")
        == ["9999-01-01T02:30:00-05:00"])
    #expect(
      try next(
        "every 45m except 1970-01-01..9998-12-31 starting 1970-01-01", in: "Europe/Prague",
        after: "1970-01-01T00:00:00Z")
        == ["9999-01-01T00:15:00+01:00"])
    #expect(
      try next("every 2h from 22:00 to 06:00 starting 9999-01-01", in: "Europe/Prague", after: "1970-01-01T00:00:00Z")
        == ["9999-01-01T22:00:00+01:00"])
  }

  @Test func limitedNumberOfTimesIsCounted() throws {
    let zone = try zone("Europe/Prague")
    let schedule = try Schedule(canonical: "every 20m from 08:00 to 22:00 starting 2020-01-01 10000 times")
    #expect(schedule.timetable(in: zone).occurrences(after: .earliest).reduce(0) { count, _ in count + 1 } == 10_000)
    // Each pass of a fold counts.
    #expect(
      try next(
        "daily at 02:30 starting 2026-10-25 3 times", in: "Europe/Prague", after: "2026-10-24T00:00:00Z", fold: .both, 9
      )
        == ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"])
    #expect(
      try next("every 1h starting 2026-01-01 2 times except 2026-01-01", in: "UTC", after: "2025-01-01T00:00:00Z", 9)
        == [])
    #expect(
      try next(
        "daily at 08:00 starting 2026-01-01 until 2026-01-02 5 times", in: "UTC", after: "2025-01-01T00:00:00Z", 9)
        == ["2026-01-01T08:00:00Z", "2026-01-02T08:00:00Z"])
  }

  @Test func windowsSpanClockChanges() throws {
    // The whole night belongs to its first day; the edges follow local time, the steps elapsed time.
    #expect(
      try next("every 3h from 21:00 to 06:00 on sat", in: "Europe/Prague", after: "2026-03-28T12:00:00Z", 5)
        == [
          "2026-03-28T21:00:00+01:00", "2026-03-29T00:00:00+01:00", "2026-03-29T04:00:00+02:00",
          "2026-04-04T21:00:00+02:00", "2026-04-05T00:00:00+02:00",
        ])
    // An edge in a gap: read with the offset before it, or the gap's end.
    #expect(
      try next("every 6h from 02:30 to 04:00", in: "Europe/Prague", after: "2026-03-28T12:00:00Z") == [
        "2026-03-29T03:30:00+02:00"
      ])
    #expect(
      try next("every 6h from 02:30 to 04:00", in: "Europe/Prague", after: "2026-03-28T12:00:00Z", gap: .skip)
        == ["2026-03-29T03:00:00+02:00"])
    // A window between two passes of one local time.
    #expect(
      try next("every 30m from 02:30 to 02:45", in: "Europe/Prague", after: "2026-10-24T12:00:00Z", fold: .both, 3)
        == ["2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"])
    #expect(
      try next("every 30m from 02:30 to 02:45", in: "Europe/Prague", after: "2026-10-24T12:00:00Z", fold: .last, 2)
        == ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"])
    // A skipped day loses its window, and the night before continues as usual.
    #expect(
      try next("every 6h from 08:00 to 20:00", in: "Pacific/Apia", after: "2011-12-29T12:00:00Z", 6)
        == [
          "2011-12-29T08:00:00-10:00", "2011-12-29T14:00:00-10:00", "2011-12-29T20:00:00-10:00",
          "2011-12-31T08:00:00+14:00", "2011-12-31T14:00:00+14:00", "2011-12-31T20:00:00+14:00",
        ])
    #expect(
      try next("every 10m from 23:40 to 00:20", in: "America/Sao_Paulo", after: "2018-11-04T02:45:00Z", 4)
        == [
          "2018-11-03T23:50:00-03:00", "2018-11-04T01:00:00-02:00", "2018-11-04T01:10:00-02:00",
          "2018-11-04T01:20:00-02:00",
        ])
  }

  @Test func movedTimesGetARemark() throws {
    let prague = try zone("Europe/Prague")
    let daily = try Schedule(canonical: "daily at 02:30,03:00")
    let shifted = instant("2026-03-29T03:30:00+02:00")
    let moved = daily.timetable(in: prague).remark(for: shifted)
    #expect(moved?.description == "02:30 does not exist on 2026-03-29; moved to 03:30")
    #expect(daily.timetable(in: prague, gap: .skip).remark(for: shifted) == nil)
    #expect(daily.timetable(in: prague).remark(for: instant("2026-03-29T03:00:00+02:00")) == nil)
    #expect(daily.timetable(in: prague).remark(for: instant("2026-03-30T02:30:00+02:00")) == nil)
    let window = try Schedule(canonical: "every 1h from 02:30 to 06:00")
    #expect(window.timetable(in: prague).remark(for: shifted) != nil)
    let grid = try Schedule(canonical: "every 30m starting 2026-10-25T00:30:00Z").timetable(in: prague)
    #expect(
      grid.remark(for: instant("2026-10-25T00:30:00Z"))?.description
        == "02:30 happens twice on 2026-10-25; this is the first")
    #expect(
      grid.remark(for: instant("2026-10-25T01:30:00Z"))?.description
        == "02:30 happens twice on 2026-10-25; this is the second")
    #expect(grid.remark(for: instant("2026-10-25T02:00:00Z")) == nil)
  }

  /// A missed repetition recurs after the same span; *done* restarts it.
  @Test func doneRestartsTheSpan() throws {
    func next(_ text: String, done: String?, after: String, in name: String = "Europe/Prague") throws -> [String] {
      let zone = try zone(name)
      let scheduleContext = ScheduleContext(zone: zone, lastDone: done.map(instant))
      return try Schedule(canonical: text).timetable(in: scheduleContext).occurrences(after: instant(after)).prefix(2)
        .map { RFC3339.format($0, in: zone) }
    }
    let daily = "every 3 days after done at 09:00 starting 2026-10-23"
    #expect(
      try next(daily, done: nil, after: "2026-10-20T00:00:00Z")
        == ["2026-10-23T09:00:00+02:00", "2026-10-26T09:00:00+01:00"])
    // Late on Prague's 23rd, which is the 23rd in UTC too; just before and after local midnight.
    #expect(
      try next(daily, done: "2026-10-23T21:59:59Z", after: "2026-10-24T00:00:00Z")
        == ["2026-10-26T09:00:00+01:00", "2026-10-29T09:00:00+01:00"])
    #expect(
      try next(daily, done: "2026-10-23T22:00:00Z", after: "2026-10-24T00:00:00Z")
        == ["2026-10-27T09:00:00+01:00", "2026-10-30T09:00:00+01:00"])
    // Done before it was due: nothing comes before the start.
    #expect(
      try next(daily, done: "2026-10-19T10:00:00Z", after: "2026-10-19T10:00:00Z")
        == ["2026-10-25T09:00:00+01:00", "2026-10-28T09:00:00+01:00"])
    // Elapsed time, rounded up to a whole second, across a DST change.
    let elapsed = "every 12h after done starting 2026-10-23 09:00"
    #expect(
      try next(elapsed, done: "2026-10-24T16:00:00.001Z", after: "2026-10-24T16:00:01Z")
        == ["2026-10-25T05:00:01+01:00", "2026-10-25T17:00:01+01:00"])
    #expect(
      try next(elapsed, done: "2026-10-22T06:00:00Z", after: "2026-10-22T06:00:00Z")
        == ["2026-10-23T20:00:00+02:00", "2026-10-24T08:00:00+02:00"])
    #expect(try Schedule(canonical: daily).countsFromDone)
    #expect(try Schedule(canonical: elapsed).countsFromDone)
    #expect(try !Schedule(canonical: "daily at 08:00").countsFromDone)
    // The most distant time.
    let far = ScheduleContext(zone: .utc, lastDone: .latest)
    #expect(try Schedule(canonical: daily).timetable(in: far).next(after: .earliest) == nil)
    #expect(try Schedule(canonical: elapsed).timetable(in: far).next(after: .earliest) == nil)
  }

  @Test func calendarsExcludeDays() throws {
    let schedule = try Schedule(canonical: "daily at 08:00 except on y,x,2026-12-27,dec 29..dec 30")
    #expect(schedule.canonical == "daily at 08:00 except on x,y,2026-12-27,dec 29..dec 30")
    #expect(schedule.calendarNames == ["x", "y"])
    #expect(try Schedule(canonical: "daily at 08:00").calendarNames == [])
    func day(_ day: Int) -> CivilDate { CivilDate(year: 2026, month: 12, day: day) ?? .earliest }
    func days(_ calendars: [String: [ClosedRange<CivilDate>]]) -> [Int] {
      let scheduleContext = ScheduleContext(zone: .utc, calendar: { calendars[$0] })
      let found = schedule.timetable(in: scheduleContext).occurrences(after: instant("2026-12-22T12:00:00Z"))
      return found.prefix { $0 < instant("2027-01-01T00:00:00Z") }.map { Zone.utc.civil(at: $0).date.day }
    }
    #expect(days([:]) == [23, 24, 25, 26, 28, 31])
    // In any order, overlapping.
    #expect(days(["x": [day(25)...day(26), day(24)...day(25)], "y": [day(25)...day(25)]]) == [23, 28, 31])
    #expect(days(["x": [.earliest ... .latest]]) == [])
  }

  /// Rare days are found, and a search without a result ends.
  @Test func rareDaysAreFound() throws {
    #expect(
      try next("every feb 29 at 08:00", in: "UTC", after: "2096-03-01T00:00:00Z", 2) == [
        "2104-02-29T08:00:00Z", "2108-02-29T08:00:00Z",
      ])
    // A fifth Monday in February is a leap day on a Monday: forty years apart across 2100.
    #expect(
      try next("every fifth mon of feb at 08:00", in: "UTC", after: "2072-03-01T00:00:00Z") == ["2112-02-29T08:00:00Z"])
    #expect(
      try next("every 400 years on feb 29 at 08:00 starting 2000-01-01", in: "UTC", after: "2000-03-01T00:00:00Z")
        == ["2400-02-29T08:00:00Z"])
    #expect(
      try next("every 4 years on feb 29 at 08:00 starting 2026-01-01", in: "UTC", after: "2026-01-01T00:00:00Z") == [])
    #expect(
      try next("every 2800000 days at 08:00 starting 2000-01-01", in: "UTC", after: "2000-01-02T00:00:00Z")
        == ["9666-02-20T08:00:00Z"])
    #expect(
      try next("every 2932896 weeks on mon at 08:00 starting 2000-01-01", in: "UTC", after: "2000-01-02T00:00:00Z")
        == [])
    #expect(
      try next("day 31 of month at 23:59:59", in: "UTC", after: "9999-10-31T23:59:59Z", 3) == ["9999-12-31T23:59:59Z"])
    #expect(try next("daily at 08:00 except jan 1..dec 31", in: "UTC", after: "2026-01-01T00:00:00Z") == [])
    #expect(
      try next("daily at 08:00 except mar 1..feb 28", in: "UTC", after: "2096-03-01T00:00:00Z")
        == ["2104-02-29T08:00:00Z"])
  }

  @Test func scheduleProperties() throws {
    #expect(try Schedule(canonical: "at 2026-12-01 09:00").isOneOff)
    #expect(try !Schedule(canonical: "weekdays at 08:30").isOneOff)
    #expect(
      try Schedule(canonical: "at 2026-10-25 02:30").timetable(in: zone("Europe/Prague"), fold: .both)
        .occurrences(after: .earliest).map(\.seconds) == [1_792_888_200, 1_792_891_800])
    #expect(try next("at 2026-03-29 02:30", in: "Europe/Prague", after: "2026-01-01T00:00:00Z", gap: .skip) == [])
  }
}
