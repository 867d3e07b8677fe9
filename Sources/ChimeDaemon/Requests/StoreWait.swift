import ChimeCore
import ChimeSchedule
import Synchronization

/// Counts the calls of the store that nobody waits for any more, and that it has not come to.
final class StrandedCalls: Sendable {
  /// So many at most: a database that stands still for hours is not to have what is asked meanwhile pile up here.
  static let most = 64

  private let count = Atomic(0)

  var isFull: Bool { count.load(ordering: .relaxed) >= Self.most }

  func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// How long one request has waited for a database that does not answer, and the way out of it.
///
/// The loop ends the wait (`giveUp`); the threads that work on the request and the store's queues ask and tell. A lock
/// guards it.
final class StoreWait: Sendable {
  private struct State {
    /// How a call of the store that is under way is ended before it has come to its end.
    var call: (@Sendable (StoreFailure) -> Void)?
    /// By a clock that nobody sets, in microseconds: when the request came, or when its present call of the store began.
    var since: UInt64
    /// Whether it waits for its turn, or for the store.
    var isWaiting = true
    /// Whether a call has ended: the next one has waited since it began.
    var hasLeft = false
    /// Whether a change has begun, which may commit whatever is said of it.
    var hasBegunChange = false
    var failure: StoreFailure?
    /// Whether its call is waited for by nobody any more.
    var isStranded = false
  }

  private let state: Mutex<State>
  private let stranded: StrandedCalls

  init(_ stranded: StrandedCalls) {
    state = Mutex(State(since: SystemClock.monotonicMicroseconds))
    self.stranded = stranded
  }

  /// For how long it has waited; nil while it does not.
  var time: Milliseconds? {
    state.withLock { state in
      guard state.isWaiting else { return nil }
      return .milliseconds(Int64((SystemClock.monotonicMicroseconds - state.since) / 1_000))
    }
  }

  /// Whether the request is over, as far as the store is concerned: it calls it no more.
  private var failure: StoreFailure? { state.withLock { $0.failure } }

  /// It is worked on; it waits when it calls the store.
  func begin() { state.withLock { $0.isWaiting = false } }

  /// A change is about to be made, if there is still somebody to be told.
  func beginChange() throws(StoreFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.hasBegunChange = true }
      return state.failure
    }
    if let failure { throw failure }
  }

  /// What is to be told to who has asked.
  enum End: Sendable {
    /// The request finds out by itself, and says what it has to say.
    case tellsItself
    /// A change has begun, and is waited for to its end, but not by who has asked for it.
    case unknown
  }

  /// Ends the wait. No call of the store begins from now on, and no change.
  func giveUp(_ failure: StoreFailure) -> End {
    let (call, end): ((@Sendable (StoreFailure) -> Void)?, End) = state.withLock { state in
      state.failure = failure
      if state.call != nil, !state.isStranded {
        state.isStranded = true
        stranded.add(1)
      }
      if state.hasBegunChange, state.isWaiting { return (nil, .unknown) }
      return (state.call, .tellsItself)
    }
    call?(failure)
    return end
  }

  /// Calls the store, and waits until it has answered or the wait is given up.
  func call<Result: Sendable>(
    on executor: DispatchExecutor, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    if let failure { throw failure }
    return try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Result, any Error>) in
      let caller = Once(caller)
      enter { caller.take()?.resume(throwing: $0) }
      Task(executorPreference: executor) {
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        self.leave()
        caller.take()?.resume(with: result)
      }
    }
  }

  private func enter(_ call: @escaping @Sendable (StoreFailure) -> Void) {
    let failure = state.withLock { state in
      // A request that has come to its turn has waited since it came.
      if state.call == nil, state.hasLeft { state.since = SystemClock.monotonicMicroseconds }
      (state.call, state.isWaiting) = (call, true)
      return state.failure
    }
    if let failure { call(failure) }
  }

  private func leave() {
    state.withLock { state in
      (state.call, state.isWaiting, state.hasLeft) = (nil, false, true)
      if state.isStranded { stranded.add(-1) }
      state.isStranded = false
    }
  }

  /// A continuation that the first who comes resumes.
  private final class Once<Result: Sendable>: Sendable {
    private let caller: Mutex<CheckedContinuation<Result, any Error>?>

    init(_ caller: CheckedContinuation<Result, any Error>) { self.caller = Mutex(caller) }

    func take() -> CheckedContinuation<Result, any Error>? {
      caller.withLock { caller in
        defer { caller = nil }
        return caller
      }
    }
  }
}

/// A database on the network as one request has it: who waits for it is not kept waiting when it does not answer.
struct RequestStore: SharedStore {
  let base: any SharedStore
  let wait: StoreWait
  let executor: DispatchExecutor

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await wait.call(on: executor) { [base, wait] in
      try await base.write { transaction in
        try wait.beginChange()
        return try body(transaction)
      }
    }
  }

  func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await wait.call(on: executor) { [base, wait] in
      try await base.writeApart { transaction in
        try wait.beginChange()
        return try body(transaction)
      }
    }
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await wait.call(on: executor) { [base] in try await base.read(body) }
  }

  func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await wait.call(on: executor) { [base] in try await base.readApart(body) }
  }

  func close() async { await base.close() }

  func heldQueues() async throws -> Set<DeliveryQueue> {
    try await wait.call(on: executor) { [base] in try await base.heldQueues() }
  }

  var isAlone: Bool { base.isAlone }
  var unansweredFor: Milliseconds? { base.unansweredFor }
  func probe() { base.probe() }
  func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void) { base.listen(handler) }
  var holdsQueues: Bool { base.holdsQueues }
  func retire() { base.retire() }

  func shares(of owners: [UInt32]) async throws -> [UInt32: DeliveryQueueShares] {
    try await wait.call(on: executor) { [base] in try await base.shares(of: owners) }
  }

  func members() async throws -> [FleetMember] {
    try await wait.call(on: executor) { [base] in try await base.members() }
  }

  func queueOwners() async throws -> [DeliveryQueue: Int64] {
    try await wait.call(on: executor) { [base] in try await base.queueOwners() }
  }

  func maintainPartitions(_ edge: HistoryEdge?) async throws -> KeptHistory { try await base.maintainPartitions(edge) }

  func partitionCounts() async throws -> (months: Int, timesOutside: Int) {
    try await wait.call(on: executor) { [base] in try await base.partitionCounts() }
  }
}
