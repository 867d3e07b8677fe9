import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import Glibc

/// Measures the file size of firings and webhooks: pages written to the log per commit, singly and for 500 together;
/// and bytes per occurrence with its delivery and attempt, after 10,000 occurrences of 1,000 reminders.
func measureStoreSize(_ bench: Bench) async throws {
  let (count, days) = (1_000, 10)
  let path = bench.folder + "/chime.db"
  func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  var store = try SQLiteStore.open(path: path)
  let first = Instant(seconds: 1_795_266_000)
  let schedules = try (0..<60).map { try Schedule(canonical: "daily at 08:00:\($0 < 10 ? "0" : "")\($0)") }
  try await store.write { transaction in
    for number in 0..<count {
      let reminder = Reminder(
        id: ReminderID(rawValue: "b\(String(number, radix: 32))"), owner: 1_000, title: "Reminder number \(number)",
        schedule: schedules[number % 60], timezone: .named("America/New_York"),
        channels: [ChannelName(rawValue: "bench")], createdAt: first - .days(1))
      try transaction.upsert(reminder, next: first + .milliseconds(Int64(number % 60) * 1_000))
    }
  }
  await store.close()
  let empty = size(path)

  let scheduleContext = try MeasuredSchedule.scheduleContext()
  let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "bench"))
  /// Fires up to `limit` due reminders.
  func fire(_ limit: Int, at now: Instant) async throws -> Int {
    try await store.write { transaction in
      var generator = CheapNumbers()
      let decision = FiringDecision(now: now, uptime: Uptime(runningSince: .earliest))
      let firings = try transaction.claimDue(now: now, limit: limit).map {
        decision.decide($0, timetable: $0.reminder.timetable(in: scheduleContext), using: &generator)
      }
      try transaction.record(firings)
      return firings.count
    }
  }
  func send(_ limit: Int, at now: Instant) async throws -> Int {
    let messages = try await store.write {
      try $0.claimDeliveries(queue: queue, now: now, visibleAgain: now + .minutes(1), limit: limit)
    }
    try await store.write { transaction in
      for message in messages {
        let attempt = Attempt(
          number: 1, startedAt: now, took: .milliseconds(12), outcome: .delivered, status: 200)
        try transaction.acknowledge(
          message.delivery.id, attempt: attempt, state: .delivered(at: now + .milliseconds(12)))
      }
    }
    return messages.count
  }

  store = try SQLiteStore.open(path: path)
  for day in 0..<Int64(days) {
    let now = first + .days(day) + .minutes(1)
    while try await fire(500, at: now) > 0 {}
    while try await send(500, at: now) > 0 {}
  }
  await store.close()
  bench.report(
    "a time that has come, its delivery and its attempt", Double(size(path) - empty) / Double(count * days), "bytes")

  /// Returns the pages that `body` has written to the new log.
  func pages(_ body: () async throws -> Int) async throws -> Double {
    let before = size(path + "-wal")
    let times = try await body()
    guard times > 0 else { throw BenchFailure("nothing was due") }
    return Double(size(path + "-wal") - before) / 4_120 / Double(times)
  }
  let now = first + .days(Int64(days)) + .minutes(1)
  func alone(_ body: () async throws -> Int) async throws -> Int {
    var times = 0
    for _ in 0..<100 { times += try await body() }
    return times
  }
  store = try SQLiteStore.open(path: path)
  bench.report("pages written for a fire alone", try await pages { try await alone { try await fire(1, at: now) } }, "")
  bench.report("  for a webhook alone", try await pages { try await alone { try await send(1, at: now) } }, "")
  await store.close()
  store = try SQLiteStore.open(path: path)
  bench.report("  for a fire of 500 in one commit", try await pages { try await fire(500, at: now) }, "")
  bench.report("  for a webhook of 500 in two commits", try await pages { try await send(500, at: now) }, "")
  await store.close()
}
