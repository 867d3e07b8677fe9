public import ChimeSchedule

/// What the store knows of the reminder that another waits for (`Reminder.onlyIfDone`), as far as a decision about the
/// other's times needs it: a value, so that the decision stays one of values.
///
///     let condition = try DoneCondition.read(for: reminder, from: due.scheduledAt, in: transaction, context)
///     condition?.done(onDayOf: due.scheduledAt)    // nil: it is not done yet
public struct DoneCondition: Hashable, Sendable {
  /// When it was done.
  var times: [Instant]
  /// The zone that days are read in: the one that governs the reminder that waits.
  var zone: Zone

  public init(_ times: [Instant], zone: Zone) { (self.times, self.zone) = (times, zone) }

  private static let midnight = try? Schedule(canonical: "daily at 00:00")
  /// How many of a job's good runs are looked through, the latest first.
  private static let nearby = 200

  /// - Parameter first: the earliest of the times that are asked about.
  /// - Returns: nil for a reminder that waits for none, and where the other is gone: it rings then, which is the safer of the
  ///   two.
  public static func read(
    for reminder: Reminder, from first: Instant, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws -> DoneCondition? {
    guard let id = reminder.onlyIfDone, let other = try transaction.readableReminder(id)?.reminder,
      other.owner == reminder.owner
    else { return nil }
    // A day begins so long before each of its times, whatever the season.
    var times = try transaction.doneTimes(of: id, from: first - .hours(26))
    // A good run is done also where none was awaited.
    if other.isExpectation {
      times += try transaction.pings(of: id, among: [.succeeded], withOutput: false, limit: nearby).map(\.at)
    }
    return DoneCondition(times, zone: context.zone(of: reminder) ?? .utc)
  }

  /// Takes occurrences into account of which the store does not know yet.
  mutating func add(_ occurrences: some Sequence<Occurrence>) { times += occurrences.compactMap(\.doneAt) }

  /// When it was first done on the day of a time; nil: it was not.
  public func done(onDayOf time: Instant) -> Instant? {
    let day = zone.civil(at: time).date
    return times.filter { zone.civil(at: $0).date == day }.min()
  }

  /// Until when a time of a reminder waits: to the end of its day, and no longer than is useful.
  public func end(of time: Instant, _ reminder: Reminder) -> Instant {
    let useful = time + reminder.jitterOffset + reminder.grace
    let end = Self.midnight?.timetable(in: zone).next(after: time)
    return min(useful, max(time + reminder.jitterOffset, end ?? useful))
  }

  /// Whether a time of a reminder waits still.
  func holds(_ time: Instant, _ reminder: Reminder, at now: Instant) -> Bool {
    now < end(of: time, reminder) && done(onDayOf: time) == nil
  }
}

extension Occurrence {
  /// When it was done; nil: it was not.
  fileprivate var doneAt: Instant? { chainEvent == .done ? endedAt : nil }
}
