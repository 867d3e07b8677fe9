public import ChimeCore

/// The content of one popup.
public enum PopupContent: Hashable, Sendable {
  /// One occurrence, with buttons.
  case occurrence(OutboundMessage)
  /// A summary of several delayed messages. It has no buttons.
  case summary(PopupSummary)

  /// Identifies a popup. A later popup with the same key replaces the earlier one.
  public enum Key: Hashable, Sendable {
    case occurrence(OccurrenceID)
    /// All summaries of one episode share a number.
    case summary(UInt64)
  }

  public var key: Key {
    switch self {
    case .occurrence(let message): .occurrence(message.occurrence.id)
    case .summary(let summary): .summary(summary.number)
    }
  }

  /// The message shown; nil for a summary.
  var message: OutboundMessage? { if case .occurrence(let message) = self { message } else { nil } }

  /// The message that waits for an answer; nil for a summary and for a closed occurrence.
  var question: OutboundMessage? { message.flatMap { $0.occurrence.isOpen ? $0 : nil } }

  /// Number of earlier attempts of the delivery.
  var attempts: Int { message?.delivery.attempts ?? 0 }
}

/// One popup for many messages: `12 more reminders while you were away`, and their titles.
public struct PopupSummary: Hashable, Sendable {
  public var number: UInt64
  /// The titles in display order.
  public var titles: [String]
}

/// A PopupTransport shows popups, by notify-send or by a connection to the notification server.
public protocol PopupTransport: Sendable {
  /// Sets the handler of events other than reports, which any thread may call. Called once, before `show`.
  ///
  /// - Parameter memory: The `memory` of an earlier transport; empty for none.
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void)
  /// State of the current popups for a later transport; empty for none. Also valid after `stop()`.
  var memory: String { get }
  /// Occurrences whose popups are known to wait for an answer, unordered, at most 256.
  var unanswered: [OccurrenceID] { get }
  /// Starts to show a popup and returns at once. `report` gets `.ended` once, and possibly `.answered` later.
  func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void)
  /// Closes the popups of a key.
  func withdraw(_ key: PopupContent.Key)
  /// Ends all work in progress and returns when none is left. Popups stay on screen.
  func stop() async
}

/// A PopupMemory is what a transport remembers of its popups, as the store keeps it: the server's identity in the first
/// line, then a number and an occurrence for each popup.
public struct PopupMemory: Sendable {
  let identity: String
  let popups: [(number: UInt32, occurrence: OccurrenceID)]

  public init(_ text: String) {
    let lines = text.split(separator: "\n")
    identity = lines.first.map(String.init) ?? ""
    popups = lines.dropFirst().compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2, let number = UInt32(words[0]), let id = OccurrenceID(words[1]) else { return nil }
      return (number, id)
    }
  }

  public var occurrences: [OccurrenceID] { popups.map(\.occurrence) }
}

/// A desktop event that is not the outcome of a message.
public enum DesktopEvent: Hashable, Sendable {
  /// A button was pressed. `isOurs` means that this channel showed the popup. Otherwise only the button's key names the
  /// occurrence, as for popups from before a restart.
  case answered(OccurrenceID, Occurrence.Answer, isOurs: Bool)
  /// A popup closed without an answer.
  case closed(Occurrence, PopupClosing)
  /// Popups can be shown again, so waiting messages may be tried at once.
  case opened
}

/// Why a popup closed (Desktop Notifications Specification 1.2, `NotificationClosed`).
public enum PopupClosing: UInt32, Hashable, Sendable, CaseIterable {
  case expired = 1
  case dismissed = 2
  /// Closed by a call of `CloseNotification`, for example by another program.
  case closed = 3
  case unknown = 4

  /// Maps a server's reason; numbers outside the specification become `unknown`.
  public init(reason: UInt32) { self = PopupClosing(rawValue: reason) ?? .unknown }
}
