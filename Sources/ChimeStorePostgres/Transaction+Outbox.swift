import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    guard limit > 0, let standing = try standing(of: lane), let epoch = try claimEpoch(of: standing.shard) else {
      return []
    }
    let keys: [Int64]
    if standing.isOrdered {
      keys = try head(of: standing.key).flatMap { $0.visibleAt <= now ? [$0.key] : nil } ?? []
    } else {
      keys = try connection.all(
        """
        SELECT key FROM delivery WHERE lane = $1 AND state <= 1 AND visible_at <= $2 ORDER BY visible_at, key LIMIT $3
        """, standing.key, now, limit
      ) { $0.int64(0) }
    }
    let found = Found<OutboundMessage>()
    var queue: [Connection.Queued] = []
    for key in keys {
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
    try connection.queued(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before,
        a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
        o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at,
        a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition
      FROM delivery d
      JOIN lane l ON l.key = d.lane
      JOIN occurrence o ON o.scheduled_at = d.scheduled_at AND o.reminder = d.reminder
      JOIN alias a ON a.key = d.reminder
      LEFT JOIN reminder r ON r.key = d.reminder
      WHERE d.key = $1
      """, key
    ) { [reader] answer in
      guard answer.count > 0 else { return }
      let row = answer[0]
      found(
        OutboundMessage(
          delivery: try row.delivery(0), occurrence: try row.occurrence(11),
          // One that cannot be read must not hold up the outbox: its message leaves as one of a removed reminder does.
          reminder: row.isNull(28) ? nil : try? row.reminder(27, reader)))
    }
  }

  /// The oldest delivery that an ordered lane owes.
  private func head(of lane: Int64) throws -> (key: Int64, visibleAt: Instant)? {
    try connection.first(
      """
      SELECT d.key, d.visible_at FROM delivery d WHERE d.lane = $1 AND d.state <= 1 AND d.in_order = 1
      ORDER BY d.key LIMIT 1
      """, lane
    ) { ($0.int64(0), $0.instant(1)) }
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
      let (code, at) = DeliveryCode.of(state)
      try connection.run(
        """
        UPDATE delivery SET state = $1, state_at = $2, visible_at = coalesce($2, created_at), attempts = $3
        WHERE key = $4
        """, code, at, attempts, found.key)
      if case .delivered(let at) = state {
        try connection.run(
          """
          UPDATE occurrence SET delivered_at = coalesce(delivered_at, $1), state = CASE WHEN state = 0 THEN 1 ELSE state END
          WHERE scheduled_at = $2 AND reminder = $3 AND state <= 2 AND (delivered_at IS NULL OR state = 0)
          """, at, found.occurrence.at, found.occurrence.reminder)
      }
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

  func replay(_ id: DeliveryID, now: Instant) throws -> Bool {
    try requireWriting()
    // A claimed one, which is hidden past its own time, is under way already.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = $1, visible_at = $1, attempts_before = attempts,
        in_order = (SELECT l.ordered FROM lane l WHERE l.key = delivery.lane)
      WHERE id = $2 AND (state > 1 OR visible_at = coalesce(state_at, created_at))
      """, now, id.rawValue)
    concernsOthers = true
    return connection.changes > 0
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

  func wake(lane: Lane, now: Instant) throws {
    try requireWriting()
    guard let laneKey = try key(of: lane) else { return }
    concernsOthers = true
    // An attempt under way is hidden past its own time, and left alone. The others get this one as their own, so that none
    // goes back to the former when it is claimed and let go.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = $1, visible_at = $1
      WHERE lane = $2 AND state <= 1 AND visible_at > $1 AND visible_at = coalesce(state_at, created_at)
      """, now, laneKey)
  }

  func delivery(_ id: DeliveryID) throws -> Delivery? {
    try connection.first(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before
      FROM delivery d
      JOIN lane l ON l.key = d.lane
      JOIN alias a ON a.key = d.reminder
      WHERE d.id = $1
      """, id.rawValue
    ) { try $0.delivery(0) }
  }

  func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery] {
    var query = ComposedQuery(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before
      FROM delivery d
      JOIN lane l ON l.key = d.lane
      JOIN alias a ON a.key = d.reminder
      """)
    if let id = filter.occurrence {
      query.require("d.scheduled_at = ?", id.scheduledAt)
      query.require("d.reminder = (SELECT key FROM alias WHERE id = ?)", id.reminder.rawValue)
    }
    if let reminder = filter.reminder {
      query.require(
        """
        d.key IN (
          SELECT x.key FROM occurrence o
          JOIN delivery x ON x.scheduled_at = o.scheduled_at AND x.reminder = o.reminder
          WHERE o.reminder = (SELECT key FROM alias WHERE id = ?))
        """, reminder.rawValue)
    }
    if let owner = filter.owner { query.require("l.owner = ?", owner) }
    if let channel = filter.channel { query.require("l.channel = ?", channel.rawValue) }
    if let from = filter.from { query.require("d.created_at >= ?", from) }
    if let before = filter.before { query.require("d.created_at < ?", before) }
    switch filter.state {
    // The index of the dead is named by the very words of its condition.
    case .dead: query.require("d.state = 3")
    case .some(let state): query.require("d.state = ?", DeliveryCode.of(state))
    case nil: break
    }
    query.append("ORDER BY d.key DESC LIMIT ? OFFSET ?", page.limit, page.offset)
    return try connection.all(query) { try $0.delivery(0) }
  }

  func attempts(of id: DeliveryID) throws -> [Attempt] {
    try connection.all(
      """
      SELECT t.number, t.started_at, t.took_ms, t.outcome, t.status, t.answer, t.error
      FROM delivery d
      JOIN attempt t ON t.delivery = d.key AND t.scheduled_at = d.scheduled_at
      WHERE d.id = $1
      ORDER BY t.position
      """, id.rawValue
    ) { try $0.attempt() }
  }
}
