import CPostgres
import ChimeCore
import ChimeRecords

/// One session of a PostgreSQL server, with its prepared statements. Not thread-safe: it has one owner, which uses it on
/// one queue.
///
/// SQL is passed as `StaticString`, so text that came from outside cannot become part of a statement; values are always
/// parameters, in binary form.
///
///     try connection.run("UPDATE note SET value = $1 WHERE name = $2", value, name)
final class Connection: SQLConnection {
  let handle: OpaquePointer
  /// The server, for sentences about it.
  let server: String
  private var compiled: [UnsafePointer<UInt8>: Prepared] = [:]
  private var composed: [String: Prepared] = [:]
  private var parameters = Parameters()
  private var count = 0
  /// The rows that the latest `run` changed.
  private(set) var changes = 0
  /// Whether the server has broken off a transaction for another's sake, since the last `begin`: it may run again.
  private(set) var hasConflict = false
  /// The daemon that it is named after.
  private var node: Int64?
  /// Whether the session is of no more use although the server still answers.
  private var isSpoilt = false

  /// A statement that the server has parsed, under the name by which it is called.
  private struct Prepared {
    let name: [CChar]
  }

  /// Takes over a session that has been opened.
  init(owning handle: OpaquePointer, server: String) {
    self.handle = handle
    self.server = server
  }

  deinit { chime_pq_finish(handle) }

  /// Whether the session can be used no more.
  var isLost: Bool { isSpoilt || chime_pq_status(handle) != CONNECTION_OK }

  /// Whether the server takes nothing more in this transaction but its end.
  var isBroken: Bool { chime_pq_transaction_status(handle) == PQTRANS_INERROR }

  var isIdle: Bool { chime_pq_transaction_status(handle) == PQTRANS_IDLE }

  /// The number of the process that serves it.
  var process: Int { Int(chime_pq_backend_pid(handle)) }

  /// Names it after its daemon, where it is not yet, for people who look at `pg_stat_activity` and for the daemons that end
  /// the sessions of one that is lost (`OrphanSessionReaper`). Between two transactions.
  func name(for node: Int64, _ member: PostgresConfiguration.Member) throws(StoreFailure) {
    guard self.node != node else { return }
    // The server cuts it after 63 bytes: what counts stands first.
    try run(
      "SELECT set_config('application_name', 'chimed ' || $1 || ', process ' || $2 || ' on ' || $3, false)", node,
      member.process, member.name)
    self.node = node
  }

  // Running.

