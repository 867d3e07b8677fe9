import ChimeCore
import ChimeRecords
import ChimeSchedule

// Leases: each delivery queue belongs to one daemon at a time, by the lease on its shard.
extension Transaction {
  /// Returns the epoch of a shard and keeps its lease for the rest of this transaction; nil if another daemon holds it.
  ///
  /// A locked row means that the shard is being handed over or checked for that. The call waits for the result, which
  /// takes a moment, because the other transaction never waits.
  func epoch(of shard: Int64) throws -> Int64? {
    if let known = epochs[shard] { return known }
    let found = try connection.first(
      "SELECT epoch FROM shard_lease WHERE shard = $1 AND node = $2 FOR SHARE", shard, leases.current.node
    ) { $0.int64(0) }
    epochs[shard] = .some(found)
    return found
  }

  /// Returns the epoch of a shard for claims; nil also if the shard is being handed over. It does not wait for a lock.
  func claimEpoch(of shard: Int64) throws -> Int64? {
    if leases.current.yielding.contains(Int(shard)) { return nil }
    if let known = epochs[shard] { return known }
    let found = try connection.first(
      "SELECT epoch FROM shard_lease WHERE shard = $1 AND node = $2 FOR SHARE SKIP LOCKED", shard, leases.current.node
    ) { $0.int64(0) }
    // A locked row may still belong to this daemon, so nil is not remembered.
    if let found { epochs[shard] = .some(found) }
    return found
  }

  func releaseClaims() throws {
    try requireWriting()
    // A claimed delivery is invisible for longer than its own state requires.
    try connection.run(
      """
      UPDATE delivery d SET visible_at = coalesce(d.state_at, d.created_at)
      FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
      WHERE d.queue = l.key AND s.node = $1 AND d.state <= 1 AND d.visible_at > coalesce(d.state_at, d.created_at)
      """, leases.current.node)
  }

  func releaseFormerClaims() throws {
    try requireWriting()
    // Deliveries claimed under the present epoch are in flight.
    try connection.run(
      """
      UPDATE delivery d SET visible_at = coalesce(d.state_at, d.created_at)
      FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
      WHERE d.queue = l.key AND s.node = $1 AND d.epoch IS DISTINCT FROM s.epoch
        AND d.state <= 1 AND d.visible_at > coalesce(d.state_at, d.created_at)
      """, leases.current.node)
  }

  /// Queries the earliest time to try for each of this daemon's queues with pending deliveries.
  func outboxWakeups(
    heard: @escaping ([(queue: DeliveryQueue, visibleAt: Instant?)]) -> Void
  ) throws(StoreFailure) -> Connection.Queued {
    let held = leases.current
    return try connection.queued(
      """
      SELECT l.owner, l.channel, CASE WHEN l.ordered = 1
        THEN (SELECT d.visible_at FROM delivery d WHERE d.queue = l.key AND d.state <= 1 AND d.in_order = 1
          ORDER BY d.key LIMIT 1)
        ELSE (SELECT min(d.visible_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1) END
      FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
      WHERE s.node = $1 AND NOT (s.shard = ANY (CAST($2 AS smallint[])))
      """, held.node, held.yieldingList
    ) { heard($0.map { ($0.queue(0), $0.optionalInstant(2)) }) }
  }

  /// Returns the daemons that share the database or did in the last day.
  func members(asked: Int64?) throws -> [FleetMember] {
    try connection.all(
      """
      SELECT n.id, n.name, n.process, n.version, n.started_at, n.seen_at,
        n.expires_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint, n.leaving, (
          SELECT count(*) FROM shard_lease s WHERE s.node = n.id)
      FROM node n ORDER BY n.id
      """
    ) { row in
      FleetMember(
        id: row.int64(0), name: row.text(1), process: row.int64(2), version: row.text(3), startedAt: row.instant(4),
        seenAt: row.instant(5), isLiving: row.int64(6) != 0, isLeaving: row.int64(7) != 0,
        isAsked: row.int64(0) == asked, shares: row.int(8))
    }
  }

  /// Returns the queues of this daemon, without those that are being handed over.
  func heldQueues() throws -> Set<DeliveryQueue> {
    let held = leases.current
    return Set(
      try connection.all(
        """
        SELECT l.owner, l.channel FROM delivery_queue l JOIN shard_lease s ON s.shard = l.shard
        WHERE s.node = $1 AND NOT (s.shard = ANY (CAST($2 AS smallint[])))
        """, held.node, held.yieldingList
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

extension Row {
  func queue(_ column: Int32) -> DeliveryQueue {
    DeliveryQueue(owner: uint32(column), channel: ChannelName(rawValue: text(column + 1)))
  }
}

extension Collection<Int> {
  /// The numbers as a PostgreSQL array literal.
  var list: String { "{" + map(String.init).joined(separator: ",") + "}" }
}
