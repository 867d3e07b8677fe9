/// A MonthDays is a set of days by month: `day 1,15 of month`, `last fri of mar,jun`, `nov 17`.
struct MonthDays: Sendable, Hashable {
  /// One selection for all months, or twelve different ones from January on.
  private(set) var selections: [MonthSelection]

  init(each selection: MonthSelection) { selections = [selection] }

  /// - Parameter months: Twelve selections from January on. Impossible days of a month are removed, unless all twelve
  ///   are equal: day 31 of every month is known to skip the shorter ones.
  init(_ months: [MonthSelection]) {
    if let first = months.first, months.allSatisfy({ $0 == first }) {
      selections = [first]
      return
    }
    let possible = months.enumerated().map { $1.possible(in: $0 + 1) }
    if let first = possible.first, possible.allSatisfy({ $0 == first }) {
      selections = [first]
    } else {
      selections = possible
    }
  }

  var isEmpty: Bool { selections.allSatisfy(\.isEmpty) }

  /// Groups of months with the same days, ordered by their first month, without empty months.
  var groups: ContiguousArray<MonthRule.Group> {
    guard selections.count > 1 else {
      return selections.isEmpty ? [] : [.init(months: 0xFFF, selection: selections[0])]
    }
    var groups: ContiguousArray<MonthRule.Group> = []
    for (index, selection) in selections.enumerated() where !selection.isEmpty {
      if let known = groups.firstIndex(where: { $0.selection == selection }) {
        groups[known].months |= 1 << UInt16(index)
      } else {
        groups.append(.init(months: 1 << UInt16(index), selection: selection))
      }
    }
    return groups
  }

  /// The most dates that are written one by one.
  private static let mostDates = 12

  /// The form without context. Plain dates get an `every`, because without it they look like a single moment.
  var canonical: String {
    isDateList || isSingle ? "every \(list)" : list
  }

  /// Whether it is one day of the year. Without `every`, that means one moment.
  var isSingle: Bool {
    selections.count > 1 && selections.reduce(0) { $0 + $1.count } == 1
  }

  /// Whether it consists of dates only.
  var isDateList: Bool { selections.count > 1 && selections.allSatisfy { $0 == MonthSelection(days: $0.days) } }

  /// `nov 17,dec 24` if a few plain dates suffice, otherwise `day 1,15 of month`, `last fri of mar,jun`.
  var list: String {
    if isPlain {
      var dates: [String] = []
      for (index, selection) in selections.enumerated() {
        for day in 1...31 where selection.days >> UInt32(day) & 1 != 0 {
          dates.append("\(MonthDays.names[index]) \(day)")
        }
      }
      return dates.joined(separator: ",")
    }
    return groups.map { "\($0.selection.canonical) of \(MonthDays.text(months: $0.months))" }.joined(separator: ",")
  }

  /// Whether it is written as dates.
  private var isPlain: Bool {
    selections.count > 1 && selections.allSatisfy { $0 == MonthSelection(days: $0.days) }
      && selections.reduce(0) { $0 + $1.days.nonzeroBitCount } <= MonthDays.mostDates
  }

  static let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  /// Returns `month`, or a list of months with ranges from three on, also across the end of the year: `mar,jun`, `nov-feb`.
  private static func text(months: UInt16) -> String {
    if months == 0xFFF { return "month" }
    return runs(of: months, count: 12).map { run in
      switch run.length {
      case 1: names[run.first]
      case 2: "\(names[run.first]),\(names[(run.first + 1) % 12])"
      default: "\(names[run.first])-\(names[(run.first + run.length - 1) % 12])"
      }
    }.joined(separator: ",")
  }

  /// Returns the runs of adjacent bits. A run may wrap around from the last bit to the first.
  private static func runs(of bits: UInt16, count: Int) -> [(first: Int, length: Int)] {
    func isSet(_ index: Int) -> Bool { bits >> UInt16(index % count) & 1 != 0 }
    return (0..<count).filter { isSet($0) && !isSet($0 + count - 1) }.map { first in
      var length = 1
      while isSet(first + length), length < count { length += 1 }
      return (first, length)
    }
  }
}

