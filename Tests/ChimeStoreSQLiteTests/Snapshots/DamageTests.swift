import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// Damaged files are moved aside unchanged, and never written to.
@Suite struct DamageTests {
  enum Damage: String, CaseIterable, Sendable {
    case garbage, garbageHeader, truncated, shortHeader, wrecked, emptyBesideLog
  }

  @Test(arguments: Damage.allCases) func damagedFileIsMovedAsideUnchanged(_ damage: Damage) async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await fill(path)
    var data = try #require(folder.bytes("chime.db"))
    switch damage {
    case .garbage: data = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    case .garbageHeader: data.replaceSubrange(0..<16, with: Data(repeating: 0x41, count: 16))
    case .truncated: data = data.prefix(data.count / 2)
    case .shortHeader: data = data.prefix(50)
    case .wrecked:
      // Each page after the first, in its middle and at its start.
      for page in 1..<(data.count / 4_096) {
        data.replaceSubrange(page * 4_096..<page * 4_096 + 12, with: Data(repeating: 0xFF, count: 12))
      }
    case .emptyBesideLog:
      data = Data()
      try folder.put(Data("a log that was acknowledged".utf8), "chime.db-wal")
    }
    try folder.put(data, "chime.db")
    let log = folder.bytes("chime.db-wal")

    let failure = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) }
    guard case .corrupt(let sentence, let place?) = failure else { throw Unexpected(failure) }
    #expect(sentence.contains(path))
    #expect(place.wholeMatch(of: /.*\/chime\.db\.corrupt-\d{8}T\d{6}Z/) != nil)
    #expect(FileManager.default.contents(atPath: place) == data)
    #expect(FileManager.default.contents(atPath: place + "-wal") ?? Data() == log ?? Data())
    #expect(folder.bytes("chime.db") == nil)

    // A start with the file missing creates no empty store: only a person knows whether there is a backup.
    let refused = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) }
    guard case .corrupt(_, place) = refused else { throw Unexpected(refused) }
    #expect(folder.bytes("chime.db") == nil)

    // A second damaged file gets another name.
    try folder.put(data, "chime.db")
    if let log { try folder.put(log, "chime.db-wal") }
    let again = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: path) }
    guard case .corrupt(_, let other?) = again else { throw Unexpected(again) }
    #expect(other != place)
    #expect(FileManager.default.contents(atPath: place) == data, "the first is still there")

    // After the person has removed them, an empty store is created.
    for name in folder.names where name.contains(".corrupt-") {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    try await SQLiteStore.open(path: path).close()
  }

  @Test func damageMetWhileRunningEndsTheStore() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await fill(path)
    let store = try SQLiteStore.open(path: path)
    var data = try #require(folder.bytes("chime.db"))
    // Overwrite every page but the first while the store is running.
    for page in 1..<(data.count / 4_096) {
      data.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(repeating: 0xEE, count: 4_096))
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: data)
    try file.close()

    var places: Set<String> = []
    for _ in 0..<3 {
      do {
        _ = try await store.read { try $0.occurrences(OccurrenceFilter(), page: Page(limit: 1_000)) }
        Issue.record("the damage was not found")
      } catch StoreFailure.corrupt(_, let place?) {
        places.insert(place)
      }
    }
    await #expect(throws: StoreFailure.self) { try await store.write { try $0.setNote("a", "b") } }
    #expect(places.count == 1)
    #expect(places.first.flatMap { FileManager.default.contents(atPath: $0) } == data)
    #expect(folder.bytes("chime.db") == nil)
    await store.close()
  }

  @Test func changesInAnUncheckpointedLogAreThere() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    try await store.write { try $0.setNote("a", "b") }
    // The files as a kill would leave them.
    let (data, log) = (try #require(folder.bytes("chime.db")), try #require(folder.bytes("chime.db-wal")))
    await store.close()
    try folder.put(data, "chime.db")
    try folder.put(log, "chime.db-wal")
    let again = try SQLiteStore.open(path: path)
    #expect(try await again.read { try $0.note("a") } == "b")
    await again.close()
  }

  /// The check at startup reports an unreadable page in the same way as damage.
  @Test(arguments: [
    ("*** in database main ***\nPage 5: unable to get the page. error code=266", true),
    ("*** in database main ***\nFreelist: failed to get page 12", true),
    ("*** in database main ***\nPage 5: unable to get the page. error code=11", false),
    ("*** in database main ***\nPage 5: btreeInitPage() returns error code 11", false),
  ])
  func unreadablePageIsNoDamage(_ verdict: String, isOfDisk: Bool) {
    #expect(Opening.tellsOfDisk(verdict) == isOfDisk)
  }

  /// Fills and closes a store with some hundred rows.
  private func fill(_ path: String) async throws {
    let store = try SQLiteStore.open(path: path)
    try await store.write { store in
      for number in 0..<300 { try store.addFired(number) }
    }
    await store.close()
  }
}

extension StoreTransaction {
  func addFired(_ number: Int) throws {
    let reminder = Reminder(
      id: ReminderID(rawValue: "r\(number)"), owner: 1, title: "Title \(number)",
      schedule: try Schedule(canonical: "weekdays at 08:30"), createdAt: Instant(seconds: 1))
    try upsert(reminder, next: Instant(seconds: 100))
    for due in try claimDue(now: Instant(seconds: 100), limit: 10) {
      let id = OccurrenceID(reminder: reminder.id, scheduledAt: due.scheduledAt)
      try record([
        FiringResult(
          due: due,
          occurrences: [
            Occurrence(id: id, title: reminder.title, owner: 1, state: .fired, firedAt: due.dueAt, rounds: 1)
          ],
          deliveries: [
            Delivery(
              id: DeliveryID(rawValue: "msg_\(number)"), occurrence: id,
              queue: DeliveryQueue(owner: 1, channel: .desktop),
              round: 1, createdAt: due.dueAt)
          ], next: nil, advances: true, skipNext: 0)
      ])
    }
  }
}
