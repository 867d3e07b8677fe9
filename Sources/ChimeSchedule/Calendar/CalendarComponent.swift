/// A CalendarField is a field of a calendar expression, with the bounds of systemd.time(7).
enum CalendarField: Hashable {
  case year, month, day
  /// A day counted from the end of the month; the last day is 1.
  case dayFromEnd
  case hour, minute
  /// Counted in microseconds.
  case second

  /// Microseconds in a second.
  static let microseconds = 1_000_000

  /// The values that a text may name. An open-ended repetition of years continues beyond them.
  var bounds: ClosedRange<Int> {
    switch self {
    case .year: 1970...2199
    case .month: 1...12
    case .day: 1...31
    case .dayFromEnd: 1...28
    case .hour: 0...23
    case .minute: 0...59
    case .second: 0...60 * CalendarField.microseconds - 1
    }
  }

  /// How many internal units make one written unit.
  var scale: Int { self == .second ? CalendarField.microseconds : 1 }
  /// The minimum number of digits in the canonical form.
  var width: Int { self == .year ? 4 : 2 }

  var name: String {
    switch self {
    case .year: "year"
    case .month: "month"
    case .day: "day of the month"
    case .dayFromEnd: "day from the month's end"
    case .hour: "hour"
    case .minute: "minute"
    case .second: "second"
    }
  }

  /// The bounds in words: `an hour from 0 to 23`.
  var expected: String {
    switch self {
    case .hour: "an hour from 0 to 23"
    case .second: "a second from 0 to 59, with a fraction where needed"
    default: "a \(name) from \(bounds.lowerBound) to \(bounds.upperBound)"
    }
  }
}

/// A CalendarComponent is one member of a field's list: a value, a range or a repetition, in the field's own units.
struct CalendarComponent: Hashable {
  var start: Int
  /// The end of a range; `nil` for a single value, or for a repetition up to the end of the field.
  var stop: Int?
  /// The distance between two values; 0 for a single one.
  var step: Int

  init(_ start: Int, to stop: Int? = nil, step: Int = 0) {
    self.start = start
    self.stop = stop
    self.step = step
  }

  /// Adds the century to two-digit years: 1970 to 2069.
  mutating func completeYear() {
    func completed(_ year: Int) -> Int { year < 70 ? year + 2_000 : year < 100 ? year + 1_900 : year }
    start = completed(start)
    stop = stop.map(completed)
  }

  /// Moves the end of a range to a value that it reaches. A range with only one such value becomes a single value.
  mutating func simplify() {
    guard var end = stop else { return }
    if end > start, step > 0 { end -= (end - start) % step }
    stop = end == start ? nil : end
    if end == start { step = 0 }
  }

  /// Returns whether the value and at least one repetition lie within the field. The component must be simplified.
  ///
  /// - Parameter index: Its position in the list. systemd lowers the bound of days from the end of the month (28) by
  ///   three for each member of the list. This is unintended there, but Chime must not accept what systemd refuses.
  func fits(_ field: CalendarField, at index: Int = 0) -> Bool {
    var bounds = field.bounds
    if field == .dayFromEnd {
      guard index < 10 else { return false }
      bounds = 1...28 - 3 * index
    }
    guard bounds.contains(start), step <= bounds.upperBound - bounds.lowerBound else { return false }
    if let stop { return bounds.contains(stop) && start + step <= stop }
    return field == .dayFromEnd ? start - step >= bounds.lowerBound : start + step <= bounds.upperBound
  }
}

extension CalendarComponent: Comparable {
  static func < (left: CalendarComponent, right: CalendarComponent) -> Bool {
    (left.start, left.stop ?? -1, left.step) < (right.start, right.stop ?? -1, right.step)
  }
}

extension [CalendarComponent] {
  /// Returns the list in order, each member once.
  func normalized() -> [CalendarComponent] {
    var result: [CalendarComponent] = []
    for component in sorted() where component != result.last { result.append(component) }
    return result
  }

  /// Returns the list as systemd writes it. The empty list, and a list of seconds that contains `*`, is `*`.
  func formatted(_ field: CalendarField) -> String {
    let isEverySecond = field == .second && contains(CalendarComponent(0, step: CalendarField.microseconds))
    if isEmpty || isEverySecond { return "*" }
    func number(_ value: Int, _ width: Int) -> String {
      let fraction = value % field.scale
      return padded(value / field.scale, width) + (fraction > 0 ? "." + padded(fraction, 6) : "")
    }
    return map { component in
      var text = number(component.start, field.width)
      if let stop = component.stop { text += ".." + number(stop, field.width) }
      // A range with step one is written without the step.
      if component.step > 0, component.stop == nil || component.step != field.scale {
        text += "/" + number(component.step, 1)
      }
      return text
    }.joined(separator: ",")
  }
}
