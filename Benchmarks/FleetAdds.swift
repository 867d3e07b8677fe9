import ChimeControl
import FoundationEssentials
import Glibc

/// Measures reminders added per second by a daemon with PostgreSQL and by one with a file, singly and by hundreds per
/// request. The peer is procrastinate, a job queue in Python, in a database of the same server.
func measureFleetAdds(_ bench: Bench) async throws {
  let load = Load(bench: bench, seconds: bench.options.isQuick ? 1 : 4)
  let cluster = try Cluster(bench)
  let perCall = 500
  let draft = #"{"title":"Drink water","when":"every 90m from 8:00 to 22:00"}"#
  let one = #"{"method":"\#(RemindersInterface.Add.method)","parameters":{"reminder":\#(draft)}}"#
  let drafts = Array(repeating: draft, count: perCall).joined(separator: ",")
  let many = #"{"method":"\#(RemindersInterface.AddMany.method)","parameters":{"reminders":[\#(drafts)]}}"#

  try cluster.sql("CREATE DATABASE adds TEMPLATE template0", on: "postgres")
  let stores = [
    ("PostgreSQL", "[store]\nengine = \"postgres\"\nconnection = \"\(cluster.connection("adds"))\"\n"), ("a file", ""),
  ]
  var rates: [String: Double] = [:]
  for (number, (name, configuration)) in stores.enumerated() {
    let folder = bench.folder + "/daemon\(number)"
    mkdir(folder, 0o700)
    let daemon = try MeasuredDaemon(program: bench.program("chimed"), folder: folder, configuration: configuration)
    for connections in [1, 16] {
      let result = try load.run(daemon.socket, connections, one)
      bench.report("Add, \(name), \(connections) conn.", result.rate, "/s")
      bench.report("  round trip p99", result.p99, "ms")
      rates["\(name) \(connections)"] = result.rate
    }
    for connections in [1, 4] {
      let result = try load.run(daemon.socket, connections, many)
      bench.report(
        "AddMany of \(perCall), \(name), \(connections) conn.", result.rate * Double(perCall), "/s",
        beside: .peer("Add, 16", rates["\(name) 16"] ?? .nan))
      bench.report("  round trip p99", result.p99, "ms")
      rates["\(name) many"] = max(rates["\(name) many"] ?? 0, result.rate * Double(perCall))
    }
    daemon.stop()
  }

  let python = bench.programs + "/peers/venv/bin/python"
  guard access(python, X_OK) == 0 else { return complain("procrastinate cannot be had here") }
  try cluster.sql("CREATE DATABASE jobs TEMPLATE template0", on: "postgres")
  let text = try Program.output(
    python,
    [
      bench.programs + "/peers/procrastinate_jobs.py", cluster.connection("jobs"),
      bench.options.isQuick ? "500" : "1000",
    ])
  let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
  guard numbers.count == 3 else { throw BenchFailure("procrastinate_jobs said \(text)") }
  bench.report("procrastinate: jobs deferred one by one", numbers[0], "/s")
  bench.report(
    "  Add, PostgreSQL, 1 conn.", rates["PostgreSQL 1"] ?? .nan, "/s", beside: .peer("procrastinate", numbers[0]))
  bench.report("procrastinate: jobs deferred in batches of 500", numbers[1], "/s")
  bench.report(
    "  AddMany, PostgreSQL", rates["PostgreSQL many"] ?? .nan, "/s", beside: .peer("procrastinate", numbers[1]))
  bench.report("procrastinate: jobs fetched, run and finished", numbers[2], "/s")
}

/// Measures a spike: 500 reminders per second over 20 seconds, and 10,000 more in one of them, fired by two daemons. A
/// reminder counts as fired when its transaction has committed (track_commit_timestamp).
func measureFleetSpike(_ bench: Bench) throws {
  let mean = bench.options.isQuick ? 100 : 500
  let spike = mean * 20
  let seconds = 20
  let cluster = try Cluster(bench, more: ["track_commit_timestamp=on"])
  try cluster.sql("CREATE DATABASE spike TEMPLATE template0", on: "postgres")
  var daemons: [MeasuredDaemon] = []
  for number in 0..<2 {
    let folder = bench.folder + "/daemon\(number)"
    mkdir(folder, 0o700)
    daemons.append(
      try MeasuredDaemon(
        program: bench.program("chimed"), folder: folder,
        configuration: "[store]\nengine = \"postgres\"\nconnection = \"\(cluster.connection("spike"))\"\n"))
  }
  let start = wallClock() / 1_000_000 + 6
  // Their schedules recur tomorrow; the rows in `due` define the first times.
  try cluster.sql(
    """
    SET search_path = chime;
    INSERT INTO reminder_name (id) SELECT 's' || number FROM generate_series(1, \(mean * seconds + spike)) number;
    INSERT INTO reminder (key, owner, generation, created_at, skip_next, zone, schedule, title, definition)
    SELECT key, \(getuid()), 1, 1795219200000, 0, 'UTC', 'daily at 08:00', 'Reminder number ' || key,
      '{"channels":["bench"]}' FROM reminder_name;
    INSERT INTO due (reminder, snooze_of, next_at)
    SELECT key, -1, \(start * 1_000) + CASE WHEN number <= \(mean * seconds)
      THEN number / \(mean) * 1000 + number % \(mean) * 1000 / \(mean) ELSE \(seconds / 2) * 1000 END
    FROM (SELECT key, row_number() OVER (ORDER BY key) - 1 AS number FROM reminder_name) a;
    ANALYZE
    """, on: "spike")
  guard wallClock() < (start - 1) * 1_000_000 else { throw BenchFailure("the reminders took too long to make") }
  pause(until: start + Int64(seconds) + 5)
  let lateness = """
    SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 - scheduled_at AS late, scheduled_at
    FROM chime.occurrence WHERE scheduled_at >= \(start * 1_000)
    """
  let spikeAt = (start + Int64(seconds / 2)) * 1_000
  for (name, condition) in [
    ("the spike", "scheduled_at = \(spikeAt)"), ("all others", "scheduled_at <> \(spikeAt)"),
  ] {
    let text = try cluster.sql(
      """
      SELECT count(*), percentile_disc(ARRAY[0.5, 0.99, 1]) WITHIN GROUP (ORDER BY late)
      FROM (\(lateness)) l WHERE \(condition)
      """, on: "spike")
    let numbers = text.split { "|{},".contains($0) }.compactMap { Double($0) }
    guard numbers.count == 4 else { throw BenchFailure("psql said \(text)") }
    bench.report("\(name): committed", numbers[0], "")
    bench.report("  lateness p50", numbers[1], "ms")
    bench.report("  lateness p99", numbers[2], "ms", beside: .limit(1_000))
    bench.report("  lateness max", numbers[3], "ms")
  }
}
