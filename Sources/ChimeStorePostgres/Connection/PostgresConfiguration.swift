import CPostgres
public import ChimeCore
import Glibc

/// Which database a store is in, and how it is reached.
///
///     try PostgresConfiguration(connection: "host=db1,db2 dbname=chime user=chime sslmode=verify-full", passwordFile: path)
public struct PostgresConfiguration: Sendable {
  /// What libpq is told, by its keywords (postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS). Never a password.
  let options: [String: String]
  /// The file whose first line is the password; nil: libpq looks for one itself (passfile, `PGPASSWORD`).
  let passwordFile: String?
  /// How long each host may take to let us in, in milliseconds.
  var connectTimeout: Int64 = 3_000
  /// How long one statement may take, and how long a transaction may stand still, in milliseconds. The server ends both.
  var statementTimeout: Int64 = 30_000
  var idleTimeout: Int64 = 15_000
  /// How long a transaction that has claimed due times may stand still: a daemon that is frozen with them holds up others.
  var claimTimeout: Int64 = 5_000
  /// How long the server is left alone after a session could not be opened, in milliseconds: who asks meanwhile hears the
  /// same, unless another session has been opened since.
  var rest: Int64 = 500
  /// How long to wait for the store's lock, in milliseconds: a daemon that has just ended may still have it.
  var lockTimeout: Int64 = 5_000
  /// From how many times on a month is left until all of it can be dropped, instead of being pruned time by time.
  var wholePartitions: Int64 = 1_000_000
  /// A month of which more times stay than this is not dropped, but pruned time by time.
  var mostStaying = 10_000
  /// How often in a row it is tried to drop a month.
  var dropTurns = 5
  /// How this daemon is known to those that share the database with it.
  public var member = Member()
  /// The steps to the layout that is wanted; tests make up more.
  var migrations = Schema.migrations

  /// - Parameter connection: keywords and values, or a URL, as libpq takes them.
  /// - Throws: `.unavailable` with a sentence when it cannot be read, has a password, or there is no libpq.
  public init(connection: String, passwordFile: String? = nil) throws(StoreFailure) {
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

  /// How a daemon is known to others.
  public struct Member: Sendable {
    /// That of its machine.
    public var name: String
    public var process = Int64(getpid())
    /// Of its program.
    public var version = ""

    public init() {
      var bytes = [CChar](repeating: 0, count: 256)
      gethostname(&bytes, bytes.count - 1)
      name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// How it is called in `chime status`: without what is of no interest there.
  public var summary: String {
    let shown = ["host", "hostaddr", "port", "dbname", "user", "service"].compactMap { keyword in
      options[keyword].map { "\(keyword)=\($0)" }
    }
    return (["postgres:"] + shown).joined(separator: " ")
  }

  /// The hosts, each with what is told of it, in the order in which they are tried; one without a name where libpq knows
  /// more (a service file, `PGHOST`, the local socket).
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

  /// The password as it stands in the file now, so that a new one is taken at the next connection.
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
