import ChimeCore
import ChimeSchedule

/// The model of a store with a clock's worth of faults: its transactions run in an instant, and what committed stands.
final class SimulatedStore {
  let transaction = MemoryTransaction(MemoryContents(), isReadOnly: false)
  var fault: Fault?
  /// When the writer is free again, by the monotonic clock.
  var freeAt: Int64 = 0

  struct Fault {
    enum Kind: String, CaseIterable {
      /// Nothing can be written.
      case readOnly = "write"
      /// Neither read nor written.
      case gone
      /// The disk fills up in the midst of transactions.
      case full
      /// Commits are refused, some of them.
      case refused
      /// It answers, seconds later.
      case slow
    }

    var kind: Kind
    /// By the monotonic clock.
    var until: Int64
  }

  var contents: MemoryContents { transaction.contents }

  /// - Parameter bits: decides where there is a choice.
  func write<Result>(_ kind: Fault.Kind?, _ bits: UInt64, _ body: (any StoreTransaction) throws -> Result) throws
    -> Result
  {
    transaction.changed = MemoryTransaction.Changes()
    transaction.change = nil
    guard let kind, kind != .slow else { return try body(transaction) }
    let full = StoreFailure.unavailable("the disk is full")
    if kind == .readOnly || kind == .gone { throw full }
    let before = transaction.contents
    defer { transaction.writesLeft = nil }
    do {
      if kind == .full { transaction.writesLeft = Int(bits % 4) }
      let result = try body(transaction)
      if kind == .refused, bits % 2 == 0 { throw full }
      return result
    } catch {
      transaction.contents = before
      transaction.changed = MemoryTransaction.Changes()
      throw error
    }
  }
}
