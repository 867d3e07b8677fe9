import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import FoundationEssentials

/// Measures durable firings per second. Reminders that are all due are claimed, decided and recorded in batches as in
/// the daemon, each batch one commit.
///
/// The peers are a C program with the same statements on the same store, and one with the simplest tables. All take
/// turns, and the best turn counts, because other load only makes a turn slower.
func measureFires(_ bench: Bench) async throws {
  let count = bench.options.isQuick ? 20_000 : 100_000
  let peer = try bench.peer("fires")
  let file = bench.folder + "/chime.db"
  let copy = bench.folder + "/copy.db"
  let day = try await makeStore(file, count)
  func rate(_ output: String) throws -> Double {
    let numbers = output.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    guard numbers.count == 2, numbers[0] > 0 else { throw BenchFailure("fires said \(output)") }
    return numbers[0] / numbers[1]
  }

  var ours: [Double] = []
  var same: [Double] = []
  var plain: [Double] = []
  for _ in 0..<3 {
    for kind in ["ours", "same", "plain"] {
      for path in [copy, copy + "-wal", copy + "-shm", copy + ".lock"] { unlinkQuietly(path) }
      if kind != "plain" { try FileManager.default.copyItem(atPath: file, toPath: copy) }
      switch kind {
      case "ours": ours.append(try await fireAll(copy, count, at: day))
      case "same": same.append(try rate(Program.output(peer, [copy, "\(day.milliseconds)"])))
      default: plain.append(try rate(Program.output(peer, [copy, "0"])))
      }
    }
  }
  bench.report("fires in C, plain tables", plain.max() ?? .nan, "/s")
  bench.report("fires in C, same tables and statements", same.max() ?? .nan, "/s")
  let best = ours.max() ?? .nan
  bench.report("durable fires in the store, batches of \(Scheduler.batch)", best, "/s", beside: .limit(40_000))
  bench.report("  beside the same in C", best, "/s", beside: .peer("C, same", same.max() ?? .nan))
  bench.report("  beside plain tables in C", best, "/s", beside: .peer("C, plain", plain.max() ?? .nan))
}

/// Creates a store with `count` daily reminders, which are due at the returned time.
private func makeStore(_ path: String, _ count: Int) async throws -> Instant {
  let store = try SQLiteStore.open(path: path)
  let schedules = try (0..<60).map { try Schedule(canonical: "daily at 08:00:\($0 < 10 ? "0" : "")\($0)") }
  let created = Instant(seconds: 1_795_219_200)
  for first in stride(from: 0, to: count, by: 1_000) {
    try await store.write { transaction in
      for number in first..<min(first + 1_000, count) {
        let reminder = Reminder(
          id: ReminderID(rawValue: "b\(String(number, radix: 32))"), owner: 1_000, title: "Reminder number \(number)",
          schedule: schedules[number % 60], timezone: .named("America/New_York"),
          channels: [ChannelName(rawValue: "bench")], createdAt: created)
        // The first minute after 08:00 in New York.
        let next = Instant(seconds: 1_795_266_000 + Int64(number % 60))
        try transaction.upsert(reminder, next: next)
      }
    }
  }
  await store.close()
  return Instant(seconds: 1_795_266_000 + 59)
}

/// Fires all due reminders; returns the number per second.
private func fireAll(_ path: String, _ count: Int, at now: Instant) async throws -> Double {
  let scheduleContext = try MeasuredSchedule.scheduleContext()
  let store = try SQLiteStore.open(path: path)
  let clock = ContinuousClock()
  let begin = clock.now
  var fired = 0
  while true {
    let batch = try await store.write { transaction in
      var generator = CheapNumbers()
      let decision = FiringDecision(now: now, uptime: Uptime(runningSince: .earliest))
      let firings = try transaction.claimDue(now: now, limit: Scheduler.batch).map {
        decision.decide($0, timetable: $0.reminder.timetable(in: scheduleContext), using: &generator)
      }
      try transaction.record(firings)
      _ = try transaction.wakeups()
      return firings.count
    }
    fired += batch
    if batch < Scheduler.batch { break }
  }
  let took = begin.duration(to: clock.now)
  guard fired == count else { throw BenchFailure("\(fired) of \(count) fired") }
  await store.close()
  return Double(count) / (took / .seconds(1))
}

private func unlinkQuietly(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

/// Random numbers as cheap as those that chimed draws from its pool, instead of one system call each (SplitMix64;
/// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct CheapNumbers: RandomNumberGenerator {
  private var state = UInt64.random(in: .min ... .max)

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}
