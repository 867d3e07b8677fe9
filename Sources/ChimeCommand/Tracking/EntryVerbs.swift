import ChimeControl
import ChimeWords

/// `chime entry list|edit|remove|export|import`
enum EntryVerbs {
  static let verb = Verb(
    name: "entry", group: .keep,
    summary: "Entries: list, change, remove, export and import them",
    details: [
      "`chime log` adds an entry. Streaks, achievements and statistics follow every change; unlocked achievements "
        + "stay unlocked. `chime undo` undoes the last change."
    ],
    examples: ["chime entry list water -n 5", "chime entry edit 42 330ml", "chime entry export > entries.csv"],
    alsoTried: ["entries"], subverbs: [list, edit, remove, EntryExchange.export, EntryExchange.load])

  static let list = Verb(
    name: "list", group: .keep, arguments: ["[TRACKER]"], summary: "List entries, the newest first",
    options: [
      RangeText.option, .value("item", nil, "ITEM", "Only those of an item, by its id"),
      .value("days", nil, "DAYS", "Only those of these weekdays: mon,wed, weekends"),
      .value("text", nil, "TEXT", "Only those with this text in the note"),
      .flag("notes", nil, "Only those with a note"), Pagination.limit("entries", usually: 20),
    ],
    examples: [
      "chime entry list", "chime entry list weight --range 1M --notes", "chime entry list water -n all --json",
    ],
    alsoTried: ["ls", "show", "log"], json: "`entries`, and `more`", run: runList)

