import Dispatch

/// A SerializedConnection confines a transaction and its connection to one queue.
///
/// `@unchecked Sendable`: the transaction, its connection and its statements are accessed only on `queue`, which is
/// serial. Each access asserts this with `dispatchPrecondition`.
final class SerializedConnection: @unchecked Sendable {
  let queue: DispatchQueue
  private var transaction: Transaction?

  init(label: String, transaction: Transaction) {
    queue = DispatchQueue(label: label)
    self.transaction = transaction
  }

  /// The transaction; nil after `close`.
  var open: Transaction? {
    dispatchPrecondition(condition: .onQueue(queue))
    return transaction
  }

  /// Continues with another connection.
  func reopen(_ transaction: Transaction) {
    dispatchPrecondition(condition: .onQueue(queue))
    self.transaction = transaction
  }

  /// Closes the connection.
  ///
  /// - Parameter foldingLog: whether the last connection may checkpoint the log into the database.
  func close(foldingLog: Bool) {
    dispatchPrecondition(condition: .onQueue(queue))
    transaction?.connection.setCheckpointOnClose(foldingLog)
    transaction = nil
  }
}
