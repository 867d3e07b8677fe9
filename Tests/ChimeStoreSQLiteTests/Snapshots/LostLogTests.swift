import ChimeCore
import ChimeSchedule
import Foundation
import Glibc
import Testing

@testable import ChimeStoreSQLite

/// Another program shortens, overwrites or removes the log of an open store.
struct LostLogTests {
  enum Fault: String, CaseIterable, Sendable { case emptied, halved, zeroed, header, end, removed, replaced }

  private static func strike(_ log: String, _ fault: Fault) throws {
    let size = Int(SQLiteFiles.size(log) ?? 0)
    try #require(size > 4_096)
    func write(_ data: Data, at offset: Int) throws {
      let file = try FileHandle(forUpdating: URL(filePath: log))
      defer { try? file.close() }
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: data)
    }
    switch fault {
    case .emptied: truncate(log, 0)
    case .halved: truncate(log, off_t(size / 2))
    case .zeroed: try write(Data(count: size), at: 0)
    case .header: try write(Data(repeating: 0xA5, count: 32), at: 0)
    case .end: try write(Data(repeating: 0xA5, count: 4_120), at: size - 4_120)
    case .removed: unlink(log)
    case .replaced:
      try Data(repeating: 0xA5, count: size).write(to: URL(filePath: log + ".other"))
      rename(log + ".other", log)
    }
  }

  private static func titles(_ store: SQLiteStore) async throws -> [String] {
    try await store.read { try $0.reminders(ReminderFilter(), page: Page(limit: 1_000)).map(\.reminder.title) }.sorted()
  }

  /// The log's content is still in the writing connection's memory: nothing is lost, and the next change succeeds.
  @Test(.timeLimit(.minutes(30)), arguments: Fault.allCases)
  func contentInMemoryIsKept(_ fault: Fault) async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    let incidents = Incidents(store)
    for number in 0..<40 { try await store.write { try $0.addFired(number) } }
    try Self.strike(box.path + "-wal", fault)
    try await store.write { try $0.addFired(40) }
    let told = try #require(incidents.restorations.first)
    #expect(told.isWhole && told.reason.contains("-wal was"), "\(told)")
    #expect(try await Self.titles(store).count == 41)
    // Later changes are as safe as ever.
    try await store.write { try $0.addFired(41) }
    #expect(incidents.all.count == 1)
    await store.close()
    #expect(try Raw.rows(box.path, "PRAGMA integrity_check") == ["ok"])
    #expect(try Raw.rows(box.path, "SELECT count(*) FROM reminder") == ["42"])
    #expect(box.aside != nil)
    let again = try SQLiteStore.open(path: box.path)
    #expect(try await Self.titles(again).count == 42)
    await again.close()
  }

  /// The loss is noticed without another change, shortly after the last commit.
  @Test(.timeLimit(.minutes(30)))
  func lossIsDetectedWithoutAnotherChange() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path) { $0.logCheck = .milliseconds(50) }
    let incidents = Incidents(store)
    // The queue that checks the log is kept busy from the commit on, so that it does not check before the fault.
    let struck = DispatchSemaphore(value: 0)
    try await store.write { transaction in
      for number in 0..<40 { try transaction.addFired(number) }
      store.writer.queue.async { struck.wait() }
    }
    do {
      defer { struck.signal() }
      try Self.strike(box.path + "-wal", .emptied)
    }
    while incidents.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(incidents.restorations.map(\.isWhole) == [true])
    #expect(try await Self.titles(store).count == 40)
    await store.close()
  }

  /// A clean shutdown loses no acknowledged change.
  @Test(.timeLimit(.minutes(30)), arguments: Fault.allCases)
  func cleanShutdownLosesNothing(_ fault: Fault) async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    try await store.write { store in for number in 0..<40 { try store.addFired(number) } }
    try Self.strike(box.path + "-wal", fault)
    await store.close()
    #expect(try Raw.rows(box.path, "SELECT count(*) FROM reminder") == ["40"])
  }

  /// What is not in memory is lost: the store continues with what was checkpointed, and reports the lost period.
  @Test(.timeLimit(.minutes(30)), arguments: [Fault.emptied, .zeroed, .header])
  func lostPeriodIsReported(_ fault: Fault) async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path) { opening in
      opening.adjust = { try $0.script("PRAGMA cache_size = 1; PRAGMA wal_autocheckpoint = 0") }
      // The next change must notice it, not the check of the log, which could come first on a slow machine.
      opening.logCheck = .never
    }
    let incidents = Incidents(store)
    let begin = Instant(seconds: Timestamp.now)
    try await store.write { store in for number in 0..<300 { try store.addFired(number) } }
    try Raw.run(box.path, "PRAGMA wal_checkpoint(TRUNCATE)")
    for number in 300..<700 { try await store.write { try $0.addFired(number) } }
    #expect(incidents.all.isEmpty, "another program that folds the log takes nothing away")
    try Self.strike(box.path + "-wal", fault)
    await #expect(throws: StoreFailure.self) { try await store.write { try $0.addFired(700) } }
    let told = try #require(incidents.restorations.first)
    #expect(!told.isWhole && told.snapshotPath.isEmpty && told.snapshotTakenAt >= begin - .seconds(1), "\(told)")
    #expect(try await store.read { try $0.note(Restoration.note) }.flatMap(Restoration.init(text:)) == told)
    #expect(try await Self.titles(store).count == 300)
    try await store.write { try $0.addFired(701) }
    await store.close()
    #expect(try Raw.rows(box.path, "PRAGMA integrity_check") == ["ok"])
    #expect(try Raw.rows(box.path, "SELECT count(*) FROM reminder") == ["301"])
  }

  /// If a snapshot is newer than the last checkpoint, it is used.
  @Test(.timeLimit(.minutes(30)))
  func newerSnapshotIsUsed() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path) { opening in
      opening.adjust = { try $0.script("PRAGMA cache_size = 1; PRAGMA wal_autocheckpoint = 0") }
      // The next change must notice it, not the check of the log, which could come first on a slow machine.
      opening.logCheck = .never
    }
    let incidents = Incidents(store)
    for number in 0..<400 { try await store.write { try $0.addFired(number) } }
    let since = try #require(SQLiteFiles(path: box.path).foldedAt)
    while Timestamp.now <= since { try await Task.sleep(for: .milliseconds(20)) }
    let snapshot = try await store.takeSnapshot(keeping: 3)
    for number in 400..<700 { try await store.write { try $0.addFired(number) } }
    try Self.strike(box.path + "-wal", .emptied)
    await #expect(throws: StoreFailure.self) { try await store.write { try $0.addFired(700) } }
    #expect(incidents.restorations.map(\.snapshotPath) == [snapshot.path])
    // Even a period of no length counts as a loss.
    let instant = Restoration(
      at: Instant(seconds: 1), snapshotTakenAt: Instant(seconds: 1), snapshotPath: "s", damagedPath: nil, reason: "r")
    #expect(!instant.isWhole && incidents.restorations.allSatisfy { !$0.isWhole })
    #expect(try await Self.titles(store).count == 400)
    await store.close()
  }
}
