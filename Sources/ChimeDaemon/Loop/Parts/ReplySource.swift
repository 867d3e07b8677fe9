import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// Where the answers to one endpoint's messages are read, as the loop knows it.
struct ReplySource {
  enum Phase: Hashable {
    /// How far it was read is being looked up, or the server has not answered yet.
    case connecting
    case open
    /// It is asked for again then, by the clock that stands still while the machine sleeps.
    case waiting(untilMicroseconds: UInt64)
  }

  let address: String
  /// As it was when it was asked for last.
  var endpoint: Endpoint
  /// That of the stream; what comes of another is passed over.
  var number: UInt64
  var phase = Phase.connecting
  /// When the stream was opened.
  var openedMicroseconds: UInt64?
  var backoff = ReplyBackoff()
  /// The last message of which the store knows that it was read; nil: none, and also before it was looked up.
  var mark: String?
  /// The last message that was looked at. It may be later, as of those that change nothing the store is not told.
  var last: String?
  /// Messages that wait for those before them, the first one first.
  var queue: ArraySlice<ReplyReader.Reply> = []
  var isApplying = false
  /// Of one that is asked: whether the question was answered, and the next one follows once all is done that came.
  var isAnswered = false
  /// After which message was asked, and when.
  var asked: (after: String?, microseconds: UInt64)?
  /// Whether it has answered since something was wrong last.
  var hasAnswered = false
  /// Why it cannot be read, and since when; nil while it can.
  var problem: (reason: String, since: Instant)?
  var isProblemTold = false
  var answers = 0
  var refused = 0
  var answeredAt: Instant?

  init(_ endpoint: Endpoint, address: String, number: UInt64) {
    (self.endpoint, self.address, self.number) = (endpoint, address, number)
  }

  var standing: Status {
    Status(
      isOpen: phase == .open || hasAnswered, problem: problem?.reason, since: problem?.since, answers: answers,
      refused: refused, answeredAt: answeredAt)
  }

  /// What others are told of it.
  struct Status: Hashable, Sendable {
    var isOpen: Bool
    var problem: String?
    var since: Instant?
    var answers: Int
    var refused: Int
    var answeredAt: Instant?
  }
}

/// All of them.
struct ReplyState {
  var sources: [DeliveryQueue: ReplySource] = [:]
  var lastNumber: UInt64 = 0
  /// The look at which of them are to be read that is under way.
  var task: Task<Void, Never>?
  var owesLook = false

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
