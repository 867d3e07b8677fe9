import ChimeSchedule
import Testing

/// The step limit of searches for occurrences: no schedule can block the search for its next time.
@Suite struct SearchBudgetTests {
  /// Returns every schedule of the other tests, and rare ones that people write.
  static func corpus() throws -> [(text: String, scheduleContext: ScheduleContext)] {
    let newYork = ScheduleContext(zone: try zone("America/New_York"), zones: { CalendarOracle.zones($0) })
    var all = RecurrenceExamples.all.map {
      ("DTSTART;TZID=America/New_York:\($0.start) RRULE:\($0.rule)", newYork)
    }
    for row in RecurrenceTests.table { all.append((row.text, try RecurrenceTests.scheduleContext(row.zone))) }
    for row in CalendarTimesTests.table {
      all.append(
        ("calendar: \(row.text)", ScheduleContext(zone: try zone(row.zone), zones: { CalendarOracle.zones($0) })))
    }
    let prague = ScheduleContext(
      zone: try zone("Europe/Prague"), place: Place(latitude: 50.0875, longitude: 14.4213),
      zones: { CalendarOracle.zones($0) })
    let tromso = ScheduleContext(zone: try zone("Europe/Oslo"), place: Place(latitude: 69.65, longitude: 18.96))
    let texts =
      try CookbookTests.rows().map(\.canonical) + CanonicalTests.table.map(\.canonical)
      + CronTextTests.canonical.map(\.canonical) + RecurrenceTextTests.canonical.map(\.canonical)
      + SolarTextTests.table.map(\.canonical) + CalendarCanonicalTests.table.map { "calendar: \($0.canonical)" }
    all += texts.filter { !$0.isEmpty }.map { ($0, prague) }
    all += Self.seldom.map { ($0, prague) }
    return all + ["sunrise", "sunrise on fri", "sunset on sun"].map { ($0, tromso) }
  }

  static let seldom = [
    "cron: 0 12 29 2 *", "cron: 0 12 */29 2 0", "cron: 30 9 13 * */5", "cron: 0 12 L 2 *",
    "calendar: *-02-29 12:00", "calendar: Sun *-02-29 12:00", "calendar: Fri *-*-13 12:00",
    "calendar: 2199-12-31 23:59:59", "calendar: Sun 2100/4-02-29 12:00",
    "every day 29 of feb at 12:00", "every 4 years on feb 29 at 12:00 starting 2028-01-01",
    "every fifth fri of feb at 9:00",
    "DTSTART:20260101T090000 RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "DTSTART:20260101T090000 RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU",
    "DTSTART:20260101T090000 RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR",
    "DTSTART:20260101T090000 RRULE:FREQ=YEARLY;BYYEARDAY=366;BYDAY=SU",
    "DTSTART:20260101T090000 RRULE:FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO",
    "DTSTART:20260101T090000 RRULE:FREQ=DAILY;INTERVAL=29;BYMONTH=2;BYMONTHDAY=29",
    "DTSTART:20260101T090000 RRULE:FREQ=DAILY;INTERVAL=1000;BYMONTHDAY=13;BYDAY=FR",
    "DTSTART:20260101T090000 RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;COUNT=2500",
    "DTSTART:20260101T000000 RRULE:FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16;COUNT=10000",
    "DTSTART:20260101T000000 RRULE:FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
  ]

  /// The budget is ten times what any useful schedule needs.
  @Test func usefulSchedulesStayFarBelowTheBudget() throws {
    var most = 0
    var which = ""
    for (text, scheduleContext) in try Self.corpus() {
      guard let schedule = try? Schedule(canonical: text) else { continue }
      var walk = schedule.timetable(in: scheduleContext).walk()
      var after = Instant(seconds: 1_767_225_600)
      for _ in 0..<100 {
        let before = walk.steps
        guard let next = walk.next(after: after) else { break }
        if walk.steps - before > most { (most, which) = (walk.steps - before, text) }
        after = next
      }
      #expect(!walk.isGivenUp, "\(text)")
    }
    print("the most steps to a next time: \(most), for \(which)")
    #expect(most > 0 && most <= Timetable.searchSteps / 10)
    for text in Self.seldom {
      #expect(try Schedule(canonical: text).timetable(in: .utc).next(after: friday) != nil, "\(text)")
    }
  }

  static let start = "DTSTART:20260101T000000Z"
  static let futile = "FREQ=DAILY;INTERVAL=99999;BYMONTHDAY=15,22;BYDAY=TH"
  /// A daily rule beside fifteen that never occur.
  static let futileUnion =
    start + " RRULE:FREQ=DAILY"
    + (1...15).map { " RRULE:FREQ=DAILY;INTERVAL=\(999_991 + 7 * $0);BYMONTHDAY=15,22;BYDAY=TH" }.joined()

