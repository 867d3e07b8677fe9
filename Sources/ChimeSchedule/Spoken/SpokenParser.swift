/// Understands schedules as people say them: parts in any order, each kind once, with defaults for what is left out.
///
/// ``PhraseParser`` reads the written form and is asked first. What this reader understands becomes a phrase of the
/// same kind, so everything behind it is shared. It reads a line part by part; what is no part of a time stops it.
///
///     "in 3 days at 9", "every weekday morning except mondays", "at 8 tonight"
struct SpokenParser {
  let bytes: [UInt8]
  let context: ParseContext
  let tokens: [SpokenToken]
  /// Whether it stood in `<…>`, as org writes times.
  let isOrg: Bool
  let today: CivilDate
  var index = 0
  private let reach = Reach()

  /// The last token that was looked at, which may be the one behind the end. The copies that look ahead share it.
  private final class Reach {
    // It is touched by nobody else, and at each step.
    @exclusivity(unchecked) var index = 0
  }

  // What has been said so far.
  var times: [Clock] = []
  var part: (part: SpokenWords.DayPart, range: Range<Int>)?
  var date: SpokenDate?
  var delay: (span: Span, range: Range<Int>)?
  var recurrence: (kind: Recurrence, range: Range<Int>)?
  var window: (from: CivilTime, to: CivilTime, range: Range<Int>)?
  var bounds = Phrase.Bounds()
  var boundRange: Range<Int>?
  var exceptDays: WeekdaySet = []
  var length: (span: Span, range: Range<Int>)?
  var isAfterDone = false
  /// `twice a day`: how many times, or days, there have to be.
  var frequency: (count: Int, range: Range<Int>)?

  /// A time as it was said.
  struct Clock {
    var time: CivilTime
    /// Whether it says itself whether it is before or after noon: `5pm`, `17`, `09:00`.
    var isExact: Bool
    var range: Range<Int>
  }

  /// A length of time in the units in which it was said.
  struct Span: Equatable {
    var months: Int64 = 0
    var days: Int64 = 0
    var seconds: Int64 = 0
    /// Whether all its days were said as weeks, and all its months as years.
    var isWeeks = false
    var isYears = false

    var isElapsed: Bool { seconds > 0 && days == 0 && months == 0 }
  }

  /// How often, as it was said.
  enum Recurrence {
    case weekdays(WeekdaySet)
    case days(Int)
    /// Without days it is that of the day it begins on.
    case weeks(Int, WeekdaySet?)
    case months(Int, MonthSelection?)
    case years(Int, MonthDays?)
    case dates(MonthDays)
    case interval(Int64, Phrase.Days?)
  }

  init(_ bytes: [UInt8], context: ParseContext) throws(Fault) {
    self.bytes = bytes
    self.context = context
    let whole = try SpokenToken.tokens(bytes)
    tokens = SpokenToken.withoutFrame(whole)
    isOrg = whole.first?.isSign("<") == true && tokens.first?.isSign("<") != true
    today = context.civil.date
  }

  /// The whole text as one schedule.
  mutating func phrase() throws(Fault) -> Phrase {
    do throws(Fault) {
      guard try readsParts() else { throw stuck() }
    } catch {
      var fault = error
      // What is in parentheses is read without them if the text ends there.
      let isFramed = SpokenToken.frames.contains { tokens[0].isSign($0.start) }
      if reach.index < tokens.count, !isFramed { fault.stop = tokens[reach.index].range.upperBound }
      throw fault
    }
    return try meaning()
  }

  /// Reads part after part to the end; `false` where something stands that is none.
  mutating func readsParts() throws(Fault) -> Bool {
    while token() != nil {
      if index > 0, isSign(","), token(1) != nil { index += 1 }
      let start = index
      if index > 0, word() == .and {
        index += 1
        if !times.isEmpty, isDayAhead { throw twoSchedules(start) }
      }
      guard try nextPart() else {
        index = start
        return false
      }
    }
    return true
  }

  /// Whether a day begins here, which has times of its own where others were said before it.
  private var isDayAhead: Bool {
    let ahead = [.on, .the].contains(word()) ? 1 : 0
    return weekday(ahead) != nil || isOne(of: [.every, .tomorrow], ahead)
  }

  private func twoSchedules(_ start: Int) -> Fault {
    let first = 0..<tokens[start - 1].range.upperBound
    let second = tokens[start + 1].range.lowerBound..<bytes.count
    return senseless(
      tokens[start].range, "these are two schedules, each with its own times",
      expected: "one of them, and the other for a second reminder: \(quoted(first)) and \(quoted(second))")
  }

  private mutating func nextPart() throws(Fault) -> Bool {
    if try boundPart() { return true }
    if try recurrencePart() { return true }
    if try delayPart() { return true }
    if try windowPart() { return true }
    if try datePart() { return true }
    return try timePart()
  }

  // MARK: Reading tokens

  /// Where a token stands, if there is one.
  @inline(__always) private func place(_ ahead: Int) -> Int? {
    let place = index + ahead
    if place > reach.index { reach.index = place }
    return place >= 0 && place < tokens.count ? place : nil
  }

  func token(_ ahead: Int = 0) -> SpokenToken? { place(ahead).map { tokens[$0] } }

