import ChimeSchedule

/// A FleetCycle decides when to look for what other daemons have changed in a shared store. It is a value: it takes events
/// and returns orders.
///
/// One look runs at a time. An event during a look leads to another one.
struct FleetCycle: Hashable, Sendable {
  /// The interval between looks. If the daemon that took a reminder dies, a reminder due at that moment is late by at
  /// most this.
  static let interval = Milliseconds.seconds(1)
  /// The interval while no other daemon is known. A new daemon is noticed separately and triggers a look.
  static let aloneInterval = Milliseconds.seconds(60)

  enum Event: Hashable, Sendable {
    /// The first read of the store has ended.
    case ready
    /// This daemon has more queues.
    case taken
    /// Other daemons may have changed something.
    case changed
    /// The time of a look has come.
    case due
    /// A look has ended. `isAtRest`: no other daemon can change what this one waits for.
    case looked(isAtRest: Bool)
  }

  enum Order: Hashable, Sendable {
    /// Deliver `due` after this time.
    case wait(Milliseconds)
    /// Look, and before that release the claims that former holders of this daemon's leases left.
    case look(releases: Bool)
  }

  private var isReady = false
  private var isLooking = false
  private var needsRelease = false
  /// Whether something may have changed since the look in flight began.
  private var needsLook = false
  /// Whether this daemon stops, and waits until nothing is in flight.
  var isDraining = false

  mutating func handle(_ event: Event) -> Order? {
    switch event {
    case .ready:
      isReady = true
      return .wait(.zero)
    case .taken, .changed:
      needsRelease = needsRelease || event == .taken
      needsLook = true
      return isReady && !isLooking ? .wait(.zero) : nil
    case .due:
      guard isReady, !isLooking else {
        needsLook = true
        return nil
      }
      defer { (isLooking, needsLook, needsRelease) = (true, false, false) }
      return .look(releases: needsRelease)
    case .looked(let isAtRest):
      isLooking = false
      return .wait(needsLook ? .zero : isAtRest ? Self.aloneInterval : Self.interval)
    }
  }

  /// Notes that the claims of former holders could not be released; the next look retries.
  mutating func releaseHasFailed() { needsRelease = true }
}
