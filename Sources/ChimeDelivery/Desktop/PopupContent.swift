public import ChimeCore

/// What one popup is about.
public enum PopupContent: Hashable, Sendable {
  /// One firing, with its buttons.
  case occurrence(OutboundMessage)
  /// Several that waited while nothing could be shown. Nobody answers it.
  case summary(PopupSummary)

  /// What makes a later popup take an earlier one's place.
  public enum Key: Hashable, Sendable {
    case occurrence(OccurrenceID)
    /// The summaries of one gathering have one number.
    case summary(UInt64)
  }

  public var key: Key {
    switch self {
    case .occurrence(let message): .occurrence(message.occurrence.id)
    case .summary(let summary): .summary(summary.number)
    }
  }

  /// The message that it is about; nil for a summary.
  var message: OutboundMessage? { if case .occurrence(let message) = self { message } else { nil } }

  /// The message that waits for an answer; nil for a summary, and for what was done as it was told.
  var question: OutboundMessage? { message.flatMap { $0.occurrence.isOpen ? $0 : nil } }

  /// Attempts that its delivery has behind it.
  var attempts: Int { message?.delivery.attempts ?? 0 }
}

/// One popup in the place of many: `12 more reminders while you were away`, and their titles.
public struct PopupSummary: Hashable, Sendable {
  public var number: UInt64
  /// In the order in which they are shown.
  public var titles: [String]

  public init(number: UInt64, titles: [String]) {
    self.number = number
    self.titles = titles
  }
}

/// A way to the screen: notify-send, or a connection to the notification server.
public protocol PopupTransport: Sendable {
  /// Tells of what happens beside the reports, from any thread. Called once, before anything is shown.
  ///
  /// - Parameter memory: what an earlier transport had as its `memory`; empty for none.
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void)
  /// What a later transport has to know of the popups that stand now; empty for nothing. Also valid after `stop()`.
  var memory: String { get }
  /// The occurrences whose popups stand, as far as is known, and wait for an answer: in no order, 256 at most.
  var unanswered: [OccurrenceID] { get }
  /// Begins to show. Returns at once; `report` is called once with `.ended`, and may be called with `.answered` later.
  func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void)
  /// Takes down what still shows of it.
  func withdraw(_ key: PopupContent.Key)
  /// Ends what is under way. Returns when nothing is left; popups stay on screen.
  func stop() async
}

/// What happens on the desktop beside the outcome of a message in hand.
public enum DesktopEvent: Hashable, Sendable {
  /// A button was pressed. `isOurs`: on a popup that this channel has shown itself; else the button's own words name
  /// the occurrence, as they do for popups from before a restart.
  case answered(OccurrenceID, Occurrence.Answer, isOurs: Bool)
  /// A popup went away without an answer.
  case closed(Occurrence, PopupClosing)
  /// Popups can be shown again: what waits may be tried at once.
  case opened
}

/// Why a popup went away (Desktop Notifications Specification 1.2, `NotificationClosed`).
public enum PopupClosing: UInt32, Hashable, Sendable, CaseIterable {
  case expired = 1
  case dismissed = 2
  /// Closed by a call, such as another program's.
  case closed = 3
  case unknown = 4

  /// What a server gave as the reason; numbers that the specification does not have are `unknown`.
  public init(reason: UInt32) { self = PopupClosing(rawValue: reason) ?? .unknown }
}
