public import ChimeSchedule

/// An OutboxCommit is the result of an outbox transaction.
public struct OutboxCommit: Sendable {
  public private(set) var claims: [ClaimedMessage] = []
  /// The recorded outcomes with their new states; the attempt is nil if it was not worth a record.
  public private(set) var settled: [(outcome: Outcome, recorded: Attempt?, state: Delivery.State)] = []
  /// Endpoints that were disabled, each with the occurrence of its notice.
  public private(set) var disabled: [(endpoint: Endpoint, notice: Occurrence)] = []
  /// Endpoints whose `failingSince` changed.
  public private(set) var changed: [Endpoint] = []
  /// Outcomes of deliveries that another daemon has taken over.
  public private(set) var takenOver: [Outcome] = []
  /// The reasons for which the store refused outcomes.
  public private(set) var refused: [String] = []
  /// Queues whose deliveries could not be read, with the reasons.
  public private(set) var unreadable: [(queue: DeliveryQueue, reason: String)] = []

  /// Records outcomes, releases claims that do not begin, and claims new deliveries.
  ///
  /// - Parameter seenFailing: since when this daemon has seen each queue fail without a break.
  /// - Throws: errors of the transaction, which then must not be committed.
  public static func run(
    _ part: OutboxTransaction, in transaction: any StoreTransaction, _ policies: DeliveryQueuePolicies,
    seenFailing: [DeliveryQueue: Instant],
    _ context: ReminderContext, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws -> OutboxCommit {
    var commit = OutboxCommit()
    var endpoints: [DeliveryQueue: Endpoint?] = [:]
    for outcome in part.outcomes {
      do {
        let (state, recorded) = try record(outcome, in: transaction, context, now: now, using: &generator)
        commit.settled.append((outcome, recorded, state))
      } catch StoreFailure.takenOver {
        commit.takenOver.append(outcome)
        continue
      } catch StoreFailure.internalError(let reason) {
        // An outcome that cannot be recorded must not keep the others from being recorded.
        commit.refused.append(reason)
        continue
      }
      guard outcome.queue.channel != .desktop else { continue }
      do {
        try note(
          outcome, of: &endpoints, seenSince: seenFailing[outcome.queue], in: transaction, context, now: now, &commit,
          using: &generator)
      } catch StoreFailure.internalError(let reason) {
        // The same holds for one whose endpoint cannot be read.
        commit.refused.append(reason)
      }
    }
    try transaction.release(part.releases, now: now)
    for (queue, limit) in part.claims {
      do {
        commit.claims += try ClaimedMessage.claim(queue, limit: limit, in: transaction, policies, context, now: now)
      } catch StoreFailure.internalError(let reason) {
        // An error in one queue must not undo the results of the others.
        commit.unreadable.append((queue, reason))
      }
    }
    let isPutOff = commit.settled.contains { if case .waiting = $0.state { true } else { false } }
    if isPutOff { try Recompute.noteProgress(in: transaction, now: now) }
    return commit
  }

  /// Updates the endpoint after an outcome.
  private static func note(
    _ outcome: Outcome, of endpoints: inout [DeliveryQueue: Endpoint?], seenSince: Instant?,
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant, _ commit: inout OutboxCommit,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let queue = outcome.queue
    let known = try endpoints[queue] ?? transaction.endpoint(queue)
    endpoints[queue] = known
    guard let changed = known?.after(outcome.attempt, outcome.next, seenSince: seenSince, at: now) else { return }
    endpoints[queue] = changed
    try transaction.put(changed)
    if changed.disabled != nil {
      commit.disabled.append(
        (
          changed,
          try EndpointNotice.record(
            changed, in: transaction, context, now: now, using: &generator)
        ))
    } else {
      commit.changed.append(changed)
    }
  }

  private static func record(
    _ outcome: Outcome, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> (Delivery.State, Attempt?) {
    let delivery = outcome.message.delivery
    var attempt = outcome.attempt
    attempt.number = delivery.attempts + 1
    // After a successful attempt the number of earlier ones does not matter.
    let counted =
      attempt.outcome == .delivered
      ? 1 : RetryPolicy.counted(try transaction.attempts(of: delivery.id) + [attempt], of: delivery)
    let state = RetryPolicy.state(after: outcome.next, attempts: counted, now: now, using: &generator)
    // An unavailable channel is recorded once, not every half minute of a weekend without a session.
    let isRepeatedBlock = if case .blocked = outcome.next { delivery.attempts > 0 } else { false }
    let recorded = isRepeatedBlock ? nil : attempt
    try Announcing.outcome(
      of: outcome.message, state, in: transaction, context, now: now, using: &generator)
    try transaction.acknowledge(delivery.id, attempt: recorded, state: state)
    return (state, recorded)
  }
}
