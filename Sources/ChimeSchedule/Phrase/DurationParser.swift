extension Lexer {
  /// Parses numbers with units up to the first other token: `90m`, `1h30m`, `2 days`, `1 hour and 30 minutes`.
  ///
  /// - Parameter article: Whether `an hour` is allowed.
  mutating func duration(article: Bool) throws(Fault) -> Milliseconds {
    var total: Int64 = 0
    var seen: [DurationUnit] = []
    countsDays = true
    countsWeeks = true
    let start = token.range.lowerBound
    repeat {
      let (count, unit, range) = try durationPart(article: article)
      try need(!seen.contains(unit), at: range, "\(quoted(range)) repeats a unit of time", expected: "each unit once")
      seen.append(unit)
      countsDays = countsDays && (unit == .day || unit == .week)
      countsWeeks = countsWeeks && unit == .week
      let (product, overflow) = count.multipliedReportingOverflow(by: Int64(unit.milliseconds))
      let (sum, tooLarge) = total.addingReportingOverflow(product)
      try need(
        !overflow && !tooLarge && sum <= Instant.latest.milliseconds, .outOfRange, at: start..<previousEnd,
        "\(quoted(start..<previousEnd)) is too long", expected: "less than 8030 years")
      total = sum
    } while try continuesDuration()
    return .milliseconds(total)
  }

  /// Returns whether another number with a unit follows. It skips an `and` or a comma before it.
  private mutating func continuesDuration() throws(Fault) -> Bool {
    var ahead = self
    if ahead.keyword == .and || ahead.token.kind == .sign(UInt8(ascii: ",")) { try ahead.advance() }
    guard ahead.token.kind == .number, let next = ahead.peek(), case .unit = next.keyword else { return false }
    self = ahead
    return true
  }

  private mutating func durationPart(article: Bool) throws(Fault) -> (Int64, DurationUnit, Range<Int>) {
    let number = token
    let expected = "a unit of time (s, m, h, d or w)"
    try need(
      number.kind == .number || article && number.keyword == .article, at: number.range,
      number.kind == .end ? "a duration is missing" : "\(quoted) is not a duration",
      expected: "a number with a unit, like 90m or 1h30m")
    try advance()
    if case .unit(let unit) = keyword {
      let range = number.range.lowerBound..<token.range.upperBound
      try advance()
      return (number.kind == .number ? number.value : 1, unit, range)
    }
    if token.keyword == .months || token.keyword == .years {
      throw Fault(range: token.range, problem: "\(quoted) is not a fixed length of time", expected: expected)
    }
    if token.kind == .sign(UInt8(ascii: ".")), isAdjacent {
      throw Fault(range: token.range, problem: "a duration has no fractions", expected: "whole numbers, as in 1h30m")
    }
    try need(
      token.kind == .word && (keyword == nil || isAdjacent), at: number.range,
      "\(quoted(number.range)) needs a unit of time",
      expected: "one, as in \(excerpt(text(number.range), limit: 20)) minutes")
    let unit = token.range.count <= 20 ? Spelling.unit(for: text(token.range)) : nil
    let gap = isAdjacent ? "" : " "
    throw Fault(
      range: token.range, problem: "\(quoted) is not a unit of time", expected: expected,
      repair: unit.map { .init(token.range, $0, shown: excerpt(text(number.range), limit: 20) + gap + $0) })
  }
}
