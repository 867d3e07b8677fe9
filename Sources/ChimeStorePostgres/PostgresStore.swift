public import ChimeCore
import ChimeRecords
import Dispatch
import Synchronization

/// A store in a database of PostgreSQL 15 or newer: one writing session, one reading session, one more for what
/// takes long to read; changes that arrive together are committed together.
///
/// Bodies run on the store's own queues, never on the caller. A `read` sees every `write` that returned before it began.
///
///     let store = try PostgresStore.open(PostgresConfiguration(connection: "host=db.example dbname=chime"))
///     try await store.write { try $0.upsert(reminder, next: next) }   // durable when it returns
///     let wakeups = try await store.read { try $0.wakeups() }
///     await store.close()
///
/// Several daemons may have the database at a time: each session holds a share of an advisory lock, which whoever changes
/// the tables has alone. A session that is lost fails what was under way as `.unavailable`, unless it turns out to have
/// committed; the next call opens a new one, at whichever host of the list takes changes then. A transaction that another
/// one was in the way of is run again.
public final class PostgresStore: Store {
  private let writer: Session
  private let reader: Session
  /// There while it reads.
  private let apart: Session
  let membership: Membership
  let place: PostgresConfiguration
  private let state: Mutex<State>

  private struct State {
    var isClosed = false
    var queue = JobQueue()
  }

  private init(
    _ place: PostgresConfiguration, _ heard: @escaping @Sendable (StoreTime) -> Void
  ) throws(StoreFailure) {
    let leases = LeaseState()
    self.place = place
    membership = try Membership(leases: leases)
    writer = Session(label: "chime.store.write", place: place, isReadOnly: false, leases: leases, heard: heard)
    reader = Session(label: "chime.store.read", place: place, isReadOnly: true, leases: leases, heard: heard)
    apart = Session(label: "chime.store.apart", place: place, isReadOnly: true, leases: leases)
    state = Mutex(State())
  }

  /// Opens the store, and makes its tables in a database that has none. The database itself must exist.
  ///
  /// - Parameter heard: is told, on the store's queues, what time the database has: before this returns, and then with each
  ///   transaction.
  /// - Throws: `.unavailable` when it cannot be reached or used, with what to do; `.held` when the tables are to be
  ///   changed and another daemon uses them, or when a program of before has the database alone; `.newerSchema` when a newer program has written it.
  public static func open(
    _ place: PostgresConfiguration, heard: @escaping @Sendable (StoreTime) -> Void = { _ in }
  ) throws(StoreFailure) -> PostgresStore {
    let store = try PostgresStore(place, heard)
    for session in [store.writer, store.reader] {
      let failure: StoreFailure? = session.queue.sync {
        do throws(StoreFailure) {
          let transaction = try session.ready()
          // Where it cannot be done, nothing stops, and the hourly look at the history says why.
          if session === store.writer { try? Partitions.makeAhead(transaction.connection) }
          return nil
        } catch {
          return error
        }
      }
      guard let failure else { continue }
      store.writer.queue.sync { store.writer.drop() }
      throw failure
    }
    try store.membership.begin(place)
    return store
  }

  // Store.

  var isClosed: Bool { state.withLock { $0.isClosed } }

  public var isShared: Bool { true }

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
      if state.withLock({ $0.isClosed }) { return job.refuse(.closed) }
      reader.queue.async { self.view(job, self.reader) }
    }
  }

  public func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { caller in
      let job = BodyJob(body: body, caller: caller)
      if state.withLock({ $0.isClosed }) { return job.refuse(.closed) }
      apart.queue.async {
        self.view(job, self.apart)
        self.apart.drop()
      }
    }
  }

  public func close() async {
    state.withLock { $0.isClosed = true }
    // What was accepted before is ahead of this on each queue, and needs what is ours until it is done.
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

  // Writing.

  private func submit(_ job: any Job) {
    let (isClosed, isFirst) = state.withLock { ($0.isClosed, !$0.isClosed && $0.queue.add(job)) }
    if isClosed { return job.refuse(.closed) }
    if isFirst { writer.queue.async { self.drain() } }
  }

  /// Commits what waits, group by group, until nothing does.
  private func drain() {
    while case let jobs = state.withLock({ $0.queue.takeAll() }), !jobs.isEmpty { commit(jobs) }
  }

  private func commit(_ jobs: [any Job]) {
    var rest = jobs
    while !rest.isEmpty {
      let group: Transaction.GroupEnd
      do throws(StoreFailure) {
        group = try writer.using { transaction throws(StoreFailure) in
          let end = transaction.commitTogether(rest)
          // Nothing had begun: the session was lost before.
          if end.taken == 0, let failure = end.failure { throw failure }
          return end
        }
      } catch {
        // What could not even begin would not begin for the rest of it either.
        return rest.forEach { $0.refuse(error) }
      }
      rest.removeFirst(group.taken)
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

  // Reading.

  private func view(_ job: any Job, _ session: Session) {
    do throws(StoreFailure) {
      try session.using { transaction throws(StoreFailure) in try transaction.view(job) }.settle()
    } catch {
      job.refuse(error)
    }
  }
}
