import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime item add|edit|list|show|remove`
enum ItemVerbs {
  static let verb = Verb(
    name: "item", group: .keep,
    summary: "Collections: the items that entries refer to",
    details: ["For example your watches: `chime log watches Speedmaster` records which one you wore."],
    examples: [
      "chime item add watches \"Omega Speedmaster\" --brand Omega --since 2024-05-01", "chime item list watches",
    ],
    alsoTried: ["items", "collection", "watch"], subverbs: [add, edit, list, ItemShow.verb, remove])

  private static let options: [Verb.Option] = [
    .value("brand", nil, "BRAND", "Its brand; short for --set brand=BRAND"),
    .value("model", nil, "MODEL", "Its model; short for --set model=MODEL"),
    .value("set", nil, "KEY=VALUE", "Any other attribute; an empty value removes it", repeats: true),
    .value("since", nil, "DAY", "The day from which you have it"),
    .value("until", nil, "DAY", "The day until which you had it: sold, lost, given away"),
    .value("note", nil, "TEXT", "A note, up to 500 characters"),
    .value("photo", nil, "FILE", "A photo; Chime copies the file"),
  ]

  static let add = Verb(
    name: "add", group: .keep, arguments: ["TRACKER TITLE"], summary: "Add an item to a collection",
    options: options,
    examples: [
      "chime item add watches \"Omega Speedmaster\" --brand Omega --since 2024-05-01",
      "chime item add watches \"Seiko 5\" --set movement=7S26 --photo seiko.jpg",
    ],
    alsoTried: ["new", "buy"], json: "`item`, and `unlocked`: a list of each `achievement`", run: runAdd)

  static let edit = Verb(
    name: "edit", group: .keep, arguments: ["TRACKER ITEM"], summary: "Change an item",
    details: ["Without an option a field stays unchanged; an empty note or photo removes it."],
    options: [.value("title", nil, "TITLE", "A new title")] + options,
    examples: ["chime item edit watches Speedmaster --set strap=nato --until 2026-03-01"],
    alsoTried: ["change", "set"], json: "`item`, and `unlocked`: a list of each `achievement`", run: runEdit)

  static let list = Verb(
    name: "list", group: .keep, arguments: ["[TRACKER]"], summary: "List items, the most used first",
    details: [
      "Items that you no longer have (--until) are marked and come last. --search searches titles, attributes and "
        + "notes; with several --filter an item has to match all of them."
    ],
    options: [
      .value(
        "sort", nil, "ORDER",
        "By used (most first), last (latest first), title, since (newest first), or an attribute such as brand"),
      .value("search", nil, "TEXT", "Only those with this text in the title, an attribute or the note"),
      .value(
        "filter", nil, "KEY=VALUE", "Only those with that attribute, such as style=dive or brand=Omega", repeats: true),
      .flag("owned", nil, "Only those that you still have"),
      .flag(
        "gone", nil,
        "Only those that were sold, lost or given away"),
    ],
    examples: [
      "chime item list watches", "chime item list watches --sort last --owned",
      "chime item list watches --filter style=dive --search omega",
    ],
    alsoTried: ["ls"], json: "`items`, and `more`, which is false", run: runList)

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["TRACKER ITEM"], summary: "Remove an item; its entries stay",
    details: [
      "On a terminal it asks first. To keep an item in the statistics, set the day on which you stopped "
        + "having it: --until."
    ],
    options: [.flag("yes", "y", "Do not ask")], examples: ["chime item remove watches Speedmaster"],
    alsoTried: ["rm", "delete", "del", "sell"], json: "`item`: what was removed", run: runRemove)

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let (tracker, rest) = try TrackerArgument.split(
      context.line.words, among: TrackerArgument.trackers(context), context)
    let title = trimmed(rest.joined(separator: " "))
    try need(
      !title.isEmpty, localized("a title is missing"), hint: "chime item add \(tracker.id) \"Omega Speedmaster\"")
    try need(
      tracker.hasItems, failed: localized("%1 is not a collection", tracker.id),
      hint: localized("`chime tracker edit %1 --items` makes it one", tracker.id))
    return try put(context, tracker: tracker, item: nil, title: title)
  }

  private static func runEdit(_ context: Context) throws -> ExitCode {
    let (tracker, item) = try chosen(context)
    try need(
      (["title"] + options.map(\.name)).contains(where: { context.line.has($0) }),
      localized("what should change? Give an option"),
      hint: "chime item edit \(tracker.id) \(item.id) --since 2024-05-01")
    return try put(context, tracker: tracker, item: item, title: context.line.value("title"))
  }

  private static func put(
    _ context: Context, tracker: TrackersInterface.Tracker, item: TrackersInterface.Item?, title: String?
  ) throws -> ExitCode {
    let line = context.line
    let today = try context.today()
    var named = try Pairs.all(context, "set") ?? [:]
    for name in ["brand", "model"] { if let value = line.value(name) { named[name] = value } }
    // The daemon replaces all attributes, so send the unchanged ones too.
    let attributes = named.isEmpty ? nil : (item?.attributes ?? [:]).merging(named) { $1 }.filter { !$0.value.isEmpty }
    let reply: TrackersInterface.PutItem.Reply = try context.daemon().call(
      TrackersInterface.PutItem(
        tracker: tracker.id, id: item?.id, title: title, attributes: attributes,
        since: line.value("since").map { try day($0, "since", today) },
        until: line.value("until").map { try day($0, "until", today) },
        note: line.value("note"), photo: LogOptions.photo(line.value("photo"), context)))
    switch context.format {
    case .json: context.print(json: ["item": reply.item, "unlocked": reply.unlocked])
    case .plain: context.plain([reply.item])
    case .human:
      if context.isQuiet { break }
      for line in lines(reply.item, context) { context.out(line) }
      for line in ChangeReport.unlocked(reply.unlocked, context) { context.out(line) }
      if item == nil {
        context.note(localized("Log it with: %1", "chime log \(tracker.id) \(reply.item.title)"), .faint)
      }
    }
    return .success
  }

  private static func day(_ text: String, _ option: String, _ today: CivilDate) throws -> String {
    text.isEmpty ? "" : try TrackerVerbs.anyDay(text, option, today)
  }

  private static func lines(_ item: TrackersInterface.Item, _ context: Context) -> [String] {
    var rows = item.attributes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    if let since = item.since { rows.append(localized("since %1", context.trackerWords.date(since))) }
    if let until = item.until { rows.append(localized("until %1", context.trackerWords.date(until))) }
    if let note = item.note, !note.isEmpty { rows.append(note) }
    return ["\(context.style(TerminalSanitizer.line(item.id), .strong))  \(TerminalSanitizer.line(item.title))"]
      + rows.map { "  \(TerminalSanitizer.line($0))" }
  }

  private static func runList(_ context: Context) throws -> ExitCode {
    let tracker = context.line.words.isEmpty ? nil : try TrackerArgument.one(context.line.words, context)
    let all = try context.daemon().call(
      TrackersInterface.Items(tracker: tracker?.id)
    ).items
    let choice = try ItemChoice(context)
    let items = try choice.chosen(of: all)
    let example = "chime item add \(tracker?.id ?? "watches") \"Omega Speedmaster\""
    let empty =
      all.isEmpty
      ? [localized("There is no item yet."), localized("Add one: %1", example)]
      : [
        localized(count: all.count, "None matches, of %n item.", "None matches, of %n items."),
        localized("`chime item list` shows them all"),
      ]
    let words = context.trackerWords
    context.print(items, named: "items", empty: empty) {
      var table = Table(columns: [
        .init(title: localized("ID"), dropOrder: 2), .init(title: localized("TITLE"), canShrink: true),
        .init(title: localized("TIMES"), alignRight: true), .init(title: localized("LAST")),
        .init(title: localized("SINCE"), dropOrder: 3), .init(title: localized("UNTIL"), dropOrder: 1),
        .init(title: localized("ATTRIBUTES"), canShrink: true, dropOrder: 4),
      ])
      for item in items {
        let attributes = item.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let isGone = choice.isGone(item)
        table.rows.append([
          .init(item.id, .faint), .init(isGone ? "✗ \(item.title)" : item.title, isGone ? .faint : .strong),
          .init(String(item.entries)),
          .init(item.lastDay.map { words.date($0) } ?? localized("never")),
          .init(item.since.map { words.date($0) } ?? "", .faint),
          .init(item.until.map { words.date($0) } ?? "", .faint),
          .init(attributes.joined(separator: " "), .faint),
        ])
      }
      // Leave out the end column if no item has an end.
      if !items.contains(where: { $0.until != nil }) {
        table.columns.remove(at: 5)
        table.rows = table.rows.map { row in Array(row[..<5] + row[6...]) }
      }
      context.print(table: table)
      let gone = items.count { choice.isGone($0) }
      if gone > 0 {
        context.note(
          localized(
            count: gone, "✗ means that you no longer have it: %n item",
            "✗ means that you no longer have them: %n items"), .faint)
      }
    }
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let (tracker, item) = try chosen(context)
    let question = localized("Remove \"%1\"?", TerminalSanitizer.line(item.title))
    guard Asking.mayRemove(context, question) else { return .failed }
    let removed = try context.daemon().call(TrackersInterface.RemoveItem(tracker: tracker.id, id: item.id)).item
    context.print(removed, named: "item") {
      context.print(heading: removed.id, removed.title)
      context.out("  " + localized("removed; `chime undo` restores it, for 30 days"))
    }
    return .success
  }

  static func chosen(_ context: Context) throws -> (TrackersInterface.Tracker, TrackersInterface.Item) {
    let (tracker, rest) = try TrackerArgument.split(
      context.line.words, among: TrackerArgument.trackers(context), context)
    return (tracker, try Log.item(trimmed(rest.joined(separator: " ")), tracker, context))
  }
}
