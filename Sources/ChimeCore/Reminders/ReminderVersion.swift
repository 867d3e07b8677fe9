public import ChimeSchedule

/// A ReminderVersion is a range of a reminder's times that came from one definition.
public struct ReminderVersion: Hashable, Sendable {
  public var reminder: Reminder
  /// The moment from which on its times count.
  public var from: Instant
  /// The moment before which all its times have been decided; nil if its schedule has no further time.
  ///
  /// In the current version it is the next time. In a former one it is the next time at its replacement, or that moment.
  public var until: Instant?
  /// When the current version's next time is evaluated: later by its jitter, or held by quiet hours.
  public var dueAt: Instant?
  /// Whether it is the current definition.
  public var isInForce: Bool

  public init(reminder: Reminder, from: Instant, until: Instant?, dueAt: Instant? = nil, isInForce: Bool) {
    self.reminder = reminder
    self.from = from
    self.until = until
    self.dueAt = dueAt
    self.isInForce = isInForce
  }

  /// Returns the moment from which on the times of a definition count; `next` is its first time.
  public static func begin(next: Instant?, since: Instant?) -> Instant? {
    [next, since.map { $0 + .milliseconds(1) }].compactMap { $0 }.min()
  }

  /// Returns the moment before which all times of a definition are decided when another one replaces it.
  ///
  /// - Parameters:
  ///   - former: the next time of the replaced definition.
  ///   - next: the first time of the new definition.
  public static func end(next former: Instant?, before next: Instant?, since: Instant?) -> Instant {
    // A definition without a time to come has ended, whenever its last time was.
    [former, since.map { $0 + .milliseconds(1) } ?? next].compactMap { $0 }.min() ?? .latest
  }
}

extension Reminder {
  /// Returns whether another definition has the same scheduled times.
  public func hasSameTimetable(as other: Reminder) -> Bool {
    schedule == other.schedule && timezone == other.timezone && gap == other.gap && fold == other.fold
      && place == other.place && lastDone == other.lastDone && chainedTimes == other.chainedTimes
      && tracker == other.tracker
  }

  /// Returns whether another definition has the same times and evaluations; then it is no new version.
  public func hasSameTimes(as other: Reminder) -> Bool {
    hasSameTimetable(as: other) && jitter == other.jitter && isExpectation == other.isExpectation
  }
}
