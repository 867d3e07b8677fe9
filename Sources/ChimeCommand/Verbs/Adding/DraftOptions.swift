import ChimeControl
import ChimeSchedule
import ChimeWords

/// A field of a reminder: the option of `add`, `in`, `at` and `edit`, and the line in the edit form.
struct DraftField: Sendable {
  typealias Draft = RemindersInterface.Draft
  typealias Reminder = RemindersInterface.Reminder

  var option: Verb.Option
  /// The field that an empty value resets; nil for texts, whose empty value is itself the reset.
  var reset: Draft.Reset?
  /// Applies the option to a draft.
  var take: @Sendable (ParsedLine, inout Draft) throws -> Void = { _, _ in }
  /// The field's value in the edit form, in the syntax of the option.
  var form: @Sendable (Reminder) -> String
  /// The field's label and value in `show`; nil if `show` formats it itself.
  var shown: (@Sendable (Reminder) -> (String, String?))?

  /// Returns a field of plain text.
  static func text(
    _ option: Verb.Option, _ given: any WritableKeyPath<Draft, String?> & Sendable,
    _ kept: any KeyPath<Reminder, String?> & Sendable, label: (@Sendable () -> String)? = nil
  ) -> DraftField {
    var field = DraftField(option: option, form: { $0[keyPath: kept] ?? "" })
    field.take = { line, draft in draft[keyPath: given] = line.value(option.name) }
    if let label { field.shown = { (label(), $0[keyPath: kept]) } }
    return field
  }
}

enum DraftOptions {
  static let fields: [DraftField] =
    [
      .text(.value("body", nil, "TEXT", "A longer text under the title"), \.body, \.body),
      DraftField(
        option: .value(
          "to", nil, "CHANNEL", "Its channels: desktop, an endpoint or a command; several with commas or repeated",
          repeats: true),
        take: { $1.channels = $0.list("to") }, form: { $0.channels.joined(separator: ", ") }),
      DraftField(
        option: .value(
          "tz", nil, "ZONE", "Its time zone, such as Europe/Prague; local (the default) follows the machine"),
        take: { $1.timezone = $0.value("tz") }, form: { $0.timezone }),
      DraftField(
        option: .value(
          "gap", nil, "RULE", "For a wall-clock time that daylight saving removes: shift it by the gap, or skip it",
          choices: Wire.Gap.allCases.map(\.rawValue), mayBeEmpty: true),
        reset: .gap, take: { $1.gap = gap($0) }, form: { $0.gap?.rawValue ?? "" }),
      DraftField(
        option: .value(
          "fold", nil, "RULE", "For a wall-clock time that daylight saving repeats: first, last or both",
          choices: Wire.Fold.allCases.map(\.rawValue), mayBeEmpty: true),
        reset: .fold, take: { $1.fold = fold($0) }, form: { $0.fold?.rawValue ?? "" }),
      DraftField(
        option: place, reset: .place,
        take: {
          let place = try place($0)
          ($1.latitude, $1.longitude) = (place?.latitude, place?.longitude)
        }, form: { PlaceText.text($0.latitude, $0.longitude) }),
      DraftField(
        option: .value("tag", nil, "TAG", "A tag; several with commas or repeated", repeats: true),
        take: { $1.tags = $0.list("tag") }, form: { $0.tags.joined(separator: ", ") }),
      DraftField(
        option: .value(
          "urgency", nil, "LEVEL", "low, normal or critical",
          choices: RemindersInterface.Reminder.Urgency.allCases.map(\.rawValue)),
        take: { $1.urgency = $0.value("urgency").flatMap { .init(rawValue: $0) } }, form: { $0.urgency.rawValue }),
      .text(
        .value("icon", nil, "NAME", "An icon's name or file"), \.icon, \.icon, label: { localized("icon") }),
      .text(
        .value("sound", nil, "NAME", "A sound's name or file"), \.sound, \.sound, label: { localized("sound") }),
      .text(.value("url", nil, "URL", "A link that goes with it"), \.url, \.url, label: { localized("link") }),
      .text(
        .value("location", nil, "TEXT", "The place to do it, such as Kitchen"), \.location, \.location,
        label: { localized("where") }),
      DraftField(
        option: .value(
          "catch-up", nil, "RULE",
          "For missed times: latest (one, marked late), all or skip; or suspend=RULE,downtime=RULE"),
        take: { $1.catchUp = try $0.value("catch-up").map { try catchUp($0) } },
        form: {
          let (suspend, downtime) = ($0.catchUp.suspend.rawValue, $0.catchUp.downtime.rawValue)
          return suspend == downtime ? suspend : "suspend=\(suspend),downtime=\(downtime)"
        }),
      DraftField(
        option: .value(
          "grace", nil, "LENGTH", "How late it is still useful, such as 12h; a later one is recorded as missed"),
        take: { $1.grace = try $0.value("grace").map { try LengthText.iso($0, option: "grace") } },
        form: { LengthText.human($0.grace) }),
      DraftField(
        option: .value(
          "snooze", nil, "LENGTHS", "The lengths of a snooze, the default first, such as 10m,1h", repeats: true),
        reset: .snooze,
        take: {
          guard let lengths = $0.list("snooze"), !lengths.isEmpty else { return }
          $1.snooze = try lengths.map { try LengthText.iso($0, option: "snooze") }
        }, form: { $0.snooze.map { LengthText.human($0) }.joined(separator: ", ") }),
      DraftField(
        option: .value(
          "only-if-done", nil, "ID|TITLE", "Defer its times until this other reminder is done on the same day",
          mayBeEmpty: true),
        reset: .onlyIfDone,
        take: { $1.onlyIfDone = $0.value("only-if-done").map(trimmed).flatMap { $0.isEmpty ? nil : $0 } },
        form: { $0.onlyIfDone?.reminder ?? "" }),
      .text(
        .value("category", nil, "NAME", "What kind of notification it is, such as email.arrived or x-chime.health"),
        \.category, \.category, label: { localized("category") }),
    ] + RepeatOptions.fields + LinkOptions.fields

