import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  {
    try requireWriting()
    guard limit > 0, let standing = try standing(of: queue), let epoch = try claimEpoch(of: standing.shard) else {
      return []
    }
    let found = Found<OutboundMessage>()
    var statements: [Connection.Queued] = []
    for key in try claimable(in: standing, now: now, limit: limit) {
      statements.append(
        try connection.queued(
          "UPDATE delivery SET visible_at = $1, epoch = $2 WHERE key = $3", visibleAgain, epoch, key))
      statements.append(try message(key) { found.all.append($0) })
    }
    try connection.send(statements)
    return found.all
  }

  private func message(
    _ key: Int64, _ found: @escaping (OutboundMessage) -> Void
  ) throws -> Connection.Queued {
    try connection.queued(Self.selectMessage, key) { [reader] answer in
      if answer.count > 0 { found(try answer[0].outboundMessage(reader)) }
    }
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
      SELECT d.key, d.state, d.number, d.scheduled_at, d.reminder, l.shard, d.epoch, d.attempts,
        d.event
      FROM delivery d JOIN delivery_queue l ON l.key = d.queue WHERE d.id = $1
      FOR UPDATE OF d
      """, id
    ) {
      (
        tried: TriedDelivery(
          key: $0.int64(0), isPending: $0.int64(1) <= DeliveryCode.waiting, hasAttempt: !$0.isNull(2),
          isEvent: !$0.isNull(8),
          scheduledAt: $0.instant(3), reminder: $0.int64(4)), shard: $0.int64(5),
        epoch: $0.isNull(6) ? nil : $0.int64(6), attempts: $0.int(7)
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
    try connection.first(
      """
      SELECT 1 FROM delivery WHERE key = $1 AND number = $3 AND started_at = $4
      UNION ALL SELECT 1 FROM attempt WHERE delivery = $1 AND scheduled_at = $2 AND number = $3 AND started_at = $4
      """, tried.key, tried.scheduledAt, attempt.number, attempt.startedAt, row: { _ in true }) ?? false
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
    var asked = Blobs()
    for id in ids { asked.append(id.stored) }
    let pending = try connection.all("SELECT id FROM delivery WHERE id = ANY ($1) AND state <= 1", asked) {
      DeliveryID(stored: $0.bytes(0))
    }
    return Set(ids).subtracting(pending)
  }
}
