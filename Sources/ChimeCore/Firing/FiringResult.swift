public import ChimeSchedule

/// One decision about one due time, to be written in one piece: what is recorded, what is owed, what comes next.
public struct FiringResult: Hashable, Sendable {
  /// The due time it was made for, as `claimDue` gave it.
  public var due: DueReminder
  /// Occurrences to insert, or to replace where the store has them as not heard, or as what the decision was made for.
  public var occurrences: [Occurrence]
  public var deliveries: [Delivery]
  /// The reminder's next scheduled time; nil ends it. Ignored when `advances` is false.
  public var next: Instant?
  /// When `next` is looked at; nil: at that time and the reminder's jitter. Quiet hours put it off.
  public var nextDueAt: Instant?
  /// Whether the decision was about the regular due time (that of a snooze's end or a repeat is not).
  public var advances: Bool
  /// What is left of the reminder's skips.
  public var skipNext: Int
  /// Whether there is no next time because looking for it would take too long.
  public var isGivenUp = false
  /// Whether more of the same absence is left to be decided about: `next` has passed too.
  public var remainsBehind = false

  public init(
    due: DueReminder, occurrences: [Occurrence], deliveries: [Delivery], next: Instant?, nextDueAt: Instant? = nil,
    advances: Bool, skipNext: Int
  ) {
    self.due = due
    self.occurrences = occurrences
    self.deliveries = deliveries
    self.next = next
    self.nextDueAt = nextDueAt
    self.advances = advances
    self.skipNext = skipNext
  }
}
