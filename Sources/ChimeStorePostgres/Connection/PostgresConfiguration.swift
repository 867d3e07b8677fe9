import CPostgres
package import ChimeCore
import Glibc

/// A PostgresConfiguration describes which database holds the store and how to connect to it.
///
///     try PostgresConfiguration(connection: "host=db1,db2 dbname=chime user=chime sslmode=verify-full", passwordFile: path)
package struct PostgresConfiguration: Sendable {
  /// The libpq options by keyword (postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS). They never contain a password.
  let options: [String: String]
  /// The file whose first line is the password; nil if libpq finds it itself (passfile, `PGPASSWORD`).
  let passwordFile: String?
  /// The timeout for connecting to each host, in milliseconds.
  var connectTimeout: Int64 = 3_000
  /// The server's limits for one statement and for an idle transaction, in milliseconds.
  var statementTimeout: Int64 = 30_000
  var idleTimeout: Int64 = 15_000
  /// The limit in milliseconds for an idle transaction that has claimed due times. A frozen daemon would block them for others.
  var claimTimeout: Int64 = 5_000
  /// The pause after a failed connection, in milliseconds. Requests in that time get the same error, unless another
  /// session has connected since.
  var rest: Int64 = 500
  /// The wait for the store's lock, in milliseconds. A daemon that has just ended may still hold it.
  var lockTimeout: Int64 = 5_000
  /// The number of rows from which a month is kept until it can be dropped whole, instead of being pruned row by row.
  var wholePartitions: Int64 = 1_000_000
  /// The maximum number of remaining rows for which a month is dropped; with more it is pruned row by row.
  var mostStaying = 10_000
  /// The number of attempts to drop a month.
  var dropTurns = 5
  /// The identity of this daemon among those that share the database.
  package var member = Member()
  /// The migrations to the current schema version; tests add more.
  var migrations = Schema.migrations

  /// Parses a connection string.
  ///
  /// - Parameter connection: keywords and values, or a URL, in libpq's format.
  /// - Throws: `.unavailable` if it is malformed or contains a password, or if libpq is missing.
  package init(connection: String, passwordFile: String? = nil) throws(StoreFailure) {
    try Self.load()
    var error: UnsafeMutablePointer<CChar>?
    guard let parsed = chime_pq_parse(connection, &error) else {
      defer { chime_pq_free(error) }
      let reason = ServerError.plain(error.map { String(cString: $0) } ?? "there is not enough memory")
      throw .unavailable(#"connection of [store] cannot be read: \#(reason) (such as "host=db.example dbname=chime")"#)
    }
    defer { chime_pq_free_options(parsed) }
    var options: [String: String] = [:]
    var next = parsed
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.val { options[String(cString: keyword)] = String(cString: value) }
      next += 1
    }
    for secret in ["password", "sslpassword"] where options[secret] != nil {
      throw .unavailable(
        "connection of [store] has a \(secret), which everyone who requests the configuration would see: put it "
          + "into a file of mode 0600 and name that in passwordFile, or into the passfile (~/.pgpass)")
    }
    self.options = options
    self.passwordFile = passwordFile
  }

  /// The identity of a daemon.
  package struct Member: Sendable {
    /// The host name.
    package var name: String
    package var process = Int64(getpid())
    /// The version of chimed.
    package var version = ""

    package init() {
      var bytes = [CChar](repeating: 0, count: 256)
      gethostname(&bytes, bytes.count - 1)
      name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// The description for `chime status`, with the relevant options only.
  package var summary: String {
    let shown = ["host", "hostaddr", "port", "dbname", "user", "service"].compactMap { keyword in
      options[keyword].map { "\(keyword)=\($0)" }
    }
    return (["postgres:"] + shown).joined(separator: " ")
  }

  /// The hosts with their options, in the order in which they are tried. A host without a name leaves the choice to
  /// libpq (a service file, `PGHOST`, the local socket).
  var hosts: [[String: String]] {
    func list(_ keyword: String) -> [String] {
      options[keyword]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
    let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    return (0..<max(names.count, addresses.count, 1)).map { index in
      var host: [String: String] = [:]
      if index < names.count { host["host"] = names[index] }
      if index < addresses.count { host["hostaddr"] = addresses[index] }
      if let port = ports.count == 1 ? ports.first : index < ports.count ? ports[index] : nil { host["port"] = port }
      return host
    }
  }

  /// Reads the password from the file at each connection, so that a changed password takes effect.
  func password() throws(StoreFailure) -> String? {
    guard let passwordFile else { return nil }
    let descriptor = open(passwordFile, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .unavailable("passwordFile of [store] cannot be read: \(passwordFile): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unavailable("passwordFile of [store] is not a file: \(passwordFile)")
    }
    guard status.st_mode & 0o007 == 0 else {
      throw .unavailable("other users can read the password: chmod 600 \(passwordFile) (passwordFile of [store])")
    }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &bytes, bytes.count)
    let line = bytes.prefix(max(count, 0)).prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    guard !line.isEmpty else { throw .unavailable("passwordFile of [store] is empty: \(passwordFile)") }
    return String(decoding: line, as: UTF8.self)
  }

  private static func load() throws(StoreFailure) {
    var why = [CChar](repeating: 0, count: 512)
    guard chime_pq_load(CHIME_PQ_LIBRARY, &why, why.count) == 1 else {
      let reason = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw .unavailable("libpq cannot be loaded: install PostgreSQL's client library (apt install libpq5) (\(reason))")
    }
  }
}
