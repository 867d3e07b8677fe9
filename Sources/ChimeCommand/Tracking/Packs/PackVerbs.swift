import ChimeControl
import ChimeWords

/// `chime pack list|show|add|check|remove`
enum PackVerbs {
  typealias Pack = TrackersInterface.Pack

  static let verb = Verb(
    name: "pack", group: .keep,
    summary: "Trackers, reminders and achievements that belong together",
    details: [
      "Five packs come with Chime; `chime init` asks a few questions and installs one. A pack of your own is a file of TOML."
    ],
    examples: ["chime pack list", "chime pack add hydration --goal 2000", "chime pack check my-pack.toml"],
    alsoTried: ["packs", "install", "plugin"], subverbs: [list, show, add, check, remove])

  static let list = Verb(
    name: "list", group: .keep, summary: "List the packs, those that are installed first",
    examples: ["chime pack list"], alsoTried: ["ls"], json: "`packs`, and `more`, which is false",
    run: runList)

  static let show = Verb(
    name: "show", group: .keep, arguments: ["NAME|FILE"],
    summary: "Show a pack's trackers and reminders, and the choices it offers",
    examples: ["chime pack show hydration"], alsoTried: ["info", "get"], json: "`pack`", run: runShow)

  static let add = Verb(
    name: "add", group: .keep, arguments: ["NAME|FILE"], summary: "Install a pack, or update it",
    details: [
      "NAME is a pack that comes with Chime; FILE is a pack of your own in TOML. An installed pack takes over what "
        + "is new in it and what the options say; its trackers keep their entries. Achievements that your entries "
        + "already deserve unlock without a notification."
    ],
    options: PackOrder.options + [
      .flag("sample", nil, "With sample data, to try it; `chime pack remove NAME --sample` removes that"),
      DraftOptions.dryRun,
    ],
    examples: [
      "chime pack add hydration --goal 2000 --usual 200",
      "chime pack add hydration --when \"drink=every 2h from 9:00 to 21:00\"",
      "chime pack add weight --unit lb --no-reminder all", "chime pack add watches --sample",
      "chime pack add ./my-pack.toml --dry-run",
    ],
    alsoTried: ["install", "update", "enable", "new"],
    json: "`pack`, `created`, `unlocked` (a list of each `achievement`) and `dryRun`", run: runAdd)

