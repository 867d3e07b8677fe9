public import ChimeSchedule

/// What the loop has in hand of the outbox.
public struct OutboxState {
  /// Claimed and not begun: what the scheduler speaks of by id.
  public private(set) var held: [DeliveryID: ClaimedMessage] = [:]
  /// Begun, and what came of it not yet recorded.
  private var underWay: Set<DeliveryID> = []
  /// Recorded of late, with the number of what wakes next that came with it; the second are those before the first.
  private var recorded: (last: [DeliveryID: UInt64], before: [DeliveryID: UInt64]) = ([:], [:])
  /// What the next transaction brings to the store.
  public var work = OutboxTransaction()
  /// The endpoints as they were last read.
  public var endpoints: [DeliveryQueue: Endpoint] = [:]
  /// Since when this daemon has seen an endpoint fail without a break, a sleep or a step of the clock.
  public var seenFailing: [DeliveryQueue: Instant] = [:]
  /// How many attempts have failed since one arrived.
  private var failures: [DeliveryQueue: Int] = [:]

  public init() {}

  /// Notes how attempts ended.
  ///
  /// - Returns: the queues whose other side takes messages again after it has failed so many times in a row that a queue rests:
  ///   what waits there need not wait for its own times. Fewer may be the fault of the messages, which would use up their
  ///   attempts whenever another arrives.
  public mutating func heard(_ outcomes: [Outcome], at now: Instant) -> Set<DeliveryQueue> {
    var well: Set<DeliveryQueue> = []
    for outcome in outcomes {
      let queue = outcome.queue
      switch outcome.attempt.outcome {
      case .delivered:
        seenFailing[queue] = nil
        if failures.removeValue(forKey: queue) ?? 0 >= Breaker.threshold { well.insert(queue) }
      case .failed:
        seenFailing[queue] = seenFailing[queue] ?? now
        failures[queue, default: 0] += 1
      case .refused: break
      }
    }
    return well
  }

  /// Whether no attempt is under way whose outcome is not recorded.
  public var isNothingUnderWay: Bool { underWay.isEmpty }

  /// Keeps what was claimed until the scheduler says that it begins.
  ///
  /// A claim is kept by the wall clock: when that is set forward or the machine sleeps it runs out, and what is held or
  /// under way is claimed once more. That is left out here, since it would be sent twice.
  ///
  /// - Parameter number: that of what wakes next that came with them. What was recorded after that, and heard of before, is left
  ///   out too. Nil: they come from memory.
  /// - Returns: the claims that the scheduler is to hear of.
  public mutating func hold(_ claims: [ClaimedMessage], asOf number: UInt64? = nil) -> [Claim] {
    var kept: [Claim] = []
    for claimed in claims where held[claimed.claim.id] == nil && !underWay.contains(claimed.claim.id) {
      let id = claimed.claim.id
      if let number, let ended = recorded.last[id] ?? recorded.before[id], ended > number { continue }
      held[claimed.claim.id] = claimed
      kept.append(claimed.claim)
    }
    return kept
  }

  /// What is to be sent for a claim that begins.
  public mutating func begin(_ id: DeliveryID) -> OutboundMessage? {
    guard let message = held.removeValue(forKey: id)?.message else { return nil }
    underWay.insert(id)
    return message
  }

  public mutating func forget(_ id: DeliveryID) { held[id] = nil }

  /// What came of these attempts is in the store, or lost.
  ///
  /// - Parameter number: that of what wakes next that came with the record; nil: it is lost.
  public mutating func ended(_ outcomes: [Outcome], asOf number: UInt64?) {
    for outcome in outcomes {
      let id = outcome.message.delivery.id
      underWay.remove(id)
      if let number { recorded.last[id] = number }
    }
    // A transaction that was under way meanwhile is heard of within far fewer.
    if recorded.last.count >= 4 * OutboxTransaction.limit { recorded = ([:], recorded.last) }
  }

  /// What is held of earlier rounds than these, which have cancelled it.
  public func superseded(by deliveries: [Delivery]) -> Set<DeliveryID> {
    let rounds = deliveries.filter { $0.round > 1 && $0.event == nil }
    guard !rounds.isEmpty, !held.isEmpty else { return [] }
    let latest = Dictionary(rounds.map { (Place($0), $0.round) }, uniquingKeysWith: max)
    return Set(
      held.values.lazy.map(\.message.delivery).filter { $0.event == nil && $0.round < latest[Place($0)] ?? 0 }.map(\.id)
    )
  }

  /// Where the rounds of one occurrence take each other's place.
  private struct Place: Hashable {
    let occurrence: OccurrenceID
    let queue: DeliveryQueue

    init(_ delivery: Delivery) { (occurrence, queue) = (delivery.occurrence, delivery.queue) }
  }
}
