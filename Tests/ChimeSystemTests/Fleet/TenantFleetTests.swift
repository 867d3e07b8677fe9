import Foundation
import Testing

/// A tenant's rate limit across two daemons that share a database. About 40 s.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct TenantFleetTests {
  /// An odd limit that two daemons cannot share equally.
  private static let limit = 15
  private static let endpoints = (0..<8).map { "hook\($0)" }

  /// Together the daemons start no more attempts than the tenant's limit, however its endpoints are distributed.
  @Test(.timeLimit(.minutes(3))) func twoDaemonsShareATenantsRateLimit() async throws {
    try await Home.run { home in
      let server = try await PostgresServer.begin()
      let database = try await server.makeDatabase()
      func sql(_ statement: String) async throws -> String { try await server.sql(statement, on: database) }
      try home.configure(
        """
        [store]
        engine = "postgres"
        connection = "\(server.connection(database))"
        [tenants.acme]
        deliveriesPerSecond = \(Self.limit)
        """)
      let receiver = try await Receiver.start(in: home)
      let first = try await home.start()
      for name in Self.endpoints {
        _ = try await home.answer(
          "io.chime.Endpoints.Put",
          [
            "name": .string(name), "url": .string(receiver.url), "secret": .string(Receiver.secret), "tenant": "acme",
          ])
      }
      let folder = home.path + "/second"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(atPath: home.state + "/secrets", toPath: folder + "/secrets")
      let second = try await home.start(
        Machine.chimed, ["--state-dir", folder, "--socket", "\(folder)/socket"])

      /// Adds reminders for each endpoint, all due at once.
      var sent = 0
      func send(_ count: Int) async throws {
        let drafts = (0..<count).flatMap { number in
          Self.endpoints.map {
            ["title": .string("No. \(number)"), "when": "in 2s", "channels": [.string($0)]] as JSON
          }
        }
        _ = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(drafts), "tenant": "acme"])
        sent += drafts.count
        try await eventually("all are delivered", within: .seconds(60), every: .milliseconds(100)) {
          try await sql("SELECT count(*) FROM chime.delivery WHERE state = 2") == "\(sent)"
        }
      }
      // The limit is not guaranteed while endpoints move.
      try await eventually("the shares are equal", within: .seconds(60)) {
        try await sql("SELECT count(*) FROM chime.shard_lease WHERE node IS NOT NULL GROUP BY node") == "128\n128"
      }
      try await send(1)
      func parts() async throws -> [Double] {
        var parts: [Double] = []
        for socket in [home.socket, folder + "/socket"] {
          let status = try await home.json("status", "--socket", socket)["status"]
          parts.append(status["tenants"][0]["deliveriesPerSecondHere"].number ?? -1)
        }
        return parts
      }
      try await eventually("each knows its part", within: .seconds(40), every: .milliseconds(200)) {
        let parts = try await parts()
        return parts.allSatisfy { $0 > 0 } && parts.reduce(0, +) <= Double(Self.limit)
      }
      let before = try await sql("SELECT max(started_at) FROM chime.delivery")
      try await send(15)

      let begun = try await sql(
        "SELECT started_at FROM chime.delivery WHERE started_at > \(before) ORDER BY started_at"
      )
      .split(separator: "\n").compactMap { Int($0) }
      #expect(begun.count == 15 * Self.endpoints.count)
      func most(in seconds: Int) -> Int {
        // Some time may pass between the permission and the start of an attempt.
        begun.indices.map { start in begun[start...].prefix { $0 < begun[start] + seconds * 1_000 - 500 }.count }.max()
          ?? 0
      }
      print(
        "TenantFleetTests: parts \(try await parts()), \(begun.count) begun in \((begun.last ?? 0) - (begun.first ?? 0)) ms, "
          + "\(most(in: 1)) in a second at most")
      for seconds in 1...5 { #expect(most(in: seconds) <= seconds * Self.limit, "in \(seconds) s") }
      let requests = receiver.requests
      #expect(requests.count == sent && Set(requests.map(\.id)).count == sent, "each arrives once")
      #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
      let senders = try await sql(
        "SELECT count(DISTINCT s.node) FROM chime.delivery_queue l JOIN chime.shard_lease s USING (shard)")
      #expect(senders == "2", "both have some of its endpoints")
      try await second.stopCleanly()
      try await first.stopCleanly()
    }
  }
}
