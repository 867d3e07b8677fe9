import ChimeSchedule
import Testing

/// Times of calendar expressions, without another program.
@Suite struct CalendarTimesTests {
  static func timetable(_ text: String, _ name: String, gap: GapRule? = nil, fold: FoldRule? = nil) throws -> Timetable
  {
    let scheduleContext = ScheduleContext(zone: try zone(name), zones: { CalendarOracle.zones($0) })
    return try Schedule(canonical: "calendar: " + text).timetable(in: scheduleContext, gap: gap, fold: fold)
  }

  static func next(_ timetable: Timetable, after: String, in name: String, _ count: Int) throws -> [String] {
    let zone = try zone(name)
    return timetable.occurrences(after: instant(after)).prefix(count).map { RFC3339.format($0, in: zone) }
  }

  struct Row: Sendable {
    var text, zone, after: String
    var times: [String]
    var gap: GapRule?
    var fold: FoldRule?
  }

  static let table: [Row] = [
    // A gap: skipped by default, or shifted.
    Row(
      text: "*:30", zone: "Europe/Prague", after: "2026-03-29T00:00:00Z",
      times: ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"]),
    Row(
      text: "02:30", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      times: ["2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"]),
    Row(
      text: "02:30", zone: "Europe/Prague", after: "2026-03-28T12:00:00Z",
      times: ["2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"], gap: .shift),
    // A gap of two hours.
    Row(
      text: "02..04:00", zone: "Antarctica/Troll", after: "2026-03-28T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00", "2026-03-30T02:00:00+02:00"]),
    // A gap of half an hour.
    Row(
      text: "*:0/15", zone: "Australia/Lord_Howe", after: "2026-10-03T15:00:00Z",
      times: ["2026-10-04T01:45:00+10:30", "2026-10-04T02:30:00+11:00"]),
    // A gap at midnight.
    Row(
      text: "*:0/30", zone: "America/Sao_Paulo", after: "2018-11-04T02:00:00Z",
      times: ["2018-11-03T23:30:00-03:00", "2018-11-04T01:00:00-02:00"]),
    Row(
      text: "00:00", zone: "America/Sao_Paulo", after: "2018-11-03T12:00:00Z", times: ["2018-11-05T00:00:00-02:00"]),
    // A gap of a whole day.
    Row(
      text: "Fri 12:00", zone: "Pacific/Apia", after: "2011-12-29T00:00:00Z", times: ["2012-01-06T12:00:00+14:00"]),
    // A fold: once, at its first pass, wherever the search begins.
    Row(
      text: "*:0/30", zone: "Europe/Prague", after: "2026-10-24T23:59:59Z",
      times: ["2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T03:00:00+01:00"]),
    Row(text: "*:0/30", zone: "Europe/Prague", after: "2026-10-25T01:10:00Z", times: ["2026-10-25T03:00:00+01:00"]),
    Row(
      text: "02:30", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      times: ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"], fold: .last),
    Row(
      text: "02:30", zone: "Europe/Prague", after: "2026-10-24T12:00:00Z",
      times: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"], fold: .both),
    // Summer time is the standard time, and ends when it does elsewhere.
    Row(
      text: "01:30", zone: "Europe/Dublin", after: "2026-10-24T12:00:00Z",
      times: ["2026-10-25T01:30:00+01:00", "2026-10-26T01:30:00+00:00"]),
    Row(
      text: "02:30", zone: "Africa/Casablanca", after: "2026-02-14T12:00:00Z",
      times: ["2026-02-15T02:30:00+01:00", "2026-02-16T02:30:00+00:00"]),
    // A repetition ends with its field: these are the minutes 0, 7 … 56 of each hour.
    Row(
      text: "*:0/7", zone: "UTC", after: "2026-07-31T23:50:00Z",
      times: ["2026-07-31T23:56:00Z", "2026-08-01T00:00:00Z", "2026-08-01T00:07:00Z"]),
    Row(text: "*-*-1/8 12:00", zone: "UTC", after: "2026-12-25T12:00:00Z", times: ["2027-01-01T12:00:00Z"]),
    Row(
      text: "*-1/5-14", zone: "Europe/London", after: "2090-06-30T00:00:00Z",
      times: ["2090-11-14T00:00:00+00:00", "2091-01-14T00:00:00+00:00"]),
    // Fractions: each second that contains one, once.
    Row(
      text: "*:*:0/0.4", zone: "UTC", after: "2026-01-01T00:00:00Z",
      times: ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"]),
    Row(
      text: "*:*:0/1.7", zone: "UTC", after: "2026-01-01T00:00:57Z",
      times: ["2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:01Z", "2026-01-01T00:01:03Z"]),
    Row(text: "9:00:59.999999", zone: "UTC", after: "2026-01-01T00:00:00Z", times: ["2026-01-01T09:00:59Z"]),
    Row(
      text: "*:*:1.5/0.000001", zone: "UTC", after: "2026-01-01T00:00:59Z",
      times: ["2026-01-01T00:01:01Z", "2026-01-01T00:01:02Z"]),
    // Days counted from the end of the month.
    Row(
      text: "*-02~01", zone: "UTC", after: "2027-03-01T00:00:00Z",
      times: ["2028-02-29T00:00:00Z", "2029-02-28T00:00:00Z"]),
    Row(
      text: "*-*~3/2", zone: "UTC", after: "2026-02-25T00:00:00Z",
      times: ["2026-02-26T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-29T00:00:00Z", "2026-03-31T00:00:00Z"]),
    Row(text: "Mon *-05~07/1", zone: "UTC", after: "2026-01-01T00:00:00Z", times: ["2026-05-25T00:00:00Z"]),
    // The longest waits.
    Row(text: "*-02-29", zone: "UTC", after: "2096-03-01T00:00:00Z", times: ["2104-02-29T00:00:00Z"]),
    Row(text: "Thu *-02-29", zone: "UTC", after: "2080-02-29T00:00:00Z", times: ["2120-02-29T00:00:00Z"]),
    Row(text: "Wed *-02-29", zone: "UTC", after: "2096-02-29T12:00:00Z", times: ["2108-02-29T00:00:00Z"]),
    Row(text: "*-02-30", zone: "UTC", after: "2026-01-01T00:00:00Z", times: ["end"]),
    Row(text: "2001/4-02-29", zone: "UTC", after: "2026-01-01T00:00:00Z", times: ["end"]),
    // Years up to 9999.
    Row(text: "*-12-31 23:59:59", zone: "UTC", after: "9998-12-31T23:59:59Z", times: ["9999-12-31T23:59:59Z", "end"]),
    Row(text: "2100/50-01-01", zone: "UTC", after: "2190-01-01T00:00:00Z", times: ["2200-01-01T00:00:00Z"]),
    Row(text: "2100/99-01-01", zone: "UTC", after: "9900-01-01T00:00:00Z", times: ["9921-01-01T00:00:00Z", "end"]),
    Row(text: "2199-12-31", zone: "UTC", after: "2199-12-31T00:00:00Z", times: ["end"]),
    Row(text: "1970-01-01", zone: "UTC", after: "1970-01-01T00:00:00Z", times: ["end"]),
    // A zone in the expression.
    Row(
      text: "09:00 Asia/Tokyo", zone: "Europe/Prague", after: "2026-11-20T00:00:00Z",
      times: ["2026-11-21T01:00:00+01:00"]),
    Row(
      text: "@1796115600", zone: "America/New_York", after: "2026-11-20T00:00:00Z",
      times: ["2026-12-01T04:00:00-05:00", "end"]),
    // A label of the clock: only while it is in force.
    Row(
      text: "02:30 CET", zone: "Europe/Prague", after: "2026-10-24T00:00:00Z",
      times: ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"]),
    Row(
      text: "02:30 CEST", zone: "Europe/Prague", after: "2026-10-24T00:00:00Z",
      times: ["2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2027-03-29T02:30:00+02:00"]),
    Row(text: "*-07-01 CET", zone: "Europe/Prague", after: "2026-10-24T00:00:00Z", times: ["end"]),
    // Elsewhere the same word is a zone.
    Row(text: "09:00 EST", zone: "Europe/Prague", after: "2026-07-01T00:00:00Z", times: ["2026-07-01T16:00:00+02:00"]),
  ]

  @Test(arguments: table) func expressionsHaveTheirTimes(_ row: Row) throws {
    let timetable = try Self.timetable(row.text, row.zone, gap: row.gap, fold: row.fold)
    let times = try Self.next(timetable, after: row.after, in: row.zone, row.times.count)
    #expect(times + (times.count < row.times.count ? ["end"] : []) == row.times)
  }

  @Test func refusesExpressionsWithoutAFutureTime() {
    for text in ["2020-01-01", "*-02-30", "2025..2026-01-01", "@5", "2026-11-20 22:22:13"] {
      let error = #expect(throws: ScheduleError.self) {
        try Schedule.parse("calendar: " + text, now: friday, zone: .utc)
      }
      #expect(error?.code == .neverOccurs)
      // A past time can still be parsed.
      #expect(throws: Never.self) { try Schedule(canonical: "calendar: " + text) }
    }
  }

  @Test func foldGetsARemark() throws {
    let timetable = try Self.timetable("02:30", "Europe/Prague")
    #expect(
      timetable.remark(for: instant("2026-10-25T00:30:00Z"))?.description
        == "02:30 happens twice on 2026-10-25; this is the first")
  }

  /// Checks that each found time matches the canonical text, and that no earlier second does, by an independent
  /// interpretation of the text.
  @Test func timesMatchTheCanonicalText() throws {
    var generator = CalendarGenerator(seed: 5)
    var checked = 0
    let rounds = ProofTier.amount(quick: 200, proof: 5_000)
    for _ in 0..<rounds {
      let text = generator.expression(near: 2030)
      guard let schedule = try? Schedule(canonical: "calendar: " + text) else { continue }
      let reader = CalendarText(schedule.canonical)
      let timetable = schedule.timetable(in: .utc)
      let after = Int64(generator.number(1_700_000_000...2_100_000_000))
      let next = timetable.next(after: Instant(seconds: after))?.seconds
      let end = next ?? after + 86_400 * 366
      if let next { #expect(reader.names(next), "\(text) after @\(after)") }
      for _ in 0..<30 where end > after + 1 {
        let between = Int64(generator.number(Int(after) + 1...Int(end) - 1))
        #expect(!reader.names(between), "\(text) after @\(after): @\(between)")
        checked += 1
      }
    }
    #expect(checked > rounds * 6)
  }
}

/// An independent interpretation of a normalized expression.
struct CalendarText {
  private let weekdays: String
  private let year, month, day, hour, minute, second: Substring
  private let isFromEnd: Bool

  init(_ canonical: String) {
    let words = canonical.split(separator: " ").dropFirst()
    let dateIndex = words.firstIndex { $0.contains("-") || $0.contains("~") } ?? words.startIndex
    weekdays = dateIndex > words.startIndex ? String(words[words.startIndex]) : ""
    let date = words[dateIndex]
    isFromEnd = date.contains("~")
    let dates = date.split { $0 == "-" || $0 == "~" }
    let times = words[dateIndex + 1].split(separator: ":")
    (year, month, day) = (dates[0], dates[1], dates[2])
    (hour, minute, second) = (times[0], times[1], times[2])
  }

  func names(_ instant: Int64) -> Bool {
    let civil = Zone.utc.civil(at: Instant(seconds: instant))
    let (year, month, day) = civil.date.fields
    let length = CivilDate.daysIn(month: month, year: year)
    return has(self.year, year) && has(self.month, month)
      && (isFromEnd ? hasFromEnd(self.day, length + 1 - day) : has(self.day, day)) && has(hour, civil.time.hour)
      && has(minute, civil.time.minute) && hasSecond(second, civil.time.second) && isOn(civil.date.weekday)
  }

  private func isOn(_ weekday: Weekday) -> Bool {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return weekdays.isEmpty
      || weekdays.split(separator: ",").contains { part in
        let ends = part.split(separator: ".").compactMap { names.firstIndex(of: String($0)) }
        return ends[0] <= weekday.rawValue - 1 && weekday.rawValue - 1 <= ends[ends.count - 1]
      }
  }

  /// Parses `start`, `start..stop`, `start/step` or all of them, in millionths.
  private func parts(_ field: Substring) -> [(start: Int, stop: Int?, step: Int?)] {
    field.split(separator: ",").map { part in
      let halves = part.split(separator: "/")
      let ends = halves[0].replacing("..", with: "-").split(separator: "-")
      func number(_ text: Substring) -> Int { Int(((Double(text) ?? .nan) * 1_000_000).rounded()) }
      return (number(ends[0]), ends.count > 1 ? number(ends[1]) : nil, halves.count > 1 ? number(halves[1]) : nil)
    }
  }

  private func has(_ field: Substring, _ value: Int) -> Bool {
    let value = value * 1_000_000
    return field == "*"
      || parts(field).contains { start, stop, step in
        guard value >= start, value <= stop ?? (step == nil ? start : .max) else { return false }
        return (value - start) % (step ?? 1_000_000) == 0
      }
  }

  private func hasFromEnd(_ field: Substring, _ value: Int) -> Bool {
    let value = value * 1_000_000
    return parts(field).contains { start, stop, step in
      if let stop { return value >= start && value <= stop && (value - start) % (step ?? 1_000_000) == 0 }
      guard let step else { return value == start }
      return value <= start && (start - value) % step == 0
    }
  }

  /// Returns whether the field matches any part of the second.
  private func hasSecond(_ field: Substring, _ value: Int) -> Bool {
    let low = value * 1_000_000
    return field == "*"
      || parts(field).contains { start, stop, step in
        guard stop != nil || step != nil else { return start >= low && start < low + 1_000_000 }
        let step = step ?? 1_000_000
        let first = start >= low ? start : start + (low - start + step - 1) / step * step
        return first < low + 1_000_000 && first <= stop ?? .max
      }
  }
}
