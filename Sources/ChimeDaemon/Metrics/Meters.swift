import ChimeCore
import ChimeDelivery

/// The counters since the daemon's start. It is a value that the loop updates.
struct Meters: Sendable {
  /// Whether a firing was on time.
  enum Timing: String, CaseIterable { case onTime = "on_time", late, repeated }
  /// The transport of a message. There are six, regardless of the number of endpoints.
  enum Transport: String, CaseIterable { case desktop, command, webhook, email, mqtt, matrix }
  enum Outcome: String, CaseIterable { case delivered, failed, givenUp = "given_up", cancelled }
  enum Answer: String, CaseIterable { case done, dismissed, snoozed }
  enum ClockEvent: String, CaseIterable { case step, zone, resume }
  enum Heartbeat: String, CaseIterable { case accepted, failed, suppressed }

  struct Attempt: Hashable {
    var transport: Transport
    var outcome: Outcome
  }

  /// The kind and outcome of a finished message.
  struct DeliveryKey: Hashable {
    var kind: DeliveryEvent.Kind
    var outcome: Outcome

    static let kinds = OccurrenceEvent.allCases.map(DeliveryEvent.Kind.event) + [.withdrawal]
    static let outcomes = [Outcome.delivered, .givenUp]
  }

  private(set) var fired: [Timing: Int] = [:]
  private(set) var missed: [MissReason: Int] = [:]
  private(set) var attempts: [Attempt: Int] = [:]
  private(set) var deliveries: [DeliveryKey: Int] = [:]
  private(set) var answers: [Answer: Int] = [:]
  private(set) var clock: [ClockEvent: Int] = [:]
  private(set) var storeFailures = 0
  var heartbeats: [Heartbeat: Int] = [:]
  /// Answers that were read, by the reason for their rejection; nil for accepted ones.
  var replies: [TokenFault?: Int] = [:]
  private(set) var pings: [Ping.Kind: Int] = [:]
  private(set) var lateness = Histogram()

  /// Counts an event. `transport` is that of its channel.
  mutating func count(_ daemonEvent: DaemonEvent, transport: Transport) {
    switch daemonEvent.id {
    case .fired, .firedLate:
      // The daemon's own notices have no due time and thus no lateness.
      fired[daemonEvent.id == .fired ? .onTime : .late, default: 0] += 1
      if let late = daemonEvent.latenessMicroseconds { lateness.count(Double(max(0, late)) / 1_000_000) }
    case .firedAgain: fired[.repeated, default: 0] += 1
    case .missed:
      if let missed = daemonEvent.missed { self.missed[missed.reason, default: 0] += missed.count }
    case .delivered: attempts[Attempt(transport: transport, outcome: .delivered), default: 0] += 1
    case .attemptFailed: attempts[Attempt(transport: transport, outcome: .failed), default: 0] += 1
    case .givenUp: attempts[Attempt(transport: transport, outcome: .givenUp), default: 0] += 1
    case .messageCancelled: attempts[Attempt(transport: transport, outcome: .cancelled), default: 0] += 1
    case .answered: if let answer = Answer(rawValue: daemonEvent.kind.rawValue) { answers[answer, default: 0] += 1 }
    case .clockSet: clock[.step, default: 0] += 1
    case .zoneChanged: clock[.zone, default: 0] += 1
    case .resumed: clock[.resume, default: 0] += 1
    case .storeFailed: storeFailures += 1
    case .pinged: if let kind = daemonEvent.ping { pings[kind, default: 0] += 1 }
    default: break
    }
  }

  /// Counts a message that was delivered or given up.
  mutating func count(_ message: OutboundMessage, _ state: Delivery.State) {
    let outcome: Outcome
    switch state {
    case .delivered: outcome = .delivered
    case .dead: outcome = .givenUp
    case .pending, .waiting, .cancelled: return
    }
    deliveries[DeliveryKey(kind: message.kind, outcome: outcome), default: 0] += 1
  }

  /// A histogram of the lateness of firings in seconds.
  struct Histogram: Sendable {
    /// The upper bounds of the buckets but the last, in seconds. Most firings are within a millisecond; after sleep they
    /// may be hours late.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60, 3_600, 86_400]

    /// One bucket for each bound, and one for larger values.
    private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0

    mutating func count(_ seconds: Double) {
      buckets[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
      sum += seconds
    }
  }
}
