public import ChimeSchedule

/// One decision about one due time, to be written in one piece: what is recorded, what is owed, what comes next.
public struct Firing: Hashable, Sendable {
  /// The due time it was made for, as `claimDue` gave it.
  public var due: DueReminder
  /// Occurrences to insert, or to replace where the store has them as missed or snoozed.
  public var occurrences: [Occurrence]
  public var deliveries: [Delivery]
  /// The reminder's next scheduled time; nil ends it. Ignored when `advances` is false.
  public var next: Instant?
  /// Whether the decision consumed the regular due time (a snooze's end does not).
  public var advances: Bool
  /// What is left of the reminder's skips.
  public var skipNext: Int

  public init(
    due: DueReminder, occurrences: [Occurrence], deliveries: [Delivery], next: Instant?, advances: Bool, skipNext: Int
  ) {
    self.due = due
    self.occurrences = occurrences
    self.deliveries = deliveries
    self.next = next
    self.advances = advances
    self.skipNext = skipNext
  }
}
