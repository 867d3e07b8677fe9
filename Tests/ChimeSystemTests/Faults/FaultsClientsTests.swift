import Foundation
import Testing

/// Too many, slow, large and malformed clients: each gets a typed error or is disconnected, memory is bounded, and a
/// normal client is served.
@Suite(.serialized) struct FaultsClientsTests {
  /// The measurement of `measure`, printable for the log.
  private struct Answers: CustomStringConvertible {
    var took: [Duration] = []

    var description: String {
      let sorted = took.sorted()
      guard let last = sorted.last else { return "none" }
      return "\(took.count) answers, median \(sorted[sorted.count / 2]), longest \(last)"
    }
  }

  /// Measures a client that sends one request after another on one connection.
  private func measure(_ home: Home, _ count: Int = 20) async throws -> Answers {
    let path = home.socket
    return try await blocking {
      var answers = Answers()
      let socket = try RawSocket(path: path)
      for _ in 0..<count {
        let clock = ContinuousClock()
        let begin = clock.now
        let answer = try socket.call("io.chime.Daemon.Status")
        guard answer.error == nil else { throw HarnessFailure("\(answer)") }
        answers.took.append(begin.duration(to: clock.now))
      }
      return answers
    }
  }

  /// Checks that the daemon answers, and that a due reminder fires.
  private func isWell(_ home: Home, _ daemon: Daemon) async throws {
    let id = try await home.add("Afterwards", "in 1s")
    try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
    #expect(daemon.process.isRunning)
  }

  private func configure(_ home: Home, connections: Int, _ more: String = "") throws {
    try home.configure(
      """
      [control]
      maxConnections = \(connections)
      maxConnectionsPerUser = \(connections)
      messageTimeout = "1s"
      \(more)
      [desktop]
      program = "true"
      """)
  }

  @Test(
    .proof(.floods), .enabled(if: Machine.isRoot && Machine.has("prlimit"), "needs root to raise limits"),
    .timeLimit(.minutes(2)))
  func tenThousandClientsAreAllAnswered() async throws {
    try await Home.run { home in
      try configure(home, connections: 10_100)
      let daemon = try await home.start("prlimit", ["--nofile=11000:11000", Machine.chimed])
      let before = daemon.process.peakKiB
      let id = try await home.add("Amidst", "in 3s")
      let crowd = try await home.crowd(10_000, .ask)
      try await eventually("all are answered: \(crowd.facts)", within: .seconds(60)) { crowd.replies == 10_000 }
      #expect(crowd.open == 10_000)
      let answers = try await measure(home)
      // The daemon may not have noticed yet that the measuring client has gone.
      try await eventually("nobody else is there") {
        try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int == 10_001
      }
      try await eventually("due reminders fire") { try await home.latestOccurrence(of: id) != .null }
      let used = daemon.process.peakKiB - before
      print("10,000 clients: \(used) KiB more, \(answers)")
      #expect(used < 80_000 * Sanitizer.memory, "8 KiB each at most: \(used) KiB")
      try await crowd.leave()
      try await eventually("they are gone") {
        try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int == 1
      }
      try await isWell(home, daemon)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func clientsOverTheLimitGetAnErrorAndFewLogLines() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let begin = ContinuousClock.now
      let crowd = try await home.crowd(1_000, .ask)
      // The default limit is 64 connections per user.
      try await eventually("the others are turned away: \(crowd.facts)") {
        crowd.open == 64 && crowd.errors("io.chime.Daemon.LimitExceeded connections") == 936
      }
      let output = try await home.chime("status")
      #expect(output.status != 0)
      #expect(output.err.contains("connections"), "the command says why: \(output.text)")
      // It is logged every ten seconds.
      let most = 1 + Int(begin.duration(to: .now) / .seconds(10))
      let told = daemon.process.errors.split(separator: "\n").count { $0.contains("turned away") }
      #expect((1...most).contains(told))
      try await crowd.leave()
      try await eventually("there is room again") { try await home.chime("status").status == 0 }
      try await isWell(home, daemon)
    }
  }

  /// Clients that send one byte at a time, or half a message, are disconnected at the message timeout.
  @Test(.timeLimit(.minutes(1)), arguments: [Crowd.Behavior.loris, .half])
  func clientsThatNeverFinishAMessageAreDisconnected(_ way: Crowd.Behavior) async throws {
    try await Home.run { home in
      try configure(home, connections: 700)
      let daemon = try await home.start()
      let before = daemon.process.peakKiB
      let count = ProofTier.amount(quick: 150, proof: 600)
      let crowd = try await home.crowd(count, way, pace: 0.1)
      try await eventually("all have come: \(crowd.facts)") { crowd.open + crowd.closed == count }
      let answers = try await measure(home)
      try await eventually("all are dropped: \(crowd.facts)") { crowd.closed == count }
      #expect(crowd.replies == 0)
      let used = daemon.process.peakKiB - before
      print("\(count) \(way.rawValue): \(used) KiB more, \(answers)")
      // An unfinished message may cost 64 KiB per client.
      #expect(used < count * 160 * Sanitizer.memory, "\(used) KiB")
      #expect(daemon.process.errors.split(separator: "\n").count { $0.contains("took too long") } <= 3)
      try await isWell(home, daemon)
    }
  }

