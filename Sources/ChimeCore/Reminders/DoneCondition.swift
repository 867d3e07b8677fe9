public import ChimeSchedule

/// A DoneCondition says when a reminder was done, for another one that waits for it (`Reminder.onlyIfDone`).
///
/// It holds what a decision needs as values, so that the decision stays pure.
///
///     let condition = try DoneCondition.read(for: reminder, from: due.scheduledAt, in: transaction, context)
///     condition?.done(onDayOf: due.scheduledAt)    // nil: it is not done yet
public struct DoneCondition: Hashable, Sendable {
  /// The moments at which it was done.
  var times: [Instant]
  /// The zone in which days are read: that of the waiting reminder.
  var zone: Zone

  public init(_ times: [Instant], zone: Zone) { (self.times, self.zone) = (times, zone) }

  private static let midnight = try? Schedule(canonical: "daily at 00:00")
  /// The number of a job's latest successful pings that are searched.
  private static let nearby = 200

  /// Reads the condition from the store.
  ///
  /// - Parameter first: the earliest time of the waiting reminder that will be asked about.
  /// - Returns: nil if the reminder waits for none, or if the other was removed, because firing is then the safer choice.
  public static func read(
    for reminder: Reminder, from first: Instant, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws -> DoneCondition? {
    guard let id = reminder.onlyIfDone, let other = try transaction.readableReminder(id)?.reminder,
      other.owner == reminder.owner
    else { return nil }
    // A day begins at most 26 hours before each of its times, even when the clock changes.
    var times = try transaction.doneTimes(of: id, from: first - .hours(26))
    // A successful run counts as done even if none was awaited.
    if other.isExpectation {
      times += try transaction.pings(of: id, among: [.succeeded], withOutput: false, limit: nearby).map(\.at)
    }
    return DoneCondition(times, zone: context.zone(of: reminder) ?? .utc)
  }

  /// Adds occurrences that the store does not know yet.
  mutating func add(_ occurrences: some Sequence<Occurrence>) {
    times += occurrences.compactMap { $0.chainEvent == .done ? $0.endedAt : nil }
  }

  /// Returns when it was first done on the day of `time`; nil if it was not.
  public func done(onDayOf time: Instant) -> Instant? {
    let day = zone.civil(at: time).date
    return times.filter { zone.civil(at: $0).date == day }.min()
  }

  /// Returns how long a time waits: to the end of its day, but not beyond the reminder's grace.
  public func end(of time: Instant, _ reminder: Reminder) -> Instant {
    let useful = time + reminder.jitterOffset + reminder.grace
    let end = Self.midnight?.timetable(in: zone).next(after: time)
    return min(useful, max(time + reminder.jitterOffset, end ?? useful))
  }

  /// Returns whether a time still waits.
  func holds(_ time: Instant, _ reminder: Reminder, at now: Instant) -> Bool {
    now < end(of: time, reminder) && done(onDayOf: time) == nil
  }
}
