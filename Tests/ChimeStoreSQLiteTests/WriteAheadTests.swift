import ChimeCore
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// Pages that are written before the commit: nobody sees them, and nothing is left of them without it.
@Suite struct WriteAheadTests {
  private func logSize(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
  }

  @Test func whatIsWrittenAheadCommits() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let (before, ahead) = try await store.write { [self] transaction in
      try transaction.setNote("a", String(repeating: "x", count: 100_000))
      let before = logSize(path)
      try transaction.writeAhead()
      try transaction.setNote("b", "1")
      return (before, logSize(path))
    }
    #expect(ahead >= before + 100_000, "the pages are in the log before the commit")
    let found = try await store.read { (try $0.note("a")?.count, try $0.note("b")) }
    #expect(found == (100_000, "1"))
    await store.close()
  }

  @Test func whatIsWrittenAheadIsUndone() async throws {
    struct Refused: Error {}
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await store.write { try $0.setNote("a", "1") }
    await #expect(throws: Refused.self) {
      try await store.write { transaction in
        try transaction.setNote("a", String(repeating: "x", count: 100_000))
        try transaction.writeAhead()
        throw Refused()
      }
    }
    #expect(try await store.read { try $0.note("a") } == "1")
    try await store.write { try $0.setNote("b", "2") }
    #expect(try await store.read { try $0.note("a") } == "1")
    await store.close()
  }

  /// The files as a crash between the pages and the commit leaves them.
  @Test func crashBeforeTheCommitLeavesNothing() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    try await store.write { try $0.setNote("a", "1") }
    let copy = folder.path + "/copy.db"
    try await store.write { transaction in
      try transaction.setNote("a", String(repeating: "x", count: 100_000))
      try transaction.writeAhead()
      for ending in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending) }
    }
    await store.close()
    let again = try SQLiteStore.open(path: copy)
    #expect(try await again.read { try $0.note("a") } == "1")
    await again.close()
  }
}
