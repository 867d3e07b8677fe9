/// A LeaseRenewal decides when the next beat is due and until when this daemon's leases are safe.
///
/// Times are milliseconds of CLOCK_BOOTTIME, which cannot be set and counts sleep. The database counts a lease from the
/// arrival of a beat, this daemon from its start, which is earlier. So the lease ends here first.
public struct LeaseRenewal: Equatable, Sendable {
  /// The interval between two beats.
  public static let interval: Int64 = 2_000
  /// The interval while no other daemon could take over; two beats still fit into a lease.
  public static let aloneInterval: Int64 = 2_500
  /// The length of a lease. After it, by the database's clock, other daemons may take the shards.
  public static let lease: Int64 = 6_000
  /// How much earlier a lease may end for a database that lost what it had not written yet: by one beat and the second
  /// that a server takes to write.
  public static let forgotten = interval + 1_000
  /// The wait after a failed beat.
  public static let retry: Int64 = 500
  /// The interval while shards are handed over.
  public static let handover: Int64 = 200
  /// The minimum interval between two beats, also used while shards become available in a moment.
  public static let rest: Int64 = 50

  /// The time of the next beat.
  public private(set) var next: Int64
  /// The end of the lease unless it is renewed; nil if there is none.
  public private(set) var leaseEnd: Int64?
  private var last: Int64?
  /// When the present connection replaced another one.
  private var reconnectedAt: Int64?

  /// Starts with a beat due at `now`.
  public init(now: Int64) { next = now }

  /// Records the success of a beat that began at `start`.
  ///
  /// - Parameters:
  ///   - othersEndIn: the time until the first lease of another daemon expires, after which its shards are free.
  ///   - isHandingOver: whether shards are moving: own ones that wait for deliveries in flight, or free ones for others.
  ///   - isShort: whether another daemon had locked shards that this one planned to take. A daemon that takes at the same
  ///     time may get more than its share of them, and leave the rest.
  ///   - isAlone: whether no other daemon could take over.
  public mutating func renewed(
    beganAt start: Int64, othersEndIn: Int64?, isHandingOver: Bool, isShort: Bool, isAlone: Bool = false
  ) {
    last = start
    leaseEnd = start + Self.lease
    let interval = isAlone ? Self.aloneInterval : Self.interval
    next = start + (isShort ? Self.rest : isHandingOver ? Self.handover : interval)
    // The margin lets the other lease expire by the database's clock.
    if let othersEndIn { next = min(next, start + max(othersEndIn + 20, Self.rest)) }
  }

  /// Records the failure of a beat. The database may or may not have renewed the lease.
  public mutating func failed(at now: Int64) {
    last = now
    next = now + Self.retry
  }

  /// Notes that a new connection has replaced a lost one.
  public mutating func reconnected(at now: Int64) { reconnectedAt = now }

  /// Returns for how long another daemon's lease must have expired before that daemon counts as lost.
  ///
  /// A database that was restarted or replaced may have lost the last beat of each daemon, because beats wait for no
  /// disk. Those daemons still trust their leases, and renew them within the time of one.
  public func patience(at now: Int64) -> Int64 {
    reconnectedAt.map { now < $0 + Self.lease } ?? false ? Self.forgotten : 0
  }

  /// Advances the next beat because another daemon has joined, left, or released something.
  public mutating func called(at now: Int64) { next = min(next, max(now, (last ?? now) + Self.rest)) }

  /// Returns the time without a renewal if it is longer than a lease.
  public func lapse(at start: Int64) -> Int64? {
    guard let leaseEnd, start > leaseEnd else { return nil }
    return start - leaseEnd + Self.lease
  }
}
