extension PhraseParser {
  /// Parses `at` times.
  mutating func atTimes() throws(Fault) -> [CivilTime] {
    try lexer.advance()
    return try times()
  }

  /// Parses `time { ( "," | "and" ) time }`, sorted, each once.
  mutating func times() throws(Fault) -> [CivilTime] {
    let start = lexer.token.range
    var times: [CivilTime] = []
    var vague: Range<Int>?
    var half: Range<Int>?
    func note(_ first: Lexer.Token, _ last: Lexer) {
      let range = first.range.lowerBound..<last.previousEnd
      guard context != nil, first.kind == .number else { return }
      if last.bytes[range].last.map({ $0 | 0x20 }) == UInt8(ascii: "m") {
        half = range
      } else if (1...12).contains(first.value), last.bytes[range.lowerBound] != UInt8(ascii: "0") {
        vague = vague ?? range
      }
    }
    let first = lexer.token
    times.append(try time(allowing24: false))
    note(first, lexer)
    while try continuesTimes() {
      guard times.count < Phrase.mostTimes else {
        throw Fault(
          code: .outOfRange, range: start, problem: "there are more than \(Phrase.mostTimes) times a day",
          expected: "fewer times, or an interval with a window")
      }
      let first = lexer.token
      times.append(try time(allowing24: false))
      note(first, lexer)
    }
    guard times.count > 1 else { return times }
    if let vague, let half {
      var fault = Fault(
        range: vague, problem: "\(lexer.quoted(vague)) may be before or after noon, beside \(lexer.quoted(half))",
        expected: "\"am\" or \"pm\" at each time, or a 24-hour clock")
      fault.isMeaning = true
      throw fault
    }
    times.sort()
    var distinct: [CivilTime] = []
    for time in times where time != distinct.last { distinct.append(time) }
    return distinct
  }

  /// Skips the separator between two times. A comma before a bound is not one.
  private mutating func continuesTimes() throws(Fault) -> Bool {
    let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
    guard isComma || lexer.keyword == .and else { return false }
    var ahead = lexer
    try ahead.advance()
    if isComma, ahead.keyword == .and { try ahead.advance() }
    // "at 8 and at 18:00"
    _ = try ahead.skip(.at)
    if isComma, PhraseParser.isBound(ahead) || ahead.keyword == .on { return false }
    lexer = ahead
    return true
  }

  /// Parses `8`, `8:30`, `20:30:15`, `8am`, `8:30 pm`, `noon` or `midnight`; as the end of a window also `24:00`.
  mutating func time(allowing24: Bool) throws(Fault) -> CivilTime {
    let expected = "a time like 8, 8:30, 8am or noon"
    switch lexer.keyword {
    case .noon:
      try lexer.advance()
      return .noon
    case .midnight:
      try lexer.advance()
      return .midnight
    default: break
    }
    guard lexer.token.kind == .number else {
      throw misspelt("is not a time of day", expected: expected, among: ["noon", "midnight"])
    }
    let first = lexer.token
    try lexer.advance()
    var minute = 0
    var second = 0
    var hasMinutes = false
    if lexer.isAdjacent, try lexer.skip(":") {
      hasMinutes = true
      minute = try sixtieth("minute", after: first)
      if lexer.isAdjacent, try lexer.skip(":") { second = try sixtieth("second", after: first) }
    } else if let fault = missingColon(first) {
      throw fault
    }
    let digits = first.range
    if lexer.keyword == .am || lexer.keyword == .pm {
      let isAfternoon = lexer.keyword == .pm
      guard (1...12).contains(first.value), let hour = Int(exactly: first.value) else {
        throw Fault(
          range: digits, problem: "\(lexer.quoted(digits)) is not an hour of a twelve-hour clock",
          expected: "an hour from 1 to 12")
      }
      try lexer.advance()
      return CivilTime(hour: hour % 12 + (isAfternoon ? 12 : 0), minute: minute, second: second) ?? .midnight
    }
    if allowing24, first.value == 24, minute == 0, second == 0 { return .midnight }
    guard digits.count <= 2, let hour = Int(exactly: first.value),
      let time = CivilTime(hour: hour, minute: minute, second: second)
    else {
      throw Fault(
        range: digits, problem: "\(lexer.quoted(digits)) is not an hour of the day", expected: "an hour from 0 to 23",
        repair: first.value == 24 && minute == 0 && second == 0 && hasMinutes
          ? .init(digits.lowerBound..<lexer.previousEnd, "midnight") : nil)
    }
    return time
  }

  /// Parses two digits from 00 to 59 after a colon.
  private mutating func sixtieth(_ name: String, after hour: Lexer.Token) throws(Fault) -> Int {
    let range = lexer.token.range
    guard lexer.token.kind == .number, lexer.isAdjacent, range.count == 2, lexer.token.value < 60 else {
      let isShort = lexer.token.kind == .number && lexer.isAdjacent && range.count == 1
      throw Fault(
        range: range, problem: "\(lexer.quoted) is no \(name)", expected: "two digits from 00 to 59",
        repair: isShort
          ? .init(
            range, "0" + lexer.text(range),
            shown: lexer.text(hour.range.lowerBound..<range.lowerBound) + "0" + lexer.text(range)) : nil)
    }
    let value = Int(lexer.token.value)
    try lexer.advance()
    return value
  }

  /// Returns the fault for `0830` and `8.30`, which mean 08:30 and 8:30.
  private func missingColon(_ first: Lexer.Token) -> Fault? {
    if lexer.token.kind == .sign(UInt8(ascii: ".")), lexer.isAdjacent {
      return Fault(
        range: lexer.token.range, problem: "a colon must separate hours and minutes", expected: "a time like 8:30",
        repair: .init(
          lexer.token.range, ":",
          shown: lexer.text(first.range.suffix(4)) + ":" + lexer.text(lexer.token.range.upperBound..<endOfWord)))
    }
    guard (3...4).contains(first.range.count) else { return nil }
    let hour = first.range.dropLast(2)
    return Fault(
      range: first.range, problem: "\(lexer.quoted(first.range)) is not an hour of the day",
      expected: "a time like 8:30",
      repair: .init(
        hour.upperBound..<hour.upperBound, ":",
        shown: lexer.text(hour) + ":" + lexer.text(hour.upperBound..<first.range.upperBound)))
  }
}
