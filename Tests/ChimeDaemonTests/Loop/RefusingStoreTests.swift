import CLinux
import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Synchronization
import Testing

@testable import ChimeDaemon

/// The loop with a store that can be read, but accepts writes only on request.
struct RefusingStoreTests {
  @Test func startWithARefusingStoreFiresFromMemoryAndRecordsLater() async throws {
    let contents = MemoryStore()
    let now = SystemClock.now
    let reminder = Reminder(
      id: ReminderID(rawValue: "r1"), owner: getuid(), title: "Tea",
      schedule: try Schedule(canonical: "daily at 08:30"),
      createdAt: now)
    try await contents.write { try $0.upsert(reminder, next: Instant(seconds: now.seconds - 5)) }
    let store = RefusingStore(contents)
    try await withLoop(store) { loop in
      let problem = try await until(loop) { $0.unrecorded == 1 }
      #expect(problem.storeProblem == RefusingStore.sentence)
      #expect(problem.summary.contains("from memory, 1 not yet recorded; changes are refused"))
      #expect(try await contents.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }.isEmpty)
      // Repeated requests get the same reply, and nothing fires twice.
      for _ in 0..<5 { #expect(await loop.snapshot().unrecorded == 1) }

      store.refuses.store(false, ordering: .relaxed)
      let sound = try await until(loop) { $0.storeProblem == nil }
      #expect(sound.unrecorded == 0)
      let found = try await contents.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
      #expect(found.map(\.id.reminder.rawValue) == ["r1"] && found[0].firedAt.map { $0 >= now } == true)
    }
  }

  /// Zone rules that change while the disk is full are applied later.
  @Test func recomputationIsAppliedWhenTheStoreAcceptsWrites() async throws {
    let contents = MemoryStore()
    let now = SystemClock.now
    let reminder = Reminder(
      id: ReminderID(rawValue: "r1"), owner: getuid(), title: "Tea",
      schedule: try Schedule(canonical: "daily at 08:30"),
      createdAt: now)
    // Not the time that the schedule gives.
    let wrong = Instant(seconds: now.seconds + 40 * 86_400)
    try await contents.write { try $0.upsert(reminder, next: wrong) }
    let store = RefusingStore(contents)
    try await withLoop(store) { loop in
      await loop.recomputeDueTimes([.backwardStep])
      _ = try await until(loop) { $0.storeProblem != nil }
      store.refuses.store(false, ordering: .relaxed)
      _ = try await until(loop) { $0.storeProblem == nil }
      let deadline = ContinuousClock.now + .seconds(120)
      while try await contents.read({ try $0.reminder(reminder.id)?.next }) == wrong {
        try #require(ContinuousClock.now < deadline)
        _ = await loop.snapshot()
      }
    }
  }

  /// A snapshot is restored while the store refuses writes, and refuses them too.
  @Test func restoredStoreKeepsBufferedEvents() async throws {
    let (contents, older) = (MemoryStore(), MemoryStore())
    let now = SystemClock.now
    func reminder(_ id: String) throws -> Reminder {
      Reminder(
        id: ReminderID(rawValue: id), owner: getuid(), title: "Tea",
        schedule: try Schedule(canonical: "daily at 08:30"), createdAt: now)
    }
    let (kept, lost, again) = (try reminder("kept"), try reminder("lost"), try reminder("again"))
    let due = Instant(seconds: now.seconds - 5)
    try await contents.write { store in
      for reminder in [kept, lost] { try store.upsert(reminder, next: due) }
      try store.upsert(again, next: now + .days(1))
    }
    // Before the evaluated ones.
    try await older.write { store in
      try store.upsert(kept, next: due)
      try store.upsert(again, next: Instant(seconds: now.seconds - 60))
    }
    let (store, snapshotManager) = (RefusingStore(contents), FakeSnapshotManager())
    try await withLoop(store, snapshotManager) { loop in
      _ = try await until(loop) { $0.unrecorded == 2 }
      store.replace(with: older)
      snapshotManager.report(
        .restored(
          Restoration(
            at: now, snapshotTakenAt: now - .days(1), snapshotPath: "/nowhere", damagedPath: nil, reason: "test")))
      _ = try await until(loop) { $0.unrecorded == 3 }
      for _ in 0..<5 { #expect(await loop.snapshot().unrecorded == 3) }
      store.refuses.store(false, ordering: .relaxed)
      _ = try await until(loop) { $0.storeProblem == nil && $0.unrecorded == 0 }
      let found = try await older.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
      #expect(Set(found.filter { $0.firedAt != nil }.map(\.id.reminder.rawValue)) == ["kept", "again"])
      let deliveries = try await older.read { try $0.deliveries(DeliveryFilter(), page: Page()) }
      #expect(deliveries.count == 2, "each is shown once")
    }
  }

  private func withLoop(
    _ store: any Store, _ snapshotManager: (any SnapshotManager)? = nil, _ body: (EventLoop) async throws -> Void
  ) async throws {
    let folder = RunFolder.url.appending(path: "chime-refusing-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let paths = try EventLoopTests.paths(folder)
    var configuration = Configuration()
    // Other tests of this process check for leftover helper programs.
    configuration.channels.desktopProgram = "/nonexistent"
    let loop = EventLoop(
      paths: paths, configuration: configuration, log: Log(level: .error), store: store,
      snapshotManager: snapshotManager,
      zones: ZoneCatalog(),
      secrets: Secrets(folder: paths.stateFolder + "/secrets"), service: DaemonMain.controlService())
    var set = sigset_t()
    sigemptyset(&set)
    try await loop.start(listening: [try paths.listen()], signals: signalfd(-1, &set, 0))
    try await body(loop)
  }

  /// Polls the loop's state until the condition holds.
  private func until(
    _ loop: EventLoop, _ condition: (EventLoop.Snapshot) -> Bool
  ) async throws -> EventLoop.Snapshot {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
      let snapshot = await loop.snapshot()
      if condition(snapshot) { return snapshot }
      try #require(ContinuousClock.now < deadline, "\(snapshot)")
    }
  }
}

/// A disk that is full until told otherwise.
private final class RefusingStore: Store {
  static let sentence = "the disk is full: free some space on the file system of nowhere"

  let refuses = Atomic(true)
  private let place: Mutex<MemoryStore>
  private var contents: MemoryStore { place.withLock { $0 } }

  init(_ contents: MemoryStore) { place = Mutex(contents) }

  func replace(with other: MemoryStore) { place.withLock { $0 = other } }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    if refuses.load(ordering: .relaxed) { throw StoreFailure.unavailable(Self.sentence) }
    return try await contents.write(body)
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await contents.read(body)
  }

  func close() async { await contents.close() }
}

/// A snapshot manager that only reports incidents.
private final class FakeSnapshotManager: SnapshotManager {
  let wasChangedSinceSnapshot = false
  private let heard = Mutex<(@Sendable (StoreIncident) -> Void)?>(nil)

  func takeSnapshot(keeping count: Int) async throws -> StoreSnapshot { throw StoreFailure.closed }
  func snapshots() -> [StoreSnapshot] { [] }
  func watch(_ heard: @escaping @Sendable (StoreIncident) -> Void) { self.heard.withLock { $0 = heard } }
  func report(_ incident: StoreIncident) { heard.withLock { $0 }?(incident) }
}
