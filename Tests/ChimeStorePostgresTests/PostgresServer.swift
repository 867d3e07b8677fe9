import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server for the tests, in a folder of its own with a Unix socket. It ends with this process, however
/// that ends.
final class PostgresServer: Sendable {
  /// Debian's folder of each version's programs.
  static let programs = ["15", "16", "17", "18"].map { "/usr/lib/postgresql/\($0)/bin" }
    .first { access($0 + "/initdb", X_OK) == 0 && access($0 + "/postgres", X_OK) == 0 }

  /// Why no server can run here; nil if one can.
  static var whyMissing: String? {
    if programs == nil { return "PostgreSQL's server is not installed (apt install postgresql)" }
    if getuid() == 0, account == nil {
      return "postgres refuses to run as root, and there is no user postgres"
    }
    return nil
  }

  /// The account that runs the server when this is root. It is looked up once: getpwnam(3) uses static memory, which
  /// concurrent lookups overwrite.
  static let account = getpwnam("postgres").map { (user: $0.pointee.pw_uid, group: $0.pointee.pw_gid) }

  /// The server shared by tests; each test has its own database.
  static let shared = Result { try PostgresServer() }

  /// A loopback address that only this test run uses, so that its ports are free.
  static let address = "127.\(64 + getpid() >> 16 & 63).\(getpid() >> 8 & 255).\(getpid() & 255)"

  let folder: String
  private let port: UInt16?
  private let running = Mutex<ChildProcess?>(nil)
  private let count = Mutex(0)
  private let wiped = Mutex<String?>(nil)

