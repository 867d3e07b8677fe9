import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    guard limit > 0, let standing = try standing(of: lane), let epoch = try claimEpoch(of: standing.shard) else {
      return []
    }
    let found = Found<OutboundMessage>()
    var queue: [Connection.Queued] = []
    for key in try claimable(in: standing, now: now, limit: limit) {
      queue.append(
        try connection.queued(
          "UPDATE delivery SET visible_at = $1, epoch = $2 WHERE key = $3", visibleAgain, epoch, key))
      queue.append(try message(key) { found.all.append($0) })
    }
    try connection.send(queue)
    return found.all
  }

  private func message(
    _ key: Int64, _ found: @escaping (OutboundMessage) -> Void
  ) throws -> Connection.Queued {
    try connection.queued(Self.selectMessage, key) { [reader] answer in
      if answer.count > 0 { found(try answer[0].outboundMessage(reader)) }
    }
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    let found = try connection.first(
      """
      SELECT d.key, d.state, d.attempts, d.scheduled_at, d.reminder, l.shard, d.epoch
      FROM delivery d JOIN lane l ON l.key = d.lane WHERE d.id = $1
      FOR UPDATE OF d
      """, id.rawValue
    ) {
      (
        key: $0.int64(0), isOwed: $0.int64(1) <= DeliveryCode.waiting, attempts: $0.int(2),
        occurrence: (at: $0.instant(3), reminder: $0.int64(4)), shard: $0.int64(5),
        epoch: $0.isNull(6) ? nil : $0.int64(6)
      )
    }
    guard let found else { throw StoreFailure.internalError("there is no delivery \(id) to acknowledge") }
    // One that was never claimed has been shown from memory, when the store could only be read.
    guard let epoch = try epoch(of: found.shard), found.epoch ?? epoch == epoch else { throw StoreFailure.takenOver }
    if let attempt, found.attempts >= attempt.number, try isRecorded(attempt, of: found.key, at: found.occurrence.at) {
      return
    }
    let attempts = found.attempts + (attempt == nil ? 0 : 1)
    if let attempt {
      try connection.run(
        """
        INSERT INTO attempt (delivery, position, number, started_at, took_ms, outcome, status, answer, error, scheduled_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """,
        found.key, attempts, attempt.number, attempt.startedAt, attempt.took.rawValue, attempt.outcome.rawValue,
        attempt.status, attempt.answer, attempt.error, found.occurrence.at)
    }
    if found.isOwed {
      try settle(found.key, of: found.occurrence, state, attempts: attempts)
    } else if attempt != nil {
      try connection.run("UPDATE delivery SET attempts = $1 WHERE key = $2", attempts, found.key)
    }
  }

  /// Whether a commit that nobody heard of has recorded it: the server was lost before it could say so, or was taken the
  /// place of by its standby, and the outcome comes again.
  private func isRecorded(_ attempt: Attempt, of delivery: Int64, at scheduledAt: Instant) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM attempt WHERE delivery = $1 AND scheduled_at = $2 AND number = $3 AND started_at = $4",
      delivery, scheduledAt, attempt.number, attempt.startedAt, row: { _ in true }) ?? false
  }

  func release(_ ids: [DeliveryID], now: Instant) throws {
    try requireWriting()
    for id in ids {
      // What was claimed was to be tried: where its own time is to come, the clock was set back.
      try connection.run(
        """
        UPDATE delivery d SET state = CASE WHEN coalesce(d.state_at, d.created_at) > $3 THEN 1 ELSE d.state END,
          state_at = CASE WHEN coalesce(d.state_at, d.created_at) > $3 THEN $3 ELSE d.state_at END,
          visible_at = least(coalesce(d.state_at, d.created_at), $3)
        FROM lane l JOIN shard_lease s ON s.shard = l.shard
        WHERE d.id = $1 AND d.state <= 1 AND l.key = d.lane AND s.node = $2 AND coalesce(d.epoch, s.epoch) = s.epoch
        """, id.rawValue, holdings.current.node, now)
    }
  }

  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID> {
    if ids.isEmpty { return [] }
    // An id is letters, digits and a line below.
    let owed = try connection.all(
      "SELECT id FROM delivery WHERE id = ANY (string_to_array($1, ',')) AND state <= 1",
      ids.map(\.rawValue).joined(separator: ",")
    ) { DeliveryID(rawValue: $0.text(0)) }
    return Set(ids).subtracting(owed)
  }
}
