import Dispatch

/// A transaction's verbs and the one queue on which they may be used.
///
/// `@unchecked Sendable`: the transaction, with its connection and statements, is touched on `queue` only, which lets
/// in one block at a time; each access says so to Dispatch and stops the program if it is not so.
final class SerializedConnection: @unchecked Sendable {
  let queue: DispatchQueue
  private var transaction: Transaction?

  init(label: String, transaction: Transaction) {
    queue = DispatchQueue(label: label)
    self.transaction = transaction
  }

  /// The verbs; nil once closed.
  var open: Transaction? {
    dispatchPrecondition(condition: .onQueue(queue))
    return transaction
  }

  /// Opens it again, on another connection.
  func reopen(_ transaction: Transaction) {
    dispatchPrecondition(condition: .onQueue(queue))
    self.transaction = transaction
  }

  /// Closes the connection.
  ///
  /// - Parameter foldingLog: whether the last connection may still write what the log holds into the database.
  func close(foldingLog: Bool) {
    dispatchPrecondition(condition: .onQueue(queue))
    transaction?.connection.setCheckpointOnClose(foldingLog)
    transaction = nil
  }
}
