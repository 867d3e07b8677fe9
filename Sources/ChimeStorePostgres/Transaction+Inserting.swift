import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeTracking

// Bulk insertion of reminders: one statement for each of the three tables, for any number of reminders. COPY would fail
// at the first existing name; these statements skip it.
extension Transaction {
  func insert(_ reminders: [NewReminder]) throws -> [Int] {
    try requireWriting()
    if reminders.isEmpty { return [] }
    for new in reminders { memory.claimed[new.reminder.id] = nil }
    var keys: [String: Int64] = [:]
    keys.reserveCapacity(reminders.count)
    // Keys follow this order, in which the reminders were created.
    let made = try connection.all(
      """
      INSERT INTO reminder_name (id) SELECT u.id FROM unnest($1) WITH ORDINALITY u (id, place) ORDER BY u.place
      ON CONFLICT (id) DO NOTHING
      RETURNING id, key
      """, List(reminders.map(\.reminder.id.rawValue))
    ) { (id: $0.text(0), key: $0.int64(1)) }
    for (id, key) in made { keys[id] = key }

    var rows = ReminderRows()
    var taken: [Int] = []
    for (place, new) in reminders.enumerated() {
      // Of two reminders with the same name, the first gets it.
      guard let key = keys.removeValue(forKey: new.reminder.id.rawValue) else {
        taken.append(place)
        continue
      }
      try rows.append(new, of: key, reader)
      guard let dueAt = new.dueAt else { continue }
      turn.lower(key, to: dueAt)
      if Tenant.isTenant(new.reminder.owner) { memory.tenantsWithMore.insert(new.reminder.owner) }
    }
    try connection.send(rows.insertions(on: connection))
    return taken
  }
}

/// Rows of reminders with their first due times.
private struct ReminderRows {
  private var reminders = Rows()
  private var due = Rows()
  /// A cache of definitions as JSON. Reminders of one batch are mostly alike, and encoding costs more than the rest of a row.
  private var texts: [Definition: String] = [:]

  mutating func append(_ new: NewReminder, of key: Int64, _ reader: DefinitionReader) throws {
    let reminder = new.reminder
    reminders.append(
      key, reminder.owner, reminder.generation, reminder.createdAt, reminder.skipNext, reminder.timezone.text,
      reminder.schedule.canonical, reminder.title, reminder.body, try text(Definition(of: reminder), reader),
      reminder.tracker?.tracker.rawValue, reminder.follows?.rawValue, reminder.onlyIfDone?.rawValue, new.next)
    guard let next = new.next, let dueAt = new.dueAt else { return }
    due.append(key, dueAt, dueAt == next ? nil : next, reminder.wakes(at: dueAt, isRegular: true) ? 1 : 0)
  }

  private mutating func text(_ definition: Definition, _ reader: DefinitionReader) throws -> String {
    if let known = texts[definition] { return known }
    let text = try reader.text(definition)
    texts[definition] = text
    return text
  }

  func insertions(on connection: Connection) throws -> [Connection.Queued] {
    try connection.queued(
      """
      INSERT INTO reminder (
        key, owner, generation, created_at, skip_next, zone, schedule, title, body, definition, tracker, follows,
        needs, counts_from)
      SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      """, reminders)
      + connection.queued(
        """
        INSERT INTO due (reminder, snooze_of, next_at, scheduled_at, wakes)
        SELECT u.reminder, -1, u.next_at, u.scheduled_at, u.wakes
        FROM unnest($1, $2, $3, $4) u (reminder, next_at, scheduled_at, wakes)
        """, due)
  }
}

extension NewReminder {
  /// The time when the first occurrence is evaluated.
  fileprivate var dueAt: Instant? { next.map { $0 + reminder.jitterOffset } }
}