  /// The word there, if it is one that the grammar knows by name.
  func word(_ ahead: Int = 0) -> SpokenWord { place(ahead).map { tokens[$0].facts.word } ?? .unknown }

  func isOne(of kinds: SpokenFacts.Kinds, _ ahead: Int = 0) -> Bool {
    place(ahead).map { tokens[$0].facts.kinds.isDisjoint(with: kinds) } == false
  }

  func weekday(_ ahead: Int = 0) -> (day: Weekday, plural: Bool)? {
    guard let place = place(ahead), let day = tokens[place].facts.weekday else { return nil }
    return (day, tokens[place].facts.isPlural)
  }

  func month(_ ahead: Int = 0) -> Int? { place(ahead).flatMap { tokens[$0].month } }

  /// A part of the day, and whether it is in the plural.
  func dayPart(_ ahead: Int = 0) -> (part: SpokenWords.DayPart, plural: Bool)? {
    guard let place = place(ahead), let part = tokens[place].facts.part else { return nil }
    return (part, tokens[place].facts.isPlural)
  }

  func namedTime(_ ahead: Int = 0) -> SpokenWords.NamedTime? { place(ahead).flatMap { tokens[$0].facts.time } }

  func isSign(_ sign: Unicode.Scalar, _ ahead: Int = 0) -> Bool {
    place(ahead).map { tokens[$0].isSign(sign) } == true
  }

  func isNumber(_ ahead: Int = 0) -> Bool { place(ahead).map { tokens[$0].kind == .number } == true }

  /// Steps over a word if it stands here.
  mutating func take(_ word: SpokenWord) -> Bool {
    guard self.word() == word else { return false }
    index += 1
    return true
  }

  /// Steps over those words if they stand here.
  mutating func take(_ first: SpokenWord, _ second: SpokenWord) -> Bool {
    guard word() == first, word(1) == second else { return false }
    index += 2
    return true
  }

  mutating func take(_ first: SpokenWord, _ second: SpokenWord, _ rest: SpokenWord...) -> Bool {
    guard word() == first, word(1) == second else { return false }
    for (offset, expected) in rest.enumerated() where word(offset + 2) != expected { return false }
    index += rest.count + 2
    return true
  }

  mutating func take(oneOf kinds: SpokenFacts.Kinds) -> Bool {
    guard isOne(of: kinds) else { return false }
    index += 1
    return true
  }

  mutating func takeSign(_ sign: Unicode.Scalar) -> Bool {
    guard isSign(sign) else { return false }
    index += 1
    return true
  }

  /// Steps over what parts two items of a list; with `bare`, nothing needs to.
  mutating func takeListSign(bare: Bool = false) -> Bool {
    let start = index
    _ = takeSign(",")
    _ = takeSign("/") || takeSign("&") || takeSign("+") || take(.and)
    return index > start || bare
  }

  /// Steps over what stands between the ends of a run: `-`, `..`, `to`, `through`, `until`.
  mutating func takeRunSign() -> Bool {
    if isSign("-") || token()?.kind == .dots {
      index += 1
      return true
    }
    return take(oneOf: .until)
  }

  /// The bytes from a token to the one before the cursor.
  func range(from start: Int) -> Range<Int> {
    let end = min(index, tokens.count)
    guard start < end else { return bytes.count..<bytes.count }
    return tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The token there as it was typed, in lower case.
  func lowered(_ ahead: Int) -> String { token(ahead).map { text($0.range).lowercased() } ?? "" }

  func isDigit(_ place: Int) -> Bool { (0x30...0x39).contains(bytes[place]) }

  func quoted(_ range: Range<Int>) -> String { context.isQuiet ? "" : "\"\(excerpt(text(range), limit: 40))\"" }

  // MARK: Faults

  /// What stands here is no part of a time, or says again what has been said.
  func stuck() -> Fault {
    guard let token = token() else {
      return Fault(range: bytes.count..<bytes.count, problem: "the end of the schedule is missing", expected: example)
    }
    return Fault(
      range: token.range, problem: "\(quoted(token.range)) was not understood as part of the time", expected: example)
  }

  private var example: String { "a schedule like \"tomorrow at 9\", \"every weekday at 8:30\" or \"in 25 minutes\"" }

  /// Two parts that cannot both be meant.
  func twice(_ range: Range<Int>) -> Fault {
    Fault(
      range: range, problem: "\(quoted(range)) does not fit the words before it",
      expected: "one day, one time and one word for how often, as in \"every fri at 9\"")
  }

  /// Words that may mean two things: each of the texts put in their place says one of them.
  func ambiguous(_ range: Range<Int>, _ choices: [String]) -> Fault {
    var fault = Fault(
      range: range, problem: "\(quoted(range)) is ambiguous",
      expected: choices.map { "\"\($0)\"" }.joined(separator: " or "))
    fault.isMeaning = true
    fault.choices = choices.map { .init(range, $0) }
    return fault
  }

  /// Words that are understood but make no sense together.
  func senseless(
    _ range: Range<Int>, _ problem: String, expected: String, code: ScheduleError.Code = .invalidSchedule
  ) -> Fault {
    var fault = Fault(code: code, range: range, problem: problem, expected: expected)
    fault.isMeaning = true
    return fault
  }
}
