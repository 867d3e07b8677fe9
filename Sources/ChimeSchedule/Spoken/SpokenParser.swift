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
  private mutating func readsParts() throws(Fault) -> Bool {
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

  /// Refuses words that are understood unless they make sense together.
  func needSense(
    _ rule: Bool, _ range: @autoclosure () -> Range<Int>, _ problem: @autoclosure () -> String, expected: String,
    code: ScheduleError.Code = .invalidSchedule
  ) throws(Fault) {
    guard rule else { throw senseless(range(), problem(), expected: expected, code: code) }
  }
}

extension SpokenParser {
  /// Combines all parsed parts into a phrase.
  private mutating func meaning() throws(Fault) -> Phrase {
    let whole = 0..<bytes.count
    if recurrence == nil, window != nil {
      throw senseless(
        window?.range ?? whole, "a part of the day needs an interval",
        expected: "how often, as in \"every 30m from 9 to 17 on weekdays\"")
    }
    guard let kind = recurrence?.kind else { return try once() }
    if let delay { throw twice(delay.range) }
    return try recurring(kind)
  }

  // MARK: Once

  private func once() throws(Fault) -> Phrase {
    try needSense(
      !isAfterDone, 0..<bytes.count, "only a recurring schedule can count from completion",
      expected: "a schedule like \"every 3 days after done at 9\"")
    if let boundRange {
      throw senseless(
        boundRange, "\(quoted(boundRange)) cannot be used with a single moment",
        expected: "a recurring schedule, as in \"every fri at 9\"")
    }
    try need(
      delay != nil || date != nil || part != nil || !times.isEmpty, at: 0..<bytes.count, "the schedule is missing",
      expected: "one like \"tomorrow at 9\"")
    try needSense(
      times.count <= 1, times[1].range, "a single moment has one time", expected: "one time, or days like \"daily\"")
    var date = date
    if let delay {
      guard let day = date else { return try delayed(delay.span, delay.range) }
      // "in 2 weeks on friday"
      guard case .weekday(let weekday) = day.kind, delay.span.isWeeks, delay.span.days <= 700 else {
        throw twice(day.range)
      }
      let words = min(day.range.lowerBound, delay.range.lowerBound)..<max(day.range.upperBound, delay.range.upperBound)
      let candidates = try self.weekday(weekday, in: delay.span, words)
      date = SpokenDate(candidates: candidates, kind: .fixed, range: words)
    }
    let (said, isNextDay) = try daytimes()
    guard let time = said.first else { return try nothingAhead() }
    var candidates = date?.candidates ?? (0...2).compactMap { today.adding(days: $0) }
    // Midnight "tonight" is the end of the day; midnight of a date is its beginning.
    let isMidnight = times.first.map { text($0.range).lowercased() == "midnight" } == true
    if date != nil, isNextDay || isMidnight && date?.kind == .today {
      candidates = candidates.compactMap { $0.adding(days: 1) }
    }
    for candidate in candidates {
      let civil = CivilDateTime(date: candidate, time: time)
      if context.isAhead(civil) || date?.kind == .fixed { return Phrase(pattern: .once(.civil(civil))) }
    }
    return try nothingAhead()
  }

  private func nothingAhead() throws(Fault) -> Phrase {
    let words = date?.range ?? 0..<bytes.count
    var fault = senseless(
      words, "\(quoted(words)) at that time has passed (now it is \(context.civil))", expected: "a future moment",
      code: .neverOccurs)
    if date?.kind == .today, part?.part != .tonight { fault.repair = .init(words, "tomorrow") }
    throw fault
  }

  private func delayed(_ span: Span, _ words: Range<Int>) throws(Fault) -> Phrase {
    if span.seconds > 0 {
      if let time = times.first {
        throw senseless(
          time.range, "\(quoted(time.range)) cannot be used with \(quoted(words))",
          expected: "one of the two, or days before the time, as in \"in 3 days at 9\"")
      }
      if let part {
        throw senseless(
          part.range, "\(quoted(part.range)) cannot be used with \(quoted(words))", expected: "one of the two")
      }
      guard let instant = instant(after: span) else { throw tooLate(words) }
      return Phrase(pattern: .once(.instant(instant)))
    }
    guard let date = moved(today, by: span) else { throw tooLate(words) }
    if times.isEmpty, part == nil {
      return Phrase(pattern: .once(.civil(CivilDateTime(date: date, time: context.civil.time))))
    }
    let (said, isNextDay) = try daytimes()
    guard let day = isNextDay ? date.adding(days: 1) : date else { throw tooLate(words) }
    return Phrase(pattern: .once(.civil(CivilDateTime(date: day, time: said[0]))))
  }

  private func tooLate(_ words: Range<Int>) -> Fault {
    senseless(words, "this is after the year 9999", expected: "a shorter time", code: .outOfRange)
  }

