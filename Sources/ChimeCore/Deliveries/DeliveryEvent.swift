public import ChimeSchedule

/// What happens to an occurrence or a tracker, as far as endpoints can ask to be told of it.
public enum OccurrenceEvent: String, Hashable, Sendable, Codable, CaseIterable {
  /// It fired, for the first time or after a snooze.
  case fired
  /// It fired again because nobody had answered.
  case repeated
  case done, snoozed, dismissed, missed
  /// An answer was taken back: it waits for one again.
  case reopened
  /// A message that told of it was given up.
  case givenUp
  /// The entries of a tracker have changed.
  case logged
  /// The goal of a tracker's day, week or month is met.
  case goal
  /// An achievement, a level or a milestone was reached.
  case unlocked

  /// Whether it is told of a tracker or a pack (`DeliveryEvent.news`), and not of an occurrence.
  public var isOfTracker: Bool {
    switch self {
    case .logged, .goal, .unlocked: true
    case .fired, .repeated, .done, .snoozed, .dismissed, .missed, .reopened, .givenUp: false
    }
  }

  /// What an endpoint is told that does not say what it wants to be.
  public static let usual: Set<OccurrenceEvent> = [.fired, .repeated]
}

/// What a message tells, other than that its occurrence fires.
public struct DeliveryEvent: Hashable, Sendable, Codable {
  public var kind: Kind
  /// Who brought it about, as `Occurrence.answeredBy` has it; `cli`, `ping`, `tracker` or `undo` for what has no name there.
  public var by: String?
  /// Until when the occurrence is put off.
  public var until: Instant?
  /// Why it was missed.
  public var reason: MissReason?
  /// The message that is taken back, or that was given up.
  public var message: DeliveryID?
  /// The channel of the message that was given up.
  public var channel: ChannelName?
  /// What is told of a tracker; nil: it is told of an occurrence.
  public var news: TrackerNews?

  public enum Kind: Hashable, Sendable, Codable {
    case told(OccurrenceEvent)
    /// What a message shows is to go: its occurrence waits for no answer to it any more.
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

  /// As stores keep it: its parts with tabs between, of which none has one.
  public var text: String {
    let parts = [
      kind.name, by ?? "", until.map { String($0.milliseconds) } ?? "", reason?.rawValue ?? "",
      message?.rawValue ?? "", channel?.rawValue ?? "",
    ]
    return (parts + (news?.parts ?? [])).joined(separator: "\t")
  }

  /// - Returns: nil for what `text` has not written.
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
  /// `done`, `snoozed` and so on, and `withdrawal`.
  public var name: String {
    switch self {
    case .told(let event): event.rawValue
    case .withdrawal: "withdrawal"
    }
  }

  init?(name: String) {
    if name == "withdrawal" {
      self = .withdrawal
    } else if let event = OccurrenceEvent(rawValue: name) {
      self = .told(event)
    } else {
      return nil
    }
  }
}
