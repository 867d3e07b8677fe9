/// A SpokenParser parses schedules as people say them: parts in any order, each kind once, with defaults for the rest.
///
/// ``PhraseParser`` parses the written form and comes first. A SpokenParser produces the same kind of phrase, so all
/// later code is shared. It parses part by part and stops at words that do not belong to a time.
///
///     "in 3 days at 9", "every weekday morning except mondays", "at 8 tonight"
struct SpokenParser {
  let bytes: [UInt8]
  let context: ParseContext
  let tokens: [SpokenToken]
  /// Whether the text was in `<…>`, as times in org-mode.
  let isOrg: Bool
  let today: CivilDate
  var index = 0
  private let reach = Reach()

  /// The last token examined, at most one past the end. The copies that look ahead share it.
  private final class Reach {
    // No other thread accesses it, and it changes at each step, so exclusivity checks would only cost time.
    @exclusivity(unchecked) var index = 0
  }

  // The parts parsed so far.
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
  /// The required number of times or days, from `twice a day`.
  var frequency: (count: Int, range: Range<Int>)?

  /// A Clock is a time of day as spoken.
  struct Clock {
    var time: CivilTime
    /// Whether it is unambiguously before or after noon: `5pm`, `17`, `09:00`.
    var isExact: Bool
    var range: Range<Int>
  }

  /// A Span is a duration in the units in which it was spoken.
  struct Span: Equatable {
    var months: Int64 = 0
    var days: Int64 = 0
    var seconds: Int64 = 0
    /// Whether all its days came from weeks; `isYears`: all its months from years.
    var isWeeks = false
    var isYears = false

    var isElapsed: Bool { seconds > 0 && days == 0 && months == 0 }
  }

  /// A Recurrence is the frequency as spoken.
  enum Recurrence {
    case weekdays(WeekdaySet)
    case days(Int)
    /// Without days it uses the weekday of its start.
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

  /// Parses the whole text as one schedule.
  mutating func phrase() throws(Fault) -> Phrase {
    do throws(Fault) {
      guard try readsParts() else { throw stuck() }
    } catch {
      var fault = error
      // A longer text may close the bracket that opens this one, and then parse. So such a fault has no stop.
      let isFramed = SpokenToken.frames.contains { tokens[0].isSign($0.start) }
      if reach.index < tokens.count, !isFramed { fault.stop = tokens[reach.index].range.upperBound }
      throw fault
    }
    return try meaning()
  }

  /// Parses part after part to the end; returns `false` if something is not a part.
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

  /// Whether a day begins here. After earlier times, such a day has times of its own.
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

  /// Returns the index of a token, if it exists.
  @inline(__always) private func place(_ ahead: Int) -> Int? {
    let place = index + ahead
    if place > reach.index { reach.index = place }
    return place >= 0 && place < tokens.count ? place : nil
  }

  func token(_ ahead: Int = 0) -> SpokenToken? { place(ahead).map { tokens[$0] } }

  /// Returns the word there if the grammar knows it by name.
  func word(_ ahead: Int = 0) -> SpokenWord { place(ahead).map { tokens[$0].facts.word } ?? .unknown }

  func isOne(of kinds: SpokenFacts.Kinds, _ ahead: Int = 0) -> Bool {
    place(ahead).map { tokens[$0].facts.kinds.isDisjoint(with: kinds) } == false
  }

  func weekday(_ ahead: Int = 0) -> (day: Weekday, plural: Bool)? {
    guard let place = place(ahead), let day = tokens[place].facts.weekday else { return nil }
    return (day, tokens[place].facts.isPlural)
  }

  func month(_ ahead: Int = 0) -> Int? { place(ahead).flatMap { tokens[$0].month } }

  /// Returns a part of the day, and whether it is plural.
  func dayPart(_ ahead: Int = 0) -> (part: SpokenWords.DayPart, plural: Bool)? {
    guard let place = place(ahead), let part = tokens[place].facts.part else { return nil }
    return (part, tokens[place].facts.isPlural)
  }

  func namedTime(_ ahead: Int = 0) -> SpokenWords.NamedTime? { place(ahead).flatMap { tokens[$0].facts.time } }

  func isSign(_ sign: Unicode.Scalar, _ ahead: Int = 0) -> Bool {
    place(ahead).map { tokens[$0].isSign(sign) } == true
  }

  func isNumber(_ ahead: Int = 0) -> Bool { place(ahead).map { tokens[$0].kind == .number } == true }

  /// Skips a word if it is here.
  mutating func take(_ word: SpokenWord) -> Bool {
    guard self.word() == word else { return false }
    index += 1
    return true
  }

  /// Skips these words if they are here.
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

  /// Skips the separator of two list items. With `bare` none is required.
  mutating func takeListSign(bare: Bool = false) -> Bool {
    let start = index
    _ = takeSign(",")
    _ = takeSign("/") || takeSign("&") || takeSign("+") || take(.and)
    return index > start || bare
  }

  /// Skips the sign of a range: `-`, `..`, `to`, `through`, `until`.
  mutating func takeRunSign() -> Bool {
    if isSign("-") || token()?.kind == .dots {
      index += 1
      return true
    }
    return take(oneOf: .until)
  }

  /// Returns the bytes from a token to the last one before the cursor.
  func range(from start: Int) -> Range<Int> {
    let end = min(index, tokens.count)
    guard start < end else { return bytes.count..<bytes.count }
    return tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns the token as typed, in lower case.
  func lowered(_ ahead: Int) -> String { token(ahead).map { text($0.range).lowercased() } ?? "" }

  func isDigit(_ place: Int) -> Bool { (0x30...0x39).contains(bytes[place]) }

  func quoted(_ range: Range<Int>) -> String { context.isQuiet ? "" : "\"\(excerpt(text(range), limit: 40))\"" }

  // MARK: Faults

  /// Returns the fault for a token that is not part of a time, or that repeats a part.
  func stuck() -> Fault {
    guard let token = token() else {
      return Fault(range: bytes.count..<bytes.count, problem: "the end of the schedule is missing", expected: example)
    }
    return Fault(
      range: token.range, problem: "\(quoted(token.range)) was not understood as part of the time", expected: example)
  }

  private var example: String { "a schedule like \"tomorrow at 9\", \"every weekday at 8:30\" or \"in 25 minutes\"" }

  /// Returns the fault for a second part that contradicts the first.
  func twice(_ range: Range<Int>) -> Fault {
    Fault(
      range: range, problem: "\(quoted(range)) does not fit the words before it",
      expected: "one day, one time and one word for how often, as in \"every fri at 9\"")
  }

  /// Returns the fault for ambiguous words. Each choice is a replacement text with one meaning.
  func ambiguous(_ range: Range<Int>, _ choices: [String]) -> Fault {
    var fault = Fault(
      range: range, problem: "\(quoted(range)) is ambiguous",
      expected: choices.map { "\"\($0)\"" }.joined(separator: " or "))
    fault.isMeaning = true
    fault.choices = choices.map { .init(range, $0) }
    return fault
  }

  /// Returns the fault for words that are understood but make no sense together.
  func senseless(
    _ range: Range<Int>, _ problem: String, expected: String, code: ScheduleError.Code = .invalidSchedule
  ) -> Fault {
    var fault = Fault(code: code, range: range, problem: problem, expected: expected)
    fault.isMeaning = true
    return fault
  }
}
