// The connection to a PostgreSQL store, and files of secrets.
extension ConfigurationKey {
  static let storeConnection = ConfigurationKey(
    path: "store.connection",
    expected: "keywords and values of libpq without a password, such as \"host=db.example dbname=chime\"",
    set: { configuration, value in
      guard case .scalar(.string(let text)) = value, text.utf8.count <= 4_000, !text.utf8.contains(0) else {
        return false
      }
      configuration.storeConnection = text
      return true
    }, show: { TOMLText.quoted($0.storeConnection) })

  /// The path of a file with a secret.
  static func secretFile(_ path: String, _ place: any Spot<String>) -> ConfigurationKey {
    ConfigurationKey(
      path: path,
      expected: "the absolute path of a file, the name of a credential of the service manager, or \"\" for none",
      set: { configuration, value in
        guard case .scalar(.string(let text)) = value, text.utf8.count <= 4_000, !text.utf8.contains(0),
          text.hasPrefix("/") || (!text.contains("/") && text != "." && text != "..")
        else { return false }
        configuration[keyPath: place] = text
        return true
      }, show: { TOMLText.quoted($0[keyPath: place]) })
  }
}

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
