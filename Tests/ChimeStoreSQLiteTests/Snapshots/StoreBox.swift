import ChimeCore
import Foundation
import Glibc
import Testing

@testable import ChimeStoreSQLite

/// A store in its own folder, with helpers for the tests of snapshots.
struct StoreBox {
  let folder: Folder
  var path: String { folder.path + "/chime.db" }
  var snapshotFolder: String { folder.path + "/snapshots" }

  init() throws { folder = try Folder() }

  var snapshotNames: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: snapshotFolder)) ?? []).sorted()
  }

  /// The database moved aside, if there is exactly one.
  var aside: String? {
    let names = folder.names.filter { $0.contains(".corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    return names.count == 1 ? names[0] : nil
  }

  /// Returns the complete content of a closed store, in a fixed order.
  static func contents(_ path: String) throws -> [String] {
    try Raw.rows(
      path,
      """
      SELECT 'n ' || name || '=' || value FROM note WHERE name <> '\(Restoration.note)'
      UNION ALL SELECT 'r ' || key || owner || title || schedule || definition || generation FROM reminder
      UNION ALL SELECT 'o ' || scheduled_at || ' ' || reminder || state || title FROM occurrence
      UNION ALL SELECT 'd ' || hex(id) || state || queue || visible_at || attempts FROM delivery
      UNION ALL SELECT 'u ' || reminder || ' ' || next_at FROM due
      UNION ALL SELECT 'a ' || key || id FROM reminder_name
      ORDER BY 1
      """)
  }

  /// Creates a store with reminders and occurrences, takes a snapshot, and then adds more.
  ///
  /// - Returns: the contents of the snapshot and of the store.
  func fill(_ count: Int = 150) async throws -> (snapshot: [String], store: [String]) {
    let store = try SQLiteStore.open(path: path)
    try await store.write { store in
      for number in 0..<count { try store.addFired(number) }
    }
    let snapshot = try await store.takeSnapshot(keeping: 3)
    try await store.write { store in
      for number in count..<count * 2 { try store.addFired(number) }
      try store.setNote("later", "than the snapshot")
    }
    await store.close()
    return (try Self.contents(snapshot.path), try Self.contents(path))
  }

  /// Overwrites all pages but the first in the file of a running store.
  func overwritePages(with byte: UInt8 = 0xEE) throws -> Data {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    var data = try #require(try file.readToEnd())
    for page in 1..<(data.count / 4_096) {
      data.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(repeating: byte, count: 4_096))
    }
    try file.seek(toOffset: 0)
    try file.write(contentsOf: data)
    try file.close()
    return data
  }

  /// Returns the result of sqlite3's integrity check.
  static func integrity(_ path: String) throws -> String {
    try ChildProcess.run("/usr/bin/sqlite3", ["-readonly", path, "PRAGMA integrity_check"]).text
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  static let hasProgram = FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")
}

extension Folder {
  /// Mounts a separate file system there while `body` runs.
  func mounted(size: String, _ body: () async throws -> Void) async throws {
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { return }
    defer { umount2(path, 2) }
    try await body()
  }
}

/// The incidents that a store has reported.
final class Incidents: Sendable {
  private let heard = IncidentRecorder()
  init(_ store: SQLiteStore) { store.watch { [heard] in heard.add($0) } }
  var all: [StoreIncident] { heard.all }

  /// `@unchecked Sendable`: the lock protects the list, which the store's queue and the test use.
  private final class IncidentRecorder: @unchecked Sendable {
    private let lock = NSLock()
    private var incidents: [StoreIncident] = []
    func add(_ incident: StoreIncident) { lock.withLock { incidents.append(incident) } }
    var all: [StoreIncident] { lock.withLock { incidents } }
  }

  var restorations: [Restoration] {
    all.compactMap { if case .restored(let restoration) = $0 { restoration } else { nil } }
  }
}
