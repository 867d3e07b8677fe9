public import ChimeSchedule

/// A DeliveryQueue is one channel of one user in the outbox. A slow queue delays no other.
public struct DeliveryQueue: Hashable, Comparable, Sendable, Codable {
  public let owner: UInt32
  public let channel: ChannelName

  public init(owner: UInt32, channel: ChannelName) {
    self.owner = owner
    self.channel = channel
  }

  public static func < (left: DeliveryQueue, right: DeliveryQueue) -> Bool {
    (left.owner, left.channel) < (right.owner, right.channel)
  }
}

/// A Delivery is one message to one channel, the outbox's unit.
///
///     pending → (sending) → delivered | waiting(nextAttempt) → (sending) … → dead | cancelled
///
/// *Sending* is not stored: a claim hides the delivery for longer than any attempt, so that one lost in a crash becomes
/// visible again, with the same id.
public struct Delivery: Hashable, Sendable, Codable {
  public let id: DeliveryID
  public let occurrence: OccurrenceID
  public let queue: DeliveryQueue
  /// The firing of the occurrence that it belongs to: 1, plus one per snooze and per repeat.
  public let round: Int
  public var state: State
  /// The number of attempts that have ended.
  public var attempts: Int
  public var createdAt: Instant
  /// How many of `attempts` came before a manual replay; they no longer count for the retry schedule.
  public var attemptsBefore: Int
  /// The event that it reports; nil for a firing.
  public let event: DeliveryEvent?

  public enum State: Hashable, Sendable, Codable {
    /// No attempt has ended yet. Exits: delivered, waiting, dead, cancelled.
    case pending
    /// An attempt failed and the next is due then, or the first was delayed (`CatchUpSpread`). Exits: delivered,
    /// waiting, dead, cancelled.
    case waiting(until: Instant)
    /// The message arrived. No exit.
    case delivered(at: Instant)
    /// Given up. No exit (but a manual replay).
    case dead(at: Instant)
    /// No longer needed: its endpoint was removed, or its channel dropped it. A firing also becomes this when its
    /// occurrence is answered, a later round replaces it, or its reminder is removed. No exit.
    case cancelled(at: Instant)
  }

  public init(
    id: DeliveryID, occurrence: OccurrenceID, queue: DeliveryQueue, round: Int, state: State = .pending,
    attempts: Int = 0, createdAt: Instant, attemptsBefore: Int = 0, event: DeliveryEvent? = nil
  ) {
    self.id = id
    self.occurrence = occurrence
    self.queue = queue
    self.round = round
    self.state = state
    self.attempts = attempts
    self.createdAt = createdAt
    self.attemptsBefore = attemptsBefore
    self.event = event
  }

  /// Whether it is still pending.
  public var isPending: Bool {
    switch state {
    case .pending, .waiting: true
    case .delivered, .dead, .cancelled: false
    }
  }
}

/// An Attempt is the result of one attempt at a delivery. Attempts are appended and never change.
public struct Attempt: Hashable, Sendable, Codable {
  /// Counted from 1.
  public var number: Int
  public var startedAt: Instant
  public var took: Milliseconds
  public var outcome: Outcome
  /// HTTP status, SMTP reply code, or the exit status of a program.
  public var status: Int?
  /// The first 1 KiB of the response, made printable.
  public var answer: String?
  /// One sentence, without secrets.
  public var error: String?
  /// The receiver's id for the message, needed to withdraw it. It is stored with the delivery
  /// (`StoreTransaction.receipt`); attempts read from the store do not have it.
  public var receipt: String?

  public enum Outcome: String, Hashable, Sendable, Codable { case delivered, failed, refused }

  public init(
    number: Int, startedAt: Instant, took: Milliseconds, outcome: Outcome, status: Int? = nil, answer: String? = nil,
    error: String? = nil, receipt: String? = nil
  ) {
    self.number = number
    self.startedAt = startedAt
    self.took = took
    self.outcome = outcome
    self.status = status
    self.answer = answer
    self.error = error
    self.receipt = receipt
  }

  /// The most bytes of a response that are kept.
  public static let answerLimit = 1_024
}
