import ChimeCore
import ChimeSchedule
import Foundation
import Synchronization
import Testing

@testable import ChimeStorePostgres
@testable import ChimeTestKit

/// Several stores on one database: which one processes which queue, and what happens to a lost one's shards.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct LeaseTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  private let again = at(90)

  private func open() throws -> PostgresStore { try PostgresStore.open(try server.place(database)) }

  private func node(_ store: PostgresStore) throws -> Int64 {
    try #require(store.membership.leases.current.node)
  }

  /// Returns the number of shards of each daemon, in the order of their arrival.
  private func shares() throws -> String {
    try server.sql(
      """
      SELECT string_agg(n::text, ' ' ORDER BY node) FROM (
        SELECT node, count(*) AS n FROM chime.shard_lease GROUP BY node) s
      """, on: database)
  }

  /// Waits for a background change by the fleet's threads.
  private func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try await !holds() {
      guard ContinuousClock.now < end else {
        Issue.record("not within two minutes: \(what); the shares are \(try shares())")
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Fires a reminder for each queue.
  private func fill(_ store: PostgresStore, _ queues: [DeliveryQueue]) async throws {
    try await store.write { transaction in
      for (number, queue) in queues.enumerated() { try transaction.addFired("r\(number)", queues: [queue]) }
    }
  }

  private func queues(_ count: Int) -> [DeliveryQueue] {
    (0..<count).map { DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "hook\($0)")) }
  }

  @Test func singleDaemonHasAllShardsFromTheStart() async throws {
    let store = try open()
    #expect(try shares() == "256")
    #expect(store.holdsQueues)
    try await fill(store, queues(3))
    #expect(try await store.read { try $0.wakeups().outbox.count } == 3)
    await store.close()
    #expect(try server.sql("SELECT count(*) FROM chime.node", on: database) == "0")
    #expect(try server.sql("SELECT count(node) FROM chime.shard_lease", on: database) == "0")
  }

  @Test func sharesStayEvenAsDaemonsComeAndGo() async throws {
    let first = try open()
    let second = try open()
    try await eventually("two have half each") { try shares() == "128 128" }
    let third = try open()
    try await eventually("three have a third each") { try shares() == "86 85 85" }
    await first.close()
    try await eventually("two have half each again") { try shares() == "128 128" }
    await second.close()
    try await eventually("the last has all") { try shares() == "256" }
    await third.close()
  }

  @Test func eachQueueHasOneOwner() async throws {
    let again = again
    let (first, second) = (try open(), try open())
    try await eventually("two have half each") { try shares() == "128 128" }
    let queues = queues(200)
    try await fill(first, queues)
    let seen = [
      try await first.read { try Set($0.wakeups().outbox.keys) },
      try await second.read { try Set($0.wakeups().outbox.keys) },
    ]
    #expect(seen[0].isDisjoint(with: seen[1]) && seen[0].union(seen[1]) == Set(queues))
    #expect(seen.allSatisfy { $0.count > 50 })
    for (store, own) in zip([first, second], seen) {
      let claimed = try await store.write { transaction in
        try queues.flatMap { queue in
          try transaction.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 9).map(
            \.delivery.queue)
        }
      }
      #expect(Set(claimed) == own && claimed.count == own.count)
    }
    await first.close()
    await second.close()
  }

  /// The server was lost after it committed an attempt's outcome, but before it replied.
  @Test func repeatedOutcomeIsRecordedOnce() async throws {
    let store = try open()
    let (queue, again) = (queues(1)[0], again)
    try await fill(store, [queue])
    let claimed = try await store.write {
      try $0.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 1)[0].delivery.id
    }
    let states: [(Attempt.Outcome, Delivery.State)] = [
      (.failed, .waiting(until: at(30))), (.delivered, .delivered(at: at(31))),
    ]
    for (number, (outcome, state)) in states.enumerated() {
      let attempt = Attempt(
        number: number + 1, startedAt: at(20 + Int64(number) * 10), took: .seconds(1), outcome: outcome, status: nil,
        answer: nil, error: nil)
      for _ in 0..<2 { try await store.write { try $0.acknowledge(claimed, attempt: attempt, state: state) } }
      let (delivery, attempts) = try await store.read { (try $0.delivery(claimed), try $0.attempts(of: claimed)) }
      #expect(delivery?.state == state && delivery?.attempts == number + 1)
      #expect(attempts.map(\.number) == Array(1...(number + 1)))
    }
    await store.close()
  }

  /// A daemon was frozen while another took over: the outcome of its attempt is refused, and nothing is recorded twice.
  @Test func outcomeOfTheFormerOwnerIsRefused() async throws {
    let again = again
    let (first, second) = (try open(), try open())
    try await eventually("two have half each") { try shares() == "128 128" }
    // The first daemon has kept every second shard, including that of the second queue.
    let queue = queues(2)[1]
    try await fill(first, queues(2))
    let claimed = try await first.write {
      try $0.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 1)[0].delivery.id
    }
    try server.sql(
      "UPDATE chime.shard_lease SET node = \(try node(second)), epoch = epoch + 1 WHERE shard = 2", on: database)
    let repeated = try await second.write { transaction in
      try transaction.releaseFormerClaims()
      return try transaction.claimDeliveries(queue: queue, now: at(21), visibleAgain: again, limit: 1).map(
        \.delivery.id)
    }
    #expect(repeated == [claimed], "under the same id")

    let attempt = Attempt(
      number: 1, startedAt: at(20), took: .seconds(1), outcome: .delivered, status: 204, answer: nil, error: nil)
    await #expect(throws: StoreFailure.takenOver) {
      try await first.write { try $0.acknowledge(claimed, attempt: attempt, state: .delivered(at: at(21))) }
    }
    // Nor can it release the other's claim.
    try await first.write { try $0.release([claimed], now: .latest) }
    #expect(
      try await second.write {
        try $0.claimDeliveries(queue: queue, now: at(22), visibleAgain: again, limit: 1).isEmpty
      })
    try await second.write { try $0.acknowledge(claimed, attempt: attempt, state: .delivered(at: at(23))) }
    // Not even when it gets the queue back.
    try server.sql(
      "UPDATE chime.shard_lease SET node = \(try node(first)), epoch = epoch + 1 WHERE shard = 2", on: database)
    await #expect(throws: StoreFailure.takenOver) {
      try await first.write { try $0.acknowledge(claimed, attempt: attempt, state: .dead(at: at(24))) }
    }
    let (delivery, attempts) = try await first.read { (try $0.delivery(claimed), try $0.attempts(of: claimed)) }
    #expect(delivery?.state == .delivered(at: at(23)))
    #expect(attempts.count == 1)
    await first.close()
    await second.close()
  }

  /// Ten minutes from now, by the database's clock, which is the machine's.
  private var soon: Instant { Instant(seconds: Int64(Date().timeIntervalSince1970) + 600) }

  /// A daemon that checks whether a shard can be handed over locks it for a moment: claims in it stay valid, and
  /// outcomes are recorded.
  @Test func outcomeWaitsForALockedShard() async throws {
    let soon = soon
    let store = try open()
    let queue = queues(1)[0]
    try await fill(store, [queue])
    let claimed = try await store.write {
      try $0.claimDeliveries(queue: queue, now: at(20), visibleAgain: soon, limit: 1)[0].delivery.id
    }
    // The lock is released as soon as somebody waits, however busy the machine is.
    let holding = """
      DO $$ BEGIN
        PERFORM FROM chime.shard_lease WHERE shard = 1 FOR UPDATE;
        FOR turn IN 1..12000 LOOP
          PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
          IF EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') THEN
            RETURN;
          END IF;
        END LOOP;
        RAISE EXCEPTION 'nobody waited';
      END $$
      """
    let held = Task { [server, database] in
      try await withCheckedThrowingContinuation { done in
        Thread.detachNewThread { done.resume(with: Result { _ = try server.sql(holding, on: database) }) }
      }
    }
    try await eventually("it is locked") {
      try server.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
        on: database) == "1"
    }
    let attempt = Attempt(
      number: 1, startedAt: at(20), took: .seconds(1), outcome: .delivered, status: 204, answer: nil, error: nil)
    try await store.write { try $0.acknowledge(claimed, attempt: attempt, state: .delivered(at: at(21))) }
    try await held.value
    #expect(try await store.read { try $0.delivery(claimed)?.state } == .delivered(at: at(21)))
    await store.close()
  }

  /// A claim without an outcome delays the handover of a shard only while it hides its delivery.
  @Test func expiredClaimDoesNotDelayAHandover() async throws {
    let again = again
    let first = try open()
    let queue = queues(1)[0]
    try await fill(first, [queue])
    let claimed = try await first.write {
      try $0.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 1).count
    }
    #expect(claimed == 1)
    let second = try open()
    let moved = "SELECT count(*) FROM chime.shard_lease WHERE node = \(try node(second))"
    try await eventually("it has moved") { try server.sql(moved, on: database) == "128" }
    let lost = try await second.write { transaction in
      try transaction.releaseFormerClaims()
      return try transaction.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 1).count
    }
    #expect(lost == 1, "the second has every second part, that of the first queue among them")
    await first.close()
    await second.close()
  }

  /// A queue changes its owner between two attempts, never during one.
  @Test func attemptEndsAtTheDaemonThatStartedIt() async throws {
    let again = soon
    let first = try open()
    let queues = queues(200)
    try await fill(first, queues)
    // In the half that the second daemon will get.
    let claimed = try await first.write {
      try $0.claimDeliveries(queue: queues[198], now: at(20), visibleAgain: again, limit: 1)[0].delivery.id
    }
    let heard = Mutex<Set<DeliveryQueue>>([])
    first.listen { event in
      if case .leave(let queues) = event { heard.withLock { $0.formUnion(queues) } }
    }
    let second = try open()
    try await eventually("all but one have moved") { try shares() == "129 127" }
    #expect(heard.withLock { $0 }.contains(queues[198]), "its loop gives back what it holds")
    #expect(
      try await first.write {
        try $0.claimDeliveries(queue: queues[198], now: at(20), visibleAgain: again, limit: 1).isEmpty
      }, "nothing new begins")
    try await first.write { try $0.acknowledge(claimed, attempt: nil, state: .delivered(at: at(21))) }
    try await eventually("that has moved, too") { try shares() == "128 128" }
    await first.close()
    await second.close()
  }

  /// A long firing transaction does not delay heartbeats.
  @Test func longTransactionDoesNotDelayHeartbeats() async throws {
    let store = try open()
    let queue = queues(1)[0]
    try await fill(store, [queue])
    let again = again
    let seen = "SELECT seen_at FROM chime.node"
    let (server, database) = (server, database)
    let beats = try await store.write { transaction in
      let claims = try transaction.claimDeliveries(queue: queue, now: at(20), visibleAgain: again, limit: 1)
      var (times, end) = (Set<String>(), ContinuousClock.now + .seconds(60))
      while times.count < 3, ContinuousClock.now < end {
        times.insert(try server.sql(seen, on: database))
        _ = try transaction.note("so that it does not stand still")
      }
      return claims.isEmpty ? 0 : times.count
    }
    #expect(beats == 3)
    await store.close()
  }

  @Test func endpointChangeReachesTheOtherDaemons() async throws {
    let (first, second) = (try open(), try open())
    try await eventually("two have half each") { try shares() == "128 128" }
    let events = Mutex<[FleetEvent]>([])
    second.listen { event in events.withLock { $0.append(event) } }
    let endpoint = Endpoint(queue: queues(1)[0], url: "https://a.example/", createdAt: at(1))
    for change in 1...2 {
      events.withLock { $0 = [] }
      try await first.write { transaction in
        if change == 1 {
          try transaction.put(endpoint)
        } else {
          try transaction.removeEndpoint(endpoint.queue, now: at(2))
        }
      }
      try await eventually("the other hears of change \(change)") { events.withLock { $0.contains(.endpointsChanged) } }
    }
    await first.close()
    await second.close()
  }

  @Test func eachDaemonListsTheMembersAndTheirQueues() async throws {
    let (first, second) = (try open(), try open())
    try await eventually("two have half each") { try shares() == "128 128" }
    let queues = queues(200)
    try await fill(first, queues)
    let members = try await second.members()
    #expect(members.map(\.isSelf) == [false, true])
    #expect(members.map(\.shards) == [128, 128])
    #expect(members.allSatisfy { $0.isLiving && !$0.isDraining && $0.seenAt >= $0.startedAt })
    #expect(members.map(\.id) == [try node(first), try node(second)])
    let owners = try await first.queueOwners()
    #expect(Set(owners.keys) == Set(queues))
    #expect(
      try await first.read { try Set($0.wakeups().outbox.keys) } == Set(queues.filter { owners[$0] == members[0].id }))
    await first.close()
    await second.close()
  }

  /// The daemon that processes a queue is soon notified of another daemon's messages in it.
  @Test func ownerOfAQueueIsNotifiedOfNewMessages() async throws {
    let (first, second) = (try open(), try open())
    try await eventually("two have half each") { try shares() == "128 128" }
    let looks = Mutex(0)
    second.listen { event in if event == .outboxChanged { looks.withLock { $0 += 1 } } }
    let queues = queues(200)
    try await fill(first, queues)
    try await eventually("it is reported") { looks.withLock { $0 } > 0 }
    await first.close()
    await second.close()
  }
}
