import ChimeCore
import ChimeSchedule
import ChimeStorePostgres
import FoundationEssentials
import Glibc

/// The first minute after 08:00 in New York.
private let first: Int64 = 1_795_266_000_000
/// Returns a time at which all reminders of a minute are due.
private func end(ofMinute minute: Int) -> Instant { Instant(milliseconds: first + Int64(minute) * 60_000 + 59_000) }

/// Measures durable firings per second in PostgreSQL with the stores of several daemons at once. Reminders that are all
/// due are claimed, decided and recorded in batches, each batch one commit.
///
/// The peer is a plain libpq program with the same statements on the same tables. Both take turns, and the median counts.
func measureFleetFires(_ bench: Bench) async throws {
  let cluster = try Cluster(bench)
  let run = FleetRun(cluster: cluster, peer: try bench.peer("postgres_fires"))
  let count = bench.options.isQuick ? 20_000 : 100_000
  try await cluster.makeStore("filled", count, first: first)
  for connections in [1, 2, 4] {
    var ours: [FleetRun.Turn] = []
    var theirs: [FleetRun.Turn] = []
    for _ in 0..<(bench.options.isQuick ? 1 : 5) {
      try cluster.copy("filled", to: "turn")
      theirs.append(try run.peer(count, connections))
      try cluster.copy("filled", to: "turn")
      ours.append(try await run.ours(count, connections))
    }
    report(bench, "fires in PostgreSQL, \(connections) connection\(connections == 1 ? "" : "s")", ours, theirs)
  }
  try cluster.sql("DROP DATABASE turn", on: "postgres")
  try cluster.sql("DROP DATABASE filled", on: "postgres")

  // 10,000,000 reminders take a quarter of an hour.
  let many =
    ProcessInfo.processInfo.environment["CHIME_BENCH_DUE"].flatMap { Int($0) }
    ?? (bench.options.isQuick ? 100_000 : 1_000_000)
  try await cluster.makeStore("filled", many, first: first)
  let amount = Figure.number(Double(many))
  var ours: [FleetRun.Turn] = []
  var held: [FleetRun.Turn] = []
  var theirs: [FleetRun.Turn] = []
  for _ in 0..<(bench.options.isQuick || many > 1_000_000 ? 1 : 3) {
    try cluster.copy("filled", to: "turn")
    theirs.append(try run.peer(many, 2))
    try cluster.copy("filled", to: "turn")
    ours.append(try await run.ours(many, 2))
    try cluster.copy("filled", to: "turn")
    let snapshot = try cluster.oldSnapshot("turn")
    held.append(try await run.ours(many, 2))
    try cluster.end(snapshot)
  }
  report(bench, "\(amount) due, 2 connections", ours, theirs)
  reportHeld(bench, held, ours)
  try cluster.sql("DROP DATABASE turn", on: "postgres")
  try cluster.sql("DROP DATABASE filled", on: "postgres")

  // Creating 10,000,000 reminders takes some minutes and 10 GB.
  if let many = ProcessInfo.processInfo.environment["CHIME_BENCH_HELD"].flatMap({ Int($0) }) {
    // Each second gets the same number of reminders.
    try await measureMany(bench, run, many - many % 3_000)
  }
}

/// Fires a fiftieth of very many reminders in each turn: those of one minute.
private func measureMany(_ bench: Bench, _ run: FleetRun, _ many: Int) async throws {
  let minutes = 50
  try await run.cluster.makeStore("turn", many, first: first, minutes: minutes)
  try run.cluster.sql("CHECKPOINT", on: "postgres")
  var ours: [FleetRun.Turn] = []
  var held: [FleetRun.Turn] = []
  var theirs: [FleetRun.Turn] = []
  for turn in 0..<5 {
    let snapshot = try run.cluster.oldSnapshot("turn")
    held.append(try await run.ours(many / minutes, 2, minute: turn * 3))
    try run.cluster.end(snapshot)
    theirs.append(try run.peer(many / minutes, 2, minute: turn * 3 + 1))
    ours.append(try await run.ours(many / minutes, 2, minute: turn * 3 + 2))
  }
  let (all, due) = (Figure.number(Double(many)), Figure.number(Double(many / minutes)))
  report(bench, "of \(all) in the store \(due) due, 2 connections", ours, theirs)
  reportHeld(bench, held, ours)
  try run.cluster.sql("DROP DATABASE turn", on: "postgres")
}

private func reportHeld(_ bench: Bench, _ held: [FleetRun.Turn], _ ours: [FleetRun.Turn]) {
  bench.report(
    "  while an old snapshot is held open", Series(held.map(\.rate)).median, "/s",
    beside: .peer("without", Series(ours.map(\.rate)).median))
}

