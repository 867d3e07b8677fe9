import Foundation
import Testing

/// The daemon with PostgreSQL behaves like one with a file, and reports database errors with remedies. About 30 s in all.
@Suite(.serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct PostgresTests {
  private func configure(_ home: Home, _ connection: String, more: String = "") throws {
    try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\"\n\(more)")
  }

  private func states(_ home: Home, _ reminder: String) async throws -> [String] {
    try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)]])["occurrences"]
      .elements.compactMap { $0["state"].string }
  }

  private func health(_ home: Home) async throws -> JSON { try await home.answer("io.chime.Daemon.Status")["status"] }

  /// Returns the output of a chimed that cannot start.
  private func refusal(_ home: Home) async throws -> Home.Output {
    try await home.run(Machine.chimed, [])
  }

  @Test(.timeLimit(.minutes(2))) func remindersSurviveStopsAndKills() async throws {
    let server = try await PostgresServer.begin()
    let connection = server.connection(try await server.makeDatabase())
    try await Home.run { home in
      try configure(home, connection)
      let first = try await home.start()
      let tea = try await home.add("Tea", "in 1s")
      let later = try await home.add("Later", "in 1h")
      try await eventually("it fires") { try await states(home, tea) == ["fired"] }
      let store = try #require(try await health(home)["store"].string)
      #expect(store.hasPrefix("postgres: host=\(server.folder) dbname="), "\(store)")
      #expect(try await home.chime("status").out.contains("postgres:"))
      let snapshot = try await home.chime("snapshot")
      #expect(snapshot.status != 0 && snapshot.err.contains("keeps no snapshots"), "\(snapshot.text)")
      try await first.stopCleanly()
      #expect(!FileManager.default.fileExists(atPath: home.state + "/chime.db"), "no file is made beside it")

      let second = try await home.start()
      #expect(try await home.mustRun("list").contains("Later"))
      let soon = try await home.add("Soon", "in 2s")
      try await second.crash()
      // The reminder becomes due without a daemon.
      try await Task.sleep(for: .seconds(2))
      let third = try await home.start()
      try await eventually("it fires late") { try await states(home, soon) == ["fired"] }
      try await home.mustRun("done", soon)
      #expect(try await states(home, soon) == ["done"])
      try await home.mustRun("remove", later)
      try await third.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(2))) func daemonRecoversFromAKilledDatabase() async throws {
    let server = try await PostgresServer.begin()
    let connection = server.connection(try await server.makeDatabase())
    try await Home.run { home in
      try configure(home, connection)
      let daemon = try await home.start()
      let drink = try await home.add("Drink", "every 1s")
      try await eventually("it fires") { try await states(home, drink).count >= 2 }
      try await server.kill()
      let refused = try await home.chime("add", "Milk", "in", "1h")
      #expect(refused.status == 75, "\(refused.text)")
      // The error depends on whether the server is stopping or stopped.
      let advice = ["check that it runs", "check that PostgreSQL runs", "chimed reconnects by itself"]
      #expect(
        refused.err.contains("PostgreSQL") && advice.contains { refused.err.contains($0) }, "\(refused.err)")
      try await eventually("the status reports it") {
        (try await health(home)["storeProblem"].string)?.contains("PostgreSQL") ?? false
      }
      #expect(daemon.process.end == nil)
      try await server.start()
      try await eventually("it works again by itself", within: .seconds(60)) {
        try await health(home)["storeProblem"] == .null
      }
      let before = try await states(home, drink).count
      try await eventually("it continues") { try await states(home, drink).count > before }
      try await home.mustRun("add", "Milk", "in", "1h")
      try await daemon.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(2))) func databaseErrorsNameTheirRemedies() async throws {
    let server = try await PostgresServer.begin()
    try await server.sql("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'", on: "postgres")
    let database = try await server.makeDatabase(owner: "guarded")
    try await Home.run { home in
      try configure(home, server.connection("nowhere"))
      let missing = try await refusal(home)
      #expect(missing.status == 74 && missing.err.contains("createdb"), "\(missing.text)")

      let guarded = server.connection(database, user: "guarded")
      try configure(home, guarded + " password=sesame")
      for arguments in [[], ["--check"], ["--print-config"]] {
        let shown = try await home.run(Machine.chimed, arguments)
        #expect(shown.status == 78 && shown.err.contains("passwordFile"), "\(shown.text)")
        #expect(!shown.text.contains("sesame"))
      }

      let file = home.path + "/password"
      try configure(home, guarded, more: "passwordFile = \"\(file)\"\n")
      try home.write("close sesame\n", to: file)
      let wrong = try await refusal(home)
      #expect(wrong.status == 74 && wrong.err.contains("put the right one into \(file)"), "\(wrong.text)")
      #expect(!wrong.text.contains("sesame"))

      try home.write("open sesame\n", to: file)
      let daemon = try await home.start()
      let shown = try await home.run(Machine.chimed, ["--print-config"])
      #expect(shown.out.contains("passwordFile") && !shown.out.contains("sesame"), "\(shown.text)")
      _ = try await home.add("Tea", "in 1h")

      try await daemon.stopCleanly()
      #expect(!home.allOutput.contains("sesame"))
    }
  }
}
