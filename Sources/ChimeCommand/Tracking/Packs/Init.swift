import ChimeControl
import ChimeWords
import Glibc

/// `chime init`
enum Init {
  typealias Pack = TrackersInterface.Pack

  static let verb = Verb(
    name: "init", group: .track, summary: "Set up trackers in four short steps",
    details: [
      "It asks what to track, how much, in what portions, and whether to remind you. Return accepts the value in "
        + "brackets, skip skips a step, Ctrl-C quits without a change: nothing is installed before the last "
        + "answer. Run it again to see what is installed and to add to it.",
      "It does not ask what an option answers. Without a terminal, or with --yes, it asks nothing, and --pack names "
        + "the pack to install.",
    ],
    options: [
      .value("pack", nil, "NAME", "The pack to install; several with commas or repeated", repeats: true),
      .value("reminders", nil, "YES|NO", "Whether to be reminded", choices: ["yes", "no"]),
      .value(
        "first", nil, "[TRACKER=]VALUE", "The present value of a measure, such as your weight; logged at once",
        repeats: true),
    ] + PackOrder.options + [.flag("yes", "y", "Ask nothing: accept the values in brackets"), DraftOptions.dryRun],
    examples: [
      "chime init", "chime init --pack hydration --goal 2000 --usual 200 --reminders yes --yes",
      "chime init --pack weight --unit lb --first 180 --reminders no --yes",
      "chime init --pack adkhar,goal --title \"goal=Learn Czech\" --dry-run --yes",
    ],
    alsoTried: ["setup", "wizard", "begin", "start", "onboard", "configure"],
    json: "`packs`, `unlocked` (a list of each `achievement`) and `dryRun`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let line = context.line
    let asks = context.process.isInteractive && !line.has("yes")
    if !asks, !line.has("pack") {
      throw Failure(
        status: .usage, message: localized("without a terminal, --pack has to name the pack to install"),
        hints: [
          "chime init --pack hydration --goal 2000 --usual 200 --reminders yes",
          localized("`chime pack list` shows the packs"),
        ])
    }
    let known = try PackVerbs.packs(context)
    let wizard = Wizard(context)
    var orders = try line.list("pack").map { try Self.orders($0, known, context) } ?? []
    if asks {
      wizard.welcome(known)
      if !line.has("pack") { orders = try wizard.choosePacks(known).map { (PackOrder($0), $0) } }
      guard !orders.isEmpty else { return leave(known, context) }
    }
    var taken: Set<String> = []
    for index in orders.indices {
      taken.formUnion(try orders[index].order.take(line, for: orders[index].pack))
      taken.formUnion(try orders[index].order.takeFirst(line, for: orders[index].pack))
      if let reminders = line.value("reminders") {
        // An explicit choice for a single reminder takes precedence.
        for reminder in orders[index].pack.reminders
        where orders[index].order.choices.reminders?[reminder.key] == nil && (reminders == "no" || !reminder.optional) {
          orders[index].order.want(reminder.key, reminders == "yes")
        }
      }
    }
    try PackOrder.checkAllTaken(line, taken, orders.map(\.pack), options: PackOrder.options + options("first"))
    if asks { try wizard.ask(&orders) }
    return try install(orders.map(\.order), context)
  }

  private static func options(_ name: String) -> [Verb.Option] { verb.options.filter { $0.name == name } }

  private static func orders(
    _ names: [String], _ known: [Pack], _ context: Context
  ) throws -> [(order: PackOrder, pack: Pack)] {
    try need(!names.isEmpty, localized("--pack needs the name of a pack"))
    return try names.map { name in
      let order = try PackOrder(name, context)
      guard order.name != nil else { return (order, try order.send(context, dryRun: true).pack) }
      return (order, try PackVerbs.known(name, among: known))
    }
  }

  /// Prints what is installed and how to continue, when the user chose nothing.
  private static func leave(_ known: [Pack], _ context: Context) -> ExitCode {
    context.note("")
    let installed = known.filter { $0.installedAt != nil }
    guard !installed.isEmpty else {
      context.note(
        localized("Nothing was installed. `chime pack list` shows the packs; run `chime init` again at any time."))
      return .success
    }
    context.note(localized("Nothing was changed. Installed now:"))
    for pack in installed { for hint in hints(pack) { context.note("  " + hint) } }
    context.note("  chime today")
    return .success
  }

  private static func hints(_ pack: Pack) -> [String] { PackPage.next(pack).map { [$0] } ?? [] }

  /// Installs the packs one after another; Ctrl-C is ignored until all are installed.
  private static func install(_ orders: [PackOrder], _ context: Context) throws -> ExitCode {
    let isDry = context.line.has("dry-run")
    let previous = signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, previous) }
    // Validate all packs before installing the first.
    if !isDry { for order in orders { _ = try order.send(context, dryRun: true) } }
    let replies = try orders.map { try $0.send(context, dryRun: isDry) }
    let logged = isDry ? [] : orders.flatMap { logFirst($0, context) }
    switch context.format {
    case .json:
      context.print(json: ["packs": replies.map(\.pack), "unlocked": replies.flatMap(\.unlocked), "dryRun": isDry])
    case .plain: context.plain(replies.map(\.pack))
    case .human:
      guard !context.isQuiet else { break }
      if context.process.isInteractive { context.out() }
      for reply in replies { for line in PackPage.installed(reply, context, isDry: isDry) { context.out(line) } }
      for line in logged { context.out(line) }
      if isDry {
        context.note(localized("Nothing was changed: this was a dry run."))
      } else {
        context.out()
        context.out(localized("Now type:"))
        for line in nextSteps(replies.map(\.pack), context) { context.out(line) }
      }
    }
    return .success
  }

  /// Logs the first values of measures. The packs are installed by then, so a rejected value is only reported.
  private static func logFirst(_ order: PackOrder, _ context: Context) -> [String] {
    order.firstValues.sorted { $0.key < $1.key }.map { id, value in
      do {
        let reply: TrackersInterface.Log.Reply = try context.daemon().call(
          TrackersInterface.Log(tracker: id, amount: value))
        let words = context.trackerWords
        guard let tracker = reply.change.progress?.tracker else { return "" }
        return "\(context.style("✔", .good)) \(words.title(tracker)): \(words.amount(value, tracker))"
      } catch {
        let reason = (error as? Failure)?.message ?? String(describing: error)
        context.note(TerminalSanitizer.line(reason), .caution)
        return "  " + localized("`%1` records it", "chime log \(id) VALUE")
      }
    }.filter { !$0.isEmpty }
  }

  /// Returns the next commands to type, with descriptions where there is room.
  private static func nextSteps(_ packs: [Pack], _ context: Context) -> [String] {
    var steps = packs.compactMap { pack in
      PackPage.next(pack).map {
        (
          $0,
          pack.trackers.first?.hasItems == true ? localized("fills the collection") : localized("records it")
        )
      }
    }
    steps.append(("chime today", localized("shows today's progress")))
    steps.append(("chime undo", localized("undoes the last entry")))
    let widest = steps.map { TextWidth.of($0.0) }.max() ?? 0
    return steps.map { step in
      let line = "  \(context.style(TextWidth.pad(step.0, to: widest), .strong))  \(context.style(step.1, .faint))"
      let isWide = widest + 4 + TextWidth.of(step.1) > context.width
      return isWide ? "  \(context.style(step.0, .strong))" : line
    }
  }
}
