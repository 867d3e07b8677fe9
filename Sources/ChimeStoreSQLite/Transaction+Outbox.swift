import ChimeCore
import ChimeSchedule

extension Transaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    guard let laneKey = try key(of: lane) else { return [] }
    let claims = try connection.all(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
        a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
        o.reason, o.late, o.run_count, o.run_through, o.title,
        a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
        d.key
      FROM delivery d
      CROSS JOIN lane l ON l.key = d.lane
      CROSS JOIN occurrence o ON o.scheduled_at = d.scheduled_at AND o.reminder = d.reminder
      CROSS JOIN alias a ON a.key = d.reminder
      LEFT JOIN reminder r ON r.key = d.reminder
      WHERE d.lane = ? AND d.state <= 1 AND d.visible_at <= ?
      ORDER BY d.visible_at, d.key
      LIMIT ?
      """, laneKey, now, max(limit, 0)
    ) { row in
      (
        key: row.int64(34),
        message: OutboundMessage(
          delivery: try row.delivery(0), occurrence: try row.occurrence(10),
          reminder: row.isNull(25) ? nil : try row.reminder(24, reader))
      )
    }
    for claim in claims {
      try connection.run("UPDATE delivery SET visible_at = ? WHERE key = ?", visibleAgain, claim.key)
    }
    return claims.map(\.message)
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    let found = try connection.first("SELECT key, state, attempts FROM delivery WHERE id = ?", id.rawValue) {
      (key: $0.int64(0), isOwed: $0.int64(1) <= DeliveryCode.waiting, attempts: $0.int(2))
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
    } else if attempt != nil {
      try connection.run("UPDATE delivery SET attempts = ? WHERE key = ?", attempts, found.key)
    }
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

  func wake(lane: Lane, now: Instant) throws {
    try requireWriting()
    guard let laneKey = try key(of: lane) else { return }
    // An attempt under way is hidden past its own time, and left alone.
    try connection.run(
      """
      UPDATE delivery SET state_at = iif(state = 1, ?1, NULL), visible_at = ?1
      WHERE lane = ?2 AND state <= 1 AND visible_at > ?1 AND visible_at = coalesce(state_at, created_at)
      """, now, laneKey)
  }

  func delivery(_ id: DeliveryID) throws -> Delivery? {
    try connection.first(
      """
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at
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
      SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at
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