  /// Returns the instant after a duration, rounded up to a whole second so that it never comes early.
  func instant(after span: Span) -> Instant? {
    guard let days = moved(today, by: span) else { return nil }
    let shift = Int64(days.dayNumber - today.dayNumber) * 86_400
    let wall = context.civil.wallSeconds + shift
    // Add calendar days first, then elapsed time.
    let begin =
      shift == 0
      ? context.now.milliseconds : context.zone.table.instant(wall, gap: .shift, fold: .first) * 1_000
    let moment = begin + span.seconds * 1_000
    guard moment <= Instant.latest.milliseconds - 999 else { return nil }
    return Instant(milliseconds: (moment + 999) / 1_000 * 1_000)
  }

  // MARK: Recurring

  private mutating func recurring(_ kind: Recurrence) throws(Fault) -> Phrase {
    var kind = kind
    try takeDate(into: &kind)
    if let length { try end(after: length.span, length.range) }
    if let frequency, !isCounted(kind, frequency.count) { throw countedTimes(frequency.range) }
    if case .interval(let seconds, let days) = kind { return try interval(seconds, days) }
    if let window {
      throw senseless(
        window.range, "a part of the day needs an interval",
        expected: "how often, as in \"every 30m from 9 to 17 on weekdays\"")
    }
    takeTimeOfBound()
    var (said, _) = try daytimes()
    if isAfterDone { return try afterDone(kind, said) }
    if said.isEmpty { said = [context.words().day] }
    let days = try exceptions(of: try days(kind))
    return try settled(Phrase(pattern: .times(days, said), bounds: bounds))
  }

  /// Returns whether the number of times a day, days a week or days a month is `count`.
  private func isCounted(_ kind: Recurrence, _ count: Int) -> Bool {
    switch kind {
    case .weekdays(.everyDay): times.count == count
    case .weekdays(let days): days.rawValue.nonzeroBitCount == count
    case .dates(let dates): dates.groups.count == 1 && dates.groups.first?.selection.count == count
    default: false
    }
  }

  /// Uses the time of a bound for days without a time: `every other day starting tomorrow at 8`.
  private mutating func takeTimeOfBound() {
    guard times.isEmpty, part == nil else { return }
    let words = boundRange ?? 0..<bytes.count
    func take(_ civil: CivilDateTime) -> Phrase.Moment {
      times = [Clock(time: civil.time, isExact: true, range: words)]
      return .date(civil.date)
    }
    switch (bounds.starting, bounds.until) {
    case (.civil(let civil), nil), (.civil(let civil), .date): bounds.starting = take(civil)
    case (nil, .civil(let civil)), (.date, .civil(let civil)): bounds.until = take(civil)
    default: break
    }
  }

  /// Adds a separate day to a recurrence that lacks one: `on monday, every 2 weeks`.
  private mutating func takeDate(into kind: inout Recurrence) throws(Fault) {
    guard let found = date else { return }
    switch (kind, found.kind) {
    case (.weeks(let count, nil), .weekday(let day)):
      kind = count == 1 ? .weekdays(WeekdaySet(day)) : .weeks(count, WeekdaySet(day))
    case (.months(let count, nil), .dayOfMonth(let day)):
      var selection = MonthSelection()
      selection.insert(day: day, fromEnd: false)
      kind = count == 1 ? .dates(MonthDays(each: selection)) : .months(count, selection)
    case (.years(let count, nil), .monthDay(let month, let day)):
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      months[month - 1].insert(day: day, fromEnd: false)
      kind = count == 1 ? .dates(MonthDays(months)) : .years(count, MonthDays(months))
    case (.interval(let seconds, nil), .weekday(let day)): kind = .interval(seconds, .weekdays(WeekdaySet(day)))
    default:
      throw senseless(
        found.range, "\(quoted(found.range)) is a single day, and this recurs",
        expected: "one of the two, or the day after \"starting\", as in \"every 2 weeks starting tomorrow\"")
    }
  }

  /// The day from which a recurrence without its own days counts.
  private var firstDay: CivilDate {
    switch bounds.starting {
    case .date(let date): date
    case .civil(let civil): civil.date
    case .instant(let instant): context.zone.civil(at: instant).date
    case nil: today
    }
  }

  private func days(_ kind: Recurrence) throws(Fault) -> Phrase.Days {
    let words = recurrence?.range ?? 0..<bytes.count
    switch kind {
    case .weekdays(let days): return .weekdays(days)
    case .days(let count): return .days(every: count)
    case .weeks(let count, let days):
      let days = days ?? WeekdaySet(firstDay.weekday)
      return count == 1 ? .weekdays(days) : .weeks(every: count, days)
    case .months(let count, let selection):
      var selection = selection ?? MonthSelection()
      if selection.isEmpty {
        try needSense(
          firstDay.day <= 28, words, "not every month has a day \(firstDay.day)",
          expected: "the day, as in \"every month on the last day\" or \"every month on day \(firstDay.day)\"")
        selection.insert(day: firstDay.day, fromEnd: false)
      }
      return count == 1 ? .dates(MonthDays(each: selection)) : .months(every: count, selection)
    case .years(let count, let dates):
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      months[firstDay.month - 1].insert(day: firstDay.day, fromEnd: false)
      let dates = dates ?? MonthDays(months)
      return count == 1 ? .dates(dates) : .years(every: count, dates)
    case .dates(let dates): return .dates(dates)
    case .interval: return .weekdays(.everyDay)
    }
  }

