/// A SolarParser parses the solar dialect by recursive descent without backtracking, with the words, days and bounds of
/// phrases. The grammar in `docs/schedules.md` has the same parts in the same order.
struct SolarParser {
  private var phrase: PhraseParser
  private let context: ParseContext?
  private static let expectedEvent = "an event like sunset, civil dawn or solar noon"

  init(_ bytes: [UInt8], context: ParseContext?) {
    phrase = PhraseParser(bytes, context: context)
    self.context = context
  }

  /// Parses `solar = [ days ] [ "at" ] moment [ days ] { bound }` to the end of the text.
  mutating func schedule() throws(Fault) -> SolarSchedule {
    try phrase.lexer.start()
    var days = try leadingDays()
    _ = try phrase.lexer.skip(.at)
    var schedule = SolarSchedule(event: .noon)
    let start = phrase.lexer.token.range
    try readMoment(into: &schedule)
    let named = start.lowerBound..<phrase.lexer.previousEnd
    if days == nil { days = try trailingDays() }
    schedule.days = days ?? .everyDay
    let bounds = phrase.lexer
    try phrase.readBounds(into: &schedule.bounds)
    guard phrase.lexer.token.kind == .end else { throw trailing() }
    if let count = schedule.bounds.count, count > SolarSchedule.largestCount { throw tooMany(count, bounds) }
    if schedule.bounds.count != nil, schedule.bounds.starting == nil {
      guard let context else { throw phrase.needsNow(0..<0) }
      schedule.bounds.starting = .instant(Instant(seconds: context.second + 1))
    }
    if let context, context.scheduleContext.place == nil {
      var fault = Fault(
        range: named,
        problem: "the sun needs a place: set [place] latitude and longitude in chimed.toml or give --place",
        expected: "one, as in --place 50.0875,14.4213")
      fault.isElsewhere = true
      throw fault
    }
    return schedule
  }

  // MARK: Days

  /// Parses days before the event: `daily`, `every day`, `every fri`, `weekdays`, or `every` alone.
  private mutating func leadingDays() throws(Fault) -> WeekdaySet? {
    let start = phrase.lexer.token
    switch start.keyword {
    case .every:
      try phrase.lexer.advance()
      if try phrase.lexer.skip(.unit(.day)) { return .everyDay }
      if phrase.isDays { return try phrase.days().set }
      guard phrase.lexer.token.kind == .number || word == nil else { return .everyDay }
      throw Fault(
        range: phrase.lexer.token.range, problem: "an interval cannot follow the sun",
        expected: "days like \"every fri\" before the event, or a window between times of the clock")
    case .on:
      try phrase.lexer.advance()
      if !phrase.isDays { throw single(start.range) }
      return try recurring()
    case .today, .tomorrow, .now, .month, .in: throw single(start.range)
    default: break
    }
    if phrase.isDays { return try recurring() }
    if phrase.isDate { throw single(start.range) }
    return nil
  }

  /// Parses days before the event without `every`. A single day would mean one moment, as in a phrase.
  private mutating func recurring() throws(Fault) -> WeekdaySet {
    let first = phrase.lexer.token
    let days = try phrase.days()
    guard !days.isRecurring, case .weekday(let day, _) = first.keyword else { return days.set }
    throw Fault(
      range: first.range, problem: "a schedule by the sun recurs, but a single day does not",
      expected: "\"every\" before the day",
      repair: .init(first.range.lowerBound..<first.range.lowerBound, "every ", shown: "every \(day.abbreviation)"))
  }

  /// Parses days after the event: `on fri`, `every fri`, `daily`.
  private mutating func trailingDays() throws(Fault) -> WeekdaySet? {
    switch phrase.lexer.keyword {
    case .every:
      try phrase.lexer.advance()
      if try phrase.lexer.skip(.unit(.day)) { return .everyDay }
      return try phrase.days().set
    case .on:
      let start = phrase.lexer.token.range
      try phrase.lexer.advance()
      if phrase.isDate { throw single(start) }
      return try phrase.days().set
    case .today, .tomorrow, .now: throw single(phrase.lexer.token.range)
    default: return phrase.isDays ? try phrase.days().set : nil
    }
  }

  private func single(_ range: Range<Int>) -> Fault {
    Fault(
      range: range, problem: "a schedule by the sun recurs, but a date does not",
      expected: "days of the week, or the date after \"starting\" and \"until\"")
  }

  // MARK: Events

