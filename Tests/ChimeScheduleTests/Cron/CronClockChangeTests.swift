import ChimeSchedule
import Testing

/// Cron schedules across offset changes, by the rules of cron(8), and with the reminder's own rules.
@Suite struct CronClockChangeTests {
  struct Row {
    var text: String
    var zone: String
    var after: String
    var next: [String]
    var gap: GapRule?
    var fold: FoldRule?
  }

  static let table: [Row] = [
    // Prague: 02:00 to 03:00 does not exist on 2026-03-29. Fixed times run together at its end.
    Row(
      text: "30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]),
    Row(
      text: "0,20,40 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]),
    Row(
      text: "0 2,3 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]),
    Row(
      text: "0 3 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-30T03:00:00+02:00"]),
    Row(text: "0 2 * * *", zone: "Europe/Prague", after: "2026-03-29T00:59:59Z", next: ["2026-03-29T03:00:00+02:00"]),
    Row(text: "0 2 * * *", zone: "Europe/Prague", after: "2026-03-29T01:00:00Z", next: ["2026-03-30T02:00:00+02:00"]),
    Row(
      text: "15 30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:15+02:00"]),
    // Wildcard jobs run by elapsed time: the lost hour is not made up for.
    Row(
      text: "*/30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z", next: ["2026-03-30T02:00:00+02:00"]),
    Row(
      text: "30 * * * *", zone: "Europe/Prague", after: "2026-03-29T00:00:00Z",
      next: ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"]),
    Row(
      text: "0 */2 * * *", zone: "Europe/Prague", after: "2026-03-28T22:30:00Z",
      next: ["2026-03-29T00:00:00+01:00", "2026-03-29T04:00:00+02:00"]),
    Row(text: "@hourly", zone: "Europe/Prague", after: "2026-03-29T00:00:00Z", next: ["2026-03-29T03:00:00+02:00"]),
    Row(
      text: "0 0-23/2 * * *", zone: "Europe/Prague", after: "2026-03-28T22:30:00Z",
      next: ["2026-03-29T00:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"]),
    // The reminder's rules take precedence.
    Row(
      text: "30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z", next: ["2026-03-29T03:30:00+02:00"],
      gap: .shift),
    Row(
      text: "30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z", next: ["2026-03-30T02:30:00+02:00"],
      gap: .skip),
    Row(
      text: "*/30 2 * * *", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      next: ["2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"], gap: .shift),
    // 02:00 to 03:00 happens twice on 2026-10-25.
    Row(
      text: "30 2 * * *", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      next: ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]),
    Row(
      text: "30 * * * *", zone: "Europe/Prague", after: "2026-10-25T00:00:00Z",
      next: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00"]),
    Row(
      text: "*/30 2 * * *", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      next: [
        "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00",
        "2026-10-25T02:30:00+01:00", "2026-10-26T02:00:00+01:00",
      ]),
    Row(
      text: "*/30 2 * * *", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      next: ["2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"], fold: .last),
    Row(
      text: "*/30 2 * * *", zone: "Europe/Prague", after: "2026-10-25T00:30:00Z", next: ["2026-10-26T02:00:00+01:00"],
      fold: .first),
    Row(
      text: "30 2 * * *", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      next: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"], fold: .both),
    // A change of half an hour.
    Row(
      text: "15 2 * * *", zone: "Australia/Lord_Howe", after: "2026-10-03T00:00:00Z",
      next: ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"]),
    Row(
      text: "45 1 * * *", zone: "Australia/Lord_Howe", after: "2026-04-04T00:00:00Z",
      next: ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"]),
    // Midnight does not exist.
    Row(
      text: "@daily", zone: "America/Sao_Paulo", after: "2018-11-03T12:00:00Z",
      next: ["2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"]),
    // A jump of three hours or more, in either direction, counts as a correction of the clock.
    Row(
      text: "30 3 * * *", zone: "Antarctica/Casey", after: "2009-10-17T00:00:00Z", next: ["2009-10-19T03:30:00+11:00"]),
    Row(text: "0 12 * * *", zone: "Pacific/Apia", after: "2011-12-29T23:00:00Z", next: ["2011-12-31T12:00:00+14:00"]),
    Row(
      text: "0 1 * * *", zone: "Antarctica/Vostok", after: "2023-12-17T12:00:00Z",
      next: ["2023-12-18T01:00:00+07:00", "2023-12-19T01:00:00+05:00"]),
    // The zone's file ends with this fold, and its footer repeats the offset.
    Row(
      text: "9 1 * * *", zone: "Africa/Sao_Tome", after: "2018-12-31T12:00:00Z",
      next: ["2019-01-01T01:09:00+01:00", "2019-01-02T01:09:00+00:00"]),
    // Distant years.
    Row(text: "0 0 29 2 *", zone: "Europe/Prague", after: "2096-03-01T00:00:00Z", next: ["2104-02-29T00:00:00+01:00"]),
    Row(
      text: "0 0 29 2 */7", zone: "UTC", after: "2088-03-01T00:00:00Z",
      next: ["2128-02-29T00:00:00Z", "2156-02-29T00:00:00Z"]),
    Row(text: "59 23 31 12 *", zone: "UTC", after: "9999-01-01T00:00:00Z", next: ["9999-12-31T23:59:00Z", "end"]),
    Row(
      text: "0 0 1 1 *", zone: "America/New_York", after: "1970-01-01T00:00:00Z",
      next: ["1970-01-01T00:00:00-05:00", "1971-01-01T00:00:00-05:00"]),
    Row(
      text: "0 19 31 12 *", zone: "America/New_York", after: "1970-01-01T00:00:00Z", next: ["1970-12-31T19:00:00-05:00"]
    ),
    // The days of L, W and #, and of both day fields together.
    Row(
      text: "30 4 1,15 * 5", zone: "UTC", after: "2026-05-01T12:00:00Z",
      next: [
        "2026-05-08T04:30:00Z", "2026-05-15T04:30:00Z", "2026-05-22T04:30:00Z", "2026-05-29T04:30:00Z",
        "2026-06-01T04:30:00Z",
      ]),
    Row(
      text: "0 0 */15 * 5", zone: "UTC", after: "2026-01-01T12:00:00Z",
      next: ["2026-01-16T00:00:00Z", "2026-05-01T00:00:00Z", "2026-07-31T00:00:00Z"]),
    Row(
      text: "0 12 L * *", zone: "UTC", after: "2028-01-31T12:00:00Z",
      next: ["2028-02-29T12:00:00Z", "2028-03-31T12:00:00Z", "2028-04-30T12:00:00Z"]),
    Row(
      text: "0 12 L-3 2 *", zone: "UTC", after: "2027-01-01T12:00:00Z",
      next: ["2027-02-25T12:00:00Z", "2028-02-26T12:00:00Z"]),
    Row(
      text: "0 12 LW * *", zone: "UTC", after: "2026-01-01T12:00:00Z",
      next: [
        "2026-01-30T12:00:00Z", "2026-02-27T12:00:00Z", "2026-03-31T12:00:00Z", "2026-04-30T12:00:00Z",
        "2026-05-29T12:00:00Z",
      ]),
    Row(
      text: "0 12 1W * *", zone: "UTC", after: "2026-07-15T12:00:00Z",
      next: ["2026-08-03T12:00:00Z", "2026-09-01T12:00:00Z", "2026-10-01T12:00:00Z", "2026-11-02T12:00:00Z"]),
    Row(
      text: "0 12 15W * *", zone: "UTC", after: "2026-01-31T12:00:00Z",
      next: [
        "2026-02-16T12:00:00Z", "2026-03-16T12:00:00Z", "2026-04-15T12:00:00Z", "2026-05-15T12:00:00Z",
        "2026-06-15T12:00:00Z",
      ]),
    Row(
      text: "0 12 31W * *", zone: "UTC", after: "2026-01-31T12:00:00Z",
      next: ["2026-03-31T12:00:00Z", "2026-05-29T12:00:00Z", "2026-07-31T12:00:00Z"]),
    Row(
      text: "0 12 * * friL", zone: "UTC", after: "2026-01-01T12:00:00Z",
      next: ["2026-01-30T12:00:00Z", "2026-02-27T12:00:00Z", "2026-03-27T12:00:00Z"]),
    Row(
      text: "0 12 * * mon#5", zone: "UTC", after: "2026-01-01T12:00:00Z",
      next: ["2026-03-30T12:00:00Z", "2026-06-29T12:00:00Z", "2026-08-31T12:00:00Z"]),
    Row(
      text: "0 12 L * mon#1", zone: "UTC", after: "2026-01-01T12:00:00Z",
      next: ["2026-01-05T12:00:00Z", "2026-01-31T12:00:00Z", "2026-02-02T12:00:00Z"]),
  ]

  /// West of Greenwich the first local day is in December 1969, a month that begins on a negative day.
  @Test func timesBeginAtTheEpoch() throws {
    for (text, first) in [
      ("0 0 L * *", "1970-01-31T05:00:00Z"), ("0 0 15W * *", "1970-01-15T05:00:00Z"),
      ("0 0 * * mon#1", "1970-01-05T05:00:00Z"), ("0 0 * * friL", "1970-01-30T05:00:00Z"),
    ] {
      let timetable = try Schedule(canonical: "cron: " + text).timetable(in: zone("America/New_York"))
      #expect(timetable.next(after: .earliest) == instant(first), "\(text)")
    }
  }

  @Test func timesFollowTheRulesOfCron() throws {
    for row in Self.table {
      let zone = try zone(row.zone)
      let timetable = try Schedule(canonical: row.text).timetable(in: zone, gap: row.gap, fold: row.fold)
      var found: [String] = []
      var after = instant(row.after)
      while found.count < row.next.count {
        guard let next = timetable.next(after: after) else {
          found.append("end")
          break
        }
        found.append(RFC3339.format(next, in: zone))
        after = next
      }
      #expect(found == row.next, "\(row.text) in \(row.zone)")
    }
  }

  /// A remark on a run at the end of a gap names the first skipped time, and appears only there.
  @Test func skippedTimesGetARemark() throws {
    let prague = try zone("Europe/Prague")
    let end = instant("2026-03-29T01:00:00Z")
    func remark(_ text: String) throws -> String? {
      try Schedule(canonical: text).timetable(in: prague).remark(for: end)?.description
    }
    #expect(try remark("20,40 2 * * *") == "02:20 does not exist on 2026-03-29; moved to 03:00")
    #expect(try remark("0 3 * * *") == nil)
    #expect(try remark("0 * * * *") == nil)
    #expect(try remark("*/10 2,3 * * *") == nil)
    let fold = try Schedule(canonical: "*/30 2 * * *").timetable(in: prague)
    let passes = fold.occurrences(after: instant("2026-10-24T12:00:00Z")).prefix(4).map {
      fold.remark(for: $0)?.description
    }
    #expect(
      passes == [
        "02:00 happens twice on 2026-10-25; this is the first", "02:30 happens twice on 2026-10-25; this is the first",
        "02:00 happens twice on 2026-10-25; this is the second",
        "02:30 happens twice on 2026-10-25; this is the second",
      ])
  }
}
