import ChimeCore
import ChimeSchedule
import Synchronization

/// A delivery that this daemon has claimed, with what is to be said.
struct ClaimedMessage: Sendable {
  var claim: Claim
  var message: OutboundMessage
}

/// What came of an attempt, before it is recorded.
struct Outcome: Sendable {
  var attempt: Attempt
  var next: ChannelReport.NextStep
  var message: OutboundMessage

  var lane: Lane { message.delivery.lane }
}

/// Where channels put what came of attempts, from any thread, for the loop to take all at once.
///
/// A lock guards the lists: a channel's thread adds to them, and the loop takes them.
final class OutcomeInbox: Sendable {
  private let arrived = Mutex<(outcomes: [Outcome], answers: [OutboxWork.Answer])>(([], []))

  /// - Returns: whether it is the first since the loop last took them, so that the loop is to be woken.
  func put(_ outcome: Outcome) -> Bool {
    arrived.withLock { arrived in
      arrived.outcomes.append(outcome)
      return arrived.outcomes.count + arrived.answers.count == 1
    }
  }

  func put(_ answer: Occurrence.Answer, to occurrence: OccurrenceID) -> Bool {
    arrived.withLock { arrived in
      arrived.answers.append(OutboxWork.Answer(answer: answer, occurrence: occurrence))
      return arrived.outcomes.count + arrived.answers.count == 1
    }
  }

  func take() -> ([Outcome], [OutboxWork.Answer]) {
    arrived.withLock { arrived in
      defer { arrived = ([], []) }
      return arrived
    }
  }
}

/// What the loop has in hand of the outbox.
struct OutboxState {
  /// Claimed and not begun: what the agenda speaks of by id.
  private(set) var held: [DeliveryID: ClaimedMessage] = [:]
  /// Begun, and what came of it not yet recorded.
  private var underWay: Set<DeliveryID> = []
  /// What the next transaction brings to the store.
  var work = OutboxWork()
  /// The transaction that is under way.
  var task: Task<Void, Never>?
  /// The endpoints as they were last read.
  var endpoints: [Lane: Endpoint] = [:]
  /// Since when this daemon has seen an endpoint fail without a break, a sleep or a step of the clock.
  var seenFailing: [Lane: Instant] = [:]

  /// Keeps what was claimed until the agenda says that it begins.
  ///
  /// A claim is kept by the wall clock: when that is set forward or the machine sleeps it runs out, and what is held or
  /// under way is claimed once more. That is left out here, since it would be sent twice.
  ///
  /// - Returns: the claims that the agenda is to hear of.
  mutating func hold(_ claims: [ClaimedMessage]) -> [Claim] {
    var kept: [Claim] = []
    for claimed in claims where held[claimed.claim.id] == nil && !underWay.contains(claimed.claim.id) {
      held[claimed.claim.id] = claimed
      kept.append(claimed.claim)
    }
    return kept
  }

  /// What is to be sent for a claim that begins.
  mutating func begin(_ id: DeliveryID) -> OutboundMessage? {
    guard let message = held.removeValue(forKey: id)?.message else { return nil }
    underWay.insert(id)
    return message
  }

  mutating func forget(_ id: DeliveryID) { held[id] = nil }

  /// What came of these attempts is in the store, or lost.
  mutating func ended(_ outcomes: [Outcome]) {
    for outcome in outcomes { underWay.remove(outcome.message.delivery.id) }
  }

  /// What is held of earlier rounds than these, which have cancelled it.
  func superseded(by deliveries: [Delivery]) -> Set<DeliveryID> {
    let rounds = deliveries.filter { $0.round > 1 }
    guard !rounds.isEmpty, !held.isEmpty else { return [] }
    let latest = Dictionary(rounds.map { (Place($0), $0.round) }, uniquingKeysWith: max)
    return Set(
      held.values.lazy.map(\.message.delivery).filter { $0.round < latest[Place($0)] ?? 0 }.map(\.id))
  }

  /// Where the rounds of one occurrence take each other's place.
  private struct Place: Hashable {
    let occurrence: OccurrenceID
    let lane: Lane

    init(_ delivery: Delivery) { (occurrence, lane) = (delivery.occurrence, delivery.lane) }
  }
}

/// What is brought to the store in one transaction.
struct OutboxWork: Sendable {
  var outcomes: [Outcome] = []
  /// Those that waited longest first, so that no lane waits for another for ever.
  var claims: [(lane: Lane, limit: Int)] = []
  var releases: [DeliveryID] = []
  /// What receivers and buttons said to occurrences. It is recorded after the outcomes that came before it: an answer that
  /// closes an occurrence would cancel the very delivery that brought it.
  var answers: [Answer] = []

  struct Answer: Sendable {
    var answer: Occurrence.Answer
    var occurrence: OccurrenceID
  }

  /// The most outcomes, and the most claims, of one transaction: the writer is soon free for firing.
  static let limit = 512

  var needsNoTransaction: Bool { outcomes.isEmpty && claims.isEmpty && releases.isEmpty }
  var isEmpty: Bool { needsNoTransaction && answers.isEmpty }

  /// As much as one transaction takes.
  mutating func take() -> OutboxWork {
    var part = OutboxWork(outcomes: Array(outcomes.prefix(Self.limit)), releases: releases)
    outcomes.removeFirst(part.outcomes.count)
    releases = []
    if outcomes.isEmpty {
      part.answers = answers
      answers = []
    }
    var count = 0
    let taken = claims.prefix { claim in
      defer { count += claim.limit }
      return count < Self.limit
    }
    part.claims = Array(taken)
    claims.removeFirst(taken.count)
    return part
  }
}
