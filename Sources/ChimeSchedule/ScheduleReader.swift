/// The ScheduleReader parses schedules. It recognizes the dialect by prefix or shape, and puts faults into words.
enum ScheduleReader {
  /// How many faults of one text are repaired to find a suggestion.
  private static let mostRepairs = 3
  /// The longest text, in bytes, for which a suggestion is computed.
  private static let longestMended = 256
  /// The longest text, in bytes, that is parsed as spoken language.
  private static let longestSpoken = 1_024

  /// Parses text. Without a context it accepts only text that names all its moments.
  static func read(_ text: String, context: ParseContext?) throws(ScheduleError) -> Schedule {
    do {
      return try understand(text, context)
    } catch {
      throw describe(error, text, context)
    }
  }

  /// Parses text in English, or else in the language of the context.
  ///
  /// - Returns: The English text as well.
  static func readSpoken(_ text: String, context: ParseContext) throws(ScheduleError) -> (
    text: String, schedule: Schedule
  ) {
    if let found = understood(text, context: context) { return found }
    do {
      let schedule = try understand(text, context)
      return (schedule.chain?.canonical ?? text, schedule)
    } catch {
      let language = context.scheduleContext.language
      var described: ScheduleError?
      if let english = language?.english(text) {
        do {
          return (english.text, try understand(english.text, context))
        } catch {
          described = english.isSure ? describe(error, english, typed: text, context) : nil
        }
      }
      var refusal = described ?? describe(error, text, context)
      if refusal.suggestion == nil, refusal.choices.isEmpty, let respelt = language?.respelt(text),
        let english = language?.english(respelt), (try? understand(english.text, context)) != nil
      {
        refusal.suggestion = respelt
      }
      throw refusal
    }
  }

  /// Parses as ``readSpoken(_:context:)`` does, but gives no reason for a failure. Composing one costs more than parsing.
  static func understood(_ text: String, context: ParseContext) -> (text: String, schedule: Schedule)? {
    attempt(text, context: context).found
  }

  /// Parses as ``understood(_:context:)`` does. On failure it returns the byte at which parsing stopped: no text that
  /// starts with the same bytes and continues past this point can be parsed.
  static func attempt(_ text: String, context: ParseContext) -> (found: (text: String, schedule: Schedule)?, stop: Int?)
  {
    var context = context
    context.isQuiet = true
    var stop: Int?
    do {
      let schedule = try understand(text, context)
      return ((schedule.chain?.canonical ?? text, schedule), nil)
    } catch {
      stop = error.stop
    }
    guard let english = context.scheduleContext.language?.english(text)?.text else { return (nil, stop) }
    guard let schedule = try? understand(english, context) else { return (nil, nil) }
    return ((english, schedule), nil)
  }

  /// Returns the bytes of a text, cut off one byte past the limit. Copying a whole text is faster than byte by byte.
  private static func bytes(of text: String) -> [UInt8] {
    let longest = Schedule.maximumLength
    return text.utf8.count <= longest ? Array(text.utf8) : Array(text.utf8.prefix(longest + 1))
  }

  /// Returns whether the text means something else at another time. It parses the text again for an earlier time that
  /// differs in weekday, day of the month, day of the year and hour.
  static func countsFromNow(_ text: String, _ schedule: Schedule, _ context: ParseContext) -> Bool {
    let before = Milliseconds.days(401) + .minutes(77)
    guard text != schedule.canonical, schedule.rule.schedule.hasStart, context.now.milliseconds > before.rawValue else {
      return false
    }
    var other = context
    other.now = context.now - before
    other.isQuiet = true
    return (try? rule(bytes(of: text), other))?.schedule.canonical != schedule.canonical
  }

  private static func understand(_ text: String, _ context: ParseContext?) throws(Fault) -> Schedule {
    let bytes = bytes(of: text)
    try need(
      bytes.count <= Schedule.maximumLength, .outOfRange, at: 0..<0,
      "the text is longer than \(Schedule.maximumLength) bytes", expected: "a shorter one")
    let schedule = Schedule(try rule(bytes, context))
    // A schedule that counts from another reminder has no times until that reminder has an outcome.
    guard let context, schedule.chain == nil else { return schedule }
    if let name = schedule.zoneIdentifier, context.scheduleContext.zone(named: name) == nil {
      let start = bytes.indices.first { bytes[$0...].starts(with: name.utf8) } ?? 0
      var fault = Fault(
        range: start..<start + name.utf8.count, problem: "this machine has no time zone \"\(excerpt(name))\"",
        expected: "a name like Europe/Prague")
      fault.isElsewhere = true
      throw fault
    }
    let finding = schedule.timetable(in: context.scheduleContext).finding(after: context.now)
    if let burden = finding.burden { throw tooCostly(schedule, burden, end: bytes.count) }
    guard finding.next == nil else { return schedule }
    throw neverOccurs(schedule, context, end: bytes.count)
  }

