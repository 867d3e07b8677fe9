import Foundation
import Testing

/// Several daemons on one database: each time fires once, by the database's clock, even if a daemon is killed, stopped,
/// or has a wrong clock. About 40 s in all.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct FleetFiringTests {
  private let server: PostgresServer
  private let database: String

  init() async throws {
    server = try await PostgresServer.begin()
    database = try await server.makeDatabase()
  }

  private func configure(_ home: Home) throws {
    try home.configure(
      "[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n[desktop]\nprogram = \"true\"\n"
    )
  }

  /// Starts another daemon, with its own folder and socket.
  private func startAnother(
    _ home: Home, _ name: String, environment: [String: String] = [:]
  ) async throws -> Daemon {
    try await home.start(
      Machine.chimed, ["--state-dir", "\(home.path)/\(name)", "--socket", "\(home.runtime)/\(name)"],
      environment: environment)
  }

  /// Copies `model` `count` times, due in so many seconds by the database's clock, without notifying any daemon.
  private func copy(_ model: String, _ count: Int, inSeconds wait: Int) async throws {
    try await server.sql(
      """
      WITH model AS (SELECT r.* FROM chime.reminder r JOIN chime.reminder_name a ON a.key = r.key WHERE a.id = '\(model)'),
      made AS (INSERT INTO chime.reminder_name (id) SELECT 'copy' || n FROM generate_series(1, \(count)) n RETURNING key),
      copied AS (
        INSERT INTO chime.reminder (key, owner, generation, created_at, skip_next, zone, schedule, title, definition)
        SELECT made.key, owner, 1, created_at, 0, zone, schedule, title, definition FROM made, model RETURNING key)
      INSERT INTO chime.due (reminder, snooze_of, next_at)
      SELECT key, -1, (floor(extract(epoch FROM now())) + \(wait)) * 1000 FROM copied
      """, on: database)
  }

  /// Returns the numbers of fired reminders, occurrences, deliveries, and early firings.
  private func fired() async throws -> String {
    try await server.sql(
      """
      SELECT (SELECT count(DISTINCT (reminder, scheduled_at)) FROM chime.occurrence WHERE fired_at IS NOT NULL),
        (SELECT coalesce(sum(rounds), 0) FROM chime.occurrence WHERE fired_at IS NOT NULL),
        (SELECT count(*) FROM chime.delivery),
        (SELECT count(*) FROM chime.occurrence WHERE fired_at < scheduled_at)
      """, on: database)
  }

  @Test(.timeLimit(.minutes(2))) func eachTimeFiresOnceThoughDaemonsAreKilled() async throws {
    try await Home.run { home in
      try configure(home)
      let first = try await home.start()
      let others = [try await startAnother(home, "second"), try await startAnother(home, "third")]
      let model = try await home.add("Model", "in 1h")
      try await copy(model, 2_000, inSeconds: 2)
      // During the firing, if this is fast enough.
      try await eventually("the first fire") { try await fired().hasPrefix("0|") == false }
      for other in others { try await other.crash() }
      try await eventually("all fire", within: .seconds(60), every: .milliseconds(200)) {
        try await fired() == "2000|2000|2000|0"
      }
      try await first.stopCleanly()
    }
  }

  /// A stopped daemon may hold claims: the server returns them to the others.
  @Test(.timeLimit(.minutes(2))) func claimsOfAFrozenDaemonAreFiredOnceByOthers() async throws {
    try await Home.run { home in
      try configure(home)
      let first = try await home.start()
      let frozen = try await startAnother(home, "second")
      let model = try await home.add("Model", "in 1h")
      try await copy(model, 2_000, inSeconds: 2)
      try await eventually("the first fire") { try await fired().hasPrefix("0|") == false }
      frozen.process.send(SIGSTOP)
      // If it stops while the server sends its claims, which exceed the socket buffer, the server process blocks.
      // Another daemon terminates that process when the lease expires.
      try await eventually("all fire", within: .seconds(60), every: .milliseconds(200)) {
        try await fired() == "2000|2000|2000|0"
      }
      let node = try await server.sql(
        "SELECT max(id) FROM chime.node WHERE process = \(frozen.process.pid)", on: database)
      try await eventually("its sessions are over", within: .seconds(60), every: .milliseconds(200)) {
        try await server.sql(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'chimed \(node), %'", on: database) == "0"
      }
      try await eventually("the other reports that") {
        first.process.errors.contains("(process \(frozen.process.pid)) has expired")
      }
      frozen.process.send(SIGCONT)
      try await eventually("it knows the outcome") {
        frozen.process.errors.contains("this daemon sent the database no heartbeat for")
      }
      // The stopped daemon continues, now alone. The copies fire once more, at the model's time.
      try await first.stopCleanly()
      try await server.sql("UPDATE chime.due SET next_at = next_at - 3600000 WHERE next_at < \(soon)", on: database)
      try await eventually("it fires the rest", within: .seconds(60), every: .milliseconds(200)) {
        try await fired() == "4001|4001|4001|0"
      }
      try await frozen.stopCleanly()
    }
  }

  /// An hour and a half from now: only the model is due before.
  private var soon: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) + 5_400_000 }

  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("cc"), "needs cc"))
  func daemonsWithClocksHoursApartFireOnTime() async throws {
    try await Home.run { home in
      try configure(home)
      let library = home.path + "/other-clock.so"
      let made = try await home.run(
        "cc", ["-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library, Machine.support("other-clock.c")])
      try #require(made.status == 0, "\(made.text)")
      func clock(_ name: String, ahead seconds: Int) throws -> [String: String] {
        try home.write("\(seconds)\n", to: "\(home.path)/\(name)-clock")
        return ["LD_PRELOAD": library, "OTHER_CLOCK": "\(home.path)/\(name)-clock"]
      }
      // None of them knows the time.
      let fast = try await home.start(environment: try clock("fast", ahead: 3_600))
      let slow = try await startAnother(home, "slow", environment: try clock("slow", ahead: -3_600))
      let model = try await home.add("Model", "in 1s")
      try await copy(model, 50, inSeconds: 3)
      try await eventually("all fire", within: .seconds(40), every: .milliseconds(200)) {
        try await fired() == "51|51|51|0"
      }
      let later = try await home.add("Later", "in 30m")
      // Clock steps by hours in a running daemon change nothing.
      for (seconds, count) in [(-7_200, 52), (7_200, 53)] {
        _ = try clock("fast", ahead: seconds)
        fast.process.send(SIGCONT)
        _ = try await home.add("Soon", "in 1s")
        try await eventually("it fires") { try await fired() == "\(count)|\(count)|\(count)|0" }
      }
      #expect(try await home.record(of: later).isEmpty)
      // Only the slow daemon. It takes over what the fast one has left, and then looks at the database once a minute, so the
      // time moves before that.
      try await server.sql(
        "UPDATE chime.due SET next_at = (floor(extract(epoch FROM now())) + 8) * 1000 WHERE next_at < \(soon)",
        on: database)
      try await fast.stopCleanly()
      try await eventually("it fires", within: .seconds(60)) { try await fired() == "54|54|54|0" }
      #expect(
        try await server.sql(
          """
          SELECT count(*) FROM chime.occurrence
          WHERE fired_at - scheduled_at > 30000 OR abs(fired_at - extract(epoch FROM now()) * 1000) > 90000
          """, on: database) == "0")
      try await slow.stopCleanly()
    }
  }
}
