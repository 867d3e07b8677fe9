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
    var ids = Texts()
    for new in reminders {
      ids.append(new.reminder.id.rawValue)
      memory.claimed[new.reminder.id] = nil
    }
    var keys: [String: Int64] = [:]
    keys.reserveCapacity(reminders.count)
    // Keys follow this order, in which the reminders were created.
    let made = try connection.all(
      """
      INSERT INTO reminder_name (id) SELECT u.id FROM unnest($1) WITH ORDINALITY u (id, place) ORDER BY u.place
      ON CONFLICT (id) DO NOTHING
      RETURNING id, key
      """, ids
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
  private var key = Integers()
  private var owner = Integers()
  private var generation = Integers()
  private var createdAt = Integers()
  private var skipNext = Integers()
  private var zone = Texts()
  private var schedule = Texts()
  private var title = Texts()
  private var body = Texts()
  private var definition = Texts()
  private var tracker = Texts()
  private var follows = Texts()
  private var needs = Texts()
  private var countsFrom = Integers()
  private var due = (reminder: Integers(), nextAt: Integers(), scheduledAt: Integers(), wakes: Integers())
  private var isEmpty = true
  private var hasDue = false
  /// A cache of definitions as JSON. Reminders of one batch are mostly alike, and encoding costs more than the rest of a row.
  private var texts: [Definition: String] = [:]

  mutating func append(_ new: NewReminder, of number: Int64, _ reader: DefinitionReader) throws {
    let reminder = new.reminder
    isEmpty = false
    key.append(number)
    owner.append(reminder.owner)
    generation.append(reminder.generation)
    createdAt.append(reminder.createdAt)
    skipNext.append(reminder.skipNext)
    zone.append(reminder.timezone.text)
    schedule.append(reminder.schedule.canonical)
    title.append(reminder.title)
    body.append(reminder.body)
    definition.append(try text(Definition(of: reminder), reader))
    tracker.append(reminder.tracker?.tracker.rawValue)
    follows.append(reminder.follows?.rawValue)
    needs.append(reminder.onlyIfDone?.rawValue)
    countsFrom.append(new.next)
    guard let next = new.next, let dueAt = new.dueAt else { return }
    hasDue = true
    due.reminder.append(number)
    due.nextAt.append(dueAt)
    due.scheduledAt.append(dueAt == next ? nil : next)
    due.wakes.append(reminder.wakes(at: dueAt, isRegular: true) ? 1 : 0)
  }

  private mutating func text(_ definition: Definition, _ reader: DefinitionReader) throws -> String {
    if let known = texts[definition] { return known }
    let text = try reader.text(definition)
    texts[definition] = text
    return text
  }

  func insertions(on connection: Connection) throws -> [Connection.Queued] {
    if isEmpty { return [] }
    var statements = [
      try connection.queued(
        """
        INSERT INTO reminder (
          key, owner, generation, created_at, skip_next, zone, schedule, title, body, definition, tracker, follows,
          needs, counts_from)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """, key, owner, generation, createdAt, skipNext, zone, schedule, title, body, definition, tracker, follows,
        needs, countsFrom)
    ]
    if hasDue {
      statements.append(
        try connection.queued(
          """
          INSERT INTO due (reminder, snooze_of, next_at, scheduled_at, wakes)
          SELECT u.reminder, -1, u.next_at, u.scheduled_at, u.wakes
          FROM unnest($1, $2, $3, $4) u (reminder, next_at, scheduled_at, wakes)
          """, due.reminder, due.nextAt, due.scheduledAt, due.wakes))
    }
    return statements
  }
}

extension NewReminder {
  /// The time when the first occurrence is evaluated.
  fileprivate var dueAt: Instant? { next.map { $0 + reminder.jitterOffset } }
}
