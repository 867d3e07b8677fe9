import ChimeControl
import ChimeSchedule
import ChimeWords

/// The options that say what a reminder is like, for `add`, `in`, `at` and `edit`.
enum DraftOptions {
  static let all: [Verb.Option] =
    [
      .value("body", nil, "TEXT", "A longer text under the title"),
      .value(
        "to", nil, "CHANNEL", "Where it goes: desktop, an endpoint or a command; several with commas or repeated",
        repeats: true),
      .value("tz", nil, "ZONE", "Its time zone, such as Europe/Prague; local (the default) follows the machine"),
      .value(
        "gap", nil, "RULE", "A wall-clock time that daylight saving removes: shift it by the gap, or skip it",
        choices: Wire.Gap.allCases.map(\.rawValue), mayBeEmpty: true),
      .value(
        "fold", nil, "RULE", "A wall-clock time that daylight saving repeats: first, last or both",
        choices: Wire.Fold.allCases.map(\.rawValue), mayBeEmpty: true),
      place,
      .value("tag", nil, "TAG", "A tag; several with commas or repeated", repeats: true),
      .value(
        "urgency", nil, "LEVEL", "low, normal or critical",
        choices: RemindersInterface.Reminder.Urgency.allCases.map(\.rawValue)),
      .value("icon", nil, "NAME", "An icon's name or file"),
      .value("sound", nil, "NAME", "A sound's name or file"),
      .value("url", nil, "URL", "A link that goes with it"),
      .value(
        "catch-up", nil, "RULE",
        "A time that passed unheard: latest (one, marked late), all or skip; or suspend=RULE,downtime=RULE"),
      .value("grace", nil, "LENGTH", "How late is still useful, such as 12h; later it is recorded as missed"),
      .value("snooze", nil, "LENGTHS", "The lengths of a snooze, the default first, such as 10m,1h", repeats: true),
      .value("category", nil, "NAME", "What kind of notification it is, such as email.arrived or x-chime.health"),
    ] + InsistenceOptions.all + LinkOptions.all

  static let place = Verb.Option.value(
    "place", nil, "LAT,LON",
    Words.say("Where its sun is watched from, such as 50.0875,14.4213; otherwise the configured place"))
  static let token = Verb.Option.value(
    "token", nil, "TOKEN",
    Words.say("Add it once, however often this is run: the same token again gives the first answer"))
  static let dryRun = Verb.Option.flag("dry-run", nil, Words.say("Say what would be done, and do nothing"))

  /// The fields that the options name.
  static func draft(_ line: ParsedLine, title: String, when: String) throws -> RemindersInterface.Draft {
    let place = try place(line)
    return try RemindersInterface.Draft(
      title: title, when: when, body: line.value("body"), timezone: line.value("tz"), gap: gap(line), fold: fold(line),
      latitude: place?.latitude, longitude: place?.longitude, channels: line.list("to"), tags: line.list("tag"),
      urgency: line.value("urgency").flatMap { .init(rawValue: $0) },
      icon: line.value("icon"), sound: line.value("sound"), url: line.value("url"), category: line.value("category"),
      catchUp: catchUp(line), grace: line.value("grace").map { try LengthText.iso($0, option: "grace") },
      jitter: InsistenceOptions.jitter(line), nag: InsistenceOptions.nag(line), quiet: InsistenceOptions.quiet(line),
      wake: InsistenceOptions.wake(line), stay: InsistenceOptions.stay(line), snooze: snooze(line),
      tracker: LinkOptions.link(line))
  }

  /// What the options change; an empty value removes.
  static func change(_ line: ParsedLine) throws -> RemindersInterface.Change {
    let draft = try draft(line, title: "", when: "")
    let reset = RemindersInterface.Change.Reset.allCases.filter { field in
      let name =
        switch field {
        case .quiet: "quiet-rule"
        case .amount: "logs"
        default: field.rawValue
        }
      return line.value(name).map(trimmed) == ""
    }
    return RemindersInterface.Change(
      title: line.value("title"), when: line.value("when"), body: draft.body, timezone: draft.timezone, gap: draft.gap,
      fold: draft.fold, latitude: draft.latitude, longitude: draft.longitude, channels: draft.channels,
      tags: draft.tags, urgency: draft.urgency, icon: draft.icon,
      sound: draft.sound, url: draft.url, category: draft.category, catchUp: draft.catchUp, grace: draft.grace,
      jitter: draft.jitter, nag: draft.nag, quiet: draft.quiet, wake: draft.wake, stay: draft.stay,
      snooze: draft.snooze,
      reset: reset.isEmpty ? nil : reset, tracker: draft.tracker)
  }

  /// `--place`; nil when it was not given, or empty.
  static func place(_ line: ParsedLine) throws -> Place? {
    guard let text = line.value("place"), !trimmed(text).isEmpty else { return nil }
    return try PlaceText.parse(text, option: "place")
  }

  static func gap(_ line: ParsedLine) -> Wire.Gap? { line.value("gap").flatMap { .init(rawValue: $0) } }
  static func fold(_ line: ParsedLine) -> Wire.Fold? { line.value("fold").flatMap { .init(rawValue: $0) } }

  private static func snooze(_ line: ParsedLine) throws -> [String]? {
    guard let lengths = line.list("snooze"), !lengths.isEmpty else { return nil }
    return try lengths.map { try LengthText.iso($0, option: "snooze") }
  }

  private static func catchUp(_ line: ParsedLine) throws -> RemindersInterface.CatchUp? {
    try line.value("catch-up").map { try catchUp($0) }
  }

  /// `latest`, or `suspend=latest,downtime=skip`; what is not named is `latest`.
  static func catchUp(_ text: String) throws -> RemindersInterface.CatchUp {
    let rules = RemindersInterface.CatchUp.Rule.allCases.map(\.rawValue)
    func rule(_ name: some StringProtocol) throws -> RemindersInterface.CatchUp.Rule {
      if let rule = RemindersInterface.CatchUp.Rule(rawValue: String(name)) { return rule }
      throw Failure.usage(
        Words.say(
          "--catch-up is one of %1, or suspend=RULE,downtime=RULE, not \"%2\"", rules.joined(separator: ", "), text),
        hint: Nearest.question(String(name), among: rules))
    }
    if let both = RemindersInterface.CatchUp.Rule(rawValue: text) {
      return RemindersInterface.CatchUp(suspend: both, downtime: both)
    }
    var result = RemindersInterface.CatchUp(suspend: .latest, downtime: .latest)
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      switch (pair.first, pair.count) {
      case ("suspend", 2): result.suspend = try rule(pair[1])
      case ("downtime", 2): result.downtime = try rule(pair[1])
      default: _ = try rule(part)
      }
    }
    return result
  }
}
