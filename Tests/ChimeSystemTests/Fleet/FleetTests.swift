import Foundation
import Testing

/// Several daemons on one PostgreSQL server, with a receiver that verifies each webhook. About 40 s in all.
@Suite(
  .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct FleetTests {
  /// A database and its daemons; `chime` talks to the first.
  private struct Fleet {
    let home: Home
    let server: PostgresServer
    let database: String
    private(set) var daemons: [Daemon] = []

    /// - Parameter endpoints: the endpoints whose secrets each daemon has.
    init(_ home: Home, _ count: Int, _ receiver: Receiver, endpoints: [String]) async throws {
      self.home = home
      server = try await PostgresServer.begin()
      database = try await server.makeDatabase()
      try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n")
      daemons.append(try await home.start())
      for name in endpoints { try await home.addEndpoint(name, receiver) }
      for number in 1..<count {
        let folder = "\(home.path)/member\(number)"
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: home.state + "/secrets", toPath: folder + "/secrets")
        daemons.append(
          try await home.start(Machine.chimed, ["--state-dir", folder, "--socket", "\(folder)/socket"]))
      }
    }

    func sql(_ statement: String) async throws -> String { try await server.sql(statement, on: database) }

    /// Returns the number of shards of each daemon, in the order of their start.
    func shards() async throws -> [Int] {
      try await sql("SELECT count(*) FROM chime.shard_lease WHERE node IS NOT NULL GROUP BY node ORDER BY node")
        .split(separator: "\n").compactMap { Int($0) }
    }

    func node(of daemon: Daemon) async throws -> String {
      try await sql("SELECT max(id) FROM chime.node WHERE process = \(daemon.process.pid)")
    }

    func owner(ofShard shard: Int) async throws -> String {
      try await sql("SELECT node FROM chime.shard_lease WHERE shard = \(shard)")
    }
  }

  @Test(.timeLimit(.minutes(2))) func queuesOfAKilledDaemonAreTakenOver() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let endpoints = (0..<8).map { "hook\($0)" }
      let fleet = try await Fleet(home, 4, receiver, endpoints: endpoints)
      try await eventually("the shares are equal") { try await fleet.shards() == [64, 64, 64, 64] }
      for number in 0..<24 { _ = try await home.add("Mail \(number)", "in 2s", to: [endpoints[number % 8]]) }
      let victim = fleet.daemons[1]
      let node = try await fleet.node(of: victim)
      try await eventually("some of it is on its way") { !receiver.requests.isEmpty }
      let start = ContinuousClock.now
      try await victim.crash()
      try await eventually("the others have its queues", within: .seconds(30)) {
        try await fleet.sql("SELECT count(*) FROM chime.shard_lease WHERE node = \(node)") == "0"
      }
      // The takeover time is only guaranteed on an idle machine, as in a proof.
      if ProofTier.isProof { #expect(ContinuousClock.now - start < .seconds(8) * Sanitizer.slowness) }
      try await eventually("everything arrives", within: .seconds(30)) {
        try await fleet.sql("SELECT count(*) FROM chime.delivery WHERE state = 2") == "24"
      }
      let requests = receiver.requests
      #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
      #expect(Set(requests.map(\.id)).count == 24, "each message has one id, however often it is sent")
      try await eventually("the shares are equal again") { try await fleet.shards().sorted() == [85, 85, 86] }
    }
  }

  /// One daemon reads replies; after it is killed, another continues after the last reply, and none is applied twice.
  @Test(.timeLimit(.minutes(3)), .enabled(if: Machine.has("curl"), "needs curl"))
  func oneDaemonReadsTheRepliesOfAQueue() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let topics = try await TopicServer.start(in: home)
      let fleet = try await Fleet(home, 1, receiver, endpoints: [])
      try await home.mustRun(
        "endpoint", "add", "phone", topics.url("alerts"), "--template", "ntfy", "--replies", topics.url("answers"))
      let folder = home.path + "/other"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(atPath: home.state + "/secrets", toPath: folder + "/secrets")
      let second = try await home.start(
        Machine.chimed, ["--state-dir", folder, "--socket", "\(folder)/socket"])
      try await eventually("the shares are equal") { try await fleet.shards() == [128, 128] }
      try await home.mustRun("expect", "backup", "at 2096-12-01 09:00", "--within", "1h")
      let tokens = try JSON(parsing: try await home.mustRun("expect", "token", "backup", "--json"))
      let ping = tokens["succeeded"].string ?? ""
      func pings() async throws -> Int {
        try await fleet.sql("SELECT count(*) FROM chime.ping").split(separator: "\n").first.flatMap { Int($0) } ?? -1
      }
      for _ in 1...5 { try await topics.send(ping, to: topics.url("answers")) }
      try await eventually("the pings are there") { try await pings() == 5 }

      // Kill the owner of the queue.
      let shard = Int(try await fleet.sql("SELECT shard FROM chime.delivery_queue WHERE channel = 'phone'")) ?? -1
      let owner = try await fleet.owner(ofShard: shard)
      let isSecond = try await fleet.node(of: second) == owner
      try await (isSecond ? second : fleet.daemons[0]).crash()
      for _ in 1...3 { try await topics.send(ping, to: topics.url("answers")) }
      try await eventually("the other has its queue", within: .seconds(30)) {
        try await fleet.owner(ofShard: shard) != owner
      }
      try await eventually("the other continues", within: .seconds(30)) { try await pings() == 8 }
      #expect(
        topics.readers("answers").last.map { $0 != "all" && $0 != "none" } == true, "\(topics.readers("answers"))")
      try await topics.send(ping, to: topics.url("answers"))
      try await eventually("and on") { try await pings() == 9 }
    }
  }

  /// An owner is stopped in the middle of an attempt, beyond its lease.
  @Test(.timeLimit(.minutes(2))) func frozenDaemonRecordsNothingInALostQueue() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, isHeld: true)
      let fleet = try await Fleet(home, 2, receiver, endpoints: ["team"])
      try await eventually("the shares are equal") { try await fleet.shards() == [128, 128] }
      _ = try await home.add("Tea", "in 1s", to: ["team"])
      try await eventually("the first attempt begins") { receiver.requests.count == 1 }
      let shard = Int(try await fleet.sql("SELECT shard FROM chime.delivery_queue WHERE channel = 'team'")) ?? -1
      let owner = try await fleet.owner(ofShard: shard)
      var nodes: [String] = []
      for daemon in fleet.daemons { nodes.append(try await fleet.node(of: daemon)) }
      let frozen = fleet.daemons[try #require(nodes.firstIndex(of: owner))]
      frozen.process.send(SIGSTOP)
      try await eventually("another starts over", within: .seconds(30)) { receiver.requests.count == 2 }
      #expect(try await fleet.owner(ofShard: shard) != owner)
      #expect(Set(receiver.requests.map(\.id)).count == 1, "under the same id")
      home.releaseReceiver()
      try await eventually("the other records it") {
        try await fleet.sql("SELECT count(*) FROM chime.delivery WHERE state = 2") == "1"
      }
      frozen.process.send(SIGCONT)
      try await eventually("the outcome of the first is refused") {
        frozen.process.errors.contains("another daemon has taken over the message")
      }
      #expect(
        try await fleet.sql("SELECT (SELECT count(*) FROM chime.attempt) + count(started_at) FROM chime.delivery")
          == "1")
      #expect(try await fleet.sql("SELECT attempts FROM chime.delivery") == "1")
      try await eventually("it has its share again") { try await fleet.shards() == [128, 128] }
      #expect(receiver.requests.count == 2)
    }
  }

  @Test(.timeLimit(.minutes(2))) func stoppedDaemonReleasesItsLeasesAtOnce() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, isHeld: true)
      let fleet = try await Fleet(home, 2, receiver, endpoints: ["team"])
      try await eventually("the shares are equal") { try await fleet.shards() == [128, 128] }
      _ = try await home.add("Tea", "in 1s", to: ["team"])
      try await eventually("the attempt begins") { receiver.requests.count == 1 }
      let shard = Int(try await fleet.sql("SELECT shard FROM chime.delivery_queue WHERE channel = 'team'")) ?? -1
      let owner = try await fleet.owner(ofShard: shard)
      var nodes: [String] = []
      for daemon in fleet.daemons { nodes.append(try await fleet.node(of: daemon)) }
      let draining = fleet.daemons[try #require(nodes.firstIndex(of: owner))]
      draining.process.send(SIGTERM)
      // It releases all but the attempt in flight.
      try await eventually("the rest is the other's") { try await fleet.shards().sorted() == [1, 255] }
      #expect(draining.process.isRunning)
      home.releaseReceiver()
      #expect(try await draining.process.ended() == .exited(0))
      try await eventually("the other has all") { try await fleet.shards() == [256] }
      #expect(try await fleet.sql("SELECT count(*) FROM chime.delivery WHERE state = 2") == "1")
      #expect(receiver.requests.count == 1, "attempts in flight have ended, and are not sent again")
    }
  }

  /// An answer on one machine stops messages from others, and endpoint edits apply to all.
  @Test(.timeLimit(.minutes(2))) func changesThroughOneDaemonReachTheOthers() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let endpoints = (0..<6).map { "hook\($0)" }
      let fleet = try await Fleet(home, 2, receiver, endpoints: endpoints)
      try await eventually("the shares are equal") { try await fleet.shards() == [128, 128] }
      // The owner of an unused queue is unknown; with six, both daemons have some.
      for name in endpoints { _ = try await home.answer("io.chime.Endpoints.Disable", ["name": .string(name)]) }
      for name in endpoints { _ = try await home.add("To \(name)", "in 3s", to: [name]) }
      try await eventually("all have fired") {
        try await fleet.sql("SELECT count(*) FROM chime.delivery WHERE state <= 1") == "6"
      }
      for name in endpoints { _ = try await home.answer("io.chime.Endpoints.Enable", ["name": .string(name)]) }
      try await eventually("all arrive", within: .seconds(15)) { receiver.requests.count >= 6 }
      #expect(Set(receiver.requests.map(\.id)).count == 6)
      // Disabled endpoints get nothing; the messages were sent once all were enabled again.
      #expect(receiver.requests.count == 6)
    }
  }
}