  /// A freshly initialized data folder: copying it takes a fifth of the time of initdb.
  private static let template = Result { () throws -> String in
    let folder = try makeFolder("template")
    try asUser(
      program("initdb"), ["-D", folder + "/data", "-U", "chime", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"])
    return folder
  }

  /// - Parameters:
  ///   - settings: lines of its configuration.
  ///   - port: the TCP port at `address`, in addition to the socket.
  ///   - primary: the server that it follows as a streaming standby.
  init(settings: [String] = [], port: UInt16? = nil, following primary: PostgresServer? = nil) throws {
    self.port = port
    folder = try Self.makeFolder("postgres")
    if let primary {
      try Self.asUser(
        Self.program("pg_basebackup"),
        ["-h", primary.folder, "-U", "chime", "-D", folder + "/data", "-R", "-X", "stream", "-c", "fast", "-N"])
    } else {
      try Self.run("/bin/cp", ["-a", "--reflink=auto", try Self.template.get() + "/data", folder + "/data"])
    }
    // One role needs a password; all others are trusted.
    let rules = """
      local all guarded scram-sha-256
      local all,replication all trust
      hostssl all all 127.0.0.0/8 trust
      host all all 10.213.0.0/16 trust

      """
    try rules.write(toFile: folder + "/rules", atomically: true, encoding: .utf8)
    chmod(folder + "/rules", 0o644)
    // Tests kill processes, not machines: written data survive without fsync.
    let lines =
      [
        "listen_addresses = '\(port == nil ? "" : Self.address)'", "port = \(port ?? 5432)",
        "unix_socket_directories = '\(folder)'", "hba_file = '\(folder)/rules'",
        "logging_collector = off", "dynamic_shared_memory_type = mmap", "fsync = off", "max_connections = 200",
        "shared_buffers = 32MB", "wal_level = replica",
      ] + settings
    try lines.joined(separator: "\n").write(toFile: folder + "/settings", atomically: true, encoding: .utf8)
    chmod(folder + "/settings", 0o644)
    try start()
  }

  deinit {
    end()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts the server, and waits until it answers.
  ///
  /// - Parameter seconds: the timeout; after a kill under load, the server must first replay its log.
  func start(within seconds: Int = 60) throws {
    let (program, words) = Self.commandOfUser(
      Self.program("postgres"), ["-D", folder + "/data", "-c", "config_file=\(folder)/settings"])
    let process = try ChildProcess(
      program, words, in: "/", output: .file(folder + "/log"), errors: .asOutput, endsOnQuit: true)
    running.withLock { $0 = process }
    for _ in 0..<(seconds * 20) where process.isRunning {
      let isThere = access("\(folder)/.s.PGSQL.\(port ?? 5432)", F_OK) == 0
      if isThere, (try? sql("SELECT 1", on: "postgres")) != nil { return }
      usleep(50_000)
    }
    throw Problem("the server did not start: \((try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "")")
  }

  /// Makes commits wait for a standby.
  func waitForStandby() throws {
    try sql("ALTER SYSTEM SET synchronous_standby_names = '*'", on: "postgres")
    try sql("SELECT pg_reload_conf()", on: "postgres")
    for _ in 0..<1_200 {
      if try sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", on: "postgres") != "0" { return }
      usleep(50_000)
    }
    throw Problem("no standby follows")
  }

  func promote() throws { try Self.asUser(Self.program("pg_ctl"), ["promote", "-w", "-D", folder + "/data"]) }

  /// Simulates the loss of its machine: kills all processes without a clean shutdown.
  func lose() throws {
    guard let process = running.withLock({ $0 }) else { throw Problem("the server does not run") }
    let main = process.pid
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    // The last word of the seventh line: the shared memory segment by which a second server would detect the first. It
    // survives a kill.
    let facts = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let segment = facts.count > 6 ? facts[6].split(separator: " ").last.map(String.init) : nil
    // Stop the postmaster first, so that it restarts no child.
    Glibc.kill(main, SIGSTOP)
    for child in children.split(separator: " ").compactMap({ Int32($0) }) { Glibc.kill(child, SIGKILL) }
    Glibc.kill(main, SIGKILL)
    end()
    if let segment { try Self.run("/usr/bin/ipcrm", ["-m", segment]) }
  }

  /// Stops or continues all of its processes. The kernel still acknowledges packets.
  func freeze(_ isFrozen: Bool) throws {
    guard let process = running.withLock({ $0 }) else { throw Problem("the server does not run") }
    let main = process.pid
    // The postmaster first.
    if isFrozen { Glibc.kill(main, SIGSTOP) }
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    for child in children.split(separator: " ").compactMap({ Int32($0) }) {
      Glibc.kill(child, isFrozen ? SIGSTOP : SIGCONT)
    }
    if !isFrozen { Glibc.kill(main, SIGCONT) }
  }

  /// Kills the server without a checkpoint.
  func kill() throws {
    guard running.withLock({ $0 != nil }) else { throw Problem("the server does not run") }
    end()
  }

  private func end() {
    let process = running.withLock { running in
      defer { running = nil }
      return running
    }
    process?.signal(SIGQUIT)
    // A stopped process handles the signal when it continues.
    process?.signal(SIGCONT)
    process?.wait()
  }

  func makeDatabase(owner: String = "chime") throws -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    try sql("CREATE DATABASE test\(number) OWNER \(owner)", on: "postgres")
    return "test\(number)"
  }

  /// Returns a database without data, which may already have the tables, for one user at a time.
  func wipedDatabase() throws -> String {
    let known = wiped.withLock { $0 }
    guard let known else {
      let made = try makeDatabase()
      wiped.withLock { $0 = made }
      return made
    }
    try sql(
      """
      -- As a replica does: no trigger is asked.
      SET session_replication_role = replica;
      DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'chime' AND tablename NOT IN ('layout', 'number')
        LOOP EXECUTE 'DELETE FROM chime.' || name; END LOOP;
        UPDATE chime.number SET last = 0;
      END $$
      """, on: known)
    return known
  }

  func connection(_ database: String, user: String = "chime") -> String {
    "host=\(folder)\(port.map { " port=\($0)" } ?? "") dbname=\(database) user=\(user)"
  }

  /// Returns the output of psql, one row per line.
  @discardableResult func sql(_ statement: String, on database: String) throws -> String {
    try Self.run(
      Self.program("psql"), ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, connection(database)])
  }

  private static func program(_ name: String) -> String { (programs ?? "") + "/" + name }

  /// Creates a folder for the user that runs postgres.
  private static func makeFolder(_ name: String) throws -> String {
    let folder = try RunFolder.makeFolder(name)
    if getuid() == 0, let account { chown(folder, account.user, account.group) }
    return folder
  }

  /// Wraps a command, because postgres refuses to run as root.
  private static func commandOfUser(_ program: String, _ arguments: [String]) -> (String, [String]) {
    getuid() == 0
      ? ("/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments)
      : (program, arguments)
  }

  private static func asUser(_ program: String, _ arguments: [String]) throws {
    let (program, words) = commandOfUser(program, arguments)
    try run(program, words)
  }

  @discardableResult private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let result = try ChildProcess.run(program, arguments, in: "/", errors: .asOutput)
    guard result.status == 0 else { throw Problem("\(program) failed: \(result.text)") }
    return result.text.trimmingCharacters(in: .newlines)
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
