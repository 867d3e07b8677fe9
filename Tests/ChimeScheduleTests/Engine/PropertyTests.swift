import ChimeSchedule
import Testing

/// Compares random schedules near offset changes in all zones with a minute-by-minute reference.
@Suite struct PropertyTests {
  static let places: [(zone: String, near: String)] = [
    ("Europe/Prague", "2026-03-29T01:00:00Z"), ("Europe/Prague", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"), ("America/New_York", "2300-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"), ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Africa/Casablanca", "2026-02-15T02:00:00Z"), ("Africa/Casablanca", "2026-03-22T02:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"), ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00:00Z"), ("America/Goose_Bay", "2010-11-07T03:01:00Z"),
    ("America/Goose_Bay", "2010-03-14T04:01:00Z"), ("America/Nuuk", "2026-03-29T01:00:00Z"),
    ("Antarctica/Troll", "2026-03-29T01:00:00Z"), ("Asia/Pyongyang", "2018-05-04T15:00:00Z"),
    ("America/Caracas", "2016-05-01T07:00:00Z"), ("America/Havana", "2026-11-01T05:00:00Z"),
    ("Asia/Gaza", "2027-03-27T00:00:00Z"), ("Asia/Tokyo", "2026-07-01T00:00:00Z"), ("UTC", "2027-01-01T00:00:00Z"),
    ("Europe/Prague", "2026-07-01T10:00:00Z"), ("America/New_York", "2026-12-31T05:00:00Z"),
    ("Europe/Dublin", "9998-10-25T01:00:00Z"), ("Pacific/Kwajalein", "1993-08-21T12:00:00Z"),
    ("Antarctica/Casey", "2023-03-08T16:00:00Z"), ("Asia/Kathmandu", "1985-12-31T18:30:00Z"),
  ]

