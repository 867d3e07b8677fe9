import Testing

@testable import ChimeSchedule

/// Random values of every kind: their canonical text parses to the same value.
@Suite struct RoundTripTests {
  @Test(arguments: 0..<8) func canonicalTextReadsBack(_ seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var kinds: Set<String> = []
    for _ in 0..<ProofTier.amount(quick: 150, proof: 2_000) {
      let phrase = Phrase.random(&generator)
      kinds.insert(String("\(phrase.pattern)".prefix { $0 != "(" }))
      if case .times(let days, _) = phrase.pattern { kinds.insert(String("\(days)".prefix { $0 != "(" })) }
      let canonical = phrase.canonical
      do {
        let again = try Phrase(Array(canonical.utf8), context: nil)
        #expect(again == phrase, "\(canonical)")
        #expect(again.canonical == canonical)
      } catch {
        Issue.record("\(canonical): \(error)")
      }
    }
    #expect(kinds.count == 12)
  }
}

extension Phrase {
  fileprivate static func random(_ generator: inout SeededGenerator) -> Phrase {
    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }
    let large = chance(8)
    let step = large ? Int.random(in: 2...mostSteps, using: &generator) : Int.random(in: 2...30, using: &generator)
    let seconds = large ? Int64.random(in: 1...Instant.latest.seconds, using: &generator) : Int64(step) * 900
    let times = Set((0...Int.random(in: 0...2, using: &generator)).map { _ in CivilTime.random(&generator) }).sorted()
    var days: Days
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: days = .weekdays(.random(&generator))
    case 1: days = .days(every: step)
    case 2: days = .weeks(every: step, .random(&generator))
    case 3: days = .dates(.random(&generator))
    case 4: days = .months(every: step, .random(&generator))
    default: days = .years(every: step, .random(&generator))
    }
    var phrase: Phrase
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: return Phrase(pattern: .once(.random(&generator, needsTime: true)))
    case 1:
      if days.isRota { days = .weekdays(.random(&generator)) }
      phrase = Phrase(
        pattern: .window(seconds: min(seconds, 86_400), from: .random(&generator), to: .random(&generator), days))
    case 2:
      if days.isRota { days = .weekdays(.everyDay) }
      phrase = Phrase(
        pattern: .elapsed(seconds: days == .weekdays(.everyDay) ? seconds : min(seconds, 86_400), days))
    case 3: phrase = Phrase(pattern: .daysAfterDone(chance(4) ? 1 : step, times))
    case 4: phrase = Phrase(pattern: .elapsedAfterDone(seconds: seconds))
    default: phrase = Phrase(pattern: .times(days, times))
    }
    if !phrase.countsFromDone, chance(3) { phrase.bounds.count = Int.random(in: 1...largestCount, using: &generator) }
    phrase.bounds.starting = .random(&generator, needsTime: false)
    if case .times(let days, _) = phrase.pattern, !days.isRota, phrase.bounds.count == nil, chance(2) {
      phrase.bounds.starting = nil
    }
    if chance(3) { phrase.bounds.until = .random(&generator, needsTime: false) }
    if chance(3) {
      phrase.bounds.except = CivilDate.merged(
        (0...2).map { _ in
          let first = CivilDate.random(&generator)
          return first...(first.adding(days: Int.random(in: 0...3, using: &generator)) ?? first)
        })
    }
    if chance(3) {
      for _ in 0...2 {
        let first = CivilDate.random(&generator)
        let last = first.adding(days: Int.random(in: 0...90, using: &generator)) ?? first
        phrase.bounds.exceptYearly.insert(from: (first.month, first.day), through: (last.month, last.day))
      }
    }
    if chance(3) { phrase.bounds.exceptCalendars = chance(2) ? ["Holidays", "a_1", "may-days"] : ["cz"] }
    return phrase
  }
}

extension Phrase.Moment {
  fileprivate static func random(_ generator: inout SeededGenerator, needsTime: Bool) -> Phrase.Moment {
    switch Int.random(in: needsTime ? 1..<3 : 0..<3, using: &generator) {
    case 0: .date(.random(&generator))
    case 1: .civil(CivilDateTime(date: .random(&generator), time: .random(&generator)))
    default: .instant(Instant(seconds: Int64.random(in: 0...Instant.latest.seconds, using: &generator)))
    }
  }
}

extension CivilDate {
  fileprivate static func random(_ generator: inout SeededGenerator) -> CivilDate {
    CivilDate(dayNumber: Int.random(in: 0...2_932_896, using: &generator)) ?? .earliest
  }
}

extension CivilTime {
  fileprivate static func random(_ generator: inout SeededGenerator) -> CivilTime {
    let minutes = Int.random(in: 0..<1_440, using: &generator)
    let second = Bool.random(using: &generator) ? 0 : Int.random(in: 0..<60, using: &generator)
    return CivilTime(hour: minutes / 60, minute: minutes % 60, second: second) ?? .noon
  }
}

extension WeekdaySet {
  fileprivate static func random(_ generator: inout SeededGenerator) -> WeekdaySet {
    WeekdaySet(rawValue: UInt8.random(in: 1...127, using: &generator))
  }
}

extension MonthSelection {
  fileprivate static func random(_ generator: inout SeededGenerator) -> MonthSelection {
    var selection = MonthSelection()
    repeat {
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        let fromEnd = Bool.random(using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: selection.insert(day: Int.random(in: 1...31, using: &generator), fromEnd: fromEnd)
        case 1: selection.insert(workday: Int.random(in: 1...mostWorkdays, using: &generator), fromEnd: fromEnd)
        case 2:
          let weekday = Weekday.allCases.randomElement(using: &generator) ?? .monday
          selection.insert(Int.random(in: 1...5, using: &generator), weekday, fromEnd: fromEnd)
        default: selection.days |= UInt32.random(in: 0...UInt32.max, using: &generator) & ~1
        }
      }
    } while selection.isEmpty
    return selection
  }
}

extension MonthDays {
  fileprivate static func random(_ generator: inout SeededGenerator) -> MonthDays {
    if Bool.random(using: &generator) { return MonthDays(each: .random(&generator)) }
    while true {
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      let isPlain = Bool.random(using: &generator)
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        var selection = MonthSelection.random(&generator)
        if isPlain { selection = MonthSelection(days: 1 << UInt32.random(in: 1...31, using: &generator)) }
        for month in months.indices where Int.random(in: 0..<4, using: &generator) == 0 { months[month] = selection }
      }
      let days = MonthDays(months)
      if !days.isEmpty { return days }
    }
  }
}
