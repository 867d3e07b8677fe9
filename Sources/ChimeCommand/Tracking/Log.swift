import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime log TRACKER [AMOUNT] [ITEM]`
enum Log {
  static let verb = Verb(
    name: "log", group: .track, arguments: ["TRACKER [AMOUNT] [ITEM]"], summary: "Log an entry of a tracker",
    details: [
      "Name the tracker by its id, a unique prefix of it, or its title. Without an AMOUNT the entry has the "
        + "tracker's usual amount; an amount may have a unit, which is converted: 0.5l, 180.4 lb. Name an ITEM of "
        + "a collection by its id, its title or a part of the title.",
      "The answer is the new entry, the rest of the goal, and any new achievements. `chime undo` undoes it; `chime "
        + "entry edit` and `chime entry remove` change it later.",
    ],
    options: LogOptions.all + [
      .flag("force", nil, "Record a measured value even if it is far from the last one"), DraftOptions.token,
    ],
    examples: [
      .init(command: "chime log water", remark: "the usual amount"), "chime log water 330ml",
      "chime log weight 82.4kg --note \"After the holidays\" --field body-fat=18.5",
      "chime log reading --at \"yesterday 21:00\"", "chime log watches Speedmaster",
    ],
    alsoTried: ["did", "track", "record", "drink", "drank", "weigh", "wear"], json: "`change`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let (tracker, rest) = try TrackerArgument.split(
      context.line.words, among: TrackerArgument.trackers(context), context)
    let (amount, itemFound) = try read(rest, tracker, context)
    let options = try LogOptions(context, of: tracker)
    let reply = try record(
      TrackersInterface.Log(
        tracker: tracker.id, amount: amount?.value, unit: amount?.unit, item: itemFound?.id, note: options.note,
        photo: options.photo(context), fields: options.fields, at: options.at, token: context.line.value("token"),
        force: context.line.has("force") ? true : nil), context)
    ChangeReport(change: reply.change, tracker: tracker, item: itemFound?.title).print(context, at: options.at != nil)
    return .success
  }

  /// Logs an entry; if the daemon rejects a value as unlikely, asks the user at a terminal.
  static func record(
    _ parameters: TrackersInterface.Log, _ context: Context
  ) throws -> TrackersInterface.Log.Reply {
    do {
      return try context.daemon().call(parameters)
    } catch let failure as Failure where failure.isUnlikely && context.process.isInteractive {
      guard Asking.confirm(context, localized("%1. Record it anyway?", failure.message)) else { throw failure }
      var parameters = parameters
      parameters.force = true
      return try context.daemon().call(parameters)
    }
  }

  /// Parses the words after the tracker: an amount and an item.
  private static func read(
    _ words: [String], _ tracker: TrackersInterface.Tracker, _ context: Context
  ) throws -> (AmountText.Amount?, item: TrackersInterface.Item?) {
    var words = words
    var amount: AmountText.Amount?
    if tracker.kind != .check {
      amount = try takeAmount(&words, tracker)
      if amount == nil, tracker.kind == .measure || tracker.usual == nil && tracker.presets.isEmpty {
        throw Failure.usage(
          localized("how much? %1 has no usual amount", tracker.id),
          hint: localized("for example: chime log %1 %2", tracker.id, example(tracker)))
      }
    }
    let text = trimmed(words.joined(separator: " "))
    guard tracker.hasItems else {
      guard text.isEmpty else { throw stray(text, tracker, hasAmount: amount != nil) }
      return (amount, nil)
    }
    if text.isEmpty, tracker.kind != .check { return (amount, nil) }
    return (amount, try item(text, tracker, context))
  }

  /// Takes an amount off the words: `250ml`, `250 ml` or `250`.
  static func takeAmount(
    _ words: inout [String], _ tracker: TrackersInterface.Tracker
  ) throws -> AmountText.Amount? {
    guard let first = words.first, var amount = try AmountText.parse(first) else { return nil }
    words.removeFirst()
    if amount.unit == nil, let unit = words.first, unit == tracker.unit || !tracker.hasItems,
      unit == "%" || unit.allSatisfy(\.isLetter)
    {
      amount.unit = unit == "L" ? "l" : unit
      words.removeFirst()
    }
    return amount
  }

  static func item(_ text: String, _ tracker: TrackersInterface.Tracker, _ context: Context) throws
    -> TrackersInterface.Item
  {
    let items = try context.daemon().call(TrackersInterface.Items(tracker: tracker.id)).items
    let adding = localized("`chime item add %1 \"TITLE\"` adds one", tracker.id)
    try need(!items.isEmpty, failed: localized("%1 has no items yet", tracker.id), hint: adding)
    guard !text.isEmpty else {
      var listed = items.sorted { $0.entries > $1.entries }.prefix(8).map { "  \(TerminalSanitizer.line($0.title))" }
      if items.count > listed.count { listed.append("  …") }
      throw Failure(
        status: .usage, message: localized("which one?"), detail: listed,
        hints: [localized("chime log %1 %2", tracker.id, items[0].title)])
    }
    if let item = try TrackerArgument.item(text, among: items) { return item }
    let near = SpellingSuggestions.question(text, among: items.map(\.title))
    throw Failure(
      status: .failed, message: localized("%1 has no item \"%2\"", tracker.id, text),
      hints: [near, adding].compactMap { $0 })
  }

  private static func stray(
    _ text: String, _ tracker: TrackersInterface.Tracker, hasAmount: Bool
  ) -> Failure {
    let note = localized("a remark needs --note: --note \"%1\"", text)
    if tracker.kind == .check {
      return .usage(localized("%1 is a check: it takes no \"%2\"", tracker.id, text), hint: note)
    }
    if !hasAmount {
      return .usage(
        localized("\"%1\" is not an amount", text),
        hint: localized("for example: chime log %1 %2", tracker.id, example(tracker)))
    }
    return .usage(localized("\"%1\" after the amount is too much", text), hint: note)
  }

  /// Returns a plausible value for examples; nil if the tracker defines none.
  static func knownValue(_ tracker: TrackersInterface.Tracker) -> Double? {
    tracker.usual ?? tracker.presets.first ?? tracker.goal?.total ?? tracker.goal?.value
  }

  static func example(_ tracker: TrackersInterface.Tracker) -> String {
    let value = knownValue(tracker) ?? 1
    return "\(TrackerWords.plain(value))\(tracker.unit.map { $0.count > 3 ? " \($0)" : $0 } ?? "")"
  }
}

