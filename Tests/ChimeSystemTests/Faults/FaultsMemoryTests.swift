import Foundation
import Testing

/// A kernel limit on memory: long lists and floods stay below it, and a daemon killed by it loses nothing.
@Suite(.serialized, .enabled(if: Machine.canLimitMemory, "needs root and control groups"))
struct FaultsMemoryTests {
  private func fill(_ home: Home, _ count: Int) async throws {
    let path = home.socket
    try await blocking {
      let socket = try RawSocket(path: path)
      let body = String(repeating: "a sentence of the body. ", count: 80)
      for number in 0..<count {
        let answer = try socket.call(
          "io.chime.Reminders.Add",
          ["reminder": ["title": .string("Number \(number)"), "body": .string(body), "when": "daily at 9:00"]])
        guard answer.error == nil else { throw HarnessFailure("\(answer)") }
      }
    }
  }

  @Test(.proof(.memory), .timeLimit(.minutes(1)))
  func listsAndFloodsStayBelowTheMemoryLimit() async throws {
    let group = try ControlGroup(.memory)
    defer { group.remove() }
    // The daemon's own 24 MiB (debug build), plus the maximum cost of 60 clients.
    try group.limit(to: 160 << 20)
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n[control]\nmessageTimeout = \"2s\"\n")
      let entry = group.entering(Machine.chimed)
      let daemon = try await home.start(entry.program, entry.arguments)
      try await fill(home, 1_000)
      let id = try await home.add("Amidst", "in 2s")
      let crowds = [
        try await home.crowd(20, .list), try await home.crowd(15, .half), try await home.crowd(15, .flood),
        try await home.crowd(10, .large),
      ]
      try await eventually("lists are answered: \(crowds[0].facts)") { crowds[0].replies > 60 }
      try await eventually("due reminders fire") { try await home.latestOccurrence(of: id) != .null }
      #expect(daemon.process.isRunning)
      print("memory under a flood: \(group.peak >> 20) MiB at most, of the daemon \(daemon.process.peakKiB >> 10) MiB")
      for crowd in crowds { try await crowd.leave() }
      try await daemon.stopCleanly()
    }
  }

  /// Another process in the group takes all memory, and the kernel kills the daemon.
  @Test(.timeLimit(.minutes(1)))
  func daemonKilledForMemoryLosesNothing() async throws {
    let group = try ControlGroup(.memory)
    defer { group.remove() }
    try group.limit(to: 200 << 20)
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let entry = group.entering(Machine.chimed)
      let daemon = try await home.start(entry.program, entry.arguments)
      let fired = try await home.add("Before", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: fired) != .null }
      let due = try await home.add("Meanwhile", "in 2s")
      try await fill(home, 100)
      func count() async throws -> Int? { try await home.answer("io.chime.Daemon.Status")["status"]["reminders"].int }
      let known = try await count()
      let preference = try #require(FileHandle(forWritingAtPath: "/proc/\(daemon.process.pid)/oom_score_adj"))
      try preference.write(contentsOf: Data("1000".utf8))

      let hog = group.entering(
        Machine.debianPython, ["-c", "import time\nx = []\nwhile True:\n    x.append(bytearray(b'x') * (1 << 20))"])
      let other = try await home.spawn(hog.program, hog.arguments)
      #expect(try await daemon.process.ended() == .signalled(SIGKILL))
      other.destroy()
      _ = try await other.ended()

      let second = try await home.start()
      #expect(try await count() == known)
      try await eventually("due reminders fire") { try await home.latestOccurrence(of: due) != .null }
      for id in [fired, due] { #expect(try await home.record(of: id).count == 1) }
      try await second.stopCleanly()
    }
  }
}
