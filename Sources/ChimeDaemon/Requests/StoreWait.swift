import ChimeCore
import ChimeSchedule
import Synchronization

/// Counts the calls that wait in the store although their requests have given up.
final class StrandedCalls: Sendable {
  /// The most such calls: they must not pile up while a database is down for hours.
  static let most = 64

  private let count = Atomic(0)

  var isFull: Bool { count.load(ordering: .relaxed) >= Self.most }

  func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// A StoreWait measures how long a request waits for a database that does not answer, and ends the wait.
///
/// The loop gives up (`giveUp`) while other threads work on the request. A lock guards the state.
final class StoreWait: Sendable {
  private struct State {
    /// Ends the current call of the store before its result is there.
    var call: (@Sendable (StoreFailure) -> Void)?
    /// When the request came, or when its current call of the store began (monotonic, in microseconds).
    var since: UInt64
    /// Whether the request waits for its turn or for the store.
    var isWaiting = true
    /// Whether a call has ended. The wait of the next call counts from its own start.
    var hasLeft = false
    /// Whether a change has begun. It may commit even if the request gives up.
    var hasBegunChange = false
    var failure: StoreFailure?
    /// Whether the current call is counted in `StrandedCalls`.
    var isStranded = false
  }

  private let state: Mutex<State>
  private let stranded: StrandedCalls

  init(_ stranded: StrandedCalls) {
    state = Mutex(State(since: SystemClock.monotonicMicroseconds))
    self.stranded = stranded
  }

  /// The time that it has waited; nil: it does not wait.
  var time: Milliseconds? {
    state.withLock { state in
      guard state.isWaiting else { return nil }
      return .milliseconds(Int64((SystemClock.monotonicMicroseconds - state.since) / 1_000))
    }
  }

  /// The failure with which the request was given up; every further call of the store throws it.
  private var failure: StoreFailure? { state.withLock { $0.failure } }

  /// Ends the wait for the turn: work on the request begins.
  func begin() { state.withLock { $0.isWaiting = false } }

  /// Records that a change begins. Throws if the request was given up.
  func beginChange() throws(StoreFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.hasBegunChange = true }
      return state.failure
    }
    if let failure { throw failure }
  }

  /// Who tells the client that the wait was given up.
  enum End: Sendable {
    /// The request fails by itself and replies.
    case tellsItself
    /// A change has begun, and its outcome is unknown. The caller of `giveUp` replies.
    case unknown
  }

  /// Gives up. From now on no call of the store and no change begins.
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

  /// Calls the store, and waits for its result or until the wait is given up.
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
      // The first call has waited since the request came, later ones since they began.
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

  /// A continuation that is resumed only once, by the first that takes it.
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

/// A RequestStore is the network database of one request. Its calls fail when the `StoreWait` is given up.
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
  var lapses: Int { base.lapses }
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

  func maintainPartitions(_ edge: HistoryEdge?) async throws -> PruneResult { try await base.maintainPartitions(edge) }

  func partitionCounts() async throws -> (months: Int, unpartitionedRows: Int) {
    try await wait.call(on: executor) { [base] in try await base.partitionCounts() }
  }
}
