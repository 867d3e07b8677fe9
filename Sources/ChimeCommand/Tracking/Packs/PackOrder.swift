import ChimeControl
import ChimeWords
import Glibc

/// A pack to install: a bundled one by name, or a file.
struct PackOrder {
  typealias Pack = TrackersInterface.Pack

  var name: String?
  var text: String?
  var file: String?
  var choices = TrackersInterface.PackChoices()
  /// The first values to log for measures, by tracker.
  var firstValues: [String: Double] = [:]
  /// Whether to install sample data.
  var isSample = false

  /// The size limit of a pack in bytes, so that its text fits into one message.
  private static let longest = 700 << 10

  /// Takes a lowercase name, or the path of a file.
  init(_ word: String, _ context: Context) throws {
    guard word == "-" || word.contains("/") || word.hasSuffix(".toml") else {
      name = word
      return
    }
    let bytes = try Uploading.bytes(word, limit: Self.longest, context)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure.failed(localized("%1 is not in UTF-8", word))
    }
    self.text = text
    file = word == "-" ? "standard input" : word
  }

  init(_ pack: Pack) { name = pack.id }

  func send(_ context: Context, dryRun: Bool) throws -> TrackersInterface.InstallPack.Reply {
    var choices = choices
    if choices.language == nil { choices.language = context.preferredLanguages.first }
    return try context.daemon().call(
      TrackersInterface.InstallPack(
        name: name, text: text, file: file, choices: choices, dryRun: dryRun ? true : nil,
        sample: isSample ? true : nil))
  }

  // MARK: Options

  static let options: [Verb.Option] = [
    .value("goal", nil, "[TRACKER=]AMOUNT", "The goal; with a tracker's id if there are several", repeats: true),
    .value("usual", nil, "[TRACKER=]AMOUNT", "The amount of an entry that names none", repeats: true),
    .value("unit", nil, "[TRACKER=]UNIT", "The unit, such as lb instead of kg", repeats: true),
    .value("title", nil, "[TRACKER=]TITLE", "A title of your own", repeats: true),
    .value("days", nil, "[TRACKER=]DAYS", "The days that count, such as mon,wed,fri", repeats: true),
    .value(
      "milestones", nil, "[TRACKER=]STEP", "Celebrate each step of a measure, such as every 2 (kg)", repeats: true),
    .value(
      "when", nil, "KEY=SCHEDULE", "Another schedule for a reminder; `chime pack show` lists the keys", repeats: true),
    .value("reminder", nil, "KEY", "Include an optional reminder", repeats: true),
    .value("no-reminder", nil, "KEY", "Leave a reminder out; all leaves all out", repeats: true),
  ]

  /// Applies the options that concern this pack. Values for other trackers or reminders are left to other packs.
  ///
  /// - Returns: the values that this pack used.
  @discardableResult
  mutating func take(_ line: ParsedLine, for pack: Pack) throws -> Set<String> {
    var taken: Set<String> = []
    func values(_ option: String, fitting: (TrackersInterface.Tracker) -> Bool) throws -> [String: String]? {
      var result: [String: String] = [:]
      for value in line.values(option) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          .map { trimmed(String($0)) }
        if parts.count == 2 {
          guard pack.trackers.contains(where: { $0.id == parts[0] }) else { continue }
          result[parts[0]] = parts[1]
        } else {
          let fit = pack.trackers.filter(fitting)
          try need(
            fit.count <= 1, localized("--%1 %2: for which tracker?", option, value),
            hint: localized("name the tracker: --%1 %2=%3", option, fit[0].id, value))
          guard let tracker = fit.first else { continue }
          result[tracker.id] = value
        }
        taken.insert("--\(option) \(value)")
      }
      return result.isEmpty ? nil : result
    }
    let hasAmounts: (TrackersInterface.Tracker) -> Bool = { $0.kind != .check }
    func number(_ text: String, _ option: String, _ id: String) throws -> Double {
      let unit = choices.units?[id] ?? pack.trackers.first { $0.id == id }?.unit
      return try AmountText.value(text, option: option, unit: unit)
    }
    choices.units = try values("unit", fitting: hasAmounts) ?? choices.units
    if let goals = try values("goal", fitting: hasAmounts) {
      choices.goals = try Dictionary(uniqueKeysWithValues: goals.map { ($0.key, try number($0.value, "goal", $0.key)) })
    }
    if let usual = try values("usual", fitting: { $0.kind == .amount }) {
      choices.usual = try Dictionary(
        uniqueKeysWithValues: usual.map { ($0.key, try number($0.value, "usual", $0.key)) })
    }
    if let steps = try values("milestones", fitting: { $0.kind == .measure }) {
      choices.milestoneSteps = try Dictionary(
        uniqueKeysWithValues: steps.map { ($0.key, try number($0.value, "milestones", $0.key)) })
    }
    choices.titles = try values("title") { _ in true } ?? choices.titles
    choices.weekdays =
      try values("days") { _ in true }?.mapValues {
        try WeekdayText.parse($0, option: "days").joined(separator: ",")
      } ?? choices.weekdays
    for value in line.values("when") {
      let (key, schedule) = try Pairs.split(value, option: "when")
      guard pack.reminders.contains(where: { $0.key == key }) else { continue }
      choices.when = (choices.when ?? [:]).merging([key: schedule]) { $1 }
      want(key, true)
      taken.insert("--when \(value)")
    }
    for (option, isWanted) in [("reminder", true), ("no-reminder", false)] {
      for key in line.list(option) ?? [] {
        let keys = key == "all" ? pack.reminders.map(\.key) : pack.reminders.map(\.key).filter { $0 == key }
        for key in keys { want(key, isWanted) }
        if !keys.isEmpty || key == "all" { taken.insert("--\(option) \(key)") }
      }
    }
    return taken
  }

  /// Applies the values of `--first` to measures.
  mutating func takeFirst(_ line: ParsedLine, for pack: Pack) throws -> Set<String> {
    var taken: Set<String> = []
    let measures = pack.trackers.filter { $0.kind == .measure }
    for value in line.values("first") {
      let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        trimmed(String($0))
      }
      guard let tracker = parts.count == 2 ? measures.first(where: { $0.id == parts[0] }) : measures.first else {
        continue
      }
      try need(
        parts.count == 2 || measures.count == 1, localized("--%1 %2: for which tracker?", "first", value),
        hint: localized("name the tracker: --%1 %2=%3", "first", tracker.id, value))
      firstValues[tracker.id] = try AmountText.value(
        parts[parts.count - 1], option: "first", unit: choices.units?[tracker.id] ?? tracker.unit)
      taken.insert("--first \(value)")
    }
    return taken
  }

  mutating func want(_ key: String, _ isWanted: Bool) {
    choices.reminders = (choices.reminders ?? [:]).merging([key: isWanted]) { $1 }
  }

  /// Throws for option values that no pack has used.
  static func checkAllTaken(
    _ line: ParsedLine, _ taken: Set<String>, _ packs: [Pack], options: [Verb.Option] = PackOrder.options
  ) throws {
    for option in options {
      let values = option.name.hasSuffix("reminder") ? line.list(option.name) ?? [] : line.values(option.name)
      for value in values where !taken.contains("--\(option.name) \(value)") {
        let isReminder = option.name.hasSuffix("reminder") || option.name == "when"
        let names = isReminder ? packs.flatMap(\.reminders).map(\.key) : packs.flatMap(\.trackers).map(\.id)
        throw Failure.usage(
          isReminder
            ? localized("--%1 %2: the pack has no such reminder", option.name, value)
            : localized("--%1 %2: no tracker of the pack takes it", option.name, value),
          hint: names.isEmpty ? nil : localized("there are: %1", names.joined(separator: ", ")))
      }
    }
  }
}
