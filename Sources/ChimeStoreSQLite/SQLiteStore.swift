package import ChimeCore
import ChimeRecords
import Dispatch
import Synchronization

/// A SQLiteStore keeps the store of one machine in one SQLite file.
///
/// Changes that arrive together commit together. Bodies run on the store's own queues, never on the caller: writers on
/// one, readers on another with a snapshot, so that a long listing does not delay firing, and very long reads on a third.
/// A `read` sees every `write` that returned before it began.
///
///     let store = try SQLiteStore.open(path: "/var/lib/chime/chime.db")
///     try await store.write { try $0.upsert(reminder, next: next) }   // durable when it returns
///     let wakeups = try await store.read { try $0.wakeups() }
///     await store.close()
///
/// The log is a write-ahead log and is synced at each commit (sqlite.org/wal.html;
/// sqlite.org/pragma.html#pragma_synchronous, FULL).
///
/// After `.unavailable` the store stays usable: nothing was changed, and a later call may succeed. A damaged file is
/// moved aside and replaced by the newest good snapshot: that call throws `.unavailable`, later calls see the snapshot,
/// and watchers are notified. Without a good snapshot, that call and all later ones throw `.corrupt` with the path of the
/// damaged file. While a file that seems damaged cannot be read, the store retries every few seconds and calls throw
/// `.unavailable`.
package final class SQLiteStore: Store {
  let opening: Opening
  let writer: SerializedConnection
  private let reader: SerializedConnection
  /// The queue for long reads, each on its own temporary connection. Nothing runs on it while the file is replaced or
  /// after the end.
  private let apart = DispatchQueue(label: "chime.store.apart")
  let state: Mutex<State>
  package let wasChangedSinceSnapshot: Bool

  struct State {
    /// The reason why calls are refused; nil while they are accepted.
    var end: StoreFailure?
    var queue = JobQueue()
    var lock: FileLock?
    /// The identity of the open file.
    var identity: FileIdentity?
    var log: LogState
    /// Incremented when a file is opened again after damage. Damage in an older generation has been handled.
    var generation = 0
    /// The reason why the file that seems damaged cannot be read; nil if there is none.
    var outage: StoreFailure?
    /// The time when damage was met that was not in the file.
    var sparedAt: DispatchTime?

    /// The reason why nothing can be done while no file is open.
    var refusal: StoreFailure { end ?? outage ?? .closed }
    /// The snapshot in progress.
    var snapshot: SnapshotRun?
    var handler: (@Sendable (StoreIncident) -> Void)?
    /// Incidents from before the first watcher.
    var unhandled: [StoreIncident] = []
  }

  /// Creates the store on open connections. The lock is held until the store is closed.
  init(
    _ opening: Opening, _ connections: Connections, _ restoration: Restoration?, wasChanged: Bool, lock: FileLock
  ) {
    self.opening = opening
    wasChangedSinceSnapshot = wasChanged
    writer = SerializedConnection(
      label: "chime.store.write", transaction: Self.transaction(connections.writer, isReadOnly: false))
    reader = SerializedConnection(
      label: "chime.store.read", transaction: Self.transaction(connections.reader, isReadOnly: true))
    state = Mutex(
      State(
        lock: lock, identity: opening.files.identity, log: LogState(opening.files),
        unhandled: restoration.map { [.restored($0)] } ?? []))
  }

  private static func transaction(_ connection: Connection, isReadOnly: Bool, _ generation: Int = 0) -> Transaction {
    Transaction(connection: connection, isReadOnly: isReadOnly, restorations: generation)
  }

  // MARK: Store

  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { submit(Job(body, $0)) }
  }

  package func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { submit(Job(body, $0, isApart: true)) }
  }

  package func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { view(Job(body, $0), apart: false) }
  }

  package func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { view(Job(body, $0), apart: true) }
  }

  package func close() async {
    await withCheckedContinuation { caller in
      let snapshot = state.withLock { state in
        if state.end == nil { state.end = .closed }
        return state.snapshot
      }
      // Accepted jobs are ahead of this block on the queue.
      writer.queue.async {
        snapshot?.callOff()
        self.seeToLog()
        self.closeConnections(foldingLog: true)
        self.state.withLock { state in
          // SQLite leaves the log in place if its database was renamed.
          if SQLiteFiles.size(self.opening.files.path + "-wal") == nil { state.lock?.write(note: nil) }
          state.lock = nil
        }
        caller.resume()
      }
    }
  }

  // MARK: Writing

  private func submit(_ job: Job) {
    let (end, isFirst) = state.withLock { ($0.end, $0.end == nil && $0.queue.add(job)) }
    if let end { return job.refuse(end) }
    if isFirst { writer.queue.async { self.drain() } }
  }

  /// Commits the waiting jobs group by group until there are none.
  private func drain() {
    while case let jobs = state.withLock({ $0.queue.takeAll() }), !jobs.isEmpty { commit(jobs) }
  }

  private func commit(_ jobs: [Job]) {
    var rest = jobs
    while !rest.isEmpty {
      if let lost = seeToLog() { return rest.forEach { $0.refuse(lost) } }
      guard let transaction = writer.open else {
        let refusal = state.withLock { $0.refusal }
        return rest.forEach { $0.refuse(refusal) }
      }
      // Changes to a file without a name would be lost with this process.
      let path = opening.files.path
      if state.withLock({ $0.identity })?.isGone(from: path) ?? false {
        let failure = StoreFailure.unavailable(
          "\(path) was moved or removed while chimed uses it: put it back, \(opening.afterRestart)")
        return rest.forEach { $0.refuse(failure) }
      }
      let group = transaction.commitTogether(rest)
      rest.removeFirst(group.settlements.count)
      guard var failure = group.failure else {
        group.settlements.forEach { $0.settle() }
        watchLog()
        continue
      }
      if failure.damage != nil { failure = recover(from: failure, generation: nil) }
      group.settlements.forEach { $0.fail(failure) }
      // The remaining jobs could not begin either.
      if group.settlements.isEmpty { return rest.forEach { $0.refuse(failure) } }
    }
  }

  // MARK: Reading

  private func view(_ job: Job, apart isApart: Bool) {
    if let end = state.withLock({ $0.end }) { return job.refuse(end) }
    if isApart { apart.async { self.viewApart(job) } } else { reader.queue.async { self.view(job) } }
  }

  private func view(_ job: Job) {
    guard let transaction = reader.open else {
      if let refusal = state.withLock({ $0.end ?? $0.outage }) { return job.refuse(refusal) }
      // The writer's queue is replacing the file; reading works after that.
      return writer.queue.async { self.reader.queue.async { self.view(job) } }
    }
    view(job, transaction)
  }

  private func viewApart(_ job: Job) {
    let (refusal, generation) = state.withLock { ($0.end ?? $0.outage, $0.generation) }
    if let refusal { return job.refuse(refusal) }
    do throws(StoreFailure) {
      view(job, Self.transaction(try opening.reader(), isReadOnly: true, generation))
    } catch {
      job.refuse(error)
    }
  }

  private func view(_ job: Job, _ transaction: Transaction) {
    let generation = transaction.restorations
    do {
      let settlement = try transaction.view(job)
      guard let damage = (settlement.error as? StoreFailure)?.damage else { return settlement.settle() }
      writer.queue.async { settlement.fail(self.recover(from: damage, generation: generation)) }
    } catch {
      guard let damage = error.damage else { return job.refuse(error) }
      writer.queue.async { job.refuse(self.recover(from: damage, generation: generation)) }
    }
  }

  // MARK: Damage

  /// Continues with the newest good snapshot, or with the file itself if it proves sound, or ends the store. Runs on the
  /// writer's queue, so that nothing is written meanwhile; a large store takes seconds.
  ///
  /// - Parameter generation: the generation of the damaged file; nil for the present one.
  /// - Returns: the failure for the calls that met the damage.
  func recover(from damage: StoreFailure, generation: Int?) -> StoreFailure {
    guard case .corrupt(let sentence, _) = damage else { return damage }
    let (known, sparedAt, snapshot) = state.withLock { ($0.generation, $0.sparedAt, $0.snapshot) }
    guard writer.open != nil else { return state.withLock { $0.refusal } }
    if let generation, generation != known { return Self.refusal(sentence) }
    // The lock is held until the file is replaced, so that no other process takes the store in between.
    snapshot?.callOff()
    closeConnections(foldingLog: false)
    // The file was found sound a moment ago, so it is not read again for damage that is not in it.
    if let sparedAt, DispatchTime.now() < sparedAt + opening.retry {
      return wait(.unavailable("\(sentence), although the file is sound; chimed reopens it in a moment"), sentence)
    }
    return reopen(after: sentence)
  }

  /// Opens a file after the connections were closed. Runs on the writer's queue. `open` does it; nil means the recovery
  /// from damage.
  func reopen(
    after sentence: String, _ open: (@Sendable () throws -> (Connections, Restoration?))? = nil
  ) -> StoreFailure {
    do {
      let (connections, restoration) = try apart.sync { try open?() ?? opening.reopen(after: sentence) }
      let generation = state.withLock { $0.generation } + 1
      writer.reopen(Self.transaction(connections.writer, isReadOnly: false, generation))
      reader.queue.sync {
        reader.reopen(Self.transaction(connections.reader, isReadOnly: true, generation))
        state.withLock { state in
          state.generation = generation
          state.identity = opening.files.identity
          state.log.renew(opening.files)
          state.lock?.write(note: opening.files.logNote)
          state.outage = nil
          state.sparedAt = restoration == nil ? .now() : nil
        }
      }
      tell(restoration.map { .restored($0) } ?? .spared(sentence))
      return Self.refusal(sentence)
    } catch StoreFailure.unavailable(let reason) {
      return wait(.unavailable(reason), sentence, open)
    } catch {
      let end = error as? StoreFailure ?? .internalError("\(error)")
      state.withLock { state in
        state.end = end
        state.outage = nil
        state.lock = nil
      }
      tell(.ended(end))
      return end
    }
  }

  /// Schedules another attempt: a failing disk says nothing about the file.
  private func wait(
    _ failure: StoreFailure, _ sentence: String, _ open: (@Sendable () throws -> (Connections, Restoration?))? = nil
  ) -> StoreFailure {
    state.withLock { $0.outage = failure }
    writer.queue.asyncAfter(deadline: .now() + opening.retry) { [weak self] in
      guard let self, state.withLock({ $0.end == nil }) else { return }
      _ = reopen(after: sentence, open)
    }
    return failure
  }

  private static func refusal(_ damage: String) -> StoreFailure {
    .unavailable("\(damage); the store has been repaired, but this change was not made: try again")
  }

  /// Closes both connections, the writer last. Runs on the writer's queue.
  func closeConnections(foldingLog: Bool) {
    // Each long read has seen the end or has finished.
    apart.sync {}
    reader.queue.sync { reader.close(foldingLog: foldingLog) }
    writer.close(foldingLog: foldingLog)
  }

  // MARK: Watchers

  private func tell(_ incident: StoreIncident) {
    let handler = state.withLock { state in
      if state.handler == nil { state.unhandled.append(incident) }
      return state.handler
    }
    handler?(incident)
  }

  package func watch(_ handler: @escaping @Sendable (StoreIncident) -> Void) {
    let unhandled = state.withLock { state in
      state.handler = handler
      defer { state.unhandled = [] }
      return state.unhandled
    }
    unhandled.forEach(handler)
  }

  /// Notes the snapshot in progress; nil if there is none any more. Returns the file's generation; nil if the store is closed.
  @discardableResult func note(_ run: SnapshotRun?) -> Int? {
    state.withLock { state in
      state.snapshot = run
      return state.end == nil ? state.generation : nil
    }
  }
}