private func report(_ bench: Bench, _ name: String, _ ours: [FleetRun.Turn], _ theirs: [FleetRun.Turn]) {
  let peer = Series(theirs.map(\.rate)).median
  bench.report("\(name), libpq in C", peer, "/s")
  let rate = Series(ours.map(\.rate)).median
  bench.report(name, rate, "/s", beside: .peer("C", peer))
  bench.report("  beside the limit", rate, "/s", beside: .limit(40_000))
  bench.report(
    "  processor time of both sides, a fire", Series(ours.map(\.cost)).median, "µs",
    beside: .peer("C", Series(theirs.map(\.cost)).median))
  bench.report(
    "  of it chimed's side", Series(ours.map(\.ownCost)).median, "µs",
    beside: .peer("C", Series(theirs.map(\.ownCost)).median))
}

/// Turns that fire all due reminders in the database `turn`.
private struct FleetRun {
  let cluster: Cluster
  let peer: String

  struct Turn {
    /// Firings per second.
    var rate: Double
    /// Processor time per firing, in microseconds, of client and server together. Other load changes it less than the rate.
    var cost: Double
    /// Processor time per firing of the client alone.
    var ownCost: Double
  }

  func peer(_ count: Int, _ connections: Int, minute: Int = 0) throws -> Turn {
    let (before, now) = ((cluster.processorSeconds, processorSeconds(RUSAGE_CHILDREN)), end(ofMinute: minute))
    let text = try Program.output(peer, [cluster.connection("turn"), "\(now.milliseconds)", "\(connections)"])
    let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    guard numbers.count == 2, numbers[0] == Double(count) else { throw BenchFailure("postgres_fires said \(text)") }
    let own = processorSeconds(RUSAGE_CHILDREN) - before.1
    return turn(count, seconds: numbers[1], server: cluster.processorSeconds - before.0, own: own)
  }

  func ours(_ count: Int, _ connections: Int, minute: Int = 0) async throws -> Turn {
    let now = end(ofMinute: minute)
    var stores: [PostgresStore] = []
    for _ in 0..<connections { stores.append(try PostgresStore.open(cluster.place("turn"))) }
    let scheduleContext = try MeasuredSchedule.scheduleContext()
    let before = (cluster.processorSeconds, processorSeconds(RUSAGE_SELF))
    let clock = ContinuousClock()
    let begin = clock.now
    let fired = try await withThrowingTaskGroup { group in
      for store in stores { group.addTask { try await fireAll(store, scheduleContext, now: now) } }
      return try await group.reduce(0, +)
    }
    let took = begin.duration(to: clock.now)
    let after = (cluster.processorSeconds, processorSeconds(RUSAGE_SELF))
    for store in stores { await store.close() }
    guard fired == count else { throw BenchFailure("\(fired) of \(count) fired") }
    let since = "scheduled_at BETWEEN \(now.milliseconds - 59_000) AND \(now.milliseconds)"
    let kept = try cluster.sql(
      """
      SELECT count(*) || ' ' || (SELECT count(*) FROM chime.delivery WHERE \(since)) FROM chime.occurrence WHERE \(since)
      """, on: "turn")
    guard kept == "\(count) \(count)" else { throw BenchFailure("\(kept) are recorded of \(count)") }
    return turn(count, seconds: took / .seconds(1), server: after.0 - before.0, own: after.1 - before.1)
  }

  private func turn(_ count: Int, seconds: Double, server: Double, own: Double) -> Turn {
    let count = Double(count)
    return Turn(rate: count / seconds, cost: (server + own) / count * 1_000_000, ownCost: own / count * 1_000_000)
  }
}

/// Fires due reminders as a daemon does until none is left; returns their number.
private func fireAll(_ store: PostgresStore, _ scheduleContext: ScheduleContext, now: Instant) async throws -> Int {
  var fired = 0
  while true {
    let (batch, isOver) = try await store.write { transaction in
      var generator = CheapNumbers()
      let decision = FiringDecision(now: now, uptime: Uptime(runningSince: .earliest))
      let firings = try transaction.claimDue(now: now, limit: Scheduler.batch).map {
        decision.decide($0, timetable: $0.reminder.timetable(in: scheduleContext), using: &generator)
      }
      try transaction.record(firings)
      let wakeups = try transaction.wakeups()
      return (firings.count, wakeups.nextDue.map { $0 > now } ?? true)
    }
    fired += batch
    if isOver { return fired }
    // Others have locked the rest.
    if batch == 0 { try await Task.sleep(for: .milliseconds(1)) }
  }
}

/// Returns the processor time of this process or of its ended children, in seconds.
private func processorSeconds(_ whose: __rusage_who) -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(whose.rawValue), &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
