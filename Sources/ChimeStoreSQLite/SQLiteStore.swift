public import ChimeCore
import ChimeRecords
import Dispatch
import Synchronization

/// The store of one machine: one SQLite file, one writer, changes that arrive together committed together.
///
/// Bodies run on the store's own queues, never on the caller: writing ones on one, reading ones on another over a
/// snapshot, so that a long listing does not hold up firing, and what takes very long on a third. A `read` sees every `write`
/// that returned before it began.
///
///     let store = try SQLiteStore.open(path: "/var/lib/chime/chime.db")
///     try await store.write { try $0.upsert(reminder, next: next) }   // durable when it returns
///     let wakeups = try await store.read { try $0.wakeups() }
///     await store.close()
///
/// The log is written ahead and synchronised at each commit (sqlite.org/wal.html;
/// sqlite.org/pragma.html#pragma_synchronous, FULL).
///
/// After `.unavailable` the store stays usable: nothing was changed, and a later call may succeed. When the file turns
/// out to be damaged, it is moved aside and the newest good snapshot takes its place: that call throws `.unavailable`,
/// later ones find the store as it was then, and whoever watches is told. Where there is no good snapshot, that call and
/// every later one throw `.corrupt` with the place of the damaged file. As long as a file that seems damaged cannot be read
/// through, it is tried again every few seconds, and calls throw `.unavailable`.
public final class SQLiteStore: Store {
  let opening: Opening
  let writer: SerializedConnection
  private let reader: SerializedConnection
  /// On which what takes long is read, each over a connection of its own that is there for as long. While another file is put
  /// in the place of this one, and after the end, nothing runs on it.
  private let apart = DispatchQueue(label: "chime.store.apart")
  let state: Mutex<State>
  public let wasChangedSinceSnapshot: Bool

  struct State {
    /// Why calls are refused, once they are.
    var end: StoreFailure?
    var queue = JobQueue()
    var lock: FileLock?
    /// The file that was opened.
    var identity: FileIdentity?
    var log: LogState
    /// Grows when the file is another: damage that was met in an older one has been seen to.
    var generation = 0
    /// Why the file that seems damaged cannot be read, while it cannot.
    var outage: StoreFailure?
    /// When damage was met that was not in the file.
    var sparedAt: DispatchTime?

    /// Why nothing can be done while no file is open.
    var refusal: StoreFailure { end ?? outage ?? .closed }
    /// The snapshot that is being taken.
    var snapshot: SnapshotRun?
    var heard: (@Sendable (StoreIncident) -> Void)?
    /// What happened before somebody watched.
    var untold: [StoreIncident] = []
  }

