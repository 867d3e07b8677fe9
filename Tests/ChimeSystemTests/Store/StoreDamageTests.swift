import Foundation
import Testing

/// A damaged store under the real daemon is moved aside, restored from the newest snapshot, and reported everywhere.
@Suite(.serialized) struct StoreDamageTests {
  @Test(.enabled(if: Machine.hasMockBus), .timeLimit(.minutes(1)))
  func storeDamagedWhileStoppedIsRestoredAndReported() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let daemon = try await home.start()
      #expect(try await home.chime("snapshot", "--list").text.contains("No snapshot"))
      for number in 1...30 { _ = try await home.add("Kept \(number)", "in 5h") }
      let taken = try await home.json("snapshot")["snapshot"]
      let path = try #require(taken["path"].string)
      #expect(path.hasPrefix(home.state + "/snapshots/chime-00001-"))
      #expect(try await home.integrity(path) == "ok")
      _ = try await home.add("Lost", "in 5h")
      _ = try await daemon.stop()
      let damaged = try home.damageStore { $0.prefix($0.count / 2) }

      let again = try await home.start()
      let aside = try #require(home.aside.first)
      #expect(home.aside.count == 1)
      #expect(FileManager.default.contents(atPath: aside) == damaged, "byte for byte")
      let said = again.process.errors
      #expect(said.contains("<3>the store was damaged") && said.contains(aside), "\(said)")
      #expect(said.contains("<3>the store was restored from the snapshot of"), "\(said)")
      try await eventually("STATUS= reports it") { again.status?.contains("the store was restored") == true }
      // The notice is no open reminder, but is in the history.
      #expect(try await home.titles() == (1...30).map { "Kept \($0)" }.sorted())
      #expect(try await home.mustRun("history").contains("The store was damaged and restored"))
      let status = try await home.answer("io.chime.Daemon.Status")["status"]
      #expect(status["attention"].elements.contains { $0.string?.contains(aside) == true }, "\(status["attention"])")
      #expect(status["storeProblem"] == .null)
      #expect(status["lastSnapshot"]["path"].string == path)
      let shown = try await home.chime("status")
      #expect(
        shown.status == 1 && shown.out.contains("something needs attention") && shown.out.contains(aside), "\(shown)")
      _ = try await desktop.popup(titled: "The store was damaged and restored")

      // Later starts report it in the status, without another popup.
      _ = try await again.stop()
      let third = try await home.start()
      try await eventually("it is still reported") { third.status?.contains("the store was restored") == true }
      #expect(!third.process.errors.contains("<3>"))
      #expect(try await home.titles().filter { $0.contains("damaged") }.count <= 1)
      // Until the user removes the file.
      try FileManager.default.removeItem(atPath: aside)
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == [])
    }
  }

  /// Another program truncates the running daemon's log: no acknowledged change is lost, and it is reported.
  @Test(.timeLimit(.minutes(1)))
  func truncatedLogLosesNoAcknowledgedChange() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      for number in 1...30 { _ = try await home.add("Kept \(number)", "in 5h") }
      #expect(truncate(home.state + "/chime.db-wal", 0) == 0)
      // The daemon checks its last change within a second, without another write.
      try await eventually("it is noticed") { daemon.process.errors.contains("chime.db-wal was shortened") }
      try await eventually("everything works") { try await home.titles().count >= 30 }
      let status = try await home.chime("status")
      #expect(status.status == 1 && status.out.contains("nothing is lost"), "\(status)")
      #expect(try await home.chime("doctor").out.contains("nothing is lost"))
      _ = try await home.add("Later", "in 5h")
      _ = try await daemon.stop()
      _ = try await home.start()
      let titles = try await home.titles()
      #expect((1...30).allSatisfy { titles.contains("Kept \($0)") } && titles.contains("Later"), "\(titles)")
    }
  }

  enum Damage: String, CaseIterable, Sendable { case missing, empty, header, page }

  @Test(.timeLimit(.minutes(1)), arguments: Damage.allCases)
  func everyDamageOfAStoppedStoreIsRestored(_ damage: Damage) async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      for number in 1...60 { _ = try await home.add("Kept \(number)", "in 5h") }
      try await home.mustRun("snapshot")
      _ = try await daemon.stop()
      switch damage {
      case .missing: unlink(home.state + "/chime.db")
      case .empty: _ = try home.damageStore { _ in Data() }
      case .header: _ = try home.damageStore { Data(repeating: 0x5A, count: 100) + $0.dropFirst(100) }
      case .page:
        _ = try home.damageStore { data in
          var data = data
          data.replaceSubrange(8_192..<16_384, with: Data(repeating: 0xA5, count: 8_192))
          return data
        }
      }
      _ = try await home.start()
      #expect(try await home.titles().filter { $0.hasPrefix("Kept") }.count == 60)
      #expect(home.aside.count == (damage == .missing ? 0 : 1))
    }
  }

  /// Another program overwrites pages of the file: the daemon restores the snapshot without a restart.
  @Test(.timeLimit(.minutes(1)))
  func storeDamagedWhileRunningIsRestoredWithoutARestart() async throws {
    try await Home.run { home in
      let first = try await home.start()
      // More data than a connection caches.
      let body = String(repeating: "x", count: 16_000)
      for number in 1...400 {
        let draft: JSON = ["title": .string("Kept \(number)"), "when": "in 5h", "body": .string(body)]
        _ = try await home.answer("io.chime.Reminders.Add", ["reminder": draft])
      }
      // Due later, because firing would meet the damage too.
      let soon = try await home.add("Due soon", "in 5h")
      try await home.mustRun("snapshot")
      // A stop checkpoints the log into the file.
      _ = try await first.stop()
      let daemon = try await home.start()
      let damaged = try home.overwritePages()
      // Clients get errors until the store is restored.
      var refused = 0
      try await eventually("the damage is found and repaired") {
        let answer = try await home.call("io.chime.Reminders.List", ["limit": 1_000])
        if answer.error != nil { refused += 1 }
        return answer.error == nil && !home.aside.isEmpty
      }
      #expect(refused >= 1)
      #expect(FileManager.default.contents(atPath: home.aside[0])?.prefix(damaged.count) == damaged)
      #expect(daemon.process.isRunning)
      // A page ends after about a megabyte.
      var (kept, cursor) = (0, JSON.null)
      repeat {
        let page = try await home.answer("io.chime.Reminders.List", ["limit": 1_000, "cursor": cursor])
        kept += page["reminders"].elements.count { $0["title"].string?.hasPrefix("Kept") == true }
        cursor = page["cursor"]
      } while cursor != .null
      #expect(kept == 400)
      // Later changes are durable, and reminders fire.
      let later = try await home.add("Later", "in 5h")
      try await home.mustRun("edit", soon, "--when", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: soon) != .null }
      #expect(daemon.process.errors.contains("<3>the store was damaged"))
      _ = try await daemon.stop()
      _ = try await home.start()
      #expect(
        try await home.answer("io.chime.Reminders.Get", ["id": .string(later)])["reminder"]["title"].string == "Later")
      #expect(try await home.integrity(home.state + "/chime.db") == "ok")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func damagedStoreWithoutASnapshotAsksForADecision() async throws {
    try await Home.run { home in
      try home.configure("[store]\nsnapshots = 0\n")
      let daemon = try await home.start()
      for number in 1...20 { _ = try await home.add("Kept \(number)", "in 5h") }
      _ = try await daemon.stop()
      let sound = try #require(FileManager.default.contents(atPath: home.state + "/chime.db"))
      let damaged = try home.damageStore { Data(repeating: 0x5A, count: 4_096) + $0.dropFirst(4_096) }
      // Every start fails, by a person, at boot, or by the socket.
      for _ in 0..<2 {
        let output = try await home.run(Machine.chimed, [])
        #expect(output.status == 78, "\(output.text)")
        #expect(home.aside.count == 1 && output.err.contains(home.aside[0]), "\(output.err)")
        #expect(output.err.contains("move the damaged files out"), "\(output.err)")
        #expect(!FileManager.default.fileExists(atPath: home.state + "/chime.db"))
      }
      #expect(FileManager.default.contents(atPath: home.aside[0]) == damaged)
      // A copy restored by the user is used as it is.
      try sound.write(to: URL(filePath: home.state + "/chime.db"))
      let second = try await home.start()
      #expect(try await home.titles().count == 20)
      _ = try await second.stop()
      unlink(home.state + "/chime.db")
      #expect(try await home.run(Machine.chimed, []).status == 78)
      // Once the damaged files are removed, a new store is created.
      try FileManager.default.moveItem(atPath: home.aside[0], toPath: home.path + "/elsewhere")
      _ = try await home.start()
      #expect(try await home.titles().isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func runningDaemonWithoutASnapshotExitsWithStatus78() async throws {
    try await Home.run { home in
      let first = try await home.start()
      let body = String(repeating: "x", count: 16_000)
      for number in 1...400 {
        let draft: JSON = ["title": .string("R\(number)"), "when": "in 5h", "body": .string(body)]
        _ = try await home.answer("io.chime.Reminders.Add", ["reminder": draft])
      }
      _ = try await first.stop()
      try home.configure("[store]\nsnapshots = 0\n")
      let daemon = try await home.start()
      _ = try home.overwritePages()
      _ = try? await home.call("io.chime.Reminders.List", ["limit": 1_000])
      #expect(try await daemon.process.ended() == .exited(78))
      #expect(home.aside.count == 1 && daemon.process.errors.contains(home.aside[0]), "\(daemon.process.errors)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func snapshotIsTakenADayAfterTheLastOne() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      _ = try await home.add("First", "in 5h")
      let path = try #require(try await home.json("snapshot")["snapshot"]["path"].string)
      _ = try await daemon.stop()
      // Within a day, a start takes no snapshot.
      let second = try await home.start()
      _ = try await home.add("Second", "in 5h")
      _ = try await second.stop()
      #expect(home.snapshotNames.count == 1)

      try FileManager.default.moveItem(
        atPath: path, toPath: path.replacing(/-\d{8}T\d{6}Z/, with: "-20260101T000000Z"))
      let third = try await home.start()
      try await eventually("one is taken") { home.snapshotNames.filter { $0.hasSuffix(".db") }.count == 2 }
      try await eventually("and reported") { third.process.errors.contains("a snapshot of the store was taken") }
      let list = try await home.json("snapshot", "--list")["snapshots"].elements
      #expect(list.count == 2)
      #expect(list[0]["path"].string?.contains("chime-00002-") == true)
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["lastSnapshot"]["path"] == list[0]["path"])
    }
  }

  /// Thousands of reminders fire during a snapshot: all are recorded, none late.
  @Test(.proof(.patience), .timeLimit(.minutes(1)))
  func snapshotUnderLoadDelaysNothing() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let base = Int(Date().timeIntervalSince1970) + 12
      // In one call: single calls might take too long on a busy machine.
      let drafts = (0..<2_000).map { number -> JSON in
        let time = Date(timeIntervalSince1970: TimeInterval(base + number % 4)).ISO8601Format()
        return [
          "title": .string("F\(number)"), "when": .string("at \(time.dropLast().replacing("T", with: " "))"),
          "timezone": "UTC", "channels": ["nobody"],
        ]
      }
      _ = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(drafts)])
      var paths: [String] = []
      let clock = ContinuousClock()
      let deadline = clock.now + .seconds(40) * Sanitizer.slowness
      while clock.now < deadline {
        paths.append(try #require(try await home.answer("io.chime.Daemon.TakeSnapshot")["snapshot"]["path"].string))
        let due = try await home.answer("io.chime.Daemon.Status")["status"]["openOccurrences"].int
        if due == 2_000 { break }
      }
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["openOccurrences"].int == 2_000)
      #expect(paths.count > 3)
      for path in home.snapshotNames { #expect(try await home.integrity(home.state + "/snapshots/" + path) == "ok") }
      let late = try await home.lateness()
      try #require(late.count == 2_000)
      // All reminders of a second are recorded within it, despite the copy.
      #expect(
        (late.max() ?? .infinity) < Double(2_000 * Sanitizer.slowness),
        "p50 \(late[1_000]) ms, p99 \(late[1_980]) ms, max \(late[1_999]) ms")
      print(
        "2,000 fired beside \(paths.count) snapshots: p50 \(late[1_000]) ms, p99 \(late[1_980]), max \(late[1_999])")
    }
  }

  @Test(.enabled(if: Machine.isRoot), .timeLimit(.minutes(1)))
  func snapshotWithoutSpaceIsReportedAndOldOnesStay() async throws {
    try await Home.run { home in
      try FileManager.default.createDirectory(atPath: home.state, withIntermediateDirectories: true)
      guard mount("tmpfs", home.state, "tmpfs", 0, "size=30m,mode=700") == 0 else { return }
      defer { umount2(home.state, Int32(MNT_DETACH)) }
      let daemon = try await home.start()
      _ = try await home.add("Kept", "in 5h")
      try await home.mustRun("snapshot")
      let ballast = URL(filePath: home.state + "/ballast")
      try Data(repeating: 1, count: 16 << 20).write(to: ballast)
      let refused = try await home.chime("snapshot")
      #expect(refused.status == 75, "\(refused.text)")
      #expect(refused.err.contains("not enough space for a snapshot"), "\(refused.text)")
      #expect(home.snapshotNames.count == 1)
      let attention = try await home.answer("io.chime.Daemon.Status")["status"]["attention"].elements
      #expect(attention.contains { $0.string?.contains("not enough space") == true }, "\(attention)")
      #expect(daemon.process.errors.contains("<4>no snapshot of the store could be taken"))
      try FileManager.default.removeItem(at: ballast)
      try await home.mustRun("snapshot")
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == [])
    }
  }
}

