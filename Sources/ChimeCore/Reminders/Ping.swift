public import ChimeSchedule

/// A Ping is a job's report that it begins, succeeded, or failed. It closes occurrences of an expectation (`Reminder.within`).
public struct Ping: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The run begins and must end within `Reminder.within`.
    case started
    case succeeded
    case failed
  }

  public var at: Instant
  public var kind: Kind
  /// The user id of the program that pinged (SO_PEERCRED).
  public var uid: UInt32
  /// The sender, if not just a user of the socket: a tenant's name, or `endpoint:` and the endpoint's name.
  public var via: String?
  /// How long the run took, if known.
  public var took: Milliseconds?
  /// The exit status of the run: 0…255, or 128 plus the signal that ended it.
  public var status: Int?
  /// The end of the run's output, made printable.
  public var output: String?

  /// The number of pings kept per expectation.
  public static let maxStored = 100

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
  /// The kinds that end a run.
  public static var ends: Set { [.succeeded, .failed] }
}

extension Ping {
  /// The endpoint whose topic it came from; nil if it came another way.
  public var endpoint: String? {
    via.flatMap { $0.hasPrefix("endpoint:") ? String($0.dropFirst("endpoint:".count)) : nil }
  }
}
