import ChimeCore

/// The notification server of a session bus (org.freedesktop.Notifications, Desktop Notifications Specification 1.2),
/// as `BusDesktopChannel` speaks with it.
///
/// What it is asked for is done on a thread of its own, and what comes of it are events, one after another.
public protocol NotificationServer: Sendable {
  /// Says whom to tell. Called once, before anything else; nothing is begun by it.
  func start(_ handler: @escaping @Sendable (NotificationServerEvent) -> Void)
  /// Finds out whether there is a server: `.open` or `.unreachable` follows. From then on its comings and goings are
  /// told as well.
  ///
  /// - Parameter activating: whether the bus may start a server that it knows how to start.
  /// - Returns: why nothing will follow, if so. The handler is never called from within.
  func look(activating: Bool) -> NotificationFault?
  /// Shows a popup: `.shown` or `.refused` follows, within the time limit that the server was made with.
  ///
  /// - Parameter call: given by the caller, never twice the same.
  func notify(_ call: UInt64, _ notification: DesktopNotification) -> NotificationFault?
  /// Closes a popup, if it is there.
  func close(_ number: UInt32)
  /// Leaves the bus. Returns when the thread is gone; no event follows.
  func stop() async
}

public enum NotificationServerEvent: Hashable, Sendable {
  /// There is a server, or another one than before. `identity` is no other server's, on this bus or another.
  case open(ServerCapabilities, identity: String)
  /// The server that was there is gone, or the bus is; its popups are gone with it.
  case gone
  /// There is no server to be had.
  case unreachable(NotificationFault)
  /// Also for a call that was refused because it took too long, when the server shows it after all.
  case shown(UInt64, number: UInt32)
  case refused(UInt64, NotificationFault)
  /// A button was pressed: `ActionInvoked`.
  case invoked(number: UInt32, key: String)
  case closed(number: UInt32, PopupClosing)
}

/// What a server can do, of what makes a difference here.
public struct ServerCapabilities: Hashable, Sendable {
  /// It shows the text, and not the title alone.
  public var body: Bool
  /// It reads the text as markup.
  public var bodyMarkup: Bool
  /// It shows buttons.
  public var actions: Bool

  /// - Parameter names: as `GetCapabilities` has them.
  public init(names: some Collection<String>) {
    body = names.contains("body")
    bodyMarkup = names.contains("body-markup")
    actions = names.contains("actions")
  }
}

/// Why a popup could not be shown.
public struct NotificationFault: Error, Hashable, Sendable {
  /// Nobody's failure: there is no bus, or nobody on it who shows notifications.
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
  /// 0: none.
  public var replaces: UInt32
  public var icon: String
  public var title: String
  public var body: String
  public var actions: [Action]
  /// The `urgency` hint.
  public var urgency: UInt8
  /// All other hints, whose values are text.
  public var hints: [String: String]
  /// Whether it never goes by itself; else the server says when.
  public var stays: Bool
}

extension DesktopConfiguration {
  /// - Parameter replacing: the number of an earlier popup whose place it takes; 0 for none.
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
