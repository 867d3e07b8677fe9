public import ChimeSchedule

/// One queue of the outbox: a channel of one user. What hangs in one queue delays no other.
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

/// One message to one channel: the outbox's unit.
///
///     pending → (sending) → delivered | waiting(nextAttempt) → (sending) … → dead | cancelled
///
/// *Sending* is not stored: whoever claims a delivery moves its `visibleAt` past the longest attempt, so that one
/// lost in a crash comes back by itself, with the same id.
public struct Delivery: Hashable, Sendable, Codable {
  public let id: DeliveryID
  public let occurrence: OccurrenceID
  public let queue: DeliveryQueue
  /// Which firing of the occurrence it belongs to: 1, and one more after each snooze and with each repeat.
  public let round: Int
  public var state: State
  /// Attempts that have ended.
  public var attempts: Int
  public var createdAt: Instant
  /// Of `attempts`, those that ended before a person had it sent again: they count no more for the retry schedule.
  public var attemptsBefore: Int
  /// What it tells; nil: that its occurrence fires.
  public let event: DeliveryEvent?

  public enum State: Hashable, Sendable, Codable {
    /// No attempt has ended yet. Exits: delivered, waiting, dead, cancelled.
    case pending
    /// An attempt failed and the next is due then; or it came late and the first is (`CatchUpSpread`). Exits: delivered, waiting,
    /// dead, cancelled.
    case waiting(until: Instant)
    /// The channel had it. No exit.
    case delivered(at: Instant)
    /// Given up. No exit (a person may replay it).
    case dead(at: Instant)
    /// No longer wanted: the occurrence was answered, a later round of it takes its place, its reminder was removed (none of
    /// which ends one that tells an event); its endpoint was removed, or its channel left it out. No exit.
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

  /// Whether it is still owed.
  public var isOwed: Bool {
    switch state {
    case .pending, .waiting: true
    case .delivered, .dead, .cancelled: false
    }
  }
}

/// What one attempt at a delivery came to. Appended, never changed.
public struct Attempt: Hashable, Sendable, Codable {
  /// 1, 2, 3 …
  public var number: Int
  public var startedAt: Instant
  public var took: Milliseconds
  public var outcome: Outcome
  /// HTTP status, SMTP reply code, or the exit status of a program.
  public var status: Int?
  /// The first 1 KiB of what came back, made printable.
  public var answer: String?
  /// One sentence, without secrets.
  public var error: String?
  /// What the receiver calls the message, which it is taken back by. It is kept with the delivery
  /// (`StoreTransaction.receipt`), and no attempt that is read has it.
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

  /// The most of an answer that is kept, in bytes.
  public static let answerLimit = 1_024
}
