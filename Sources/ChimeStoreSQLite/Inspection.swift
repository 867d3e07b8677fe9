import CSQLite
package import ChimeCore
import ChimeRecords
package import ChimeSchedule
import Glibc

/// A StoreInspection describes a store's files, whether or not a daemon uses them.
package struct StoreInspection: Sendable {
  /// The path of the database with links resolved.
  package var path: String
  /// The problem that was found; nil if there is none.
  package var fault: StoreFailure?
  /// Whether the database was checked to the end.
  package var isWhole = false
  /// The size of the database and its log.
  package var bytes: Int64 = 0
  /// The time of the last write to either.
  package var changedAt: Instant?
  /// The space available to this user on the file system; nil if unknown.
  package var freeBytes: Int64?
  /// Damaged databases and snapshots that were set aside.
  package var leftovers: [String] = []
  /// The snapshots, newest first.
  package var snapshots: [StoreSnapshot] = []
}

extension SQLiteStore {
  /// Inspects a store without changing a byte. It uses a read-only connection and takes no lock that could block a daemon.
  ///
  /// - Parameter seconds: the time limit for checking the database (`PRAGMA quick_check`; sqlite.org/pragma.html). About
  ///   half a gigabyte is read in a second.
  package static func inspect(path: String, within seconds: Double) -> StoreInspection {
    let files = SQLiteFiles(path: path)
    let folder = SnapshotFolder(beside: files.path)
    var result = StoreInspection(path: files.path)
    result.bytes = files.bytes
    result.changedAt = files.changedAt.map(Instant.init(seconds:))
    result.freeBytes = SQLiteFiles.freeSpace(at: SQLiteFiles.folder(of: files.path))
    result.leftovers = files.allAside + folder.allDamaged
    result.snapshots = folder.items
    var end = nanoseconds(CLOCK_MONOTONIC) + Int64(seconds * 1_000_000_000)
    do {
      try files.examine(folder)
      // A store that was never created is not an error.
      if files.bytes > 0 {
        let connection = try Connection(looking: files)
        try Opening.requireOurs(connection)
        let fault = try withUnsafeMutablePointer(to: &end) { end in
          // SQLite checks the time limit every 10,000 steps (sqlite.org/c3ref/progress_handler.html).
          sqlite3_progress_handler(
            connection.handle, 10_000, { nanoseconds(CLOCK_MONOTONIC) > $0?.load(as: Int64.self) ?? .max ? 1 : 0 }, end)
          defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
          return try Opening.fault(of: connection, .quick)
        }
        if let fault { result.fault = .corrupt("\(files.path) is damaged (\(fault))", movedTo: nil) }
      }
      result.isWhole = true
    } catch {
      // An interrupted check says nothing about the file.
      if nanoseconds(CLOCK_MONOTONIC) <= end { result.fault = error as? StoreFailure ?? .internalError("\(error)") }
    }
    return result
  }
}

extension Connection {
  /// Opens a store for inspection.
  ///
  /// Without a log the file is the whole database and is opened as immutable, so that SQLite creates no index of a log
  /// (sqlite.org/uri.html, "immutable"). With a log SQLite needs its index, and creates it unless a daemon has.
  convenience init(looking files: SQLiteFiles) throws(StoreFailure) {
    let hasLog = (SQLiteFiles.size(files.path + "-wal") ?? 0) > 0
    // Every byte is escaped, because `?`, `#` and `%` have a meaning in URIs.
    let uri = "file:" + files.path.utf8.map { "%\(String(0x100 + Int($0), radix: 16).suffix(2))" }.joined()
    try self.init(
      path: files.path, reading: uri + (hasLog ? "?mode=ro" : "?mode=ro&immutable=1"), busyTimeout: 500)
    try script(
      "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -2000")
  }
}
