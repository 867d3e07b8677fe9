// Parses the content of a field: a list of values, ranges and repetitions.

extension CalendarParser {
  /// Parses a list of components, or `*`, up to a field separator.
  mutating func chain(_ field: CalendarField) throws(Fault) -> [CalendarComponent] {
    if sign == UInt8(ascii: "*") {
      let star = position..<position + 1
      position += 1
      guard isAtFieldEnd else {
        let isStep = sign == UInt8(ascii: "/")
        let first = field == .year ? "1970" : field == .second ? "0" : "\(field.bounds.lowerBound)"
        let word = wordRange
        let rest = position..<(bytes[word].firstIndex { ":-~".utf8.contains($0) } ?? word.upperBound)
        throw Fault(
          range: position..<position + 1, problem: "\"*\" stands alone in its place",
          expected: isStep ? "a first value before the step" : "\"*\", or a list of values",
          repair: isStep && field != .dayFromEnd ? .init(star, first, shown: first + text(rest)) : nil)
      }
      return field == .second ? [CalendarComponent(0, step: CalendarField.microseconds)] : []
    }
    let start = position
    var components: [CalendarComponent] = []
    while true {
      let component = try component(field)
      try need(
        components.count < CalendarParser.mostComponents, .outOfRange, at: position..<position,
        "there are more than \(CalendarParser.mostComponents) values in a list",
        expected: "fewer, or a range with a step")
      components.append(component)
      guard sign == UInt8(ascii: ",") else { break }
      position += 1
    }
    components = components.normalized()
    if let place = components.indices.first(where: { !components[$0].fits(field, at: $0) }) {
      throw Fault(
        range: start..<position, problem: "systemd rejects the list \(quoted(start..<position))",
        expected: "a list in which day \(place + 1) counts at most \(28 - 3 * place) from the month's end")
    }
    return components
  }

  var isAtFieldEnd: Bool {
    guard let sign else { return true }
    return sign == 0x20 || sign == UInt8(ascii: "-") || sign == UInt8(ascii: "~") || sign == UInt8(ascii: ":")
  }

  mutating func component(_ field: CalendarField) throws(Fault) -> CalendarComponent {
    let start = position
    var component = CalendarComponent(try number(field, "no \(field.name)"))
    let afterStart = position
    var hasStep = false
    if sign == UInt8(ascii: "."), byte(1) == UInt8(ascii: ".") {
      position += 2
      component.stop = try number(field, "a range needs an end")
      component.step = field.scale
    }
    let afterStop = position
    if sign == UInt8(ascii: "/") {
      position += 1
      hasStep = true
      component.step = try number(field, "no step")
    }
    guard isAtFieldEnd || sign == UInt8(ascii: ",") else {
      let rest = position..<wordRange.upperBound
      if isHalfOfDay(rest) { throw halfOfDay(rest) }
      throw Fault(
        range: rest,
        problem: field.name == "hour"
          ? "\(quoted(rest)) cannot follow an hour" : "\(quoted(rest)) cannot follow a \(field.name)",
        expected: field.expected)
    }
    try need(!hasStep || component.step > 0, at: afterStop..<position, "a step is 0", expected: "a step of at least 1")
    if field == .year { component.completeYear() }
    let bounds = field.bounds
    guard bounds.contains(component.start) else { throw outOfBounds(start..<afterStart, field) }
    if let stop = component.stop, stop < component.start {
      throw backwards(component, field, start..<position, hasStep)
    }
    // Unlike other fields, a range of seconds must contain a whole step unless the text states the step.
    let holdsStep = field != .second || hasStep || component.start + component.step <= component.stop ?? .max
    component.simplify()
    if let stop = component.stop, !bounds.contains(stop) { throw outOfBounds(afterStart + 2..<afterStop, field) }
    try need(
      holdsStep && component.fits(field), at: start..<position,
      "the range \(quoted(start..<position)) is too small for its step",
      expected: "a step that reaches another \(field.name)")
    return component
  }

  func outOfBounds(_ range: Range<Int>, _ field: CalendarField) -> Fault {
    Fault(
      code: field == .year ? .outOfRange : .invalidSchedule, range: range,
      problem: "\(quoted(range)) is no \(field.name)", expected: field.expected)
  }

  func backwards(
    _ component: CalendarComponent, _ field: CalendarField, _ range: Range<Int>, _ hasStep: Bool
  ) -> Fault {
    var repair: Fault.Repair?
    if !hasStep, field == .hour || field == .minute || field == .month || field == .day, let stop = component.stop {
      let bounds = field.bounds
      func run(_ from: Int, _ to: Int) -> String {
        from == to ? padded(from, 2) : padded(from, 2) + ".." + padded(to, 2)
      }
      repair = .init(range, run(bounds.lowerBound, stop) + "," + run(component.start, bounds.upperBound))
    }
    return Fault(
      range: range, problem: "\(quoted(range)) runs backwards", expected: "a range that goes up", repair: repair)
  }

  /// Parses digits, and for seconds a fraction, in the field's own units. Overlong numbers saturate above all bounds.
  mutating func number(_ field: CalendarField, _ problem: String) throws(Fault) -> Int {
    let start = position
    var value = 0
    while let byte = sign, CalendarParser.isDigit(byte) {
      value = min(value * 10 + Int(byte & 0x0F), 10_000_000_000)
      position += 1
    }
    guard position > start else {
      let rest = start..<wordRange.upperBound
      throw Fault(
        range: rest, problem: rest.isEmpty ? "a \(field.name) is missing" : "\(quoted(rest)) is \(problem)",
        expected: field.expected)
    }
    value *= field.scale
    if field == .second, sign == UInt8(ascii: "."), byte(1) != UInt8(ascii: ".") { value += try fraction(from: start) }
    // systemd counts in 32 bits and refuses larger numbers everywhere.
    guard value <= Int32.max else { throw outOfBounds(start..<position, field) }
    return value
  }

  /// Parses the digits after the point as microseconds, rounded.
  mutating func fraction(from start: Int) throws(Fault) -> Int {
    var value = 0
    position += 1
    let fraction = position
    var worth = CalendarField.microseconds
    while let byte = sign, CalendarParser.isDigit(byte) {
      worth /= 10
      if position - fraction < 6 {
        value += Int(byte & 0x0F) * worth
      } else if position - fraction == 6, byte >= UInt8(ascii: "5") {
        value += 1
      }
      position += 1
    }
    try need(
      position > fraction, at: start..<position, "\(quoted(start..<position)) ends with a point",
      expected: "digits after the point")
    return value
  }
}
