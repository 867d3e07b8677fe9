import ChimeSchedule
import Testing

/// Properties of schedules in every dialect.
@Suite struct DialectPropertyTests {
  static let zones = [
    "America/New_York", "Europe/Prague", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Nuuk",
    "America/Sao_Paulo", "Asia/Gaza", "Antarctica/Troll", "UTC",
  ]

  /// Returns a random text of a dialect, which may be invalid.
  static func text(_ dialect: Dialect, _ random: inout SeededGenerator) -> String {
    func pick(_ values: [String]) -> String { values[Int.random(in: 0..<values.count, using: &random)] }
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let weekday = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][number(0...6)]
    let clock = "\(number(0...23)):\(["00", "15", "30", "59"][number(0...3)])"
    switch dialect {
    case .phrase:
      return pick([
        "daily at \(clock)", "\(weekday) at \(clock),2:30",
        "every \(number(5...200))m from 22:00 to 4:00 on \(weekday)",
        "every \(number(1...90))h starting 2026-01-01", "day \(number(1...31)) of month at \(clock)",
        "last \(weekday) of mar,oct,nov at 2:30",
        "every \(number(2...9)) weeks on \(weekday) at \(clock) starting 2026-03-01",
        "feb 29 at \(clock)", "daily at 2:30 except 2026-03-01..2026-04-01",
      ])
    case .cron:
      return "cron: "
        + pick([
          "\(number(0...59)) \(number(0...23)) * * \(number(0...6))", "*/\(number(1...59)) \(number(0...3)) * * *",
          "30 2 \(number(1...31)) * *", "0 \(number(0...23)) L * \(number(0...6))#\(number(1...5))",
          "15 1-3 15W \(number(1...12)) *", "*/20 30 2 * * \(weekday)L", "59 23 29 2 *",
        ])
    case .calendar:
      return "calendar: "
        + pick([
          "\(weekday) *-*-* \(clock)", "*-*-* 2:\(number(0...59))/\(number(1...30))", "*-*~\(number(1...28)) 1,2,3:30",
          "*-02-29 \(clock)", "*-\(number(1...12))-\(number(1...28))/\(number(1...9)) 00:00:30",
          "*:0/\(number(1...59))",
          "\(weekday) *-*-1..7 2:30 Europe/Prague",
        ])
    case .rrule:
      return "DTSTART:20260108T\(pick(["0130", "0230", "2359"]))00 RRULE:"
        + pick([
          "FREQ=DAILY;INTERVAL=\(number(1...400))", "FREQ=WEEKLY;INTERVAL=\(number(1...9));BYDAY=MO,SU",
          "FREQ=MONTHLY;BYDAY=\(number(-5 ... -1))TU", "FREQ=MONTHLY;BYMONTHDAY=-1,31;BYHOUR=1,2,3",
          "FREQ=YEARLY;BYWEEKNO=\(number(1...53));BYDAY=SU", "FREQ=YEARLY;BYYEARDAY=-366,100",
          "FREQ=HOURLY;INTERVAL=\(number(1...50));BYMINUTE=0,30", "FREQ=MINUTELY;INTERVAL=\(number(1...5_000))",
          "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=MONTHLY;BYDAY=MO,TU,WE;BYSETPOS=-2",
        ])
    case .solar:
      return pick(["sunrise", "sunset - 30m", "dawn + 1h", "dusk on \(weekday)", "nautical dawn", "solar noon"])
    }
  }

  /// Occurrences strictly ascend; from any moment between two, the later one is found; remarks agree with the zone.
  @Test(arguments: Dialect.allCases) func occurrencesAscendAndRemarksMatchTheZone(_ dialect: Dialect) throws {
    var random = SeededGenerator(seed: UInt64(dialect.rawValue.utf8.count) &* 977)
    var understood = 0
    let rounds = ProofTier.amount(quick: 30, proof: 600)
    for _ in 0..<rounds {
      let zone = try zone(Self.zones[Int.random(in: 0..<Self.zones.count, using: &random)])
      let text = Self.text(dialect, &random)
      let prague = try ChimeScheduleTests.zone("Europe/Prague")
      let scheduleContext = ScheduleContext(
        zone: zone, place: Place(latitude: 50.0875, longitude: 14.4213),
        zones: { $0 == "Europe/Prague" ? prague : nil })
      guard let schedule = try? Schedule.parse(text, now: friday, in: scheduleContext) else { continue }
      understood += 1
      #expect(try Schedule(canonical: schedule.canonical) == schedule)
      let governing = schedule.zoneIdentifier == "Europe/Prague" ? prague : zone
      let timetable = schedule.timetable(
        in: scheduleContext, gap: [nil, .shift, .skip][Int.random(in: 0...2, using: &random)],
        fold: [nil, .first, .last, .both][Int.random(in: 0...3, using: &random)])
      // Half of the starts are near an offset change.
      var start = Instant(seconds: Int64.random(in: 1_767_225_600...4_102_444_800, using: &random))
      if Bool.random(using: &random), let change = governing.nextTransition(after: start) {
        start = Instant(seconds: change.instant.seconds - Int64.random(in: 0...90_000, using: &random))
      }
      var last = start
      for _ in 0..<40 {
        guard let next = timetable.next(after: last) else { break }
        let about = "\(schedule) in \(zone.identifier) from \(last.seconds)"
        #expect(next > last, "\(about)")
        let earlier = Instant(seconds: Int64.random(in: last.seconds..<next.seconds, using: &random))
        #expect(timetable.next(after: earlier) == next, "\(about), \(earlier.seconds)")
        let civil = governing.civil(at: next)
        switch (timetable.remark(for: next), governing.resolve(civil)) {
        case (nil, .unique), (.firstPass(civil), .fold(next, _)), (.lastPass(civil), .fold(_, next)): break
        case (.moved(let lost, civil), .unique):
          guard case .gap = governing.resolve(lost) else {
            Issue.record("\(about): \(lost) exists")
            return
          }
        case (let remark, let resolution): Issue.record("\(about): \(String(describing: remark)), \(resolution)")
        }
        last = next
      }
    }
    #expect(understood > rounds * 2 / 3)
  }

  /// Walks many occurrences up to the end of the year 9999.
  @Test(arguments: [
    "daily at 2:30", "every 90m from 22:00 to 4:00", "every 7h starting 2026-01-01", "last fri of month at 2:30",
    "cron: */10 1-3 * * *", "cron: 0 0 L * *", "calendar: *-*-* *:0/30", "DTSTART:20260108T023000 RRULE:FREQ=DAILY",
    "DTSTART:20260108T023000 RRULE:FREQ=MONTHLY;BYDAY=-1SU", "DTSTART:20260108T023000 RRULE:FREQ=HOURLY;BYMINUTE=0,30",
    "sunset - 30m",
  ]) func occurrencesReachTheYear9999(_ text: String) throws {
    let zone = try zone("America/New_York")
    let scheduleContext = ScheduleContext(zone: zone, place: Place(latitude: 40.7128, longitude: -74.006))
    let timetable = try Schedule.parse(text, now: friday, in: scheduleContext).timetable(in: scheduleContext)
    var last = instant("9999-06-01T00:00:00Z")
    var count = 0
    let most = ProofTier.amount(quick: 1_000, proof: 10_000)
    while count < most, let next = timetable.next(after: last) {
      #expect(next > last)
      last = next
      count += 1
    }
    #expect(timetable.next(after: .latest) == nil)
    // systemd's calendar ends in 2199, and rare schedules have few occurrences.
    #expect(count > 5 || text.hasPrefix("calendar"))
    #expect(timetable.occurrences(after: friday).prefix(most).map(\.seconds).adjacentAscend)
  }
}

extension [Int64] {
  fileprivate var adjacentAscend: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
