import ChimeSchedule

/// A slow reference implementation of a schedule's days, which checks every day of its month.
struct DayReference {
  enum Place: Equatable {
    case day(Int)
    case lastDay(Int)
    case weekday(Int, Int)
    case lastWeekday(Int, Int)
    case workday(Int)
    case lastWorkday(Int)
  }

  /// Places in some months; an empty set means all months.
  struct Group {
    var months: Set<Int>
    var places: [Place]
  }

  enum Kind {
    case weekdays(Set<Int>)
    case days(Int)
    case weeks(Int, Set<Int>)
    case dates([Group])
    case months(Int, [Place])
    case years(Int, [Group])
  }

  var kind: Kind
  /// The first day of rotas.
  var start: Int64 = 0

  /// Returns the weekday; 0 is Monday.
  static func weekday(_ day: Int64) -> Int { Int((day % 7 + 10) % 7) }

  func contains(_ day: Int64) -> Bool {
    switch kind {
    case .weekdays(let days): return days.contains(Self.weekday(day))
    case .days(let step): return day >= start && (day - start) % Int64(step) == 0
    case .weeks(let step, let days):
      let monday = start - Int64(Self.weekday(start))
      return day >= start && (day - monday) / 7 % Int64(step) == 0 && days.contains(Self.weekday(day))
    case .dates(let groups): return groups.contains { Self.isIn(day, $0) }
    case .months(let step, let places):
      guard day >= start, let date = CivilDate(dayNumber: Int(day)), let first = CivilDate(dayNumber: Int(start)) else {
        return false
      }
      let months = (date.year - first.year) * 12 + date.month - first.month
      return months % step == 0 && Self.isIn(day, Group(months: [], places: places))
    case .years(let step, let groups):
      guard day >= start, let date = CivilDate(dayNumber: Int(day)), let first = CivilDate(dayNumber: Int(start)) else {
        return false
      }
      return (date.year - first.year) % step == 0 && groups.contains { Self.isIn(day, $0) }
    }
  }

  private static func isIn(_ day: Int64, _ group: Group) -> Bool {
    guard let date = CivilDate(dayNumber: Int(day)), group.months.isEmpty || group.months.contains(date.month) else {
      return false
    }
    let known = places(of: day)
    return group.places.contains { place in known.contains(place) }
  }

  /// Returns all descriptions of a day's place in its month.
  static func places(of day: Int64) -> [Place] {
    guard let date = CivilDate(dayNumber: Int(day)) else { return [] }
    let days = (-31...31).compactMap { offset -> Int64? in
      guard let other = CivilDate(dayNumber: Int(day) + offset), other.year == date.year, other.month == date.month
      else {
        return nil
      }
      return day + Int64(offset)
    }
    let before = days.filter { $0 <= day }
    let after = days.filter { $0 >= day }
    let weekday = weekday(day)
    func same(_ days: [Int64]) -> Int { days.count { Self.weekday($0) == weekday } }
    func working(_ days: [Int64]) -> Int { days.count { Self.weekday($0) < 5 } }
    var places: [Place] = [
      .day(before.count), .lastDay(after.count), .weekday(same(before), weekday), .lastWeekday(same(after), weekday),
    ]
    if weekday < 5 { places += [.workday(working(before)), .lastWorkday(working(after))] }
    return places
  }
}

/// Generates random days near a given one, as text and for the reference.
struct DayGenerator {
  static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let words = ["first", "second", "third", "fourth", "fifth"]

  var near: Int64
  var spread: Int64 = 3

  private func ordinal(_ place: Int, _ generator: inout SeededGenerator) -> String {
    if place <= 5, Bool.random(using: &generator) { return Self.words[place - 1] }
    let suffix = (11...13).contains(place) ? "th" : ["th", "st", "nd", "rd"].dropFirst(place % 10).first ?? "th"
    return "\(place)\(suffix)"
  }

  private func text(_ place: DayReference.Place, _ generator: inout SeededGenerator) -> String {
    func last(_ place: Int) -> String { place == 1 ? "last" : "\(ordinal(place, &generator)) last" }
    switch place {
    case .day(let day): return Bool.random(using: &generator) ? "day \(day)" : "the \(ordinal(day, &generator)) day"
    case .lastDay(let day): return "\(last(day)) day"
    case .weekday(let place, let day): return "\(ordinal(place, &generator)) \(Self.weekdays[day])"
    case .lastWeekday(let place, let day): return "\(last(place)) \(Self.weekdays[day])"
    case .workday(let place): return "\(ordinal(place, &generator)) weekday"
    case .lastWorkday(let place): return "\(last(place)) weekday"
    }
  }

  private func day(_ generator: inout SeededGenerator) -> Int64 {
    max(0, near + Int64.random(in: -spread...spread, using: &generator))
  }

  private func places(_ generator: inout SeededGenerator) -> (String, [DayReference.Place]) {
    var words: [String] = []
    var places: [DayReference.Place] = []
    for _ in 0...Int.random(in: 0...2, using: &generator) {
      guard let place = DayReference.places(of: day(&generator)).randomElement(using: &generator) else { continue }
      places.append(place)
      words.append(text(place, &generator))
    }
    return (words.joined(separator: ", "), places)
  }

  private func groups(_ generator: inout SeededGenerator) -> (String, [DayReference.Group]) {
    var words: [String] = []
    var groups: [DayReference.Group] = []
    for _ in 0...Int.random(in: 0...1, using: &generator) {
      guard let date = CivilDate(dayNumber: Int(day(&generator))) else { continue }
      if Bool.random(using: &generator) {
        words.append(
          Bool.random(using: &generator)
            ? "\(Self.months[date.month - 1]) \(date.day)" : "\(date.day) \(Self.months[date.month - 1])")
        groups.append(.init(months: [date.month], places: [.day(date.day)]))
        continue
      }
      let (text, places) = places(&generator)
      guard Bool.random(using: &generator) else {
        words.append("\(text) of month")
        groups.append(.init(months: [], places: places))
        continue
      }
      let months = Set([date.month, Int.random(in: 1...12, using: &generator), date.month % 12 + 1])
      words.append("\(text) of \(months.sorted().map { Self.months[$0 - 1] }.joined(separator: ","))")
      groups.append(.init(months: months, places: places))
    }
    return (words.joined(separator: ", "), groups)
  }

  /// Returns days as they stand before `at`.
  func make(_ generator: inout SeededGenerator) -> (text: String, kind: DayReference.Kind) {
    let some = Set((0..<7).filter { _ in Bool.random(using: &generator) })
    let weekdays = some.isEmpty ? Set(0..<7) : some
    let list = weekdays.sorted().map { Self.weekdays[$0] }.joined(separator: ",")
    let step = Int.random(in: 2...4, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return ("every \(list)", .weekdays(weekdays))
    case 1: return ("every \(step) days", .days(step))
    case 2: return ("every \(step) weeks on \(list)", .weeks(step, weekdays))
    case 3:
      let (text, groups) = groups(&generator)
      return ("every \(text)", .dates(groups))
    case 4:
      let (text, places) = places(&generator)
      return ("every \(step) months on \(text)", .months(step, places))
    default:
      let (text, groups) = groups(&generator)
      return ("every \(step) years on \(text)", .years(step, groups))
    }
  }
}
