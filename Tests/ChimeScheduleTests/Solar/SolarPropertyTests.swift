import Testing

@testable import ChimeSchedule

/// Properties of solar events everywhere: none is lost or doubled in any zone.
@Suite struct SolarPropertyTests {
  static let zones = [
    "UTC", "Europe/Prague", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati",
    "Pacific/Kwajalein", "Asia/Shanghai", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Los_Angeles",
    "America/St_Johns", "Pacific/Marquesas", "Africa/Casablanca", "Antarctica/Troll",
  ]

  /// Returns every solar event in order, without zone, shift or weekdays.
  func events(_ event: SolarEvent, _ place: Place, after second: Int64, _ count: Int) -> [Int64] {
    var schedule = SolarSchedule(event: event)
    schedule.shift = 0
    return schedule.timetable(in: ScheduleContext(zone: .utc, place: place), zone: .utc, gap: nil, fold: nil)
      .occurrences(after: Instant(seconds: second)).prefix(count).map(\.seconds)
  }

  /// Events are a day apart, for any zone and longitude, through all seasons and offset changes.
  @Test(arguments: zones) func eventsAreADayApart(_ name: String) throws {
    let zone = try zone(name)
    for longitude in [-180.0, 15, 172.5] {
      for latitude in [-64.0, 30] {
        let scheduleContext = ScheduleContext(zone: zone, place: Place(latitude: latitude, longitude: longitude))
        for event in ["sunrise", "sunset", "solar noon"] {
          // A limit makes the search check the civil day of each event.
          let timetable = try Schedule(canonical: "\(event) starting 2011-01-01").timetable(in: scheduleContext)
          var last = try #require(timetable.next(after: instant("2011-06-01T12:00:00Z"))).seconds
          for next in timetable.occurrences(after: Instant(seconds: last)).prefix(
            ProofTier.amount(quick: 40, proof: 380))
          {
            if !(84_600...88_200).contains(next.seconds - last) {
              Issue.record("\(event) at \(latitude) \(longitude): \(next.seconds - last) s after \(last)")
            }
            last = next.seconds
          }
        }
      }
    }
  }