  /// A message of a hundred megabytes, nesting 100,000 levels deep, and random bytes.
  @Test(.timeLimit(.minutes(1)), arguments: [Crowd.Behavior.large, .deep, .noise])
  func clientsThatSendInvalidMessagesAreDisconnected(_ way: Crowd.Behavior) async throws {
    try await Home.run { home in
      try configure(home, connections: 100)
      let daemon = try await home.start()
      let before = daemon.process.peakKiB
      let seed = UInt32.random(in: 0..<1_000_000)
      let count = way == .noise ? 60 : ProofTier.amount(quick: 5, proof: 20)
      let crowd = try await home.crowd(count, way, pace: Double(seed))
      let answers = try await measure(home)
      try await eventually("all are dropped: \(crowd.facts) (seed \(seed))") { crowd.closed == count }
      #expect(crowd.errors("org.varlink.service.InvalidParameter") == crowd.replies, "\(crowd.facts) (seed \(seed))")
      let used = daemon.process.peakKiB - before
      print("\(count) \(way.rawValue): \(used) KiB more, \(crowd.facts), \(answers)")
      // The longest message is 1 MiB; its buffer may be twice that while it grows.
      #expect(used < count * 3_072 * Sanitizer.memory, "\(used) KiB")
      try await isWell(home, daemon)
    }
  }

  /// Endless calls without reading the replies, the same with reading, and streams that nobody reads.
  @Test(.timeLimit(.minutes(Sanitizer.slowness)), arguments: [Crowd.Behavior.flood, .eager, .watch])
  func floodsUseBoundedMemoryAndOthersAreServed(_ way: Crowd.Behavior) async throws {
    try await Home.run { home in
      try configure(home, connections: 100, "streamQueueBytes = 65536")
      let daemon = try await home.start()
      let before = daemon.process.peakKiB
      let crowd = try await home.crowd(30, way)
      try await eventually("all have come") { crowd.open == 30 }
      if way == .eager { try await eventually("they are answered: \(crowd.facts)") { crowd.replies > 5_000 } }
      if way == .watch { try await makeEvents(home) }
      let answers = try await measure(home)
      try await isWell(home, daemon)
      let used = daemon.process.peakKiB - before
      print("30 \(way.rawValue): \(used) KiB more, \(crowd.facts), \(answers)")
      // The limits for unread replies and read-ahead, with growing buffers.
      #expect(used < 30 * 3_072 * Sanitizer.memory, "\(used) KiB")
      if way == .watch {
        try await eventually("those who read nothing are dropped: \(crowd.facts)") { crowd.closed == 30 }
        #expect(daemon.process.errors.contains("a reader that did not keep up was disconnected"))
      }
      try await crowd.leave()
    }
  }

  /// Creates more events than the kernel's buffer and the daemon's queue hold for one reader.
  private func makeEvents(_ home: Home) async throws {
    let path = home.socket
    try await blocking {
      let socket = try RawSocket(path: path)
      let body = String(repeating: "long ", count: 30)
      for number in 0..<1_500 {
        let title = JSON.string("\(body) \(number)")
        let answer = try socket.call("io.chime.Reminders.Add", ["reminder": ["title": title, "when": "in 1h"]])
        guard answer.error == nil else { throw HarnessFailure("\(answer)") }
      }
    }
  }

  @Test(.proof(.floods), .timeLimit(.minutes(1)))
  func crashDuringAFloodLosesNothingAcknowledged() async throws {
    try await Home.run { home in
      try configure(home, connections: 200)
      let daemon = try await home.start()
      let crowds = [
        try await home.crowd(50, .flood), try await home.crowd(50, .half), try await home.crowd(20, .watch),
      ]
      try await eventually("all have come") { crowds.allSatisfy { $0.open + $0.closed >= 20 } }
      var ids: [String] = []
      for number in 0..<10 { ids.append(try await home.add("Kept \(number)", "in 1h")) }
      try await daemon.crash()
      for crowd in crowds { try await crowd.leave() }
      let second = try await home.start()
      let known = try await home.answer("io.chime.Reminders.List")["reminders"].elements.compactMap { $0["id"].string }
      #expect(Set(known) == Set(ids))
      try await isWell(home, second)
    }
  }
}
