package import ChimeCore

/// A Job is a queued body together with its waiting caller.
package struct Job: Sendable {
  /// Whether it commits alone.
  package let isApart: Bool
  /// Runs the body. Its result is withheld until `CommitCompletion.settle`.
  package let run: @Sendable (any StoreTransaction) -> CommitCompletion
  /// Fails the job without running it.
  package let refuse: @Sendable (StoreFailure) -> Void

  package init<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Value, _ caller: CheckedContinuation<Value, any Error>,
    isApart: Bool = false
  ) {
    let refuse: @Sendable (StoreFailure) -> Void = { caller.resume(throwing: $0) }
    (self.isApart, self.refuse) = (isApart, refuse)
    run = { transaction in
      let result = Result { try body(transaction) }
      var error: (any Error)?
      if case .failure(let thrown) = result { error = thrown }
      return CommitCompletion(error: error, settle: { caller.resume(with: result) }, fail: refuse)
    }
  }
}

/// A CommitCompletion is the result of a body whose caller has not been informed. Exactly one of the two calls informs it.
package struct CommitCompletion: Sendable {
  /// The error that the body threw.
  package let error: (any Error)?
  /// Passes the body's result or error to the caller.
  package let settle: @Sendable () -> Void
  /// Tells the caller that nothing was committed.
  package let fail: @Sendable (StoreFailure) -> Void

  /// Returns the completion of a body that ignored a failure. Its caller learns of the failure in any case.
  package func failing(with failure: StoreFailure) -> CommitCompletion {
    CommitCompletion(error: failure, settle: { [fail] in fail(failure) }, fail: fail)
  }
}

/// A JobQueue holds bodies that wait for a commit, in order of arrival.
package struct JobQueue: Sendable {
  private var waiting: [Job] = []
  /// Whether a consumer is taking jobs.
  private var isDraining = false

  package init() {}

  /// Adds a job. Returns whether the caller must start a consumer, because none is running.
  package mutating func add(_ job: Job) -> Bool {
    waiting.append(job)
    defer { isDraining = true }
    return !isDraining
  }

  /// Returns all waiting jobs. A consumer that gets none must stop; the next `add` starts another.
  package mutating func takeAll() -> [Job] {
    defer { waiting.removeAll() }
    isDraining = !waiting.isEmpty
    return waiting
  }
}