  /// Removes the weekdays after `except`.
  private func exceptions(of days: Phrase.Days) throws(Fault) -> Phrase.Days {
    guard !exceptDays.isEmpty else { return days }
    guard case .weekdays(let set) = days else {
      throw senseless(
        boundRange ?? 0..<bytes.count, "days of the week cannot be left out of these days",
        expected: "dates, as in \"except 2026-12-24\", or a schedule by days of the week")
    }
    let rest = set.subtracting(exceptDays)
    try needSense(
      !rest.isEmpty, boundRange ?? 0..<bytes.count, "no day is left", expected: "fewer exceptions", code: .neverOccurs)
    return .weekdays(rest)
  }

  private mutating func interval(_ seconds: Int64, _ days: Phrase.Days?) throws(Fault) -> Phrase {
    let words = recurrence?.range ?? 0..<bytes.count
    try needSense(
      seconds >= 1, words, "an interval has whole seconds, and at least one", expected: "an interval of 1s or more",
      code: .outOfRange)
    if let time = times.first {
      throw senseless(
        time.range, "an interval takes no time of day",
        expected: "days, or a part of the day, as in \"every 2h from 8 to 18\"")
    }
    if let part {
      throw senseless(
        part.range, "an interval takes no time of day",
        expected: "a part of the day, as in \"every 2h from 8 to 12\"")
    }
    if isAfterDone {
      try needSense(
        days == nil && window == nil && exceptDays.isEmpty, words,
        "a schedule that counts from completion cannot be limited to days of the week",
        expected: "a schedule like \"every 4h after done\"")
      return try settled(Phrase(pattern: .elapsedAfterDone(seconds: seconds), bounds: bounds))
    }
    let kept = try exceptions(of: days ?? .weekdays(.everyDay))
    try needSense(
      seconds <= 86_400 || window == nil && kept == .weekdays(.everyDay), words,
      "an interval of more than a day fits neither days of the week nor a part of the day",
      expected: "an interval of at most 24h")
    guard let window else { return try settled(Phrase(pattern: .elapsed(seconds: seconds, kept), bounds: bounds)) }
    return try settled(
      Phrase(pattern: .window(seconds: seconds, from: window.from, to: window.to, kept), bounds: bounds))
  }

  private mutating func afterDone(_ kind: Recurrence, _ times: [CivilTime]) throws(Fault) -> Phrase {
    let count: Int? =
      switch kind {
      case .weekdays(.everyDay): 1
      case .days(let count): count
      case .weeks(let count, nil): count * 7
      default: nil
      }
    guard let count, exceptDays.isEmpty else {
      throw senseless(
        recurrence?.range ?? 0..<bytes.count, "only days, weeks or an interval can count from completion",
        expected: "a schedule like \"every 3 days after done at 9\"")
    }
    return try settled(Phrase(pattern: .daysAfterDone(count, times), bounds: bounds))
  }

  /// Ends the schedule after a duration such as `for 8 weeks`, on the last day of it.
  private mutating func end(after span: Span, _ words: Range<Int>) throws(Fault) {
    guard bounds.until == nil else { throw twice(words) }
    if span.seconds > 0 {
      guard let end = instant(after: span), bounds.starting == nil else {
        throw senseless(words, "the end of \(quoted(words)) is missing", expected: "\"until\" and a moment")
      }
      bounds.until = .instant(end)
      return
    }
    guard let end = moved(firstDay, by: span)?.adding(days: -1) else { throw tooLate(words) }
    bounds.until = .date(end)
  }

  private func settled(_ phrase: Phrase) throws(Fault) -> Phrase {
    var phrase = phrase
    phrase.bounds.except = CivilDate.merged(phrase.bounds.except)
    phrase.bounds.exceptCalendars = Set(phrase.bounds.exceptCalendars).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    var parser = PhraseParser(bytes, context: context)
    do {
      try parser.settle(&phrase, count: phrase.bounds.count == nil ? nil : boundRange ?? 0..<0)
    } catch {
      var fault = error
      fault.isMeaning = true
      throw fault
    }
    return phrase
  }

  /// Returns the next time at which the clock shows a time of day.
  func next(_ time: CivilTime) throws(Fault) -> CivilDateTime {
    for days in 0...2 {
      guard let date = today.adding(days: days) else { break }
      let civil = CivilDateTime(date: date, time: time)
      if context.isAhead(civil) { return civil }
    }
    throw tooLate(0..<bytes.count)
  }
}
