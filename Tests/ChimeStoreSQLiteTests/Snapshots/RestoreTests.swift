import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ChimeStoreSQLite

/// A damaged store is replaced by the newest good snapshot, and the damaged file is kept unchanged.
@Suite struct RestoreTests {
  /// Whatever happens to the file, either every acknowledged change is there, or the damage is reported and the store
  /// is the newest good snapshot. The bytes of the damaged file never change.
  @Test(arguments: 0..<ProofTier.amount(quick: 2, proof: 40) as Range<UInt64>)
  func everyKindOfDamageIsFoundAndNothingOverwritten(_ group: UInt64) async throws {
    let template = try StoreBox()
    let contents = try await template.fill()
    let sound = try #require(template.folder.bytes("chime.db"))
    let snapshot = try #require(template.snapshotNames.first)
    let copy = try #require(FileManager.default.contents(atPath: template.snapshotFolder + "/" + snapshot))
    var (restored, unharmed, refused) = (0, 0, 0)
    for round in 0..<25 {
      let seed = group * 1_000 + UInt64(round)
      var random = SeededGenerator(seed: seed)
      let box = try StoreBox()
      try FileManager.default.createDirectory(atPath: box.snapshotFolder, withIntermediateDirectories: true)
      try copy.write(to: URL(fileURLWithPath: box.snapshotFolder + "/" + snapshot))
      let (damaged, what) = Self.damaged(sound, &random)
      if let damaged { try box.folder.put(damaged, "chime.db") }
      do {
        let store = try SQLiteStore.open(path: box.path) { $0.pause = 0 }
        let incidents = Incidents(store)
        await store.close()
        let found = try StoreBox.contents(box.path)
        if let restoration = incidents.restorations.first {
          restored += 1
          #expect(found == contents.snapshot, "seed \(seed), \(what)")
          #expect(restoration.damagedPath.map { ($0 as NSString).lastPathComponent } == box.aside, "seed \(seed)")
          let kept = restoration.damagedPath.flatMap { FileManager.default.contents(atPath: $0) }
          #expect(kept == damaged, "seed \(seed), \(what)")
        } else {
          unharmed += 1
          #expect(found == contents.store, "seed \(seed), \(what)")
          #expect(box.aside == nil)
        }
        #expect(box.snapshotNames == [snapshot])
      } catch {
        // A damaged first page may look like another program's file, or like a read-only one: such a file is refused
        // and left alone.
        refused += 1
        switch error as? StoreFailure {
        case .unavailable: break
        default: Issue.record("seed \(seed), \(what): \(error)")
        }
        #expect(box.folder.bytes("chime.db") == damaged, "seed \(seed), \(what)")
      }
    }
    #expect(restored > 5, "seeds from \(group * 1_000): \(restored) restored, \(unharmed) unharmed, \(refused) refused")
  }

  /// Damages a file as disks, people and other programs do; nil means that it is gone. Replacing a page by another
  /// valid one is not included: SQLite has no checksums, and cannot detect it.
  private static func damaged(_ sound: Data, _ random: inout SeededGenerator) -> (Data?, String) {
    var data = sound
    let pages = data.count / 4_096
    let page = Int.random(in: 0..<pages, using: &random)
    func fill(_ range: Range<Int>, _ bytes: () -> UInt8) {
      data.replaceSubrange(range, with: Data(range.map { _ in bytes() }))
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      fill(page * 4_096..<(page + 1) * 4_096) { UInt8.random(in: 0...255, using: &random) }
      return (data, "garbage in page \(page)")
    case 1:
      fill(page * 4_096..<(page + 1) * 4_096) { 0 }
      return (data, "zeros in page \(page)")
    case 2:
      let length = Int.random(in: 1..<data.count, using: &random)
      return (data.prefix(length), "cut to \(length) bytes")
    case 3: return (Data(), "empty")
    case 4: return (nil, "gone")
    case 5:
      fill(0..<data.count) { UInt8.random(in: 0...255, using: &random) }
      return (data, "all garbage")
    case 6:
      let offset = Int.random(in: 0..<100, using: &random)
      fill(offset..<offset + 1) { ~data[offset] }
      return (data, "byte \(offset) of the header")
    default:
      // The start of a page, where a torn write of a sector shows.
      fill(page * 4_096..<page * 4_096 + 512) { 0xFF }
      return (data, "a sector of page \(page)")
    }
  }