  private static func rule(_ bytes: [UInt8], _ context: ParseContext?) throws(Fault) -> Schedule.Rule {
    if let chain = try Chain.read(bytes, context) { return .chain(chain) }
    return switch dialect(of: bytes) {
    case .phrase: .phrase(try phrase(bytes, context))
    case .cron: .cron(try CronSchedule(bytes, context: context))
    case .calendar: .calendar(try CalendarSchedule(bytes, context: context))
    case .rrule: .rrule(try RecurrenceSchedule(bytes, context: context))
    case .solar: try solar(bytes, context)
    }
  }

  /// Returns a fault that names the costly rule and says what to do about it.
  static func tooCostly(_ schedule: Schedule, _ burden: Timetable.Burden, end: Int) -> Fault {
    func rule(_ index: Int) -> String {
      guard case .rrule(let recurrence) = schedule.rule, recurrence.rules.indices.contains(index) else { return "" }
      var text = RecurrenceText()
      recurrence.rules[index].write(into: &text)
      return excerpt(text.string, limit: 200)
    }
    let problem: String
    let expected: String
    switch burden {
    case .never(let index):
      problem = "the rule \(rule(index)) never has a time"
      expected = "the other rules alone; remove this one, or change its limits"
    case .uncountable:
      problem = "counting off its occurrences takes too long"
      expected = "a smaller number, or a last day in its place"
    case .tooCostly:
      problem = "it comes so rarely, if ever, that the search for its next time takes too long"
      expected = "fewer rules, or fewer limits in them"
    }
    return Fault(code: .tooCostly, range: end..<end, problem: problem, expected: expected)
  }

  /// Parses a schedule of the sun. `before` is one of its words, so this also reads spoken text such as a day before
  /// another, or a length of time before the event.
  private static func solar(_ bytes: [UInt8], _ context: ParseContext?) throws(Fault) -> Schedule.Rule {
    do {
      return .solar(try SolarSchedule(bytes, context: context))
    } catch {
      guard let context, bytes.count <= longestSpoken, var parser = try? SpokenParser(bytes, context: context) else {
        throw error
      }
      if let written = parser.solarText(), let schedule = try? SolarSchedule(Array(written.utf8), context: context) {
        return .solar(schedule)
      }
      do {
        return .phrase(try parser.phrase())
      } catch let spoken {
        // Most texts with "before" are not about the sun. One that starts with a length of time may be.
        let isOfSun = SolarWord.isNamed(in: bytes) || parser.tokens.first?.kind == .number
        throw spoken.choices.isEmpty && isOfSun ? error : spoken
      }
    }
  }

  /// Parses a phrase. For a calendar expression or a piece of a calendar file, the fault says so.
  private static func phrase(_ bytes: [UInt8], _ context: ParseContext?) throws(Fault) -> Phrase {
    do {
      return try Phrase(bytes, context: context)
    } catch {
      var fault = error
      if let context, bytes.count <= longestSpoken, !fault.isMeaning, fault.code != .outOfRange {
        do {
          var parser = try SpokenParser(bytes, context: context)
          return try parser.phrase()
        } catch {
          guard !context.isQuiet else {
            var error = error
            error.stop = error.stop.map { max($0, endOfWord(1, behind: fault.range.upperBound, in: bytes)) }
            throw error
          }
          // A fault of meaning tells more than an unknown word, and so does a fault further on. A misspelled word tells most.
          let isBetter = error.isMeaning || error.range.lowerBound > fault.range.lowerBound
          let isPlain = fault.repair == nil && fault.code == .invalidSchedule
          if isPlain && isBetter && !fault.isConclusive || !error.choices.isEmpty {
            fault = error
          } else if isBetter, fault.repair != nil, !fault.isConclusive {
            fault.otherwise = [error]
          }
        }
      }
      guard fault.repair == nil, !fault.isMeaning, context?.isQuiet != true, bytes.count <= longestMended else {
        throw fault
      }
      if bytes.starts(with: "BEGIN:V".utf8) {
        fault.problem = "this is a part of a calendar file"
        fault.expected = "only its DTSTART and RRULE lines; whole files are imported (chime import FILE)"
        throw fault
      }
      let text = "calendar: \(String(decoding: bytes, as: UTF8.self))"
      if (try? CalendarSchedule(Array(text.utf8), context: nil)) != nil {
        fault.repair = .init(0..<0, "calendar: ", shown: excerpt(text))
      }
      throw fault
    }
  }

