import ChimeCore
import Synchronization

/// Reads what wakes next at the end of a writing transaction and numbers it.
///
/// A store runs its writing bodies one after another, so the numbers have the order of the commits, while the loop may
/// hear of two commits in either order.
final class WakeupsReader: Sendable {
  private let count = Atomic<UInt64>(0)

  /// How many writing transactions have read it.
  var transactions: UInt64 { count.load(ordering: .relaxed) }

  func read(_ transaction: any StoreTransaction) throws -> NextWakeups {
    var wakeups = try transaction.dueWakeups()
    wakeups.sequence = count.add(1, ordering: .relaxed).newValue
    return wakeups
  }
}
