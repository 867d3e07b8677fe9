import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    guard limit > 0, let standing = try standing(of: lane) else { return [] }
    let keys: [Int64]
    if standing.isOrdered {
      keys = try head(of: standing.key).flatMap { $0.visibleAt <= now ? [$0.key] : nil } ?? []
    } else {
      keys = try connection.all(
        """
        SELECT key FROM delivery WHERE lane = ? AND state <= 1 AND visible_at <= ? ORDER BY visible_at, key LIMIT ?
        """, standing.key, now, limit
      ) { $0.int64(0) }
    }
    return try keys.compactMap { key in
      try connection.run("UPDATE delivery SET visible_at = ? WHERE key = ?", visibleAgain, key)
      return try message(key)
    }
  }

  private func message(_ key: Int64) throws -> OutboundMessage? {
    try connection.first(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        d.attempts_before,
        a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
        o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at,
        a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition
      FROM delivery d
      CROSS JOIN lane l ON l.key = d.lane
      CROSS JOIN occurrence o ON o.scheduled_at = d.scheduled_at AND o.reminder = d.reminder
      CROSS JOIN alias a ON a.key = d.reminder
      LEFT JOIN reminder r ON r.key = d.reminder
      WHERE d.key = ?
      """, key
    ) { row in
      OutboundMessage(
        delivery: try row.delivery(0), occurrence: try row.occurrence(11),
        // One that cannot be read must not hold up the outbox: its message leaves as one of a removed reminder does.
        reminder: row.isNull(28) ? nil : try? row.reminder(27, reader))
    }
  }

  /// The oldest delivery that an ordered lane owes.
  private func head(of lane: Int64) throws -> (key: Int64, visibleAt: Instant)? {
    try connection.first(
      """
      SELECT d.key, d.visible_at FROM delivery d WHERE d.lane = ? AND d.state <= 1 AND d.in_order = 1
      ORDER BY d.key LIMIT 1
      """, lane
    ) { ($0.int64(0), $0.instant(1)) }
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    let found = try connection.first(
      "SELECT key, state, attempts, scheduled_at, reminder FROM delivery WHERE id = ?", id.rawValue
    ) {
      (
        key: $0.int64(0), isOwed: $0.int64(1) <= DeliveryCode.waiting, attempts: $0.int(2),
        occurrence: (at: $0.instant(3), reminder: $0.int64(4))
      )
    }
    guard let found else { throw StoreFailure.internalError("there is no delivery \(id) to acknowledge") }
    let attempts = found.attempts + (attempt == nil ? 0 : 1)
    if let attempt {
      try connection.run(
        """
        INSERT INTO attempt (delivery, position, number, started_at, took_ms, outcome, status, answer, error)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        found.key, attempts, attempt.number, attempt.startedAt, attempt.took.rawValue, attempt.outcome.rawValue,
        attempt.status, attempt.answer, attempt.error)
    }
    if found.isOwed {
      let (code, at) = DeliveryCode.of(state)
      try connection.run(
        """
        UPDATE delivery SET state = ?1, state_at = ?2, visible_at = coalesce(?2, created_at), attempts = ?3
        WHERE key = ?4
        """, code, at, attempts, found.key)
      if case .delivered(let at) = state {
        try connection.run(
          """
          UPDATE occurrence SET delivered_at = coalesce(delivered_at, ?1), state = iif(state = 0, 1, state)
          WHERE scheduled_at = ?2 AND reminder = ?3 AND state <= 2 AND (delivered_at IS NULL OR state = 0)
          """, at, found.occurrence.at, found.occurrence.reminder)
      }
    } else if attempt != nil {
      try connection.run("UPDATE delivery SET attempts = ? WHERE key = ?", attempts, found.key)
    }
  }

  func release(_ ids: [DeliveryID], now: Instant) throws {
    try requireWriting()
    for id in ids {
      // What was claimed was to be tried: where its own time is to come, the clock was set back.
      try connection.run(
        """
        UPDATE delivery SET state = iif(coalesce(state_at, created_at) > ?2, 1, state),
          state_at = iif(coalesce(state_at, created_at) > ?2, ?2, state_at),
          visible_at = min(coalesce(state_at, created_at), ?2)
        WHERE id = ?1 AND state <= 1
        """, id.rawValue, now)
    }
  }

  func replay(_ id: DeliveryID, now: Instant) throws -> Bool {
    try requireWriting()
    // A claimed one, which is hidden past its own time, is under way already.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = ?1, visible_at = ?1, attempts_before = attempts,
        in_order = (SELECT l.ordered FROM lane l WHERE l.key = delivery.lane)
      WHERE id = ?2 AND (state > 1 OR visible_at = coalesce(state_at, created_at))
      """, now, id.rawValue)
    return connection.changes > 0
  }

  func releaseClaims() throws {
    try requireWriting()
    // A claim is what is hidden for longer than its own state asks for.
    try connection.run(
      """
      UPDATE delivery SET visible_at = coalesce(state_at, created_at)
      WHERE state <= 1 AND visible_at > coalesce(state_at, created_at)
      """)
  }

  func releaseFormerClaims() throws { try requireWriting() }

  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID> {
    try Set(
      ids.filter { id in
        try connection.first("SELECT state FROM delivery WHERE id = ?1", id.rawValue) {
          $0.int64(0) > DeliveryCode.waiting
        } ?? true
      })
  }

  func wake(lane: Lane, now: Instant) throws {
    try requireWriting()
    guard let laneKey = try key(of: lane) else { return }
    // An attempt under way is hidden past its own time, and left alone. The others get this one as their own, so that none
    // goes back to the former when it is claimed and let go.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = ?1, visible_at = ?1
      WHERE lane = ?2 AND state <= 1 AND visible_at > ?1 AND visible_at = coalesce(state_at, created_at)
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
      WHERE d.id = ?
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
      JOIN attempt t ON t.delivery = d.key
      WHERE d.id = ?
      ORDER BY t.position
      """, id.rawValue
    ) { try $0.attempt() }
  }
}
