import CSQLite
import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeTracking
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ChimeStoreSQLite

@Suite struct OpeningTests {
  /// Another file is renamed over the one in use: the log of one is never applied to the other.
  @Test func logIsNotAppliedToAnotherDatabase() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let other = try SQLiteStore.open(path: folder.path + "/other.db")
    try await other.write { try $0.setNote("whose", "other") }
    await other.close()
    let store = try SQLiteStore.open(path: path)
    try await store.write { store in
      for number in 0..<100 { try store.addFired(number) }
      try store.setNote("whose", "first")
    }
    try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/first.db")
    try FileManager.default.moveItem(atPath: folder.path + "/other.db", toPath: path)
    await #expect { try await store.write { try $0.setNote("late", "x") } } throws: { error in
      "\(error)".contains("without the content of \(path)-wal")
    }
    await store.close()
    let told = MessageRecorder()
    let again = try SQLiteStore.open(path: path) { told.add($0) }
    #expect(try await again.read { try $0.note("whose") } == "other")
    await again.close()
    let log = try #require(folder.names.first { $0.contains(".former-") })
    #expect(told.all.contains { $0.hasSuffix("it was moved to \(folder.path)/\(log)") }, "\(told.all)")
    // Database and log that belong together are intact.
    try FileManager.default.moveItem(atPath: folder.path + "/" + log, toPath: folder.path + "/first.db-wal")
    let first = try SQLiteStore.open(path: folder.path + "/first.db")
    #expect(try await first.read { try $0.note("whose") } == "first")
    #expect(try await first.read { try $0.occurrences(OccurrenceFilter(), page: Page(limit: 1_000)) }.count == 100)
    await first.close()
    // The second time nothing is moved.
    await (try SQLiteStore.open(path: path)).close()
    #expect(!folder.names.contains { $0.contains(".former-") })
  }

  private final class MessageRecorder: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test func newStoreIsPrivate() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    // Regardless of the umask, and even if the file existed with other permissions.
    try folder.put(Data(), "chime.db")
    chmod(path, 0o666)
    let told = MessageRecorder()
    let store = try SQLiteStore.open(path: path) { told.add($0) }
    #expect(told.all == ["\(path) is empty, without a snapshot: it becomes a new store"])
    try await store.write { try $0.setNote("a", "b") }
    for name in folder.names {
      var status = stat()
      #expect(stat(folder.path + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    #expect(folder.names == ["chime.db", "chime.db-shm", "chime.db-wal", "chime.db.lock"])
    await store.close()
    #expect(folder.names == ["chime.db", "chime.db.lock"])
  }

  @Test func durabilitySettingsAreInForce() throws {
    let folder = try Folder()
    let settings = Mutex<[String: Int]>([:])
    _ = try SQLiteStore.open(path: folder.path + "/chime.db") {
      $0.adjust = { connection in
        let found = [
          "synchronous": try connection.first("PRAGMA synchronous") { $0.int(0) } ?? -1,
          "foreign_keys": try connection.first("PRAGMA foreign_keys") { $0.int(0) } ?? -1,
          "application_id": try connection.first("PRAGMA application_id") { $0.int(0) } ?? -1,
          "user_version": try connection.first("PRAGMA user_version") { $0.int(0) } ?? -1,
          "wal": try connection.first("PRAGMA journal_mode") { $0.text(0) == "wal" ? 1 : 0 } ?? -1,
        ]
        settings.withLock { $0 = found }
      }
    }
    #expect(
      settings.withLock { $0 } == [
        "synchronous": 2, "foreign_keys": 1, "application_id": 0x4368_6D65, "user_version": Schema.current, "wal": 1,
      ])
  }

  /// The advice given after a file was removed is true when it is followed.
  @Test(arguments: [
    (true, false, "or restart chimed to continue with the snapshot of 20"), (false, false, "chimed cannot start"),
    (false, true, "or restart chimed with an empty store"),
  ])
  func adviceAboutARemovedFileWorks(
    hasSnapshot: Bool, isLogGone: Bool, words: String
  ) async throws {
    let box = try StoreBox()
    func write(_ store: SQLiteStore) async -> String {
      do {
        try await store.write { try $0.setNote("a", "later") }
        return ""
      } catch { return "\(error)" }
    }
    let store = try SQLiteStore.open(path: box.path)
    try await store.write { try $0.setNote("a", "b") }
    if hasSnapshot { _ = try await store.takeSnapshot(keeping: 3) }
    try FileManager.default.moveItem(atPath: box.path, toPath: box.path + ".away")
    #expect(await write(store).contains("put it back, or "))
    try FileManager.default.moveItem(atPath: box.path + ".away", toPath: box.path)
    #expect(await write(store) == "")
    try FileManager.default.moveItem(atPath: box.path, toPath: box.path + ".away")
    try Data("x".utf8).write(to: URL(fileURLWithPath: box.path))
    #expect(await write(store).contains("the present file"))
    try FileManager.default.removeItem(atPath: box.path)
    if isLogGone { try FileManager.default.removeItem(atPath: box.path + "-wal") }
    let told = await write(store)
    #expect(told.contains(words), "\(told)")
    await store.close()

    if !hasSnapshot, !isLogGone {
      #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: box.path) }
      return
    }
    let next = try SQLiteStore.open(path: box.path)
    #expect(try await next.read { try $0.note("a") } == (hasSnapshot ? "b" : nil))
    await next.close()
  }

  /// If chimed would not start, the message does not promise it.
  @Test func errorPromisesNoStartThatWouldFail() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    try box.folder.put(Data(), "chime.db.corrupt-20260101T000000Z")
    try FileManager.default.removeItem(atPath: box.path)
    let failure = await #expect(throws: StoreFailure.self) { try await store.write { try $0.setNote("a", "b") } }
    #expect(failure.map { "\($0)".contains("chimed cannot start") } == true)
    await store.close()
    #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: box.path) }
  }

  @Test func missingFolderIsReported() throws {
    let folder = try Folder()
    let failure = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: folder.path + "/none/chime.db") }
    guard case .unavailable(let sentence) = failure else { throw Unexpected(failure) }
    #expect(sentence.contains("folder"))
  }

  // The layout.

  @Test func newerSchemaIsRefusedAndUnchanged() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await SQLiteStore.open(path: path).close()
    // A newer program writes both version numbers, as this one does.
    try Raw.run(path, "PRAGMA user_version = 99; UPDATE layout SET version = 99")
    let before = folder.bytes("chime.db")
    #expect(throws: StoreFailure.newerSchema(found: 99, known: Schema.current)) { try SQLiteStore.open(path: path) }
    #expect(folder.bytes("chime.db") == before)
    #expect(folder.bytes("chime.db-wal") ?? Data() == Data())
    try Raw.run(path, "PRAGMA user_version = \(Schema.current); UPDATE layout SET version = \(Schema.current)")
    try await SQLiteStore.open(path: path).close()
  }

  @Test func storeIsMigrated() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let old = try SQLiteStore.open(path: path)
    try await old.write { try $0.setNote("old", "1") }
    await old.close()
    let store = try SQLiteStore.open(path: path) { $0.migrations = Schema.invented }
    #expect(try await store.read { try $0.note("old") } == "1")
    await store.close()
    #expect(try Raw.rows(path, "SELECT invented FROM note") == ["7"])
    let numbers = try Raw.rows(
      path, "SELECT user_version FROM pragma_user_version UNION ALL SELECT version FROM layout")
    #expect(numbers == ["\(Schema.current + 1)", "\(Schema.current + 1)"])
    // The older program leaves it alone.
    #expect(throws: StoreFailure.newerSchema(found: Schema.current + 1, known: Schema.current)) {
      try SQLiteStore.open(path: path)
    }
    // A new store of that layout has the same tables.
    let fresh = folder.path + "/fresh.db"
    try await SQLiteStore.open(path: fresh) { $0.migrations = Schema.invented }.close()
    let tables = "SELECT name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY name"
    #expect(try Raw.rows(path, tables) == Raw.rows(fresh, tables))
  }

  @Test func failedMigrationStepLeavesTheStoreUnchanged() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let old = try SQLiteStore.open(path: path)
    try await old.write { try $0.setNote("old", "1") }
    await old.close()
    let tables = try Raw.rows(path, "SELECT sql FROM sqlite_schema ORDER BY name")
    let failing = Schema.invented + [Migration(version: Schema.current + 2, script: "DROP TABLE none_such")]
    #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) { $0.migrations = failing } }
    #expect(try Raw.rows(path, "SELECT sql FROM sqlite_schema ORDER BY name") == tables)
    let store = try SQLiteStore.open(path: path)
    #expect(try await store.read { try $0.note("old") } == "1")
    await store.close()
  }

  /// However many are due, the earliest wakeup is found by one index lookup.
  @Test func earliestWakeUpIsFoundByItsIndex() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await SQLiteStore.open(path: path).close()
    let plan = try Connection(path: path, busyTimeout: 0)
      .first("EXPLAIN QUERY PLAN SELECT min(next_at) FROM due WHERE wakes = 1") { $0.text(3) }
    #expect(plan == "SEARCH due USING INDEX due_waking")
  }

  @Test func failedMigrationLeavesNothing() throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    // One of our tables in a file with an older version number: the script fails halfway.
    try Raw.run(path, "PRAGMA application_id = \(Schema.applicationID); CREATE TABLE delivery_queue (x)")
    #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) }
    #expect(try Raw.rows(path, "SELECT name FROM sqlite_schema") == ["delivery_queue"])
  }

  @Test func databaseOfAnotherProgramIsLeftAlone() throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try Raw.run(path, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
    let before = folder.bytes("chime.db")
    let failure = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) }
    guard case .unavailable(let sentence) = failure else { throw Unexpected(failure) }
    #expect(sentence.contains("another program"))
    #expect(folder.bytes("chime.db") == before)
  }

  // The lock.

  @Test func secondStoreNamesTheHolderOfTheFirst() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    #expect(throws: StoreFailure.held(by: "pid \(getpid())")) { try SQLiteStore.open(path: path) }
    // Also through another name of the same file.
    symlink(path, folder.path + "/link.db")
    #expect(throws: StoreFailure.held(by: "pid \(getpid())")) { try SQLiteStore.open(path: folder.path + "/link.db") }
    await store.close()
    try await SQLiteStore.open(path: path).close()
  }

  @Test func lockOfAnotherProcessHoldsUntilItExits() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let holder = try holdLock(of: path, in: folder, as: "$$", until: "perl -e 'sleep 600'")
    #expect(waitpid(holder, nil, WNOHANG) == 0, "the holder is running")
    #expect(throws: StoreFailure.held(by: "pid \(holder)")) { try SQLiteStore.open(path: path) }
    #expect(!folder.names.contains("chime.db"), "nothing was touched")
    kill(holder, SIGKILL)
    waitpid(holder, nil, 0)
    try await SQLiteStore.open(path: path).close()
  }

  /// A program being started inherits the descriptors of this process, including the lock, until its exec. Another
  /// test's program once kept a closed store locked that way.
  @Test func closedStoreIsFreeDespiteInheritedDescriptors() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let lock = try #require(
      names.compactMap(Int32.init).first {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path + ".lock"
      })
    // A duplicated descriptor has the same effect as a child's (flock(2)).
    let copy = fcntl(lock, F_DUPFD_CLOEXEC, 0)
    defer { Glibc.close(copy) }
    await store.close()
    try await SQLiteStore.open(path: path).close()
  }

  /// A program that a killed daemon was starting may hold the lock for a moment longer.
  @Test func lockOfAnExitedHolderIsAwaited() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    // A process ID that cannot exist (proc(5), "pid_max").
    let heir = try holdLock(of: path, in: folder, as: "999999999", until: "perl -e 'select undef, undef, undef, 0.2'")
    try await SQLiteStore.open(path: path).close()
    waitpid(heir, nil, 0)
    let other = try holdLock(of: path, in: folder, as: "999999999", until: "perl -e 'sleep 600'")
    #expect(throws: StoreFailure.held(by: "pid 999999999")) { try SQLiteStore.open(path: path) }
    kill(other, SIGKILL)
    waitpid(other, nil, 0)
  }

  /// Starts a process that holds the lock, and returns once it does.
  private func holdLock(of path: String, in folder: Folder, as pid: String, until end: String) throws -> pid_t {
    let held = folder.path + "/held"
    unlink(held)
    mkfifo(held, 0o600)
    // Without a fork (-F), so that the lock and the process end together.
    let script = "echo \(pid) >\"$0\"; : >\"$1\"; exec \(end)"
    let arguments = ["flock", "-F", "-x", path + ".lock", "sh", "-c", script, path + ".lock", held]
    var words = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var holder = pid_t()
    try #require(posix_spawnp(&holder, "flock", nil, nil, &words, nil) == 0)
    // Opening a FIFO waits for its other end, which the holder opens once it has the lock. A signal for another test
    // may interrupt that.
    var opened: Int32
    repeat { opened = Glibc.open(held, O_RDONLY | O_CLOEXEC) } while opened < 0 && errno == EINTR
    try #require(opened >= 0, "\(String(cString: strerror(errno)))")
    close(opened)
    return holder
  }
}