/// The options with details of an entry.
struct LogOptions {
  static let all: [Verb.Option] = [
    .value(
      "at", nil, "TIME",
      "When you did it: 21:00, \"yesterday 21:00\", \"mon 8:00\", \"20m ago\", or RFC 3339; the default is now"),
    .value("note", nil, "TEXT", "A note, up to 500 characters"),
    .value("photo", nil, "FILE", "A photo; Chime copies the file"),
    .value("field", nil, "NAME=VALUE", "A further measure that the tracker has, such as body-fat=18.5", repeats: true),
  ]

  var note: String?
  var fields: [String: Double]?
  /// In RFC 3339.
  var at: String?
  private var photoFile: String?

  /// - Parameter tracker: nil if not known yet; the daemon then checks the names of fields.
  init(_ context: Context, of tracker: TrackersInterface.Tracker?) throws {
    let line = context.line
    note = line.value("note")
    photoFile = line.value("photo")
    if let text = line.value("at") {
      let zone = try context.localZone()
      at = RFC3339.format(try PastMoment.parse(text, option: "at", now: context.now, zone: zone), in: zone)
    }
    for pair in line.values("field") {
      let (name, text) = try Pairs.split(pair, option: "field")
      fields = fields ?? [:]
      let own = try tracker.map { try FieldOption.known(name, of: $0) } ?? name
      fields?[own] =
        try tracker?.fields[own].map { try AmountText.value(text, option: "field", unit: $0) }
        ?? AmountText.required(text, option: "field").value
    }
  }

  /// Uploads the photo, if given, and returns its upload name; an empty name removes the entry's photo.
  func photo(_ context: Context) throws -> String? { try Self.photo(photoFile, context) }

  static func photo(_ file: String?, _ context: Context) throws -> String? {
    guard let file, !file.isEmpty else { return file }
    return try Uploading.send(file, limit: Uploading.longestPhoto, context)
  }
}

/// Parses `name=value` arguments.
enum Pairs {
  static func split(_ text: String, option: String) throws -> (name: String, value: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { trimmed(String($0)) }
    try need(parts.count == 2 && !parts[0].isEmpty, localized("--%1 needs NAME=VALUE, not \"%2\"", option, text))
    return (parts[0], parts[1])
  }

  /// Returns all values of a repeated option; nil if it is not given.
  static func all(_ context: Context, _ option: String) throws -> [String: String]? {
    guard context.line.has(option) else { return nil }
    var pairs: [String: String] = [:]
    for text in context.line.values(option) {
      let (name, value) = try split(text, option: option)
      pairs[name] = value
    }
    return pairs
  }
}
