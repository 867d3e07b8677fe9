// What a client wants a reminder to be.
extension RemindersInterface {
  /// What Add takes: only `title` and `when` are needed, the rest has the configuration's defaults.
  public struct Draft: Codable, Equatable, Sendable {
    public var title: String
    public var when: String
    public var body: String?
    public var timezone: String?
    public var gap: Wire.Gap?
    public var fold: Wire.Fold?
    public var latitude: Double?
    public var longitude: Double?
    public var channels: [String]?
    public var tags: [String]?
    public var urgency: Wire.Urgency?
    public var icon: String?
    public var sound: String?
    public var url: String?
    public var category: String?
    public var catchUp: Wire.CatchUp?
    public var grace: String?
    public var jitter: String?
    public var nag: Nag?
    public var quiet: Quiet?
    public var wake: Bool?
    public var snooze: [String]?
    public var tracker: TrackerLink?

    public init(
      title: String, when: String, body: String? = nil, timezone: String? = nil, gap: Wire.Gap? = nil,
      fold: Wire.Fold? = nil, latitude: Double? = nil, longitude: Double? = nil, channels: [String]? = nil,
      tags: [String]? = nil, urgency: Wire.Urgency? = nil, icon: String? = nil, sound: String? = nil,
      url: String? = nil, category: String? = nil, catchUp: Wire.CatchUp? = nil, grace: String? = nil,
      jitter: String? = nil, nag: Nag? = nil, quiet: Quiet? = nil, wake: Bool? = nil, snooze: [String]? = nil,
      tracker: TrackerLink? = nil
    ) {
      self.title = title
      self.when = when
      self.body = body
      self.timezone = timezone
      self.gap = gap
      self.fold = fold
      self.latitude = latitude
      self.longitude = longitude
      self.channels = channels
      self.tags = tags
      self.urgency = urgency
      self.icon = icon
      self.sound = sound
      self.url = url
      self.category = category
      self.catchUp = catchUp
      self.grace = grace
      self.jitter = jitter
      self.nag = nag
      self.quiet = quiet
      self.wake = wake
      self.snooze = snooze
      self.tracker = tracker
    }
  }

  /// What Update changes: a field that is null stays as it is; an empty string removes a body, icon, sound, url or
  /// category.
  public struct Change: Codable, Equatable, Sendable {
    public var title: String?
    public var when: String?
    public var body: String?
    public var timezone: String?
    public var gap: Wire.Gap?
    public var fold: Wire.Fold?
    public var latitude: Double?
    public var longitude: Double?
    public var channels: [String]?
    public var tags: [String]?
    public var urgency: Wire.Urgency?
    public var icon: String?
    public var sound: String?
    public var url: String?
    public var category: String?
    public var catchUp: Wire.CatchUp?
    public var grace: String?
    public var jitter: String?
    public var nag: Nag?
    public var quiet: Quiet?
    public var wake: Bool?
    public var snooze: [String]?
    /// What goes back to having no value of its own, before what is given is taken: gap and fold to the dialect's own rule,
    /// place, quiet and snooze to what is configured, jitter, nag and tracker to none, amount to the tracker's usual one.
    public var reset: [Resettable]?
    public var tracker: TrackerLink?

    public init(
      title: String? = nil, when: String? = nil, body: String? = nil, timezone: String? = nil, gap: Wire.Gap? = nil,
      fold: Wire.Fold? = nil, latitude: Double? = nil, longitude: Double? = nil, channels: [String]? = nil,
      tags: [String]? = nil, urgency: Wire.Urgency? = nil, icon: String? = nil, sound: String? = nil,
      url: String? = nil, category: String? = nil, catchUp: Wire.CatchUp? = nil, grace: String? = nil,
      jitter: String? = nil, nag: Nag? = nil, quiet: Quiet? = nil, wake: Bool? = nil, snooze: [String]? = nil,
      reset: [Resettable]? = nil, tracker: TrackerLink? = nil
    ) {
      self.title = title
      self.when = when
      self.body = body
      self.timezone = timezone
      self.gap = gap
      self.fold = fold
      self.latitude = latitude
      self.longitude = longitude
      self.channels = channels
      self.tags = tags
      self.urgency = urgency
      self.icon = icon
      self.sound = sound
      self.url = url
      self.category = category
      self.catchUp = catchUp
      self.grace = grace
      self.jitter = jitter
      self.nag = nag
      self.quiet = quiet
      self.wake = wake
      self.snooze = snooze
      self.reset = reset
      self.tracker = tracker
    }
  }

  /// What a reminder has to do with a tracker. In a Change, and a Draft, what is null stays as it is, or has its default:
  /// logs is true, the others are false.
  public struct TrackerLink: Codable, Equatable, Sendable {
    public var tracker: String?
    /// Whether Done logs an entry, of `amount` in `unit`, or of the tracker's usual amount when null.
    public var logs: Bool?
    public var amount: Double?
    public var unit: String?
    /// Its times are passed over once the goal of their day is met.
    public var quietWhenDone: Bool?
    /// An entry moves its next time, which takes an interval.
    public var followsEntries: Bool?
    /// What remains of an amount's daily goal is spread over what is left of the window.
    public var pace: Bool?

    public init(
      tracker: String? = nil, logs: Bool? = nil, amount: Double? = nil, unit: String? = nil,
      quietWhenDone: Bool? = nil, followsEntries: Bool? = nil, pace: Bool? = nil
    ) {
      self.tracker = tracker
      self.logs = logs
      self.amount = amount
      self.unit = unit
      self.quietWhenDone = quietWhenDone
      self.followsEntries = followsEntries
      self.pace = pace
    }
  }

  /// Channels that join when an occurrence insists: from which repeat on, 1 being the first.
  public struct Escalation: Codable, Equatable, Sendable {
    public var from: Int
    public var channels: [String]

    public init(from: Int, channels: [String]) {
      self.from = from
      self.channels = channels
    }
  }

  /// How an occurrence that nobody answers insists: repeated every so often, at most `max` times. In a Draft `every` is
  /// needed; in a Change what is null stays as it is.
  public struct Nag: Codable, Equatable, Sendable {
    public var every: String?
    public var max: Int?
    public var escalation: [Escalation]?

    public init(every: String? = nil, max: Int? = nil, escalation: [Escalation]? = nil) {
      self.every = every
      self.max = max
      self.escalation = escalation
    }
  }

  public enum QuietRule: String, Codable, Sendable, CaseIterable { case hold, drop, off }

  /// What a reminder has to say about quiet hours itself; null is as configured. In a Change what is null stays as it is,
  /// and no hours mean the configured ones.
  public struct Quiet: Codable, Equatable, Sendable {
    public var rule: QuietRule?
    public var hours: [String]?

    public init(rule: QuietRule? = nil, hours: [String]? = nil) {
      self.rule = rule
      self.hours = hours
    }
  }
}