  /// Returns where the word that lies `count` words after a byte ends.
  private static func endOfWord(_ count: Int, behind start: Int, in bytes: [UInt8]) -> Int {
    var (end, count) = (start, count)
    while end < bytes.count, count > 0 || bytes[end] > 0x20 {
      if bytes[end] <= 0x20 { count -= 1 }
      end += 1
    }
    return end
  }

  /// Recognizes the dialect by prefix or shape. Everything else counts as a phrase, and its errors are those of a phrase.
  static func dialect(of bytes: [UInt8]) -> Dialect {
    let text = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let prefix = text.prefix(16).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    if prefix.starts(with: "cron:".utf8) { return .cron }
    // "@daily" is cron; "@ 8" is a time.
    if prefix.first == UInt8(ascii: "@") {
      return prefix.dropFirst().first.map { $0 == 0x20 || (0x30...0x39).contains($0) } == true ? .phrase : .cron
    }
    if prefix.starts(with: "calendar:".utf8) { return .calendar }
    if RecurrenceSchedule.isLikely(prefix) { return .rrule }
    if CronParser.looksLikeCron(text) { return .cron }
    return SolarWord.mark(text) ? .solar : .phrase
  }

  private static func neverOccurs(_ schedule: Schedule, _ context: ParseContext, end: Int) -> Fault {
    let now = "now it is \(RFC3339.format(context.now, in: context.zone))"
    let bounds: Phrase.Bounds
    switch schedule.rule {
    case .phrase(let phrase):
      if case .once(let moment) = phrase.pattern {
        return Fault(
          code: .neverOccurs, range: end..<end, problem: "\(moment) has passed (\(now))", expected: "a future moment")
      }
      bounds = phrase.bounds
    case .solar(let solar): bounds = solar.bounds
    case .cron, .calendar, .rrule, .chain:
      return Fault(code: .neverOccurs, range: end..<end, problem: "it has no future occurrence (\(now))")
    }
    if let until = bounds.until, isCutShort(schedule, context) {
      return Fault(
        code: .neverOccurs, range: end..<end,
        problem: "it has no occurrence between now and its end, \(until) (\(now))",
        expected: "a future occurrence")
    }
    return Fault(
      code: .neverOccurs, range: end..<end, problem: "its bounds leave no future occurrence (\(now))",
      expected: "a future occurrence")
  }

  /// Turns a fault into an error, with a suggestion if there is one.
  static func describe(_ fault: Fault, _ text: String, _ context: ParseContext?) -> ScheduleError {
    let bytes = bytes(of: text)
    let shown = excerpt(text)
    let column =
      (fault.code == .neverOccurs || fault.code == .tooCostly) && fault.range.lowerBound == bytes.count
      ? nil : ChimeSchedule.column(of: fault.range.lowerBound, in: bytes)
    let isShort = bytes.count <= longestMended
    let suggestion = isShort ? mended(bytes, fault, context) : nil
    if suggestion == nil, let other = fault.otherwise.first { return describe(other, text, context) }
    var fault = fault
    // A suggestion that would be refused, or would mean something else, is dropped.
    if suggestion == nil { fault.repair = nil }
    let choices = isShort ? fault.choices.compactMap { chosen(bytes, $0, context) } : []
    if choices.isEmpty {
      fault.choices = []
      if suggestion == nil, isShort, let context { fault.expected = withExample(fault, bytes, context) }
    }
    var error = ScheduleError(
      code: fault.code, text: shown, column: column, expected: fault.expected, suggestion: suggestion,
      message: fault.sentence(text: shown, column: column))
    error.choices = choices
    return error
  }

