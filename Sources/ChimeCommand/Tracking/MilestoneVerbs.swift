import ChimeControl
import ChimeWords

/// `chime milestone add|edit|list|remove`
enum MilestoneVerbs {
  static let verb = Verb(
    name: "milestone", group: .keep,
    summary: "Days to remember, with a note and a photo",
    details: [
      "With `--milestones` (`chime tracker edit`) each step of a measure becomes a milestone when you cross it."
    ],
    examples: ["chime milestone add goal \"First draft\" --photo draft.jpg", "chime milestone list goal"],
    alsoTried: ["milestones", "memory"], subverbs: [add, edit, list, remove])

  private static let options: [Verb.Option] = [
    .value("day", nil, "DAY", "Its day, such as yesterday or 2026-03-01; the default is today"),
    .value("note", nil, "TEXT", "A note, up to 500 characters"),
    .value("photo", nil, "FILE", "A photo; Chime copies the file"),
  ]

  static let add = Verb(
    name: "add", group: .keep, arguments: ["TRACKER TITLE"], summary: "Set a milestone", options: options,
    examples: [
      "chime milestone add goal \"First draft\" --photo draft.jpg",
      "chime milestone add weight \"Old jeans fit\" --day 2026-03-01 --note \"At last\"",
    ],
    alsoTried: ["new"], json: "`milestone`", run: runAdd)

  static let edit = Verb(
    name: "edit", group: .keep, arguments: ["NUMBER"], summary: "Change a milestone",
    details: ["Without an option a field stays unchanged; an empty note or photo removes it."],
    options: [.value("title", nil, "TITLE", "A new title")] + options,
    examples: ["chime milestone edit 3 --title \"Second draft\""], alsoTried: ["change"],
    json: "`milestone`", run: runEdit)

  static let list = Verb(
    name: "list", group: .keep, arguments: ["[TRACKER]"], summary: "List milestones, the newest first",
    examples: ["chime milestone list"], alsoTried: ["ls", "show"],
    json: "`milestones`, and `more`, which is false", run: runList)

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["NUMBER"], summary: "Remove a milestone",
    details: ["For 30 days `chime undo` restores it."],
    examples: ["chime milestone remove 3"], alsoTried: ["rm", "delete", "del"],
    json: "`milestone`: what was removed", run: runRemove)

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let (tracker, rest) = try TrackerArgument.split(
      context.line.words, among: TrackerArgument.trackers(context), context)
    let title = trimmed(rest.joined(separator: " "))
    try need(!title.isEmpty, localized("a title is missing"), hint: "chime milestone add \(tracker.id) \"First draft\"")
    return try put(context, id: nil, tracker: tracker.id, title: title)
  }

  private static func runEdit(_ context: Context) throws -> ExitCode {
    let milestone = try chosen(context)
    try need(
      (["title"] + options.map(\.name)).contains(where: { context.line.has($0) }),
      localized("what should change? Give an option"), hint: "chime milestone edit \(milestone.id) --note \"At last\"")
    return try put(context, id: milestone.id, tracker: milestone.tracker, title: context.line.value("title"))
  }

  private static func put(_ context: Context, id: Int?, tracker: String, title: String?) throws -> ExitCode {
    let line = context.line
    let today = try context.today()
    let milestone = try context.daemon().call(
      TrackersInterface.PutMilestone(
        id: id, tracker: tracker, day: line.value("day").map { try PastMoment.day($0, option: "day", today: today) },
        title: title, note: line.value("note"), photo: LogOptions.photo(line.value("photo"), context))
    ).milestone
    context.print(milestone, named: "milestone") {
      let star = context.style("★", .caution)
      let title = context.style(TerminalSanitizer.line(milestone.title), .strong)
      context.out("\(star) \(title)  \(context.trackerWords.day(milestone.day))" + number(milestone, context))
      if let note = milestone.note, !note.isEmpty {
        for line in TextWidth.wrap(TerminalSanitizer.line(note), to: context.width, indent: 2) { context.out(line) }
      }
    }
    return .success
  }

  private static func number(_ milestone: TrackersInterface.Milestone, _ context: Context) -> String {
    context.style("  #\(milestone.id)", .faint)
  }

  private static func all(_ context: Context, _ tracker: String?) throws -> [TrackersInterface.Milestone] {
    try context.daemon().call(TrackersInterface.Milestones(tracker: tracker)).milestones.sorted {
      ($0.day, $0.id) > ($1.day, $1.id)
    }
  }

  private static func runList(_ context: Context) throws -> ExitCode {
    let tracker = context.line.words.isEmpty ? nil : try TrackerArgument.one(context.line.words, context)
    let milestones = try all(context, tracker?.id)
    let example = "chime milestone add \(tracker?.id ?? "goal") \"First draft\""
    let empty = [localized("There is no milestone yet."), localized("Add one: %1", example)]
    context.print(milestones, named: "milestones", empty: empty) {
      var table = Table(columns: [
        .init(title: "#", alignRight: true), .init(title: localized("DAY")),
        .init(title: localized("TITLE"), canShrink: true), .init(title: localized("TRACKER"), dropOrder: 2),
        .init(title: localized("NOTE"), canShrink: true, dropOrder: 3), .init(title: localized("PHOTO"), dropOrder: 4),
      ])
      for milestone in milestones {
        table.rows.append([
          .init(String(milestone.id), .faint), .init(context.trackerWords.date(milestone.day)),
          .init(milestone.title, .strong), .init(milestone.tracker, .faint), .init(milestone.note ?? ""),
          .init(milestone.photo == nil ? "" : localized("yes"), .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let milestone = try context.daemon().call(TrackersInterface.RemoveMilestone(id: number(context))).milestone
    context.print(milestone, named: "milestone") {
      context.out(
        "\(context.style(TerminalSanitizer.line(milestone.title), .strong))  \(context.trackerWords.day(milestone.day))"
      )
      context.out("  " + localized("removed; `chime undo` restores it, for 30 days"))
    }
    return .success
  }

  private static func chosen(_ context: Context) throws -> TrackersInterface.Milestone {
    let number = try number(context)
    guard let milestone = try all(context, nil).first(where: { $0.id == number }) else {
      throw Failure.failed(
        localized("there is no milestone %1", String(number)), hint: localized("`chime milestone list` shows them"))
    }
    return milestone
  }

  private static func number(_ context: Context) throws -> Int {
    try EntryVerbs.number(context, listing: "chime milestone list")
  }
}
