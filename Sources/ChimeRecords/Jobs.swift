package import ChimeCore

/// A Job is a queued body together with its waiting caller.
package protocol Job: Sendable {
  /// Whether it commits alone.
  var isApart: Bool { get }
  /// Runs the body. Its result is withheld until `CommitCompletion.settle`.
  func run(in transaction: any StoreTransaction) -> any CommitCompletion
  /// Fails the job without running it.
  func refuse(_ failure: StoreFailure)
}

/// A CommitCompletion is the result of a body whose caller has not been informed. Exactly one of the two calls informs it.
package protocol CommitCompletion: Sendable {
  /// The error that the body threw.
  var error: (any Error)? { get }
  /// Passes the body's result or error to the caller.
  func settle()
  /// Tells the caller that nothing was committed.
  func fail(_ failure: StoreFailure)
}

/// A JobQueue holds bodies that wait for a commit, in order of arrival.
package struct JobQueue: Sendable {
  private var waiting: [any Job] = []
  /// Whether a consumer is taking jobs.
  private var isDraining = false

  package init() {}

  /// Adds a job. Returns whether the caller must start a consumer, because none is running.
  package mutating func add(_ job: any Job) -> Bool {
    waiting.append(job)
    defer { isDraining = true }
    return !isDraining
  }

  /// Returns all waiting jobs. A consumer that gets none must stop; the next `add` starts another.
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
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Value, _ caller: CheckedContinuation<Value, any Error>,
    isApart: Bool = false
  ) {
    (self.body, self.caller, self.isApart) = (body, caller, isApart)
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