  /// Runs a statement, passing over its rows.
  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure) {
    changes = try answer(sql, repeat each values).changes
  }

  /// What `row` makes of each row, in order.
  func all<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> [Made] {
    try answer(sql, repeat each values).map(row)
  }

  /// What `row` makes of the first row, if there is one.
  func first<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> Made? {
    let answer = try answer(sql, repeat each values)
    return answer.count > 0 ? try row(answer[0]) : nil
  }

  /// As `run`, for a statement put together from constant pieces.
  func run(_ query: ComposedQuery) throws(StoreFailure) {
    let prepared = try statement(query)
    parameters.clear()
    for value in query.values { value.bind(to: &parameters) }
    changes = try execute(prepared).changes
  }

  /// As `all`, for a query put together from constant pieces.
  func all<Made>(_ query: ComposedQuery, row: (Row) throws -> Made) throws -> [Made] {
    let prepared = try statement(query)
    parameters.clear()
    for value in query.values { value.bind(to: &parameters) }
    return try execute(prepared).map(row)
  }

  /// Runs several statements that take no parameters and are not kept, in one step: to the first that fails.
  ///
  /// - Returns: the first column of the first row of the last, as text.
  @discardableResult func script(_ sql: String) throws(StoreFailure) -> String? {
    let answer = try check(chime_pq_exec(handle, sql))
    return answer.count > 0 && !answer[0].isNull(0) ? answer[0].text(0) : nil
  }

  // Many at once.

  /// A statement that waits to be sent with others.
  struct Queued {
    fileprivate let name: [CChar]
    fileprivate let parameters: Parameters
    fileprivate let heard: (Answer) throws -> Void
  }

  /// Makes a statement ready for `send`.
  ///
  /// - Parameter heard: is told what it came to; it must not use this connection.
  func queued<each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, heard: @escaping (Answer) throws -> Void = { _ in }
  ) throws(StoreFailure) -> Queued {
    let prepared = try statement(sql, repeat (each Value).self)
    var parameters = Parameters()
    for value in repeat each values { value.bind(to: &parameters) }
    return Queued(name: prepared.name, parameters: parameters, heard: heard)
  }

  /// As `queued`, for a query put together from constant pieces.
  func queued(_ query: ComposedQuery, heard: @escaping (Answer) throws -> Void) throws(StoreFailure) -> Queued {
    let prepared = try statement(query)
    var parameters = Parameters()
    for value in query.values { value.bind(to: &parameters) }
    return Queued(name: prepared.name, parameters: parameters, heard: heard)
  }

  /// How many statements are on their way at once at most.
  private static let pipelineLimit = 512

  /// Runs statements in their order without waiting for each: a journey to the server and back for hundreds of them
  /// (postgresql.org/docs/15/libpq-pipeline-mode.html). None depends on what another came to. The first failure ends it.
  ///
  /// - Parameter meanwhile: runs once, while the server is at work; it must not use this connection.
  func send(_ statements: [Queued], meanwhile: () throws -> Void = {}) throws {
    var rest = statements[...]
    if rest.isEmpty { return try meanwhile() }
    try sendTogether(rest.prefix(Self.pipelineLimit), meanwhile)
    rest = rest.dropFirst(Self.pipelineLimit)
    while !rest.isEmpty {
      try sendTogether(rest.prefix(Self.pipelineLimit))
      rest = rest.dropFirst(Self.pipelineLimit)
    }
  }

  private func sendTogether(_ statements: ArraySlice<Queued>, _ meanwhile: () throws -> Void = {}) throws {
    guard chime_pq_enter_pipeline(handle) == 1 else { throw failure(nil) }
    var sent = 0
    for one in statements {
      let isSent = one.parameters.withPointers { count, values, lengths, formats in
        one.name.withUnsafeBufferPointer { name in
          chime_pq_send_prepared(handle, name.baseAddress, count, values, lengths, formats) == 1
        }
      }
      guard isSent else { throw lost() }
      sent += 1
    }
    guard chime_pq_sync(handle) == 1 else { throw lost() }
    var first: (any Error)?
    do { try meanwhile() } catch { first = error }
    for one in statements {
      guard let result = chime_pq_get_result(handle) else { throw lost() }
      do {
        // What stands behind a failure is not run at all, or of no interest.
        if first != nil { chime_pq_clear(result) } else { try one.heard(try check(result)) }
      } catch {
        first = error
      }
      while let more = chime_pq_get_result(handle) { chime_pq_clear(more) }
      if isLost { throw first ?? lost() }
    }
    // The mark at the end.
    chime_pq_clear(chime_pq_get_result(handle))
    guard chime_pq_exit_pipeline(handle) == 1 else { throw lost() }
    if let first { throw first }
  }

  // Others' words.

  /// The socket, which is readable when something has arrived.
  var descriptor: Int32 { chime_pq_socket(handle) }

  /// What other sessions have said (NOTIFY) since the last call, on any channel that this one listens to.
  func words() -> Set<String> {
    if chime_pq_consume_input(handle) == 0 { isSpoilt = true }
    var words: Set<String> = []
    while let notice = chime_pq_notifies(handle) {
      if Int(notice.pointee.be_pid) != process { words.insert(String(cString: notice.pointee.extra)) }
      chime_pq_free(notice)
    }
    return words
  }

  // Transactions.

  func begin(_ sql: String) throws(StoreFailure) -> String? {
    hasConflict = false
    return try script(sql)
  }

  /// Ends a transaction without a trace, unless there is none.
  func rollBack() {
    if !isLost, !isIdle { _ = try? script("ROLLBACK") }
  }

  // Preparing.

  private func answer<each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(StoreFailure) -> Answer {
    let prepared = try statement(sql, repeat (each Value).self)
    parameters.clear()
    for value in repeat each values { value.bind(to: &parameters) }
    return try execute(prepared)
  }

  private func statement<each Value: SQLValue>(
    _ sql: StaticString, _ kinds: repeat (each Value).Type
  ) throws(StoreFailure) -> Prepared {
    // A static string never moves, so its address is its name.
    if let known = compiled[sql.utf8Start] { return known }
    var types: [Oid] = []
    for kind in repeat each kinds { types.append(kind.sqlType.oid) }
    let prepared = try prepare(sql.description, types)
    compiled[sql.utf8Start] = prepared
    return prepared
  }

  private func statement(_ query: ComposedQuery) throws(StoreFailure) -> Prepared {
    if let known = composed[query.sql] { return known }
    let prepared = try prepare(query.sql, query.values.map { type(of: $0).sqlType.oid })
    composed[query.sql] = prepared
    return prepared
  }

  private func prepare(_ sql: String, _ types: [Oid]) throws(StoreFailure) -> Prepared {
    count += 1
    let name = "chime_\(count)"
    _ = try check(chime_pq_prepare(handle, name, Self.withoutHints(sql), Int32(types.count), types))
    return Prepared(name: name.utf8CString.map { $0 })
  }

  /// A statement that both engines have in common is in SQLite's words: what tells its planner which index to take, and in
  /// which order to join, is no SQL of PostgreSQL's, and its `instr` is `strpos` here.
  static func withoutHints(_ sql: String) -> String {
    sql.replacing(/\ INDEXED BY \w+/, with: "").replacing(/CROSS JOIN (?!LATERAL)/, with: "JOIN ")
      .replacing("instr(", with: "strpos(")
  }

  private func execute(_ prepared: Prepared) throws(StoreFailure) -> Answer {
    try check(
      parameters.withPointers { count, values, lengths, formats in
        prepared.name.withUnsafeBufferPointer { name in
          chime_pq_exec_prepared(handle, name.baseAddress, count, values, lengths, formats)
        }
      })
  }

  // Rows as they are.

  /// Begins a COPY, after which rows go one way until its end.
  func startCopy(_ sql: String, _ way: ExecStatusType) throws(StoreFailure) {
    guard let result = chime_pq_exec(handle, sql) else { throw failure(nil) }
    let answer = Answer(owning: result)
    guard chime_pq_result_status(result) == way else { throw withExtendedLifetime(answer) { failure(result) } }
  }

  /// Hears what a COPY came to whose rows have all gone.
  func endCopy() throws(StoreFailure) {
    var first: StoreFailure?
    while let result = chime_pq_get_result(handle) {
      do throws(StoreFailure) { _ = try check(result) } catch { if first == nil { first = error } }
    }
    if let first { throw first }
  }

  /// Gives the session up: what it is in the middle of is of no more interest.
  func abandon() { isSpoilt = true }

  /// The connection as it is when it takes nothing more.
  func loss() -> StoreFailure { lost() }

  // Failing.

  private func check(_ result: OpaquePointer?) throws(StoreFailure) -> Answer {
    guard let result else { throw failure(nil) }
    let answer = Answer(owning: result)
    switch chime_pq_result_status(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return answer
    default: throw withExtendedLifetime(answer) { failure(result) }
    }
  }

  /// What a result that is none says, or, where there is not even that, the connection.
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
