public import ChimeSchedule

/// A FiringResult is the decision about one due time, written in one piece: occurrences, deliveries and the next time.
public struct FiringResult: Hashable, Sendable {
  /// The due time as `claimDue` returned it.
  public var due: DueReminder
  /// Occurrences to insert; they replace a stored one only if that has not fired, or is the subject of the decision.
  public var occurrences: [Occurrence]
  public var deliveries: [Delivery]
  /// The reminder's next scheduled time; nil ends it. Ignored when `advances` is false.
  public var next: Instant?
  /// When `next` is evaluated; nil for that time plus jitter. Quiet hours defer it.
  public var nextDueAt: Instant?
  /// Whether the decision was about a scheduled time, not the end of a snooze, a ping deadline or a repeat.
  public var advances: Bool
  /// The number of the reminder's skips that are left.
  public var skipNext: Int
  /// Whether there is no next time because the search for it would take too long.
  public var isGivenUp = false
  /// Whether more of the same downtime remains to be decided: `next` has passed too.
  public var remainsBehind = false
  /// The zone of its times, if it is recorded later: the machine may be in another one by then.
  var zone: Zone?

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
