package import ChimeCore

/// A body that waits for its turn, with whoever waits for it.
package protocol Job: Sendable {
  /// Whether it commits with no other.
  var isApart: Bool { get }
  /// Runs the body. What it returned or threw is held back until `CommitCompletion.settle`.
  func run(in transaction: any StoreTransaction) -> any CommitCompletion
  /// Ends it without running it.
  func refuse(_ failure: StoreFailure)
}

/// The end of a body that has run and whose caller has not been told yet. It is told once, by one of the two calls.
package protocol CommitCompletion: Sendable {
  /// What the body threw.
  var error: (any Error)? { get }
  /// Tells the caller what the body returned or threw.
  func settle()
  /// Tells the caller that nothing of it has lasted.
  func fail(_ failure: StoreFailure)
}

/// Bodies that wait to be committed, in the order in which they came.
package struct JobQueue: Sendable {
  private var waiting: [any Job] = []
  /// Whether somebody takes what waits.
  private var isDraining = false

  package init() {}

  /// - Returns: whether nobody takes what waits yet: the caller is to see that it is taken, until nothing is left.
  package mutating func add(_ job: any Job) -> Bool {
    waiting.append(job)
    defer { isDraining = true }
    return !isDraining
  }

  /// All that waits. Whoever gets nothing is to stop asking: the next body has its adder see to it.
  package mutating func takeAll() -> [any Job] {
    defer { waiting.removeAll() }
    isDraining = !waiting.isEmpty
    return waiting
  }
}

package struct BodyJob<Value: Sendable>: Job {
  private let body: @Sendable (any StoreTransaction) throws -> Value
  private let caller: CheckedContinuation<Value, any Error>
  package let isApart: Bool

  package init(
    body: @escaping @Sendable (any StoreTransaction) throws -> Value, caller: CheckedContinuation<Value, any Error>,
    isApart: Bool = false
  ) {
    self.body = body
    self.caller = caller
    self.isApart = isApart
  }

  package func run(in transaction: any StoreTransaction) -> any CommitCompletion {
    BodyCompletion(result: Result { try body(transaction) }, caller: caller)
  }

  package func refuse(_ failure: StoreFailure) { caller.resume(throwing: failure) }
}

private struct BodyCompletion<Value: Sendable>: CommitCompletion {
  let result: Result<Value, any Error>
  let caller: CheckedContinuation<Value, any Error>

  var error: (any Error)? {
    if case .failure(let error) = result { error } else { nil }
  }

  func settle() { caller.resume(with: result) }

  func fail(_ failure: StoreFailure) { caller.resume(throwing: failure) }
}
