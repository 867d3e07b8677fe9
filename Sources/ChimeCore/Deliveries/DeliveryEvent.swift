public import ChimeSchedule

/// An OccurrenceEvent is a kind of event that endpoints can subscribe to, of an occurrence or of a tracker.
public enum OccurrenceEvent: String, Hashable, Sendable, Codable, CaseIterable {
  case fired
  /// It repeated because it was unanswered.
  case repeated
  case done, snoozed, dismissed, missed
  /// An answer was undone, so that it waits for one again.
  case reopened
  /// A message about it was given up.
  case givenUp
  /// A tracker's entries changed.
  case logged
  /// A tracker met its goal for the day, week or month.
  case goal
  /// An achievement, a level or a milestone was reached.
  case unlocked

  /// Whether it concerns a tracker or a pack (`DeliveryEvent.news`), not an occurrence.
  public var isOfTracker: Bool {
    switch self {
    case .logged, .goal, .unlocked: true
    case .fired, .repeated, .done, .snoozed, .dismissed, .missed, .reopened, .givenUp: false
    }
  }

  /// The subscription of an endpoint that does not specify one.
  public static let usual: Set<OccurrenceEvent> = [.fired, .repeated]
}

/// A DeliveryEvent is what a message reports if not a firing.
public struct DeliveryEvent: Hashable, Sendable, Codable {
  public var kind: Kind
  /// What caused it, as in `Occurrence.answeredBy`; `cli`, `ping`, `tracker` or `undo` for causes without a name there.
  public var by: String?
  /// The end of the snooze.
  public var until: Instant?
  public var reason: MissReason?
  /// The withdrawn or given-up message.
  public var message: DeliveryID?
  /// The channel of the given-up message.
  public var channel: ChannelName?
  /// The event's data about a tracker; nil for an event of an occurrence.
  public var news: TrackerNews?

  public enum Kind: Hashable, Sendable, Codable {
    case event(OccurrenceEvent)
    /// Remove what a message shows, because it no longer needs an answer.
    case withdrawal
  }

  public init(
    _ kind: Kind, by: String? = nil, until: Instant? = nil, reason: MissReason? = nil, message: DeliveryID? = nil,
    channel: ChannelName? = nil, news: TrackerNews? = nil
  ) {
    self.kind = kind
    self.by = by
    self.until = until
    self.reason = reason
    self.message = message
    self.channel = channel
    self.news = news
  }

  public var isWithdrawal: Bool { kind == .withdrawal }
}

extension DeliveryEvent {
  private static let partCount = 6

  /// The text form in stores: the parts separated by tabs, which no part contains.
  public var text: String {
    let parts = [
      kind.name, by ?? "", until.map { String($0.milliseconds) } ?? "", reason?.rawValue ?? "",
      message?.rawValue ?? "", channel?.rawValue ?? "",
    ]
    return (parts + (news?.parts ?? [])).joined(separator: "\t")
  }

  /// - Returns: nil for a malformed text.
  public init?(text: String) {
    let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map { $0.isEmpty ? nil : String($0) }
    guard parts.count >= Self.partCount, let kind = parts[0].flatMap(Kind.init(name:)) else { return nil }
    let news = parts.count == Self.partCount ? nil : TrackerNews(parts: parts[Self.partCount...])
    guard (news != nil) == (parts.count > Self.partCount) else { return nil }
    self.init(
      kind, by: parts[1], until: parts[2].flatMap { Int64($0) }.map(Instant.init(milliseconds:)),
      reason: parts[3].flatMap(MissReason.init), message: parts[4].map(DeliveryID.init(rawValue:)),
      channel: parts[5].map(ChannelName.init(rawValue:)), news: news)
  }
}

extension DeliveryEvent.Kind {
  /// The event's name, such as `done`, or `withdrawal`.
  public var name: String {
    switch self {
    case .event(let event): event.rawValue
    case .withdrawal: "withdrawal"
    }
  }

  init?(name: String) {
    if name == "withdrawal" {
      self = .withdrawal
    } else if let event = OccurrenceEvent(rawValue: name) {
      self = .event(event)
    } else {
      return nil
    }
  }
}