  static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  /// Returns a schedule near a moment, as text and as the reference's model.
  static func make(
    near wall: Int64, instant: Int64, _ generator: inout SeededGenerator
  ) -> (text: String, model: Reference.Model, holidays: ClosedRange<CivilDate>?) {
    func pick<Element>(_ values: [Element]) -> Element { values[Int.random(in: 0..<values.count, using: &generator)] }
    func time() -> Int64 {
      // Half of the times are near the change.
      let near = (wall % 86_400 + Int64.random(in: -7_200...7_200, using: &generator) + 172_800) % 86_400
      let time = Bool.random(using: &generator) ? near : Int64.random(in: 0..<86_400, using: &generator)
      return Int.random(in: 0..<8, using: &generator) == 0 ? time : time / 900 * 900
    }
    func text(_ time: Int64) -> String {
      CivilTime(hour: Int(time / 3_600), minute: Int(time / 60 % 60), second: Int(time % 60))?.description ?? ""
    }
    func date(_ day: Int64) -> String { CivilDate(dayNumber: Int(day))?.description ?? "" }

    let weekdays = pick([
      Set(0..<7), Set(0..<5), Set([5, 6]), Set((0..<7).filter { _ in Bool.random(using: &generator) }),
    ])
    let days = weekdays.isEmpty ? Set(0..<7) : weekdays
    var list = days.sorted().map { names[$0] }.joined(separator: ",")
    var model = Reference.Model(
      pattern: .times([]), days: DayReference(kind: .weekdays(days)), gap: pick([.shift, .skip]),
      fold: pick([.first, .last, .both]))
    // Half of all days are of other kinds; intervals only take kinds without a start.
    let (words, kind) = DayGenerator(near: wall / 86_400).make(&generator)
    var on = "every \(list)"
    if Bool.random(using: &generator) {
      (on, model.days.kind) = (words, kind)
      // After "on" they need no "every".
      if case .dates = kind {
        list = String(words.dropFirst("every ".count))
      } else {
        model.days.kind = .weekdays(days)
      }
    }
    var isRota = false
    var isDone = false
    var phrase: String
    switch Int.random(in: 0..<6, using: &generator) {
    case 0, 1:
      if on == words {
        model.days.kind = kind
        switch kind {
        case .weekdays, .dates: break
        default: isRota = true
        }
      }
      let times = (0...Int.random(in: 0...3, using: &generator)).map { _ in time() }
      model.pattern = .times(times)
      phrase = "\(on) at \(times.map(text).joined(separator: " and "))"
    case 2:
      let step = pick([600, 900, 2_700, 5_400, 7_200, 43_200, 86_400, 1_234] as [Int64])
      let (from, to) = (time(), time())
      model.pattern = .window(step: step, from: from, to: to)
      phrase = "every \(step)s from \(text(from)) to \(text(to)) on \(list)"
    case 4:
      let (step, times) = (Int64.random(in: 1...3, using: &generator), (0...1).map { _ in time() })
      model.pattern = .daysAfterDone(step, times)
      isDone = true
      phrase = "every \(step) days after done at \(times.map(text).joined(separator: " and "))"
    case 5:
      let step = pick([2_700, 5_400, 36_000, 86_400, 1_234, 259_200] as [Int64])
      model.pattern = .elapsedAfterDone(step: step)
      model.days.kind = .weekdays(Set(0..<7))
      isDone = true
      phrase = "every \(step)s after done"
    default:
      let step = pick([600, 2_700, 5_400, 36_000, 86_400, 1_234] as [Int64])
      model.pattern = .elapsed(step: step)
      phrase = "every \(step)s on \(list)"
    }

    func bound(_ days: ClosedRange<Int64>) -> (String, Reference.Model.Bound) {
      let day = wall / 86_400 + Int64.random(in: days, using: &generator)
      let time = time()
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: return (date(day), .date(day))
      case 1: return ("\(date(day)) \(text(time))", .civil(day * 86_400 + time))
      default:
        let second = instant / 86_400 * 86_400 + (day - wall / 86_400) * 86_400 + time
        return (RFC3339.format(Instant(seconds: second), in: .utc), .instant(second))
      }
    }
    var needsStart = Bool.random(using: &generator)
    if isDone, Int.random(in: 0..<3, using: &generator) > 0 {
      model.done = instant + Int64.random(in: -2 * 86_400...2 * 86_400, using: &generator)
    }
    needsStart = needsStart || isRota || isDone
    if !isDone, Int.random(in: 0..<4, using: &generator) == 0 {
      needsStart = true
      model.count = Int.random(in: 1...12, using: &generator)
    }
    if case .elapsed = model.pattern { needsStart = true }
    if needsStart {
      let (words, start) = bound(-3...1)
      model.starting = start
      phrase += " starting \(words)"
    }
    if Int.random(in: 0..<3, using: &generator) == 0 {
      let (words, end) = bound(0...3)
      model.until = end
      phrase += " until \(words)"
    }
    if let count = model.count { phrase += " \(count) times" }
    if Int.random(in: 0..<3, using: &generator) == 0 {
      let first = wall / 86_400 + Int64.random(in: -2...2, using: &generator)
      let last = first + Int64.random(in: 0...1, using: &generator)
      model.except = [first...last]
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: phrase += " except \(date(first))..\(date(last))"
      case 1:
        let ends = [first, last].compactMap { CivilDate(dayNumber: Int($0)) }.map {
          "\(DayGenerator.months[$0.month - 1]) \($0.day)"
        }
        phrase += " except \(ends.joined(separator: ".."))"
      default:
        phrase += " except on holidays"
        if let first = CivilDate(dayNumber: Int(first)), let last = CivilDate(dayNumber: Int(last)) {
          return (phrase, model, first...last)
        }
      }
    }
    return (phrase, model, nil)
  }

  @Test(arguments: places.indices) func randomSchedulesMatchTheReference(_ index: Int) throws {
    let (name, near) = Self.places[index]
    let zone = try zone(name)
    let center = instant(near)
    let wall = center.seconds + Int64(zone.offset(at: center))
    let reference = Reference(zone, around: center.seconds, days: 8)
    let searchLimit = Instant(seconds: center.seconds + 3 * 86_400)
    var generator = SeededGenerator(seed: UInt64(index) &* 7_919 &+ 5_545)
    for _ in 0..<ProofTier.amount(quick: 12, proof: 400) {
      let (text, model, holidays) = Self.make(near: wall, instant: center.seconds, &generator)
      let schedule = try Schedule(canonical: text)
      #expect(try Schedule(canonical: schedule.canonical) == schedule)
      let scheduleContext = ScheduleContext(
        zone: zone, calendar: { $0 == "holidays" ? holidays.map { [$0] } : nil },
        lastDone: model.done.map { Instant(seconds: $0) })
      #expect(schedule.calendarNames == (holidays == nil ? [] : ["holidays"]))
      #expect(schedule.countsFromDone == text.contains("after done"))
      let timetable = schedule.timetable(in: scheduleContext, gap: model.gap, fold: model.fold)
      let expected = reference.occurrences(model).filter { $0 <= searchLimit.seconds }
      for _ in 0..<4 {
        let after = Instant(
          milliseconds: center.milliseconds + Int64.random(in: -3 * 86_400_000...2 * 86_400_000, using: &generator))
        let wanted = expected.filter { $0 > after.seconds }
        let found = timetable.occurrences(after: after).prefix { $0 <= searchLimit }.map(\.seconds)
        if found != wanted {
          let different = zip(found + [-1], wanted + [-1]).first { $0 != $1 }
          Issue.record(
            "\(name): \(text) [\(model.gap) \(model.fold)] after \(after.seconds): \(String(describing: different)), \(found.count) instead of \(wanted.count)"
          )
          break
        }
      }
    }
  }
}
