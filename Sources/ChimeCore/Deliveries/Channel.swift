public import ChimeSchedule

/// All that a channel needs to say one thing once.
public struct OutboundMessage: Hashable, Sendable {
  public var delivery: Delivery
  public var occurrence: Occurrence
  /// The definition as it is now; nil when the reminder has been removed since, or cannot be read.
  public var reminder: Reminder?
  /// What is said of the reminder's tracker, and its texts where something is filled in; nil for most.
  public var report: TrackerReport?
  /// The name of the tenant whose it is; nil: a user's.
  public var tenant: String?
  /// What its endpoint shows once it has arrived, the newest first; nil where nothing is shown (`Endpoint.Kind.keepsState`).
  public var shown: [OutboundMessage]?
  /// Of a withdrawal: what the receiver calls the message that is taken back; nil where it has not said.
  public var receipt: String?

  public init(delivery: Delivery, occurrence: Occurrence, reminder: Reminder?, report: TrackerReport? = nil) {
    self.delivery = delivery
    self.occurrence = occurrence
    self.reminder = reminder
    self.report = report
  }

  /// What it tells.
  public var kind: DeliveryEvent.Kind {
    delivery.event?.kind ?? .told(occurrence.repetition(ofRound: delivery.round) > 0 ? .repeated : .fired)
  }

  /// What is shown: the reminder's title when it fired, its text as it is now, both filled in.
  public var title: String { report?.title ?? occurrence.title }
  public var body: String? { (report?.body ?? reminder?.body).flatMap { $0.isEmpty ? nil : $0 } }
}

/// A way to reach someone. Lives outside the event loop and reports back by `report`, from any thread.
public protocol Channel: Sendable {
  /// Begins to send. Returns at once; `report` is called once with `.ended`, and, for a channel that can be
  /// answered, later any number of times with `.answered`.
  func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void)
  /// The occurrence was closed elsewhere: what still shows of it is taken down.
  func withdraw(_ occurrence: OccurrenceID)
  /// Stops: attempts under way end as failed, popups' answers are no longer awaited. Returns when nothing is left.
  func stop() async
}

public enum ChannelReport: Hashable, Sendable {
  /// The attempt is over. `number` of the attempt is filled in by the receiver of the report.
  case ended(Attempt, next: NextStep)
  /// Someone answered.
  case answered(Occurrence.Answer)

  /// What the channel advises after an attempt.
  public enum NextStep: Hashable, Sendable {
    /// It arrived.
    case settled
    /// Try again by the retry schedule.
    case retry
    /// Try again not before this long (HTTP Retry-After).
    case retryAfter(Milliseconds)
    /// The way is shut for now, which is nobody's failure (no session bus): try again after this long, and do not
    /// count it as an attempt of the schedule.
    case blocked(Milliseconds)
    /// Not at all: the channel's own rule leaves this one out (a command that still runs).
    case cancel
    /// This message never again: the other side has refused it for good (SMTP 5xx).
    case giveUp
    /// Never again (HTTP 410): the endpoint is to be disabled, for this reason.
    case disable(String)
  }
}