  /// Parses `event [ ( "+" | "-" ) duration ]`, or `duration ( "before" | "after" ) event`.
  private mutating func readMoment(into schedule: inout SolarSchedule) throws(Fault) {
    guard phrase.lexer.token.kind == .number || phrase.lexer.keyword == .article else {
      schedule.event = try event()
      guard let sign = try sign() else { return }
      schedule.shift = try sign * shift()
      return
    }
    let shift = try shift()
    let isBefore = phrase.lexer.token.kind == .word && lowered == "before"
    guard isBefore || phrase.lexer.keyword == .after else {
      throw phrase.misspelt(
        "cannot join a duration and the sun", expected: "\"before\" or \"after\"", among: ["before", "after"])
    }
    try phrase.lexer.advance()
    schedule.event = try event()
    schedule.shift = isBefore ? -shift : shift
    if let sign = phrase.lexer.token.sign {
      throw Fault(
        range: phrase.lexer.token.range, problem: "there is a second shift (\(sign))", expected: "one shift")
    }
  }

  /// Parses `( "civil" | "nautical" | "astronomical" ) ( "dawn" | "dusk" ) | "sunrise" | "sunset" | … | "solar" "noon"`.
  private mutating func event() throws(Fault) -> SolarEvent {
    guard let word else {
      if phrase.lexer.keyword == .noon {
        let start = phrase.lexer.token.range.lowerBound
        throw Fault(
          range: phrase.lexer.token.range, problem: "\(phrase.lexer.quoted) is a clock time",
          expected: SolarParser.expectedEvent, repair: .init(start..<start, "solar ", shown: "solar noon"))
      }
      throw phrase.misspelt(
        "is not an event of the sun", expected: SolarParser.expectedEvent, among: SolarWord.names)
    }
    try phrase.lexer.advance()
    switch word {
    case .event(let event): return event
    case .solar:
      guard try phrase.lexer.skip(.noon) else {
        throw phrase.misspelt("cannot follow \"solar\"", expected: "\"noon\"", among: ["noon"])
      }
      return .noon
    case .depth(let depth):
      guard case .event(let event) = self.word, event == .dawn || event == .dusk else {
        throw phrase.misspelt(
          "has no such twilight", expected: "\"dawn\" or \"dusk\"", among: ["dawn", "dusk"])
      }
      try phrase.lexer.advance()
      switch (event, depth) {
      case (.dawn, 12): return .nauticalDawn
      case (.dawn, 18): return .astronomicalDawn
      case (.dusk, 12): return .nauticalDusk
      case (.dusk, 18): return .astronomicalDusk
      default: return event
      }
    }
  }

  private mutating func shift() throws(Fault) -> Int64 {
    let start = phrase.lexer.token.range.lowerBound
    let duration = try phrase.lexer.duration(article: true)
    let range = start..<phrase.lexer.previousEnd
    try need(
      duration.rawValue % 1_000 == 0, .outOfRange, at: range, "a shift has whole seconds",
      expected: "a duration like 30m")
    try need(
      duration.rawValue / 1_000 <= SolarSchedule.longestShift, .outOfRange, at: range,
      "\(phrase.lexer.quoted(range)) is too far from the sun's event",
      expected: "at most 12h, or the event of another day")
    return duration.rawValue / 1_000
  }

  private mutating func sign() throws(Fault) -> Int64? {
    guard let sign = phrase.lexer.token.sign ?? (lowered == "\u{2212}" ? "-" : nil) else { return nil }
    try phrase.lexer.advance()
    return sign == "-" ? -1 : 1
  }

  private func tooMany(_ count: Int, _ bounds: Lexer) -> Fault {
    var lexer = bounds
    while lexer.token.value != count || lexer.peek()?.keyword != .times, lexer.token.kind != .end {
      do { try lexer.advance() } catch { break }
    }
    return Fault(
      code: .outOfRange, range: lexer.token.range,
      problem: "\(lexer.quoted) is not a possible number of times for the sun",
      expected: "a number from 1 to \(SolarSchedule.largestCount)")
  }

  // MARK: Words

  private var word: SolarWord? {
    phrase.lexer.token.kind == .word ? SolarWord(phrase.lexer.bytes[phrase.lexer.token.range]) : nil
  }

  /// The token in lower case, if it is short.
  private var lowered: String? {
    phrase.lexer.token.range.count <= 12 ? phrase.lexer.text(phrase.lexer.token.range).lowercased() : nil
  }

  /// Returns the fault for text after a complete schedule.
  private func trailing() -> Fault {
    if word != nil {
      return Fault(
        range: phrase.lexer.token.range, problem: "\(phrase.lexer.quoted) is a second event of the sun",
        expected: "one event; a second needs a schedule of its own")
    }
    return phrase.misspelt(
      "is not allowed here",
      expected:
        "a shift like \"- 30m\", days like \"on fri\", \"starting\", \"until\", \"except\", a number of times, or the end",
      among: Array(Keyword.bounds.keys) + ["on"])
  }
}

extension Lexer.Token {
  /// `+` or `-`; `nil` for other tokens.
  fileprivate var sign: Unicode.Scalar? {
    switch kind {
    case .sign(UInt8(ascii: "+")): "+"
    case .sign(UInt8(ascii: "-")): "-"
    default: nil
    }
  }
}
