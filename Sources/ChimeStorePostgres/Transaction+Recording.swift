import ChimeCore
import ChimeRecords
import ChimeSchedule

// What has been decided is written in two or three steps, however many firings there are, and each step is a few
// statements that are sent together: rows go to the server as columns, one parameter each.
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

    var key: Int64 { standing.key }
  }

  private func recordTogether(_ firings: [Firing]) throws {
    if firings.isEmpty { return }
    var all: [Writing] = []
    all.reserveCapacity(firings.count)
    for firing in firings {
      // A reminder that has been removed since fires no more.
      guard let standing = try standing(of: firing.due.reminder.id) else { continue }
      all.append(
        Writing(
          firing: firing, standing: standing,
          written: Array(repeating: false, count: firing.occurrences.count)))
    }
    var lanes: [Lane: LaneStanding] = [:]
    for writing in all {
      for delivery in writing.firing.deliveries where lanes[delivery.lane] == nil {
        lanes[delivery.lane] = try standingMaking(delivery.lane)
        concernsOthers = true
      }
    }

    try writeOccurrences(&all)
    var queue = try following(all)
    var deliveries = DeliveryRows()
    for writing in all {
      let passedOver = zip(writing.firing.occurrences, writing.written).filter { !$0.1 }.map(\.0.id)
      for delivery in writing.firing.deliveries where !passedOver.contains(delivery.occurrence) {
        guard let lane = lanes[delivery.lane] else { continue }
        deliveries.append(delivery, of: writing.key, lane)
      }
    }
    queue += try deliveries.insertion(on: connection)
    try advance(all, behind: queue)
  }

  /// What the answers of a step came to.
  private final class Marks {
    var places: [(firing: Int, occurrence: Int)] = []
    var reminders: Set<Int64> = []
  }

  /// Writes occurrences, and takes the due times away of those that come again.
  private func writeOccurrences(_ all: inout [Writing]) throws {
    // A statement cannot write one row twice: an occurrence that a firing has twice goes into another.
    var plain: [OccurrenceRows] = []
    var own = OccurrenceRows()
    var past = (reminder: Integers(), snoozeOf: Integers(), nextAt: Integers(), isEmpty: true)
    for (index, writing) in all.enumerated() {
      let (firing, due) = (writing.firing, writing.firing.due)
      if !firing.advances {
        past.reminder.append(writing.key)
        past.snoozeOf.append(due.scheduledAt)
        past.nextAt.append(due.dueAt)
        past.isEmpty = false
      }
      var times: [Instant: Int] = [:]
      for (place, occurrence) in firing.occurrences.enumerated() {
        var turn = 0
        if firing.occurrences.count > 1 {
          turn = times[occurrence.id.scheduledAt, default: 0]
          times[occurrence.id.scheduledAt] = turn + 1
        }
        // What comes again may do so by the decision that was made for it, and by no other.
        if turn == 0, !firing.advances, occurrence.id.scheduledAt == due.scheduledAt,
          let again = due.occurrence?.comesAgain
        {
          own.append(occurrence, of: writing.key, at: (index, place), comingAgain: again)
          continue
        }
        while plain.count <= turn { plain.append(OccurrenceRows()) }
        plain[turn].append(occurrence, of: writing.key, at: (index, place))
      }
    }
    var queue: [Connection.Queued] = []
    let marks = Marks()
    if !past.isEmpty {
      queue.append(
        try connection.queued(
          """
          DELETE FROM due d USING unnest($1, $2, $3) u (reminder, snooze_of, next_at)
          WHERE d.reminder = u.reminder AND d.snooze_of = u.snooze_of AND d.next_at = u.next_at
          """, past.reminder, past.snoozeOf, past.nextAt))
    }
    if !own.places.isEmpty { queue += try own.replacement(on: connection) { marks.places += $0 } }
    for rows in plain where !rows.places.isEmpty {
      queue.append(try rows.insertion(on: connection) { marks.places += $0 })
    }
    try connection.send(queue)
    for (index, place) in marks.places { all[index].written[place] = true }
  }

  /// Makes what has fired due again where it insists, and ends the insisting of earlier times.
  private func following(_ all: [Writing]) throws -> [Connection.Queued] {
    // One of each reminder at a time: a later one may end what an earlier one has begun.
    var turns: [FollowingRows] = []
    for writing in all {
      let (reminder, standing) = (writing.firing.due.reminder, writing.standing)
      for (place, occurrence) in writing.firing.occurrences.enumerated() where writing.written[place] {
        // A reminder that never insisted has nothing to end.
        let silences = reminder.nag != nil && occurrence.state == .fired && occurrence.rounds == 1
        let again = occurrence.comesAgain
        guard silences || again != nil else { continue }
        while turns.count <= place { turns.append(FollowingRows()) }
        if silences { turns[place].silence(standing.key, before: occurrence.id.scheduledAt) }
        guard let again else { continue }
        // The decision may have been made from an older definition.
        let wakes =
          standing.generation == reminder.generation
          ? reminder.wakes(at: again) : try wakes(reminder: standing.key, at: again)
        turn.lower(standing.key, to: again)
        turns[place].setDue(standing.key, again: occurrence.id.scheduledAt, at: again, wakes: wakes)
      }
    }
    return try turns.flatMap { try $0.statements(on: connection) }
  }

  /// Moves regular due times on, unless a reminder has been changed since: then the decision is an old one, and the due
  /// time stays for a new one.
  ///
  /// - Parameter queue: what is sent before it, in the same step.
  private func advance(_ all: [Writing], behind queue: [Connection.Queued]) throws {
    var rows = AdvanceRows()
    var skips: [Writing] = []
    for writing in all {
      let (firing, reminder) = (writing.firing, writing.firing.due.reminder)
      guard firing.advances, writing.standing.generation == reminder.generation else { continue }
      if firing.skipNext != writing.standing.skipNext { skips.append(writing) }
      guard let next = firing.next else {
        rows.end(writing.key, at: firing.due.scheduledAt)
        continue
      }
      let dueAt = firing.nextDueAt ?? next + reminder.jitterOffset
      turn.lower(writing.key, to: dueAt)
      var isWaking = false
      if reminder.wake {
        var after = reminder
        after.skipNext = firing.skipNext
        isWaking = after.wakes(at: dueAt, isRegular: true)
      }
      rows.move(writing.key, from: firing.due.scheduledAt, to: dueAt, next: next, wakes: isWaking)
    }
    let marks = Marks()
    let counts = !skips.isEmpty
    try connection.send(
      queue
        + rows.statements(on: connection) { answer in
          if counts { marks.reminders.formUnion(answer.map { $0.int64(0) }) }
        })
    skips.removeAll { !marks.reminders.contains($0.key) }
    try connection.send(
      skips.map { writing in
        try connection.queued(
          "UPDATE reminder SET skip_next = $1 WHERE key = $2", writing.firing.skipNext, writing.key)
      })
    for writing in skips { claimed[writing.firing.due.reminder.id]?.skipNext = writing.firing.skipNext }
  }

  private func standing(of id: ReminderID) throws -> Standing? {
    if let known = claimed[id] { return known }
    return try connection.first(
      """
      SELECT r.key, r.generation, r.skip_next FROM alias a JOIN reminder r ON r.key = a.key WHERE a.id = $1
      """, id.rawValue
    ) { Standing(key: $0.int64(0), generation: $0.int64(1), skipNext: $0.int(2)) }
  }
}
