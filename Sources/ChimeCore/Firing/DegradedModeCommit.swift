public import ChimeSchedule

/// A DegradedModeCommit is what a transaction has recorded of a `DegradedMode`.
public struct DegradedModeCommit: Sendable {
  /// The results of the recorded outcomes, in order.
  public private(set) var outcomes: [OutboxCommit] = []
  /// The number of recorded times that fired in degraded mode.
  public private(set) var firings = 0
  /// The entries that recorded answers have logged, by owner.
  public private(set) var logged: [(owner: UInt32, outcome: TrackingOutcome)] = []
  /// The reasons for which the store refused entries.
  public private(set) var refused: [String] = []

  /// A Piece is what is recorded together.
  public enum Piece: Sendable {
    case start
    case entry(DegradedMode.Entry)
    case releases
  }

  /// Records all of `part`, with the original times.
  ///
  /// - Parameters:
  ///   - now: the daemon's time. It makes pending deliveries due that a clock set back would otherwise delay.
  ///   - didRecord: called after each piece, with what has been recorded so far.
  /// - Throws: errors of the transaction, which then must not be committed.
  public static func run(
    _ part: DegradedMode.Part, in transaction: any StoreTransaction, _ policies: DeliveryQueuePolicies,
    seenFailing: [DeliveryQueue: Instant],
    _ context: ReminderContext, now: Instant, using generator: inout some RandomNumberGenerator,
    didRecord: (Piece, DegradedModeCommit) -> Void = { _, _ in }
  ) throws -> DegradedModeCommit {
    var commit = DegradedModeCommit()
    let now = transaction.time?.instant ?? now
    var ahead: Set<DeliveryQueue> = []
    if part.needsStart {
      try transaction.releaseClaims()
      didRecord(.start, commit)
    }
    for entry in part.entries {
      defer { didRecord(.entry(entry), commit) }
      do {
        switch entry {
        case .fired(var firing):
          ahead.formUnion(firing.deliveries.filter { $0.createdAt > now }.map(\.queue))
          guard try transaction.readableReminder(firing.due.reminder.id) != nil else {
            commit.refused.append("\"\(firing.due.reminder.title)\" fired, but the store no longer has that reminder")
            continue
          }
          try firing.dismissPinged(in: transaction, now: now)
          var walk = context.timetable(of: firing.due.reminder, in: firing.zone).walk()
          try firing.settleMissed(in: transaction) { walk.next(after: $0) }
          try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
          try Chains.record([firing], in: transaction, now: now)
          if entry.wasDelivered { commit.firings += 1 }
        case .ended(let outcome, let time):
          var work = OutboxTransaction()
          work.outcomes = [outcome]
          commit.outcomes.append(
            try OutboxCommit.run(
              // The clock may have been ahead then. No endpoint has failed for that long, and no message waits until then.
              work, in: transaction, policies, seenFailing: seenFailing, context, now: min(time, now),
              using: &generator))
        case .answered(let answer, let time):
          try give(answer, at: time, in: transaction, context, &commit, using: &generator)
        case .superseded: break
        }
      } catch StoreFailure.internalError(let reason) {
        // An entry that cannot be recorded must not keep the others from being recorded.
        commit.refused.append(reason)
      }
    }
    try transaction.release(part.releases, now: now)
    for queue in ahead.sorted() { try transaction.wake(queue: queue, now: now) }
    if !part.releases.isEmpty || !ahead.isEmpty { didRecord(.releases, commit) }
    return commit
  }

  private static func give(
    _ answer: OutboxTransaction.Answer, at time: Instant, in transaction: any StoreTransaction,
    _ context: ReminderContext,
    _ commit: inout DegradedModeCommit, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let occurrence = try transaction.occurrence(answer.occurrence), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true
    else { return }
    let reminder = try transaction.readableReminder(occurrence.id.reminder)?.reminder
    do {
      let work = try AnswerTransaction.run(
        answer.answer, to: occurrence, reminder: reminder, by: answer.way, in: transaction, context, now: time,
        using: &generator)
      if let tracking = work.tracking { commit.logged.append((occurrence.owner, tracking)) }
    } catch is AnswerRefused {
      // Another answer was given since, or the reminder was removed.
    } catch is TrackingRefused {
      // The tracker or item that the answer logs to was removed since: the occurrence stays open.
    }
  }
}
