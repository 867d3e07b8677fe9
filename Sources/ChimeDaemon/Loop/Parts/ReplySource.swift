import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A ReplySource is the loop's state about one reply address of an endpoint.
struct ReplySource {
  enum Phase: Hashable {
    /// The last position is being looked up, or the server has not answered yet. Exits: open, waiting.
    case connecting
    /// The stream delivers messages. Exits: connecting, waiting.
    case open
    /// The next attempt is due then, by the monotonic clock, which stands still during sleep. Exits: connecting.
    case waiting(untilMicroseconds: UInt64)
  }

  let address: String
  /// The endpoint as of the last check.
  var endpoint: Endpoint
  /// The number of the stream. Events of other streams are ignored.
  var number: UInt64
  var phase = Phase.connecting
  /// The time when the stream was opened.
  var openedMicroseconds: UInt64?
  var backoff = ReplyBackoff()
  /// The last message that the store records as read; nil if there is none or it was not looked up yet.
  var mark: String?
  /// The last handled message. It may be later than `mark`, because messages that change nothing are not recorded.
  var last: String?
  /// Messages that wait for earlier ones, oldest first.
  var queue: ArraySlice<ReplyReader.Reply> = []
  var isApplying = false
  /// For a polled source: whether the poll was answered, so that the next follows when all messages are handled.
  var isAnswered = false
  /// The position and time of the last poll.
  var asked: (after: String?, microseconds: UInt64)?
  /// Whether the source has answered since the last problem.
  var hasAnswered = false
  /// The reason why it cannot be read, and since when; nil if it can.
  var problem: (reason: String, since: Instant)?
  var isProblemReported = false
  var answers = 0
  var refused = 0
  var lastAnswerAt: Instant?

  init(_ endpoint: Endpoint, address: String, number: UInt64) {
    (self.endpoint, self.address, self.number) = (endpoint, address, number)
  }

  var status: Status {
    Status(
      isOpen: phase == .open || hasAnswered, problem: problem?.reason, since: problem?.since, answers: answers,
      refused: refused, lastAnswerAt: lastAnswerAt)
  }

  /// The status of a reply source in reports.
  struct Status: Hashable, Sendable {
    var isOpen: Bool
    var problem: String?
    var since: Instant?
    var answers: Int
    var refused: Int
    var lastAnswerAt: Instant?
  }
}

/// All reply sources of the daemon.
struct ReplyState {
  var sources: [DeliveryQueue: ReplySource] = [:]
  fileprivate var lastNumber: UInt64 = 0
  /// The re-evaluation of sources in flight.
  var task: Task<Void, Never>?
  var needsCheck = false

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
