import ChimeCore
import ChimeSchedule

/// A store with injected faults, which last for a time. Its transactions take no time, and what has committed is durable.
final class SimulatedStore {
  let transaction = MemoryTransaction(MemoryContents(), isReadOnly: false)
  var fault: Fault?
  var isDamaged = false
  /// When the writer is free again, in milliseconds of CLOCK_MONOTONIC.
  var freeAt: Int64 = 0

  struct Fault {
    enum Kind: String, CaseIterable {
      /// Writes fail.
      case readOnly = "write"
      /// Reads and writes fail.
      case gone
      /// The disk fills up within transactions.
      case full
      /// Some commits fail.
      case refused
      /// Replies take seconds.
      case slow
    }

    var kind: Kind
    /// In milliseconds of CLOCK_MONOTONIC.
    var until: Int64
  }

  var contents: MemoryContents { transaction.contents }

  /// - Parameters:
  ///   - bits: random bits for choices.
  ///   - mayRefuseLate: whether `body` may refuse after it has changed something. Others need no copy of the content.
  func write<Result>(
    _ kind: Fault.Kind?, _ bits: UInt64, mayRefuseLate: Bool, _ body: (any StoreTransaction) throws -> Result
  ) throws -> Result {
    transaction.changed = MemoryTransaction.Changes()
    transaction.change = nil
    if kind == nil || kind == .slow, !mayRefuseLate { return try body(transaction) }
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
