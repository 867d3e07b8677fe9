import ChimeCore
import Foundation
import Testing

@testable import ChimeStoreSQLite

@Suite struct FullDiskTests {
  @Test func fullStoreRefusesChangesUntilSpaceIsFree() async throws {
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db") {
      $0.adjust = { try $0.script("PRAGMA max_page_count = 80") }
    }
    let kept = try await fillUp(store)
    // A change that frees space succeeds, and afterwards there is space.
    try await store.write { try $0.setNote("0", nil) }
    try await check(store, kept: kept.subtracting([0]))
    await store.close()
  }

  /// On a separate file system that really fills up, where the tests may mount one.
  @Test(.enabled(if: getuid() == 0)) func fullDiskRefusesChangesUntilSpaceIsFree() async throws {
    let folder = try Folder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=1500k") == 0 else { return }
    defer { umount2(folder.path, 2) }
    let ballast = folder.path + "/ballast"
    try Data(repeating: 1, count: 400_000).write(to: URL(fileURLWithPath: ballast))
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let kept = try await fillUp(store)
    let reading = try await store.read { try $0.note("0") }
    #expect(reading != nil, "reads continue while the disk is full")
    try FileManager.default.removeItem(atPath: ballast)
    try await check(store, kept: kept)
    await store.close()
    let again = try SQLiteStore.open(path: path)
    try await check(again, kept: kept)
    await again.close()
  }

  /// Writes notes until there is no space; returns the acknowledged ones.
  private func fillUp(_ store: SQLiteStore) async throws -> Set<Int> {
    var kept: Set<Int> = []
    for number in 0..<10_000 {
      do {
        try await store.write { try $0.setNote("\(number)", String(repeating: "x", count: 3_000)) }
        kept.insert(number)
      } catch StoreFailure.unavailable(let sentence) {
        #expect(sentence.contains("disk"))
        return kept
      }
    }
    throw Unexpected(nil)
  }

  /// Checks that acknowledged changes are there, refused ones are not, and that a change succeeds again.
  private func check(_ store: SQLiteStore, kept: Set<Int>) async throws {
    try await store.write { try $0.setNote("after", "1") }
    let found = try await store.read { store in
      Set(try (0..<(kept.count + 10)).filter { try store.note("\($0)") != nil })
    }
    #expect(found == kept)
  }
}
