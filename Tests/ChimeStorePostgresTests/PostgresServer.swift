import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server of the tests' own, in a folder of its own, that listens on a Unix socket there and ends with this
/// process, however that ends.
final class PostgresServer: Sendable {
  /// Debian's place for the programs of each version.
  static let programs = ["15", "16", "17", "18"].map { "/usr/lib/postgresql/\($0)/bin" }
    .first { access($0 + "/initdb", X_OK) == 0 && access($0 + "/postgres", X_OK) == 0 }

  /// Why there can be none here; nil: there can.
  static var uptime: String? {
    if programs == nil { return "PostgreSQL's server is not installed (apt install postgresql)" }
    if getuid() == 0, account == nil {
      return "postgres refuses to run as root, and there is no user postgres"
    }
    return nil
  }

  /// Who runs the server where this is root. It is looked up once: getpwnam(3) gives every thread the same memory, and while
  /// another one reads the list of users, that memory holds whoever stands before this one.
  static let account = getpwnam("postgres").map { (user: $0.pointee.pw_uid, group: $0.pointee.pw_gid) }

  /// The one that the tests share; each has a database of its own there.
  static let shared = Result { try PostgresServer() }

  /// An address of this machine that only this run of the tests uses, so that no port of it is taken by anybody else.
  static let address = "127.\(64 + getpid() >> 16 & 63).\(getpid() >> 8 & 255).\(getpid() & 255)"

  let folder: String
  private let port: UInt16?
  private let running = Mutex<ChildProcess?>(nil)
  private let count = Mutex(0)
  private let wiped = Mutex<String?>(nil)

  /// What initdb makes, in a folder of its own: servers begin as copies of it, which takes a fifth of the time.
  private static let template = Result { () throws -> String in
    let folder = try makeFolder("template")
    try asUser(
      program("initdb"), ["-D", folder + "/data", "-U", "chime", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"])
    return folder
  }

  /// - Parameters:
  ///   - settings: lines of its configuration.
  ///   - port: where it listens beside its socket, at `address`.
  ///   - primary: the server that it begins as a copy of, and follows (a streaming standby).
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
    // A role that has to give a password; all others may come in as they are.
    let rules = """
      local all guarded scram-sha-256
      local all,replication all trust
      hostssl all all 127.0.0.0/8 trust
      host all all 10.213.0.0/16 trust

      """
    try rules.write(toFile: folder + "/rules", atomically: true, encoding: .utf8)
    chmod(folder + "/rules", 0o644)
    // Programs are killed here, not machines: what was written stays written.
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

  /// Starts it, and waits until it answers.
  ///
  /// - Parameter seconds: for how long; one that was killed under load has its journal to read first.
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

  /// Has it write its journal to a standby before it acknowledges anything.
  func waitForStandby() throws {
    try sql("ALTER SYSTEM SET synchronous_standby_names = '*'", on: "postgres")
    try sql("SELECT pg_reload_conf()", on: "postgres")
    for _ in 0..<1_200 {
      if try sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", on: "postgres") != "0" { return }
      usleep(50_000)
    }
    throw Problem("no standby follows")
  }

  /// Makes a standby the primary.
  func promote() throws { try Self.asUser(Self.program("pg_ctl"), ["promote", "-w", "-D", folder + "/data"]) }

  /// Ends it as the loss of its machine would: each of its processes is killed, and none has time for a word.
  func lose() throws {
    guard let process = running.withLock({ $0 }) else { throw Problem("the server does not run") }
    let main = process.pid
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    // The last word of the seventh line: the memory by which a second server would know of the first. It outlives a kill.
    let facts = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let segment = facts.count > 6 ? facts[6].split(separator: " ").last.map(String.init) : nil
    // Stopped first, so that none of them is started again meanwhile.
    Glibc.kill(main, SIGSTOP)
    for child in children.split(separator: " ").compactMap({ Int32($0) }) { Glibc.kill(child, SIGKILL) }
    Glibc.kill(main, SIGKILL)
    end()
    if let segment { try Self.run("/usr/bin/ipcrm", ["-m", segment]) }
  }

  /// Stops each of its processes, or has them go on. Its kernel goes on acknowledging what is sent to it.
  func freeze(_ isFrozen: Bool) throws {
    guard let process = running.withLock({ $0 }) else { throw Problem("the server does not run") }
    let main = process.pid
    // First the one that starts others.
    if isFrozen { Glibc.kill(main, SIGSTOP) }
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    for child in children.split(separator: " ").compactMap({ Int32($0) }) {
      Glibc.kill(child, isFrozen ? SIGSTOP : SIGCONT)
    }
    if !isFrozen { Glibc.kill(main, SIGCONT) }
  }

  /// Ends it in an instant, without a checkpoint: the server's processes get no time for anything.
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
    // One that was stopped hears of it when it goes on.
    process?.signal(SIGCONT)
    process?.wait()
  }

  /// An empty database.
  func makeDatabase(owner: String = "chime") throws -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    try sql("CREATE DATABASE test\(number) OWNER \(owner)", on: "postgres")
    return "test\(number)"
  }

  /// A database in which nothing is kept, though it may have the tables: for one user at a time.
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

  /// What psql says, a row a line.
  @discardableResult func sql(_ statement: String, on database: String) throws -> String {
    try Self.run(
      Self.program("psql"), ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, connection(database)])
  }

  // Running programs.

  private static func program(_ name: String) -> String { (programs ?? "") + "/" + name }

  /// A folder of the user that postgres runs as.
  private static func makeFolder(_ name: String) throws -> String {
    let folder = try RunFolder.makeFolder(name)
    if getuid() == 0, let account { chown(folder, account.user, account.group) }
    return folder
  }

  /// postgres refuses root.
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
