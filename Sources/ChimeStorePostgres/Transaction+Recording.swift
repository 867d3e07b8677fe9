import ChimeCore
import ChimeRecords
import ChimeSchedule

// Recording of firings in two or three steps, for any number of firings. Each step is a few pipelined statements; rows
// are sent as columns, one parameter each.
extension Transaction {
  func record(_ firings: [FiringResult]) throws {
    try requireWriting()
    var together: [FiringResult] = []
    var reminders: Set<ReminderID> = []
    for firing in firings {
      // Firings of the same reminder are written one after another.
      if !reminders.insert(firing.due.reminder.id).inserted {
        try recordTogether(together)
        (together, reminders) = ([], [firing.due.reminder.id])
      }
      together.append(firing)
    }
    try recordTogether(together)
  }

  /// A batch of firings that are being recorded.
  private struct Batch {
    let firings: [FiringResult]
    /// The progress of each reminder; nil if it was removed, so that its firing is dropped.
    var progresses: [ReminderProgress?] = []
    /// The index of each firing's first occurrence among all occurrences.
    var first: [Int] = []
    /// Whether each occurrence was written.
    var written: [Bool] = []

    // Firings are large; a copy for each step would cost as much as the step.
    init(_ firings: [FiringResult], progress: (ReminderID) throws -> ReminderProgress?) rethrows {
      self.firings = firings
      progresses.reserveCapacity(firings.count)
      first.reserveCapacity(firings.count)
      for place in firings.indices {
        progresses.append(try progress(firings[place].due.reminder.id))
        first.append(written.count)
        written.append(contentsOf: repeatElement(false, count: firings[place].occurrences.count))
      }
    }

    /// Whether each decision is based on the present version of its reminder.
    var isCurrent: Bool {
      firings.indices.allSatisfy {
        progresses[$0]?.generation ?? firings[$0].due.reminder.generation == firings[$0].due.reminder.generation
      }
    }
  }

  /// The rows to write once it is known which occurrences were written.
  private struct Rest {
    var following: [FollowingRows] = []
    var deliveries = DeliveryRows()
    var advance = AdvanceRows()
    /// The indexes of firings that used up a skipped occurrence.
    var skips: [Int] = []
  }

  private func recordTogether(_ firings: [FiringResult]) throws {
    if firings.isEmpty { return }
    var batch = try Batch(firings) { try progress(of: $0) }
    var queues: [DeliveryQueue: DeliveryQueueRow] = [:]
    for place in firings.indices where batch.progresses[place] != nil {
      for delivery in firings[place].deliveries where queues[delivery.queue] == nil {
        queues[delivery.queue] = try findOrMakeQueue(delivery.queue)
        concernsOthers = true
      }
    }

    // Usually all occurrences are written, so the next step is prepared while the server works. If the preparation
    // needs further queries, it has to wait.
    let written = Found<Int>()
    let (statements, all) = try occurrenceStatements(batch, written)
    var rest: Rest?
    if batch.isCurrent {
      var expected = batch
      for slot in all { expected.written[slot] = true }
      try connection.send(statements) { rest = try self.rest(of: expected, queues) }
    } else {
      try connection.send(statements)
    }
    for slot in written.all { batch.written[slot] = true }
    if Set(written.all).count < all.count { rest = nil }
    try write(try rest ?? self.rest(of: batch, queues), of: batch)
  }

  /// Returns the statements that write occurrences and delete the due rows of repeats, with the slots of those occurrences.
  ///
  /// - Parameter written: receives the slots of the written occurrences.
  private func occurrenceStatements(_ batch: Batch, _ written: Found<Int>) throws -> ([Connection.Queued], slots: [Int])
  {
    // One statement cannot write a row twice, so a repeated occurrence of a firing goes into another statement.
    var plain: [OccurrenceRows] = []
    var own = OccurrenceRows()
    var past = Rows()
    let firings = batch.firings
    for index in firings.indices {
      guard let key = batch.progresses[index]?.key else { continue }
      let (advances, scheduledAt) = (firings[index].advances, firings[index].due.scheduledAt)
      if !advances { past.append(key, scheduledAt, firings[index].due.dueAt) }
      let occurrences = firings[index].occurrences
      var times: [Instant: Int] = [:]
      for place in occurrences.indices {
        let (at, slot) = (occurrences[place].id.scheduledAt, batch.first[index] + place)
        var turn = 0
        if occurrences.count > 1 {
          turn = times[at, default: 0]
          times[at] = turn + 1
        }
        // A repeat is written only if its row still matches its decision.
        if turn == 0, !advances, at == scheduledAt, let again = firings[index].due.occurrence?.recursAt {
          own.append(occurrences[place], of: key, at: slot, comingAgain: again)
          continue
        }
        while plain.count <= turn { plain.append(OccurrenceRows()) }
        plain[turn].append(occurrences[place], of: key, at: slot)
      }
    }
    var statements = try connection.queued(
      """
      DELETE FROM due d USING unnest($1, $2, $3) u (reminder, snooze_of, next_at)
      WHERE d.reminder = u.reminder AND d.snooze_of = u.snooze_of AND d.next_at = u.next_at
      """, past)
    if !own.slots.isEmpty { statements += try own.replacement(on: connection) { written.all += $0 } }
    for rows in plain { statements += try rows.insertion(on: connection) { written.all += $0 } }
    return (statements, own.slots + plain.flatMap(\.slots))
  }

