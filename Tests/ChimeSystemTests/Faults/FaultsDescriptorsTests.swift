import Foundation
import Testing

/// All file descriptors are in use: reminders fire on time, new clients are refused, and the daemon recovers when
/// clients leave.
@Suite(.serialized, .enabled(if: Machine.has("prlimit"), "needs prlimit")) struct FaultsDescriptorsTests {
  private static let configuration = """
    [control]
    maxConnections = 1000
    maxConnectionsPerUser = 1000
    [desktop]
    program = "true"
    [commands.run]
    program = "true"

    """
  private static let attention = "file descriptors are in use and clients are turned away"

  private func start(_ home: Home, _ descriptors: Int) async throws -> Daemon {
    try await home.start("prlimit", ["--nofile=\(descriptors):1000", Machine.chimed])
  }

  /// Connects clients until some are refused.
  private func fill(_ home: Home) async throws -> Crowd {
    let crowd = try await home.crowd(200, .ask)
    try await eventually("some are turned away: \(crowd.facts)") {
      crowd.open > 0 && crowd.errors("io.chime.Daemon.LimitExceeded descriptors") > 0 && crowd.waiting == 0
        && crowd.open + crowd.closed == 200
    }
    return crowd
  }

  /// Uses an existing connection, since no new one is possible.
  private func add(_ title: String, _ when: String, to channels: [String], through friend: RawSocket) throws -> String {
    let answer = try friend.call(
      "io.chime.Reminders.Add",
      ["reminder": ["title": .string(title), "when": .string(when), "channels": .array(channels.map(JSON.string))]])
    guard let id = answer.parameters["reminder"]["id"].string else { throw HarnessFailure("\(answer)") }
    return id
  }

  private func latest(_ id: String, through friend: RawSocket) throws -> JSON {
    try friend.call("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]]).parameters["occurrences"][0]
  }

  @Test(.enabled(if: Machine.hasClients, "needs .venv"), .timeLimit(.minutes(1)))
  func withoutDescriptorsTimersFireAndClientsAreTurnedAway() async throws {
    try await Home.run { home in
      try home.configure(Self.configuration)
      let receiver = try await Receiver.start(in: home)
      let daemon = try await start(home, 64)
      // libdispatch creates a timerfd for each clock when its first timer is armed, and loses the timer if that fails.
      // So a timer of each clock, and the timerfd that detects clock steps, must exist before the first client.
      try await eventually("there is a timer of each clock: \(daemon.process.timerClocks)") {
        let clocks = daemon.process.timerClocks
        return clocks.count { $0 == CLOCK_REALTIME } == 2 && clocks.contains(CLOCK_MONOTONIC)
      }
      try await home.addEndpoint("hook", receiver)
      let friend = try RawSocket(path: home.socket)
      let crowd = try await fill(home)

      let id = try add("Due", "in 1s", to: ["desktop", "run", "hook"], through: friend)
      let fired = try await eventually("it fires") {
        let occurrence = try latest(id, through: friend)
        return occurrence == .null ? nil : occurrence
      }
      #expect(fired["late"] == .null)
      let pending = try await eventually("each channel has been tried") { () -> [JSON]? in
        let all = try friend.call("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
        let tried = all.parameters["deliveries"].elements.filter { ($0["attempts"].int ?? 0) > 0 }
        return tried.count == 3 ? tried : nil
      }
      for delivery in pending {
        #expect(delivery["state"].string == "waiting", "\(delivery)")
        let result = delivery["lastResult"].string ?? ""
        #expect(result.contains("Too many open files") || result.contains("libcurl"), "\(result)")
      }
      let status = try friend.call("io.chime.Daemon.Status").parameters["status"]
      #expect(status["attention"].elements.contains { $0.string?.contains(Self.attention) == true }, "\(status)")
      try await eventually("STATUS tells: \(daemon.status ?? "")") { daemon.status?.contains(Self.attention) == true }
      let lines = daemon.process.errors.split(separator: "\n").count { $0.contains("no file descriptor is left") }
      #expect(lines == 1, "a crowd is one line in the log, not hundreds")

      try await crowd.leave()
      try await eventually("all three arrive") {
        try await home.deliveries("delivered").count == 3
      }
      #expect(receiver.requests.count == 1)
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == [])
      #expect(daemon.process.errors.contains("file descriptors are available again;"))
      try await daemon.stopCleanly()
    }
  }

  /// The limit falls below the number of open descriptors, so that even the reserve cannot be reopened.
  @Test(.proof(.patience), .timeLimit(.minutes(1)))
  func withoutItsReserveDescriptorTheLoopDoesNotSpin() async throws {
    try await Home.run { home in
      try home.configure(Self.configuration)
      let daemon = try await start(home, 500)
      let friend = try RawSocket(path: home.socket)
      let early = try await home.crowd(40, .ask)
      try await eventually("all are answered") { early.replies == 40 }
      func limit(_ number: Int) async throws {
        let result = try await home.run("prlimit", ["--pid", String(daemon.process.pid), "--nofile=\(number):1000"])
        try #require(result.status == 0, "\(result.text)")
      }
      try await limit(12)
      let late = try await home.crowd(5, .ask)
      try await eventually("it is reported") { daemon.process.errors.contains("no file descriptor is left") }
      let before = daemon.process.ticks
      let id = try add("Due", "in 2s", to: ["desktop"], through: friend)
      // Poll slowly, because replies cost processor time too.
      try await eventually("it fires", every: .milliseconds(100)) { try latest(id, through: friend) != .null }
      // A busy loop would use all of these two seconds.
      let used = daemon.process.ticks - before
      #expect(used < 60 * Sanitizer.slowness, "\(used) hundredths of a second")
      #expect(late.replies == 0)

      try await limit(500)
      try await eventually("those who waited in the backlog are answered: \(late.facts)") { late.replies == 5 }
      #expect(late.closed == 0)
      try await eventually("the shortage is over") {
        try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == []
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func withoutDescriptorsANewZoneIsRead() async throws {
    try await Home.run { home in
      try home.configure(Self.configuration)
      let first = try await home.start()
      let time = wallTime(in: "Asia/Tokyo", after: 6)
      try await home.mustRun("add", "Zoned", "daily at \(time)", "--tz", "Asia/Tokyo")
      _ = try await first.stop()
      let daemon = try await start(home, 64)
      let friend = try RawSocket(path: home.socket)
      let crowd = try await fill(home)
      // The zone of this reminder is first read when it fires.
      try await eventually("it fires") { try latest("Zoned", through: friend) != .null }
      let next = try friend.call("io.chime.Reminders.Get", ["id": "Zoned"]).parameters["reminder"]["next"]["at"]
      #expect(next.string?.hasSuffix("T\(time)+09:00") == true, "\(next)")
      #expect(!daemon.process.errors.contains("has no time zone"))
      try await crowd.leave()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func crashWithoutDescriptorsLosesNothing() async throws {
    try await Home.run { home in
      try home.configure(Self.configuration)
      let daemon = try await start(home, 64)
      let friend = try RawSocket(path: home.socket)
      let crowd = try await fill(home)
      let id = try add("Due", "in 1s", to: ["desktop"], through: friend)
      try await eventually("it fires") { try latest(id, through: friend) != .null }
      try await daemon.crash()
      try await crowd.leave()
      _ = try await start(home, 64)
      // The next attempt may be half a minute away, so trigger it.
      try await home.retryDeliveries()
      try await eventually("it arrives") { try await home.deliveries("delivered").count == 1 }
      let all = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
      #expect(all["occurrences"].elements.count == 1)
    }
  }

  /// No process or thread can be created: work that needs one is retried.
  @Test(.enabled(if: Machine.canLimitProcesses, "needs root and control groups"), .timeLimit(.minutes(1)))
  func withoutProcessesProgramsAreRetried() async throws {
    let group = try ControlGroup(.pids)
    defer { group.remove() }
    try await Home.run { home in
      try home.configure(Self.configuration)
      let entry = group.entering(Machine.chimed)
      let daemon = try await home.start(entry.program, entry.arguments)
      let friend = try RawSocket(path: home.socket)
      // Both supervisors have their threads.
      let warm = try add("Warm", "in 1s", to: ["desktop", "run"], through: friend)
      try await eventually("both arrive") { try await home.deliveries("delivered").count == 2 }
      _ = try await home.answer("io.chime.Occurrences.Done", ["id": .string(warm)])
      var rounds = 0
      var isInTime = false
      while !isInTime {
        rounds += 1
        let title = "\"Due \(rounds)\""
        _ = try add("Due \(rounds)", "in 2s", to: ["desktop", "run"], through: friend)
        // Limit to none at all: otherwise an ending thread makes room for a program. Send no requests, because a reply
        // may need a thread.
        try group.limit(to: 0)
        defer { try? group.lift() }
        isInTime = try await eventually("both have been tried") {
          let said = daemon.process.errors.split(separator: "\n").filter { $0.contains(title) }
          // On a stalled machine it may have fired before the limit; try again.
          if said.contains(where: { $0.contains("\(title) delivered") }) { return false }
          let refused = said.filter { $0.contains("not delivered") && $0.contains("Resource temporarily unavailable") }
          return refused.count == 2 ? true : nil
        }
      }
      try await home.retryDeliveries()
      try await eventually("all arrive") { try await home.deliveries("delivered").count == 2 + 2 * rounds }
      try await daemon.stopCleanly()
    }
  }

  /// Returns the local time in a zone so many seconds from now.
  private func wallTime(in zone: String, after seconds: Double) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: zone)
    formatter.dateFormat = "HH:mm:ss"
    return formatter.string(from: Date(timeIntervalSinceNow: seconds))
  }
}

extension Child {
  /// The clocks of its timerfds (proc(5), `fdinfo`).
  fileprivate var timerClocks: [Int32] {
    let folder = "/proc/\(pid)/fdinfo"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { name in
      let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      let line = text?.split(separator: "\n").first { $0.hasPrefix("clockid: ") }
      return line.flatMap { Int32($0.dropFirst("clockid: ".count)) }
    }
  }
}
