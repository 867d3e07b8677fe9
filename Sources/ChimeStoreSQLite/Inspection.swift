import CSQLite
public import ChimeCore
public import ChimeSchedule
import Glibc

/// What a look at a store's files finds, whoever has them open.
public struct StoreInspection: Sendable {
  /// The database, links followed.
  public var path: String
  /// What is wrong; nil when nothing was found.
  public var fault: StoreFailure?
  /// Whether the database was read through to the end.
  public var isWhole = false
  /// Of the database and its log.
  public var bytes: Int64 = 0
  /// When either was written last.
  public var changedAt: Instant?
  /// What is free for this user on the file system; nil when that cannot be told.
  public var freeBytes: Int64?
  /// Databases and snapshots that were damaged and set aside.
  public var leftovers: [String] = []
  /// Newest first.
  public var snapshots: [StoreSnapshot] = []
}

extension SQLiteStore {
  /// Looks at a store without changing a byte of it: on a connection of its own that may only read, beside a daemon or
  /// without one, with no lock that would keep anybody from it.
  ///
  /// - Parameter seconds: how long the database is read at most (`PRAGMA quick_check`; sqlite.org/pragma.html). About
  ///   half a gigabyte is read in a second.
  public static func inspect(path: String, within seconds: Double) -> StoreInspection {
    let files = SQLiteFiles(path: path)
    let folder = SnapshotFolder(beside: files.path)
    var result = StoreInspection(path: files.path)
    result.bytes = files.bytes
    result.changedAt = files.changedAt.map(Instant.init(seconds:))
    result.freeBytes = SQLiteFiles.freeSpace(at: SQLiteFiles.folder(of: files.path))
    result.leftovers = files.allAside + folder.allDamaged
    result.snapshots = folder.items.map(\.snapshot)
    let deadline = Deadline(seconds: seconds)
    do {
      try files.examine(folder)
      // A store that never was is nothing wrong.
      if files.bytes > 0 {
        let connection = try Connection(looking: files)
        try Opening.requireOurs(connection)
        if let fault = try deadline.limiting(connection, { try Opening.fault(of: connection, .quick) }) {
          result.fault = .corrupt("\(files.path) is damaged (\(fault))", movedTo: nil)
        }
      }
      result.isWhole = true
    } catch {
      // One that was interrupted says nothing of the file.
      if !deadline.isOver { result.fault = error as? StoreFailure ?? .internalError("\(error)") }
    }
    return result
  }
}

/// When reading has to end.
private final class Deadline {
  private let end: Int64

  init(seconds: Double) { end = Self.now + Int64(seconds * 1_000_000_000) }

  var isOver: Bool { Self.now > end }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Has SQLite ask every so many steps whether the time is up (sqlite.org/c3ref/progress_handler.html).
  func limiting<Result>(_ connection: Connection, _ body: () throws -> Result) rethrows -> Result {
    sqlite3_progress_handler(
      connection.handle, 10_000,
      { context in
        guard let context else { return 0 }
        let deadline = Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue()
        return deadline.isOver ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
    return try body()
  }
}

extension Connection {
  /// Opens a store only to look at it.
  ///
  /// Where there is no log the file alone is the whole database, and is read as one that nobody changes, so that not even
  /// an index of a log is made (sqlite.org/uri.html, "immutable"). Where there is one its index is needed, and SQLite makes
  /// it where a daemon has not.
  convenience init(looking files: SQLiteFiles) throws(StoreFailure) {
    let hasLog = (SQLiteFiles.size(files.path + "-wal") ?? 0) > 0
    let uri = "file:" + String(decoding: files.path.utf8.flatMap(Self.escaped), as: UTF8.self)
    try self.init(reading: uri + (hasLog ? "?mode=ro" : "?mode=ro&immutable=1"), path: files.path)
    try script(
      "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -2000")
  }

  private static func escaped(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"): Array("%\(String(byte, radix: 16))".utf8)
    default: [byte]
    }
  }
}
