import ChimeSchedule
import ChimeWords

/// `chime in LENGTH TITLE`
enum In {
  static let verb = Verb(
    name: "in", group: .set, arguments: ["LENGTH TITLE…"], summary: "Set a reminder for a while from now",
    details: ["As many of the first words as make a length of time are the length; the rest is the title."],
    options: Adding.options,
    examples: [.init(command: "chime in 25m \"Tea\""), .init(command: "chime in 1h 30m Take the bread out")],
    alsoTried: ["timer", "after"], json: "as `add`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let split = try TimeAndTitle.split(context, usage: Words.say("chime in 25m \"Tea\"")) { words in
      let text = words.joined(separator: " ")
      return ["in \(text)", "in \(words.joined())", text]
    }
    return try Adding.add(context, title: split.title, when: split.when)
  }
}

/// `chime at TIME TITLE`
enum At {
  static let verb = Verb(
    name: "at", group: .set, arguments: ["TIME TITLE…"], summary: "Set a reminder for a time",
    details: ["As many of the first words as make a time are the time; the rest is the title."],
    options: Adding.options,
    examples: [
      .init(command: "chime at 18:30 \"Call home\""), .init(command: "chime at tomorrow 9:00 Water the plants"),
      .init(command: "chime at 2026-12-01 09:00 \"Dentist\""),
    ],
    alsoTried: ["on"], json: "as `add`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let split = try TimeAndTitle.split(context, usage: Words.say("chime at 18:30 \"Call home\"")) { words in
      let text = words.joined(separator: " ")
      let last = words.last ?? ""
      let parted = (words.dropLast() + ["at", last]).joined(separator: " ")
      return ["at \(text)", text] + (words.count > 1 ? [parted] : [])
    }
    return try Adding.add(context, title: split.title, when: split.when)
  }
}

/// Tells where a time ends and a title begins: the time is the longest run of leading words that is a schedule.
enum TimeAndTitle {
  /// - Parameter forms: the schedules that some words may stand for, the likeliest first.
  static func split(
    _ context: Context, usage: String, forms: ([String]) -> [String]
  ) throws -> (when: String, title: String) {
    var words = context.line.words
    // One quoted argument works too.
    if words.count == 1 { words = words[0].split(whereSeparator: \.isWhitespace).map(String.init) }
    guard !words.isEmpty else { throw Failure.usage(Words.say("a time and a title are missing"), hint: usage) }
    let zone = try context.zone(context.line.value("tz") ?? "local")
    let surroundings = context.surroundings(in: zone, at: try DraftOptions.place(context.line)).withEverything
    var refusal: ScheduleError?
    // No time has more words than this, however long the title is.
    for count in stride(from: min(words.count, 12), through: 1, by: -1) {
      for form in forms(Array(words.prefix(count))) {
        do {
          _ = try Schedule.parse(form, now: context.now, in: surroundings)
        } catch {
          if count == 1, refusal == nil || error.code == .neverOccurs { refusal = error }
          continue
        }
        let title = trimmed(words.dropFirst(count).joined(separator: " "))
        guard !title.isEmpty else { throw Failure.usage(Words.say("a title is missing after the time"), hint: usage) }
        return (form, title)
      }
    }
    if let refusal { throw Failure(refusal) }
    throw Failure.usage(Words.say("the time was not understood"), hint: usage)
  }
}
