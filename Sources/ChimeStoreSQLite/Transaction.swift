import ChimeCore
import ChimeRecords

/// A Transaction implements the store's verbs for SQLite. It is used on the queue of its connection only.
final class Transaction: SQLTransaction {
  let connection: Connection
  let reader = DefinitionReader()
  let isReadOnly: Bool
  let restorations: Int
  var memory = TransactionMemory()

  init(connection: Connection, isReadOnly: Bool, restorations: Int) {
    self.connection = connection
    self.isReadOnly = isReadOnly
    self.restorations = restorations
  }

  func writeAhead() throws { try connection.writeAhead() }

  func coming(_ filter: ReminderFilter, limit: Int) throws -> [ReminderRecord] {
    var query = ComposedQuery(Self.recordColumns)
    query.append("SELECT d.reminder AS key, d.next_at AS coming")
    requireComing(filter, in: &query)
    query.append("ORDER BY d.next_at, a.id LIMIT ?", limit)
    query.append(Self.recordJoins)
    return try connection.all(query, row: record).compactMap { $0 }
  }

  func answered(among ids: [OccurrenceID]) throws -> Set<OccurrenceID> {
    try Set(
      ids.filter { id in
        try connection.first(
          """
          SELECT o.state FROM reminder_name a JOIN occurrence o ON o.reminder = a.key
          WHERE a.id = ? AND o.scheduled_at = ?
          """, id.reminder.rawValue, id.scheduledAt
        ) { $0.int64(0) >= OccurrenceCode.snoozed.rawValue } ?? true
      })
  }

  static var beginChange: StaticString {
    """
    INSERT INTO change (owner, at, kind, tracker, subject, after_entry)
    VALUES (?, ?, ?, ?, ?, coalesce((SELECT max(key) FROM entry), 0)) RETURNING key
    """
  }

  static var enrolTenant: StaticString {
    """
    INSERT INTO tenant (number, name) SELECT coalesce(max(number) + 1, 2147483648), ? FROM tenant
    RETURNING name, number
    """
  }

  static var tags: SQLText {
    """
    json_each(r.definition, '$.tags') t
    """
  }
}