/// A failure of another kind than expected.
struct Unexpected: Error {
  let failure: StoreFailure?
  init(_ failure: StoreFailure?) { self.failure = failure }
}

/// SQLite without the store around it.
enum Raw {
  struct Refused: Error { let message: String }

  static func run(_ path: String, _ sql: String) throws { _ = try rows(path, sql) }

  /// Returns the first column of each row of the last statement.
  static func rows(_ path: String, _ sql: String) throws -> [String] {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Refused(message: "open") }
    final class Rows { var texts: [String] = [] }
    let rows = Rows()
    let code = sqlite3_exec(
      handle, sql,
      { context, _, texts, _ in
        guard let context, let text = texts?[0] else { return 0 }
        Unmanaged<Rows>.fromOpaque(context).takeUnretainedValue().texts.append(String(cString: text))
        return 0
      }, Unmanaged.passUnretained(rows).toOpaque(), nil)
    guard code == SQLITE_OK else { throw Refused(message: String(cString: sqlite3_errmsg(handle))) }
    return rows.texts
  }
}

extension SQLiteStore {
  /// Opens a store with other settings than the daemon's.
  static func open(path: String, _ change: (inout Opening) -> Void) throws(StoreFailure) -> SQLiteStore {
    var opening = Opening(path: path)
    change(&opening)
    return try open(opening)
  }

  /// Opens a store through another file layer, without snapshots.
  static func open(path: String, through fileLayer: String) throws(StoreFailure) -> SQLiteStore {
    try open(path: path) { ($0.fileLayer, $0.keepingSnapshots) = (fileLayer, 0) }
  }
}

extension Schema {
  /// A possible next layout.
  static let invented =
    migrations + [
      Migration(version: current + 1, script: "ALTER TABLE note ADD COLUMN invented INTEGER NOT NULL DEFAULT 7;")
    ]
}
