import Foundation
import Glibc
import Testing

/// Read errors of the disk under the real daemon, whose SQLite reads through libc: a sound store must not be treated as
/// damaged.
@Suite(.serialized, .enabled(if: !Sanitizer.isThere, "a sanitizer has to be loaded first"))
struct StoreReadErrorTests {
  private static let most: JSON = ["limit": 1_000]

  /// Adds more data than a connection caches, so that a listing reads from disk.
  private static func fill(_ home: Home) async throws {
    let body = String(repeating: "x", count: 16_000)
    for number in 1...400 {
      let draft: JSON = ["title": .string("R\(number)"), "when": "in 5h", "body": .string(body)]
      _ = try await home.answer("io.chime.Reminders.Add", ["reminder": draft])
    }
  }

  /// Returns whether all reminders can be read from disk.
  private static func readsAll(_ home: Home) async throws -> Bool {
    var cursor = JSON.null
    repeat {
      let page = try await home.call("io.chime.Reminders.List", ["limit": 1_000, "cursor": cursor])
      guard page.error == nil else { return false }
      cursor = page.parameters["cursor"]
    } while cursor != .null
    return true
  }

  private static func count(_ home: Home) async throws -> Int {
    try await home.answer("io.chime.Daemon.Status")["status"]["reminders"].int ?? 0
  }

  /// Two single errors, after changes that no snapshot contains.
  @Test(.timeLimit(.minutes(1)))
  func singleReadErrorsLoseNothing() async throws {
    try await Home.run { home in
      let disk = try FailingReads(home)
      let first = try await home.start()
      try await Self.fill(home)
      try await home.mustRun("snapshot")
      for number in 1...20 { _ = try await home.add("Later \(number)", "in 5h") }
      _ = try await first.stop()
      let daemon = try await home.start(environment: try await disk.environment())
      let before = try await Self.count(home)
      for _ in 0..<3 {
        disk.fail(1)
        // The request may be refused or served from the cache; the error occurs.
        try await eventually("a read has failed") {
          _ = try await Self.readsAll(home)
          return disk.left == 0
        }
        try await eventually("everything works") { try await Self.readsAll(home) }
      }
      #expect(before == 420)
      #expect(try await Self.count(home) == before)
      #expect(daemon.process.isRunning)
      #expect(!daemon.process.errors.contains("damage"), "\(daemon.process.errors)")
      _ = try await home.add("Last", "in 5h")
      _ = try await daemon.stop()
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.state).allSatisfy { !$0.contains("corrupt") })
      _ = try await home.start()
      #expect(try await Self.count(home) == before + 1)
    }
  }

  /// All reads fail for a while, so the store's state is unknown.
  @Test(.enabled(if: Machine.hasMockBus), .timeLimit(.minutes(1)))
  func readErrorsAreReportedAndDueRemindersFire() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let disk = try FailingReads(home)
      let first = try await home.start()
      try await Self.fill(home)
      _ = try await first.stop()
      let daemon = try await home.start(environment: try await disk.environment())
      let tea = try await home.add("Tea", "in 3s")
      disk.fail(-1)
      let refused = try await eventually("reads fail") {
        let reply = try await home.call("io.chime.Reminders.List", Self.most)
        return reply.error == nil ? nil : reply
      }
      #expect("\(refused)".contains("check its disk"), "\(refused)")
      _ = try await desktop.popup(titled: "Tea")
      #expect(daemon.process.isRunning)
      disk.fail(0)
      try await eventually("everything works", within: .seconds(15)) {
        let status = try await home.answer("io.chime.Daemon.Status")["status"]
        guard status["storeProblem"] == .null, status["reminders"].int == 401 else { return false }
        return try await home.latestOccurrence(of: tea)["state"].string == "delivered"
      }
      #expect(desktop.shown.count { $0.contains("\"Tea\"") } == 1)
      _ = try await daemon.stop()
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.state).allSatisfy { !$0.contains("corrupt") })

      // A start on such a disk changes nothing.
      disk.fail(-1)
      let refusal = try await home.run(Machine.chimed, [], environment: try await disk.environment())
      #expect(refusal.status == 74 && refusal.err.contains("check its disk"), "\(refusal)")
      disk.fail(0)
      _ = try await home.start(environment: try await disk.environment())
      #expect(try await Self.count(home) == 401)
    }
  }
}

/// A disk whose next reads of the store fail.
private final class FailingReads {
  private let home: Home
  private let path: String
  private let memory: UnsafeMutablePointer<Int32>

  init(_ home: Home) throws {
    self.home = home
    path = home.path + "/failing-reads"
    try Data(count: 4).write(to: URL(filePath: path))
    let file = open(path, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    let mapped = mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let mapped, mapped != MAP_FAILED else { throw HarnessFailure("mmap: \(errno)") }
    memory = mapped.assumingMemoryBound(to: Int32.self)
  }

  deinit { munmap(memory, 4) }

  func environment() async throws -> [String: String] {
    ["LD_PRELOAD": try await home.preloaded("failing-disk"), "CHIME_FAILING_READS": path]
  }

  /// - Parameter count: the number of failures; -1 for all.
  func fail(_ count: Int32) { memory.pointee = count }

  var left: Int32 { memory.pointee }
}
