package import ChimeCore
package import ChimeSchedule

extension SQLTransaction {
  /// Selects the message of the delivery with a key, in the columns of `outboundMessage`.
  package static var selectMessage: StaticString {
    """
    SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
      d.attempts_before, d.event,
      a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
      o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by,
      a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition
    FROM delivery d
    CROSS JOIN delivery_queue l ON l.key = d.queue
    CROSS JOIN occurrence o ON o.scheduled_at = d.scheduled_at AND o.reminder = d.reminder
    CROSS JOIN reminder_name a ON a.key = d.reminder
    LEFT JOIN reminder r ON r.key = d.reminder
    WHERE d.key = $1
    """
  }

  /// Returns the keys of the deliveries that a queue may send now.
  package func claimable(in standing: DeliveryQueueRow, now: Instant, limit: Int) throws -> [Int64] {
    if standing.isOrdered { return try head(of: standing.key).flatMap { $0.visibleAt <= now ? [$0.key] : nil } ?? [] }
    return try connection.all(
      "SELECT key FROM delivery WHERE queue = $1 AND state <= 1 AND visible_at <= $2 ORDER BY visible_at, key LIMIT $3",
      standing.key, now, limit
    ) { $0.int64(0) }
  }

  /// Returns the oldest pending delivery of an ordered queue.
  private func head(of queue: Int64) throws -> (key: Int64, visibleAt: Instant)? {
    try connection.first(
      """
      SELECT d.key, d.visible_at FROM delivery d WHERE d.queue = $1 AND d.state <= 1 AND d.in_order = 1
      ORDER BY d.key LIMIT 1
      """, queue
    ) { ($0.int64(0), $0.instant(1)) }
  }

  /// Records the outcome of a delivery.
  ///
  /// - Parameter attempt: the attempt that ended. It is stored in the delivery's row; an earlier attempt there moves to
  ///   the table `attempt`.
  package func settle(_ tried: TriedDelivery, _ attempt: Attempt?, _ state: Delivery.State) throws {
    let (code, at) = DeliveryCode.of(state)
    if let attempt {
      if tried.hasAttempt { try connection.run(Self.moveAttempt, tried.key) }
      try connection.run(
        """
        UPDATE delivery SET
          state = CASE WHEN state <= 1 THEN $2 ELSE state END, state_at = CASE WHEN state <= 1 THEN $3 ELSE state_at END,
          visible_at = CASE WHEN state > 1 OR $2 > 1 THEN 0 ELSE coalesce($3, created_at) END, attempts = attempts + 1,
          number = $4, started_at = $5, took_ms = $6, outcome = $7, status = $8, answer = $9, error = $10,
          receipt = coalesce($11, receipt)
        WHERE key = $1
        """, tried.key, code, at, attempt.number, attempt.startedAt, attempt.took.rawValue,
        AttemptCode.of(attempt.outcome), attempt.status, attempt.answer, attempt.error,
        attempt.receipt)
    } else if tried.isPending {
      try connection.run(
        """
        UPDATE delivery SET state = $2, state_at = $3,
          visible_at = CASE WHEN $2 > 1 THEN 0 ELSE coalesce($3, created_at) END
        WHERE key = $1
        """, tried.key, code, at)
    }
    guard tried.isPending, !tried.isEvent, case .delivered(let at) = state else { return }
    try connection.run(
      """
      UPDATE occurrence SET delivered_at = coalesce(delivered_at, $1), state = CASE WHEN state = 0 THEN 1 ELSE state END
      WHERE scheduled_at = $2 AND reminder = $3 AND state <= 2 AND (delivered_at IS NULL OR state = 0)
      """, at, tried.scheduledAt, tried.reminder)
  }

