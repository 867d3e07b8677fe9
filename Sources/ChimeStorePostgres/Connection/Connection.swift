import CPostgres
import ChimeCore
import ChimeRecords

/// A Connection is one session of a PostgreSQL server with its prepared statements. Values are always parameters in
/// binary format.
///
///     try connection.run("UPDATE note SET value = $1 WHERE name = $2", value, name)
final class Connection: SQLConnection {
  static var assignsNumbers: Bool { false }
  let handle: OpaquePointer
  /// The server's name in messages.
  let server: String
  private var compiled: [UnsafePointer<UInt8>: [CChar]] = [:]
  private var composed: [String: [CChar]] = [:]
  private var count = 0
  private(set) var changes = 0
  /// Whether the server aborted a transaction since the last `begin` because of a concurrent one. It may be run again.
  private(set) var hasConflict = false
  /// The number of the daemon that the session is named after.
  private var node: Int64?
  /// Whether the session must be closed although the server still answers.
  private var isSpoilt = false

  /// Takes ownership of an open session.
  init(owning handle: OpaquePointer, server: String) {
    self.handle = handle
    self.server = server
  }

  deinit { chime_pq_finish(handle) }

  /// Whether the session can no longer be used.
  var isLost: Bool { isSpoilt || chime_pq_status(handle) != CONNECTION_OK }

  /// Whether the transaction has failed, so that the server accepts only its end.
  var isBroken: Bool { chime_pq_transaction_status(handle) == PQTRANS_INERROR }

  /// The process id of the server's backend.
  var process: Int { Int(chime_pq_backend_pid(handle)) }

  /// Sets `application_name` to the daemon's identity, if it has a number and this is not yet done. Call it between
  /// transactions. Operators see the name in `pg_stat_activity`, and `OrphanSessionReaper` finds the sessions of lost
  /// daemons by it.
  func name(for node: Int64?, _ member: PostgresConfiguration.Member) throws(StoreFailure) {
    guard let node, self.node != node else { return }
    // The server truncates the name to 63 bytes, so the essential part comes first.
    try run(
      "SELECT set_config('application_name', 'chimed ' || $1 || ', process ' || $2 || ' on ' || $3, false)", node,
      member.process, member.name)
    self.node = node
  }

