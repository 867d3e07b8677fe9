import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// ReminderLinks links reminders to trackers, in the transaction that reads the trackers.
struct ReminderLinks: ReminderPart {
  typealias Interface = RemindersInterface

  let requestContext: RequestContext

  /// Applies the wanted link, and checks it against the schedule and the tracker.
  ///
  /// - Parameter trackers: the trackers to choose from; nil: those in the store.
  func link(
    _ reminder: inout Reminder, _ wanted: Interface.TrackerLink?, reset: [Interface.Draft.Reset] = [],
    among trackers: [Tracker]? = nil, in transaction: any StoreTransaction
  ) throws {
    if reset.contains(.tracker) { reminder.tracker = nil }
    if reset.contains(.amount) { reminder.tracker?.amount = nil }
    guard wanted != nil || reminder.tracker != nil else { return }
    var link: TrackerLink
    let tracker: Tracker?
    if let name = wanted?.tracker {
      let found = try find(name, among: trackers ?? transaction.trackers(owner: reminder.owner))
      tracker = found
      link = reminder.tracker ?? TrackerLink(tracker: found.id)
      if link.tracker != found.id { (link.tracker, link.amount) = (found.id, nil) }
      link.unit = link.unit ?? found.unit
    } else if let known = reminder.tracker {
      link = known
      tracker =
        try trackers?.first { $0.id == known.tracker }
        ?? transaction.tracker(TrackerKey(owner: reminder.owner, id: known.tracker))
    } else {
      throw ControlFailure.invalidValue(field: "tracker", "give a tracker: the reminder is linked to none")
    }
    if let wanted { try lay(wanted, over: &link, tracker) }
    reminder.tracker = link
    try check(reminder, link, tracker)
  }

  private func lay(_ wanted: Interface.TrackerLink, over link: inout TrackerLink, _ tracker: Tracker?) throws {
    if let logs = wanted.logs { link.logsWhenDone = logs }
    if let quiet = wanted.quietWhenDone { link.quietWhenDone = quiet }
    if let follows = wanted.followsEntries { link.followsEntries = follows }
    if let pace = wanted.pace { link.pace = pace }
    guard let amount = wanted.amount else { return }
    guard let tracker, tracker.kind == .amount, let own = tracker.unit else {
      throw ControlFailure.invalidValue(field: "tracker", "\(link.tracker) has no amounts: leave the amount out")
    }
    let unit = try wanted.unit.map { text in
      guard let unit = Unit(text), unit.converts(to: own) else {
        throw ControlFailure.invalidValue(field: "tracker", "\(link.tracker) is in \(own), not in \(text.prefix(32))")
      }
      return unit
    }
    guard let quantity = Quantity(amount, unit ?? own), quantity > .zero else {
      throw ControlFailure.invalidValue(
        field: "tracker",
        "an amount must be more than zero, and not larger than Chime can record")
    }
    (link.amount, link.unit) = (quantity, unit ?? own)
  }

  private func check(_ reminder: Reminder, _ link: TrackerLink, _ tracker: Tracker?) throws {
    if reminder.isExpectation { throw Self.expectsNoEntry }
    func refuse(_ sentence: String) -> ControlFailure { .invalidValue(field: "tracker", sentence) }
    if link.followsEntries, !reminder.schedule.canFollowEntries {
      throw refuse(
        "entries move the next time of an interval, such as \"every 90m from 8:00 to 22:00\", not of "
          + "\"\(reminder.schedule.canonical)\"")
    }
    guard link.pace else { return }
    guard context.timetable(of: reminder).hasWindows else {
      throw refuse(
        "pacing needs a window, such as that of \"every 90m from 8:00 to 22:00\"; "
          + "\"\(reminder.schedule.canonical)\" has none")
    }
    guard let tracker else { return }
    guard tracker.kind == .amount, let goal = tracker.goal, goal.period == .day, !goal.isAtMost,
      case .total = goal.target
    else {
      throw refuse("only an amount with a daily goal can be paced, and \(tracker.id) is none")
    }
    guard link.amount ?? tracker.usual != nil else {
      throw refuse("give the amount that *Done* logs: \(tracker.id) has no usual amount to divide the rest by")
    }
  }

  /// Finds a tracker by its id, or by its title in any language.
  private func find(_ name: String, among trackers: [Tracker]) throws -> Tracker {
    if let exact = trackers.first(where: { $0.id.rawValue == name }) { return exact }
    let wanted = name.lowercased()
    let titled = trackers.filter { $0.title.texts.values.contains { $0.lowercased() == wanted } }
    if titled.count == 1 { return titled[0] }
    let hint =
      SpellingSuggestions.question(name, among: trackers.map(\.id.rawValue))
      ?? (trackers.isEmpty ? "there are no trackers yet: chime init" : "chime tracker list lists them")
    throw ControlFailure.invalidValue(field: "tracker", "there is no tracker \"\(name.prefix(64))\"; \(hint)")
  }

  static var expectsNoEntry: ControlFailure {
    .invalidValue(
      field: "within",
      "an expectation ends with a ping, and a tracker's reminder with an entry: give only one of the two")
  }
}