extension MonthSelection {
  /// The number of selected days and positions.
  var count: Int {
    days.nonzeroBitCount + daysFromEnd.nonzeroBitCount + weekdays.nonzeroBitCount + weekdaysFromEnd.nonzeroBitCount
      + workdays.nonzeroBitCount + workdaysFromEnd.nonzeroBitCount
  }

  static let ordinals = ["first", "second", "third", "fourth", "fifth"]

  /// Returns `first`, `6th`; from the end `last`, `second last`.
  static func ordinal(_ place: Int, fromEnd: Bool) -> String {
    if fromEnd, place == 1 { return "last" }
    var text = place <= ordinals.count ? ordinals[place - 1] : "\(place)\(suffix(place))"
    if fromEnd { text += " last" }
    return text
  }

  private static func suffix(_ number: Int) -> String {
    switch (number % 10, number / 10 % 10) {
    case (_, 1): "th"
    case (1, _): "st"
    case (2, _): "nd"
    case (3, _): "rd"
    default: "th"
    }
  }

  /// The days without the months: `day 1,15,last day,first mon,last weekday`.
  var canonical: String {
    var parts: [String] = []
    if days != 0 { parts.append("day " + MonthSelection.text(days: days)) }
    func append(_ bits: UInt32, fromEnd: Bool, _ noun: String) {
      for place in 1...31 where bits >> UInt32(place) & 1 != 0 {
        parts.append("\(MonthSelection.ordinal(place, fromEnd: fromEnd)) \(noun)")
      }
    }
    func append(_ bits: UInt64, fromEnd: Bool) {
      for place in 0..<35 where bits >> UInt64(place) & 1 != 0 {
        let weekday = Weekday(rawValue: place % 7 + 1) ?? .monday
        parts.append("\(MonthSelection.ordinal(place / 7 + 1, fromEnd: fromEnd)) \(weekday.abbreviation)")
      }
    }
    append(daysFromEnd, fromEnd: true, "day")
    append(weekdays, fromEnd: false)
    append(weekdaysFromEnd, fromEnd: true)
    append(workdays, fromEnd: false, "weekday")
    append(workdaysFromEnd, fromEnd: true, "weekday")
    return parts.joined(separator: ",")
  }

  /// Returns days with ranges from three on: `1,15`, `1-7,15`.
  private static func text(days: UInt32) -> String {
    var parts: [String] = []
    var day = 1
    while day <= 31 {
      guard days >> UInt32(day) & 1 != 0 else {
        day += 1
        continue
      }
      var last = day
      while last < 31, days >> UInt32(last + 1) & 1 != 0 { last += 1 }
      switch last - day {
      case 0: parts.append("\(day)")
      case 1: parts.append("\(day),\(last)")
      default: parts.append("\(day)-\(last)")
      }
      day = last + 1
    }
    return parts.joined(separator: ",")
  }
}

extension YearDays {
  /// The days with ranges from two on, also across the end of the year: `nov 17,dec 24..jan 2`.
  var canonical: String {
    var days: [(month: Int, day: Int, isIn: Bool)] = []
    for month in 1...12 {
      for day in 1...CivilDate.daysIn(month: month, year: 2_000) {
        days.append((month, day, self[month] >> UInt32(day) & 1 != 0))
      }
    }
    func text(_ index: Int) -> String { "\(MonthDays.names[days[index].month - 1]) \(days[index].day)" }
    guard days.contains(where: { !$0.isIn }) else { return "jan 1..dec 31" }
    var parts: [String] = []
    for first in days.indices where days[first].isIn && !days[(first + 365) % 366].isIn {
      var last = first
      while days[(last + 1) % 366].isIn { last = (last + 1) % 366 }
      parts.append(first == last ? text(first) : "\(text(first))..\(text(last))")
    }
    return parts.joined(separator: ",")
  }
}
