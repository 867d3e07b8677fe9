import ChimeCore

/// A body that waits for its turn, with whoever waits for it.
protocol Job: Sendable {
  /// Runs the body. What it returned or threw is held back until `Settlement.settle`.
  func run(in transaction: Transaction) -> any Settlement
  /// Ends it without running it.
  func refuse(_ failure: StoreFailure)
}

/// The end of a body that has run and whose caller has not been told yet. It is told once, by one of the two calls.
protocol Settlement: Sendable {
  /// What the body threw.
  var error: (any Error)? { get }
  /// Tells the caller what the body returned or threw.
  func settle()
  /// Tells the caller that nothing of it has lasted.
  func fail(_ failure: StoreFailure)
}

struct BodyJob<Value: Sendable>: Job {
  let body: @Sendable (any StoreTransaction) throws -> Value
  let caller: CheckedContinuation<Value, any Error>

  func run(in transaction: Transaction) -> any Settlement {
    BodySettlement(result: Result { try body(transaction) }, caller: caller)
  }

  func refuse(_ failure: StoreFailure) { caller.resume(throwing: failure) }
}

private struct BodySettlement<Value: Sendable>: Settlement {
  let result: Result<Value, any Error>
  let caller: CheckedContinuation<Value, any Error>

  var error: (any Error)? {
    if case .failure(let error) = result { error } else { nil }
  }

  func settle() { caller.resume(with: result) }

  func fail(_ failure: StoreFailure) { caller.resume(throwing: failure) }
}
