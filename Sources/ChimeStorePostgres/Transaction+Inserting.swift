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
    // Keys follow this order, in which the reminders were created.
    let made = try connection.all(
      """
      INSERT INTO reminder_name (id) SELECT u.id FROM unnest($1) WITH ORDINALITY u (id, place) ORDER BY u.place
      ON CONFLICT (id) DO NOTHING
      RETURNING id, key
      """, List(reminders.map(\.reminder.id.rawValue))
    ) { ($0.text(0), $0.int64(1)) }
    var keys = Dictionary(uniqueKeysWithValues: made)

    var (rows, due) = (Rows(), Rows())
    var taken: [Int] = []
    for (place, new) in reminders.enumerated() {
      let reminder = new.reminder
      // Of two reminders with the same name, the first gets it.
      guard let key = keys.removeValue(forKey: reminder.id.rawValue) else {
        taken.append(place)
        continue
      }
      let definition = try reader.text(Definition(of: reminder))
      rows.append(
        key, reminder.owner, reminder.generation, reminder.createdAt, reminder.skipNext, reminder.timezone.text,
        reminder.schedule.canonical, reminder.title, reminder.body, definition, reminder.tracker?.tracker.rawValue,
        reminder.follows?.rawValue, reminder.onlyIfDone?.rawValue, new.next)
      guard let next = new.next else { continue }
      let dueAt = next + reminder.jitterOffset
      due.append(key, dueAt, dueAt == next ? nil : next, reminder.wakes(at: dueAt, isRegular: true) ? 1 : 0)
      turn.lower(key, to: dueAt)
      if Tenant.isTenant(reminder.owner) { memory.tenantsWithMore.insert(reminder.owner) }
    }
    try connection.send(
      try connection.queued(
        """
        INSERT INTO reminder (
          key, owner, generation, created_at, skip_next, zone, schedule, title, body, definition, tracker, follows,
          needs, counts_from)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """, rows)
        + connection.queued(
          """
          INSERT INTO due (reminder, snooze_of, next_at, scheduled_at, wakes)
          SELECT u.reminder, -1, u.next_at, u.scheduled_at, u.wakes
          FROM unnest($1, $2, $3, $4) u (reminder, next_at, scheduled_at, wakes)
          """, due))
    return taken
  }
}
