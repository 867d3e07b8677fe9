package import ChimeCore
package import ChimeSchedule

extension SQLTransaction {
  /// The columns of an occurrence, as `StoredRow.occurrence` reads them.
  package static var occurrenceColumns: SQLText {
    """
    a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
      o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
    """
  }

  /// Selects the occurrences of a reminder. It takes the id twice, because open and closed occurrences have separate indexes.
  private static var times: SQLText {
    """
    SELECT scheduled_at, reminder FROM occurrence
      WHERE state <= 2 AND reminder = (SELECT key FROM reminder_name WHERE id = ?)
      UNION ALL
      SELECT scheduled_at, reminder FROM occurrence
      WHERE state > 2 AND reminder = (SELECT key FROM reminder_name WHERE id = ?)
    """
  }

  package func occurrence(_ id: OccurrenceID) throws -> Occurrence? {
    try connection.first(
      """
      SELECT a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at,
        o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
      FROM reminder_name a
      JOIN occurrence o ON o.reminder = a.key
      WHERE a.id = $1 AND o.scheduled_at = $2
      """, id.reminder.rawValue, id.scheduledAt
    ) { try $0.occurrence(0) }
  }

  package func occurrences(_ filter: OccurrenceFilter, page: Page) throws -> [Occurrence] {
    var query = ComposedQuery("SELECT \(Self.occurrenceColumns)")
    if let reminder = filter.reminder {
      // Each index may contain the whole page.
      query.append("FROM (SELECT * FROM (")
      requireTimes("state <= 2", of: reminder, filter, page, in: &query)
      query.append(") x UNION ALL SELECT * FROM (")
      requireTimes("state > 2", of: reminder, filter, page, in: &query)
      query.append(
        """
        ) y) t
        CROSS JOIN occurrence o ON o.scheduled_at = t.scheduled_at AND o.reminder = t.reminder
        CROSS JOIN reminder_name a ON a.key = o.reminder
        """)
      query.beginConditions()
    } else {
      query.append("FROM occurrence o JOIN reminder_name a ON a.key = o.reminder")
    }
    if let owner = filter.owner { query.require("o.owner = ?", owner) }
    if filter.openOnly { query.require("o.state <= 2") }
    if let from = filter.from { query.require("o.scheduled_at >= ?", from) }
    if let before = filter.before { query.require("o.scheduled_at < ?", before) }
    if let last = filter.after {
      // The first condition is for the months of the table.
      query.require(
        """
        o.scheduled_at <= ? AND (o.scheduled_at, o.reminder) < (?, ?)
        """, last.scheduledAt, last.scheduledAt, try key(of: last.reminder) ?? 0)
    }
    query.append("ORDER BY o.scheduled_at DESC, o.reminder DESC LIMIT ?", page.limit)
    return try connection.all(query) { try $0.occurrence(0) }
  }

  /// Adds a query for the latest occurrences of a reminder in one of the two indexes.
  private func requireTimes(
    _ index: SQLText, of reminder: ReminderID, _ filter: OccurrenceFilter, _ page: Page, in query: inout ComposedQuery
  ) {
    query.append("SELECT scheduled_at, reminder FROM occurrence")
    query.beginConditions()
    query.require(index)
    query.require("reminder = (SELECT key FROM reminder_name WHERE id = ?)", reminder.rawValue)
    if let from = filter.from { query.require("scheduled_at >= ?", from) }
    if let before = filter.before { query.require("scheduled_at < ?", before) }
    if let last = filter.after { query.require("scheduled_at <= ?", last.scheduledAt) }
    // A page after one may begin with that one, which is then left out.
    query.append("ORDER BY scheduled_at DESC LIMIT ?", page.limit + (filter.after == nil ? 0 : 1))
  }

  package func doneTimes(of id: ReminderID, from first: Instant) throws -> [Instant] {
    try connection.all(
      """
      SELECT ended_at FROM occurrence
      WHERE reminder = (SELECT key FROM reminder_name WHERE id = $1) AND (state = 3 OR reason = 'doneAlready') AND ended_at >= $2
      ORDER BY ended_at DESC LIMIT 10000
      """, id.rawValue, first
    ) { $0.instant(0) }
  }

