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
  static var absence: String? {
    if programs == nil { return "PostgreSQL's server is not installed (apt install postgresql)" }
    if getuid() == 0, getpwnam("postgres") == nil {
      return "postgres refuses to run as root, and there is no user postgres"
    }
    return nil
  }

  /// The one that the tests share; each has a database of its own there.
  static let shared = Result { try PostgresServer(settings: ["fsync = off"]) }

  let folder: String
  private let port: UInt16?
  private let running = Mutex<Process?>(nil)
  private let count = Mutex(0)
  private let wiped = Mutex<String?>(nil)

  /// - Parameters:
  ///   - settings: lines of its configuration.
  ///   - port: where it listens beside its socket, on the machine's own address.
  ///   - primary: the server that it begins as a copy of, and follows (a streaming standby).
  init(settings: [String] = [], port: UInt16? = nil, following primary: PostgresServer? = nil) throws {
    self.port = port
    var template = Array("/tmp/chime-pg-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Problem("mkdtemp: \(errno)") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if getuid() == 0, let user = getpwnam("postgres") { chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) }
    if let primary {
      try Self.run(
        Self.program("pg_basebackup"),
        ["-h", primary.folder, "-U", "chime", "-D", folder + "/data", "-R", "-X", "stream", "-c", "fast"])
    } else {
      try Self.run(
        Self.program("initdb"),
        ["-D", folder + "/data", "-U", "chime", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"])
    }
    // A role that has to give a password; all others may come in as they are.
    let rules = """
      local all guarded scram-sha-256
      local all,replication all trust
      hostssl all all 127.0.0.1/32 trust
      host all all 10.213.0.0/16 trust

      """
    try rules.write(toFile: folder + "/rules", atomically: true, encoding: .utf8)
    chmod(folder + "/rules", 0o644)
    let lines =
      [
        "listen_addresses = '\(port == nil ? "" : "127.0.0.1")'", "port = \(port ?? 5432)",
        "unix_socket_directories = '\(folder)'", "hba_file = '\(folder)/rules'",
        "logging_collector = off", "max_connections = 200", "shared_buffers = 32MB", "wal_level = replica",
      ] + settings
    try lines.joined(separator: "\n").write(toFile: folder + "/settings", atomically: true, encoding: .utf8)
    chmod(folder + "/settings", 0o644)
    try start()
  }

  deinit { end() }

  /// Starts it, and waits until it answers.
  ///
  /// - Parameter seconds: for how long; one that was killed under load has its journal to read first.
  func start(within seconds: Int = 60) throws {
    let process = Process()
    // A shell stays with it, and ends it when the pipe that this process holds is closed.
    let script = """
      "$1" -D "$2/data" -c config_file="$2/settings" >"$2/log" 2>&1 &
      trap '' TERM INT
      cat >/dev/null; kill -QUIT $! 2>/dev/null; wait
      [ -e "$2/kept" ] || rm -rf "$2"
      """
    Self.asUser(process, "/bin/sh", ["-c", script, "sh", Self.program("postgres"), folder])
    process.standardInput = Pipe()
    try process.run()
    running.withLock { $0 = process }
    unlink(folder + "/kept")
    for _ in 0..<(seconds * 20) {
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
  func promote() throws { try Self.run(Self.program("pg_ctl"), ["promote", "-w", "-D", folder + "/data"]) }

  /// Ends it as the loss of its machine would: each of its processes is killed, and none has time for a word.
  func lose() throws {
    let main = try main
    _ = FileManager.default.createFile(atPath: folder + "/kept", contents: nil)
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    // Stopped first, so that none of them is started again meanwhile.
    Glibc.kill(main, SIGSTOP)
    for child in children.split(separator: " ").compactMap({ Int32($0) }) { Glibc.kill(child, SIGKILL) }
    Glibc.kill(main, SIGKILL)
    end()
  }

  private var main: Int32 {
    get throws {
      let lines = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8).split(separator: "\n")
      guard let main = lines.first.flatMap({ Int32($0) }) else { throw Problem("there is no postmaster.pid") }
      return main
    }
  }

  /// Ends it in an instant, without a checkpoint: the server's processes get no time for anything.
  func kill() throws {
    let main = try main
    _ = FileManager.default.createFile(atPath: folder + "/kept", contents: nil)
    Glibc.kill(main, SIGQUIT)
    end()
  }

  private func end() {
    let process = running.withLock { running in
      defer { running = nil }
      return running
    }
    try? (process?.standardInput as? Pipe)?.fileHandleForWriting.close()
    process?.waitUntilExit()
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
      DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'chime' AND tablename NOT IN ('layout', 'number')
        LOOP EXECUTE 'ALTER TABLE chime.' || name || ' DISABLE TRIGGER ALL; DELETE FROM chime.' || name
          || '; ALTER TABLE chime.' || name || ' ENABLE TRIGGER ALL'; END LOOP;
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

  /// postgres refuses root.
  private static func asUser(_ process: Process, _ program: String, _ arguments: [String]) {
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    if getuid() == 0 {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments = ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments
    } else {
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
    }
  }

  /// Not by Foundation's `Process`, which looks through the descriptors of this process before each start and has crashed
  /// where another test had very many open.
  @discardableResult private static func run(_ program: String, _ arguments: [String]) throws -> String {
    var path = Array("/tmp/chime-said-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { throw Problem("mkstemp: \(errno)") }
    close(file)
    defer { unlink(path) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let user = getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    var words = (["/usr/bin/env", "-C", "/"] + user + [program] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    words.append(nil)
    var (pid, status) = (pid_t(), Int32())
    let code = posix_spawn(&pid, "/usr/bin/env", &actions, nil, words, environ)
    guard code == 0 else { throw Problem("\(program) cannot be started: \(code)") }
    while waitpid(pid, &status, 0) < 0 {
      guard errno == EINTR else { throw Problem("\(program): waitpid: \(errno)") }
    }
    let said = try String(
      contentsOfFile: String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), encoding: .utf8)
    guard status == 0 else { throw Problem("\(program) failed: \(said)") }
    return said.trimmingCharacters(in: .newlines)
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