  static let edit = Verb(
    name: "edit", group: .keep, arguments: ["NUMBER [AMOUNT]"], summary: "Change an entry",
    details: [
      "`chime log` and `chime entry list` show the number. Without an option a field stays unchanged; an empty "
        + "note, photo or item removes it: --note \"\"."
    ],
    options: [.value("item", nil, "ITEM", "Another item, by its id")] + LogOptions.all,
    examples: ["chime entry edit 42 330ml", "chime entry edit 42 --at \"yesterday 21:00\""],
    alsoTried: ["change", "set", "fix"], json: "`change`", run: runEdit)

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["NUMBER", "--all TRACKER"],
    summary: "Remove an entry, or all of a tracker",
    details: [
      "Removing all asks first on a terminal, and needs --yes without one. For 30 days `chime undo` restores "
        + "everything."
    ],
    options: [
      .flag("all", nil, "All entries of the tracker"),
      .value("range", nil, "RANGE", "With --all: only those days, as in `chime entry list`"),
      .flag("yes", "y", "Do not ask"),
    ],
    examples: ["chime entry remove 42", "chime entry remove --all water --range 2025 --yes"],
    alsoTried: ["rm", "delete", "del"], json: "`removed`: how many", run: runRemove)

  private static func runList(_ context: Context) throws -> ExitCode {
    let line = context.line
    let trackers = try TrackerArgument.trackers(context)
    let tracker = line.words.isEmpty ? nil : try TrackerArgument.one(line.words, context)
    let limit = try Pagination.limit(line, usually: 20)
    let days = try line.value("days").map { try WeekdayText.parse($0, option: "days") }
    let range = try RangeText.parse(context)
    let daemon = try context.daemon()
    var isCut = false
    var entries: [TrackersInterface.Entry] = []
    repeat {
      let reply: TrackersInterface.Entries.Reply = try daemon.call(
        TrackersInterface.Entries(
          tracker: tracker?.id, range: range, item: line.value("item"), weekdays: days,
          withNotes: line.has("notes") ? true : nil, text: line.value("text"),
          limit: limit.map { min($0 - entries.count, 500) } ?? 500, offset: entries.isEmpty ? nil : entries.count))
      entries += reply.entries
      isCut = entries.count < reply.total && !reply.entries.isEmpty
    } while isCut && entries.count < limit ?? .max
    let example = (tracker ?? trackers.first).map { context.trackerWords.logging($0) } ?? "chime log water"
    let empty =
      trackers.isEmpty
      ? [localized("There is no tracker yet.")] + TrackerArgument.beginning
      : [localized("No entry matches."), localized("Log one: %1", example)]
    context.print(entries, named: "entries", isCut: isCut, empty: empty) {
      context.print(table: table(entries, trackers, tracker, context))
    }
    return .success
  }

  private static func table(
    _ entries: [TrackersInterface.Entry], _ trackers: [TrackersInterface.Tracker],
    _ one: TrackersInterface.Tracker?, _ context: Context
  ) -> Table {
    let words = context.trackerWords
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: "#", alignRight: true), .init(title: localized("WHEN")),
      .init(title: localized("TRACKER"), canShrink: true), .init(title: localized("AMOUNT"), alignRight: true),
      .init(title: localized("MORE"), canShrink: true, dropOrder: 3),
      .init(title: localized("ITEM"), canShrink: true, dropOrder: 1),
      .init(title: localized("NOTE"), canShrink: true, dropOrder: 2),
    ])
    for entry in entries {
      let tracker = trackers.first { $0.id == entry.tracker }
      let value = entry.value.map { value in
        tracker.map { words.amount(value, unit: entry.unit, $0) } ?? TrackerWords.shortest(value)
      }
      table.rows.append([
        .init(String(entry.id), .faint), .init(words.minute(entry.at, clock)),
        .init(tracker.map { words.title($0) } ?? entry.tracker),
        .init(value ?? "", .strong),
        .init(tracker.map { words.fields(entry.fields, $0) }?.joined(separator: ", ") ?? ""), .init(entry.item ?? ""),
        .init(entry.note ?? "", .faint),
      ])
    }
    // Leave out columns that are empty or the same in every row.
    let keeps = [
      true, true, one == nil, entries.contains { $0.value != nil }, entries.contains { !$0.fields.isEmpty },
      entries.contains { $0.item != nil },
      entries.contains { $0.note != nil },
    ]
    table.columns = zip(table.columns, keeps).filter { $0.1 }.map(\.0)
    table.rows = table.rows.map { row in zip(row, keeps).filter { $0.1 }.map(\.0) }
    return table
  }

  private static func runEdit(_ context: Context) throws -> ExitCode {
    let id = try number(context, listing: "chime entry list", extra: true)
    var words = Array(context.line.words.dropFirst())
    var amount: AmountText.Amount?
    if !words.isEmpty {
      amount = try AmountText.parse(words.joined(separator: " "))
      try need(amount != nil, localized("\"%1\" is not an amount", words.joined(separator: " ")))
      words = []
    }
    let options = try LogOptions(context, of: nil)
    let parameters = TrackersInterface.EditEntry(
      id: id, amount: amount?.value, unit: amount?.unit, item: context.line.value("item"), note: options.note,
      photo: try options.photo(context), fields: options.fields, at: options.at)
    try need(
      parameters != TrackersInterface.EditEntry(id: id), localized("what should change? Give an option"),
      hint: "chime entry edit \(id) --note \"…\"")
    let reply: TrackersInterface.EditEntry.Reply = try context.daemon().call(parameters)
    guard
      let tracker = try reply.change.progress?.tracker
        ?? TrackerArgument.trackers(context).first(where: { $0.id == reply.change.entry?.tracker })
    else { return .success }
    ChangeReport(change: reply.change, tracker: tracker).print(context, at: true)
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let line = context.line
    var parameters = TrackersInterface.RemoveEntry()
    if line.has("all") {
      let tracker = try TrackerArgument.one(line.words, context)
      parameters = .init(tracker: tracker.id, range: try RangeText.parse(context))
      let title = context.trackerWords.title(tracker)
      let question =
        parameters.range == nil
        ? localized("Remove all entries of \"%1\"?", title)
        : localized("Remove the entries of \"%1\" in %2?", title, line.value("range") ?? "")
      if !line.has("yes") {
        try need(context.process.isInteractive, localized("without a terminal, removing all needs --yes"))
        guard Asking.confirm(context, question, otherwise: localized("Nothing was removed.")) else { return .failed }
      }
    } else {
      try need(!line.has("range"), localized("--range needs --all TRACKER"))
      parameters.id = try number(context, listing: "chime entry list")
    }
    let removed = try context.daemon().call(parameters).removed
    switch context.format {
    case .json: context.print(json: ["removed": removed])
    case .plain: context.out("removed\n\(removed)")
    case .human:
      guard !context.isQuiet else { break }
      context.out(localized(count: removed, "%n entry removed", "%n entries removed"))
      if removed > 0 { context.note("  " + localized("`chime undo` restores it, for 30 days"), .faint) }
    }
    return .success
  }

  /// Returns the entry number, which is the first word; `#42` works like 42.
  static func number(_ context: Context, listing: String, extra: Bool = false) throws -> Int {
    let text = context.line.words.first ?? ""
    let digits = text.hasPrefix("#") ? String(text.dropFirst()) : text
    guard let number = Int(digits), number > 0, extra || context.line.words.count == 1 else {
      throw Failure.usage(
        text.isEmpty
          ? localized("a number is missing")
          : localized("\"%1\" is not a number", context.line.words.joined(separator: " ")),
        hint: localized("`%1` shows them", listing))
    }
    return number
  }
}
