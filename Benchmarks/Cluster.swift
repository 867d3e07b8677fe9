import ChimeStorePostgres
import FoundationEssentials
import Glibc

/// A PostgreSQL server for one benchmark, with fsync on, on a Unix socket in the benchmark's folder.
final class Cluster {
  private let folder: String
  private let process: Program
  /// The pid of the postmaster.
  private let main: pid_t

  /// Debian's folder of each version's programs.
  private static let programs = ["18", "17", "16", "15"].map { "/usr/lib/postgresql/\($0)/bin" }
    .first { access($0 + "/initdb", X_OK) == 0 }

  /// Settings that differ from the defaults: more memory than the default of 128 MB, and checkpoints rare enough not to
  /// fall into some turns only.
  private static let settings = ["shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=30min"]

  /// - Parameter more: additional settings.
  init(_ bench: Bench, more: [String] = []) throws {
    guard let programs = Self.programs else {
      throw BenchFailure("PostgreSQL's server is not installed (apt install postgresql)")
    }
    folder = bench.folder + "/pg"
    // postgres refuses to run as root, and its user needs access to the folder.
    chmod(bench.folder, 0o711)
    guard mkdir(folder, 0o755) == 0 else { throw BenchFailure(call: folder) }
    if getuid() == 0, let user = getpwnam("postgres") { chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) }
    _ = try Self.output(
      programs + "/initdb", ["-D", folder + "/data", "-U", "chime", "-A", "trust", "-E", "UTF8", "--no-locale"],
      errors: bench.folder + "/initdb.log")
    var arguments = ["-D", folder + "/data", "-k", folder, "-h", ""]
    for setting in Self.settings + more { arguments += ["-c", setting] }
    let (path, words) = Self.asUser(programs + "/postgres", arguments)
    process = try Program(path, words, errors: bench.folder + "/postgres.log")
    main = process.pid
    RunFolder.watch(main)
    for _ in 0..<200 {
      if (try? sql("SELECT 1", on: "postgres")) != nil { return }
      pause(seconds: 0.05)
    }
    throw BenchFailure("PostgreSQL did not start")
  }

  /// Stops the server at once by SIGQUIT, without a checkpoint; the server still frees its shared memory.
  deinit {
    process.endAndRead(by: SIGQUIT)
    RunFolder.forget(main)
  }

  private static func asUser(_ program: String, _ arguments: [String]) -> (String, [String]) {
    getuid() == 0
      ? ("/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments)
      : (program, arguments)
  }

  @discardableResult private static func output(
    _ program: String, _ arguments: [String], errors: String
  ) throws(BenchFailure) -> String {
    let (path, words) = asUser(program, arguments)
    return try Program.output(path, words, errors: errors)
  }

  /// Returns the libpq connection string of a database.
  func connection(_ database: String) -> String { "host=\(folder) dbname=\(database) user=chime" }

  func place(_ database: String) throws -> PostgresConfiguration {
    try PostgresConfiguration(connection: connection(database))
  }

  /// Returns the output of psql, one row per line.
  @discardableResult func sql(_ statement: String, on database: String) throws(BenchFailure) -> String {
    try Program.output(
      "psql", ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, connection(database)], errors: folder + "/../psql.log"
    ).trimming(where: \.isNewline)
  }

  /// Opens a session whose transaction has read everything and stays open.
  func oldSnapshot(_ database: String) throws -> Program {
    let session = try Program(
      "psql",
      [
        "-XAtq", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c", "SELECT count(*) FROM chime.due", "-c",
        "SELECT pg_sleep(3600)", connection(database),
      ])
    for _ in 0..<1_200 {
      let waits = try sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'", on: database)
      if waits != "0" { return session }
      pause(seconds: 0.1)
    }
    throw BenchFailure("no transaction was begun in psql")
  }

  /// Ends that session; its backend would sleep on if only psql ended.
  func end(_ snapshot: Program) throws {
    try sql(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'", on: "postgres")
    _ = snapshot.endAndRead()
  }

  /// Creates a database `name` as a copy of `other`.
  func copy(_ other: String, to name: String) throws {
    try sql("DROP DATABASE IF EXISTS \(name)", on: "postgres")
    try sql("CREATE DATABASE \(name) TEMPLATE \(other)", on: "postgres")
    try sql("CHECKPOINT", on: "postgres")
  }

  /// Creates a database with chimed's tables and `count` daily reminders, spread over `minutes`. The first is at
  /// `first` (milliseconds since the epoch; 08:00 in New York).
  func makeStore(_ name: String, _ count: Int, first: Int64, minutes: Int = 1) async throws {
    try sql("CREATE DATABASE \(name) TEMPLATE template0", on: "postgres")
    await (try PostgresStore.open(place(name))).close()
    try sql(
      """
      SET synchronous_commit = off; SET search_path = chime;
      INSERT INTO reminder_name (id) SELECT 'b' || number FROM generate_series(1, \(count)) number;
      INSERT INTO reminder (
        key, owner, generation, created_at, skip_next, zone, schedule, title, definition)
      SELECT key, 1000, 1, 1795219200000, 0, 'America/New_York',
        'daily at ' || to_char(time '08:00' + key % \(minutes * 60) * interval '1 second', 'HH24:MI:SS'),
        'Reminder number ' || key, '{"channels":["bench"]}'
      FROM reminder_name;
      INSERT INTO due (reminder, snooze_of, next_at)
      SELECT key, -1, \(first) + key % \(minutes * 60) * 1000 FROM reminder_name;
      ANALYZE
      """, on: name)
  }

  /// The processor time of the server so far, in seconds, including ended sessions.
  var processorSeconds: Double {
    func times(_ pid: pid_t) -> (parent: pid_t, own: Double, ended: Double)? {
      guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
      // The fields after the name, which may contain anything: state, parent, …, utime and stime as the 12th and 13th.
      let words = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      guard words.count > 15, let parent = pid_t(words[2]) else { return nil }
      let numbers = words[12...15].compactMap { Double($0) }
      guard numbers.count == 4 else { return nil }
      return (parent, numbers[0] + numbers[1], numbers[2] + numbers[3])
    }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
    var sum = 0.0
    for pid in all {
      guard let found = times(pid), pid == main || found.parent == main else { continue }
      sum += found.own + (pid == main ? found.ended : 0)
    }
    return sum / ticks
  }
}

extension String {
  fileprivate func trimming(where isLeft: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, isLeft(last) { text.removeLast() }
    return String(text)
  }
}
