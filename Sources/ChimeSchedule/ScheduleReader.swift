/// From text to schedule: tells the dialect by its prefix or shape, and puts faults into words.
enum ScheduleReader {
  /// How many faults of one text are mended to arrive at a suggestion.
  private static let mostRepairs = 3
  /// No suggestion is worked out for longer texts.
  private static let longestMended = 256

  /// Without an anchor only text that names all its moments itself is understood.
  static func read(_ text: String, anchor: PhraseAnchor?) throws(ScheduleError) -> Schedule {
    do {
      return try understand(text, anchor)
    } catch {
      throw describe(error, text, anchor)
    }
  }

  private static func understand(_ text: String, _ anchor: PhraseAnchor?) throws(Fault) -> Schedule {
    var parser = PhraseParser(text, anchor: anchor)
    try parser.lexer.start()
    try refuseOtherDialects(parser.lexer)
    let schedule = Schedule(phrase: try parser.phrase())
    guard let anchor, schedule.timetable(in: anchor.zone).next(after: anchor.now) == nil else { return schedule }
    throw neverOccurs(schedule, anchor, end: parser.lexer.bytes.count)
  }

  /// The shapes of dialects that are not understood yet.
  private static func refuseOtherDialects(_ lexer: Lexer) throws(Fault) {
    let prefix = lexer.bytes.drop { $0 == 0x20 }.prefix(9).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    let dialect: String
    if prefix.starts(with: "cron:".utf8) || prefix.first == UInt8(ascii: "@") {
      dialect = "cron"
    } else if prefix.starts(with: "calendar:".utf8) {
      dialect = "calendar"
    } else if ["rrule:", "dtstart", "freq=", "rdate"].contains(where: { prefix.starts(with: $0.utf8) }) {
      dialect = "rrule"
    } else if looksLikeCron(lexer) {
      dialect = "cron"
    } else {
      return
    }
    throw Fault(range: lexer.token.range, problem: "the \(dialect) dialect is not known yet", expected: "a phrase")
  }

  /// Whether the text is made of five or more short fields of digits and cron's signs.
  private static func looksLikeCron(_ lexer: Lexer) -> Bool {
    guard lexer.bytes.count <= 128, lexer.token.kind == .number || lexer.token.kind == .sign(UInt8(ascii: "*")) else {
      return false
    }
    let fields = lexer.bytes.split(separator: 0x20)
    return fields.count >= 5
      && fields.prefix(4).allSatisfy { $0.allSatisfy { (0x30...0x39).contains($0) || "*/,-".utf8.contains($0) } }
  }

  private static func neverOccurs(_ schedule: Schedule, _ anchor: PhraseAnchor, end: Int) -> Fault {
    let now = "now it is \(RFC3339.format(anchor.now, in: anchor.zone))"
    guard case .phrase(let phrase) = schedule.rule else {
      return Fault(code: .neverOccurs, range: end..<end, problem: "it has no occurrence ahead (\(now))")
    }
    if case .once(let moment) = phrase.pattern {
      return Fault(
        code: .neverOccurs, range: end..<end, problem: "\(moment) has passed (\(now))", expected: "a moment ahead")
    }
    if let until = phrase.bounds.until, schedule.lacksOccurrences(before: until, anchor) {
      return Fault(
        code: .neverOccurs, range: end..<end,
        problem: "it has no occurrence between now and its end, \(until) (\(now))",
        expected: "an occurrence ahead")
    }
    return Fault(
      code: .neverOccurs, range: end..<end, problem: "its bounds leave no occurrence ahead (\(now))",
      expected: "an occurrence ahead")
  }

  private static func describe(_ fault: Fault, _ text: String, _ anchor: PhraseAnchor?) -> ScheduleError {
    let bytes = Array(text.utf8.prefix(Schedule.maximumLength + 1))
    let shown = excerpt(text)
    let column =
      fault.code == .neverOccurs && fault.range.lowerBound == bytes.count
      ? nil : ChimeSchedule.column(of: fault.range.lowerBound, in: bytes)
    return ScheduleError(
      code: fault.code, text: shown, column: column, expected: fault.expected,
      suggestion: bytes.count <= longestMended ? mended(bytes, fault, anchor) : nil,
      message: fault.sentence(text: shown, column: column))
  }

  /// The text with its faults mended one after the other, if that gives a schedule.
  private static func mended(_ bytes: [UInt8], _ fault: Fault, _ anchor: PhraseAnchor?) -> String? {
    var bytes = bytes
    var fault = fault
    for _ in 0..<mostRepairs {
      guard let repair = fault.repair else { return nil }
      bytes.replaceSubrange(repair.range, with: Array(repair.replacement.utf8))
      let text = String(decoding: bytes, as: UTF8.self)
      do {
        _ = try understand(text, anchor)
        return text
      } catch {
        fault = error
      }
    }
    return nil
  }
}

extension Schedule {
  /// Whether the end alone keeps a phrase from occurring after now.
  fileprivate func lacksOccurrences(before until: Phrase.Moment, _ anchor: PhraseAnchor) -> Bool {
    guard case .phrase(var phrase) = rule else { return false }
    phrase.bounds.until = nil
    return Schedule(phrase: phrase).timetable(in: anchor.zone).next(after: anchor.now) != nil
  }
}
