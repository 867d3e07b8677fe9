import ChimeCore
import ChimeRecords
import ChimeSchedule

// What has been decided is written in two or three steps, however many firings there are: the statements of a step are
// sent together, since none of them depends on what another came to.
extension Transaction {
  func record(_ firings: [Firing]) throws {
    try requireWriting()
    var together: [Firing] = []
    var reminders: Set<ReminderID> = []
    for firing in firings {
      // Two of one reminder are written one after the other.
      if !reminders.insert(firing.due.reminder.id).inserted {
        try recordTogether(together)
        (together, reminders) = ([], [firing.due.reminder.id])
      }
      together.append(firing)
    }
    try recordTogether(together)
  }

  /// A firing on its way into the store.
  private struct Writing {
    var firing: Firing
    var standing: Standing
    /// Which of its occurrences have been written.
    var written: [Bool]
    /// Whether the regular due time has been moved on.
    var hasAdvanced = false

    var key: Int64 { standing.key }
  }

  private func recordTogether(_ firings: [Firing]) throws {
    var all: [Writing] = []
    for firing in firings {
      // A reminder that has been removed since fires no more.
      guard let standing = try standing(of: firing.due.reminder.id) else { continue }
      all.append(
        Writing(
          firing: firing, standing: standing,
          written: Array(repeating: false, count: firing.occurrences.count)))
    }
    if all.contains(where: { !$0.firing.deliveries.isEmpty }) { concernsOthers = true }
    var lanes: [Lane: LaneStanding] = [:]
    for lane in Set(all.flatMap { $0.firing.deliveries.map(\.lane) }).sorted() {
      lanes[lane] = try standingMaking(lane)
    }

    try writeOccurrences(&all)
    var queue: [Connection.Queued] = []
    for index in all.indices {
      let (firing, key) = (all[index].firing, all[index].key)
      for (occurrence, isWritten) in zip(firing.occurrences, all[index].written) where isWritten {
        queue += try following(occurrence, of: all[index].standing, firing.due.reminder)
      }
      let passedOver = zip(firing.occurrences, all[index].written).filter { !$0.1 }.map(\.0.id)
      for delivery in firing.deliveries where !passedOver.contains(delivery.occurrence) {
        guard let lane = lanes[delivery.lane] else { continue }
        queue += try insertion(delivery, of: key, lane)
      }
    }
    try connection.send(queue)
    try advance(&all)
  }

  /// Writes occurrences, and takes the due times away of those that come again.
  private func writeOccurrences(_ all: inout [Writing]) throws {
    var queue: [Connection.Queued] = []
    // (which firing, which occurrence) for each answer.
    let written = Marks()
    for (index, writing) in all.enumerated() {
      let (firing, due) = (writing.firing, writing.firing.due)
      if !firing.advances {
        queue.append(
          try connection.queued(
            "DELETE FROM due WHERE reminder = $1 AND snooze_of = $2 AND next_at = $3", writing.key, due.scheduledAt,
            due.dueAt))
      }
      for (place, occurrence) in firing.occurrences.enumerated() {
        // What comes again may do so by the decision that was made for it, and by no other.
        let isOwn = !firing.advances && occurrence.id.scheduledAt == due.scheduledAt
        queue.append(
          try insertion(occurrence, of: writing.key, comingAgain: isOwn ? due.occurrence?.comesAgain : nil) {
            if $0.changes > 0 { written.places.append((index, place)) }
          })
      }
    }
    try connection.send(queue)
    for (index, place) in written.places { all[index].written[place] = true }
  }

  /// What the answers of a step came to.
  private final class Marks {
    var places: [(Int, Int)] = []
  }

  /// Makes what has fired due again where it insists, and ends the insisting of earlier times.
  private func following(
    _ occurrence: Occurrence, of standing: Standing, _ reminder: Reminder
  ) throws -> [Connection.Queued] {
    let key = standing.key
    var queue: [Connection.Queued] = []
    // A reminder that never insisted has nothing to end.
    if reminder.nag != nil, occurrence.state == .fired, occurrence.rounds == 1 {
      queue.append(
        try connection.queued(
          """
          DELETE FROM due WHERE reminder = $1 AND snooze_of >= 0 AND snooze_of < $2 AND EXISTS (
            SELECT 1 FROM occurrence x
            WHERE x.scheduled_at = due.snooze_of AND x.reminder = $1 AND x.state < 2)
          """, key, occurrence.id.scheduledAt))
      // The index of open ones is named by the very words of its condition, the first of the two on the state.
      queue.append(
        try connection.queued(
          """
          UPDATE occurrence SET repeat_at = NULL
          WHERE state <= 2 AND state < 2 AND reminder = $1 AND repeat_at IS NOT NULL AND scheduled_at < $2
          """, key, occurrence.id.scheduledAt))
    }
    if let again = occurrence.comesAgain {
      // The decision may have been made from an older definition.
      let wakes =
        standing.generation == reminder.generation
        ? reminder.wakes(at: again) : try wakes(reminder: key, at: again)
      turn.lower(key, to: again)
      queue.append(
        try connection.queued(
          """
          INSERT INTO due (reminder, snooze_of, next_at, wakes) VALUES ($1, $2, $3, $4)
          ON CONFLICT (reminder, snooze_of) DO UPDATE SET
            next_at = excluded.next_at, scheduled_at = NULL, wakes = excluded.wakes
          """, key, occurrence.id.scheduledAt, again, wakes ? 1 : 0))
    }
    return queue
  }

