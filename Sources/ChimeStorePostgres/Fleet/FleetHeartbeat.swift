import ChimeCore
import ChimeRecords
import ChimeSchedule
import Glibc

/// A FleetHeartbeat performs one daemon's part in the fleet: it renews its lease and takes and yields shards.
///
/// It uses its own session, so that no long transaction delays it. One thread (`Membership`) creates, uses and releases it.
final class FleetHeartbeat {
  private let place: PostgresConfiguration
  private let leases: LeaseState
  private let tell: (FleetEvent) -> Void
  private var connection: Connection?
  private(set) var heartbeat: LeaseRenewal
  private var shards = OwnedShards()
  private var revision: Int64?
  private var clock = StoreClock()
  private var lastLook: Int64 = 0
  /// Whether another daemon has announced new deliveries. Without announcements the loop polls.
  private var needsCheck = false
  private var isLeaving = false
  /// Whether rows of daemons that are long gone are to be deleted.
  private var needsForgetting = false
  /// The reason why sessions of lost daemons could not be ended last time.
  private var refusal: StoreFailure?
  /// Whether new deliveries are to be announced to other daemons, and the time of the last announcement.
  var mustNotify = false
  private var lastNotified: Int64 = 0

  /// The minimum interval in milliseconds between two announcements, which wake all other daemons, and between two
  /// polls that they cause.
  static let notifyInterval: Int64 = 100

  init(place: PostgresConfiguration, leases: LeaseState, tell: @escaping (FleetEvent) -> Void) {
    var place = place
    // These limits are shorter than a lease: a slower beat is worthless.
    (place.statementTimeout, place.idleTimeout) = (3_000, 3_000)
    self.place = place
    self.leases = leases
    self.tell = tell
    heartbeat = LeaseRenewal(now: Self.clock())
  }

  /// Returns CLOCK_BOOTTIME in milliseconds, which counts sleep.
  static func clock() -> Int64 { nanoseconds(CLOCK_BOOTTIME) / 1_000_000 }

  /// The socket for notifications; -1 if there is none.
  var descriptor: Int32 { connection?.descriptor ?? -1 }

  /// Does the work that is due, and returns the time of the next.
  func work() -> Int64 {
    if Self.clock() >= heartbeat.next {
      beat()
      readNotifications()
    }
    guard leases.current.living > 1 else { return heartbeat.next }
    if needsCheck, Self.clock() >= lastLook + Self.notifyInterval { look() }
    if mustNotify, Self.clock() >= lastNotified + Self.notifyInterval { notifyOthers() }
    var next = heartbeat.next
    if needsCheck { next = min(next, lastLook + Self.notifyInterval) }
    return mustNotify ? min(next, lastNotified + Self.notifyInterval) : next
  }

  /// Reads notifications that may have arrived.
  func readNotifications() {
    guard let connection else { return }
    let notifications = connection.notifications()
    if connection.isLost {
      self.connection = nil
      heartbeat.called(at: Self.clock())
    }
    if notifications.contains(Notification.members.rawValue) { heartbeat.called(at: Self.clock()) }
    if notifications.contains(Notification.outbox.rawValue) { needsCheck = true }
  }

  /// Stops taking shards.
  func retire() {
    isLeaving = true
    heartbeat.called(at: Self.clock())
  }

  /// Makes the next beat happen soon.
  func probe() { heartbeat.called(at: Self.clock()) }

  /// Releases all leases. Call only when no delivery is in flight, or its result is discarded.
  func end() {
    guard let node = leases.current.node, let connection, !connection.isLost else { return }
    leases.change { ($0.node, $0.leaseEnd) = (nil, nil) }
    _ = try? connection.script(
      """
      UPDATE shard_lease SET node = NULL WHERE node = \(node);
      DELETE FROM node WHERE id = \(node);
      NOTIFY \(Notification.channel), '\(Notification.members.rawValue)'
      """)
    self.connection = nil
  }

  /// The notifications between daemons.
  enum Notification: String {
    static let channel = "chime_fleet"
    case members, outbox
  }

  private func look() {
    (lastLook, needsCheck) = (Self.clock(), false)
    tell(.outboxChanged)
    let found = try? connection?.first("SELECT last FROM number WHERE name = 'endpoints'") { $0.int64(0) }
    if let found { review(found) }
  }

  private func review(_ found: Int64) {
    if let revision, revision != found { tell(.endpointsChanged) }
    revision = found
  }

  // MARK: A beat

  /// The fleet's tables as a beat found them.
  private struct Found {
    var living: Set<Int64> = []
    var othersEndIn: Int64?
    /// Whether a daemon's lease has expired.
    var hasLost = false
    var owners: [Int64?] = []
    var epochs: [Int64] = []
    var revision: Int64 = 0
    /// For how long a lease must have expired before its daemon counts as lost.
    var patience: Int64
  }