  // MARK: Execution

  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure) {
    changes = try execute(queued(sql, repeat each values)).changes
  }

  func all<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> [Made] {
    try execute(queued(sql, repeat each values)).map(row)
  }

  func first<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> Made? {
    let answer = try execute(queued(sql, repeat each values))
    return answer.count > 0 ? try row(answer[0]) : nil
  }

  func run(_ query: ComposedQuery) throws(StoreFailure) {
    changes = try execute(queued(query)).changes
  }

  func all<Made>(_ query: ComposedQuery, row: (Row) throws -> Made) throws -> [Made] {
    try execute(queued(query)).map(row)
  }

  /// Runs a statement that names a table, as the database's own schema does, and returns its result.
  @discardableResult func run(naming sql: String, _ rows: Rows = Rows()) throws(StoreFailure) -> Answer {
    try execute(Queued(name: try statement(sql, rows.types), parameters: rows.parameters))
  }

  /// Runs several statements without parameters in one round trip, up to the first that fails. They are not prepared.
  ///
  /// - Returns: the first column of the first row of the last statement, as text.
  @discardableResult func script(_ sql: String) throws(StoreFailure) -> String? {
    let answer = try check(chime_pq_exec(handle, sql))
    return answer.count > 0 && !answer[0].isNull(0) ? answer[0].text(0) : nil
  }

  // MARK: Pipelining

  /// A statement that is queued for `send`, by the name under which the server has parsed it.
  struct Queued {
    fileprivate let name: [CChar]
    fileprivate let parameters: Parameters
    fileprivate var completion: (Answer) throws -> Void = { _ in }
  }

  /// Prepares a statement for `send`.
  ///
  /// - Parameter completion: receives the result; it must not use this connection.
  func queued<each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, completion: @escaping (Answer) throws -> Void = { _ in }
  ) throws(StoreFailure) -> Queued {
    let name = try statement(sql) {
      var types: [Oid] = []
      for type in repeat (each Value).self { types.append(type.sqlType.oid) }
      return types
    }
    var parameters = Parameters()
    for value in repeat each values { value.bind(to: &parameters) }
    return Queued(name: name, parameters: parameters, completion: completion)
  }

  /// Prepares a statement for `send` that takes an array for each column of `rows`; none without rows.
  func queued(
    _ sql: StaticString, _ rows: Rows, completion: @escaping (Answer) throws -> Void = { _ in }
  ) throws(StoreFailure) -> [Queued] {
    if rows.count == 0 { return [] }
    return [Queued(name: try statement(sql) { rows.types }, parameters: rows.parameters, completion: completion)]
  }

  /// Prepares a composed query for `send`.
  func queued(
    _ query: ComposedQuery, completion: @escaping (Answer) throws -> Void = { _ in }
  ) throws(StoreFailure) -> Queued {
    let name = try statement(query.sql, query.values.map { type(of: $0).sqlType.oid })
    var parameters = Parameters()
    for value in query.values { value.bind(to: &parameters) }
    return Queued(name: name, parameters: parameters, completion: completion)
  }

  /// The maximum number of statements in one pipeline.
  private static let pipelineLimit = 512

  /// Runs statements in order with one round trip for hundreds of them
  /// (postgresql.org/docs/15/libpq-pipeline-mode.html). No statement may depend on the result of another. The first
  /// failure ends the run.
  ///
  /// - Parameter meanwhile: runs once while the server works; it must not use this connection.
  func send(_ statements: [Queued], meanwhile: () throws -> Void = {}) throws {
    if statements.isEmpty { return try meanwhile() }
    for start in stride(from: 0, to: statements.count, by: Self.pipelineLimit) {
      try sendTogether(statements[start...].prefix(Self.pipelineLimit)) { if start == 0 { try meanwhile() } }
    }
  }

  private func sendTogether(_ statements: ArraySlice<Queued>, _ meanwhile: () throws -> Void) throws {
    guard chime_pq_enter_pipeline(handle) == 1 else { throw failure(nil) }
    for one in statements {
      let isSent = one.parameters.withPointers { count, values, lengths, formats in
        chime_pq_send_prepared(handle, one.name, count, values, lengths, formats) == 1
      }
      guard isSent else { throw lost() }
    }
    guard chime_pq_sync(handle) == 1 else { throw lost() }
    var first: (any Error)?
    do { try meanwhile() } catch { first = error }
    for one in statements {
      guard let result = chime_pq_get_result(handle) else { throw lost() }
      do {
        // Results after a failure are discarded: the server skips those statements, or nobody needs them.
        if first != nil { chime_pq_clear(result) } else { try one.completion(try check(result)) }
      } catch {
        first = error
      }
      while let more = chime_pq_get_result(handle) { chime_pq_clear(more) }
      if isLost { throw first ?? lost() }
    }
    // Consume the result of the sync message.
    chime_pq_clear(chime_pq_get_result(handle))
    guard chime_pq_exit_pipeline(handle) == 1 else { throw lost() }
    if let first { throw first }
  }

  // MARK: Notifications

  /// The socket, which is readable when data has arrived.
  var descriptor: Int32 { chime_pq_socket(handle) }

  /// Returns the notifications (NOTIFY) of other sessions since the last call, on all channels that this session listens to.
  func notifications() -> Set<String> {
    if chime_pq_consume_input(handle) == 0 { isSpoilt = true }
    var notifications: Set<String> = []
    while let notice = chime_pq_notifies(handle) {
      if Int(notice.pointee.be_pid) != process { notifications.insert(String(cString: notice.pointee.extra)) }
      chime_pq_free(notice)
    }
    return notifications
  }

  // MARK: Transactions

  func begin(_ sql: String) throws(StoreFailure) -> String? {
    hasConflict = false
    return try script(sql)
  }

  /// Rolls back the transaction, if there is one.
  func rollBack() {
    if !isLost, chime_pq_transaction_status(handle) != PQTRANS_IDLE { _ = try? script("ROLLBACK") }
  }

  /// Runs `body` in a transaction of its own, which is rolled back if anything throws.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    _ = try begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    // After the commit this does nothing.
    defer { rollBack() }
    let result = try body()
    try script("COMMIT")
    return result
  }

  // MARK: Prepared statements

  private func statement(_ sql: StaticString, _ types: () -> [Oid]) throws(StoreFailure) -> [CChar] {
    // A static string never moves, so its address identifies it.
    if let known = compiled[sql.utf8Start] { return known }
    let prepared = try prepare(sql.description, types())
    compiled[sql.utf8Start] = prepared
    return prepared
  }

  private func statement(_ sql: String, _ types: @autoclosure () -> [Oid]) throws(StoreFailure) -> [CChar] {
    if let known = composed[sql] { return known }
    let prepared = try prepare(sql, types())
    composed[sql] = prepared
    return prepared
  }

  private func prepare(_ sql: String, _ types: [Oid]) throws(StoreFailure) -> [CChar] {
    count += 1
    let name = "chime_\(count)"
    _ = try check(chime_pq_prepare(handle, name, Self.withoutHints(sql), Int32(types.count), types))
    return Array(name.utf8CString)
  }

  /// Translates a shared statement from SQLite's dialect: removes index hints and join order hints, and replaces
  /// `instr` by `strpos`.
  static func withoutHints(_ sql: String) -> String {
    sql.replacing(/\ INDEXED BY \w+/, with: "").replacing(/CROSS JOIN (?!LATERAL)/, with: "JOIN ")
      .replacing("instr(", with: "strpos(")
  }

  private func execute(_ one: Queued) throws(StoreFailure) -> Answer {
    try check(
      one.parameters.withPointers { count, values, lengths, formats in
        chime_pq_exec_prepared(handle, one.name, count, values, lengths, formats)
      })
  }

  // MARK: Failures

  private func check(_ result: OpaquePointer?) throws(StoreFailure) -> Answer {
    guard let result else { throw failure(nil) }
    let answer = Answer(owning: result)
    switch chime_pq_result_status(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return answer
    default: throw withExtendedLifetime(answer) { failure(result) }
    }
  }

  /// Returns the failure that a result describes. Without a result the connection is lost.
  private func failure(_ result: OpaquePointer?) -> StoreFailure {
    func field(_ name: UnicodeScalar) -> String? {
      result.flatMap { chime_pq_result_field($0, Int32(name.value)) }.map { String(cString: $0) }
    }
    guard let state = field("C") else { return lost() }
    let error = ServerError(state: state, message: field("M") ?? "")
    if error.isConflict { hasConflict = true }
    if error.spoilsSession { isSpoilt = true }
    return error.failure(server: server)
  }

  private func lost() -> StoreFailure {
    isSpoilt = true
    let said = ServerError.plain(String(cString: chime_pq_error_message(handle)))
    return .unavailable(
      "the connection to \(server) was lost\(said.isEmpty ? "" : " (\(said))"): check that PostgreSQL runs; chimed "
        + "reconnects by itself")
  }
}
