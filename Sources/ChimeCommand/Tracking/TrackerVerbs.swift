import ChimeControl
import ChimeWords

/// `chime tracker add|edit|list|show|pause|resume|skip|remove`
enum TrackerVerbs {
  static let verb = Verb(
    name: "tracker", group: .keep,
    summary: "Trackers: habits, amounts and measures",
    details: [
      "A check is done or not, an amount adds up over its day, a measure is a value at a moment. Packs bring "
        + "trackers with reminders and achievements (`chime pack list`); these verbs create trackers of your own, "
        + "and change any tracker."
    ],
    examples: [
      "chime tracker add reading --days mon,wed,fri --time-of-day evening",
      "chime tracker add water --unit ml --goal 2500 --presets 150,250,330", "chime tracker list",
    ],
    alsoTried: ["trackers", "habit", "habits", "goal"], subverbs: [add, edit, list, show, pause, resume, skip, remove])

  static let add = Verb(
    name: "add", group: .keep, arguments: ["TITLE"], summary: "Add a tracker",
    details: [
      "The id comes from the title: \"Evening walk\" becomes evening-walk. With a unit it is an amount, unless "
        + "--kind makes it a measure; without a unit it is a check. Chime converts units of the same kind (ml, l, "
        + "floz; g, kg, oz, lb, st; mm, cm, m, km, in, ft, mi; s, min, h; J, kJ, kcal; %); any other word counts "
        + "things, such as pages."
    ],
    options: [.value("id", nil, "ID", "Its id; the default comes from the title")] + TrackerOptions.all + [
      DraftOptions.dryRun, DraftOptions.token,
    ],
    examples: [
      "chime tracker add reading --days mon,wed,fri --time-of-day evening",
      "chime tracker add water --unit ml --goal 2500 --usual 250 --presets 150,250,330",
      "chime tracker add running --unit km --goal 20 --per week",
      "chime tracker add \"Evening walk\" --times 3/week --day-starts 4:00",
      "chime tracker add weight --kind measure --unit kg --decimals 1 --goal 80 --milestones 2",
      .init(command: "chime tracker add books --items", remark: "a collection; `chime item add` fills it"),
    ],
    alsoTried: ["new", "create"], json: "`tracker`", run: runAdd)

  static let edit = Verb(
    name: "edit", group: .keep, arguments: ["TRACKER"], summary: "Change a tracker; its entries stay",
    details: [
      "Without an option a field stays unchanged; an empty value removes it: --goal \"\". Chime counts the "
        + "streaks again."
    ],
    options: [.value("title", nil, "TITLE", "A new title")] + TrackerOptions.all + [DraftOptions.dryRun],
    examples: [
      "chime tracker edit water --goal 3000", "chime tracker edit reading --days daily",
      "chime tracker edit weight --goal \"\"",
    ],
    alsoTried: ["change", "set", "update"], json: "`tracker`", run: runEdit)

  static let list = Verb(
    name: "list", group: .keep, summary: "List the trackers",
    examples: ["chime tracker list"], alsoTried: ["ls"], json: "`trackers`, and `more`, which is false",
    run: runList)

