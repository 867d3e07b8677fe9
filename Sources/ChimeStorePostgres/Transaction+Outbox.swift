import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  {
    try requireWriting()
    guard limit > 0, let queueRow = try queueRow(of: queue), let epoch = try epoch(of: queueRow.shard, claiming: true)
    else {
      return []
    }
    let found = Found<OutboundMessage>()
    var statements: [Connection.Queued] = []
    for key in try claimable(in: queueRow, now: now, limit: limit) {
      statements.append(
        try connection.queued(
          "UPDATE delivery SET visible_at = $1, epoch = $2 WHERE key = $3", visibleAgain, epoch, key))
      statements.append(
        try connection.queued(Self.selectMessage, key) { [reader] answer in
          if answer.count > 0 { found.all.append(try answer[0].outboundMessage(reader)) }
        })
    }
    try connection.send(statements)
    return found.all
  }

  func owe(_ deliveries: [Delivery]) throws {
    try requireWriting()
    var rows = DeliveryRows()
    for delivery in deliveries {
      guard let key = try key(of: delivery.occurrence.reminder) else { continue }
      rows.append(delivery, of: key, try findOrMakeQueue(delivery.queue))
      concernsOthers = true
    }
    try connection.send(rows.insertion(on: connection))
    outboxHasChanged()
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    let found = try connection.first(
      """
      SELECT d.key, d.state, d.started_at, d.scheduled_at, d.reminder, d.event, l.shard, d.epoch, d.attempts
      FROM delivery d JOIN delivery_queue l ON l.key = d.queue WHERE d.id = $1
      FOR UPDATE OF d
      """, id
    ) {
      (
        tried: $0.triedDelivery(), shard: $0.int64(6), epoch: $0.isNull(7) ? nil : $0.int64(7), attempts: $0.int(8)
      )
    }
    guard let found else { throw StoreFailure.internalError("there is no delivery \(id) to acknowledge") }
    // A delivery that was never claimed was shown in degraded mode.
    guard let epoch = try epoch(of: found.shard), found.epoch ?? epoch == epoch else { throw StoreFailure.takenOver }
    if let attempt, found.attempts >= attempt.number, try isRecorded(attempt, of: found.tried) { return }
    try settle(found.tried, attempt, state)
  }

  /// Returns whether an earlier commit already recorded this attempt. Its confirmation may have been lost with the
  /// server, so the outcome arrives again.
  private func isRecorded(_ attempt: Attempt, of tried: TriedDelivery) throws -> Bool {
    try connection.exists(
      """
      SELECT 1 FROM delivery WHERE key = $1 AND attempts >= $3 AND started_at = $4
      UNION ALL SELECT 1 FROM attempt WHERE delivery = $1 AND scheduled_at = $2 AND position >= $3 AND started_at = $4
      """, tried.key, tried.scheduledAt, attempt.number, attempt.startedAt)
  }

  func release(_ ids: [DeliveryID], now: Instant) throws {
    try requireWriting()
    for id in ids {
      // A claimed delivery was due. If its own time lies ahead, the clock was set back.
      try connection.run(
        """
        UPDATE delivery d SET state = CASE WHEN coalesce(d.state_at, d.created_at) > $3 THEN 1 ELSE d.state END,
          state_at = CASE WHEN coalesce(d.state_at, d.created_at) > $3 THEN $3 ELSE d.state_at END,
          visible_at = least(coalesce(d.state_at, d.created_at), $3)
        FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
        WHERE d.id = $1 AND d.state <= 1 AND l.key = d.queue AND s.node = $2 AND coalesce(d.epoch, s.epoch) = s.epoch
        """, id, leases.current.node, now)
    }
  }

  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID> {
    if ids.isEmpty { return [] }
    let pending = try connection.all("SELECT id FROM delivery WHERE id = ANY ($1) AND state <= 1", List(ids)) {
      DeliveryID(stored: $0.bytes(0))
    }
    return Set(ids).subtracting(pending)
  }
}

// Leases: each delivery queue belongs to one daemon at a time, by the lease on its shard.
extension Transaction {
  /// Returns the epoch of a shard and keeps its lease for the rest of this transaction; nil if another daemon holds it.
  ///
  /// A locked row means that the shard is being handed over or checked for that. The call waits for the result, which
  /// takes a moment, because the other transaction never waits.
  ///
  /// - Parameter claiming: whether it is for claims. The result is then nil also if the shard is being handed over, and
  ///   the call does not wait for a lock.
  private func epoch(of shard: Int64, claiming: Bool = false) throws -> Int64? {
    if claiming, leases.current.yielding.contains(Int(shard)) { return nil }
    if let known = epochs[shard] { return known }
    let sql: StaticString =
      claiming
      ? "SELECT epoch FROM shard_lease WHERE shard = $1 AND node = $2 FOR SHARE SKIP LOCKED"
      : "SELECT epoch FROM shard_lease WHERE shard = $1 AND node = $2 FOR SHARE"
    // A locked row may still belong to this daemon, so nil is not remembered.
    epochs[shard] = try connection.first(sql, shard, leases.current.node) { $0.int64(0) }
    return epochs[shard]
  }