  static let all = fields.map(\.option)

  static let place = Verb.Option.value(
    "place", nil, "LAT,LON",
    localized("The place for sunrise and sunset, such as 50.0875,14.4213; the default is the configured place"))
  static let token = Verb.Option.value(
    "token", nil, "TOKEN",
    localized("Add it only once, however often this is run: the same token returns the first answer"))
  static let dryRun = Verb.Option.flag("dry-run", nil, localized("Show what would be done, and do nothing"))

  /// Builds a draft from the options; an empty value resets a field.
  static func draft(_ line: ParsedLine, title: String?, when: String?) throws -> RemindersInterface.Draft {
    var draft = RemindersInterface.Draft(title: title, when: when)
    for field in fields { try field.take(line, &draft) }
    let reset = fields.filter { line.value($0.option.name).map(trimmed) == "" }.compactMap(\.reset)
    if !reset.isEmpty { draft.reset = reset }
    return draft
  }

  /// Returns the location of `--place`; nil without the option, or if it is empty.
  static func place(_ line: ParsedLine) throws -> Place? {
    guard let text = line.value("place"), !trimmed(text).isEmpty else { return nil }
    return try PlaceText.parse(text, option: "place")
  }

  static func gap(_ line: ParsedLine) -> Wire.Gap? { line.value("gap").flatMap { .init(rawValue: $0) } }
  static func fold(_ line: ParsedLine) -> Wire.Fold? { line.value("fold").flatMap { .init(rawValue: $0) } }

  /// Parses `latest`, or `suspend=latest,downtime=skip`; causes not named get `latest`.
  static func catchUp(_ text: String) throws -> RemindersInterface.CatchUp {
    let rules = RemindersInterface.CatchUp.Rule.allCases.map(\.rawValue)
    func rule(_ name: some StringProtocol) throws -> RemindersInterface.CatchUp.Rule {
      if let rule = RemindersInterface.CatchUp.Rule(rawValue: String(name)) { return rule }
      throw Failure.usage(
        localized(
          "--catch-up must be one of %1, or suspend=RULE,downtime=RULE, not \"%2\"", rules.joined(separator: ", "), text
        ),
        hint: SpellingSuggestions.question(String(name), among: rules))
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