  /// From any start, the next event is the first later one of the whole list; weekdays only filter it.
  @Test func startAndWeekdaysOnlyFilterEvents() throws {
    var generator = SeededGenerator(seed: 5)
    let zones = try Self.zones.map { try zone($0) }
    for round in 0..<ProofTier.amount(quick: 60, proof: 480) {
      let zone = zones[round % zones.count]
      let latitude = [-90, -89.9, -78, -66, 0, 45, 66.5, 69.6, 80, 89.5, 89.99, 90][round % 12]
      let place = try #require(
        Place(
          latitude: round % 2 == 0 ? latitude : Double.random(in: -90...90, using: &generator),
          longitude: round % 5 == 0 ? [-180.0, 180, 0][round % 3] : Double.random(in: -180...180, using: &generator)))
      let event = try #require(SolarEvent.allCases.randomElement(using: &generator))
      let start = Int64.random(in: 0...Instant.latest.seconds - 40 * 366 * 86_400, using: &generator)
      let all = events(event, place, after: start, 40)
      #expect(all.count == 40)
      #expect(all.first.map { $0 > start } == true)
      #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })

      var schedule = SolarSchedule(event: event)
      schedule.shift = Int64.random(in: -43_200...43_200, using: &generator)
      schedule.days = WeekdaySet(rawValue: UInt8.random(in: 1...127, using: &generator))
      if round % 3 == 0 {
        let day = zone.civil(at: Instant(seconds: all[10])).date
        schedule.bounds.starting = .date(zone.civil(at: Instant(seconds: all[3])).date)
        schedule.bounds.until = .date(zone.civil(at: Instant(seconds: all[30])).date)
        schedule.bounds.except = [day...day]
      }
      let bounds = schedule.bounds
      #expect(try Schedule(canonical: schedule.canonical).canonical == schedule.canonical)
      let expected = all.filter { second in
        let date = zone.civil(at: Instant(seconds: second)).date
        if case .date(let first) = bounds.starting, date < first { return false }
        if case .date(let last) = bounds.until, date > last { return false }
        return schedule.days.contains(date.weekday) && !bounds.except.contains { $0.contains(date) }
      }.map { $0 + schedule.shift }
      let timetable = schedule.timetable(
        in: ScheduleContext(zone: zone, place: place), zone: zone, gap: nil, fold: nil)
      // Start a second before the first event's occurrence, so that the whole list follows.
      let before = Instant(seconds: all[0] + schedule.shift - 1)
      let found = timetable.occurrences(after: before).prefix(expected.count).map(\.seconds)
      #expect(found == expected, "\(schedule.canonical) at \(place) in \(zone.identifier) after \(start)")
      for (index, occurrence) in expected.enumerated() where index > 0 {
        let between = Int64.random(in: expected[index - 1]..<occurrence, using: &generator)
        #expect(timetable.next(after: Instant(seconds: between))?.seconds == occurrence)
      }
    }
  }

  /// Sunrise and sunset alternate, at the pole too, with polar day and night left out.
  @Test func sunriseAndSunsetAlternate() {
    var generator = SeededGenerator(seed: 6)
    let pairs: [(SolarEvent, SolarEvent)] = [
      (.sunrise, .sunset), (.dawn, .dusk), (.nauticalDawn, .nauticalDusk), (.astronomicalDawn, .astronomicalDusk),
    ]
    for round in 0..<ProofTier.amount(quick: 24, proof: 240) {
      let latitude =
        round % 3 == 0 ? Double.random(in: 89...90, using: &generator) : .random(in: -90...90, using: &generator)
      guard let place = Place(latitude: latitude, longitude: .random(in: -180...180, using: &generator)) else { return }
      let start = Int64.random(in: 0...Instant.latest.seconds - 400 * 366 * 86_400, using: &generator)
      let (rise, set) = pairs[round % pairs.count]
      let rises = events(rise, place, after: start, 80).map { (second: $0, isRise: true) }
      let sets = events(set, place, after: start, 80).map { (second: $0, isRise: false) }
      let end = min(rises.last?.second ?? 0, sets.last?.second ?? 0)
      let both = (rises + sets).filter { $0.second <= end }.sorted { $0.second < $1.second }
      // A sun that dips or appears for less than a second has both events in one second.
      for (left, right) in zip(both, both.dropFirst()) where left.second != right.second {
        #expect(left.isRise != right.isRise, "\(rise) at \(place) near \(left.second)")
        #expect(right.second - left.second < 366 * 86_400)
      }
    }
  }

  /// An event belongs to its civil day: before midnight it is Friday's, after it Saturday's.
  @Test func eventBelongsToItsCivilDay() throws {
    let zone = try zone("Atlantic/Reykjavik")
    let scheduleContext = ScheduleContext(zone: zone, place: Place(latitude: 65.68, longitude: -18.1))
    func next(_ text: String, _ after: String, _ count: Int = 1) throws -> [String] {
      try Schedule(canonical: text).timetable(in: scheduleContext).occurrences(after: instant(after)).prefix(count)
        .map { RFC3339.format($0, in: zone) }
    }
    // Akureyri in June: the sun of Friday the 19th sets on Saturday.
    let sunsets = try next("sunset", "2026-06-18T12:00:00Z", 4)
    #expect(
      sunsets.map { String($0.prefix(13)) } == ["2026-06-19T00", "2026-06-20T00", "2026-06-21T00", "2026-06-22T00"])
    #expect(try next("sunset on sat", "2026-06-18T12:00:00Z") == [sunsets[1]])
    #expect(try next("sunset starting 2026-06-21", "2026-06-18T12:00:00Z") == [sunsets[2]])
    #expect(try next("sunset except 2026-06-19..2026-06-20", "2026-06-18T12:00:00Z") == [sunsets[2]])
    // The shift moves the occurrence, not its day.
    #expect(try next("sunset - 2h on sat", "2026-06-18T12:00:00Z").map { String($0.prefix(13)) } == ["2026-06-19T22"])
    #expect(try next("sunset - 2h until 2026-06-20", "2026-06-18T12:00:00Z", 9).count == 2)
    // Limits with a time apply to the occurrence itself.
    #expect(
      try next("sunset - 2h starting 2026-06-19 23:00", "2026-06-18T12:00:00Z").map { String($0.prefix(13)) }
        == ["2026-06-20T22"])
  }

  @Test func limitedNumberCountsFromTheStart() throws {
    let zone = try zone("Europe/Prague")
    let scheduleContext = ScheduleContext(zone: zone, place: Place(latitude: 50.0875, longitude: 14.4213))
    let schedule = try Schedule.parse("sunset on fri 3 times except 2026-12-04", now: friday, in: scheduleContext)
    #expect(schedule.canonical == "sunset on fri starting 2026-11-20T22:22:14Z 3 times except 2026-12-04")
    let found = schedule.timetable(in: scheduleContext).occurrences(after: .earliest).map {
      String(RFC3339.format($0, in: zone).prefix(10))
    }
    #expect(found == ["2026-11-27", "2026-12-11"])
  }

  @Test func timesEndWithTheRange() throws {
    for place in [
      Place(latitude: 50, longitude: 180), Place(latitude: -50, longitude: -180), Place(latitude: 90, longitude: 0),
    ] {
      let scheduleContext = ScheduleContext(zone: try zone("Pacific/Kiritimati"), place: place)
      for text in ["sunrise", "sunset + 12h", "astronomical dusk - 12h on mon-sat", "solar noon"] {
        let timetable = try Schedule(canonical: text).timetable(in: scheduleContext)
        let first = try #require(timetable.next(after: .earliest))
        #expect(first > .earliest)
        let late = instant("9997-06-01T00:00:00Z")
        let last = timetable.occurrences(after: late).reduce(late) { max($0, $1) }
        #expect(last > late && last <= .latest, "\(text)")
        #expect(timetable.next(after: last) == nil)
        #expect(timetable.next(after: .latest) == nil)
      }
      // A distant start, or a long exception, is reached without a walk.
      let far = try Schedule(canonical: "sunset starting 9998-01-01").timetable(in: scheduleContext)
      #expect(try #require(far.next(after: instant("1970-01-03T00:00:00Z"))) > instant("9997-12-30T00:00:00Z"))
      let sparse = try Schedule(canonical: "sunset except 1970-01-01..9997-12-31").timetable(in: scheduleContext)
      #expect(try #require(sparse.next(after: instant("1970-01-03T00:00:00Z"))) > instant("9997-12-30T00:00:00Z"))
      let none = try Schedule(canonical: "sunset until 2026-01-01 except 1970-01-01..9999-12-31")
      #expect(none.timetable(in: scheduleContext).next(after: instant("1970-01-03T00:00:00Z")) == nil)
    }
  }
}