  static let check = Verb(
    name: "check", group: .keep, arguments: ["FILE…"], summary: "Check a pack for faults without installing it",
    details: [
      "Each fault is one line, `file:line:column: key: message`, as compilers write them. With any fault the exit "
        + "status is 1."
    ],
    examples: ["chime pack check my-pack.toml"], alsoTried: ["lint", "validate", "verify", "test"],
    json: "`faults`, and `more`, which is false", run: runCheck)

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["NAME"], summary: "Remove a pack with its reminders",
    details: [
      "Its trackers and their entries stay, unless --entries is given. On a terminal it asks first. For 30 days "
        + "`chime undo` restores it."
    ],
    options: [
      .flag("entries", nil, "Remove its trackers and all their entries, too"),
      .flag("sample", nil, "Remove only its sample data, with the entries of that"),
      .flag("yes", "y", "Do not ask"),
    ],
    examples: ["chime pack remove hydration", "chime pack remove watches --sample"],
    alsoTried: ["rm", "delete", "del", "uninstall"],
    json: "`pack`: what was removed", run: runRemove)

  static func packs(_ context: Context) throws -> [Pack] {
    try context.daemon().call(TrackersInterface.Packs()).packs
  }

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let all = try packs(context)
    let packs = all.filter { $0.installedAt != nil } + all.filter { $0.installedAt == nil }
    let words = context.trackerWords
    let empty = [
      localized("There is no pack: the daemon found none."),
      localized("`chime pack add FILE.toml` installs one of your own."),
    ]
    context.print(packs, named: "packs", empty: empty) {
      var table = Table(columns: [
        .init(title: localized("NAME")), .init(title: localized("STATE")),
        .init(title: localized("PURPOSE"), canShrink: true, dropOrder: 1),
        .init(title: localized("ACHIEVEMENTS"), alignRight: true, dropOrder: 2),
      ])
      for pack in packs {
        let text = words.local(pack.text)
        table.rows.append([
          .init(pack.id, .strong),
          pack.installedAt == nil ? .init(localized("not installed"), .faint) : .init(localized("installed"), .good),
          .init(text.isEmpty ? words.local(pack.title) : text), .init(String(pack.achievements), .faint),
        ])
      }
      context.print(table: table)
      if !packs.contains(where: { $0.installedAt != nil }) {
        context.note(localized("`chime init` asks what you would like and installs it."), .faint)
      }
    }
    return .success
  }

  /// Returns a pack by name, or as the daemon reads it from a file.
  private static func pack(_ context: Context) throws -> Pack {
    let order = try PackOrder(word(context), context)
    guard let name = order.name else { return try order.send(context, dryRun: true).pack }
    return try known(name, among: packs(context))
  }

  static func known(_ name: String, among packs: [Pack]) throws -> Pack {
    if let pack = packs.first(where: { $0.id == name }) { return pack }
    throw Failure.failed(
      localized("there is no pack \"%1\"", name),
      hint: SpellingSuggestions.question(name, among: packs.map(\.id))
        ?? localized("`chime pack list` shows the packs; name a file by its path: ./%1.toml", name))
  }

  private static func word(_ context: Context) throws -> String {
    guard context.line.words.count == 1, let word = context.line.words.first else {
      throw Failure.usage(
        context.line.words.isEmpty ? localized("which pack?") : localized("one pack at a time"),
        hint: localized("`chime pack list` shows them"))
    }
    return word
  }

  private static func runShow(_ context: Context) throws -> ExitCode {
    let pack = try pack(context)
    context.print(pack, named: "pack") {
      let words = context.trackerWords
      let state = pack.installedAt == nil ? localized("not installed") : localized("installed")
      let room = context.width - TextWidth.of(pack.id) - TextWidth.of(state) - 4
      let title = TextWidth.truncate(TerminalSanitizer.line(words.local(pack.title)), to: max(8, room))
      context.out(
        "\(context.style(pack.id, .strong))  \(title)  "
          + context.style(state, pack.installedAt == nil ? .faint : .good))
      for line in TextWidth.wrap(TerminalSanitizer.line(words.local(pack.text)), to: context.width, indent: 2) {
        context.out(line)
      }
      for line in PackPage.lines(pack, context, choices: true) { context.out(line) }
      if pack.installedAt == nil {
        context.note(localized("Install it with: %1", "chime pack add \(pack.id)"), .faint)
      }
    }
    return .success
  }

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let line = context.line
    var order = try PackOrder(word(context), context)
    if PackOrder.options.contains(where: { line.has($0.name) }) {
      // Match the options against the pack's trackers first.
      let pack = try pack(context)
      try PackOrder.checkAllTaken(line, order.take(line, for: pack), [pack])
    }
    let isDry = line.has("dry-run")
    order.isSample = line.has("sample")
    let reply = try order.send(context, dryRun: isDry)
    switch context.format {
    case .json:
      context.print(json: ["pack": reply.pack, "created": reply.created, "unlocked": reply.unlocked, "dryRun": isDry])
    case .plain: context.plain([reply.pack])
    case .human:
      if context.isQuiet { break }
      for line in PackPage.installed(reply, context, isDry: isDry) { context.out(line) }
      if order.isSample, !isDry {
        context.note(localized("With sample data; `%1` removes it.", "chime pack remove \(reply.pack.id) --sample"))
      }
    }
    return .success
  }

  private static func runCheck(_ context: Context) throws -> ExitCode {
    try need(!context.line.words.isEmpty, localized("a file is missing"), hint: "chime pack check my-pack.toml")
    var faults: [Wire.Fault] = []
    var sound: [(file: String, pack: Pack)] = []
    for word in context.line.words {
      let path = word == "-" || word.contains("/") || word.hasSuffix(".toml") ? word : "./\(word)"
      do {
        let order = try PackOrder(path, context)
        sound.append((word, try order.send(context, dryRun: true).pack))
      } catch let failure as Failure where !failure.faults.isEmpty {
        faults += failure.faults
      }
    }
    switch context.format {
    case .json, .plain: context.print(faults, named: "faults", empty: []) {}
    case .human:
      for fault in faults { context.out(Failure.line(of: fault)) }
      for (file, pack) in sound {
        let trackers = localized(count: pack.trackers.count, "%n tracker", "%n trackers")
        let reminders = localized(count: pack.reminders.count, "%n reminder", "%n reminders")
        let achievements = localized(count: pack.achievements, "%n achievement", "%n achievements")
        context.note(
          localized("%1 is sound: %2, %3 and %4", file, trackers, reminders, achievements), .good)
      }
    }
    if !faults.isEmpty, context.format == .human {
      context.note(localized(count: faults.count, "%n fault", "%n faults"), .bad)
    }
    return faults.isEmpty ? .success : .failed
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    if context.line.has("sample"), context.line.has("entries") {
      throw Failure.usage(localized("--sample and --entries cannot be used together"))
    }
    let pack = try known(word(context), among: packs(context))
    try need(pack.installedAt != nil, failed: localized("the pack \"%1\" is not installed", pack.id))
    let entries = context.line.has("entries")
    if context.line.has("sample") { return try removeSample(of: pack, context) }
    let title = TerminalSanitizer.line(context.trackerWords.local(pack.title))
    let question =
      entries
      ? localized("Remove \"%1\" with its reminders, its trackers and all their entries?", title)
      : localized("Remove \"%1\" with its reminders? Entries stay.", title)
    guard Asking.mayRemove(context, question) else { return .failed }
    let removed = try context.daemon().call(TrackersInterface.RemovePack(id: pack.id, entries: entries ? true : nil))
      .pack
    context.print(removed, named: "pack") {
      context.out("\(context.style(TerminalSanitizer.line(removed.id), .strong))  \(title)")
      context.out(
        "  "
          + (entries
            ? localized("removed with all entries; `chime undo` restores it, for 30 days")
            : localized("removed; its trackers and entries stay; `chime undo` restores it, for 30 days")))
    }
    return .success
  }

  /// Removes only the sample data, without asking, since the user did not create it.
  private static func removeSample(of pack: Pack, _ context: Context) throws -> ExitCode {
    let reply: TrackersInterface.RemovePack.Reply = try context.daemon().call(
      TrackersInterface.RemovePack(id: pack.id, sample: true))
    context.print(reply.pack, named: "pack") {
      let items = localized(count: reply.items ?? 0, "%n item", "%n items")
      let entries = localized(count: reply.removed ?? 0, "%n entry", "%n entries")
      context.out(
        localized("The sample data was removed: %1, %2; `chime undo` restores it, for 30 days", items, entries))
    }
    return .success
  }
}

