public import ChimeCore
import Dispatch
import Synchronization

/// The store of one machine: one SQLite file, one writer, changes that arrive together committed together.
///
/// Bodies run on the store's own queues, never on the caller: writing ones on one, reading ones on another over a
/// snapshot, so that a long listing does not hold up firing. A `read` sees every `write` that returned before it began.
///
///     let store = try SQLiteStore.open(path: "/var/lib/chime/chime.db")
///     try await store.write { try $0.upsert(reminder, next: next) }   // durable when it returns
///     let horizon = try await store.read { try $0.horizon() }
///     await store.close()
///
/// The log is written ahead and synchronised at each commit (sqlite.org/wal.html;
/// sqlite.org/pragma.html#pragma_synchronous, FULL).
///
/// After `.unavailable` the store stays usable: nothing was changed, and a later call may succeed. When the file turns
/// out to be damaged, it is moved aside, and that call and every later one throw `.corrupt` with the place.
public final class SQLiteStore: Store {
  private let path: String
  /// The file that was opened.
  private let identity: FileIdentity?
  private let writer: Desk
  private let reader: Desk
  private let state: Mutex<State>

  private struct State {
    /// Why calls are refused, once they are.
    var end: StoreFailure?
    /// Writing bodies in the order in which they came.
    var waiting: [any Job] = []
    /// Whether a block on the writer's queue will see to `waiting`.
    var isDraining = false
    var lock: FileLock?
  }

  /// - Parameter lock: kept until the store is closed.
  init(path: String, writer: Desk, reader: Desk, lock: FileLock) {
    self.path = path
    identity = SQLiteFiles(path: path).identity
    self.writer = writer
    self.reader = reader
    state = Mutex(State(lock: lock))
  }

  // Store.

  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      submit(BodyJob(body: body, caller: caller))
    }
  }

  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      let job = BodyJob(body: body, caller: caller)
      if let end = state.withLock({ $0.end }) { return job.refuse(end) }
      reader.queue.async { self.view(job) }
    }
  }

  public func close() async {
    await withCheckedContinuation { caller in
      state.withLock { if $0.end == nil { $0.end = .closed } }
      // What was accepted before is ahead of this on the queue.
      writer.queue.async {
        self.shut(foldingLog: true)
        caller.resume()
      }
    }
  }

  // Writing.

  private func submit(_ job: any Job) {
    let (end, isFirst): (StoreFailure?, Bool) = state.withLock { state in
      if let end = state.end { return (end, false) }
      state.waiting.append(job)
      defer { state.isDraining = true }
      return (nil, !state.isDraining)
    }
    if let end { return job.refuse(end) }
    if isFirst { writer.queue.async { self.drain() } }
  }

  /// Commits what waits, group by group, until nothing does.
  private func drain() {
    while true {
      let jobs: [any Job] = state.withLock { state in
        defer { state.waiting.removeAll() }
        state.isDraining = !state.waiting.isEmpty
        return state.waiting
      }
      if jobs.isEmpty { return }
      commit(jobs)
    }
  }

  private func commit(_ jobs: [any Job]) {
    var rest = jobs
    while !rest.isEmpty {
      guard let transaction = writer.open else {
        let end = state.withLock { $0.end } ?? .closed
        return rest.forEach { $0.refuse(end) }
      }
      // What is written to a file without a name would be gone with this process.
      if identity?.isGone(from: path) ?? false {
        let failure = StoreFailure.unavailable(
          "\(path) was moved or removed while chimed uses it: put it back, or restart chimed to go on without it")
        return rest.forEach { $0.refuse(failure) }
      }
      let group = transaction.commitTogether(rest)
      rest.removeFirst(group.taken)
      guard var failure = group.failure else {
        group.settlements.forEach { $0.settle() }
        continue
      }
      if failure.damage != nil { failure = quarantine(failure) }
      group.settlements.forEach { $0.fail(failure) }
      // A group that could not even begin would not begin for the rest of it either.
      if group.taken == 0 { return rest.forEach { $0.refuse(failure) } }
    }
  }

  // Reading.

  private func view(_ job: any Job) {
    guard let transaction = reader.open else { return job.refuse(state.withLock { $0.end } ?? .closed) }
    do {
      let settlement = try transaction.view(job)
      guard let damage = (settlement.error as? StoreFailure)?.damage else { return settlement.settle() }
      writer.queue.async { settlement.fail(self.quarantine(damage)) }
    } catch {
      guard let damage = error.damage else { return job.refuse(error) }
      writer.queue.async { job.refuse(self.quarantine(damage)) }
    }
  }

  // Ending.

  /// Moves the damaged file aside and ends the store. Runs on the writer's queue.
  ///
  /// - Returns: what every caller is told from now on.
  private func quarantine(_ damage: StoreFailure) -> StoreFailure {
    guard writer.open != nil else { return state.withLock { $0.end } ?? damage }
    // The lock is kept until the file is out of the way, so that nobody takes it in between.
    let lock = state.withLock { $0.lock }
    shut(foldingLog: false)
    let end = SQLiteFiles(path: path).moveAside(damage)
    state.withLock { $0.end = end }
    withExtendedLifetime(lock) {}
    return end
  }

  /// Closes both connections, the writer last, and lets go of the file. Runs on the writer's queue.
  private func shut(foldingLog: Bool) {
    reader.queue.sync { reader.close(foldingLog: foldingLog) }
    writer.close(foldingLog: foldingLog)
    state.withLock { $0.lock = nil }
  }
}
