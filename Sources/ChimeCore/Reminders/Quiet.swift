public import ChimeSchedule

/// A QuietRule is a reminder's own setting for quiet hours.
public struct QuietRule: Hashable, Sendable, Codable {
  /// Its own quiet hours, in the zone that governs it; nil for the configured ones, in the machine's zone.
  public var hours: QuietHours?
  /// What happens to its times in quiet hours; nil for the configured rule.
  public var handling: Handling?

  public enum Handling: String, Hashable, Sendable, Codable, CaseIterable {
    /// Fire once, when the quiet hours end.
    case hold
    /// Record them as missed.
    case drop
    /// Fire them anyway.
    case off
  }

  public init(hours: QuietHours? = nil, handling: Handling? = nil) {
    self.hours = hours
    self.handling = handling
  }
}

/// QuietDefaults are the quiet hours that are configured for all reminders.
public struct QuietDefaults: Hashable, Sendable {
  public var hours: QuietHours
  /// Never `off`: for no quiet hours, leave `hours` empty.
  public var handling: QuietRule.Handling

  public init(hours: QuietHours = .never, handling: QuietRule.Handling = .hold) {
    self.hours = hours
    self.handling = handling
  }
}

/// A Quiet is the quiet hours that apply to one reminder: a value that answers for any instant.
public struct Quiet: Hashable, Sendable {
  public let hours: QuietHours
  public let zone: Zone
  /// Whether its times in quiet hours are dropped instead of held.
  public let drops: Bool

  /// - Parameters:
  ///   - local: the machine's zone.
  ///   - own: the zone that governs the reminder.
  /// - Returns: nil if no quiet hours apply, as for critical reminders.
  public init?(of reminder: Reminder, _ defaults: QuietDefaults, local: Zone, own: @autoclosure () -> Zone) {
    guard reminder.urgency != .critical else { return nil }
    let handling = reminder.quiet?.handling ?? defaults.handling
    let hours = reminder.quiet?.hours ?? defaults.hours
    guard handling != .off, !hours.isEmpty else { return nil }
    self.hours = hours
    zone = reminder.quiet?.hours == nil ? local : own()
    drops = handling == .drop
  }

  /// Returns when the quiet hours that cover `instant` end; nil if none do.
  public func end(at instant: Instant) -> Instant? { hours.end(ofQuietAt: instant, in: zone) }
}
