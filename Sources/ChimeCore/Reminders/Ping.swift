public import ChimeSchedule

/// What a job says of itself: that it begins, that it is done, or that it failed.
///
/// An expectation (`Reminder.within`) is closed by it. The last `kept` of each are kept.
public struct Ping: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The run begins; it has `Reminder.within` to end.
    case started
    case succeeded
    case failed
  }

  public var at: Instant
  public var kind: Kind
  /// The user whose program pinged, by number (SO_PEERCRED).
  public var uid: UInt32
  /// By which way it came, where that was not the socket alone: the name of a tenant, or `endpoint:` and that
  /// of an endpoint.
  public var via: String?
  /// How long the run took, where that is known.
  public var took: Milliseconds?
  /// The exit status of the run: 0 to 255, or 128 and the number of the signal that ended it.
  public var status: Int?
  /// The end of what it wrote, made printable.
  public var output: String?

  /// How many are kept of one expectation.
  public static let kept = 100

  public init(
    at: Instant, kind: Kind, uid: UInt32, via: String? = nil, took: Milliseconds? = nil, status: Int? = nil,
    output: String? = nil
  ) {
    self.at = at
    self.kind = kind
    self.uid = uid
    self.via = via
    self.took = took
    self.status = status
    self.output = output
  }
}

extension Set<Ping.Kind> {
  public static var all: Set { Set(Ping.Kind.allCases) }
  /// Those that end a run.
  public static var ends: Set { [.succeeded, .failed] }
}

extension StoreTransaction {
  /// The newest of some kinds; nil when none is kept.
  public func lastPing(
    of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool = false
  ) throws -> Ping? {
    try pings(of: id, among: kinds, withOutput: withOutput, limit: 1).first
  }
}

extension Ping {
  /// The endpoint by whose topic it came; nil where it came otherwise.
  public var endpoint: String? {
    via.flatMap { $0.hasPrefix("endpoint:") ? String($0.dropFirst("endpoint:".count)) : nil }
  }
}

extension Reminder {
  /// Whether it tells what did not happen: its times are closed by pings.
  public var isExpectation: Bool { within != nil }
}

extension Occurrence {
  /// Fires one whose snooze has ended, or whose ping has not come. One that was moved before its time fires for the first time.
  mutating func tell(at now: Instant, repeatAt: Instant?) {
    state = .fired
    firedAt = firedAt ?? now
    rounds += 1
    repeats = 0
    self.repeatAt = repeatAt
  }
}
