import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime list`
enum List {
  static let verb = Verb(
    name: "list", group: .look, arguments: ["[TEXT…]"], summary: "List reminders",
    details: [
      "The list is ordered by the next time. TEXT selects those that have it in their title, id or a tag."
    ],
    options: [
      .value("tag", nil, "TAG", "Only those with this tag"),
      .value(
        "state", nil, "STATE", "Only those that are active, paused, waiting (for an answer) or finished",
        choices: RemindersInterface.Reminder.State.allCases.map(\.rawValue)),
      .value("before", nil, "TIME", "Only those that come before a time, such as \"3 days\" or 2026-12-01"),
      .flag("all", "a", "Include finished ones"),
      Pagination.limit("reminders", usually: 100),
    ],
    examples: ["chime list", "chime list water --all", "chime list --json -n all"],
    alsoTried: ["ls", "reminders", "all", "search", "find"],
    json: "`reminders`, and `more`: whether there are more than were asked for", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    var filter = RemindersInterface.Filter(
      tag: line.value("tag"), state: line.value("state").flatMap { .init(rawValue: $0) },
      text: context.optionalSubject(),
      all: line.has("all") || line.value("state") == "finished" ? true : nil)
    if let text = line.value("before") {
      let zone = try context.localZone()
      let instant = try TimeArgument.parse(
        text, option: "before", now: context.now, in: context.scheduleContext(in: zone, at: nil), toward: .future)
      filter.dueBefore = RFC3339.format(instant, in: zone)
    }
    let isFiltered = filter != RemindersInterface.Filter()
    let limit = try Pagination.limit(line, usually: 100)
    let daemon = try context.daemon()
    var warnings: [String] = []
    let (reminders, isCut) = try Pagination.pages(limit: limit) { limit, cursor in
      let reply: RemindersInterface.List.Reply = try daemon.call(
        RemindersInterface.List(filter: isFiltered ? filter : nil, limit: limit, cursor: cursor))
      warnings += reply.warnings ?? []
      return (reply.reminders, reply.cursor)
    }
    let inOrder = ordered(reminders)
    let empty =
      isFiltered
      ? [localized("No reminder matches."), localized("`chime list --all` shows every one.")]
      : [localized("No reminders yet."), localized("Add one: chime add \"Drink water\" every 90m from 8:00 to 22:00")]
    context.print(inOrder, named: "reminders", isCut: isCut, empty: empty) {
      context.print(table: table(context, inOrder))
    }
    context.warn(warnings)
    return .success
  }

  /// Sorts by the displayed next time; the daemon sorts skipped times by their original time.
  static func ordered(_ reminders: [RemindersInterface.Reminder]) -> [RemindersInterface.Reminder] {
    let times = reminders.map { $0.next.flatMap(WallClock.instant) ?? .latest }
    let order = reminders.indices.sorted { (times[$0], $0) < (times[$1], $1) }
    return order.elementsEqual(reminders.indices) ? reminders : order.map { reminders[$0] }
  }

  static func table(_ context: Context, _ reminders: [RemindersInterface.Reminder]) -> Table {
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: "ID"), .init(title: "TITLE", canShrink: true),
      .init(title: "SCHEDULE", canShrink: true, dropOrder: 2),
      .init(title: "NEXT"), .init(title: "LEFT", canShrink: true, dropOrder: 1),
      .init(title: "TO", canShrink: true, dropOrder: 3),
    ])
    for reminder in reminders {
      table.rows.append([
        .init(reminder.id, .strong), .init(reminder.title), .init(schedule(reminder, clock), .faint),
        next(clock, reminder),
        left(clock, reminder), .init(reminder.channels.joined(separator: ", "), .faint),
      ])
    }
    return table
  }

  private static func next(_ clock: WallClock, _ reminder: RemindersInterface.Reminder) -> Table.Cell {
    clock.cell(reminder.next, reminder.state == .paused || reminder.skipReason != nil ? .faint : .plain)
  }

  /// Returns the schedule. A single moment is only "once", because its time stands in another column. A schedule in
  /// another zone includes the zone.
  private static func schedule(_ reminder: RemindersInterface.Reminder, _ clock: WallClock) -> String {
    if reminder.when.hasPrefix("at ") { return localized("once") }
    if let chain = reminder.follows { return ChainText.schedule(chain) }
    let isOurs = reminder.timezone == "local" || reminder.timezone == clock.zone.identifier
    return isOurs ? reminder.when : "\(reminder.when), \(reminder.timezone)"
  }

  /// Returns the distance of the next time, or why there is none.
  private static func left(_ clock: WallClock, _ reminder: RemindersInterface.Reminder) -> Table.Cell {
    // Whatever the state: a reminder that notifies nobody deserves a warning.
    if reminder.undeliverable != nil, reminder.state != .finished {
      let mark = localized("! reaches nobody")
      return .init(
        reminder.state == .active ? "\(mark), \(clock.relative(reminder.next))" : mark, short: mark, .bad)
    }
    switch reminder.state {
    case .active:
      if reminder.next == nil, reminder.follows != nil || reminder.onlyIfDone?.since != nil {
        return .init(localized("waits"), .faint)
      }
      if let reason = reminder.skipReason {
        return .init(
          "\(clock.relative(reminder.next)), \(ComingMark.text(skipReason: reason))",
          short: ComingMark.text(skipReason: reason), .faint)
      } else {
        return .init(
          clock.relative(reminder.next) + (reminder.held == nil ? "" : localized(", held")),
          short: clock.shortRelative(reminder.next) + (reminder.held == nil ? "" : localized(", held")))
      }
    case .waiting: return .init(localized("unanswered"), .caution)
    case .paused: return .init(localized("paused"), .faint)
    case .finished: return .init(localized("finished"), .faint)
    }
  }
}
