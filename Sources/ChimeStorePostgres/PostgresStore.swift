package import ChimeCore
import ChimeRecords
import Dispatch
import Synchronization

/// A PostgresStore keeps the store in a database of PostgreSQL 15 or newer.
///
/// It has one writing session, one reading session, and one more for long reads. Changes that arrive together commit
/// together. Bodies run on the store's own queues, never on the caller. A `read` sees every `write` that returned
/// before it began.
///
///     let store = try PostgresStore.open(PostgresConfiguration(connection: "host=db.example dbname=chime"))
///     try await store.write { try $0.upsert(reminder, next: next) }   // durable when it returns
///     let wakeups = try await store.read { try $0.wakeups() }
///     await store.close()
///
/// Several daemons may use the database: each session holds a share of an advisory lock, which a schema change takes
/// exclusively. A lost session fails its transaction as `.unavailable`, unless it turns out to have committed. The next
/// call opens a new session on whichever host accepts writes. A transaction that conflicts with another one is run again.
package final class PostgresStore: Store {
  private let writer: Session
  private let reader: Session
  /// The session for long reads, which exists only during a read.
  private let apart: Session
  let membership: Membership
  let place: PostgresConfiguration
  private let state: Mutex<State>

  private struct State {
    var isClosed = false
    var queue = JobQueue()
  }

  private init(
    _ place: PostgresConfiguration, _ onTime: @escaping @Sendable (StoreTime) -> Void
  ) throws(StoreFailure) {
    let leases = LeaseState()
    self.place = place
    membership = try Membership(leases: leases)
    writer = Session(label: "chime.store.write", place: place, isReadOnly: false, leases: leases, onTime: onTime)
    reader = Session(label: "chime.store.read", place: place, isReadOnly: true, leases: leases, onTime: onTime)
    apart = Session(label: "chime.store.apart", place: place, isReadOnly: true, leases: leases)
    state = Mutex(State())
  }

  /// Opens the store, and creates its tables in an empty database. The database itself must exist.
  ///
  /// - Parameter onTime: receives the database's time on the store's queues, before this returns and with each
  ///   transaction.
  /// - Throws: `.unavailable` with advice if it cannot be reached or used; `.held` if a migration is needed and another
  ///   daemon uses the tables, or an older program holds the database exclusively; `.newerSchema` if a newer program
  ///   wrote it.
  package static func open(
    _ place: PostgresConfiguration, onTime: @escaping @Sendable (StoreTime) -> Void = { _ in }
  ) throws(StoreFailure) -> PostgresStore {
    let store = try PostgresStore(place, onTime)
    for session in [store.writer, store.reader] {
      let opened = session.queue.sync {
        Result { () throws(StoreFailure) in
          let transaction = try session.ready()
          // A failure stops nothing: the hourly history maintenance reports it.
          if session === store.writer { try? Partitions.makeAhead(transaction.connection) }
        }
      }
      try opened.get()
    }
    try store.membership.begin(place)
    return store
  }

  // MARK: Store

  var isClosed: Bool { state.withLock { $0.isClosed } }

  package var isShared: Bool { true }

  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { submit(Job(body, $0)) }
  }

  package func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { view(Job(body, $0), on: reader) }
  }

  package func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { view(Job(body, $0), on: apart) }
  }

  package func close() async {
    state.withLock { $0.isClosed = true }
    // Accepted jobs are ahead of this block on each queue and need the session and the leases until they are done.
    for session in [writer, reader, apart] {
      await withCheckedContinuation { caller in
        session.queue.async {
          session.drop()
          caller.resume()
        }
      }
    }
    await membership.leave()
  }

  // MARK: Writing

  private func submit(_ job: Job) {
    let (isClosed, isFirst) = state.withLock { ($0.isClosed, !$0.isClosed && $0.queue.add(job)) }
    if isClosed { return job.refuse(.closed) }
    if isFirst { writer.queue.async { self.drain() } }
  }

  /// Commits the waiting jobs group by group until there are none.
  private func drain() {
    while case let jobs = state.withLock({ $0.queue.takeAll() }), !jobs.isEmpty { commit(jobs) }
  }

  private func commit(_ jobs: [Job]) {
    var rest = jobs
    while !rest.isEmpty {
      let group: Transaction.GroupEnd
      do throws(StoreFailure) {
        group = try writer.using { transaction throws(StoreFailure) in
          let end = transaction.commitTogether(rest)
          // Nothing had begun, because the session was already lost.
          if end.settlements.isEmpty, let failure = end.failure { throw failure }
          return end
        }
      } catch {
        // The remaining jobs could not begin either.
        return rest.forEach { $0.refuse(error) }
      }
      rest.removeFirst(group.settlements.count)
      guard let failure = group.failure else {
        group.settlements.forEach { $0.settle() }
        continue
      }
      switch group.unclear.map({ writer.hasCommitted($0) }) {
      case .some(.some(true)): group.settlements.forEach { $0.settle() }
      case .some(.none): group.settlements.forEach { $0.fail(Self.unclear(failure)) }
      default: group.settlements.forEach { $0.fail(failure) }
      }
    }
  }

  private static func unclear(_ failure: StoreFailure) -> StoreFailure {
    guard case .unavailable(let sentence) = failure else { return failure }
    return .unavailable("\(sentence); it is unknown whether the change was made")
  }

  // MARK: Reading

  private func view(_ job: Job, on session: Session) {
    if isClosed { return job.refuse(.closed) }
    session.queue.async {
      do throws(StoreFailure) {
        try session.using { transaction throws(StoreFailure) in try transaction.view(job) }.settle()
      } catch {
        job.refuse(error)
      }
      if session === self.apart { session.drop() }
    }
  }
}