  private func beat() {
    let start = Self.clock()
    leases.change { $0.unansweredSince = $0.unansweredSince ?? start }
    do {
      let connection = try opened()
      let (node, found) = try speak(connection)
      try connection.name(for: node, place.member)
      noticeLapse(at: start, hasOthers: found.othersEndIn != nil)
      let hasEnded = try found.hasLost && endSessionsOfTheLost(connection, found.patience)
      try forget(connection)
      try settle(connection, node, found)
      let (before, isAlone) = (leases.current, found.othersEndIn == nil && !hasEnded)
      heartbeat.renewed(
        beganAt: start, othersEndIn: found.othersEndIn, isHandingOver: shards.isMoving, isShort: shards.isShort,
        isAlone: isAlone)
      // The due times that the ended transactions had locked become available in a moment.
      if hasEnded { heartbeat.called(at: start) }
      let hadLapsed = before.leaseEnd.map { Self.clock() >= $0 } ?? false
      leases.change { state in
        // In one step with the new lease, so that no claim from before passes for valid.
        if hadLapsed { state.lapses += 1 }
        (state.leaseEnd, state.living) = (heartbeat.leaseEnd, found.living.union([node]).count)
        (state.unansweredSince, state.isAlone) = (nil, isAlone)
      }
      // The loop polls rarely while this daemon is alone, and claims nothing without a lease.
      if hadLapsed || (before.isAlone && !isAlone) { tell(.outboxChanged) }
    } catch {
      // The store's other sessions report what is wrong with the server.
      connection = nil
      heartbeat.failed(at: Self.clock())
    }
  }

  private func opened() throws -> Connection {
    if let connection, !connection.isLost { return connection }
    let made = try place.connect()
    if leases.current.node != nil { heartbeat.reconnected(at: Self.clock()) }
    // Heartbeats wait for no disk and no standby. A crash may undo a beat, and the next one repeats it: nobody counts as
    // lost in the meantime. A claim commits synchronously after its lease in the log, which makes the lease durable as well.
    try made.script("SELECT set_config('synchronous_commit', 'off', false)")
    try made.script("LISTEN \(Notification.channel)")
    connection = made
    return made
  }

  /// Renews this daemon's lease and reads the fleet's tables in one round trip, so that an idle daemon wakes as rarely
  /// as possible.
  private func speak(_ connection: Connection) throws -> (Int64, Found) {
    if let node = leases.current.node {
      var isKnown = false
      let update = try connection.queued(
        """
        UPDATE node SET (seen_at, expires_at, draining) = (SELECT c.now, c.now + $2, $3 FROM (
          SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) c)
        WHERE id = $1
        """, node, LeaseRenewal.lease, isLeaving ? 1 : 0
      ) { isKnown = $0.changes > 0 }
      let found = try read(connection, node, after: [update])
      if isKnown { return (node, found) }
    }
    let node = try introduce(connection)
    return (node, try read(connection, node))
  }

  private func introduce(_ connection: Connection) throws -> Int64 {
    // This daemon's row does not exist, or no longer exists.
    let node = try connection.makeKey(
      """
      INSERT INTO node (name, process, version, started_at, seen_at, expires_at)
      SELECT $1, $2, $3, c.now, c.now, c.now + $4 FROM (
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) c
      RETURNING id AS key
      """, place.member.name, place.member.process, place.member.version, LeaseRenewal.lease)
    needsForgetting = true
    // The rows may be missing after an operator truncated the tables.
    try connection.run(
      "INSERT INTO shard_lease (shard) SELECT number FROM generate_series(0, 255) number ON CONFLICT DO NOTHING")
    leases.change { $0.node = node }
    try notify(.members, connection)
    return node
  }