  func releaseClaims() throws { try releaseClaims(formerOnly: false) }

  func releaseFormerClaims() throws { try releaseClaims(formerOnly: true) }

  private func releaseClaims(formerOnly: Bool) throws {
    try requireWriting()
    // A claimed delivery is invisible for longer than its own state requires. Those claimed under the present epoch are
    // in flight.
    try connection.run(
      """
      UPDATE delivery d SET visible_at = coalesce(d.state_at, d.created_at)
      FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
      WHERE d.queue = l.key AND s.node = $1 AND ($2 = 0 OR d.epoch IS DISTINCT FROM s.epoch)
        AND d.state <= 1 AND d.visible_at > coalesce(d.state_at, d.created_at)
      """, leases.current.node, formerOnly ? 1 : 0)
  }

  /// Queries the earliest time to try for each of this daemon's queues with pending deliveries.
  func outboxWakeups(
    completion: @escaping ([(queue: DeliveryQueue, visibleAt: Instant?)]) -> Void
  ) throws(StoreFailure) -> Connection.Queued {
    let held = leases.current
    return try connection.queued(
      """
      SELECT l.owner, l.channel, CASE WHEN l.ordered = 1
        THEN (SELECT d.visible_at FROM delivery d WHERE d.queue = l.key AND d.state <= 1 AND d.in_order = 1
          ORDER BY d.key LIMIT 1)
        ELSE (SELECT min(d.visible_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1) END
      FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
      WHERE s.node = $1 AND NOT (s.shard = ANY ($2))
      """, held.node, List(held.yielding)
    ) { completion($0.map { ($0.queue(0), $0.optionalInstant(2)) }) }
  }

  /// Returns how the queues of each owner are spread over the daemons.
  func shares(of owners: [UInt32]) throws -> [UInt32: DeliveryQueueShares] {
    let node = leases.current.node
    let found = try connection.all(
      """
      SELECT l.owner, s.node, count(*)
      FROM delivery_queue l LEFT JOIN shard_lease s ON s.shard = l.shard
      WHERE l.owner = ANY ($1)
        AND (EXISTS (SELECT 1 FROM endpoint e WHERE e.owner = l.owner AND e.channel = l.channel)
          OR EXISTS (SELECT 1 FROM delivery d WHERE d.queue = l.key AND d.state <= 1))
      GROUP BY l.owner, s.node ORDER BY l.owner, s.node
      """, List(owners)
    ) { (owner: $0.uint32(0), node: $0.isNull(1) ? nil : $0.int64(1), count: $0.int(2)) }
    return Dictionary(grouping: found, by: \.owner).mapValues { rows in
      DeliveryQueueShares(counts: rows.map(\.count), own: rows.firstIndex { $0.node != nil && $0.node == node })
    }
  }

  /// Returns the daemons that share the database or did in the last day.
  func members(asked: Int64?) throws -> [FleetMember] {
    try connection.all(
      """
      SELECT n.id, n.name, n.process, n.version, n.started_at, n.seen_at,
        n.expires_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint, n.draining, (
          SELECT count(*) FROM shard_lease s WHERE s.node = n.id)
      FROM node n ORDER BY n.id
      """
    ) { row in
      FleetMember(
        id: row.int64(0), name: row.text(1), process: row.int64(2), version: row.text(3), startedAt: row.instant(4),
        seenAt: row.instant(5), isLiving: row.int64(6) != 0, isDraining: row.int64(7) != 0,
        isSelf: row.int64(0) == asked, shards: row.int(8))
    }
  }

  /// Returns the queues of this daemon, without those that are being handed over.
  func heldQueues() throws -> Set<DeliveryQueue> {
    let held = leases.current
    return Set(
      try connection.all(
        """
        SELECT l.owner, l.channel FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
        WHERE s.node = $1 AND NOT (s.shard = ANY ($2))
        """, held.node, List(held.yielding)
      ) { $0.queue(0) })
  }

  /// Returns the owning daemon of each queue.
  func queueOwners() throws -> [DeliveryQueue: Int64] {
    let owners = try connection.all(
      "SELECT l.owner, l.channel, s.node FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard WHERE s.node IS NOT NULL"
    ) { ($0.queue(0), $0.int64(2)) }
    return Dictionary(owners, uniquingKeysWith: { $1 })
  }
}
