import ChimeCore
import ChimeRecords
import Dispatch

/// A Session opens a connection on demand and confines it to one queue.
///
/// `@unchecked Sendable`: the connection and its transaction are accessed only on `queue`, which is serial. Each access
/// asserts this with `dispatchPrecondition`.
final class Session: @unchecked Sendable {
  let queue: DispatchQueue
  private let place: PostgresConfiguration
  private let isReadOnly: Bool
  private let turn = ClaimCursor()
  private let onTime: @Sendable (StoreTime) -> Void
  private let leases: LeaseState
  private var transaction: Transaction?
  /// The previous backend, which the server may still consider alive.
  private var former: Backend?
  private var current: Backend?
  /// The last failure to connect, the monotonic time until which it is returned again, and the number of sessions opened by then.
  private var refusal: (until: Int64, failure: StoreFailure, openings: Int)?

  /// A server process.
  struct Backend {
    var process: Int
    /// The start time as the server formats it. It is needed because process ids are reused.
    var startedAt: String
    /// The timeline of the server's history; it changes with a failover.
    var timeline: String

    init(of connection: Connection) throws {
      process = connection.process
      startedAt =
        try connection.script(
          "SELECT backend_start::text FROM pg_stat_activity WHERE pid = \(connection.process)") ?? ""
      timeline = try connection.script("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)") ?? ""
    }
  }

  init(
    label: String, place: PostgresConfiguration, isReadOnly: Bool, leases: LeaseState = LeaseState(),
    onTime: @escaping @Sendable (StoreTime) -> Void = { _ in }
  ) {
    self.leases = leases
    queue = DispatchQueue(label: label)
    self.place = place
    self.isReadOnly = isReadOnly
    self.onTime = onTime
  }

  /// Returns a transaction on a live session, and opens the session if necessary.
  func ready() throws(StoreFailure) -> Transaction {
    dispatchPrecondition(condition: .onQueue(queue))
    if let transaction {
      // A failure to set the name only matters if the session is lost.
      try? transaction.connection.name(for: leases.current.node, place.member)
      if !transaction.connection.isLost { return transaction }
      drop()
    }
    if let refusal, PostgresConfiguration.clock() < refusal.until, leases.current.openings == refusal.openings {
      throw refusal.failure
    }
    do {
      let connection = try place.connect()
      let backend = try Backend(of: connection)
      try take(connection)
      try connection.name(for: leases.current.node, place.member)
      refusal = nil
      current = backend
      let opened = Transaction(
        connection: connection, reader: DefinitionReader(), isReadOnly: isReadOnly, leases: leases, turn: turn,
        claimTimeout: place.claimTimeout, onTime: onTime)
      try opened.hearTime()
      transaction = opened
      leases.change { $0.openings += 1 }
      return opened
    } catch {
      let failure = error as? StoreFailure ?? .internalError("\(error)")
      refusal = (PostgresConfiguration.clock() + place.rest, failure, leases.current.openings)
      throw failure
    }
  }

  /// Runs `use`, and repeats it on a new session if the old one turns out to be lost before it did anything.
  func using<Result>(_ use: (Transaction) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
    let transaction = try ready()
    do {
      return try use(transaction)
    } catch {
      guard transaction.connection.isLost else { throw error }
      return try use(try ready())
    }
  }

  /// Closes the session.
  func drop() {
    dispatchPrecondition(condition: .onQueue(queue))
    if current != nil { former = current }
    (current, transaction) = (nil, nil)
  }

  /// Returns whether a transaction whose commit lost its connection has committed; nil if that cannot be determined.
  func hasCommitted(_ number: String) -> Bool? {
    let timeline = current?.timeline
    drop()
    // The server may still be processing the commit.
    guard let connection = try? ready().connection, current?.timeline == timeline else { return nil }
    for _ in 0..<50 {
      switch try? connection.script("SELECT pg_xact_status('\(number)'::xid8)") {
      case "committed": return true
      case "aborted": return false
      case "in progress": _ = try? connection.script("SELECT pg_sleep(0.1)")
      default: return nil
      }
    }
    return nil
  }

  /// Joins the daemons on the database: ends the previous session, takes a share of the daemons' lock, and migrates the
  /// schema if it is older than this program.
  private func take(_ connection: Connection) throws {
    if !isReadOnly, let former {
      // A server does not notice a dead peer at once and keeps its locks until then.
      try connection.script(
        """
        SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
        WHERE pid = \(former.process) AND backend_start = '\(former.startedAt)'
        """)
    }
    let end = PostgresConfiguration.clock() + place.lockTimeout
    while true {
      // The schema cannot change while a share of the lock is held.
      try connection.lock(isShared: true, within: place.lockTimeout)
      let found = try Schema.version(of: connection)
      let known = place.migrations.last?.version ?? 0
      guard found <= known else { throw StoreFailure.newerSchema(found: found, known: known) }
      if found == known { return }
      guard !isReadOnly else {
        throw StoreFailure.unavailable("the tables on \(connection.server) are not up to date yet: try again")
      }
      try connection.script("SELECT pg_advisory_unlock_shared(\(Schema.daemonLock))")
      if try connection.script("SELECT pg_try_advisory_lock(\(Schema.daemonLock))::text") == "true" {
        try connection.transaction { try Schema.change(connection, by: place.migrations) }
        try connection.lock(isShared: true, within: place.lockTimeout)
        try connection.script("SELECT pg_advisory_unlock(\(Schema.daemonLock))")
        return
      }
      guard PostgresConfiguration.clock() < end else {
        let others = try connection.holders() ?? "another chimed"
        throw StoreFailure.held(
          by: "\(others); this version has to change the tables, and no other daemon may run meanwhile")
      }
      // Several daemons that start at once retry at random times, and one of them migrates.
      try connection.script("SELECT pg_sleep(0.02 + random() * 0.1)")
    }
  }
}

extension Connection {
  /// Takes the daemons' lock or a share of it. A session that has just ended may hold it for a moment longer. Only an
  /// older program version or a move holds it exclusively for long.
  ///
  /// - Throws: `.held` if others still hold it after `timeout` milliseconds.
  func lock(isShared: Bool, within timeout: Int64) throws {
    do {
      try script(
        """
        SET lock_timeout = \(timeout); SELECT pg_advisory_lock\(isShared ? "_shared" : "")(\(Schema.daemonLock))::text
        """)
      try script("SET lock_timeout = 0")
    } catch {
      guard !isLost, let holders = try holders() else { throw error }
      throw StoreFailure.held(by: holders)
    }
  }

  /// Returns a description of the other sessions that hold the daemons' lock.
  fileprivate func holders() throws -> String? {
    try script(
      """
      SELECT string_agg(DISTINCT 'the chimed at ' || coalesce(host(a.client_addr), 'the database''s own machine')
        || ' (session ' || l.pid || ' of ' || a.usename || ' since ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI')
        || ')', ', ')
      FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.pid <> pg_backend_pid()
        AND (l.classid::bigint, l.objid::bigint) = (\(Schema.daemonLock))
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      """)
  }
}
