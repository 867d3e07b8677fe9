import ChimeCore
import ChimeSchedule
import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ChimeStoreSQLite

/// Copies of a running store.
@Suite struct SnapshotTests {
  @Test func snapshotIsAPrivateCompleteStore() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    try await store.write { store in
      for number in 0..<200 { try store.addFired(number) }
    }
    let snapshot = try await store.takeSnapshot(keeping: 3)
    // The snapshot includes what is in the log only, and needs no log itself.
    #expect(box.snapshotNames.count == 1)
    #expect(
      snapshot.path.wholeMatch(of: /.*\/snapshots\/chime-00001-\d{8}T\d{6}Z\.db/) != nil, "\(snapshot.path)")
    #expect(snapshot.bytes == SQLiteFiles.size(snapshot.path))
    #expect(abs(snapshot.takenAt.milliseconds / 1_000 - Int64(time(nil))) < 60)
    #expect(store.snapshots() == [snapshot])
    for (path, mode) in [(snapshot.path, mode_t(0o600)), (box.snapshotFolder, 0o700)] {
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == mode, "\(path)")
    }
    if StoreBox.hasProgram { #expect(try StoreBox.integrity(snapshot.path) == "ok") }
    await store.close()
    #expect(try StoreBox.contents(snapshot.path) == StoreBox.contents(box.path))
    #expect(box.snapshotNames.count == 1)
    // It can be opened like any other store.
    let elsewhere = try StoreBox()
    try FileManager.default.copyItem(atPath: snapshot.path, toPath: elsewhere.path)
    let copy = try SQLiteStore.open(path: elsewhere.path)
    #expect(try await copy.read { try $0.counts(owner: nil).openOccurrences } == 200)
    await copy.close()
  }

  @Test func newestSnapshotsAreKeptWhateverTheClock() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    try await store.write { try $0.setNote("a", "1") }
    let first = try await store.takeSnapshot(keeping: 2)
    // As if the clock had been years ahead.
    let future = first.path.replacing(/-\d{8}T\d{6}Z/, with: "-20310101T000000Z")
    try FileManager.default.moveItem(atPath: first.path, toPath: future)
    #expect(store.snapshots().map(\.takenAt) == [try RFC3339.parse("2031-01-01T00:00:00Z")])
    // Other files are left alone.
    let others = [
      "other-00009-20310101T000000Z.db", "chime-notes.db", "chime-00007-2031.db", "chime-00003-x.db.damaged",
    ]
    for name in others {
      try Data("mine".utf8).write(to: URL(fileURLWithPath: box.snapshotFolder + "/" + name))
    }
    var taken: [StoreSnapshot] = []
    for _ in 0..<3 { taken.append(try await store.takeSnapshot(keeping: 2)) }
    #expect(store.snapshots() == taken.suffix(2).reversed(), "numbers in names give the order")
    #expect(taken[0].path.contains("chime-00008-"), "a number is not given twice: \(taken[0].path)")
    #expect(box.snapshotNames.count == 2 + 4)
    await store.close()
  }

  @Test func snapshotBlocksNobodyAndIsConsistent() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    let filler = String(repeating: "x", count: 8_000)
    for part in 0..<8 {
      try await store.write { store in
        for number in 0..<250 { try store.setNote("f\(part)-\(number)", filler) }
      }
    }
    try await store.write { try $0.setNote("one", "0") }
    var copy = SnapshotCopy(opening: store.opening)
    let written = Mutex(0)
    // Change copied and uncopied pages, and read the snapshot, between each two steps.
    copy.betweenSteps = {
      let number = written.withLock { number in
        number += 1
        return number
      }
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        try await store.write { store in
          try store.setNote("one", "\(number)")
          for part in 0..<8 { try store.setNote("f\(part)-\(number)", "\(number)") }
        }
        #expect(try await store.read { try $0.note("one") } == "\(number)")
        done.signal()
      }
      #expect(done.wait(timeout: .now() + 300) == .success)
    }
    let made = copy
    // On a separate thread, because it waits for tasks, which have few threads.
    let snapshot = try await withCheckedThrowingContinuation {
      (caller: CheckedContinuation<StoreSnapshot, any Error>) in
      Thread.detachNewThread { caller.resume(with: Result { try made.make(keeping: 3, isPatient: false) }) }
    }
    #expect(written.withLock { $0 } > 10, "it was copied in steps")
    #expect(try Raw.rows(snapshot.path, "SELECT value FROM note WHERE name = 'one'") == ["0"])
    #expect(try Raw.rows(snapshot.path, "SELECT count(*) FROM note WHERE value = '\(filler)'") == ["2000"])
    if StoreBox.hasProgram { #expect(try StoreBox.integrity(snapshot.path) == "ok") }
    await store.close()
  }

  @Test func closingTheStoreAbortsASnapshotCleanly() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    for part in 0..<10 {
      try await store.write { store in
        for number in 0..<250 { try store.setNote("\(part)-\(number)", String(repeating: "x", count: 8_000)) }
      }
    }
    let taking = Task { try await store.takeSnapshot(keeping: 3) }
    // Started; on a fast disk it may be complete already.
    while SQLiteFiles.names(in: box.snapshotFolder).isEmpty { await Task.yield() }
    await store.close()
    let result = await taking.result
    if case .failure(let error) = result { #expect(error as? StoreFailure == .closed) }
    #expect(box.snapshotNames.allSatisfy { $0.hasSuffix("Z.db") }, "\(box.snapshotNames)")
    #expect(!box.folder.names.contains("chime.db-wal"), "the log was folded in all the same")
    await #expect(throws: StoreFailure.closed) { try await store.takeSnapshot(keeping: 3) }
    // An unfinished snapshot left by a kill is deleted at the next start.
    try Data("half".utf8).write(to: URL(fileURLWithPath: box.snapshotFolder + "/chime-00009-20261122T030000Z.db.new"))
    try await SQLiteStore.open(path: box.path).close()
    #expect(box.snapshotNames.allSatisfy { $0.hasSuffix("Z.db") })
  }

  // Space.

  @Test(.enabled(if: getuid() == 0)) func snapshotWithoutSpaceIsRefusedWithAReason() async throws {
    let box = try StoreBox()
    try await box.folder.mounted(size: "12m") {
      let store = try SQLiteStore.open(path: box.path)
      try await store.write { try $0.setNote("a", "1") }
      let failure = await #expect(throws: StoreFailure.self) { try await store.takeSnapshot(keeping: 3) }
      guard case .unavailable(let sentence) = failure else { throw Unexpected(failure) }
      #expect(sentence.contains("not enough space for a snapshot in \(box.snapshotFolder)"))
      #expect(box.snapshotNames.isEmpty)
      try await store.write { try $0.setNote("a", "2") }
      await store.close()
    }
  }

  @Test(.enabled(if: getuid() == 0)) func snapshotOnAFillingDiskKeepsTheOldOne() async throws {
    let box = try StoreBox()
    try await box.folder.mounted(size: "40m") {
      let store = try SQLiteStore.open(path: box.path)
      try await store.write { store in
        for number in 0..<500 { try store.setNote("\(number)", String(repeating: "x", count: 8_000)) }
      }
      let first = try await store.takeSnapshot(keeping: 1)
      // Another program takes the space while the next snapshot is being written.
      let ballast = box.folder.path + "/ballast"
      let free = try #require(SQLiteFiles.freeSpace(at: box.folder.path))
      try Data(repeating: 1, count: Int(free - 2 << 20)).write(to: URL(fileURLWithPath: ballast))
      var copy = SnapshotCopy(opening: store.opening)
      copy.reserve = .min / 2
      let failure = #expect(throws: StoreFailure.self) { try copy.make(keeping: 1, isPatient: true) }
      guard case .unavailable(let sentence) = failure else { throw Unexpected(failure) }
      #expect(sentence.contains("full"), "\(sentence)")
      #expect(store.snapshots() == [first])
      #expect(box.snapshotNames.count == 1, "\(box.snapshotNames)")
      #expect(try StoreBox.contents(first.path).count == 500)
      try FileManager.default.removeItem(atPath: ballast)
      #expect(try await store.takeSnapshot(keeping: 1).path != first.path)
      #expect(store.snapshots().count == 1)
      await store.close()
    }
  }

  // Upgrades.

  @Test func upgradeBeginsWithASnapshot() async throws {
    let box = try StoreBox()
    let old = try SQLiteStore.open(path: box.path)
    try await old.write { try $0.setNote("of", "version 1") }
    await old.close()
    let store = try SQLiteStore.open(path: box.path) { $0.migrations = Schema.invented }
    let copy = try #require(store.snapshots().first)
    #expect(copy.beforeUpgradeFrom == 1)
    #expect(copy.path.hasSuffix("-before-upgrade-from-1.db"))
    #expect(try Raw.rows(copy.path, "PRAGMA user_version") == ["1"])
    #expect(try Raw.rows(copy.path, "SELECT value FROM note") == ["version 1"])
    // It is kept in addition to the daily snapshots, and not counted among them.
    for _ in 0..<3 { _ = try await store.takeSnapshot(keeping: 2) }
    #expect(store.snapshots().map(\.beforeUpgradeFrom) == [nil, nil, 1])
    await store.close()
    // The second start has nothing to upgrade.
    let again = try SQLiteStore.open(path: box.path) { $0.migrations = Schema.invented }
    #expect(again.snapshots().count == 3)
    await again.close()
  }

  @Test func upgradeTakesNoSnapshotIfDisabled() async throws {
    let box = try StoreBox()
    try await SQLiteStore.open(path: box.path).close()
    try await SQLiteStore.open(path: box.path) { ($0.migrations, $0.keepingSnapshots) = (Schema.invented, 0) }.close()
    #expect(box.snapshotNames.isEmpty)
  }

  @Test(.enabled(if: getuid() == 0)) func upgradeWithoutSpaceForASnapshotChangesNothing() async throws {
    let box = try StoreBox()
    try await box.folder.mounted(size: "12m") {
      try await SQLiteStore.open(path: box.path).close()
      let before = box.folder.bytes("chime.db")
      #expect(throws: StoreFailure.self) {
        try SQLiteStore.open(path: box.path) { $0.migrations = Schema.invented }
      }
      #expect(box.folder.bytes("chime.db") == before)
    }
  }

  @Test func changesSinceTheLastSnapshotAreTracked() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    #expect(!store.wasChangedSinceSnapshot, "there was nothing")
    try await store.write { try $0.setNote("a", "1") }
    await store.close()
    let second = try SQLiteStore.open(path: box.path)
    #expect(second.wasChangedSinceSnapshot)
    let snapshot = try await second.takeSnapshot(keeping: 3)
    await second.close()
    var times = [timeval(tv_sec: Int(snapshot.takenAt.milliseconds / 1_000), tv_usec: 0)]
    times.append(times[0])
    #expect(utimes(box.path, times) == 0)
    let third = try SQLiteStore.open(path: box.path)
    #expect(!third.wasChangedSinceSnapshot)
    await third.close()
  }
}
