package import ChimeCore
package import ChimeSchedule

// Pings of jobs, and the occurrences that wait for them.
extension SQLTransaction {
  package func awaited(of id: ReminderID) throws -> [Occurrence] {
    try connection.all(
      """
      SELECT a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at,
        o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
      FROM reminder_name a
      CROSS JOIN due d ON d.reminder = a.key AND d.snooze_of >= 0
      CROSS JOIN occurrence o ON o.scheduled_at = d.snooze_of AND o.reminder = d.reminder AND o.state = 6
      WHERE a.id = $1 ORDER BY o.scheduled_at
      """, id.rawValue
    ) { try $0.occurrence(0) }
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
    if number > Ping.kept {
      try connection.run("DELETE FROM ping WHERE reminder = $1 AND number <= $2", key, number - Ping.kept)
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
