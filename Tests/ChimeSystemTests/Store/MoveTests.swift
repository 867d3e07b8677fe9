import Foundation
import Testing

/// `chime store move` from file to database and back, with the real programs and a real server.
@Suite(.serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct MoveTests {
  private func configure(_ home: Home, _ connection: String, engine: String = "sqlite") throws {
    try home.configure("[store]\nengine = \"\(engine)\"\nconnection = \"\(connection)\"\n")
  }

  private func states(_ home: Home, _ reminder: String) async throws -> [String] {
    try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)]])["occurrences"]
      .elements.compactMap { $0["state"].string }
  }

  private func pings(_ home: Home) async throws -> [JSON] {
    try await home.answer("io.chime.Expectations.Get", ["id": "job"])["pings"].elements
  }

  private func removeStore(_ home: Home) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: home.state) where name.hasPrefix("chime.db") {
      try FileManager.default.removeItem(atPath: "\(home.state)/\(name)")
    }
  }

  private func holdToSchema(_ home: Home, _ output: String) async throws {
    guard Machine.hasClients else { return }
    let program = """
      import json, jsonschema, sys
      defs = json.load(open(sys.argv[1]))["$defs"]
      shape = {"$ref": "#/$defs/output-of-store-move", "$defs": defs}
      jsonschema.Draft202012Validator(shape).validate(json.loads(sys.argv[2]))
      """
    let judged = try await home.run(
      Machine.clients, ["-c", program, Machine.package + "/docs/json/chime.schema.json", output])
    #expect(judged.status == 0, "\(judged.text)")
  }

  @Test(.timeLimit(.minutes(3))) func storeMovesToADatabaseAndBack() async throws {
    let server = try await PostgresServer.begin()
    let database = try await server.makeDatabase()
    try await Home.run { home in
      let daemon = try await home.start()
      let tea = try await home.add("Tea", "in 1s")
      _ = try await home.add("Later", "in 1h")
      try await home.mustRun("expect", "job", "at", "2096-12-01", "09:00")
      let failed = try await home.chime("run", "job", "--", "sh", "-c", "echo no space left; exit 3")
      #expect(failed.status == 3, "\(failed.text)")
      let pings = try await self.pings(home)
      #expect(pings.map { $0["kind"].string } == ["failed", "started"])
      #expect(pings[0]["output"].string?.contains("no space left") == true, "\(pings)")
      try await eventually("it fires") { try await states(home, tea) == ["fired"] }

      let unnamed = try await home.chime("store", "move", "--to", "postgres")
      #expect(unnamed.status != 0 && unnamed.err.contains("connection"), "\(unnamed.text)")
      try configure(home, server.connection(database))
      let inUse = try await home.chime("store", "move", "--to", "postgres")
      #expect(inUse.status == 75 && inUse.err.contains("another daemon uses the store"), "\(inUse.text)")
      try await daemon.stopCleanly()

      let trial = try await home.chime("store", "move", "--to", "postgres", "--dry-run")
      #expect(trial.status == 0 && trial.text.contains("reminder 3"), "\(trial.text)")
      let made = "SELECT count(*) FROM pg_namespace WHERE nspname = 'chime'"
      #expect(try await server.sql(made, on: database) == "0")
      let moved = try await home.chime("store", "move", "--from", "sqlite", "--to", "postgres")
      #expect(moved.status == 0 && moved.text.contains("engine = \"postgres\""), "\(moved.text)")
      let again = try await home.chime("store", "move", "--to", "postgres")
      #expect(again.status == 1 && again.err.contains("is not empty"), "\(again.text)")

      try configure(home, server.connection(database), engine: "postgres")
      let other = try await home.start()
      #expect(try await states(home, tea) == ["fired"])
      #expect(try await self.pings(home) == pings, "what jobs said is there too")
      let up = try await home.mustRun("ping", "job")
      #expect(up.contains("is up again after"), "\(up)")
      let after = try await self.pings(home)
      #expect(Array(after.dropFirst()) == pings)
      try await home.mustRun("done", tea)
      let milk = try await home.add("Milk", "in 2h")
      try await other.stopCleanly()

      try removeStore(home)
      let back = try await home.chime("store", "move", "--to", "sqlite", "--json")
      #expect(back.status == 0, "\(back.text)")
      #expect(try back.json["move"]["target"].string == home.state + "/chime.db")
      try await holdToSchema(home, back.out)
      try configure(home, server.connection(database))
      let last = try await home.start()
      #expect(try await states(home, tea) == ["done"])
      #expect(try await self.pings(home) == after)
      #expect(try await !home.mustRun("ping", "job").contains("is up again"))
      #expect(try await home.mustRun("list").contains("Milk"))
      #expect(try await states(home, milk) == [])
      try await last.stopCleanly()
    }
  }

  /// A killed move changes nothing, and can be started again.
  @Test(
    .proof(.kills), .timeLimit(.minutes(3)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: Machine.debianPython)))
  func killedMoveChangesNothing() async throws {
    let server = try await PostgresServer.begin()
    let database = try await server.makeDatabase()
    try await Home.run { home in
      try configure(home, server.connection(database))
      try await home.start().stopCleanly()
      // Enough data for a long move.
      let fill = """
        import sqlite3, sys
        store = sqlite3.connect(sys.argv[1])
        store.executemany("INSERT INTO token VALUES (1, ?, 0, ?)", ((str(n), b"x" * 1000) for n in range(50_000)))
        store.commit()
        """
      try home.write(fill, to: home.path + "/fill.py")
      let filled = try await home.run(
        Machine.debianPython, [home.path + "/fill.py", home.state + "/chime.db"], within: .seconds(60))
      #expect(filled.status == 0, "\(filled.text)")

      for engine in ["postgres", "sqlite"] {
        var wasThrough = true
        while wasThrough {
          let move = try await home.spawn(Machine.chimed, ["--move-to", engine])
          try await eventually("it is in the middle") { move.output.contains("\"progress\"") }
          kill(move.pid, SIGKILL)
          _ = try await move.ended()
          wasThrough = move.output.contains("\"result\"")
          // On a slow machine the kill may come too late; try again.
          guard wasThrough else { break }
          if engine == "postgres" {
            try await server.sql("DROP SCHEMA chime CASCADE", on: database)
          } else {
            try removeStore(home)
          }
        }
        if engine == "postgres" {
          let left = "SELECT count(*) FROM pg_namespace WHERE nspname = 'chime'"
          try await eventually("nothing is left") { try await server.sql(left, on: database) == "0" }
        } else {
          #expect(!FileManager.default.fileExists(atPath: home.state + "/chime.db"), "it is whole or has no name")
        }
        let done = try await home.run(Machine.chime, ["store", "move", "--to", engine], within: .seconds(60))
        #expect(done.status == 0 && done.text.contains("token 50"), "\(done.text)")
        if engine == "postgres" { try removeStore(home) }
      }
      #expect(!FileManager.default.fileExists(atPath: home.state + "/chime.db.moving"))
    }
  }
}