  @Test(arguments: [
    (
      start + " RRULE:FREQ=DAILY RRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
      "the rule FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30 never has a time"
    ),
    (start + " RRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30 RDATE:20270101T000000Z", "BYMONTHDAY=30 never has"),
    (
      start + " RRULE:FREQ=DAILY RRULE:FREQ=YEARLY;BYWEEKNO=2;BYMONTH=7;BYDAY=MO",
      "the rule FREQ=YEARLY;BYMONTH=7;BYWEEKNO=2;BYDAY=MO never has a time"
    ),
    (futileUnion, "never has a time"),
    (start + " RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;COUNT=10000", "counting off its occurrences takes too long"),
    (
      start + " RRULE:FREQ=SECONDLY;INTERVAL=3599;BYMONTH=7;BYMONTHDAY=3,4,30;BYDAY=TH;BYMINUTE=7,19,23,51,58,59",
      "the search for its next time takes too long"
    ),
  ])
  func costlySchedulesAreRefused(_ text: String, _ words: String) throws {
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse(text, now: instant("2026-01-01T00:00:00Z"), zone: .utc)
    }
    #expect(error?.code == .tooCostly)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    // Schedules from a store or a backup are checked too.
    let stored = try Schedule(canonical: Schedule(canonical: text).canonical)
    let judged = #expect(throws: ScheduleError.self) {
      try stored.requireBoundedSearch(after: instant("2026-01-01T00:00:00Z"), in: ScheduleContext(zone: .utc))
    }
    #expect(judged?.code == .tooCostly)
  }

  /// Ended rules cost nothing, nor does an ended schedule.
  @Test func endedRulesCostNothing() throws {
    let over = [
      "DTSTART:20200101T000000Z RRULE:FREQ=DAILY;COUNT=3 RRULE:FREQ=YEARLY;UNTIL=20230101T000000Z",
      "DTSTART:20200101T000000Z RRULE:FREQ=DAILY;COUNT=3",
    ]
    for text in over {
      let schedule = try Schedule(canonical: text)
      try schedule.requireBoundedSearch(after: friday, in: ScheduleContext(zone: .utc))
      #expect(schedule.timetable(in: .utc).next(after: friday) == nil)
    }
    let running = "DTSTART:20200101T000000Z RRULE:FREQ=DAILY;COUNT=3 RRULE:FREQ=WEEKLY"
    #expect(try Schedule.parse(running, now: friday, zone: .utc).canonical == running)
  }

  /// In a union, rules that never occur are searched once per walk.
  @Test func ruleThatNeverOccursIsSearchedOnce() throws {
    let timetable = try Schedule(canonical: Self.futileUnion).timetable(in: .utc)
    var walk = timetable.walk()
    var after = instant("2026-01-01T00:00:00Z")
    let found = walk.next(after: after)
    let first = try #require(found)
    let once = walk.steps
    after = first
    for _ in 0..<999 {
      let next = walk.next(after: after)
      after = try #require(next)
    }
    #expect(after == first + .seconds(999 * 86_400))
    // Each of the 999 times takes its own step, and one of the continuing rule.
    #expect(walk.steps - once <= 2 * 999)
  }

  @Test func walkFindsWhatSingleSearchesFind() throws {
    let texts = [
      "DTSTART;TZID=Europe/Prague:20260101T023000 RRULE:FREQ=DAILY RRULE:FREQ=HOURLY;INTERVAL=5 EXDATE:20260329T023000",
      "DTSTART;TZID=Europe/Prague:20260101T090000 RRULE:FREQ=MONTHLY;BYDAY=-1FR RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=20 "
        + "RDATE:20260214T080000Z TRIGGER:-P1DT15M",
      "DTSTART:20260101T090000 RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29 RRULE:FREQ=DAILY;UNTIL=20260110T090000",
    ]
    var random = SeededGenerator(seed: 29)
    let scheduleContext = try RecurrenceTests.scheduleContext("Europe/Prague")
    for text in texts {
      let timetable = try Schedule(canonical: text).timetable(in: scheduleContext)
      var walk = timetable.walk()
      var after = instant("2025-12-01T00:00:00Z")
      for _ in 0..<400 {
        let found = walk.next(after: after)
        #expect(found == timetable.next(after: after), "\(text) after \(after)")
        // Mostly go to the found time, sometimes far ahead or back.
        switch Int.random(in: 0..<10, using: &random) {
        case 0: after = Instant(seconds: 1_764_547_200 + Int64.random(in: 0..<100_000_000, using: &random))
        default: after = found ?? instant("2026-01-01T00:00:00Z")
        }
      }
    }
  }

  @Test func walkEndsWithItsBudget() throws {
    let timetable = try Schedule(canonical: "daily at 09:00").timetable(in: .utc)
    var occurrences = timetable.occurrences(after: friday, steps: 10)
    var count = 0
    while occurrences.next() != nil { count += 1 }
    #expect(count == 10)
    #expect(occurrences.walk.isGivenUp)
    var whole = try Schedule(canonical: "DTSTART:20260101T000000 RRULE:FREQ=DAILY;COUNT=3").timetable(in: .utc)
      .occurrences(after: .earliest, steps: 10)
    while whole.next() != nil {}
    #expect(!whole.walk.isGivenUp)
  }

  /// No search exceeds its steps, and times within 20 years are found.
  @Test func noSearchExceedsItsBudget() throws {
    var random = SeededGenerator(seed: 2_026)
    let rounds = ProofTier.amount(quick: 800, proof: 30_000)
    var given = 0
    for _ in 0..<rounds {
      let text = Self.hostileRule(&random)
      guard let schedule = try? Schedule(canonical: text) else { continue }
      var walk = schedule.timetable(in: .utc).walk()
      let next = walk.next(after: friday)
      #expect(walk.steps <= Timetable.searchSteps + 1, "\(text)")
      if walk.isGivenUp {
        given += 1
        #expect(next == nil)
      }
    }
    print("\(given) of \(rounds) hostile rules are given up")
  }

  static func hostileRule(_ random: inout SeededGenerator) -> String {
    func some(_ name: String, _ range: ClosedRange<Int>, _ most: Int, _ chance: Int) -> String {
      guard Int.random(in: 0..<chance, using: &random) == 0 else { return "" }
      let values = (0..<Int.random(in: 1...most, using: &random)).map { _ in Int.random(in: range, using: &random) }
      return ";\(name)=" + Set(values).sorted().map(String.init).joined(separator: ",")
    }
    let frequencies = ["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
    let frequency = frequencies.randomElement(using: &random) ?? "DAILY"
    let intervals = [1, 2, 3, 7, 25, 29, 31, 60, 97, 366, 3_599, 86_399, 99_999, 604_799, 2_147_483_647]
    var text = "\(start) RRULE:FREQ=\(frequency);INTERVAL=\(intervals.randomElement(using: &random) ?? 1)"
    text += some("BYMONTH", 1...12, 3, 2)
    if frequency == "YEARLY" { text += some("BYWEEKNO", 1...53, 53, 3) }
    if frequency != "WEEKLY" { text += some("BYMONTHDAY", 1...31, 3, 2) }
    if !["DAILY", "WEEKLY", "MONTHLY"].contains(frequency) { text += some("BYYEARDAY", 1...366, 3, 3) }
    if Int.random(in: 0..<2, using: &random) == 0 { text += ";BYDAY=TH" }
    text += some("BYHOUR", 0...23, 12, 2) + some("BYMINUTE", 0...59, 30, 2) + some("BYSECOND", 0...59, 30, 2)
    return text + some("BYSETPOS", 1...366, 2, 4)
  }

  /// Compares grids of seconds, minutes and hours with a walk through every point.
  @Test func gridsHaveTheTimesOfAFullWalk() throws {
    var random = SeededGenerator(seed: 86_399)
    for _ in 0..<200 {
      let units = [("SECONDLY", 1), ("MINUTELY", 60), ("HOURLY", 3_600)]
      let (name, unit) = units.randomElement(using: &random) ?? units[0]
      let interval = Int.random(in: 2...200_000 / unit + 50, using: &random)
      let hours = Set((0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: 0...23, using: &random) })
      let minutes = Set(
        (0..<Int.random(in: 1...20, using: &random)).map { _ in Int.random(in: 0..<60, using: &random) })
      var text = "DTSTART:20260101T000000Z RRULE:FREQ=\(name);INTERVAL=\(interval);BYHOUR="
      text += hours.sorted().map(String.init).joined(separator: ",")
      if unit < 3_600 { text += ";BYMINUTE=" + minutes.sorted().map(String.init).joined(separator: ",") }
      var reading = 0
      var expected: Int64?
      let start = instant("2026-01-01T00:00:00Z").seconds
      for _ in 0..<1_000_000 {
        let isAllowed = hours.contains(reading / 3_600 % 24) && (unit == 3_600 || minutes.contains(reading / 60 % 60))
        if reading > 0, isAllowed {
          expected = start + Int64(reading)
          break
        }
        reading += interval * unit
      }
      guard expected != nil || reading > 400 * 366 * 86_400 else { continue }
      let found = try Schedule(canonical: text).timetable(in: .utc).next(after: Instant(seconds: start))
      #expect(found?.seconds == expected.flatMap { $0 - start <= 400 * 365 * 86_400 ? $0 : found?.seconds }, "\(text)")
    }
  }
}
