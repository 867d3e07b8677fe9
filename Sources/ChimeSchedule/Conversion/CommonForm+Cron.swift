extension CommonForm {
  /// Returns the form as five cron fields, or six if it has seconds.
  func cronText() throws(Inexpressible) -> String {
    let (days, months, weekdays) = try cronDays()
    try refuseBounds(in: "cron")
    guard let grid else {
      throw Inexpressible(
        "cron cannot express times that do not form a grid of hours and minutes")
    }
    let hasSeconds = grid.seconds != [0]
    var fields = hasSeconds ? [field(grid.seconds, of: 0...59)] : []
    fields += [field(grid.minutes, of: 0...59), field(grid.hours, of: 0...23)]
    fields += [days, months, weekdays]
    return "cron: " + fields.joined(separator: " ")
  }

  private func cronDays() throws(Inexpressible) -> (days: String, months: String, weekdays: String) {
    func text(_ months: MonthSet, _ turn: Turn?) throws(Inexpressible) -> String {
      guard turn == nil else { throw Inexpressible("cron has no start, so it cannot count months or years") }
      return field(months.numbers, of: 1...12)
    }
    switch days {
    case .weekly(.everyDay): return ("*", "*", "*")
    case .weekly(let weekdays):
      // Cron begins the week on Sunday, which is 0.
      return ("*", "*", field(Weekday.allCases.filter(weekdays.contains).map { $0.rawValue % 7 }.sorted(), of: 0...6))
    case .ofMonth(let months, let days, let turn):
      let months = try text(months, turn)
      if days == [-1] { return ("L", months, "*") }
      guard days.allSatisfy({ $0 > 0 }) else {
        guard days.count == 1 else { throw Inexpressible("cron cannot express several days from a month's end") }
        return ("L\(days[0] + 1)", months, "*")
      }
      return (field(days, of: 1...31), months, "*")
    case .workday(let months, let places, let turn):
      // Cron's `1W` is the weekday nearest to the 1st within the month, which is the first weekday of the month.
      let words = [[1]: "1W", [-1]: "LW", [1, -1]: "1W,LW"]
      guard let word = words[places] else {
        throw Inexpressible(
          "cron can express only the first and the last weekday")
      }
      return (word, try text(months, turn), "*")
    case .ordinal(let months, let ordinals, let turn):
      var items: [String] = []
      for ordinal in ordinals {
        let weekday = ordinal.weekday.rawValue % 7
        switch ordinal.ordinal {
        case 1...5: items.append("\(weekday)#\(ordinal.ordinal)")
        case -1: items.append("\(weekday)L")
        default: throw Inexpressible("cron cannot express the second last day of the week in a month")
        }
      }
      return ("*", try text(months, turn), items.joined(separator: ","))
    case .weeks, .interval: throw Inexpressible("cron has no start, so it cannot count weeks or days")
    case .date: throw Inexpressible("cron has no years, so it cannot express a single moment")
    }
  }

  /// Returns numbers as cron writes them: `*` for all, runs of three or more as `a-b`, even steps from the first as `*/n`.
  private func field(_ numbers: [Int], of all: ClosedRange<Int>) -> String {
    if numbers.count == all.count { return "*" }
    if numbers.count > 2, numbers[0] == all.lowerBound {
      let step = numbers[1] - numbers[0]
      if step > 1, numbers == Array(stride(from: all.lowerBound, through: all.upperBound, by: step)) {
        return "*/\(step)"
      }
    }
    return runs(numbers, joinedBy: "-")
  }

  /// Returns ascending numbers as a list, with runs of three or more as ranges.
  func runs(_ numbers: [Int], joinedBy sign: String) -> String {
    var parts: [String] = []
    var index = 0
    while index < numbers.count {
      var end = index
      while end + 1 < numbers.count, numbers[end + 1] == numbers[end] + 1 { end += 1 }
      if end - index >= 2 {
        parts.append("\(numbers[index])\(sign)\(numbers[end])")
      } else {
        parts += numbers[index...end].map(String.init)
      }
      index = end + 1
    }
    return parts.joined(separator: ",")
  }

  func refuseBounds(in dialect: String) throws(Inexpressible) {
    guard first == nil, last == nil, count == nil else {
      throw Inexpressible("\(dialect) cannot express a beginning, an end or a number of times")
    }
    guard except.isEmpty else { throw Inexpressible("\(dialect) cannot express exceptions") }
  }
}

/// An Inexpressible says, as a sentence, why a dialect cannot express a schedule.
struct Inexpressible: Error {
  var reason: String
  init(_ reason: String) { self.reason = reason }
}