  /// With any wrong bit in the header's version number, the file is not mistaken for an older or newer layout.
  @Test func damagedSchemaVersionIsRestored() async throws {
    let box = try StoreBox()
    let contents = try await box.fill(5)
    let sound = try #require(box.folder.bytes("chime.db"))
    // The offset of the number: sqlite.org/fileformat2.html, "User Version Number".
    for offset in 60..<64 {
      for bit in 0..<8 {
        var damaged = sound
        damaged[offset] ^= 1 << bit
        try box.folder.put(damaged, "chime.db")
        guard case .corrupt = SQLiteStore.inspect(path: box.path, within: 10).fault else {
          Issue.record("bit \(bit) of byte \(offset)")
          continue
        }
      }
    }
    let damages = [0, Schema.current - 1, Schema.current + 1, -1].map { "PRAGMA user_version = \($0)" }
    for damage in damages + ["UPDATE layout SET version = \(Schema.current + 1)", "DELETE FROM layout"] {
      try box.folder.put(sound, "chime.db")
      try Raw.run(box.path, damage)
      let damaged = box.folder.bytes("chime.db")
      let store = try SQLiteStore.open(path: box.path) { $0.pause = 0 }
      let restoration = try #require(Incidents(store).restorations.first, "\(damage)")
      await store.close()
      #expect(restoration.reason.contains("schema"), "\(damage): \(restoration.reason)")
      #expect(restoration.damagedPath.flatMap { FileManager.default.contents(atPath: $0) } == damaged, "\(damage)")
      #expect(try StoreBox.contents(box.path) == contents.snapshot, "\(damage)")
    }
  }

  /// A wrong byte in a file's header is never reported as a fault of the program.
  @Test func damagedHeaderIsNeverAnInternalError() async throws {
    let box = try StoreBox()
    let contents = try await box.fill(5)
    let sound = try #require(box.folder.bytes("chime.db"))
    func put(_ change: (UInt8) -> UInt8, at offset: Int) throws {
      var damaged = sound
      damaged[offset] = change(sound[offset])
      try box.folder.put(damaged, "chime.db")
    }
    for offset in 0..<100 {
      for change in [{ ~$0 }, { $0 ^ 1 }, { $0 ^ 8 }] as [(UInt8) -> UInt8] {
        try put(change, at: offset)
        switch SQLiteStore.inspect(path: box.path, within: 10).fault {
        case nil, .corrupt, .unavailable: break
        case let fault: Issue.record("byte \(offset): \(String(describing: fault))")
        }
      }
    }
    // The format's number, which SQLite refuses with a generic error.
    try put({ ~$0 }, at: 47)
    let store = try SQLiteStore.open(path: box.path)
    #expect(Incidents(store).restorations.count == 1)
    await store.close()
    #expect(try StoreBox.contents(box.path) == contents.snapshot)
  }

  /// A restoration stopped after any step and started again ends as if it had not been stopped.
  @Test func restorationInterruptedAtAnyStepCompletes() async throws {
    struct Stop: Error {}
    let template = try StoreBox()
    let contents = try await template.fill(20)
    var stops = 0
    for last in 0..<20 {
      let box = try StoreBox()
      try FileManager.default.copyItem(atPath: template.snapshotFolder, toPath: box.snapshotFolder)
      // With a log and its index, as a kill leaves them.
      let files = ["": Data(repeating: 7, count: 9_000), "-wal": Data("the log".utf8), "-shm": Data("its index".utf8)]
      for (suffix, bytes) in files { try box.folder.put(bytes, "chime.db" + suffix) }
      let left = Mutex(last)
      var wasStopped = false
      do {
        let store = try SQLiteStore.open(path: box.path) {
          $0.restoreStep = {
            let isOver = left.withLock { left in
              left -= 1
              return left < 0
            }
            if isOver { throw Stop() }
          }
        }
        await store.close()
      } catch { wasStopped = true }
      guard wasStopped else { break }
      stops += 1
      let store = try SQLiteStore.open(path: box.path)
      let incidents = Incidents(store)
      let note = try await store.read { try $0.note(Restoration.note) }
      await store.close()
      #expect(incidents.restorations.count == 1, "stopped after \(last) steps")
      #expect(note.flatMap(Restoration.init(text:)) == incidents.restorations.first, "stopped after \(last) steps")
      #expect(try StoreBox.contents(box.path) == contents.snapshot, "stopped after \(last) steps")
      let place = try #require(box.aside, "stopped after \(last) steps: \(box.folder.names)")
      // SQLite recreates the index from the log.
      #expect(box.folder.bytes(place + "-shm") != nil, "stopped after \(last) steps")
      for (suffix, bytes) in files where suffix != "-shm" {
        #expect(box.folder.bytes(place + suffix) == bytes, "stopped after \(last) steps: \(place + suffix)")
      }
      #expect(incidents.restorations.first?.damagedPath?.hasSuffix("/" + place) == true)
      #expect(!box.folder.names.contains("chime.db.restoring"))
    }
    #expect(stops == 6, "each of three files is a step")
  }

