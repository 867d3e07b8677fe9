import Foundation
import Testing

/// A daemon of a fleet that loses its connection to the database, but nothing else. About 40 s.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Network.isPossible && Machine.hasClients, "needs root, ip(8) and .venv"))
struct FleetNetworkTests {
  @Test(.timeLimit(.minutes(3)))
  func daemonCutOffFromTheDatabaseIsReplacedAndRejoins() async throws {
    try await Home.run { home in
      let network = try await Network.make(in: home)
      do { try await run(home, network) } catch {
        await network.remove()
        throw error
      }
      await network.remove()
    }
  }

  private func run(_ home: Home, _ network: Network) async throws {
    let server = try await PostgresServer.begin(settings: ["listen_addresses = '\(network.address(of: .database))'"])
    let database = try await server.makeDatabase()
    func sql(_ statement: String) async throws -> String { try await server.sql(statement, on: database) }
    func shares() async throws -> [String] {
      try await sql(
        "SELECT n.process || ' ' || count(*) FROM chime.shard_lease JOIN chime.node n ON n.id = node GROUP BY n.id "
          + "ORDER BY n.id"
      ).split(separator: "\n").map(String.init)
    }
    /// Adds due reminders, two for each endpoint, and waits until all are delivered.
    var expected = 0
    let endpoints = (0..<8).map { "hook\($0)" }
    let receiver = try await Receiver.start(in: home, at: network.address(of: .web))
    func add(_ round: String) async throws {
      for number in 0..<16 { _ = try await home.add("\(round) \(number)", "in 2s", to: [endpoints[number % 8]]) }
      expected += 16
    }
    func allArrive(_ what: String) async throws {
      try await eventually(what, within: .seconds(40)) {
        try await sql("SELECT count(*) FROM chime.delivery WHERE state = 2") == "\(expected)"
      }
    }

    try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n")
    let near = try await home.start()
    for name in endpoints { try await home.addEndpoint(name, receiver) }
    let folder = home.path + "/far"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: home.state + "/secrets", toPath: folder + "/secrets")
    try home.write(
      "[store]\nengine = \"postgres\"\n"
        + "connection = \"host=\(network.address(of: .database)) dbname=\(database) user=chime\"\n",
      to: folder + "/chimed.toml")
    let words =
      network.prefix + [
        Machine.chimed, "--config", "\(folder)/chimed.toml", "--state-dir", folder, "--socket", "\(folder)/socket",
      ]
    let far = try await home.start(words[0], Array(words.dropFirst()))
    // ip(8) execs the program that it runs, so the pid stays.
    let (nearID, farID) = (near.process.pid, far.process.pid)
    try await eventually("the shares are equal") { try await shares() == ["\(nearID) 128", "\(farID) 128"] }
    try await add("before")
    try await allArrive("all arrive while both are well")

    // During work.
    try await add("cut off")
    try await network.pull(.database)
    let start = ContinuousClock.now
    try await eventually("the other has its queues", within: .seconds(30)) { try await shares() == ["\(nearID) 256"] }
    // The documented takeover time.
    #expect(ContinuousClock.now - start < .seconds(8) * Sanitizer.slowness)
    try await add("without it")
    try await allArrive("all arrive without the one that is cut off")
    try await eventually("it says what it cannot reach", within: .seconds(40)) {
      far.process.errors.contains(network.address(of: .database))
    }
    #expect(far.process.isRunning)

    // It reconnects by itself, and gets its share back.
    try await network.plugIn(.database)
    try await eventually("the shares are equal again", within: .seconds(40)) {
      try await shares() == ["\(nearID) 128", "\(farID) 128"]
    }
    try await add("back again")
    try await allArrive("all arrive as before")

    // Each fired once, and all of its attempts had one id.
    #expect(try await sql("SELECT count(*) FROM chime.occurrence") == "\(expected)")
    #expect(try await sql("SELECT count(*) FROM chime.delivery") == "\(expected)")
    let requests = receiver.requests
    #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
    #expect(Set(requests.map(\.id)).count == expected)
    try await far.stopCleanly()
    try await near.stopCleanly()
  }
}
