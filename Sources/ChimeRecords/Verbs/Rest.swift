package import ChimeCore
package import ChimeSchedule

// Idempotency tokens of requests.
extension SQLTransaction {
  package func answer(owner: UInt32, token: String) throws -> [UInt8]? {
    try connection.first("SELECT answer FROM token WHERE owner = $1 AND token = $2", owner, token) { $0.bytes(0) }
  }

  package func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws {
    try requireWriting()
    try connection.run("DELETE FROM token WHERE kept_at < $1", now - Milliseconds.days(1))
    try connection.run(
      """
      INSERT INTO token (owner, token, kept_at, answer) VALUES ($1, $2, $3, $4)
      ON CONFLICT (owner, token) DO UPDATE SET kept_at = excluded.kept_at, answer = excluded.answer
      """, owner, token, now, answer)
  }
}

// Action tokens.
extension SQLTransaction {
  package func spend(_ token: String, until expiry: Instant, now: Instant) throws -> Bool {
    try requireWriting()
    try connection.run("DELETE FROM used_token WHERE expires_at < $1", now)
    try connection.run(
      "INSERT INTO used_token (token, expires_at) VALUES ($1, $2) ON CONFLICT (token) DO NOTHING", token, expiry)
    return connection.changes > 0
  }
}

// The daemon's notes, and counts.
extension SQLTransaction {
  package func note(_ name: String) throws -> String? {
    try connection.first("SELECT value FROM note WHERE name = $1", name) { $0.text(0) }
  }

  package func notes(named prefix: String) throws -> [(name: String, value: String)] {
    try connection.all("SELECT name, value FROM note WHERE substr(name, 1, length($1)) = $1 ORDER BY name", prefix) {
      ($0.text(0), $0.text(1))
    }
  }

  package func setNote(_ name: String, _ value: String?) throws {
    try requireWriting()
    if let value {
      try connection.run(
        "INSERT INTO note (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name,
        value)
    } else {
      try connection.run("DELETE FROM note WHERE name = $1", name)
    }
  }

  package func dueCount(before end: Instant) throws -> Int {
    // Each reminder has at most one regular due time. Snoozes are few, and count only for reminders without a regular
    // time in the span.
    try connection.first(
      """
      SELECT (SELECT count(*) FROM due WHERE next_at < $1 AND snooze_of = -1) + (
        SELECT count(DISTINCT s.reminder) FROM due s
        WHERE s.snooze_of >= 0 AND +s.next_at < $1
          AND NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = s.reminder AND d.snooze_of = -1 AND d.next_at < $1))
      """, end
    ) { $0.int(0) } ?? 0
  }

  package func gauges() throws -> StoreGauges {
    // As in `counts`, each number is the size of an index, or concerns a queue's pending and dead deliveries.
    let (all, scheduled) =
      try connection.first(
        """
        SELECT (SELECT count(*) FROM reminder),
          (SELECT count(*) FROM due) - (SELECT count(*) FROM due WHERE snooze_of >= 0)
        """
      ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    let queues = try connection.all(
      """
      SELECT l.owner, l.channel,
        (SELECT count(*) FROM delivery d WHERE d.queue = l.key AND d.state <= 1),
        (SELECT min(d.created_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1),
        (SELECT count(*) FROM delivery d WHERE d.queue = l.key AND d.state = 3)
      FROM delivery_queue l
      """
    ) { row in
      StoreGauges.DeliveryQueueGauge(
        queue: DeliveryQueue(owner: row.uint32(0), channel: ChannelName(rawValue: row.text(1))), pending: row.int(2),
        oldest: row.optionalInstant(3), dead: row.int(4))
    }
    return StoreGauges(reminders: all, scheduled: scheduled, queues: queues)
  }

  package func counts(owner: UInt32?) throws -> StoreCounts {
    let reminders =
      if let owner {
        try connection.first(
          """
          SELECT count(*) FROM reminder r WHERE r.owner = $1
            AND (EXISTS (SELECT 1 FROM due d WHERE d.reminder = r.key)
              OR EXISTS (SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key))
          """, owner
        ) { $0.int(0) }
      } else {
        // Without an owner, nearly every reminder counts by its regular due time, and the size of an index is fast to get.
        try connection.first(
          """
          SELECT (SELECT count(*) FROM due) - (SELECT count(*) FROM due WHERE snooze_of >= 0) + (
            SELECT count(*) FROM (
              SELECT reminder FROM occurrence WHERE state <= 2
              UNION SELECT reminder FROM due WHERE snooze_of >= 0) x
            WHERE NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = x.reminder AND d.snooze_of = -1)
              AND EXISTS (SELECT 1 FROM reminder r WHERE r.key = x.reminder))
          """
        ) { $0.int(0) }
      }
    let open = try connection.first(
      "SELECT count(*) FROM occurrence WHERE state <= 2 AND ($1 IS NULL OR owner = $1)", owner
    ) { $0.int(0) }
    let pending = try connection.first(
      """
      SELECT count(*) FROM delivery_queue l CROSS JOIN delivery d ON d.queue = l.key
      WHERE d.state <= 1 AND ($1 IS NULL OR l.owner = $1)
      """, owner
    ) { $0.int(0) }
    let dead = try connection.first(
      """
      SELECT count(*) FROM delivery_queue l CROSS JOIN delivery d ON d.queue = l.key
      WHERE d.state = 3 AND ($1 IS NULL OR l.owner = $1)
      """, owner
    ) { $0.int(0) }
    // The condition repeats that of the index, so that the planner uses it.
    let expected = try connection.first(
      """
      SELECT count(*), count((SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key LIMIT 1))
      FROM reminder r WHERE instr(r.definition, '"within":') > 0 AND ($1 IS NULL OR +r.owner = $1)
      """, owner
    ) { (all: $0.int(0), down: $0.int(1)) }
    return StoreCounts(
      reminders: (reminders ?? 0) + (try awaitingCount(owner: owner)), openOccurrences: open ?? 0,
      pendingDeliveries: pending ?? 0, deadDeliveries: dead ?? 0,
      expectations: expected?.all ?? 0, expectationsDown: expected?.down ?? 0)
  }

  /// Returns the number of reminders with neither a due time nor an open occurrence that wait for another reminder.
  private func awaitingCount(owner: UInt32?) throws -> Int {
    var query = ComposedQuery("SELECT count(*) FROM reminder r")
    query.require("r.follows IS NOT NULL")
    if let owner { query.require("+r.owner = ?", owner) }
    query.require("NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = r.key)")
    query.require("NOT EXISTS (SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key)")
    query.require(Self.awaitsOther)
    return try connection.all(query) { $0.int(0) }.first ?? 0
  }
}