  @Test func badSnapshotIsSkippedAndKept() async throws {
    let box = try StoreBox()
    let contents = try await box.fill(20)
    let store = try SQLiteStore.open(path: box.path)
    let newest = try await store.takeSnapshot(keeping: 3)
    await store.close()
    let garbage = Data(repeating: 0x5A, count: 8_192)
    try garbage.write(to: URL(fileURLWithPath: newest.path))
    try box.folder.put(garbage, "chime.db")
    let again = try SQLiteStore.open(path: box.path)
    let restoration = try #require(Incidents(again).restorations.first)
    #expect(restoration.rejected.count == 1)
    #expect(restoration.rejected.first?.contains(newest.path) == true)
    #expect(FileManager.default.contents(atPath: newest.path + ".damaged") == garbage)
    await again.close()
    #expect(try StoreBox.contents(box.path) == contents.snapshot)
  }

  @Test func onlyBadSnapshotsMeanNoRestoration() async throws {
    let box = try StoreBox()
    _ = try await box.fill(20)
    for name in box.snapshotNames {
      try Data(repeating: 1, count: 5_000).write(to: URL(fileURLWithPath: box.snapshotFolder + "/" + name))
    }
    let garbage = Data(repeating: 0x5A, count: 8_192)
    try box.folder.put(garbage, "chime.db")
    for _ in 0..<2 {
      let failure = #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: box.path) }
      guard case .corrupt(_, let place?) = failure else { throw Unexpected(failure) }
      #expect(FileManager.default.contents(atPath: place) == garbage)
      #expect(box.folder.bytes("chime.db") == nil)
    }
  }

  @Test func linkedStoreIsRestoredAtItsTarget() async throws {
    let box = try StoreBox()
    let contents = try await box.fill(20)
    let link = try StoreBox()
    symlink(box.path, link.path)
    for damage in [Data(repeating: 3, count: 10_000), nil] {
      if let damage { try box.folder.put(damage, "chime.db") } else { unlink(box.path) }
      let store = try SQLiteStore.open(path: link.path)
      #expect(Incidents(store).restorations.count == 1)
      await store.close()
      #expect(try StoreBox.contents(box.path) == contents.snapshot)
    }
    #expect(link.folder.names.filter { !$0.hasSuffix(".lock") } == ["chime.db"])
  }

