public import ChimeSchedule

/// Where a due time stands in the order of a store, for reading on behind it.
public struct DueCursor: Hashable, Sendable {
  public var dueAt: Instant
  /// The store's own numbers: of the reminder, and of what comes again.
  public var reminder: Int64
  public var again: Int64

  public init(dueAt: Instant, reminder: Int64, again: Int64) {
    self.dueAt = dueAt
    self.reminder = reminder
    self.again = again
  }
}

/// What is due, a part at a time.
public struct DuePage: Sendable {
  public var due: [DueReminder]
  /// The last that was looked at; nil: there was none.
  public var end: DueCursor?
  /// Whether nothing more is due behind it.
  public var isWhole: Bool
  /// The earliest due time that has not come yet.
  public var next: Instant?
  /// The earliest of those that wakes the machine.
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