extension Home {
  /// The databases that were moved aside.
  fileprivate var aside: [String] {
    names(in: state).filter { $0.contains(".corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
      .map { state + "/" + $0 }
  }

  fileprivate var snapshotNames: [String] { names(in: state + "/snapshots") }

  private func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// Changes the file of a stopped store; returns its contents.
  fileprivate func damageStore(_ change: (Data) -> Data) throws -> Data {
    let store = state + "/chime.db"
    guard let bytes = FileManager.default.contents(atPath: store) else { throw HarnessFailure("no \(store)") }
    let damaged = change(bytes)
    try damaged.write(to: URL(filePath: store))
    return damaged
  }

  /// Overwrites all pages but the first of a running store.
  fileprivate func overwritePages() throws -> Data {
    let file = try FileHandle(forUpdating: URL(filePath: state + "/chime.db"))
    guard var data = try file.readToEnd() else { throw HarnessFailure("an empty store") }
    data.replaceSubrange(4_096..<data.count, with: Data(repeating: 0xEE, count: data.count - 4_096))
    try file.seek(toOffset: 0)
    try file.write(contentsOf: data)
    try file.close()
    return data
  }

  fileprivate func titles() async throws -> [String] {
    try await answer("io.chime.Reminders.List", ["limit": 1_000])["reminders"].elements
      .compactMap { $0["title"].string }.sorted()
  }

  /// Returns sqlite3's integrity check of a database.
  fileprivate func integrity(_ path: String) async throws -> String {
    try await run("sqlite3", ["-readonly", path, "PRAGMA integrity_check"]).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns the lateness of all firings in milliseconds, ascending.
  fileprivate func lateness() async throws -> [Double] {
    let rows = try await run(
      "sqlite3", ["-readonly", state + "/chime.db", "SELECT fired_at - scheduled_at FROM occurrence"]
    ).out
    return rows.split(separator: "\n").compactMap { Double($0) }.sorted()
  }
}