  @Test(.enabled(if: getuid() == 0)) func snapshotBecomesTheStoreWithoutSpaceForACopy() async throws {
    let box = try StoreBox()
    try await box.folder.mounted(size: "64m") {
      let contents = try await box.fill(20)
      let garbage = Data(repeating: 0x5A, count: 8_192)
      try box.folder.put(garbage, "chime.db")
      // All but the space that the log needs for its first change.
      let ballast = Int(try #require(SQLiteFiles.freeSpace(at: box.folder.path))) - 100_000
      try Data(repeating: 1, count: ballast).write(to: URL(fileURLWithPath: box.folder.path + "/ballast"))
      let store = try SQLiteStore.open(path: box.path)
      #expect(Incidents(store).restorations.count == 1)
      await store.close()
      #expect(try StoreBox.contents(box.path) == contents.snapshot)
      #expect(box.aside.flatMap { box.folder.bytes($0) } == garbage)
    }
  }

  // While the store is running.

  /// Makes the writer read the file again instead of using its cache.
  private static let forgetful: @Sendable (Connection) throws -> Void = {
    try $0.script("PRAGMA cache_size = 0; PRAGMA shrink_memory")
  }

  @Test func damageMetWhileRunningIsRestored() async throws {
    let box = try StoreBox()
    let contents = try await box.fill()
    let store = try SQLiteStore.open(path: box.path) { $0.adjust = Self.forgetful }
    let incidents = Incidents(store)
    let damaged = try box.overwritePages()
    // Many callers meet the damage: each is told that its change failed, none that it succeeded.
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          do {
            _ = try await store.read { try $0.occurrences(OccurrenceFilter(), page: Page(limit: 1_000)) }
          } catch StoreFailure.unavailable {} catch { Issue.record("\(error)") }
          do {
            try await store.write { store in
              _ = try store.occurrences(OccurrenceFilter(), page: Page(limit: 1_000))
              try store.setNote("w\(number)", "x")
            }
          } catch StoreFailure.unavailable { return } catch { Issue.record("\(error)") }
          // Acknowledged changes are there.
          let found = try? await store.read { try $0.note("w\(number)") }
          #expect(found == "x")
        }
      }
    }
    let restoration = try #require(incidents.restorations.first)
    #expect(incidents.all.count == 1, "it is restored once: \(incidents.all)")
    #expect(restoration.damagedPath.flatMap { FileManager.default.contents(atPath: $0) } == damaged)
    #expect(try await store.read { try $0.note(Restoration.note) } == restoration.text)
    // Whoever has read the lost store can tell.
    #expect(try await store.read { $0.restorations } == 1)
    #expect(try await store.readApart { $0.restorations } == 1)
    #expect(try await store.write { $0.restorations } == 1)
    await store.close()
    #expect(try StoreBox.contents(box.path).filter { !$0.hasPrefix("n w") } == contents.snapshot)
  }

  @Test func damageFoundByASnapshotIsRestored() async throws {
    let box = try StoreBox()
    let contents = try await box.fill()
    let store = try SQLiteStore.open(path: box.path)
    let incidents = Incidents(store)
    let damaged = try box.overwritePages()
    await #expect(throws: StoreFailure.self) { try await store.takeSnapshot(keeping: 3) }
    let restoration = try #require(incidents.restorations.first)
    #expect(restoration.damagedPath.flatMap { FileManager.default.contents(atPath: $0) } == damaged)
    #expect(box.snapshotNames.count == 1, "the copy of the damage is no snapshot")
    _ = try await store.takeSnapshot(keeping: 3)
    await store.close()
    #expect(try StoreBox.contents(box.path) == contents.snapshot)
  }

  /// However often an intact file seems damaged, it is never moved aside.
  @Test func intactFileIsNeverMovedAside() async throws {
    let box = try StoreBox()
    let contents = try await box.fill()
    let store = try SQLiteStore.open(path: box.path) {
      $0.pause = 0
      $0.retry = .milliseconds(1)
    }
    let incidents = Incidents(store)
    for round in 1...20 {
      let failure = store.writer.queue.sync {
        store.recover(from: .corrupt("met in memory", movedTo: nil), generation: nil)
      }
      guard case .unavailable = failure else { throw Unexpected(failure) }
      // After the first time, the writer's queue reopens it with a short delay.
      while incidents.all.count < round { try await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(incidents.all == Array(repeating: .spared("met in memory"), count: 20))
    await store.close()
    #expect(try StoreBox.contents(box.path) == contents.store)
    #expect(box.aside == nil)
  }

  /// Exchanges two files atomically (renameat2(2), which the Glibc module lacks).
  private static func exchange(_ one: String, _ other: String) throws {
    typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    let call = try #require(dlsym(nil, "renameat2").map { unsafeBitCast($0, to: Call.self) })
    let exchanging: UInt32 = 1 << 1
    #expect(call(AT_FDCWD, one, AT_FDCWD, other, exchanging) == 0)
  }

  /// While the file cannot be reopened, calls fail with an error that may be temporary.
  @Test func unopenableStoreFailsCallsTemporarily() async throws {
    let box = try StoreBox()
    let contents = try await box.fill()
    let store = try SQLiteStore.open(path: box.path) {
      $0.pause = 0
      $0.retry = .milliseconds(50)
    }
    let incidents = Incidents(store)
    // A folder in place of the file makes opening fail at will, also for root.
    try FileManager.default.moveItem(atPath: box.path, toPath: box.path + ".elsewhere")
    try FileManager.default.createDirectory(atPath: box.path, withIntermediateDirectories: false)
    let failure = store.writer.queue.sync {
      store.recover(from: .corrupt("met on the disk", movedTo: nil), generation: nil)
    }
    guard case .unavailable = failure else { throw Unexpected(failure) }
    for _ in 0..<3 {
      await #expect { try await store.read { try $0.note("a") } } throws: {
        ($0 as? StoreFailure)?.isUnavailable == true
      }
      await #expect { try await store.readApart { try $0.note("a") } } throws: {
        ($0 as? StoreFailure)?.isUnavailable == true
      }
      await #expect { try await store.write { try $0.setNote("a", "b") } } throws: {
        ($0 as? StoreFailure)?.isUnavailable == true
      }
    }
    #expect(incidents.all.isEmpty)
    // Atomically: in between there would be no file, and a snapshot would replace it.
    try Self.exchange(box.path + ".elsewhere", box.path)
    while incidents.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(incidents.all == [.spared("met on the disk")])
    try await store.write { try $0.setNote("a", "b") }
    #expect(try await store.read { try $0.note("a") } == "b")
    await store.close()
    #expect(try StoreBox.contents(box.path).count == contents.store.count + 1)
    #expect(box.aside == nil)
  }

  /// A disk may have returned wrong data for a while.
  @Test func soundFileThatWasMovedAsideIsUsedAgain() async throws {
    let box = try StoreBox()
    let contents = try await box.fill()
    let place = box.path + ".corrupt-20260930T220305Z"
    try FileManager.default.moveItem(atPath: box.path, toPath: place)
    for name in box.snapshotNames { try FileManager.default.removeItem(atPath: box.snapshotFolder + "/" + name) }
    await (try SQLiteStore.open(path: box.path)).close()
    #expect(box.aside == nil)
    #expect(try StoreBox.contents(box.path) == contents.store)
    // A file that is really damaged stays where it is, unchanged.
    var damaged = try #require(box.folder.bytes("chime.db"))
    damaged.replaceSubrange(8_192..<16_384, with: Data(repeating: 0xA5, count: 8_192))
    try FileManager.default.removeItem(atPath: box.path)
    try damaged.write(to: URL(filePath: place))
    #expect(throws: StoreFailure.self) { try SQLiteStore.open(path: box.path) }
    #expect(FileManager.default.contents(atPath: place) == damaged)
    #expect(box.folder.names.filter { $0.contains(".corrupt-") }.count == 1, "\(box.folder.names)")
  }

  @Test func damageWithoutASnapshotEndsTheStore() async throws {
    let box = try StoreBox()
    let store = try SQLiteStore.open(path: box.path)
    try await store.write { store in
      for number in 0..<300 { try store.addFired(number) }
    }
    await store.close()
    let again = try SQLiteStore.open(path: box.path) { $0.adjust = Self.forgetful }
    let incidents = Incidents(again)
    let damaged = try box.overwritePages()
    await #expect(throws: StoreFailure.self) {
      try await again.write { try $0.occurrences(OccurrenceFilter(), page: Page(limit: 1_000)) }
    }
    guard case .ended(.corrupt(_, let place?)) = incidents.all.first else {
      throw Unexpected(nil)
    }
    #expect(FileManager.default.contents(atPath: place) == damaged)
    await #expect(throws: StoreFailure.self) { try await again.write { try $0.setNote("a", "b") } }
    await again.close()
  }

  @Test func restorationRecordReadsBack() {
    let full = Restoration(
      at: Instant(seconds: 1_795_000_000), snapshotTakenAt: Instant(seconds: 1_794_900_000),
      snapshotPath: "/var/lib/chime/my snapshots/chime-00001-20261122T030000Z.db",
      damagedPath: "/a b/chime.db.corrupt-1", reason: "page 3 is damaged", rejected: ["one", "two two"])
    #expect(Restoration(text: full.text) == full)
    var plain = full
    plain.damagedPath = nil
    plain.rejected = []
    #expect(Restoration(text: plain.text) == plain)
    for text in ["", "at", "at x\nsnapshot 1 /a", "at 1\nsnapshot 1", "snapshot 1 /a", "\n\n"] {
      #expect(Restoration(text: text) == nil)
    }
  }
}

extension StoreFailure {
  fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}
