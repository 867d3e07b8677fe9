public import ChimeSchedule

/// An OutboundMessage has everything that a channel needs for one attempt.
public struct OutboundMessage: Hashable, Sendable {
  public var delivery: Delivery
  public var occurrence: Occurrence
  /// The current definition; nil if the reminder was removed or cannot be read.
  public var reminder: Reminder?
  /// Data of the reminder's tracker, and its texts with placeholders filled in; nil for most.
  public var report: TrackerReport?
  /// The name of the owning tenant; nil for a user.
  public var tenant: String?
  /// What the endpoint shows once this has arrived, newest first; nil if it keeps no state (`Endpoint.Kind.keepsState`).
  public var shown: [OutboundMessage]?
  /// For a withdrawal, the receiver's id of the message to withdraw; nil if unknown.
  public var receipt: String?

  public init(delivery: Delivery, occurrence: Occurrence, reminder: Reminder?, report: TrackerReport? = nil) {
    self.delivery = delivery
    self.occurrence = occurrence
    self.reminder = reminder
    self.report = report
  }

  /// The event that the message reports.
  public var kind: DeliveryEvent.Kind {
    delivery.event?.kind ?? .event(occurrence.repetition(ofRound: delivery.round) > 0 ? .repeated : .fired)
  }

  /// The reminder's title when it fired and its current body, both with placeholders filled in.
  public var title: String { report?.title ?? occurrence.title }
  public var body: String? { (report?.body ?? reminder?.body).flatMap { $0.isEmpty ? nil : $0 } }
}

/// A Channel sends messages. It runs outside the event loop and reports by `report`, from any thread.
public protocol Channel: Sendable {
  /// Starts an attempt and returns at once. `report` is called once with `.ended`; a channel that supports answers may
  /// later call it any number of times with `.answered`.
  func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void)
  /// Makes ready for a message that may be sent at `time`, in a moment. Does nothing by default.
  func rehearse(_ message: OutboundMessage, at time: Instant)
  /// Removes messages that are still shown, because the occurrence was closed elsewhere.
  func withdraw(_ occurrence: OccurrenceID)
  /// Stops: attempts in flight end as failed, and popups no longer wait for answers. Returns when nothing is left.
  func stop() async
}

extension Channel {
  public func rehearse(_ message: OutboundMessage, at time: Instant) {}
}

public enum ChannelReport: Hashable, Sendable {
  /// The attempt has ended. The receiver of the report sets the attempt's `number`.
  case ended(Attempt, next: NextStep)
  /// A person answered.
  case answered(Occurrence.Answer)

  /// A NextStep is what the channel advises after an attempt.
  public enum NextStep: Hashable, Sendable {
    /// The message arrived.
    case settled
    /// Retry by the retry schedule.
    case retry
    /// Retry, but not before this time has passed (HTTP Retry-After).
    case retryAfter(Milliseconds)
    /// The channel is unavailable through no fault of the endpoint (no session bus): retry after this time, and do not
    /// count the attempt.
    case blocked(Milliseconds)
    /// Drop the message by the channel's own rule (a command that still runs).
    case cancel
    /// Give up the message: the receiver refused it for good (SMTP 5xx).
    case giveUp
    /// Disable the endpoint for this reason (HTTP 410).
    case disable(String)
  }
}
