import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// An inspection reports a store's state, and changes no byte of it.
@Suite struct InspectionTests {
  private static func fill(_ path: String, reminders: Int = 200) async throws -> SQLiteStore {
    let store = try SQLiteStore.open(path: path)
    try await store.write { transaction in
      for index in 0..<reminders { try transaction.setNote("note-\(index)", String(repeating: "x", count: 500)) }
    }
    return store
  }

  private static func everything(in folder: Folder) -> [String: Data] {
    Dictionary(uniqueKeysWithValues: folder.names.compactMap { name in folder.bytes(name).map { (name, $0) } })
  }

  @Test func soundStoreIsReadWholeAndUnchanged() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    await (try await Self.fill(path)).close()
    let before = Self.everything(in: folder)
    let found = SQLiteStore.inspect(path: path, within: 10)
    #expect(found.fault == nil && found.isWhole)
    #expect(found.bytes == Int64(before["chime.db"]?.count ?? 0))
    #expect((found.freeBytes ?? 0) > 0 && found.changedAt != nil)
    #expect(Self.everything(in: folder) == before)
  }

  @Test func storeInUseIsReadBesideItsDaemon() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try await Self.fill(path)
    let found = SQLiteStore.inspect(path: path, within: 10)
    #expect(found.fault == nil && found.isWhole)
    // The store continues to work.
    try await store.write { try $0.setNote("after", "1") }
    await store.close()
  }

  @Test func storeIsReadWithTheLogOfACrash() async throws {
    let folder = try Folder()
    let (path, crashed) = (folder.path + "/chime.db", folder.path + "/crashed.db")
    let store = try await Self.fill(path)
    // The files after a power cut: the database and the log, without the log's index.
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: crashed + suffix)
    }
    let before = ["crashed.db", "crashed.db-wal"].map { folder.bytes($0) }
    let found = SQLiteStore.inspect(path: crashed, within: 10)
    #expect(found.fault == nil && found.isWhole)
    #expect(["crashed.db", "crashed.db-wal"].map { folder.bytes($0) } == before)
    await store.close()
  }

  @Test func damageIsReportedAndNotRepaired() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    await (try await Self.fill(path)).close()
    var data = try #require(folder.bytes("chime.db"))
    for page in 1..<(data.count / 4_096) {
      data.replaceSubrange(page * 4_096..<page * 4_096 + 12, with: Data(repeating: 0xFF, count: 12))
    }
    try folder.put(data, "chime.db")
    let before = Self.everything(in: folder)
    let found = SQLiteStore.inspect(path: path, within: 10)
    guard case .corrupt(let sentence, nil) = found.fault else { throw Unexpected(found.fault) }
    #expect(sentence.contains("chime.db is damaged"))
    #expect(Self.everything(in: folder) == before)
  }

  @Test func foreignFileIsReported() async throws {
    let folder = try Folder()
    try folder.put(Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) }), "chime.db")
    let found = SQLiteStore.inspect(path: folder.path + "/chime.db", within: 10)
    guard case .corrupt = found.fault else { throw Unexpected(found.fault) }
  }

  @Test func missingStoreIsAFaultOnlyIfItExistedBefore() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let none = SQLiteStore.inspect(path: path, within: 10)
    #expect(none.fault == nil && none.isWhole && none.bytes == 0)
    #expect(folder.names.isEmpty)
    let later = SQLiteStore.inspect(path: folder.path + "/not/yet/made/chime.db", within: 10)
    #expect(later.fault == nil && (later.freeBytes ?? 0) > 0)

    try folder.put(Data("what was damaged".utf8), "chime.db.corrupt-20260930T220305Z")
    let lost = SQLiteStore.inspect(path: path, within: 10)
    #expect(lost.leftovers == [path + ".corrupt-20260930T220305Z"])
    guard case .corrupt(_, let place?) = lost.fault else { throw Unexpected(lost.fault) }
    #expect(place == lost.leftovers.first)
  }

  /// A name with characters that have a meaning in URIs.
  @Test func pathWithURICharactersIsFound() async throws {
    let folder = try Folder()
    let path = folder.path + "/a?mode=memory#100%.db"
    await (try await Self.fill(path)).close()
    let found = SQLiteStore.inspect(path: path, within: 10)
    #expect(found.fault == nil && found.isWhole && found.bytes > 0)
  }

  @Test func inspectionOfALargeStoreKeepsItsTimeLimit() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    await (try await Self.fill(path, reminders: 20_000)).close()
    let found = SQLiteStore.inspect(path: path, within: 0)
    #expect(found.fault == nil && !found.isWhole && found.bytes > 1 << 20)
  }
}