  /// Moves regular due times on, unless a reminder has been changed since: then the decision is an old one, and the due
  /// time stays for a new one.
  private func advance(_ all: inout [Writing]) throws {
    var queue: [Connection.Queued] = []
    let moved = Marks()
    for (index, writing) in all.enumerated() {
      let (firing, reminder) = (writing.firing, writing.firing.due.reminder)
      guard firing.advances, writing.standing.generation == reminder.generation else { continue }
      guard let next = firing.next else {
        queue.append(
          try connection.queued(
            "DELETE FROM due WHERE reminder = $1 AND snooze_of = -1 AND coalesce(scheduled_at, next_at) = $2",
            writing.key, firing.due.scheduledAt
          ) { if $0.changes > 0 { moved.places.append((index, 0)) } })
        continue
      }
      let dueAt = firing.nextDueAt ?? next + reminder.jitterOffset
      turn.lower(writing.key, to: dueAt)
      var after = reminder
      after.skipNext = firing.skipNext
      queue.append(
        try connection.queued(
          """
          UPDATE due SET next_at = $1, scheduled_at = $2, wakes = $3
          WHERE reminder = $4 AND snooze_of = -1 AND coalesce(scheduled_at, next_at) = $5
          """, dueAt, dueAt == next ? nil : next, after.wakes(at: dueAt, isRegular: true) ? 1 : 0, writing.key,
          firing.due.scheduledAt
        ) { if $0.changes > 0 { moved.places.append((index, 0)) } })
    }
    try connection.send(queue)
    queue = []
    for (index, _) in moved.places where all[index].firing.skipNext != all[index].standing.skipNext {
      let skipNext = all[index].firing.skipNext
      queue.append(
        try connection.queued("UPDATE reminder SET skip_next = $1 WHERE key = $2", skipNext, all[index].key))
      claimed[all[index].firing.due.reminder.id]?.skipNext = skipNext
    }
    try connection.send(queue)
  }

  private func standing(of id: ReminderID) throws -> Standing? {
    if let known = claimed[id] { return known }
    return try connection.first(
      """
      SELECT r.key, r.generation, r.skip_next FROM alias a JOIN reminder r ON r.key = a.key WHERE a.id = $1
      """, id.rawValue
    ) { Standing(key: $0.int64(0), generation: $0.int64(1), skipNext: $0.int(2)) }
  }

  /// Inserts an occurrence, or replaces one that was not heard, or that comes again at that very time.
  private func insertion(
    _ occurrence: Occurrence, of reminder: Int64, comingAgain again: Instant?, heard: @escaping (Answer) -> Void
  ) throws -> Connection.Queued {
    try connection.queued(
      """
      INSERT INTO occurrence (
        scheduled_at, reminder, owner, state, rounds, fired_at, delivered_at, ended_at, snoozed_until, reason, late,
        run_count, run_through, title, repeats, repeat_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      ON CONFLICT (scheduled_at, reminder) DO UPDATE SET
        owner = $3, state = $4, rounds = $5, fired_at = $6, delivered_at = $7, ended_at = $8, snoozed_until = $9,
        reason = $10, late = $11, run_count = $12, run_through = $13, title = $14,
        repeats = $15, repeat_at = $16
      WHERE (occurrence.state = 5 AND occurrence.fired_at IS NULL)
        OR (occurrence.state = 2 AND occurrence.snoozed_until = $17)
        OR (occurrence.state < 2 AND occurrence.repeat_at = $17)
      """,
      occurrence.id.scheduledAt, reminder, occurrence.owner, OccurrenceCode.of(occurrence.state), occurrence.rounds,
      occurrence.firedAt, occurrence.deliveredAt, occurrence.endedAt, occurrence.state.snoozedUntil,
      occurrence.state.missReason?.rawValue, occurrence.late?.rawValue, occurrence.missedRun?.count,
      occurrence.missedRun?.through, occurrence.title, occurrence.repeats, occurrence.repeatAt, again, heard: heard)
  }

  private func insertion(
    _ delivery: Delivery, of reminder: Int64, _ lane: LaneStanding
  ) throws -> [Connection.Queued] {
    let (code, at) = DeliveryCode.of(delivery.state)
    var queue: [Connection.Queued] = []
    if delivery.round > 1 {
      // What waited for its channel to come back is shown once, not a round at a time.
      queue.append(
        try connection.queued(
          """
          UPDATE delivery SET state = 4, state_at = $1
          WHERE scheduled_at = $2 AND reminder = $3 AND lane = $4 AND state <= 1 AND round < $5
          """, delivery.createdAt, delivery.occurrence.scheduledAt, reminder, lane.key, delivery.round))
    }
    queue.append(
      try connection.queued(
        """
        INSERT INTO delivery (
          id, scheduled_at, reminder, lane, round, state, state_at, visible_at, attempts, created_at, in_order,
          attempts_before)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """,
        delivery.id.rawValue, delivery.occurrence.scheduledAt, reminder, lane.key, delivery.round,
        code, at, at ?? delivery.createdAt, delivery.attempts, delivery.createdAt, lane.isOrdered ? 1 : 0,
        delivery.attemptsBefore))
    return queue
  }
}
