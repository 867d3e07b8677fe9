import ChimeControl
import ChimeCore
import ChimeSchedule

/// An OccurrencesHandler answers the methods about occurrences: lists them, takes answers, fires and moves.
struct OccurrencesHandler: OccurrencesInterface.Handler, RequestPart {
  let requestContext: RequestContext

  func handle(_ request: OccurrencesInterface.List) async throws -> OccurrencesInterface.List.Reply {
    let filter = request.filter
    let from = try instant(filter?.since, "since")
    let before = try instant(filter?.before, "before")
    let page = try page(limit: request.limit)
    return try await store.read { [self] transaction in
      let reminder = try filter?.reminder.map { text -> ReminderID in
        // History outlives its reminder, which may be named by its id.
        do {
          return try reminders(in: transaction).reminder(text).reminder.id
        } catch ControlFailure.notFound(let what, let id, let similar) {
          let gone = OccurrenceFilter(owner: caller.sees, reminder: ReminderID(rawValue: text))
          guard try !transaction.occurrences(gone, page: Page(limit: 1)).isEmpty else {
            throw ControlFailure.notFound(what: what, id: id, similar: similar)
          }
          return ReminderID(rawValue: text)
        }
      }
      var query = OccurrenceFilter(
        owner: caller.sees, reminder: reminder, openOnly: filter?.open ?? false, from: from, before: before)
      let wire = self.wire
      var listed: [OccurrencesInterface.Occurrence] = []
      let cursor = try inParts(page, after: place(request.cursor)) { part, place in
        query.after = place
        let found = try transaction.occurrences(query, page: part)
        listed += found.map { wire.occurrence($0) }
        return (found.count, found.reduce(0) { $0 + 400 + $1.title.utf8.count }, found.last?.id)
      }
      return OccurrencesInterface.List.Reply(occurrences: listed, cursor: cursor)
    }
  }

  func handle(_ request: OccurrencesInterface.Done) async throws -> OccurrencesInterface.Done.Reply {
    let answer = try request.item.map { text in
      guard let answer = Occurrence.Answer(item: text) else {
        throw ControlFailure.invalidValue(field: "item", "'\(TrackerFields.shown(text))' is not the id of an item")
      }
      return answer
    }
    return OccurrencesInterface.Done.Reply(
      occurrence: try await give(request.id) { _ in answer ?? .done })
  }

  func handle(
    _ request: OccurrencesInterface.Dismiss
  ) async throws -> OccurrencesInterface.Dismiss.Reply {
    OccurrencesInterface.Dismiss.Reply(occurrence: try await give(request.id) { _ in .dismiss })
  }

  func handle(_ request: OccurrencesInterface.Snooze) async throws -> OccurrencesInterface.Snooze.Reply {
    let length = try request.length.map {
      try ReminderFields.duration($0, "length", .seconds(1)...(.days(366)))
    }
    try need(length == nil || request.until == nil, "until", "give a length or a time, not both")
    let until = try request.until.map { text in
      guard let until = try? RFC3339.parse(text), until > now, until - now <= .days(366) else {
        throw ControlFailure.invalidValue(field: "until", "give a time within the next 366 days, in RFC 3339")
      }
      return until
    }
    let occurrence = try await give(request.id) { [now] reminder in
      .snooze(for: until.map { $0 - now } ?? length ?? reminder?.snoozeLengths.first ?? .minutes(10))
    }
    return OccurrencesInterface.Snooze.Reply(occurrence: occurrence)
  }

  private func give(
    _ id: String?, _ answer: @escaping @Sendable (Reminder?) -> Occurrence.Answer
  ) async throws -> OccurrencesInterface.Occurrence {
    return try await commit { [self] transaction in
      let occurrence = try reminders(in: transaction).occurrence(id)
      // Occurrences and answers of degraded mode must be recorded first, in their order.
      guard !unrecorded.contains(occurrence.id) else {
        throw ControlFailure.storeUnavailable(
          "the result of \"\(occurrence.title)\" from the time when the store rejected changes is not recorded yet; "
            + "answer it when the store accepts changes again")
      }
      let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
      let (answered, effects) = try Answering.give(
        answer(reminder), to: occurrence, reminder: reminder, by: caller.owner, in: transaction, context, now: now)
      return (wire.occurrence(answered, zone: reminder.map(wire.zone)), effects)
    }
  }

  func handle(_ request: OccurrencesInterface.Fire) async throws -> OccurrencesInterface.Fire.Reply {
    return try await commit { [self] transaction in
      let record = try reminders(in: transaction).reminder(request.id)
      var generator = PooledRandom()
      let fired = FiringDecision(now: now, uptime: Uptime(runningSince: now))
        .fireNow(record.reminder, using: &generator)
      let deliveries = fired.deliveries
      var occurrence = fired.occurrence
      occurrence.title = try record.reminder.filledTitle(in: transaction, context, now: now)
      let known = try transaction.occurrence(occurrence.id)
      if known?.firedAt != nil || unrecorded.contains(occurrence.id) {
        throw ControlFailure.conflict("\"\(record.reminder.title)\" has fired this very second")
      }
      let due = DueReminder(reminder: record.reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: now)
      var firing = FiringResult(
        due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
        skipNext: record.reminder.skipNext)
      try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
      try transaction.record([firing])
      try note(.fired, record.reminder.title, in: transaction)
      return (
        OccurrencesInterface.Fire.Reply(occurrence: wire.occurrence(occurrence, zone: wire.zone(of: record.reminder))),
        [.occurrence(.fired, occurrence, "\"\(occurrence.title)\" fired on request")]
      )
    }
  }

  // MARK: Moving

  /// Moves the next time of a reminder: one transaction makes it a snoozed occurrence, and steps to the time after it.
  func handle(_ request: OccurrencesInterface.Move) async throws -> OccurrencesInterface.Move.Reply {
    let length = try request.by.map { try ReminderFields.duration($0, "by", .seconds(1)...(.days(366))) }
    let to = try instant(request.to, "to")
    try need((length == nil) != (to == nil), "to", "give a length or a time, not both")
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
      try need(
        !unrecorded.contains(id) && transaction.occurrence(id)?.wasDelivered != true,
        conflict: "\"\(reminder.title)\" has fired at that time already")
      let occurrence = Occurrence(
        id: id, title: try reminder.filledTitle(in: transaction, context, now: now), owner: reminder.owner,
        state: .snoozed(until: until))
      var firing = FiringResult(
        due: DueReminder(reminder: reminder, scheduledAt: next, dueAt: dueAt), occurrences: [occurrence],
        deliveries: [], next: try reminder.next(after: next, in: transaction, context), advances: true,
        skipNext: reminder.skipNext)
      var generator = PooledRandom()
      try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
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

  /// Throws if the reminder would not ring at its next time.
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
    try need(
      until >= now + .seconds(1) && until - now <= .days(366), to == nil ? "by" : "to",
      "the new time must be within the next 366 days")
    return until
  }
}