  static let show = Verb(
    name: "show", group: .keep, arguments: ["TRACKER"], summary: "Show how a tracker is set up",
    examples: ["chime tracker show water"], alsoTried: ["get", "info"], json: "`tracker`", run: runShow)

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["TRACKER"], summary: "Remove a tracker and all its entries",
    details: ["On a terminal it asks first. For 30 days `chime undo` restores everything."],
    options: [.flag("yes", "y", "Do not ask"), DraftOptions.dryRun],
    examples: ["chime tracker remove reading"], alsoTried: ["rm", "delete", "del"],
    json: "`tracker`: what was removed", run: runRemove)

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let title = trimmed(context.line.words.joined(separator: " "))
    try need(!title.isEmpty, localized("a title is missing"), hint: "chime tracker add reading")
    let id = try context.line.value("id").map { try checked($0) } ?? identifier(title)
    let trackers = try TrackerArgument.trackers(context)
    try need(
      !trackers.contains(where: { $0.id == id }), failed: localized("there is a tracker \"%1\" already", id),
      hint: localized("`chime tracker edit %1` changes it; --id names a new one", id))
    var draft = TrackersInterface.TrackerDraft(id: id)
    let words = context.trackerWords
    draft.title = [words.ownLanguage: title.prefix(1).uppercased() + title.dropFirst()]
    let kind = context.line.value("kind").flatMap { TrackersInterface.Tracker.Kind(rawValue: $0) }
    draft.kind = kind ?? (context.line.value("unit").map { $0.isEmpty } ?? true ? .check : .amount)
    try TrackerOptions.fill(&draft, context, old: nil)
    return try put(draft, context)
  }

  private static func runEdit(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    var draft = TrackersInterface.TrackerDraft(id: tracker.id)
    let empty = draft
    if let title = context.line.value("title") {
      try need(!trimmed(title).isEmpty, localized("a title cannot be empty"))
      // Set every language: the user's own title is the same in all.
      draft.title = tracker.title.mapValues { _ in title }
      draft.title?[context.trackerWords.ownLanguage] = title
    }
    try TrackerOptions.fill(&draft, context, old: tracker)
    try need(
      draft != empty, localized("what should change? Give an option"),
      hint: localized("for example: chime tracker edit %1 --time-of-day evening", tracker.id))
    return try put(draft, context)
  }

  /// Saves a draft, or only validates it, and prints the result.
  static func put(_ draft: TrackersInterface.TrackerDraft, _ context: Context) throws -> ExitCode {
    let isDry = context.line.has("dry-run")
    let reply: TrackersInterface.Put.Reply = try context.daemon().call(
      TrackersInterface.Put(
        tracker: draft, dryRun: isDry ? true : nil, token: context.line.value("token")))
    context.print(reply.tracker, named: "tracker") {
      let words = context.trackerWords
      for line in TrackerPage.lines(reply.tracker, context) { context.out(line) }
      if isDry { return context.note(localized("Nothing was changed: this was a dry run.")) }
      if reply.created { context.note(localized("Log it with: %1", hint(reply.tracker, words)), .faint) }
    }
    return .success
  }

  private static func hint(_ tracker: TrackersInterface.Tracker, _ words: TrackerWords) -> String {
    if tracker.hasItems { return "chime item add \(tracker.id) \"TITLE\"" }
    let amount = tracker.kind == .check || tracker.usual != nil ? "" : " 1\(tracker.unit ?? "")"
    return "chime log \(tracker.id)\(amount)"
  }

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let trackers = try TrackerArgument.trackers(context)
    let words = context.trackerWords
    context.print(
      trackers, named: "trackers", empty: [localized("There is no tracker yet.")] + TrackerArgument.beginning
    ) {
      var table = Table(columns: [
        .init(title: localized("ID")), .init(title: localized("TITLE"), canShrink: true),
        .init(title: localized("KIND"), dropOrder: 2), .init(title: localized("GOAL"), canShrink: true, dropOrder: 1),
        .init(title: localized("DAYS"), canShrink: true, dropOrder: 3), .init(title: localized("PACK"), dropOrder: 4),
      ])
      for tracker in trackers {
        table.rows.append([
          .init(tracker.id, .strong), .init(words.title(tracker)), .init(words.kind(tracker.kind), .faint),
          .init(words.goal(tracker) ?? ""), .init(words.counting(tracker), .faint), .init(tracker.pack ?? "", .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func runShow(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    context.print(tracker, named: "tracker") {
      for line in TrackerPage.lines(tracker, context) { context.out(line) }
    }
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let words = context.trackerWords
    if context.line.has("dry-run") {
      context.print(tracker, named: "tracker") {
        context.out(localized("would remove"))
        for line in TrackerPage.lines(tracker, context) { context.out(line) }
      }
      return .success
    }
    let question = localized("Remove \"%1\" and all its entries?", words.title(tracker))
    guard Asking.mayRemove(context, question) else { return .failed }
    let removed = try context.daemon().call(TrackersInterface.Remove(id: tracker.id)).tracker
    context.print(removed, named: "tracker") {
      context.out("\(context.style(removed.id, .strong))  \(words.title(removed))")
      context.out("  " + localized("removed; `chime undo` restores it, for 30 days"))
    }
    return .success
  }

  /// Returns an id for a title, `evening-walk` for "Evening walk": ASCII letters, digits and hyphens.
  static func identifier(_ title: String) throws -> String {
    var id = ""
    for character in title.lowercased() {
      let base = character.unicodeScalars.first.map { plain($0) } ?? ""
      if base.isEmpty { if !id.isEmpty, id.last != "-" { id += "-" } } else { id += base }
    }
    while let first = id.first, !first.isLetter { id.removeFirst() }
    id = String(id.prefix(32))
    while id.last == "-" { id.removeLast() }
    try need(
      !id.isEmpty, localized("cannot make an id from \"%1\"", title), hint: localized("choose one: --id reading"))
    return id
  }

  private static func checked(_ id: String) throws -> String {
    let isSound =
      (1...32).contains(id.utf8.count) && id.first.map { $0.isASCII && $0.isLowercase } == true
      && id.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    try need(
      isSound, localized("\"%1\" is not an id", id),
      hint: localized("an id has small letters, digits and hyphens, 32 at most, and begins with a letter"))
    return id
  }

  /// Returns the ASCII equivalent of a letter or digit; empty if there is none.
  private static func plain(_ scalar: Unicode.Scalar) -> String {
    if scalar.isASCII {
      return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? String(scalar) : ""
    }
    return letters[scalar] ?? ""
  }

  /// European letters with diacritics; the standard library has no decomposition.
  private static let letters: [Unicode.Scalar: String] = {
    let rows = [
      ("a", "àáâãäåāăą"), ("ae", "æ"), ("c", "çćč"), ("d", "ďđð"), ("e", "èéêëēęě"), ("g", "ğģ"), ("i", "ìíîïīį"),
      ("k", "ķ"), ("l", "ĺľłļ"), ("n", "ñńňņ"), ("o", "òóôõöøőō"), ("oe", "œ"), ("r", "ŕř"), ("s", "śšşș"), ("ss", "ß"),
      ("t", "ťţț"), ("u", "ùúûüůűūų"), ("y", "ýÿ"), ("z", "źżž"),
    ]
    var letters: [Unicode.Scalar: String] = [:]
    for (base, marked) in rows { for scalar in marked.unicodeScalars { letters[scalar] = base } }
    return letters
  }()
}

/// Formats a tracker's definition for a person.
enum TrackerPage {
  static func lines(_ tracker: TrackersInterface.Tracker, _ context: Context) -> [String] {
    let words = context.trackerWords
    let style = context.style
    var rows: [(String, String)] = []
    func add(_ name: String, _ value: String?) { if let value, !value.isEmpty { rows.append((name, value)) } }
    add(localized("kind"), [words.kind(tracker.kind), tracker.unit].compactMap { $0 }.joined(separator: ", "))
    add(tracker.isLimited ? localized("limit") : localized("goal"), words.goal(tracker))
    add(localized("usual"), tracker.usual.map { words.amount($0, tracker) })
    add(localized("presets"), tracker.presets.map { words.number($0, tracker) }.joined(separator: " · "))
    add(localized("days"), words.counting(tracker))
    add(
      localized("before"),
      tracker.formerWeekdays.suffix(5).map {
        localized("%1 until %2", words.weekdays($0.weekdays), words.date($0.until))
      }.joined(separator: "; "))
    if tracker.dayStartsAt != "00:00" { add(localized("day starts"), tracker.dayStartsAt) }
    add(localized("time of day"), words.timeOfDay(tracker.timeOfDay))
    add(
      localized("fields"),
      tracker.fields.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }.joined(separator: ", "))
    add(localized("milestones"), tracker.milestoneStep.map { localized("every %1", words.amount($0, tracker)) })
    add(
      localized("stock"),
      tracker.stock.map {
        localized(
          count: $0.warnDays, "%1 on %2; listed below %n day", "%1 on %2; listed below %n days",
          words.amount($0.quantity, tracker), words.minute($0.since, context.clock()))
      })
    add(
      localized("pauses"),
      tracker.pauses.map { pause in
        [pause.from, pause.to].map { $0.map { words.date($0) } ?? "…" }.joined(separator: " – ")
      }.joined(separator: ", "))
    add(localized("skipped"), tracker.skips.suffix(5).map { words.date($0) }.joined(separator: ", "))
    add(
      localized("skips"), tracker.skipsEachMonth.map { localized(count: $0, "%n a month", "%n a month") })
    if tracker.hasItems { add(localized("items"), "`chime item list \(tracker.id)`") }
    add(localized("pack"), tracker.pack)
    add(localized("since"), words.date(tracker.startedOn))
    let names = rows.map { TextWidth.of($0.0) }.max() ?? 0
    return ["\(style(tracker.id, .strong))  \(words.title(tracker))"]
      + rows.flatMap { name, value in
        let wrapped = TextWidth.wrap(TerminalSanitizer.line(value), to: context.width, indent: names + 4)
        return ["  \(style(TextWidth.pad(name, to: names), .faint))  \(wrapped[0].dropFirst(names + 4))"]
          + wrapped.dropFirst()
      }
  }
}
