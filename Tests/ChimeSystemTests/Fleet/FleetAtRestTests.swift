import Foundation
import Testing

/// Several idle daemons on one database: the load on the server, and the downtime notice of one that joins. About 40 s
/// in all.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct FleetAtRestTests {
  private let server: PostgresServer
  private let database: String

  init() async throws {
    // Autovacuum would be counted too.
    server = try await PostgresServer.begin(settings: ["autovacuum = off"])
    database = try await server.makeDatabase()
  }

  private func configure(_ home: Home) throws {
    try home.configure(
      "[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n[desktop]\nprogram = \"true\"\n"
    )
  }

  /// Each writing transaction uses up a transaction id: an idle fleet uses one per heartbeat.
  @Test(.timeLimit(.minutes(2))) func idleFleetWritesOnlyHeartbeats() async throws {
    try await Home.run { home in
      try configure(home)
      let first = try await home.start()
      let second = try await home.start(
        Machine.chimed, ["--state-dir", "\(home.path)/second", "--socket", "\(home.runtime)/second"])
      _ = try await home.add("Later", "in 2h")
      try await eventually("the shares are equal") {
        try await server.sql(
          "SELECT count(*) FROM chime.shard_lease WHERE node IS NOT NULL GROUP BY node", on: database) == "128\n128"
      }
      // Reads all heartbeat times and the next transaction id in one snapshot.
      func look() async throws -> (seen: [Substring], next: Int) {
        let parts = try await server.sql(
          "SELECT array_to_string(array_agg(seen_at ORDER BY id), ' '), pg_snapshot_xmax(pg_current_snapshot()) FROM chime.node",
          on: database
        ).split(separator: "|")
        return (parts[0].split(separator: " "), try #require(Int(parts[1])))
      }
      let begin = try await look()
      var (last, beats) = (begin, 0)
      try await eventually("they are received again and again", within: .seconds(60), every: .milliseconds(100)) {
        let found = try await look()
        beats += zip(last.seen, found.seen).count { $0 != $1 }
        last = found
        return beats >= 10
      }
      // A few more may fall in between; one write per second would be twenty.
      #expect(last.next - begin.next <= beats + 4)
      try await second.stopCleanly()
      try await first.stopCleanly()
    }
  }

  /// Counts context switches of the daemon's threads.
  @Test(.timeLimit(.minutes(3))) func idleDaemonWakesAtMostOnceASecond() async throws {
    try await Home.run { home in
      try configure(home)
      let daemon = try await home.start()
      _ = try await home.add("Later", "in 2h")
      func wakes() throws -> Int {
        let tasks = "/proc/\(daemon.process.pid)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
          let status = (try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)) ?? ""
          let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
          return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
      }
      func seen() async throws -> Int {
        try #require(Int(try await server.sql("SELECT max(seen_at) FROM chime.node", on: database)))
      }
      // Work after a start and a request is over after a few heartbeats.
      var (start, before) = (try await seen(), 0)
      try await eventually("its circuit breaker is open", within: .seconds(60)) { try await seen() >= start + 10_000 }
      (start, before) = (try await seen(), try wakes())
      var now = start
      try await eventually("a minute passes", within: .seconds(120)) {
        now = try await seen()
        return now >= start + 60_000
      }
      let count = try wakes() - before
      print("FleetAtRestTests: woke \(count) times in \(now - start) ms")
      #expect(count <= (now - start) / 1_000)
      try await daemon.stopCleanly()
    }
  }

  /// Each daemon reports on all, and on a lost one until another runs on its machine.
  @Test(.timeLimit(.minutes(2))) func eachDaemonReportsOnTheWholeFleet() async throws {
    try await Home.run { home in
      try configure(home)
      let first = try await home.start()
      let alone = try await home.mustRun("fleet")
      #expect(alone.contains("One daemon uses the store (process \(first.process.pid) on "), "\(alone)")
      let arguments = ["--state-dir", "\(home.path)/second", "--socket", "\(home.runtime)/second"]
      let second = try await home.start(Machine.chimed, arguments)
      let pids = [first, second].map { Int($0.process.pid) }
      for (place, socket) in [home.socket, "\(home.runtime)/second"].enumerated() {
        try await eventually("the shares are equal") {
          try await home.json("fleet", "--socket", socket)["fleet"]["daemons"].elements.map(\.["shards"].int) == [
            128, 128,
          ]
        }
        let fleet = try await home.json("fleet", "--socket", socket)["fleet"]
        #expect(fleet["isShared"].bool == true && fleet["unassignedShards"].int == 0 && fleet["overdue"].int == 0)
        let daemons = fleet["daemons"].elements
        #expect(daemons.map(\.["pid"].int) == pids)
        #expect(daemons.map(\.["isSelf"].bool) == [place == 0, place == 1])
        #expect(daemons.allSatisfy { $0["state"].string == "running" && ($0["heartbeatAgeMs"].int ?? 99_999) < 6_000 })
      }
      #expect(try await home.chime("status").out.contains("2 running: "))
      let metrics = try await home.mustRun("metrics")
      #expect(
        metrics.contains("chime_fleet_shards{host=") && metrics.contains("chime_fleet_daemons{state=\"running\"} 2\n"))
      try await second.crash()
      try await eventually("it is lost", within: .seconds(30)) {
        try await home.json("fleet")["fleet"]["daemons"].elements.map(\.["state"].string) == ["running", "lost"]
      }
      let another = try await home.start(Machine.chimed, arguments)
      try await eventually("another is in its place") {
        try await home.json("fleet")["fleet"]["daemons"].elements.map(\.["state"].string)
          == ["running", "replaced", "running"]
      }
      try await another.stopCleanly()
      try await first.stopCleanly()
    }
  }

  /// A reminder late while other daemons ran is not attributed to downtime.
  @Test(.timeLimit(.minutes(2))) func joiningDaemonReportsNoDowntime() async throws {
    try await Home.run { home in
      try configure(home)
      for (title, others, late) in [("Alone", 0, "downtime"), ("Beside", 1, "suspend")] {
        let before = try await home.start()
        let id = try await home.add(title, "in 1h")
        try await before.stopCleanly()
        // Other daemons that have run for an hour, with leases for another.
        try await server.sql(
          """
          INSERT INTO chime.node (name, process, version, started_at, seen_at, expires_at)
          SELECT 'elsewhere', n, '1', now.ms - 3600000, now.ms, now.ms + 3600000
          FROM generate_series(1, \(others)) n, (
            SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) now
          """, on: database)
        try await server.sql(
          "UPDATE chime.due SET next_at = (floor(extract(epoch FROM now())) - 600) * 1000 WHERE next_at > 0",
          on: database)
        let daemon = try await home.start()
        try await eventually("it fires") { try await home.record(of: id).isEmpty == false }
        #expect(try await home.record(of: id).map(\.late) == [late])
        try await daemon.stopCleanly()
      }
    }
  }
}
