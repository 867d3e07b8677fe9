import Synchronization

/// A LeaseState tells transactions and the loop which part of the outbox this daemon holds.
///
/// A lock guards it: the fleet's thread writes, the store's queues and the loop read. It is held only for a copy.
final class LeaseState: Sendable {
  struct State: Sendable {
    /// This daemon's number in the database; nil before it has one.
    var node: Int64?
    /// Shards that are being handed over. No delivery of them is claimed any more.
    var yielding: Set<Int> = []
    /// The end of the leases unless renewed, by the clock of `LeaseRenewal`; nil if there are none.
    var leaseEnd: Int64?
    /// The start of the first beat that has had no answer, by the clock of `LeaseRenewal`; nil if the last one was answered.
    var unansweredSince: Int64?
    /// How often the leases have expired and were renewed.
    var lapses = 0
    /// Whether no other daemon is living, and no lost daemon had a session at the last beat.
    var isAlone = false
    /// The number of living daemons, including this one.
    var living = 1
    /// The number of sessions opened. A new one means that the server accepts connections again.
    var openings = 0
  }

  private let state = Mutex(State())
  /// Announces new deliveries to the other daemons. It is set once, before the first transaction.
  private let notify = Mutex<(@Sendable () -> Void)?>(nil)

  var current: State { state.withLock { $0 } }

  func onNotify(_ handler: @escaping @Sendable () -> Void) { notify.withLock { $0 = handler } }

  func notifyOthers() {
    guard current.living > 1 else { return }
    notify.withLock { $0 }?()
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
}
