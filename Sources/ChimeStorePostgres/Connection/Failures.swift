import ChimeCore

/// A ServerError is an error that PostgreSQL reported (postgresql.org/docs/15/errcodes-appendix.html).
struct ServerError {
  /// The SQLSTATE, five characters.
  var state: String
  /// The message in the server's language.
  var message: String

  /// Whether the transaction may succeed when it is repeated: a serialization failure, a deadlock, or a unique
  /// violation by a concurrent insert.
  var isConflict: Bool { state == "40001" || state == "40P01" || state == "23505" }

  /// Whether the session must be closed: the server shuts down, the connection failed, prepared statements are invalid,
  /// or the server has become read-only.
  var spoilsSession: Bool {
    state.hasPrefix("57P") || state.hasPrefix("08") || state == "25P03" || state == "26000" || state == "0A000"
      || state == "25006"
  }

  /// Returns the failure with advice for an operator of Chime.
  func failure(server: String) -> StoreFailure {
    switch state {
    case "40001", "40P01", "23505":
      return .unavailable("another transaction on \(server) conflicted (\(message)): try again")
    case "57014":
      return .unavailable(
        "\(server) cancelled a statement (\(message)): it is overloaded, or another session holds a lock (see "
          + "pg_stat_activity)")
    case "55P03":
      return .unavailable("another session holds a lock on \(server) (\(message)): see pg_locks")
    case "25P03": return .unavailable("\(server) ended an idle transaction (\(message)): try again")
    case "25006":
      return .unavailable(
        "\(server) is read-only (\(message)): it is a standby, or was set read-only; name the primary, or all "
          + "hosts, in connection of [store]")
    case "57P01":
      return .unavailable(
        "\(server) has ended the session (\(message)): it is stopping, or an administrator ended it; chimed "
          + "reconnects by itself")
    case "57P02", "57P03":
      return .unavailable("\(server) is stopping or starting (\(message)): chimed reconnects by itself")
    case "57P04": return .unavailable("the database on \(server) was removed (\(message)): restore it from a backup")
    case "42501":
      return .unavailable(
        "\(server) does not permit it (\(message)): the database must belong to chimed's user (ALTER DATABASE … "
          + "OWNER TO …)")
    case "53100": return .unavailable("the disk of \(server) is full: free some space on its file system")
    case "53200": return .unavailable("\(server) does not have enough memory (\(message))")
    case "53300": return .unavailable("\(server) has no free connections: raise max_connections, or end other programs")
    case "58030": return .unavailable("\(server) cannot read or write its disk (\(message)): see its log")
    case "XX001", "XX002":
      return .unavailable(
        "\(server) has damaged data (\(message)): see its log, and restore the database from a backup")
    default: break
    }
    switch state.prefix(2) {
    case "08", "53", "57", "58":
      return .unavailable("\(server) cannot do it now: \(message) (\(state))")
    case "22": return .internalError("PostgreSQL cannot store a value: \(message) (\(state))")
    default: return .internalError("PostgreSQL refused a statement: \(message) (\(state))")
    }
  }

  /// Returns an error text as one line, without the source locations of verbose errors.
  static func plain(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
      .map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "; ")
  }

  /// Parses the SQLSTATE from the verbose text of a refused connection (`… failed: FATAL:  3D000: database "x" does not
  /// exist`), in any language. Returns nil if the error is not the server's.
  init?(refusal text: String) {
    let parts = Self.plain(text).split(separator: ": ").map { $0 }
    let place = parts.firstIndex { part in
      part.utf8.count == 5 && part.utf8.contains { (0x30...0x39).contains($0) }
        && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
    guard let place else { return nil }
    self.init(state: String(parts[place]), message: parts[(place + 1)...].joined(separator: ": "))
  }

  init(state: String, message: String) {
    self.state = state
    self.message = message
  }
}