  /// - Parameter lock: kept until the store is closed.
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
        untold: restoration.map { [.restored($0)] } ?? []))
  }

  private static func transaction(_ connection: Connection, isReadOnly: Bool) -> Transaction {
    Transaction(connection: connection, reader: DefinitionReader(), isReadOnly: isReadOnly)
  }

  // Store.

  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      submit(BodyJob(body: body, caller: caller))
    }
  }

  public func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      submit(BodyJob(body: body, caller: caller, isApart: true))
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

  public func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      let job = BodyJob(body: body, caller: caller)
      if let end = state.withLock({ $0.end }) { return job.refuse(end) }
      apart.async { self.viewApart(job) }
    }
  }

  public func close() async {
    await withCheckedContinuation { caller in
      let snapshot = state.withLock { state in
        if state.end == nil { state.end = .closed }
        return state.snapshot
      }
      // What was accepted before is ahead of this on the queue.
      writer.queue.async {
        snapshot?.callOff()
        self.seeToLog()
        self.shut(foldingLog: true)
        caller.resume()
      }
    }
  }

  // Writing.

  private func submit(_ job: any Job) {
    let (end, isFirst) = state.withLock { ($0.end, $0.end == nil && $0.queue.add(job)) }
    if let end { return job.refuse(end) }
    if isFirst { writer.queue.async { self.drain() } }
  }

  /// Commits what waits, group by group, until nothing does.
  private func drain() {
    while case let jobs = state.withLock({ $0.queue.takeAll() }), !jobs.isEmpty { commit(jobs) }
  }

  private func commit(_ jobs: [any Job]) {
    var rest = jobs
    while !rest.isEmpty {
      if let lost = seeToLog() { return rest.forEach { $0.refuse(lost) } }
      guard let transaction = writer.open else {
        let refusal = state.withLock { $0.refusal }
        return rest.forEach { $0.refuse(refusal) }
      }
      // What is written to a file without a name would be gone with this process.
      let path = opening.files.path
      if state.withLock({ $0.identity })?.isGone(from: path) ?? false {
        let failure = StoreFailure.unavailable(
          "\(path) was moved or removed while chimed uses it: put it back, \(opening.afterRestart)")
        return rest.forEach { $0.refuse(failure) }
      }
      let group = transaction.commitTogether(rest)
      rest.removeFirst(group.taken)
      guard var failure = group.failure else {
        group.settlements.forEach { $0.settle() }
        watchLog()
        continue
      }
      if failure.damage != nil { failure = recover(from: failure, generation: nil) }
      group.settlements.forEach { $0.fail(failure) }
      // A group that could not even begin would not begin for the rest of it either.
      if group.taken == 0 { return rest.forEach { $0.refuse(failure) } }
    }
  }

  // Reading.

  private func view(_ job: any Job) {
    guard let transaction = reader.open else {
      if let refusal = state.withLock({ $0.end ?? $0.outage }) { return job.refuse(refusal) }
      // The writer's queue is putting another file in the place of this one: afterwards it can be read.
      return writer.queue.async { self.reader.queue.async { self.view(job) } }
    }
    view(job, transaction)
  }

  private func viewApart(_ job: any Job) {
    if let refusal = state.withLock({ $0.end ?? $0.outage }) { return job.refuse(refusal) }
    do throws(StoreFailure) {
      view(job, Self.transaction(try opening.reader(), isReadOnly: true))
    } catch {
      job.refuse(error)
    }
  }

  private func view(_ job: any Job, _ transaction: Transaction) {
    let generation = state.withLock { $0.generation }
    do {
      let settlement = try transaction.view(job)
      guard let damage = (settlement.error as? StoreFailure)?.damage else { return settlement.settle() }
      writer.queue.async { settlement.fail(self.recover(from: damage, generation: generation)) }
    } catch {
      guard let damage = error.damage else { return job.refuse(error) }
      writer.queue.async { job.refuse(self.recover(from: damage, generation: generation)) }
    }
  }

  // Damage.

  /// Goes on with the newest good snapshot in the place of the damaged file, or with the file itself when it proves sound,
  /// or ends the store. Runs on the writer's queue, so that nobody writes meanwhile; with a large store it takes seconds.
  ///
  /// - Parameter generation: of the file in which the damage was met; nil: of the present one.
  /// - Returns: what those are told whose calls have met the damage.
  func recover(from damage: StoreFailure, generation: Int?) -> StoreFailure {
    guard case .corrupt(let sentence, _) = damage else { return damage }
    let (known, sparedAt, snapshot) = state.withLock { ($0.generation, $0.sparedAt, $0.snapshot) }
    guard writer.open != nil else { return state.withLock { $0.refusal } }
    if let generation, generation != known { return Self.refusal(sentence) }
    // The lock is kept until the file is out of the way, so that nobody takes it in between.
    snapshot?.callOff()
    closeConnections(foldingLog: false)
    // All of it is not read again and again for what is not in it.
    if let sparedAt, DispatchTime.now() < sparedAt + opening.retry {
      return wait(.unavailable("\(sentence), although the file is sound; chimed reopens it in a moment"), sentence)
    }
    return reopen(after: sentence)
  }

  /// Puts a file in the place of none. Runs on the writer's queue, with the connections closed.
  ///
  /// - Parameter open: how; nil: as after damage.
  func reopen(
    after sentence: String, _ open: (@Sendable () throws -> (Connections, Restoration?))? = nil
  ) -> StoreFailure {
    do {
      let (connections, restoration) = try apart.sync { try open?() ?? opening.reopen(after: sentence) }
      writer.reopen(Self.transaction(connections.writer, isReadOnly: false))
      reader.queue.sync {
        reader.reopen(Self.transaction(connections.reader, isReadOnly: true))
        state.withLock { state in
          state.generation += 1
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

  /// Tries again in a while: a disk that fails says nothing of the file.
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

  /// Closes both connections, the writer last, and lets go of the file. Runs on the writer's queue.
  private func shut(foldingLog: Bool) {
    closeConnections(foldingLog: foldingLog)
    state.withLock { state in
      // SQLite leaves the log where it is when its database has another name now.
      if SQLiteFiles.size(opening.files.path + "-wal") == nil { state.lock?.write(note: nil) }
      state.lock = nil
    }
  }

  func closeConnections(foldingLog: Bool) {
    // Whoever reads apart has seen the end, or has ended.
    apart.sync {}
    reader.queue.sync { reader.close(foldingLog: foldingLog) }
    writer.close(foldingLog: foldingLog)
  }

  // Those who watch.

  private func tell(_ incident: StoreIncident) {
    let heard = state.withLock { state in
      if state.heard == nil { state.untold.append(incident) }
      return state.heard
    }
    heard?(incident)
  }

  public func watch(_ heard: @escaping @Sendable (StoreIncident) -> Void) {
    let untold = state.withLock { state in
      state.heard = heard
      defer { state.untold = [] }
      return state.untold
    }
    untold.forEach(heard)
  }

  /// Notes the snapshot that is being taken; nil: none is any more.
  ///
  /// - Returns: the generation of the file that it is taken of; nil when the store is closed.
  @discardableResult func note(_ run: SnapshotRun?) -> Int? {
    state.withLock { state in
      state.snapshot = run
      return state.end == nil ? state.generation : nil
    }
  }
}