  private func rest(of batch: Batch, _ queues: [DeliveryQueue: DeliveryQueueRow]) throws -> Rest {
    var rest = Rest()
    for index in batch.firings.indices {
      guard let progress = batch.progresses[index] else { continue }
      try follow(index, of: batch, progress, in: &rest)
      owe(index, of: batch, progress, queues, in: &rest)
      advance(index, of: batch, progress, in: &rest)
    }
    return rest
  }

  /// Makes fired occurrences due again for their repeats, and ends the repeats of earlier ones.
  private func follow(_ index: Int, of batch: Batch, _ progress: ReminderProgress, in rest: inout Rest) throws {
    let occurrences = batch.firings[index].occurrences
    for place in occurrences.indices where batch.written[batch.first[index] + place] {
      // Without repeats there is nothing to end.
      let silences =
        occurrences[place].state == .fired && occurrences[place].rounds == 1
        && batch.firings[index].due.reminder.nag != nil
      let again = occurrences[place].recursAt
      guard silences || again != nil else { continue }
      // Occurrences of one reminder go into separate statements: a later one may end what an earlier one has begun.
      while rest.following.count <= place { rest.following.append(FollowingRows()) }
      let scheduledAt = occurrences[place].id.scheduledAt
      if silences { rest.following[place].silenced.append(progress.key, scheduledAt) }
      guard let again else { continue }
      let reminder = batch.firings[index].due.reminder
      // The decision may be based on an older definition.
      let wakes =
        progress.generation == reminder.generation
        ? reminder.wakes(at: again) : try wakes(reminder: progress.key, at: again)
      turn.lower(progress.key, to: again)
      rest.following[place].again.append(progress.key, scheduledAt, again, wakes ? 1 : 0)
    }
  }

  /// Adds the deliveries of the written occurrences.
  private func owe(
    _ index: Int, of batch: Batch, _ progress: ReminderProgress, _ queues: [DeliveryQueue: DeliveryQueueRow],
    in rest: inout Rest
  ) {
    let (occurrences, deliveries) = (batch.firings[index].occurrences, batch.firings[index].deliveries)
    let isWhole = batch.written[batch.first[index]...].prefix(occurrences.count).allSatisfy { $0 }
    for place in deliveries.indices {
      if !isWhole {
        let isPassedOver = occurrences.indices.contains {
          !batch.written[batch.first[index] + $0] && occurrences[$0].id == deliveries[place].occurrence
        }
        if isPassedOver { continue }
      }
      guard let queue = queues[deliveries[place].queue] else { continue }
      rest.deliveries.append(deliveries[place], of: progress.key, queue)
    }
  }

  /// Advances a regular due time. If the reminder has changed since, the decision is outdated and the due time stays
  /// for a new one.
  private func advance(_ index: Int, of batch: Batch, _ progress: ReminderProgress, in rest: inout Rest) {
    let firings = batch.firings
    guard firings[index].advances, progress.generation == firings[index].due.reminder.generation else { return }
    if firings[index].skipNext != progress.skipNext { rest.skips.append(index) }
    guard let next = firings[index].next else {
      return rest.advance.ended.append(progress.key, firings[index].due.scheduledAt)
    }
    let dueAt = firings[index].nextDueAt ?? next + firings[index].due.reminder.jitterOffset
    turn.lower(progress.key, to: dueAt)
    var isWaking = false
    if firings[index].due.reminder.wake {
      var after = firings[index].due.reminder
      after.skipNext = firings[index].skipNext
      isWaking = after.wakes(at: dueAt, isRegular: true)
    }
    rest.advance.moved.append(
      progress.key, firings[index].due.scheduledAt, dueAt, dueAt == next ? nil : next, isWaking ? 1 : 0)
  }

  private func write(_ rest: Rest, of batch: Batch) throws {
    let moved = Found<Int64>()
    let counts = !rest.skips.isEmpty
    try connection.send(
      try rest.following.flatMap { try $0.statements(on: connection) }
        + rest.deliveries.insertion(on: connection)
        + rest.advance.statements(on: connection) { answer in
          if counts { moved.all += answer.map { $0.int64(0) } }
        })
    let stillDue = Set(moved.all)
    var statements: [Connection.Queued] = []
    for index in rest.skips {
      guard let key = batch.progresses[index]?.key, stillDue.contains(key) else { continue }
      let skipNext = batch.firings[index].skipNext
      statements.append(try connection.queued("UPDATE reminder SET skip_next = $1 WHERE key = $2", skipNext, key))
      memory.claimed[batch.firings[index].due.reminder.id]?.skipNext = skipNext
    }
    try connection.send(statements)
  }
}
