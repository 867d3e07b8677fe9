import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

extension RequestHandler {
  func handle(_ request: OccurrencesInterface.List) async throws -> OccurrencesInterface.List.Reply {
    let filter = request.filter
    let from = try instant(filter?.since, "since")
    let before = try instant(filter?.before, "before")
    let page = try page(limit: request.limit, cursor: request.cursor)
    return try await store.read { [self] transaction in
      let reminder = try filter?.reminder.map { text -> ReminderID in
        // History outlives its reminder: an id that is gone still has one.
        do {
          return try reminders(in: transaction).reminder(text).reminder.id
        } catch ControlFailure.notFound(let what, let id, let near) {
          let gone = OccurrenceFilter(owner: caller.sees, reminder: ReminderID(rawValue: text))
          guard try !transaction.occurrences(gone, page: Page(limit: 1)).isEmpty else {
            throw ControlFailure.notFound(what: what, id: id, near: near)
          }
          return ReminderID(rawValue: text)
        }
      }
      let query = OccurrenceFilter(
        owner: caller.sees, reminder: reminder, openOnly: filter?.open ?? false, from: from, before: before)
      let wire = self.wire
      var listed: [OccurrencesInterface.Occurrence] = []
      let cursor = try inParts(page) { part in
        let found = try transaction.occurrences(query, page: part)
        listed += found.map { wire.occurrence($0) }
        return (found.count, found.reduce(0) { $0 + 400 + $1.title.utf8.count })
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
    guard length == nil || request.until == nil else {
      throw ControlFailure.invalidValue(field: "until", "give a length or a time, not both")
    }
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
      // What came from memory, or was answered there, is to be recorded in the order in which it came.
      guard !heard.contains(occurrence.id) else {
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
      if known?.firedAt != nil || heard.contains(occurrence.id) {
        throw ControlFailure.conflict("\"\(record.reminder.title)\" has fired this very second")
      }
      let due = DueReminder(reminder: record.reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: now)
      var firing = FiringResult(
        due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
        skipNext: record.reminder.skipNext)
      try Announcing.attend(&firing, in: transaction, context, now: now, using: &generator)
      try transaction.record([firing])
      try note(.fired, record.reminder.title, in: transaction)
      return (
        OccurrencesInterface.Fire.Reply(occurrence: wire.occurrence(occurrence, zone: wire.zone(of: record.reminder))),
        [.occurrence(.fired, occurrence, "\"\(occurrence.title)\" fired on request")]
      )
    }
  }
}

/// Gives an answer to an occurrence, from wherever it came: a command, a button, a webhook.
enum Answering {
  /// - Parameters:
  ///   - reminder: as it stands in `transaction`; nil when it has been removed.
  ///   - person: who can take it back.
  ///   - way: by which it came, as `Occurrence.answeredBy` has it.
  static func give(
    _ answer: Occurrence.Answer, to occurrence: Occurrence, reminder: Reminder?, by person: UInt32,
    way: String? = nil, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> (Occurrence, [PostCommitEffect]) {
    try transaction.lockTrackers()
    let work: AnswerTransaction
    var generator = PooledRandom()
    do {
      work = try AnswerTransaction.run(
        answer, to: occurrence, reminder: reminder, by: way, in: transaction, context, now: now, using: &generator)
    } catch let error as AnswerRefused {
      throw refusal(error, occurrence)
    } catch TrackingRefused.noItem(let item, let tracker) {
      throw ControlFailure.invalidValue(field: "item", "\(tracker) has no item \(item)")
    }
    guard work.occurrence != occurrence else { return (work.occurrence, []) }
    var detail = ChangeDetail(occurrences: [.init(before: occurrence, after: work.occurrence)])
    detail.reminders = work.chained.map { .init(before: $0.before, after: $0.after, next: $0.formerNext) }
    if let change = work.tracking?.change, reminder?.owner == person {
      // The entry that it has logged is taken back with it.
      try transaction.setDetail(detail.text(), of: change)
    } else {
      if work.occurrence.state == .done, let reminder, reminder.countsFromDone,
        let after = try transaction.readableReminder(reminder.id)?.reminder
      {
        detail.reminders.append(.init(before: reminder, after: after))
      }
      let kind: TrackingChange.Kind =
        switch work.occurrence.state {
        case .snoozed: .reminderSnoozed
        case .done: .reminderDone
        default: .reminderDismissed
        }
      let change = TrackingChange(owner: person, at: now, kind: kind, subject: occurrence.title)
      try transaction.setDetail(detail.text(), of: try transaction.begin(change))
    }
    let logged = work.tracking.map { TrackingNotices.of($0, owner: occurrence.owner) } ?? []
    return (work.occurrence, effects(of: work.occurrence, now: now) + logged + effects(of: work.chained))
  }

  /// What an answer that was given brings about.
  static func effects(of answered: Occurrence, now: Instant) -> [PostCommitEffect] {
    let title = "\"\(answered.title)\""
    switch answered.state {
    case .snoozed(let until):
      let wait = DurationText.format(Milliseconds.seconds((until - now + .milliseconds(999)).rawValue / 1_000))
      return [.occurrence(.snoozed, answered, "\(title) snoozed for \(wait)"), .withdraw(answered.id, until: until)]
    case .done: return [.occurrence(.done, answered, "\(title) done"), .withdraw(answered.id)]
    default: return [.occurrence(.dismissed, answered, "\(title) dismissed"), .withdraw(answered.id)]
    }
  }

  /// That reminders were given a time because of what they count from.
  static func effects(of chained: [Chains.Step]) -> [PostCommitEffect] {
    chained.map { .reminder(.changed, $0.after, "\"\($0.after.title)\" follows") }
  }

  private static func refusal(_ error: AnswerRefused, _ occurrence: Occurrence) -> ControlFailure {
    switch error {
    case .snoozeOutOfRange: .invalidValue(field: "length", "a snooze lasts from 1 second to 366 days")
    case .needsItem(let tracker, let items):
      .invalidValue(
        field: "item", "choose one of \(tracker): \(items.map(\.rawValue).joined(separator: ", "))")
    case .removed: .conflict("the reminder of \"\(occurrence.title)\" has been removed")
    case .closed(.done): .conflict("\"\(occurrence.title)\" is done already")
    case .closed(.dismissed): .conflict("\"\(occurrence.title)\" has been dismissed")
    case .closed: .conflict("\"\(occurrence.title)\" was missed: it can only be marked as done")
    }
  }
}
