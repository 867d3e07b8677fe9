public import ChimeSchedule

/// A DueCursor is a position in a store's order of due times, from which to read on.
public struct DueCursor: Hashable, Sendable {
  public var dueAt: Instant
  /// The store's internal row numbers: of the reminder, and of the snooze, repeat or awaited ping.
  public var reminder: Int64
  public var again: Int64

  public init(dueAt: Instant, reminder: Int64, again: Int64) {
    self.dueAt = dueAt
    self.reminder = reminder
    self.again = again
  }
}

/// A DuePage is one page of due times.
public struct DuePage: Sendable {
  public var due: [DueReminder]
  /// The position of the last one read; nil if there was none.
  public var end: DueCursor?
  /// Whether nothing more is due after it.
  public var isWhole: Bool
  /// The earliest due time that is still to come.
  public var next: Instant?
  /// The earliest due time to come that wakes the machine.
  public var nextWake: Instant?

  public init(
    due: [DueReminder] = [], end: DueCursor? = nil, isWhole: Bool = true, next: Instant? = nil, nextWake: Instant? = nil
  ) {
    self.due = due
    self.end = end
    self.isWhole = isWhole
    self.next = next
    self.nextWake = nextWake
  }
}
