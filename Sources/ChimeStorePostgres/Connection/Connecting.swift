import CPostgres
import ChimeCore
import ChimeRecords
import Glibc

// Opening of sessions: hosts are tried one after another with a short timeout, and the first that accepts writes is used.
extension PostgresConfiguration {
  /// Opens a session and prepares it.
  ///
  /// - Throws: `.unavailable` with the error of each host and advice.
  func connect() throws(StoreFailure) -> Connection {
    let password = try password()
    var reasons: [String] = []
    for host in hosts {
      var keywords = options.merging(host) { $1 }
      // An empty name means the default host, but `hostaddr` may still be set.
      if let name = host["host"], name.isEmpty { keywords["host"] = nil }
      keywords["connect_timeout"] = nil
      keywords["client_encoding"] = "UTF8"
      // With several hosts, the first may be a standby.
      for (keyword, value) in Self.usual where keywords[keyword] == nil { keywords[keyword] = value }
      if let password { keywords["password"] = password }
      do {
        return try prepared(open(keywords))
      } catch {
        guard case .unavailable(let sentence) = error else { throw error }
        if !reasons.contains(sentence) { reasons.append(sentence) }
      }
    }
    throw .unavailable(reasons.joined(separator: "; "))
  }

  /// The default options. `tcp_user_timeout` and the keepalives detect a dead peer within about ten seconds (tcp(7)).
  private static let usual = [
    "application_name": "chimed", "target_session_attrs": "read-write", "keepalives": "1", "keepalives_idle": "5",
    "keepalives_interval": "2", "keepalives_count": "3", "tcp_user_timeout": "10000",
  ]

  private func open(_ keywords: [String: String]) throws(StoreFailure) -> Connection {
    let pairs = keywords.sorted { $0.key < $1.key }
    let handle = withStrings(pairs.map(\.key)) { keywords in
      withStrings(pairs.map(\.value)) { values in chime_pq_connect_start(keywords, values) }
    }
    guard let handle else { throw .unavailable("there is not enough memory to connect to PostgreSQL") }
    // Verbose errors include the SQLSTATE.
    chime_pq_be_verbose(handle)
    chime_pq_be_quiet(handle)
    do {
      try wait(for: handle)
    } catch {
      chime_pq_finish(handle)
      throw error
    }
    return Connection(owning: handle, server: name(of: handle))
  }

  /// Drives the connection attempt (PQconnectPoll, postgresql.org/docs/15/libpq-connect.html).
  private func wait(for handle: OpaquePointer) throws(StoreFailure) {
    let end = Self.clock() + connectTimeout
    var wanted = PGRES_POLLING_WRITING
    while chime_pq_status(handle) != CONNECTION_BAD {
      let left = end - Self.clock()
      guard left > 0 else {
        throw .unavailable(
          "\(name(of: handle)) did not answer within \(connectTimeout / 1_000) s: check that it runs, and host and "
            + "port in connection of [store]")
      }
      var one = pollfd(
        fd: chime_pq_socket(handle), events: Int16(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
      if poll(&one, 1, Int32(left)) <= 0 { continue }
      wanted = chime_pq_connect_poll(handle)
      if wanted == PGRES_POLLING_OK { return }
      if wanted == PGRES_POLLING_FAILED { break }
    }
    throw refusal(of: handle)
  }

  /// Returns the reason why the session could not be opened.
  private func refusal(of handle: OpaquePointer) -> StoreFailure {
    let (server, said) = (name(of: handle), String(cString: chime_pq_error_message(handle)))
    let user = options["user"].map { "user \($0)" } ?? "chimed's user"
    let database = options["dbname"].map { "database \($0)" } ?? "the database"
    if chime_pq_needs_password(handle) != 0 {
      return .unavailable(
        "\(server) needs the password of \(user): put it into a file of mode 0600 and name that in passwordFile of "
          + "[store]")
    }
    guard let error = ServerError(refusal: said) else {
      // These names are the same in every language of the server.
      if options["sslmode"] != nil, ["SSL", "certificate", "sslrootcert"].contains(where: said.contains) {
        return .unavailable(
          "the TLS connection to \(server) failed: \(ServerError.plain(said)); check its certificate, and sslmode, "
            + "sslrootcert and host in connection of [store]")
      }
      return .unavailable(
        "PostgreSQL cannot be reached: \(ServerError.plain(said)); check that it runs and accepts changes, and host "
          + "and port in connection of [store]")
    }
    switch error.state {
    case "28P01":
      let place = passwordFile ?? "the passfile (~/.pgpass)"
      return .unavailable("\(server) rejects the password of \(user): put the right one into \(place)")
    case "28000":
      return .unavailable("\(server) rejects \(user) (\(error.message)): check its pg_hba.conf and the role")
    case "3D000":
      return .unavailable(
        "\(server) has no \(database): create it (createdb --encoding=UTF8 --owner=USER NAME), or name another "
          + "dbname in connection of [store]")
    default: return error.failure(server: server)
    }
  }

  /// Checks the server and applies the settings of every session.
  private func prepared(_ connection: Connection) throws(StoreFailure) -> Connection {
    let version = chime_pq_server_version(connection.handle)
    guard version >= 150_000 else {
      throw .unavailable("\(connection.server) is PostgreSQL \(version / 10_000): chimed needs 15 or newer")
    }
    let encoding = chime_pq_parameter_status(connection.handle, "server_encoding").map { String(cString: $0) } ?? ""
    guard encoding == "UTF8" else {
      throw .unavailable(
        "the database on \(connection.server) has the encoding \(encoding): create one with --encoding=UTF8 "
          + "--template=template0")
    }
    try connection.script(
      """
      SET search_path = chime, pg_temp;
      SET statement_timeout = \(statementTimeout);
      SET idle_in_transaction_session_timeout = \(idleTimeout);
      SET jit = off;
      -- What has committed is to last, whatever this database's default is.
      SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
      """)
    return connection
  }

  /// Returns a name of the server for messages.
  private func name(of handle: OpaquePointer) -> String {
    let host = chime_pq_host(handle).map { String(cString: $0) } ?? ""
    let port = chime_pq_port(handle).map { String(cString: $0) } ?? ""
    if host.isEmpty { return "PostgreSQL" }
    return "PostgreSQL at \(host)\(port.isEmpty || port == "5432" ? "" : ":\(port)")"
  }

  /// Returns CLOCK_BOOTTIME in microseconds, as `StoreTime` uses it. The clock cannot be set and counts sleep.
  static func unsetClock() -> Int64 { nanoseconds(CLOCK_BOOTTIME) / 1_000 }

  /// Returns CLOCK_MONOTONIC in milliseconds.
  static func clock() -> Int64 { nanoseconds(CLOCK_MONOTONIC) / 1_000_000 }

  /// Calls `body` with a null-terminated array of C strings.
  private func withStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    var pointers = copies.map { $0.map { UnsafePointer<CChar>($0) } }
    pointers.append(nil)
    return withExtendedLifetime(pointers) { body(pointers) }
  }
}
