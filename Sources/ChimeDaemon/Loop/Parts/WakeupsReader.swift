import ChimeCore
import Synchronization

/// A WakeupsReader reads the next wake-ups at the end of a writing transaction and numbers them.
///
/// A store runs its writing transactions one after another, so the numbers follow the order of commits. The loop may
/// learn of two commits in either order.
final class WakeupsReader: Sendable {
  private let count = Atomic<UInt64>(0)

  /// The number of writing transactions that have read it.
  var transactions: UInt64 { count.load(ordering: .relaxed) }

  func read(_ transaction: any StoreTransaction) throws -> NextWakeups {
    var wakeups = try transaction.dueWakeups()
    wakeups.sequence = count.add(1, ordering: .relaxed).newValue
    return wakeups
  }
}
