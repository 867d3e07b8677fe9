import ChimeCore

/// What PostgreSQL says of a failure (postgresql.org/docs/15/errcodes-appendix.html).
struct ServerError {
  /// The five characters of SQLSTATE.
  var state: String
  /// In the server's language.
  var message: String

  /// Whether the transaction may succeed when it runs again: somebody else's was in its way, or has made first what it
  /// found missing and was about to make (a unique violation).
  var isConflict: Bool { state == "40001" || state == "40P01" || state == "23505" }

  /// Whether the session is to be given up: the server ends, the connection is refused, or what was prepared is no more.
  var spoilsSession: Bool {
    state.hasPrefix("57P") || state.hasPrefix("08") || state == "25P03" || state == "26000" || state == "0A000"
      || state == "25006"
  }

  /// What it means to someone who runs Chime.
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

  /// An error text as one line, without the places in PostgreSQL's source that a verbose one names.
  static func plain(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
      .map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "; ")
  }

  /// The SQLSTATE in a verbose text of a refused connection (`… failed: FATAL:  3D000: database "x" does not exist`),
  /// whatever language it is in; nil where the server had no say.
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