/// Formats a pack for a person.
enum PackPage {
  /// Lists its trackers and reminders.
  ///
  /// - Parameter choices: whether to add the reminders' keys and the available choices.
  static func lines(_ pack: TrackersInterface.Pack, _ context: Context, choices: Bool) -> [String] {
    let words = context.trackerWords
    let style = context.style
    var rows: [(String, String)] = []
    for tracker in pack.trackers {
      var parts = [words.goal(tracker) ?? words.kind(tracker.kind)]
      if let usual = tracker.usual { parts.append(localized("usually %1", words.amount(usual, tracker))) }
      if words.counting(tracker) != localized("every day") { parts.append(words.counting(tracker)) }
      if choices, let choice = pack.choices[tracker.id] {
        parts.append(
          localized("from %1 to %2", words.number(choice.least, tracker), words.amount(choice.most, tracker)))
        if let presets = choice.presets, !presets.isEmpty {
          parts.append(
            localized("usual are %1", presets.map { words.number($0, tracker) }.joined(separator: ", ")))
        }
      }
      rows.append((choices ? tracker.id : words.title(tracker), parts.joined(separator: ", ")))
    }
    let isThere = pack.installedAt != nil
    for reminder in pack.reminders where choices || reminder.id != nil {
      var text = "\(title(reminder, pack, words)): \(reminder.when)"
      if reminder.id == nil, isThere {
        text += localized(", not set")
      } else if reminder.optional, reminder.id == nil {
        text += localized(", optional")
      }
      rows.append((choices ? reminder.key : localized("reminder"), text))
    }
    if !choices, !pack.reminders.isEmpty, pack.reminders.allSatisfy({ $0.id == nil }) {
      rows.append((localized("reminder"), localized("none")))
    }
    if pack.achievements > 0 {
      rows.append(
        (localized("and"), localized(count: pack.achievements, "%n achievement to unlock", "%n achievements to unlock"))
      )
    }
    let names = min(rows.map { TextWidth.of($0.0) }.max() ?? 0, max(8, context.width / 3))
    return rows.flatMap { name, value in
      let wrapped = TextWidth.wrap(TerminalSanitizer.line(value), to: context.width, indent: names + 4)
      let head = TextWidth.pad(TextWidth.truncate(TerminalSanitizer.line(name), to: names), to: names)
      return ["  \(style(head, .faint))  \(wrapped[0].dropFirst(names + 4))"] + wrapped.dropFirst()
    }
  }

  /// Returns a reminder's title, with the tracker's title in place of the `{{tracker}}` placeholder.
  static func title(
    _ reminder: TrackersInterface.PackReminder, _ pack: TrackersInterface.Pack, _ words: TrackerWords,
    tracker own: String? = nil
  ) -> String {
    let tracker = pack.trackers.first { $0.id == reminder.tracker }.map { words.title($0) } ?? reminder.tracker
    return TerminalSanitizer.line(words.local(reminder.title).replacing("{{tracker}}", with: own ?? tracker))
  }

  /// Describes the result of an installation.
  static func installed(
    _ reply: TrackersInterface.InstallPack.Reply, _ context: Context, isDry: Bool
  ) -> [String] {
    let words = context.trackerWords
    let title = context.style(TerminalSanitizer.line(words.local(reply.pack.title)), .strong)
    let head =
      isDry
      ? localized("%1 would be installed", title)
      : reply.created ? localized("%1 is installed", title) : localized("%1 is up to date", title)
    return ["\(context.style("✔", .good)) \(head)"] + lines(reply.pack, context, choices: false)
      + ChangeReport.unlocked(reply.unlocked, context)
  }

  /// Returns the first command to type after installation.
  static func next(_ pack: TrackersInterface.Pack) -> String? {
    guard let tracker = pack.trackers.first else { return nil }
    if tracker.hasItems { return "chime item add \(tracker.id) \"…\"" }
    switch tracker.kind {
    case .check: return "chime log \(tracker.id)"
    case .amount:
      return tracker.usual == nil ? "chime log \(tracker.id) 1\(tracker.unit ?? "")" : "chime log \(tracker.id)"
    case .measure:
      let value = tracker.unit == "lb" ? "180" : tracker.unit == "kg" ? "82.4" : "1"
      return "chime log \(tracker.id) \(value)\(tracker.unit ?? "")"
    }
  }
}
