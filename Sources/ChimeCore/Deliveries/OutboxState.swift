public import ChimeSchedule

/// An OutboxState is the part of the outbox that the loop holds in memory.
public struct OutboxState {
  /// Messages that are claimed but not begun, by the ids that the scheduler uses.
  public private(set) var held: [DeliveryID: ClaimedMessage] = [:]
  /// Deliveries whose attempt began and whose outcome is not recorded yet.
  private var underWay: Set<DeliveryID> = []
  /// Deliveries recorded, and occurrences whose messages were called off, lately.
  private var recorded = Recent<DeliveryID>()
  private var calledOff = Recent<OccurrenceID>()
  /// The work for the next transaction.
  public var work = OutboxTransaction()
  /// The endpoints as last read.
  public var endpoints: [DeliveryQueue: Endpoint] = [:]
  /// Since when this daemon has seen each queue fail, without a break, sleep or clock step.
  public var seenFailing: [DeliveryQueue: Instant] = [:]
  /// The number of failures per queue since the last success.
  private var failures: [DeliveryQueue: Int] = [:]

  public init() {}

  /// Notes how attempts ended.
  ///
  /// - Returns: the queues that recovered after enough failures in a row to make them rest; their waiting deliveries
  ///   may be tried at once. Fewer failures may be due to the messages themselves, which would use up their attempts if
  ///   retried after each success of another.
  public mutating func received(_ outcomes: [Outcome], at now: Instant) -> Set<DeliveryQueue> {
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

  public var isNothingUnderWay: Bool { underWay.isEmpty }

  /// Holds claimed messages until the scheduler begins them.
  ///
  /// Claims expire by the wall clock. When that is set forward or the machine sleeps, a message that is held or in
  /// flight is claimed once more. Such duplicates are left out here, because they would be sent twice.
  ///
  /// - Parameter number: the sequence number of the claiming transaction, by which messages that were recorded or
  ///   called off later but reported earlier are left out too. Nil in degraded mode.
  /// - Returns: the new claims for the scheduler.
  public mutating func hold(_ claims: [ClaimedMessage], asOf number: UInt64? = nil) -> [Claim] {
    var kept: [Claim] = []
    for claimed in claims where held[claimed.claim.id] == nil && !underWay.contains(claimed.claim.id) {
      let id = claimed.claim.id
      let delivery = claimed.message.delivery
      if let number, recorded.has(id, after: number) { continue }
      if let number, delivery.event == nil, calledOff.has(delivery.occurrence, after: number) { continue }
      held[claimed.claim.id] = claimed
      kept.append(claimed.claim)
    }
    return kept
  }

  /// Returns the message for a claim that begins.
  public mutating func begin(_ id: DeliveryID) -> OutboundMessage? {
    guard let message = held.removeValue(forKey: id)?.message else { return nil }
    underWay.insert(id)
    return message
  }

  public mutating func forget(_ id: DeliveryID) { held[id] = nil }

  /// Notes that the outcomes of these attempts were recorded or lost.
  ///
  /// - Parameter number: the sequence number of the recording transaction; nil if they were lost.
  public mutating func ended(_ outcomes: [Outcome], asOf number: UInt64?) {
    for outcome in outcomes {
      let id = outcome.message.delivery.id
      underWay.remove(id)
      if let number { recorded.note(id, number) }
    }
  }

  /// Notes that a transaction has cancelled the messages of these occurrences.
  public mutating func callOff(_ ids: some Sequence<OccurrenceID>, asOf number: UInt64) {
    for id in ids { calledOff.note(id, number) }
  }

  /// A Recent remembers the sequence numbers of the latest commits that concern a thing, in two generations.
  private struct Recent<Thing: Hashable & Sendable>: Sendable {
    private var last: [Thing: UInt64] = [:]
    private var before: [Thing: UInt64] = [:]

    mutating func note(_ thing: Thing, _ number: UInt64) {
      // Commits may be reported out of order.
      last[thing] = max(number, last[thing] ?? before[thing] ?? number)
      // Far fewer commits pass before a transaction that was in flight meanwhile is reported.
      if last.count >= 4 * OutboxTransaction.limit { (last, before) = ([:], last) }
    }

    func has(_ thing: Thing, after number: UInt64) -> Bool {
      (last[thing] ?? before[thing]).map { $0 > number } ?? false
    }
  }

  /// Returns the held messages of earlier rounds, which these deliveries have canceled.
  public func superseded(by deliveries: [Delivery]) -> Set<DeliveryID> {
    let rounds = deliveries.filter { $0.round > 1 && $0.event == nil }
    guard !rounds.isEmpty, !held.isEmpty else { return [] }
    let latest = Dictionary(rounds.map { (Place($0), $0.round) }, uniquingKeysWith: max)
    return Set(
      held.values.lazy.map(\.message.delivery).filter { $0.event == nil && $0.round < latest[Place($0)] ?? 0 }.map(\.id)
    )
  }

  /// A Place is where rounds of one occurrence replace each other.
  private struct Place: Hashable {
    let occurrence: OccurrenceID
    let queue: DeliveryQueue

    init(_ delivery: Delivery) { (occurrence, queue) = (delivery.occurrence, delivery.queue) }
  }
}
