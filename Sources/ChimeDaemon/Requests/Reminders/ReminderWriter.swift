import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking

/// A ReminderWriter makes reminders of what clients ask for, and writes them.
struct ReminderWriter: ReminderPart {
  typealias Interface = RemindersInterface

  let requestContext: RequestContext

  /// Returns a reminder with the defaults of the configuration and the given fields. Its id is empty.
  func draft(_ draft: Interface.Draft) throws -> Reminder {
    let unnamed = ReminderID(rawValue: "")
    guard let title = draft.title else { throw ControlFailure.invalidValue(field: "title", "the title is missing") }
    guard let when = draft.when else { throw ControlFailure.invalidValue(field: "when", "the schedule is missing") }
    let zone = draft.timezone.map(ZoneChoice.init) ?? configuration.timezone
    let place = try fields.place(draft.latitude, draft.longitude)
    var reminder = Reminder(
      id: unnamed, owner: caller.owner, title: title,
      schedule: try fields.schedule(when, in: zone, at: place), timezone: zone, place: place,
      channels: configuration.defaultChannels,
      catchUp: configuration.catchUp, grace: configuration.grace, jitter: configuration.jitter,
      snoozeLengths: configuration.snooze, createdAt: now)
    // The schedule was parsed above.
    var rest = draft
    rest.when = nil
    try fields.apply(rest, to: &reminder)
    return reminder
  }

  func insert(
    _ reminder: Reminder, next: Instant?, into transaction: any StoreTransaction
  ) throws -> ReminderID {
    var generator = PooledRandom()
    return try transaction.insert(reminder, next: next, since: now, using: &generator)
  }

  /// Returns the next time after a change of the times. Throws if there is none, as `ReminderFields` does.
  func firstTime(of reminder: inout Reminder, in transaction: any StoreTransaction) throws -> Instant? {
    if let link = reminder.tracker, reminder.countsFromDone {
      let summary = try transaction.summary(of: TrackerKey(owner: reminder.owner, id: link.tracker))
      if let last = summary?.lastAt { reminder.lastDone = min(last, now) }
    }
    if reminder.tracker?.pace == true, let next = try reminder.next(after: now, in: transaction, context) {
      return next
    }
    return try fields.firstTime(of: reminder)
  }

  /// Writes a changed reminder. Its next time is computed again if the change may move it.
  func rewrite(
    _ record: inout ReminderRecord, from before: Reminder, in transaction: any StoreTransaction
  ) throws {
    // A held reminder is evaluated again: the change may release or drop it.
    var nextDueAt = record.isHeld ? now : nil
    let timesChanged =
      record.reminder.schedule != before.schedule || record.reminder.timezone != before.timezone
      || record.reminder.gap != before.gap || record.reminder.fold != before.fold
      || record.reminder.place != before.place || record.reminder.tracker != before.tracker
    if record.reminder.schedule != before.schedule || record.reminder.tracker != before.tracker {
      record.reminder.lastDone =
        record.reminder.countsFromDone
        ? try before.lastDone ?? lastDone(record.reminder.id, transaction) : nil
    }
    if record.reminder.schedule != before.schedule { record.reminder.chainedTimes = nil }
    // The loop fires a time that is already due. Changed times start from now.
    if timesChanged { (record.next, nextDueAt) = (try firstTime(of: &record.reminder, in: transaction), nil) }
    record.reminder.generation += 1
    try transaction.upsert(record.reminder, next: record.next, nextDueAt: nextDueAt, since: now)
  }

  /// Returns when it was last done, from its history.
  private func lastDone(_ id: ReminderID, _ transaction: any StoreTransaction) throws -> Instant? {
    try transaction.occurrences(OccurrenceFilter(reminder: id), page: Page(limit: 100))
      .first { $0.state == .done }?.endedAt
  }
}

/// ReminderWarnings says what keeps a written reminder from ringing.
struct ReminderWarnings: RequestPart {
  let requestContext: RequestContext

  func about(_ reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    let asleep = reminder.wake ? loop.wakeAlarm.problem.map { ["the machine cannot be woken for it: \($0)"] } ?? [] : []
    return asleep + (try channels(of: reminder, transaction))
  }

  private func channels(of reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    let paths = loop.paths
    return try reminder.channels(atRepeat: .max).compactMap { channel in
      if channel == .desktop {
        return paths.isSystem && paths.environment["DBUS_SESSION_BUS_ADDRESS"] == nil
          ? "the system's chimed has no desktop to show it on: send it to an endpoint or a command, or add it to your own chimed"
          : nil
      }
      if let command = commands.book.commands[channel] { return warning(about: command) }
      let endpoint = try transaction.endpoint(DeliveryQueue(owner: reminder.owner, channel: channel))
      if let reason = endpoint?.disabled?.reason { return "the endpoint \(channel) is disabled: \(reason)" }
      return endpoint == nil
        ? "there is no endpoint or command \(channel) yet: messages to it wait until chime endpoint add \(channel) "
          + "URL, or a command in [commands.\(channel)] of the configuration"
        : nil
    }
  }

  /// Returns what keeps a command from running.
  private func warning(about command: CommandDefinition) -> String? {
    guard commands.book.isEnabled else {
      return "commands are switched off: messages to \(command.name) wait until somebody does this: "
        + commands.book.remedy
    }
    return commands.problem(of: command).map { "the command \(command.name) cannot be run: \($0)" }
  }
}

/// A ReminderPart answers requests about reminders.
protocol ReminderPart: RequestPart {}

extension ReminderPart {
  var writer: ReminderWriter { ReminderWriter(requestContext: requestContext) }
  var links: ReminderLinks { ReminderLinks(requestContext: requestContext) }
  var chains: ReminderChains { ReminderChains(requestContext: requestContext) }
  var warnings: ReminderWarnings { ReminderWarnings(requestContext: requestContext) }
}