  /// Returns what was expected with a valid example of that kind, unless the text already has one.
  private static func withExample(_ fault: Fault, _ bytes: [UInt8], _ context: ParseContext) -> String {
    guard !fault.isElsewhere, [.phrase, .solar].contains(dialect(of: bytes)) else { return fault.expected }
    var context = context
    context.isQuiet = true
    func isSchedule(_ text: some StringProtocol) -> Bool { (try? understand(String(text), context)) != nil }
    // Every second piece is inside quotes.
    let named = fault.expected.split(separator: "\"", omittingEmptySubsequences: false).enumerated().count {
      $0.offset % 2 == 1 && isSchedule($0.element)
    }
    let example = SpokenExample(bytes).candidates.first(where: isSchedule)
    // Three examples are of any kind: the parser understood nothing.
    if named >= 3 { return example.map { "a schedule like \"\($0)\"" } ?? fault.expected }
    guard named == 0 else { return fault.expected }
    let text = "for example \"\(example ?? SpokenExample.any)\""
    return fault.expected.isEmpty ? text : "\(fault.expected); \(text)"
  }

  /// Turns a fault of a translated text into an error that shows the text as typed, with its column.
  private static func describe(
    _ fault: Fault, _ english: SpokenLanguage.English, typed: String, _ context: ParseContext
  ) -> ScheduleError {
    let error = describe(fault, english.text, context)
    let (read, bytes) = (bytes(of: english.text), bytes(of: typed))
    let place = english.typed(fault.range).flatMap { $0.upperBound <= bytes.count ? $0 : nil }
    let shown = excerpt(typed)
    let column = error.column == nil ? nil : place.map { ChimeSchedule.column(of: $0.lowerBound, in: bytes) }
    var message = error.message
    if message.hasPrefix(error.text) { message = shown + message.dropFirst(error.text.count) }
    if let place, fault.range.upperBound <= read.count {
      func quoted(_ bytes: ArraySlice<UInt8>) -> String { "\"\(excerpt(String(decoding: bytes, as: UTF8.self)))\"" }
      message = message.replacing(quoted(read[fault.range]), with: quoted(bytes[place]))
    }
    if let column = error.column { message = message.replacing(" (column \(column))", with: "", maxReplacements: 1) }
    if let column, let end = message.firstRange(of: ";")?.lowerBound {
      message.insert(contentsOf: " (column \(column))", at: end)
    }
    var result = ScheduleError(
      code: error.code, text: shown, column: column, expected: error.expected, suggestion: error.suggestion,
      message: message)
    result.choices = error.choices
    return result
  }

  /// Returns the text with one reading chosen, or `nil` if that is not a schedule.
  private static func chosen(_ bytes: [UInt8], _ choice: Fault.Repair, _ context: ParseContext?) -> String? {
    var bytes = bytes
    bytes.replaceSubrange(choice.range, with: Array(choice.replacement.utf8))
    let text = String(decoding: bytes, as: UTF8.self)
    return (try? understand(text, context)) == nil ? nil : text
  }

  /// Repairs the faults one after the other. The result must be a schedule that keeps every number and day of the text.
  private static func mended(_ original: [UInt8], _ fault: Fault, _ context: ParseContext?) -> String? {
    var bytes = original
    var fault = fault
    for _ in 0..<mostRepairs {
      guard let repair = fault.repair else { return nil }
      bytes.replaceSubrange(repair.range, with: Array(repair.replacement.utf8))
      let text = String(decoding: bytes, as: UTF8.self)
      // The next fault points into this text. It is longer if the bytes of a crontab were not UTF-8.
      bytes = Array(text.utf8)
      do {
        _ = try understand(text, context)
        guard [.phrase, .solar].contains(dialect(of: original)) else { return text }
        return HintFacts(original).areKept(by: HintFacts(bytes)) ? text : nil
      } catch {
        fault = error
      }
    }
    return nil
  }

  /// Returns whether the schedule would occur after now if it had no end.
  private static func isCutShort(_ schedule: Schedule, _ context: ParseContext) -> Bool {
    let endless: Schedule
    switch schedule.rule {
    case .phrase(var phrase):
      phrase.bounds.until = nil
      endless = Schedule(.phrase(phrase))
    case .solar(var solar):
      solar.bounds.until = nil
      endless = Schedule(.solar(solar))
    case .cron, .calendar, .rrule, .chain: return false
    }
    return endless.timetable(in: context.scheduleContext).next(after: context.now) != nil
  }
}
