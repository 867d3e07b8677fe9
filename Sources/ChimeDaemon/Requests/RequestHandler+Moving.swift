import ChimeControl
import ChimeCore
import ChimeSchedule

extension RequestHandler {
  /// Moves the next time of a reminder: it becomes an occurrence that is put off before it has fired, in one transaction with
  /// the step to the time after it.
  func handle(_ request: OccurrencesInterface.Move) async throws -> OccurrencesInterface.Move.Reply {
    let length = try request.by.map { try ReminderFields.duration($0, "by", .seconds(1)...(.days(366))) }
    let to = try instant(request.to, "to")
    guard (length == nil) != (to == nil) else {
      throw ControlFailure.invalidValue(field: "to", "give a length or a time, not both")
    }
    return try await commit { [self] transaction in
      let record = try reminders(in: transaction).reminder(request.id)
      let reminder = record.reminder
      try requireMovable(record)
      let until = try until(to, length, from: record.coming ?? now)
      if let snoozed = record.snoozedUntil, snoozed <= record.nextDueAt ?? .latest {
        let open = try transaction.occurrences(
          OccurrenceFilter(reminder: reminder.id, openOnly: true), page: Page(limit: 100))
        guard let occurrence = open.first(where: { $0.state == .snoozed(until: snoozed) }) else {
          throw ControlFailure.conflict("\"\(reminder.title)\" is ringing now")
        }
        let (answered, effects) = try Answering.give(
          .snooze(for: until - now), to: occurrence, reminder: reminder, by: caller.owner, in: transaction, context,
          now: now)
        return (.init(occurrence: wire.occurrence(answered, zone: wire.zone(of: reminder))), effects)
      }
      guard let next = record.next, let dueAt = record.nextDueAt, dueAt > now else {
        throw ControlFailure.conflict("\"\(reminder.title)\" has no future time that can be moved")
      }
      let id = OccurrenceID(reminder: reminder.id, scheduledAt: next)
      guard !heard.contains(id), try transaction.occurrence(id)?.wasHeard != true else {
        throw ControlFailure.conflict("\"\(reminder.title)\" has fired at that time already")
      }
      let occurrence = Occurrence(
        id: id, title: try reminder.filledTitle(in: transaction, context, now: now), owner: reminder.owner,
        state: .snoozed(until: until))
      var firing = FiringResult(
        due: DueReminder(reminder: reminder, scheduledAt: next, dueAt: dueAt), occurrences: [occurrence],
        deliveries: [], next: try reminder.next(after: next, in: transaction, context), advances: true,
        skipNext: reminder.skipNext)
      var generator = PooledRandom()
      try Announcing.attend(&firing, in: transaction, context, now: now, using: &generator)
      try transaction.record([firing])
      try self.record(
        .reminderMoved, reminder.title, ChangeDetail(occurrences: [.init(before: nil, after: occurrence)]),
        in: transaction)
      return (
        .init(occurrence: wire.occurrence(occurrence, zone: wire.zone(of: reminder))),
        [.occurrence(.snoozed, occurrence, "\"\(occurrence.title)\" moved")]
      )
    }
  }

  /// Refuses what would not ring at its next time anyway.
  private func requireMovable(_ record: ReminderRecord) throws {
    let reminder = record.reminder
    if reminder.isExpectation {
      throw ControlFailure.conflict(
        "\"\(reminder.title)\" expects a ping at that time: `chime skip \(reminder.id)` skips it")
    }
    if reminder.pause.holds(at: now) {
      throw ControlFailure.conflict("\"\(reminder.title)\" is paused: `chime resume \(reminder.id)` ends that")
    }
    if reminder.skipNext > 0 {
      throw ControlFailure.conflict(
        "the next time of \"\(reminder.title)\" is skipped: `chime skip \(reminder.id) -n 0` undoes that")
    }
  }

  private func until(_ to: Instant?, _ length: Milliseconds?, from coming: Instant) throws -> Instant {
    let until = to ?? coming + (length ?? .zero)
    guard until >= now + .seconds(1), until - now <= .days(366) else {
      throw ControlFailure.invalidValue(field: to == nil ? "by" : "to", "the new time must be within the next 366 days")
    }
    return until
  }
}
