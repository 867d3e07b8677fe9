import ChimeCore

/// A NotificationServer is the D-Bus service org.freedesktop.Notifications (Desktop Notifications Specification 1.2).
///
/// It works on a thread of its own and reports results as events in sequence.
public protocol NotificationServer: Sendable {
  /// Sets the event handler. Called once, before anything else. It does not connect.
  func start(_ handler: @escaping @Sendable (NotificationServerEvent) -> Void)
  /// Looks the server up and reports `.open` or `.unreachable`. Later arrivals and departures are reported as well.
  ///
  /// - Parameter activating: Whether the bus may start a server.
  /// - Returns: Why no event will follow; nil if one will. The handler is never called from within.
  func look(activating: Bool) -> NotificationFault?
  /// Shows a popup and reports `.shown` or `.refused` within the server's time limit.
  ///
  /// - Parameter call: A number chosen by the caller, never reused.
  func notify(_ call: UInt64, _ notification: DesktopNotification) -> NotificationFault?
  /// Closes a popup if it exists.
  func close(_ number: UInt32)
  /// Leaves the bus. Returns when the thread has ended; no event follows.
  func stop() async
}

public enum NotificationServerEvent: Hashable, Sendable {
  /// A server is present, or was replaced. `identity` is unique across servers and buses.
  case open(ServerCapabilities, identity: String)
  /// The server or the bus disappeared, and its popups with it.
  case gone
  /// No server can be reached.
  case unreachable(NotificationFault)
  /// May also follow `.refused` for a call that timed out, if the server shows the popup late.
  case shown(UInt64, number: UInt32)
  case refused(UInt64, NotificationFault)
  /// A button was pressed (`ActionInvoked`).
  case invoked(number: UInt32, key: String)
  case closed(number: UInt32, PopupClosing)
}

/// The server capabilities that affect popups.
public struct ServerCapabilities: Hashable, Sendable {
  /// Shows a body in addition to the title.
  public var body: Bool
  /// Parses the body as markup.
  public var bodyMarkup: Bool
  /// Shows buttons.
  public var actions: Bool

  /// - Parameter names: The result of `GetCapabilities`.
  public init(names: some Collection<String>) {
    body = names.contains("body")
    bodyMarkup = names.contains("body-markup")
    actions = names.contains("actions")
  }
}

/// Why a popup could not be shown.
public struct NotificationFault: Error, Hashable, Sendable {
  /// Whether the bus or the server is missing, which does not count as a failed attempt.
  public var isBlocked: Bool
  public var sentence: String

  public init(isBlocked: Bool, sentence: String) {
    self.isBlocked = isBlocked
    self.sentence = sentence
  }
}

/// The arguments of `Notify`.
public struct DesktopNotification: Hashable, Sendable {
  public struct Action: Hashable, Sendable {
    public var key: String
    public var label: String
  }

  public var appName: String
  /// Number of the popup to replace; 0 for none.
  public var replaces: UInt32
  public var icon: String
  public var title: String
  public var body: String
  public var actions: [Action]
  /// Value of the `urgency` hint.
  public var urgency: UInt8
  /// Other hints, with string values.
  public var hints: [String: String]
  /// Whether the popup never expires; otherwise the server decides.
  public var stays: Bool
}

extension DesktopConfiguration {
  /// - Parameter replacing: The number of an earlier popup to replace; 0 for none.
  func notification(
    for content: PopupContent, _ capabilities: ServerCapabilities, replacing: UInt32
  ) -> DesktopNotification {
    let look = look(of: content)
    var actions: [DesktopNotification.Action] = []
    if capabilities.actions, let message = content.question {
      actions = buttons(of: message).map {
        .init(key: ActionKey(answer: $0.answer, occurrence: message.occurrence.id).text, label: $0.label)
      }
    }
    var hints = Dictionary(look.hints.map { ($0.name, $0.value) }) { first, _ in first }
    hints["desktop-entry"] = "chime"
    if look.icon.hasPrefix("/") { hints["image-path"] = look.icon }
    return DesktopNotification(
      appName: look.appName, replaces: replacing, icon: look.icon, title: look.title,
      body: capabilities.body ? capabilities.bodyMarkup ? Presentation.escaped(look.body) : look.body : "",
      actions: actions, urgency: look.urgency.rank, hints: hints, stays: look.stays)
  }
}
