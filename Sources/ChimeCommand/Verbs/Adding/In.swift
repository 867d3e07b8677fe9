import ChimeSchedule
import ChimeWords

/// `chime in LENGTH TITLE`
enum In {
  static let verb = Verb(
    name: "in", group: .set, arguments: ["LENGTH TITLE…"], summary: "Add a reminder after a length of time",
    details: [
      "The first words that form a length of time are the length; the rest is the title.", TitleAndTime.rule,
      QuickMarks.rule,
    ],
    options: Adding.options,
    examples: ["chime in 25m \"Tea\"", "chime in 1h 30m Take the bread out", "chime in 3 days at 9 Dentist"],
    alsoTried: ["timer", "after"], json: "as `add`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = try TitleAndTime.read(
      context, context.line.words, place: .after("in"), verb: "in", usage: localized("chime in 25m \"Tea\""))
    return try Adding.add(context, line)
  }
}

/// `chime at TIME TITLE`
enum At {
  static let verb = Verb(
    name: "at", group: .set, arguments: ["TIME TITLE…"], summary: "Add a reminder at a time",
    details: [
      "The first words that form a time are the time; the rest is the title.", TitleAndTime.rule,
      QuickMarks.rule,
    ],
    options: Adding.options,
    examples: [
      "chime at 18:30 \"Call home\"", "chime at tomorrow 9:00 Water the plants", "chime at 8 tonight Movie",
      "chime at 2026-12-01 09:00 \"Dentist\"",
    ],
    alsoTried: ["on"], json: "as `add`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = try TitleAndTime.read(
      context, context.line.words, place: .after("at"), verb: "at", usage: localized("chime at 18:30 \"Call home\""))
    return try Adding.add(context, line)
  }
}

/// `chime remind me to TITLE TIME`
enum Remind {
  static let verb = Verb(
    name: "remind", group: .set, arguments: ["me to TITLE TIME…"], summary: "Add a reminder in one sentence",
    details: [
      "The same as `add`, except that words such as \"me\" or \"me to\" may stand before the title.", TitleAndTime.rule,
      QuickMarks.rule,
    ],
    options: Adding.options,
    examples: ["chime remind me to stretch in 20 minutes", "chime remind me tomorrow at 5pm to call mum"],
    alsoTried: ["remember"], json: "as `add`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    var words = context.line.words
    if words.count == 1 { words = words[0].split(whereSeparator: \.isWhitespace).map(String.init) }
    if ["me", context.language == .czech ? "mi" : "me"].contains(words.first?.lowercased()) { words.removeFirst() }
    var line = try TitleAndTime.read(
      context, words, place: .anywhere, verb: "remind me", usage: localized("chime remind me to stretch in 20 minutes"))
    for word in ["to ", "that ", "about "]
    where line.title.lowercased().hasPrefix(word) && line.title.count > word.count {
      line.title.removeFirst(word.count)
      break
    }
    return try Adding.add(context, line)
  }
}
