/// When a daemon is to be heard of again, and until when nobody can have taken over what it has leased.
///
/// Times are milliseconds of a clock that nobody sets and that goes on while the machine sleeps (CLOCK_BOOTTIME). The
/// database counts a lease from the moment at which it hears of the daemon, which is later than that at which the daemon
/// began to speak: counted from the latter, it ends here first.
struct Heartbeat: Equatable, Sendable {
  /// Between two beats.
  static let interval: Int64 = 2_000
  /// The same while there is nobody to take anything over: two of them are within a lease all the same.
  static let aloneInterval: Int64 = 2_500
  /// After the last beat, by the database's clock, what a daemon has is free for others.
  static let lease: Int64 = 6_000
  /// After a beat that failed.
  static let retry: Int64 = 500
  /// While something is being handed over.
  static let handover: Int64 = 200
  /// At the least between two, whoever calls; and while something is to be had in a moment.
  static let rest: Int64 = 50

  /// When the next beat is due.
  private(set) var next: Int64
  /// When our lease ends unless we are heard of before; nil: we have none.
  private(set) var leaseEnd: Int64?
  private var last: Int64?

  /// - Parameter now: the first beat is due at once.
  init(now: Int64) { next = now }

  /// A beat that was begun at `start` has been heard.
  ///
  /// - Parameters:
  ///   - othersEndIn: when the first lease of another ends unless it is heard of: then there is something to take.
  ///   - isHandingOver: whether something is on its way from one to another: of ours, what waits to be let go, or what
  ///     nobody has and others are to take.
  ///   - isShort: whether we were to take something that another had locked: who takes at the same time may have more than
  ///     its share of that, and nobody the rest.
  ///   - isAlone: whether there is nobody who could take anything over.
  mutating func heard(
    beganAt start: Int64, othersEndIn: Int64?, isHandingOver: Bool, isShort: Bool, isAlone: Bool = false
  ) {
    last = start
    leaseEnd = start + Self.lease
    let interval = isAlone ? Self.aloneInterval : Self.interval
    next = start + (isShort ? Self.rest : isHandingOver ? Self.handover : interval)
    // A moment later, for it is by the database's clock that it has to be over.
    if let othersEndIn { next = min(next, start + max(othersEndIn + 20, Self.rest)) }
  }

  /// A beat that was begun at `start` came to nothing; what was leased may or may not be.
  mutating func failed(at now: Int64) {
    last = now
    next = now + Self.retry
  }

  /// Another daemon has come, gone, or let something go.
  mutating func called(at now: Int64) { next = min(next, max(now, (last ?? now) + Self.rest)) }

  /// For how long nobody has heard of us as a beat begins, where that is longer than a lease.
  func lapse(at start: Int64) -> Int64? {
    guard let leaseEnd, start > leaseEnd else { return nil }
    return start - leaseEnd + Self.lease
  }
}