  package func replay(_ id: DeliveryID, now: Instant) throws -> Bool {
    try requireWriting()
    // A claimed delivery, which is invisible past its own time, is already in flight.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = $1, visible_at = $1, attempts_before = attempts,
        in_order = (SELECT l.ordered FROM delivery_queue l WHERE l.key = delivery.queue)
      WHERE id = $2 AND (state > 1 OR visible_at = coalesce(state_at, created_at))
      """, now, id)
    outboxHasChanged()
    return connection.changes > 0
  }

  package func wake(queue: DeliveryQueue, now: Instant) throws {
    try requireWriting()
    guard let queueKey = try key(of: queue) else { return }
    outboxHasChanged()
    // Deliveries in flight are invisible past their own time and are left alone. The others get `now` as their own time,
    // so that a release after a claim does not restore the former one.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = $1, visible_at = $1
      WHERE queue = $2 AND state <= 1 AND visible_at > $1 AND visible_at = coalesce(state_at, created_at)
      """, now, queueKey)
  }

  package func sent(of id: OccurrenceID) throws -> [Delivery] {
    try connection.all(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before, d.event
      FROM reminder_name a
      JOIN delivery d ON d.scheduled_at = $2 AND d.reminder = a.key
      JOIN delivery_queue l ON l.key = d.queue
      WHERE a.id = $1 AND d.event IS NULL AND (d.state = 2
        OR d.state <= 1 AND (d.attempts > 0 OR d.visible_at > coalesce(d.state_at, d.created_at)))
      """, id.reminder.rawValue, id.scheduledAt
    ) { try $0.delivery(0) }
  }

  package func delivery(_ id: DeliveryID) throws -> Delivery? {
    try connection.first(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before, d.event
      FROM delivery d
      JOIN delivery_queue l ON l.key = d.queue
      JOIN reminder_name a ON a.key = d.reminder
      WHERE d.id = $1
      """, id
    ) { try $0.delivery(0) }
  }

  package func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery] {
    var query = ComposedQuery(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before, d.event
      FROM delivery d
      JOIN delivery_queue l ON l.key = d.queue
      JOIN reminder_name a ON a.key = d.reminder
      """)
    if let id = filter.occurrence {
      query.require("d.scheduled_at = ?", id.scheduledAt)
      query.require("d.reminder = (SELECT key FROM reminder_name WHERE id = ?)", id.reminder.rawValue)
    }
    if let reminder = filter.reminder {
      query.require(
        """
        d.key IN (
          SELECT x.key FROM (\(Self.times)) o
          JOIN delivery x ON x.scheduled_at = o.scheduled_at AND x.reminder = o.reminder)
        """, reminder.rawValue, reminder.rawValue)
    }
    if let owner = filter.owner { query.require("l.owner = ?", owner) }
    if let channel = filter.channel { query.require("l.channel = ?", channel.rawValue) }
    if let from = filter.from { query.require("d.created_at >= ?", from) }
    if let before = filter.before { query.require("d.created_at < ?", before) }
    switch filter.state {
    // The condition repeats that of the index of dead deliveries, so that the planner uses it.
    case .dead: query.require("d.state = 3")
    case .some(let state): query.require("d.state = ?", DeliveryCode.of(state))
    case nil: break
    }
    query.append("ORDER BY d.key DESC LIMIT ? OFFSET ?", page.limit, page.offset)
    return try connection.all(query) { try $0.delivery(0) }
  }

  package func receipt(of id: DeliveryID) throws -> String? {
    try connection.first("SELECT receipt FROM delivery WHERE id = $1", id) { $0.optionalText(0) } ?? nil
  }

  package func attempts(of id: DeliveryID) throws -> [Attempt] {
    try connection.all(
      Self.selectAttempts, id
    ) { try $0.attempt() }
  }
}

/// A delivery whose outcome is to be recorded.
package struct TriedDelivery {
  package var key: Int64
  package var isPending: Bool
  /// Whether its row has an attempt.
  package var hasAttempt: Bool
  /// Whether it reports an event. The delivery of an event does not mean that the occurrence was shown.
  package var isEvent: Bool
  package var scheduledAt: Instant
  package var reminder: Int64

  package init(key: Int64, isPending: Bool, hasAttempt: Bool, isEvent: Bool, scheduledAt: Instant, reminder: Int64) {
    self.key = key
    self.isPending = isPending
    self.hasAttempt = hasAttempt
    self.isEvent = isEvent
    self.scheduledAt = scheduledAt
    self.reminder = reminder
  }
}
