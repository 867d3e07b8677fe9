import ChimeControl
import ChimeSchedule
import ChimeWords

/// Splits the words of a command into title and time, and explains where that is ambiguous.
enum TitleAndTime {
  /// The help text shared by verbs that take title and time.
  static let rule = localizable(
    """
    Words about time that fit no schedule never become part of the title: the command refuses the line and suggests \
    corrections. It does not search for a time in quoted words that contain a space.
    """)

  /// The parsed parts of a line.
  struct Reading {
    var title: String
    /// The schedule, in English.
    var when: String
    var marks: QuickMarks
  }

  static func read(
    _ context: Context, _ words: [String], place: ScheduleLine.Place, verb: String, usage: String, now: Instant? = nil
  ) throws -> Reading {
    let (marks, words) = try QuickMarks.taken(from: words)
    let line = try scheduleLine(context, words, place: place, verb: verb, usage: usage, now: now)
    return Reading(title: line.title, when: line.text, marks: marks)
  }

  private static func scheduleLine(
    _ context: Context, _ words: [String], place: ScheduleLine.Place, verb: String, usage: String, now: Instant?
  ) throws -> ScheduleLine {
    let now = now ?? context.now
    let zone = try context.zone(context.line.value("tz") ?? "local")
    let scheduleContext = context.scheduleContext(in: zone, at: try DraftOptions.place(context.line)).withEverything
    do {
      return try ScheduleLine(words, place: place, now: now, in: scheduleContext)
    } catch {
      switch error {
      case .noWords: throw Failure.usage(localized("a time and a title are missing"), hint: usage)
      case .noTitle: throw Failure.usage(localized("a title is missing after the time"), hint: usage)
      case .noTime(nil, _): throw Failure.usage(localized("when? a schedule is missing"), hint: usage)
      case .noTime(let refusal?, let choices):
        var failure = Failure(refusal)
        if !choices.isEmpty {
          failure.hints = choices.map { localized("did you mean %1?", typed($0, verb)) }
        } else if failure.hints.isEmpty, failure.detail.isEmpty {
          failure.hints = [usage]
        }
        let words = try chosen(context, choices, failure, verb)
        return try scheduleLine(context, words, place: place, verb: verb, usage: usage, now: now)
      case .leftOver(let left):
        let words = try chosen(context, left.choices, failure(context, left, scheduleContext, verb, now), verb)
        return try scheduleLine(context, words, place: place, verb: verb, usage: usage, now: now)
      }
    }
  }

  /// Asks which of several lines is meant; rejects the line if nobody can be asked.
  private static func chosen(
    _ context: Context, _ choices: [[String]], _ failure: Failure, _ verb: String
  ) throws -> [String] {
    guard !choices.isEmpty, choices.count < 10, context.process.isInteractive, context.format == .human else {
      throw failure
    }
    context.note("chime: \(failure.message)")
    for line in failure.detail { context.note(line) }
    for (place, words) in choices.enumerated() { context.note("  \(place + 1)  \(typed(words, verb))") }
    let question = localized("Which one do you mean? 1 to %1; any other key adds nothing: ", choices.count)
    guard let key = context.process.key(after: question), let number = Int(String(decoding: [key], as: UTF8.self)),
      choices.indices.contains(number - 1)
    else {
      var refusal = Failure(status: .usage, message: localized("nothing was added"))
      refusal.hints = []
      throw refusal
    }
    return choices[number - 1]
  }

  /// Returns a line as typed in a shell.
  private static func typed(_ words: [String], _ verb: String) -> String {
    "chime \(verb) " + words.map { ShellText.quoted(TerminalSanitizer.line($0)) }.joined(separator: " ")
  }

  private static func failure(
    _ context: Context, _ left: ScheduleLine.LeftOver, _ scheduleContext: ScheduleContext, _ verb: String,
    _ now: Instant
  ) -> Failure {
    let next = left.schedule.timetable(in: scheduleContext).next(after: now)
    let moment = next.map { context.clock().text($0, in: scheduleContext.zone) } ?? left.schedule.canonical
    let message = localized(
      "\"%1\" means %2, but \"%3\" beside it is not understood", TerminalSanitizer.line(left.understood), moment,
      TerminalSanitizer.line(left.words))
    let lines = left.choices.map { typed($0, verb) }
    let hints =
      lines.isEmpty
      ? [
        localized(
          "put the title in quotes, with its words about time: chime add \"the title\" %1",
          TerminalSanitizer.line(left.understood))
      ]
      : lines.map { localized("did you mean %1?", $0) }
    guard let error = left.error else { return Failure(status: .usage, message: message, hints: hints) }
    var failure = Failure(error)
    if error.suggestion == nil, !lines.isEmpty { failure.hints = hints }
    return failure
  }
}