  private func read(
    _ connection: Connection, _ node: Int64, after first: [Connection.Queued] = []
  ) throws -> Found {
    var found = Found(patience: heartbeat.patience(at: Self.clock()))
    var now: Int64 = 0
    let members = try connection.queued(
      """
      SELECT id, draining, expires_at + $1 - (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM node
      """, found.patience
    ) { answer in
      for (id, isLeaving, left) in answer.map({ ($0.int64(0), $0.int64(1) != 0, $0.int64(2)) }) {
        guard left > 0 else {
          found.hasLost = true
          continue
        }
        if !isLeaving { found.living.insert(id) }
        if id != node { found.othersEndIn = min(found.othersEndIn ?? left, left) }
      }
    }
    let shards = try connection.queued("SELECT node, epoch FROM shard_lease ORDER BY shard") { answer in
      for (owner, epoch) in answer.map({ ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1)) }) {
        found.owners.append(owner)
        found.epochs.append(epoch)
      }
    }
    let rest = try connection.queued(
      """
      SELECT coalesce((SELECT last FROM number WHERE name = 'endpoints'), 0),
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint
      """
    ) { answer in
      for row in answer.map({ ($0.int64(0), $0.int64(1)) }) { (found.revision, now) = row }
    }
    let asked = PostgresConfiguration.unsetClock()
    try connection.send(first + [members, shards, rest])
    // The loop follows the database's clock. While the loop is idle, only this beat notices a step of that clock.
    let step = clock.observe(StoreTime(microseconds: now, askedAt: asked, heardAt: PostgresConfiguration.unsetClock()))
    if step != .zero { tell(.outboxChanged) }
    return found
  }

  /// Reports a lapse of the lease. Other daemons may have ended this daemon's sessions and taken its shards.
  private func noticeLapse(at start: Int64, hasOthers: Bool) {
    if hasOthers, let span = heartbeat.lapse(at: start) { tell(.leaseExpired(after: .milliseconds(span))) }
  }

  /// Ends the sessions of lost daemons, and returns whether there were any.
  private func endSessionsOfTheLost(_ connection: Connection, _ patience: Int64) throws -> Bool {
    do {
      let ended = try OrphanSessionReaper.end(connection, after: patience)
      ended.forEach(tell)
      refusal = nil
      return !ended.isEmpty
    } catch let failure as StoreFailure where !connection.isLost {
      // Each failure is reported once; each beat retries.
      if refusal != failure { tell(.sessionsStay(failure)) }
      refusal = failure
      return false
    }
  }

  /// Deletes the rows of daemons whose lease expired more than a day ago.
  private func forget(_ connection: Connection) throws {
    guard needsForgetting else { return }
    needsForgetting = false
    try connection.run(
      """
      DELETE FROM node
      WHERE expires_at < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 86400000
      """)
  }

  /// Takes and yields shards by the plan, and tells the loop.
  private func settle(_ connection: Connection, _ node: Int64, _ found: Found) throws {
    let review = shards.review(for: node, owners: found.owners, epochs: found.epochs, living: found.living)
    leases.change { $0.yielding = shards.yielding }
    if !review.gone.isEmpty {
      let queues = try connection.all(
        "SELECT owner, channel FROM delivery_queue WHERE shard = ANY ($1)", List(review.gone)
      ) { $0.queue(0) }
      if !queues.isEmpty { tell(.leave(Set(queues))) }
    }

    let taken = try take(review.take, connection, node, found.patience)
    shards.took(taken, of: review.take)
    if !taken.isEmpty { tell(.taken) }
    if review.isStaying { tell(.outboxChanged) }
    if !shards.yielding.isEmpty {
      let given = try give(shards.yielding, connection, node)
      shards.gave(given)
      if !given.isEmpty {
        leases.change { $0.yielding = shards.yielding }
        try notify(.members, connection)
      }
    }
    self.review(found.revision)
  }

  /// Leases those of the shards that are still free.
  private func take(
    _ shards: [Int], _ connection: Connection, _ node: Int64, _ patience: Int64
  ) throws -> [(shard: Int, epoch: Int64)] {
    if shards.isEmpty { return [] }
    return try connection.all(
      """
      UPDATE shard_lease SET node = $1, epoch = epoch + 1
      WHERE shard IN (
        SELECT s.shard FROM shard_lease s
        WHERE s.shard = ANY ($2) AND NOT EXISTS (
          SELECT 1 FROM node n
          WHERE n.id = s.node AND n.expires_at + $3 > (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        FOR UPDATE OF s SKIP LOCKED)
      RETURNING shard, epoch
      """, node, List(shards), patience
    ) { ($0.int(0), $0.int64(1)) }
  }

  /// Releases the shards with no delivery in flight. An expired claim does not count.
  private func give(_ shards: Set<Int>, _ connection: Connection, _ node: Int64) throws -> [Int] {
    try connection.transaction {
      // The locks come first, so that no claim is made between the check and the release.
      let locked = try connection.all(
        """
        SELECT shard FROM shard_lease WHERE node = $1 AND shard = ANY ($2) ORDER BY shard
        FOR UPDATE SKIP LOCKED
        """, node, List(shards)
      ) { $0.int(0) }
      return try connection.all(
        """
        UPDATE shard_lease s SET node = NULL
        WHERE s.shard = ANY ($1) AND NOT EXISTS (
          SELECT 1 FROM delivery_queue l JOIN delivery d ON d.queue = l.key
          WHERE l.shard = s.shard AND d.state <= 1 AND d.epoch = s.epoch
            AND d.visible_at > coalesce(d.state_at, d.created_at)
            AND d.visible_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        RETURNING s.shard
        """, List(locked)
      ) { $0.int(0) }
    }
  }

  private func notifyOthers() {
    (mustNotify, lastNotified) = (false, Self.clock())
    // If the notification fails, other daemons find the deliveries a little later by polling.
    if let connection { try? notify(.outbox, connection) }
  }

  private func notify(_ notification: Notification, _ connection: Connection) throws(StoreFailure) {
    try connection.script("NOTIFY \(Notification.channel), '\(notification.rawValue)'")
  }
}
