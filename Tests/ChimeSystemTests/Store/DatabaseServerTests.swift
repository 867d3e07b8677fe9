import Foundation
import Testing

/// Failures of the database server: loss of the primary, passwords, and the doctor's findings.
@Suite(.serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct DatabaseServerTests {
  private func configure(_ home: Home, _ connection: String, more: String = "") throws {
    try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\"\n\(more)")
  }

  private func times(_ home: Home, _ reminder: String) async throws -> [String] {
    try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)], "limit": 500])[
      "occurrences"
    ].elements.compactMap { $0["scheduledAt"]["at"].string }
  }

  /// The primary is lost while a client adds reminders and one fires each second. The daemon continues at the promoted
  /// standby; acknowledged reminders exist, and no time is recorded twice.
  @Test(.timeLimit(.minutes(3))) func daemonContinuesAtThePromotedStandby() async throws {
    let primary = try await PostgresServer.begin()
    let database = try await primary.makeDatabase()
    let standby = try await PostgresServer.begin(following: primary)
    try await primary.waitForStandby()
    try await Home.run { home in
      try configure(home, "host=\(primary.folder),\(standby.folder) dbname=\(database) user=chime")
      let daemon = try await home.start()
      let drink = try await home.add("Drink", "every 1s")
      var kept = [drink]
      for number in 1...10 { kept.append(try await home.add("Kept \(number)", "in 1h")) }
      try await eventually("it fires") { try await times(home, drink).count >= 2 }
      try await primary.lose()
      try await standby.promote()
      let promoted = ContinuousClock.now
      while try await home.chime("add", "After", "in", "1h").status != 0 {}
      print("chimed took a reminder again \(ContinuousClock.now - promoted) after the promotion")
      let before = try await times(home, drink).count
      try await eventually("it continues to fire") { try await times(home, drink).count >= before + 2 }
      let found = try await times(home, drink)
      #expect(Set(found).count == found.count, "\(found)")
      let listed = try await home.json("list", "--limit", "all")["reminders"].elements.compactMap { $0["id"].string }
      #expect(Set(kept).subtracting(listed) == [])
      try await daemon.stopCleanly()
    }
  }

  /// Passwords come from libpq's passfile, and from a systemd credential.
  @Test(.timeLimit(.minutes(2))) func passwordsComeFromAPassfileOrACredential() async throws {
    let server = try await PostgresServer.begin()
    try await server.sql("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'", on: "postgres")
    let connection = server.connection(try await server.makeDatabase(owner: "guarded"), user: "guarded")
    try await Home.run { home in
      try home.write("*:*:*:guarded:open sesame\n", to: home.path + "/pgpass")
      try configure(home, connection + " passfile=\(home.path)/pgpass")
      try await home.start().stopCleanly()

      try configure(home, connection, more: "passwordFile = \"database\"\n")
      let without = try await home.run(Machine.chimed, [])
      #expect(without.status == 74 && without.err.contains("LoadCredential=database"), "\(without.text)")
      let credentials = home.path + "/credentials"
      try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: false)
      try home.write("open sesame\n", to: credentials + "/database")
      let daemon = try await home.start(environment: ["CREDENTIALS_DIRECTORY": credentials])
      _ = try await home.add("Tea", "in 1h")
      try await daemon.stopCleanly()
      #expect(!home.allOutput.contains("sesame"))
    }
  }

  @Test(.proof(.databases), .timeLimit(.minutes(2))) func doctorChecksTheDatabaseServer() async throws {
    let primary = try await PostgresServer.begin()
    let database = try await primary.makeDatabase()
    try await Home.run { home in
      func store() async throws -> (state: String?, message: String?) {
        let checks = try await home.run(Machine.chime, ["doctor", "--json"]).json["checks"].elements
        let found = try #require(checks.first { $0["check"].string == "store" })
        return (found["state"].string, found["message"].string)
      }
      try configure(home, primary.connection(database))
      let daemon = try await home.start()
      let alone = try await store()
      #expect(alone.state == "warning" && alone.message?.contains("no standby server follows") == true, "\(alone)")
      let standby = try await PostgresServer.begin(following: primary)
      // The standby answers before it replicates.
      let loose = try await eventually("it follows") {
        let found = try await store()
        return found.message?.contains("no standby server follows") == true ? nil : found
      }
      #expect(loose.state == "warning" && loose.message?.contains("asynchronously") == true, "\(loose)")
      try await primary.waitForStandby()
      let right = try await store()
      #expect(right.state == "ok" && right.message?.contains("intact") == true, "\(right)")
      try await standby.kill()
      try await eventually("the daemon notices that the store refuses writes") { try await store().state == "error" }
      try await primary.sql("ALTER SYSTEM RESET synchronous_standby_names", on: "postgres")
      try await primary.sql("SELECT pg_reload_conf()", on: "postgres")
      try await daemon.stopCleanly()
    }
  }
}