  package func update(_ occurrence: Occurrence, now: Instant) throws {
    try requireWriting()
    let at = occurrence.id.scheduledAt
    // No row has the key 0.
    let key = try key(of: occurrence.id.reminder) ?? 0
    try connection.run(
      """
      UPDATE occurrence SET
        owner = $1, state = $2, rounds = $3, fired_at = $4, delivered_at = $5, ended_at = $6, snoozed_until = $7, reason = $8,
        late = $9, run_count = $10, run_through = $11, title = $12, repeats = $13, repeat_at = $14, answered_by = $15
      WHERE scheduled_at = $16 AND reminder = $17
      """,
      occurrence.owner, OccurrenceCode.of(occurrence.state), occurrence.rounds, occurrence.firedAt,
      occurrence.deliveredAt, occurrence.endedAt, occurrence.state.until,
      occurrence.state.missReason?.rawValue, occurrence.late?.rawValue, occurrence.missedRun?.count,
      occurrence.missedRun?.through, occurrence.title, occurrence.repeats, occurrence.repeatAt, occurrence.answeredBy,
      at, key)
    guard connection.changes > 0 else {
      throw StoreFailure.internalError("there is no occurrence \(occurrence.id) to update")
    }

    if let again = occurrence.recursAt {
      // A removed reminder has history only, so its occurrence is not due again.
      if try connection.exists("SELECT 1 FROM reminder WHERE key = $1", key) {
        try setDue(
          reminder: key, snoozeOf: at.milliseconds, at: again, wakes: try wakes(reminder: key, at: again))
      }
    } else {
      try connection.run("DELETE FROM due WHERE reminder = $1 AND snooze_of = $2", key, at)
    }
    if !occurrence.isShown {
      try connection.run(
        """
        UPDATE delivery SET state = 4, state_at = $1
        WHERE scheduled_at = $2 AND reminder = $3 AND state <= 1 AND event IS NULL
        """, now, at, key)
      if connection.changes > 0 { outboxHasChanged() }
    }
  }
}

// Pings of jobs, and the occurrences that wait for them.
extension SQLTransaction {
  package func awaited(of id: ReminderID) throws -> [Occurrence] {
    let query = ComposedQuery(
      """
      SELECT \(Self.occurrenceColumns)
      FROM reminder_name a
      CROSS JOIN due d ON d.reminder = a.key AND d.snooze_of >= 0
      CROSS JOIN occurrence o ON o.scheduled_at = d.snooze_of AND o.reminder = d.reminder AND o.state = 6
      WHERE a.id = $1 ORDER BY o.scheduled_at
      """, id.rawValue)
    return try connection.all(query) { try $0.occurrence(0) }
  }

  package func setDown(_ id: ReminderID, since: Instant?) throws {
    try requireWriting()
    guard let since else {
      return try connection.run(
        "UPDATE reminder SET down_since = NULL WHERE key = (SELECT key FROM reminder_name WHERE id = $1)", id.rawValue)
    }
    try connection.run(
      """
      UPDATE reminder SET down_since = $2
      WHERE key = (SELECT key FROM reminder_name WHERE id = $1) AND down_since IS NULL AND definition LIKE '%"within":%'
      """, id.rawValue, since)
  }

