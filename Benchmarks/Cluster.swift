import ChimeStorePostgres
import FoundationEssentials
import Glibc

/// A PostgreSQL server of a benchmark's own, that keeps what it commits as any server does (fsync), on a Unix socket in
/// the benchmark's folder.
final class Cluster {
  private let folder: String
  private let process: Program
  /// The number of its main process.
  private let main: pid_t

  /// Debian's place for the programs of each version.
  private static let programs = ["18", "17", "16", "15"].map { "/usr/lib/postgresql/\($0)/bin" }
    .first { access($0 + "/initdb", X_OK) == 0 }

  /// What is not as it comes: a server for this has more memory than the 128 MB of one that has been told nothing, and
  /// checkpoints do not fall into one turn and not into the next.
  private static let settings = ["shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=30min"]

  /// - Parameter more: settings that this one has beside those.
  init(_ bench: Bench, more: [String] = []) throws {
    guard let programs = Self.programs else {
      throw BenchFailure("PostgreSQL's server is not installed (apt install postgresql)")
    }
    folder = bench.folder + "/pg"
    // postgres refuses to run as root, and its user is to get there.
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

  /// At once, without a checkpoint; it clears away what it has of the machine's memory.
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

  /// How libpq gets there.
  func connection(_ database: String) -> String { "host=\(folder) dbname=\(database) user=chime" }

  func place(_ database: String) throws -> PostgresConfiguration {
    try PostgresConfiguration(connection: connection(database))
  }

  /// What psql says, a row a line.
  @discardableResult func sql(_ statement: String, on database: String) throws(BenchFailure) -> String {
    try Program.output(
      "psql", ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, connection(database)], errors: folder + "/../psql.log"
    ).trimming(where: \.isNewline)
  }

  /// A session in which a transaction stands still that has read everything, until it is let go.
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

  /// Lets it go. The server's side of it would sleep on.
  func end(_ snapshot: Program) throws {
    try sql(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'", on: "postgres")
    _ = snapshot.endAndRead()
  }

  /// Makes a database `name` that is what `other` is, on the disk.
  func copy(_ other: String, to name: String) throws {
    try sql("DROP DATABASE IF EXISTS \(name)", on: "postgres")
    try sql("CREATE DATABASE \(name) TEMPLATE \(other)", on: "postgres")
    try sql("CHECKPOINT", on: "postgres")
  }

  /// Makes a database with chimed's tables and `count` daily reminders, spread over so many minutes, the first at `first`
  /// (milliseconds since the epoch; 08:00 in New York).
  func makeStore(_ name: String, _ count: Int, first: Int64, minutes: Int = 1) async throws {
    try sql("CREATE DATABASE \(name) TEMPLATE template0", on: "postgres")
    await (try PostgresStore.open(place(name))).close()
    try sql(
      """
      SET synchronous_commit = off; SET search_path = chime;
      INSERT INTO alias (id) SELECT 'b' || number FROM generate_series(1, \(count)) number;
      INSERT INTO reminder (
        key, owner, generation, created_at, skip_next, zone, schedule, title, definition)
      SELECT key, 1000, 1, 1795219200000, 0, 'America/New_York',
        'daily at ' || to_char(time '08:00' + key % \(minutes * 60) * interval '1 second', 'HH24:MI:SS'),
        'Reminder number ' || key, '{"channels":["bench"]}'
      FROM alias;
      INSERT INTO due (reminder, snooze_of, next_at)
      SELECT key, -1, \(first) + key % \(minutes * 60) * 1000 FROM alias;
      ANALYZE
      """, on: name)
  }

  /// The processor time that it has used so far, in seconds: that of sessions that have ended too.
  var processorSeconds: Double {
    func times(_ pid: pid_t) -> (parent: pid_t, own: Double, ended: Double)? {
      guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
      // Behind the name, which may have any letter: state, parent, …, utime and stime as the 12th and 13th.
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
