public import ChimeSchedule

/// A stretch of a reminder's times that came of one definition.
public struct ReminderVersion: Hashable, Sendable {
  public var reminder: Reminder
  /// From when on its times count.
  public var from: Instant
  /// Before which each of its times has been decided: its next time when the definition was replaced, or that moment; in the
  /// version in force its next time. Nil: its schedule had no further one.
  public var until: Instant?
  /// When that time is looked at, in the version in force: later than the time itself by its jitter, or held by quiet hours.
  public var dueAt: Instant?
  /// Whether it is the reminder's definition now.
  public var isInForce: Bool

  public init(reminder: Reminder, from: Instant, until: Instant?, dueAt: Instant? = nil, isInForce: Bool) {
    self.reminder = reminder
    self.from = from
    self.until = until
    self.dueAt = dueAt
    self.isInForce = isInForce
  }

  /// From when on the times of a definition count whose first one is `next`.
  public static func begin(next: Instant?, since: Instant?) -> Instant? {
    [next, since.map { $0 + .milliseconds(1) }].compactMap { $0 }.min()
  }

  /// Before which each time of a definition has been decided when another one replaces it.
  ///
  /// - Parameters:
  ///   - former: its next time.
  ///   - next: the first time of the other.
  public static func end(next former: Instant?, before next: Instant?, since: Instant?) -> Instant {
    // One that had no time to come is over, whenever its last one was.
    [former, since.map { $0 + .milliseconds(1) } ?? next].compactMap { $0 }.min() ?? .latest
  }
}

extension Reminder {
  /// Whether another definition of it has the same times, looked at at the same moments: what else it says makes no other
  /// version.
  public func hasSameTimes(as other: Reminder) -> Bool {
    schedule == other.schedule && timezone == other.timezone && gap == other.gap && fold == other.fold
      && place == other.place && jitter == other.jitter && lastDone == other.lastDone
      && chainedTimes == other.chainedTimes && tracker == other.tracker && isExpectation == other.isExpectation
  }
}
