import Dispatch

/// A BackgroundValue is computed on a thread of its own.
package final class BackgroundValue<Value: Sendable>: @unchecked Sendable {
  // `@unchecked Sendable`: one thread writes the value before it signals the semaphore, and one reads it after the wait.
  private var result: Value?
  private let isThere = DispatchSemaphore(value: 0)

  package init(_ body: @escaping @Sendable () -> Value) {
    // A queue of its own, because the global queues have only as many threads as processors.
    DispatchQueue(label: "io.chime.background").async {
      self.result = body()
      self.isThere.signal()
    }
  }

  /// Waits for the value. Read it only once.
  package var value: Value {
    isThere.wait()
    guard let result else { preconditionFailure("the semaphore was signalled without a value") }
    return result
  }

  /// Returns the value, or nil if it is not ready within so many milliseconds. Call it once.
  package func value(within milliseconds: Int) -> Value? {
    isThere.wait(timeout: .now() + .milliseconds(milliseconds)) == .success ? result : nil
  }
}
