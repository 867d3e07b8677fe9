public import ChimeSchedule
import Synchronization

/// A ClaimedMessage is a delivery that this daemon has claimed, with its content.
public struct ClaimedMessage: Sendable {
  public var claim: Claim
  public var message: OutboundMessage

  public init(claim: Claim, message: OutboundMessage) {
    self.claim = claim
    self.message = message
  }

  /// Claims at most `limit` deliveries of a queue for the time that its policy sets, and reads their content.
  public static func claim(
    _ queue: DeliveryQueue, limit: Int, in transaction: any StoreTransaction, _ policies: DeliveryQueuePolicies,
    _ context: ReminderContext,
    now: Instant
  ) throws -> [ClaimedMessage] {
    let until = now + policies[queue].claimSpan
    return try transaction.claimDeliveries(queue: queue, now: now, visibleAgain: until, limit: limit).map { claimed in
      var message = claimed
      message.report = try report(on: message, in: transaction, context, now: now)
      if let event = message.delivery.event, event.isWithdrawal, let id = event.message {
        message.receipt = try transaction.receipt(of: id)
      }
      if context.subscriptions.keepsState(queue) {
        message.shown = try shown(by: queue, in: transaction, context, now: now)
      }
      return ClaimedMessage(claim: Claim(id: message.delivery.id, queue: queue, until: until), message: message)
    }
  }

  private static func report(
    on message: OutboundMessage, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> TrackerReport? {
    guard let reminder = message.reminder else { return nil }
    let report = try TrackerReport.read(for: reminder, in: transaction, context, now: now)
    guard reminder.isExpectation else { return report }
    return try TrackerReport(of: message.occurrence, reminder, over: report, in: transaction, context)
  }

  /// The number of newest open occurrences that are read for an endpoint's state.
  private static let mostShown = 100

  /// Returns what an endpoint shows: the open occurrences that it was notified of, with their latest messages, newest first.
  ///
  /// Messages claimed in this transaction are included. The state is read for each message, so that the next one
  /// corrects whatever was lost.
  private static func shown(
    by queue: DeliveryQueue, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> [OutboundMessage] {
    let open = try transaction.occurrences(
      OccurrenceFilter(owner: queue.owner, openOnly: true), page: Page(limit: mostShown))
    var shown: [OutboundMessage] = []
    for occurrence in open where occurrence.isShown {
      let sent = try transaction.sent(of: occurrence.id).filter { $0.queue == queue }
      guard let latest = sent.max(by: { $0.round < $1.round }) else { continue }
      var message = OutboundMessage(
        delivery: latest, occurrence: occurrence,
        reminder: try transaction.readableReminder(occurrence.id.reminder)?.reminder)
      message.report = try report(on: message, in: transaction, context, now: now)
      shown.append(message)
    }
    return shown.sorted { $0.delivery.createdAt > $1.delivery.createdAt }
  }
}

/// A ClaimsInDoubt remembers what a transaction has claimed, in case the answer to its commit is lost: then the commit
/// may have been carried out, and the loop knows of no claim.
final class ClaimsInDoubt: Sendable {
  // The store's thread writes it before the loop reads it; the lock shows that to the compiler.
  private let claimed = Mutex<[DeliveryID]>([])

  var ids: [DeliveryID] { claimed.withLock { $0 } }
  var isEmpty: Bool { ids.isEmpty }

  func note(_ claims: [ClaimedMessage]) {
    let ids = claims.map(\.claim.id)
    claimed.withLock { $0 = ids }
  }
}

/// An Outcome is the result of an attempt before it is recorded.
public struct Outcome: Sendable {
  public var attempt: Attempt
  public var next: ChannelReport.NextStep
  public var message: OutboundMessage

  public init(attempt: Attempt, next: ChannelReport.NextStep, message: OutboundMessage) {
    self.attempt = attempt
    self.next = next
    self.message = message
  }

  public var queue: DeliveryQueue { message.delivery.queue }
}

/// An OutboxTransaction is the work of one transaction on the outbox.
public struct OutboxTransaction: Sendable {
  public var outcomes: [Outcome] = []
  /// The queues to claim for, longest wait first, so that none starves.
  public var claims: [(queue: DeliveryQueue, limit: Int)] = []
  public var releases: [DeliveryID] = []
  /// Answers to occurrences. They are recorded after earlier outcomes, because an answer that closes an occurrence
  /// would cancel the very delivery that prompted it.
  public var answers: [Answer] = []

  public struct Answer: Sendable {
    public var answer: Occurrence.Answer
    public var occurrence: OccurrenceID
    /// The required owner of the occurrence, if given; answers to those of others are ignored.
    public var owner: UInt32?
    /// Where the answer came from, as in `Occurrence.answeredBy`.
    public var way: String?

    public init(answer: Occurrence.Answer, occurrence: OccurrenceID, owner: UInt32? = nil, way: String? = nil) {
      self.answer = answer
      self.occurrence = occurrence
      self.owner = owner
      self.way = way
    }
  }

  public init() {}

  /// The most outcomes and the most claims of one transaction, so that the writer is soon free for firing.
  public static let limit = 512

  public var needsNoTransaction: Bool { outcomes.isEmpty && claims.isEmpty && releases.isEmpty }
  public var isEmpty: Bool { needsNoTransaction && answers.isEmpty }

  /// Adds later work.
  public mutating func append(_ later: OutboxTransaction) {
    outcomes += later.outcomes
    claims += later.claims
    releases += later.releases
    answers += later.answers
  }

  /// Removes and returns as much as fits into one transaction.
  public mutating func take() -> OutboxTransaction {
    var part = OutboxTransaction()
    part.outcomes = Array(outcomes.prefix(Self.limit))
    part.releases = releases
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
