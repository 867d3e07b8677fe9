public import ChimeSchedule

/// What an answer changes in the store.
public enum AnswerWork {
  /// Records an answer to an occurrence; a reminder whose times are counted from when it was last done gets its next.
  ///
  /// - Parameter reminder: as it stands in `transaction`; nil when it has been removed.
  /// - Returns: the occurrence as it is then; unchanged when it had that answer already.
  /// - Throws: `AnswerRefused`, or what the transaction throws.
  public static func run(
    _ answer: Occurrence.Answer, to occurrence: Occurrence, reminder: Reminder?, in transaction: any StoreTransaction,
    _ bearings: Bearings, now: Instant
  ) throws -> Occurrence {
    let answered = try occurrence.answered(answer, at: now)
    guard answered != occurrence else { return answered }
    if case .snoozed = answered.state, reminder == nil { throw AnswerRefused.removed }
    try transaction.update(answered, now: now)
    if answered.state == .done, var reminder, reminder.schedule.countsFromDone {
      // The next time is counted from now, whatever was to come.
      reminder.lastDone = now
      reminder.generation += 1
      try transaction.upsert(reminder, next: bearings.timetable(of: reminder).next(after: now))
    }
    return answered
  }
}
