import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Answering gives an answer to an occurrence, from a command, a button, a webhook or a chat.
enum Answering {
  /// - Parameters:
  ///   - reminder: the reminder as it is in `transaction`; nil: it was removed.
  ///   - person: the owner who can undo the answer.
  ///   - way: the way by which it came, for `Occurrence.answeredBy`.
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
      // Undo also removes the entry that the answer logged.
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

  /// Returns the effects of an answer.
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

  /// Returns the events of reminders that got a time because another was done.
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

/// Pinging takes a ping of a job, from the socket or from the topic of an endpoint.
enum Pinging {
  /// - Parameter record: the expectation as it is in `transaction`.
  static func give(
    _ ping: Ping, to record: ReminderRecord, in transaction: any StoreTransaction, _ context: ReminderContext,
    _ uptime: Uptime
  ) throws -> (work: PingTransaction, effects: [PostCommitEffect]) {
    var generator = PooledRandom()
    let work = try PingTransaction.run(ping, of: record, in: transaction, context, uptime: uptime, using: &generator)
    let reminder = record.reminder
    var pinged = DaemonEvent(
      kind: .pinged, owner: reminder.owner, reminder: reminder.id, title: reminder.title,
      message: "\"\(reminder.title)\" \(ping.kind.rawValue)")
    pinged.ping = ping.kind
    pinged.occurrence = work.closed.last?.occurrence.id
    var effects: [PostCommitEffect] = [.event(pinged)]
    for occurrence in work.closed.map(\.occurrence) {
      // Degraded mode may have shown one that is only awaited in the store.
      effects +=
        occurrence.firedAt != nil ? Answering.effects(of: occurrence, now: ping.at) : [.withdraw(occurrence.id)]
    }
    effects += Answering.effects(of: work.chained)
    for shown in [work.fired, work.notice].compactMap({ $0 }) {
      effects.append(.occurrence(.fired, shown, "\"\(shown.title)\" fired"))
    }
    return (work, effects)
  }
}