  package func add(_ ping: Ping, to id: ReminderID) throws {
    try requireWriting()
    guard let key = try key(of: id) else { throw StoreFailure.internalError("there is no reminder \(id) to ping") }
    let last = try connection.first("SELECT max(number) FROM ping WHERE reminder = $1", key) { $0.optionalInt(0) }
    let number = (last.flatMap { $0 } ?? 0) + 1
    try connection.run(
      """
      INSERT INTO ping (reminder, number, at, kind, uid, via, took_ms, status, output)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, key, number, ping.at, PingCode.of(ping.kind), ping.uid, ping.via, ping.took?.rawValue, ping.status,
      ping.output)
    if number > Ping.maxStored {
      try connection.run("DELETE FROM ping WHERE reminder = $1 AND number <= $2", key, number - Ping.maxStored)
    }
  }

  package func pings(
    of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool, limit: Int
  ) throws -> [Ping] {
    let codes = Ping.Kind.allCases.map { kinds.contains($0) ? PingCode.of($0) : -1 }
    // Outputs are long, and lists of a hundred pings usually omit them.
    return try connection.all(
      """
      SELECT p.at, p.kind, p.uid, p.via, p.took_ms, p.status, CASE WHEN $1 = 1 THEN p.output END
      FROM reminder_name a JOIN ping p ON p.reminder = a.key
      WHERE a.id = $2 AND p.kind IN ($3, $4, $5) ORDER BY p.number DESC LIMIT $6
      """, withOutput ? 1 : 0, id.rawValue, codes[0], codes[1], codes[2], max(limit, 0)
    ) { try $0.ping() }
  }
}

extension StoredRow {
  /// `at, kind, uid, via, took_ms, status, output`
  fileprivate func ping() throws -> Ping {
    guard let kind = PingCode.kind(int64(1)) else {
      throw StoreFailure.internalError("a ping has the unknown kind \(int64(1))")
    }
    return Ping(
      at: instant(0), kind: kind, uid: uint32(2), via: optionalText(3),
      took: optionalInt(4).map { Milliseconds(rawValue: Int64($0)) }, status: optionalInt(5), output: optionalText(6))
  }
}

/// The codes in `ping.kind`.
private enum PingCode {
  static func of(_ kind: Ping.Kind) -> Int64 {
    switch kind {
    case .started: 0
    case .succeeded: 1
    case .failed: 2
    }
  }

  static func kind(_ code: Int64) -> Ping.Kind? { Ping.Kind.allCases.first { of($0) == code } }
}

// The length of the history.
extension SQLTransaction {
  package func timeOfOccurrence(after count: Int) throws -> Instant? {
    try connection.first(
      "SELECT scheduled_at FROM occurrence ORDER BY scheduled_at DESC, reminder DESC LIMIT 1 OFFSET $1", max(count, 0)
    ) { $0.instant(0) }
  }

  package func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned {
    try requireWriting()
    guard let end = edge.end else { return Pruned(count: 0, past: past, isOver: true) }
    // The start without `past` lies before every row: the smallest possible key.
    let start = try past.flatMap { past in try key(of: past.reminder).map { (past.scheduledAt, $0) } }
    let query = ComposedQuery(
      """
      SELECT \(Self.occurrenceColumns), o.reminder,
        EXISTS (SELECT 1 FROM delivery d
          WHERE d.scheduled_at = o.scheduled_at AND d.reminder = o.reminder AND d.state <= 1),
        EXISTS (SELECT 1 FROM due x WHERE x.reminder = o.reminder AND x.snooze_of = o.scheduled_at)
      FROM occurrence o
      JOIN reminder_name a ON a.key = o.reminder
      WHERE (o.scheduled_at, o.reminder) > ($1, $2) AND o.scheduled_at < $3
      ORDER BY o.scheduled_at, o.reminder
      LIMIT $4
      """, start?.0 ?? .earliest - .milliseconds(1), start?.1 ?? 0, end, max(limit, 0))
    let looked = try connection.all(query) { row in
      (
        occurrence: try row.occurrence(0), reminder: row.int64(17),
        isWanted: row.int64(18) != 0 || row.int64(19) != 0
      )
    }
    var result = Pruned(count: 0, past: past, isOver: looked.count < limit)
    for one in looked {
      if edge.takes(one.occurrence), !one.isWanted {
        try forget(one.occurrence.id.scheduledAt, one.reminder)
        result.count += 1
      } else {
        result.past = one.occurrence.id
      }
    }
    return result
  }

  package func eraseHistory(ofRemoved owner: UInt32, limit: Int) throws -> Bool {
    try requireWriting()
    let found = try connection.all(
      """
      SELECT o.scheduled_at, o.reminder FROM occurrence o
      WHERE o.owner = $1 AND NOT EXISTS (SELECT 1 FROM reminder r WHERE r.key = o.reminder)
      LIMIT $2
      """, owner, max(limit, 0)
    ) { ($0.instant(0), $0.int64(1)) }
    for (scheduledAt, reminder) in found { try forget(scheduledAt, reminder) }
    return found.count == limit
  }

  private func forget(_ scheduledAt: Instant, _ reminder: Int64) throws {
    try connection.run(
      """
      DELETE FROM attempt
      WHERE scheduled_at = $1 AND delivery IN (SELECT key FROM delivery WHERE scheduled_at = $1 AND reminder = $2)
      """, scheduledAt, reminder)
    try connection.run("DELETE FROM delivery WHERE scheduled_at = $1 AND reminder = $2", scheduledAt, reminder)
    try connection.run("DELETE FROM occurrence WHERE scheduled_at = $1 AND reminder = $2", scheduledAt, reminder)
    try connection.run(
      """
      DELETE FROM reminder_name
      WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM reminder WHERE key = $1)
        AND NOT EXISTS (SELECT 1 FROM occurrence WHERE state <= 2 AND reminder = $1)
        AND NOT EXISTS (SELECT 1 FROM occurrence WHERE state > 2 AND reminder = $1)
      """, reminder)
  }

  // MARK: Deliveries

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

  /// Returns the row of a queue; nil if there is none yet.
  package func queueRow(of queue: DeliveryQueue) throws -> DeliveryQueueRow? {
    try connection.first(
      "SELECT key, ordered FROM delivery_queue WHERE owner = $1 AND channel = $2", queue.owner, queue.channel.rawValue
    ) { DeliveryQueueRow(key: $0.int64(0), isOrdered: $0.int64(1) != 0) }
  }

  package func findOrMakeQueue(_ queue: DeliveryQueue) throws -> DeliveryQueueRow {
    if let known = try queueRow(of: queue) { return known }
    // Another daemon may have created it since, or be creating it.
    let made = try connection.first(
      """
      INSERT INTO delivery_queue (owner, channel) VALUES ($1, $2)
      ON CONFLICT (owner, channel) DO UPDATE SET owner = excluded.owner RETURNING key, ordered
      """, queue.owner, queue.channel.rawValue
    ) { DeliveryQueueRow(key: $0.int64(0), isOrdered: $0.int64(1) != 0) }
    guard let made else { throw StoreFailure.internalError("the queue \(queue.channel) was not created") }
    return made
  }

  /// Returns the keys of the deliveries that a queue may send now.
  package func claimable(in queueRow: DeliveryQueueRow, now: Instant, limit: Int) throws -> [Int64] {
    if queueRow.isOrdered { return try head(of: queueRow.key).flatMap { $0.visibleAt <= now ? [$0.key] : nil } ?? [] }
    return try connection.all(
      "SELECT key FROM delivery WHERE queue = $1 AND state <= 1 AND visible_at <= $2 ORDER BY visible_at, key LIMIT $3",
      queueRow.key, now, limit
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
      if tried.hasAttempt {
        try connection.run(
          """
          INSERT INTO attempt (delivery, position, started_at, took_ms, outcome, status, answer, error, scheduled_at)
          SELECT key, attempts, started_at, took_ms, outcome, status, answer, error, scheduled_at
          FROM delivery WHERE key = $1
          """, tried.key)
      }
      try connection.run(
        """
        UPDATE delivery SET
          state = CASE WHEN state <= 1 THEN $2 ELSE state END, state_at = CASE WHEN state <= 1 THEN $3 ELSE state_at END,
          visible_at = CASE WHEN state > 1 OR $2 > 1 THEN 0 ELSE coalesce($3, created_at) END, attempts = attempts + 1,
          started_at = $4, took_ms = $5, outcome = $6, status = $7, answer = $8, error = $9,
          receipt = coalesce($10, receipt)
        WHERE key = $1
        """, tried.key, code, at, attempt.startedAt, attempt.took.rawValue, AttemptCode.of(attempt.outcome),
        attempt.status, attempt.answer, attempt.error, attempt.receipt)
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
    guard let queueKey = try queueRow(of: queue)?.key else { return }
    outboxHasChanged()
    // Deliveries in flight are invisible past their own time and are left alone. The others get `now` as their own time,
    // so that a release after a claim does not restore the former one.
    try connection.run(
      """
      UPDATE delivery SET state = 1, state_at = $1, visible_at = $1
      WHERE queue = $2 AND state <= 1 AND visible_at > $1 AND visible_at = coalesce(state_at, created_at)
      """, now, queueKey)
  }

  private static var selectDeliveries: SQLText {
    """
    SELECT d.id, a.id, d.scheduled_at, l.owner, l.channel, d.round, d.state, d.state_at, d.attempts, d.created_at,
      d.attempts_before, d.event
    FROM delivery d
    JOIN delivery_queue l ON l.key = d.queue
    JOIN reminder_name a ON a.key = d.reminder
    """
  }

  package func sent(of id: OccurrenceID) throws -> [Delivery] {
    let query = ComposedQuery(
      """
      \(Self.selectDeliveries) WHERE a.id = $1 AND d.scheduled_at = $2 AND d.event IS NULL AND (d.state = 2
        OR d.state <= 1 AND (d.attempts > 0 OR d.visible_at > coalesce(d.state_at, d.created_at)))
      """, id.reminder.rawValue, id.scheduledAt)
    return try connection.all(query) { try $0.delivery(0) }
  }

  package func delivery(_ id: DeliveryID) throws -> Delivery? {
    try connection.all(ComposedQuery("\(Self.selectDeliveries) WHERE d.id = $1", id)) { try $0.delivery(0) }.first
  }

  package func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery] {
    var query = ComposedQuery(Self.selectDeliveries)
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
    case .pending: query.require("d.state = 0")
    case .waiting: query.require("d.state = 1")
    case .delivered: query.require("d.state = 2")
    // The condition repeats that of the index of dead deliveries, so that the planner uses it.
    case .dead: query.require("d.state = 3")
    case .cancelled: query.require("d.state = 4")
    case nil: break
    }
    if let last = filter.after { query.require("d.key < (SELECT key FROM delivery WHERE id = ?)", last) }
    query.append("ORDER BY d.key DESC LIMIT ?", page.limit)
    return try connection.all(query) { try $0.delivery(0) }
  }

  package func receipt(of id: DeliveryID) throws -> String? {
    try connection.first("SELECT receipt FROM delivery WHERE id = $1", id) { $0.optionalText(0) } ?? nil
  }

  package func attempts(of id: DeliveryID) throws -> [Attempt] {
    try connection.all(
      """
      SELECT t.position, t.started_at, t.took_ms, t.outcome, t.status, t.answer, t.error
      FROM delivery d
      JOIN attempt t ON t.delivery = d.key AND t.scheduled_at = d.scheduled_at
      WHERE d.id = $1
      UNION ALL
      SELECT attempts, started_at, took_ms, outcome, status, answer, error
      FROM delivery
      WHERE id = $1 AND started_at IS NOT NULL
      ORDER BY 1
      """, id
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
}

// Endpoints.
extension SQLTransaction {
  package func put(_ endpoint: Endpoint) throws {
    try requireWriting()
    outboxHasChanged()
    endpointsHaveChanged()
    try connection.put(
      "endpoint", key: "owner, channel", "url, created_at, disabled, disabled_at, failing_since, settings",
      endpoint.queue.owner, endpoint.queue.channel.rawValue, endpoint.url, endpoint.createdAt,
      endpoint.disabled?.reason, endpoint.disabled?.at, endpoint.failingSince, try reader.text(endpoint.settings))
    try setOrdered(endpoint.settings.inOrder ?? false, endpoint.queue)
    // The daemon that holds the queue reads the endpoint's answers, so the queue must exist before the first message.
    if endpoint.answersAddress != nil { _ = try findOrMakeQueue(endpoint.queue) }
  }

  private func setOrdered(_ isOrdered: Bool, _ queue: DeliveryQueue) throws {
    let known = try queueRow(of: queue)
    guard isOrdered != (known?.isOrdered ?? false) else { return }
    let key = try known?.key ?? findOrMakeQueue(queue).key
    let code = isOrdered ? 1 : 0
    try connection.run("UPDATE delivery_queue SET ordered = $1 WHERE key = $2", code, key)
    try connection.run("UPDATE delivery SET in_order = $1 WHERE queue = $2 AND state <= 1", code, key)
  }

  package func removeEndpoint(_ queue: DeliveryQueue, now: Instant) throws -> Bool {
    try requireWriting()
    try connection.run(
      "DELETE FROM endpoint WHERE owner = $1 AND channel = $2", queue.owner, queue.channel.rawValue)
    guard connection.changes > 0 else { return false }
    outboxHasChanged()
    endpointsHaveChanged()
    try setOrdered(false, queue)
    if let queueKey = try queueRow(of: queue)?.key {
      try connection.run(
        "UPDATE delivery SET state = 4, state_at = $1 WHERE queue = $2 AND state <= 1", now, queueKey)
    }
    return true
  }

  package func endpoints(owner: UInt32?) throws -> [Endpoint] {
    try connection.all(
      """
      SELECT owner, channel, url, created_at, disabled, disabled_at, failing_since, settings FROM endpoint
      WHERE $1 IS NULL OR owner = $1
      ORDER BY channel, owner
      """, owner
    ) { try $0.endpoint(reader) }
  }

  package func endpoint(_ queue: DeliveryQueue) throws -> Endpoint? {
    try connection.first(
      """
      SELECT owner, channel, url, created_at, disabled, disabled_at, failing_since, settings FROM endpoint
      WHERE owner = $1 AND channel = $2
      """, queue.owner, queue.channel.rawValue
    ) { try $0.endpoint(reader) }
  }
}
