import ChimeCore
import ChimeSchedule
import Foundation
import Synchronization
import Testing

@testable import ChimeStorePostgres
@testable import ChimeTestKit

/// Several daemons' stores on one database: what is due fires once, even if a daemon dies, freezes or has a wrong clock.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct FleetFiringTests {
  private struct Zones: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { nil }
  }

  private let context = ReminderContext(zones: Zones())
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  private func open() throws -> PostgresStore { try PostgresStore.open(try server.place(database)) }

  private func now() -> Instant { Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

  /// Adds daily reminders, one due every tenth of a second, the last one at `last`.
  private func fill(_ store: PostgresStore, _ count: Int, last: Instant, prefix: String = "r") async throws {
    let schedule = try Schedule(canonical: "daily at 08:00")
    for first in stride(from: 0, to: count, by: 500) {
      try await store.write { transaction in
        for number in first..<min(first + 500, count) {
          try transaction.upsert(
            Reminder(
              id: ReminderID(rawValue: "\(prefix)\(number)"), owner: 1_000, title: "\(number)", schedule: schedule,
              channels: [ChannelName(rawValue: "team")], createdAt: .earliest),
            next: last - .milliseconds(Int64(count - 1 - number) * 100))
        }
      }
    }
  }

  /// Runs one firing transaction, as a daemon does.
  private func fire(_ store: PostgresStore, limit: Int = 100, now: Instant? = nil) async throws -> (Int, NextWakeups) {
    let (context, now) = (context, now ?? self.now())
    return try await store.write { transaction in
      var generator = SeededGenerator(seed: .random(in: 0...UInt64.max))
      let work = try FireTransaction.run(
        in: transaction, limit: limit, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies(), known: [:]),
        context: context,
        uptime: Uptime(runningSince: .earliest), now: now, using: &generator)
      return (work.firings.count, try transaction.wakeups())
    }
  }

  /// Fires until nothing is due, whoever fires it.
  ///
  /// - Returns: the number that this store has fired.
  private func fireAll(_ store: PostgresStore, limit: Int = 100, now: Instant? = nil) async throws -> Int {
    var fired = 0
    while true {
      let (count, wakeups) = try await fire(store, limit: limit, now: now)
      fired += count
      guard let next = wakeups.nextDue, next <= self.now() else { return fired }
    }
  }

  /// Returns the numbers of occurrences, of distinct fired ones, of deliveries, and of future due times.
  private func counts() throws -> String {
    try server.sql(
      """
      SELECT (SELECT count(*) FROM chime.occurrence WHERE fired_at IS NOT NULL),
        (SELECT count(DISTINCT (reminder, scheduled_at)) FROM chime.occurrence WHERE state <= 1 AND rounds = 1),
        (SELECT count(*) FROM chime.delivery),
        (SELECT count(*) FROM chime.due WHERE next_at > extract(epoch FROM now()) * 1000)
      """, on: database)
  }

  /// The daemons start almost at once, and do not know each other yet.
  @Test func daemonsThatStartTogetherReportOneDowntime() async throws {
    let (stores, start) = (try (0..<4).map { _ in try open() }, now())
    try await fill(stores[0], 40, last: start - .hours(1))
    let context = context
    let told = try await withThrowingTaskGroup { group in
      for (place, store) in stores.enumerated() {
        group.addTask {
          var told = 0
          let begin = start + .milliseconds(Int64(place) * 7)
          let downtime = Downtime(after: nil, until: begin, channels: [.desktop])
          for _ in 0..<8 {
            told += try await store.write { transaction in
              var generator = SeededGenerator(seed: .random(in: 0...UInt64.max))
              return try FireTransaction.run(
                in: transaction, limit: 5, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies(), known: [:]),
                context: context,
                uptime: Uptime(runningSince: begin), downtime: downtime, now: now(), using: &generator
              ).downtimeNotices.count
            }
          }
          return told
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(told.reduce(0, +) == 1, "\(told)")
    let messages = "SELECT count(*) FROM chime.occurrence WHERE title LIKE 'Chime was down%'"
    #expect(try server.sql(messages, on: database) == "1")
    for store in stores { await store.close() }
  }

  @Test(arguments: [2, 4]) func severalStoresFireEachDueTimeOnce(daemons: Int) async throws {
    let stores = try (0..<daemons).map { _ in try open() }
    try await fill(stores[0], 4_000, last: now() - .seconds(1))
    let fired = try await withThrowingTaskGroup { group in
      for store in stores { group.addTask { try await fireAll(store) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(fired.reduce(0, +) == 4_000, "\(fired)")
    #expect(fired.count { $0 > 0 } > 1, "none of them has fired all: \(fired)")
    #expect(try counts() == "4000|4000|4000|4000")
    for store in stores { await store.close() }
  }

  /// Opens a session of a daemon that claims what is due, and then stops.
  private func claim(_ place: PostgresConfiguration, _ count: Int) throws -> (Session, [DueReminder]) {
    let session = Session(label: "test", place: place, isReadOnly: false)
    let due = try session.queue.sync {
      let transaction = try session.ready()
      _ = try transaction.connection.begin("BEGIN")
      return try transaction.claimDue(now: now(), limit: count)
    }
    return (session, due)
  }

  @Test func claimsOfALostConnectionAreReleased() async throws {
    let store = try open()
    try await fill(store, 300, last: now() - .seconds(1))
    // Longer than this test takes on a busy machine.
    var place = try server.place(database)
    place.claimTimeout = 120_000
    let (session, due) = try claim(place, 100)
    #expect(due.count == 100)
    // The others are fired meanwhile; then nothing can be claimed, although some is due.
    var fired = 0
    while fired < 200 {
      let (count, _) = try await fire(store)
      try #require(count > 0, "only \(fired) could be had")
      fired += count
    }
    let (none, wakeups) = try await fire(store)
    try #require(none == 0)
    #expect(wakeups.nextDue.map { $0 <= now() } == true)
    session.queue.sync { session.drop() }
    // The server notices with a delay.
    while fired < 300 { fired += try await fire(store).0 }
    #expect(try counts() == "300|300|300|300")
    await store.close()
  }

  /// The machine or the process freezes while firing.
  @Test(.timeLimit(.minutes(5))) func claimsOfAFrozenDaemonAreFiredOnceByOthers() async throws {
    let store = try open()
    try await fill(store, 50, last: now() - .seconds(1))
    var place = try server.place(database)
    place.claimTimeout = 3_000
    let (session, due) = try claim(place, 50)
    #expect(due.count == 50)
    var fired = 0
    while fired < 50 { fired += try await fire(store).0 }
    // Resumed, it continues where it was.
    let decision = FiringDecision(now: now(), uptime: Uptime(runningSince: .earliest))
    let context = context
    try session.queue.sync {
      let transaction = try session.ready()
      var generator = SeededGenerator(seed: .random(in: 0...UInt64.max))
      let firings = due.map {
        decision.decide($0, timetable: context.timetable(of: $0.reminder), using: &generator)
      }
      #expect(throws: StoreFailure.self) { try transaction.record(firings) }
      session.drop()
    }
    #expect(try counts() == "50|50|50|50")
    await store.close()
  }

  /// The database's clock decides, whatever the daemons' clocks show.
  @Test func clocksHoursApartFireNothingEarlyOrTwice() async throws {
    let (fast, slow) = (try open(), try open())
    try await fill(fast, 200, last: now() - .seconds(1), prefix: "past")
    try await fill(fast, 200, last: now() + .minutes(40), prefix: "future")
    let (ahead, behind) = (now() + .hours(1), now() - .hours(1))
    let fired = try await withThrowingTaskGroup { group in
      group.addTask { try await fireAll(fast, limit: 20, now: ahead) }
      group.addTask { try await fireAll(slow, limit: 20, now: behind) }
      return try await group.reduce(0, +)
    }
    #expect(fired == 200)
    #expect(try counts() == "200|200|200|400")
    #expect(
      try server.sql(
        "SELECT count(*) FROM chime.occurrence WHERE abs(fired_at - extract(epoch FROM now()) * 1000) > 60000",
        on: database) == "0")
    #expect(try await fire(slow, now: behind).0 == 0)
    await fast.close()
    await slow.close()
  }

  /// The position where claims continue is a guess: reminders added before it are found too.
  @Test func reminderAddedBeforeTheClaimCursorIsFound() async throws {
    let (store, other) = (try open(), try open())
    try await fill(store, 400, last: now() - .seconds(1))
    var fired = 0
    for round in 0..<5 {
      fired += try await fire(store, limit: 50).0
      try await fill(other, 3, last: now() - .hours(2), prefix: "early\(round)-")
    }
    fired += try await fireAll(store, limit: 50)
    #expect(fired == 415)
    #expect(try counts() == "415|415|415|415")
    await store.close()
    await other.close()
  }

  @Test func databaseTimeIsReported() async throws {
    let heard = Mutex<[StoreTime]>([])
    let store = try PostgresStore.open(try server.place(database)) { time in heard.withLock { $0.append(time) } }
    #expect(!heard.withLock { $0.isEmpty }, "before anything is asked of it")
    // On a busy machine much time may pass in between.
    let before = now() - .minutes(1)
    let times = [try await store.write { $0.time }, try await store.read { $0.time }].compactMap { $0 }
    let after = now() + .minutes(1)
    #expect(times.count == 2)
    for time in times {
      #expect(time.askedAt <= time.heardAt)
      #expect(time.instant > before && time.instant < after)
    }
    await store.close()
  }
}

/// The position where claims continue.
struct ClaimTurnTests {
  private func at(_ second: Int64) -> Instant { Instant(seconds: second) }

  @Test func fullClaimIsContinuedForASecond() {
    let turn = ClaimCursor(first: 3)
    #expect(turn.begin(2, at: 5_000) == 2)
    turn.end([(3, at(10)), (4, at(7))], limit: 2, at: 5_000)
    #expect(turn.first == 4)
    #expect(turn.floorsInTurn[0] == at(7) && turn.floorsInTurn[15] == at(10) && turn.floorsInTurn[1] == .earliest)
    _ = turn.begin(2, at: 5_999)
    #expect(!turn.isClear)
    _ = turn.begin(2, at: 6_000)
    #expect(turn.isClear)
  }

  /// A bucket may start with very many fired entries: they are skipped once per ten times the duration of the skip.
  @Test func bucketWatermarkIsKeptWhileItPays() {
    let turn = ClaimCursor(first: 0)
    _ = turn.begin(2, at: 5_000)
    turn.saw(Array(repeating: at(3), count: 16), at: 5_100)
    #expect(turn.isClear, "no claim has been full")
    turn.end([(0, at(10)), (0, at(11))], limit: 2, at: 5_000)
    turn.saw([nil, at(12)] + Array(repeating: at(13), count: 14), at: 5_400)
    #expect(turn.floorsByBucket[0] == .latest && turn.floorsByBucket[1] == at(12) && turn.floorsByBucket[15] == at(13))
    turn.lower(16, to: at(9))
    #expect(turn.floorsByBucket[0] == at(9))
    _ = turn.begin(2, at: 8_999)
    #expect(!turn.isClear, "to look for it took 0.4 s")
    _ = turn.begin(2, at: 9_000)
    #expect(turn.isClear && !turn.goesOn)
    turn.end([(0, at(10)), (0, at(11))], limit: 2, at: 9_000)
    turn.saw(Array(repeating: at(12), count: 16), at: 20_000)
    _ = turn.begin(2, at: 23_999)
    #expect(!turn.isClear)
    _ = turn.begin(2, at: 24_000)
    #expect(turn.isClear, "and no longer than 15 s")
  }

  @Test func partialClaimResetsTheCursor() {
    let turn = ClaimCursor(first: 0)
    _ = turn.begin(2, at: 5_000)
    turn.end([(0, at(10)), (0, at(11))], limit: 2, at: 5_000)
    turn.end([(0, at(12))], limit: 2, at: 5_001)
    #expect(turn.isClear)
  }

  @Test func earlierDueTimeLowersTheWatermark() {
    let turn = ClaimCursor(first: 0)
    _ = turn.begin(1, at: 5_000)
    turn.end([(5, at(10))], limit: 1, at: 5_000)
    turn.lower(16 + 5, to: at(4))
    #expect(turn.floorsByBucket[5] == at(4))
  }

  /// A claim that the server canceled for taking too long would take as long again.
  @Test func lostClaimIsFollowedBySmallerOnes() {
    let turn = ClaimCursor(first: 0)
    let full = { (count: Int) in (0..<count).map { _ in (bucket: 0, dueAt: Instant(seconds: 1)) } }
    #expect(turn.begin(500, at: 5_000) == 500)
    turn.end(full(500), limit: 500, at: 5_000)
    turn.undo(isLost: false)
    #expect(turn.begin(500, at: 5_000) == 500)
    turn.end(full(500), limit: 500, at: 5_000)
    turn.undo(isLost: true)
    #expect(turn.begin(500, at: 5_000) == 125)
    turn.end(full(125), limit: 125, at: 5_000)
    #expect(turn.begin(500, at: 5_000) == 250)
    turn.end(full(3), limit: 250, at: 5_000)
    turn.forget()
    turn.undo(isLost: true)
    #expect(turn.begin(500, at: 5_000) == 250)
  }
}
