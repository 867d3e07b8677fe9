import CLinux
import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import ChimeTracking
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// The records of changes that can no longer be undone are deleted.
struct ChangeExpiryTests {
  @Test(.timeLimit(.minutes(5))) func changesAreDeletedAfterThirtyDays() async throws {
    let folder = RunFolder.url.appending(path: "chime-forget-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let paths = try EventLoopTests.paths(folder)
    let store = try SQLiteStore.open(path: paths.storePath)
    let now = SystemClock.now
    // One more than a transaction deletes, and one that is recent enough.
    let ages = Array(repeating: Milliseconds.days(31), count: HistoryLimits.batch + 1) + [.days(29)]
    try await store.write { store in
      for (owner, age) in ages.enumerated() {
        try store.begin(TrackingChange(owner: UInt32(owner), at: now - age, kind: .logged, subject: ""))
      }
    }
    var set = sigset_t()
    sigemptyset(&set)
    let loop = EventLoop(
      paths: paths, configuration: Configuration(), log: Log(level: .error), store: store, zones: ZoneCatalog(),
      secrets: Secrets(folder: paths.stateFolder + "/secrets"), service: DaemonMain.controlService())
    try await loop.start(listening: [try paths.listen()], signals: signalfd(-1, &set, 0))
    let client = try VarlinkClient("unix:\(folder)/io.chime", timeout: .seconds(120))
    _ = try client.call("io.chime.Daemon.Reload", returning: Empty.self)
    let old = UInt32(HistoryLimits.batch)
    while try await store.read({ try $0.lastChange(owner: old, since: .earliest) }) != nil { await Task.yield() }
    let left = try await store.read { store in
      try (0...old + 1).filter { try store.lastChange(owner: $0, since: .earliest) != nil }
    }
    #expect(left == [old + 1])
  }
}
