public import ChimeSchedule

/// What a reminder has to say about quiet hours itself.
public struct QuietRule: Hashable, Sendable, Codable {
  /// Its own quiet hours, on the clock of the zone that governs it. Nil: the configured ones, on the machine's clock.
  public var hours: QuietHours?
  /// What becomes of its times in them. Nil: as configured.
  public var handling: Handling?

  public enum Handling: String, Hashable, Sendable, Codable, CaseIterable {
    /// One popup when the quiet hours end.
    case hold
    /// Recorded as missed.
    case drop
    /// They ring all the same.
    case off
  }

  public init(hours: QuietHours? = nil, handling: Handling? = nil) {
    self.hours = hours
    self.handling = handling
  }
}

/// The quiet hours that are configured for all reminders.
public struct QuietDefaults: Hashable, Sendable {
  public var hours: QuietHours
  /// Not `off`: whoever wants no quiet hours has none.
  public var handling: QuietRule.Handling

  public init(hours: QuietHours = .never, handling: QuietRule.Handling = .hold) {
    self.hours = hours
    self.handling = handling
  }
}

/// The quiet hours that one reminder is under: a value that answers for any instant.
public struct Quiet: Hashable, Sendable {
  public let hours: QuietHours
  public let zone: Zone
  /// Whether its times in them are dropped; held otherwise.
  public let drops: Bool

  /// - Parameters:
  ///   - local: the machine's zone.
  ///   - own: the zone that governs the reminder.
  /// - Returns: nil when it is under none: critical ones are not.
  public init?(of reminder: Reminder, _ defaults: QuietDefaults, local: Zone, own: @autoclosure () -> Zone) {
    guard reminder.urgency != .critical else { return nil }
    let handling = reminder.quiet?.handling ?? defaults.handling
    let hours = reminder.quiet?.hours ?? defaults.hours
    guard handling != .off, !hours.isEmpty else { return nil }
    self.hours = hours
    zone = reminder.quiet?.hours == nil ? local : own()
    drops = handling == .drop
  }

  /// When the quiet that holds at `instant` ends; nil when it is loud.
  public func end(at instant: Instant) -> Instant? { hours.end(ofQuietAt: instant, in: zone) }

  /// When what is to ring at `instant` is heard under a rule that holds it.
  public func heard(_ instant: Instant) -> Instant { end(at: instant) ?? instant }
}
