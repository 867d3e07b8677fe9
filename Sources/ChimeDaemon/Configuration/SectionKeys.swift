import ChimeDelivery

extension ConfigurationFiles {
  /// Checks the store's keys. A password is refused, because the configuration is shown to everyone who asks, and the
  /// message does not quote it. PostgreSQL needs a connection.
  static func checkStore(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
    let configuration = loaded.configuration
    if hasPassword(configuration.storeConnection) {
      throw ConfigurationError(
        file: loaded.origins["store.connection"] ?? "", line: nil, column: nil,
        message: "store.connection contains a password; move it into a file of mode 0600 and name the file in "
          + "store.passwordFile, or into the passfile (~/.pgpass)")
    }
    if configuration.storeEngine == .postgres, configuration.storeConnection.isEmpty {
      throw ConfigurationError(
        file: loaded.origins["store.engine"] ?? "", line: nil, column: nil,
        message:
          "store.engine = \"postgres\" needs store.connection, such as \"host=db.example dbname=chime\"")
    }
  }

  /// Returns whether libpq would find a password in the text: `password=…` as a keyword or URL parameter, or
  /// `postgres://USER:PASSWORD@…`.
  static func hasPassword(_ connection: String) -> Bool {
    for (index, _) in connection.ranges(of: "password").map({ ($0.upperBound, $0) }) {
      if connection[index...].first(where: { !$0.isWhitespace }) == "=" { return true }
    }
    guard let scheme = connection.firstRange(of: "://") else { return false }
    let authority = connection[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
    return authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false
  }
}

// The heartbeat to an external monitor.
extension ConfigurationFiles {
  /// Validates the heartbeat's addresses by the rules for endpoints.
  static func checkHeartbeat(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
    let heartbeat = loaded.configuration.heartbeat
    for (key, url) in [("heartbeat.url", heartbeat.url), ("heartbeat.failUrl", heartbeat.failURL)] where !url.isEmpty {
      do throws(DeliveryError) { try EndpointURL.validate(url) } catch {
        throw ConfigurationError(
          file: loaded.origins[key] ?? "", line: nil, column: nil, message: "\(key): \(error)")
      }
    }
    guard heartbeat.url.isEmpty || heartbeat.command.isEmpty else {
      throw ConfigurationError(
        file: loaded.origins["heartbeat.command"] ?? "", line: nil, column: nil,
        message: "heartbeat.url and heartbeat.command cannot be used together")
    }
    guard heartbeat.url.isEmpty, !heartbeat.failURL.isEmpty else { return }
    throw ConfigurationError(
      file: loaded.origins["heartbeat.failUrl"] ?? "", line: nil, column: nil,
      message: "heartbeat.failUrl needs heartbeat.url")
  }
}
