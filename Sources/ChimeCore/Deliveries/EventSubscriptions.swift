/// Who is told otherwise of reminders than that they fire to their channels: endpoints that say which events they want, and
/// those that can take back what they show.
///
/// A value, and part of `ReminderContext`: where nobody listens, nothing is asked of the store for it.
public struct EventSubscriptions: Hashable, Sendable {
  /// An endpoint that does.
  public struct Subscriber: Hashable, Sendable {
    public var queue: DeliveryQueue
    /// What it is told.
    public var events: Set<OccurrenceEvent>
    /// Of which reminders, besides those that name it.
    public var reminders: ReminderChoice?
    /// Whether it can take back what it shows.
    public var takesBack: Bool
    /// Whether each of its messages says what is shown from then on.
    public var keepsState: Bool

    public init(
      queue: DeliveryQueue, events: Set<OccurrenceEvent> = OccurrenceEvent.usual, reminders: ReminderChoice? = nil,
      takesBack: Bool = false, keepsState: Bool = false
    ) {
      self.queue = queue
      self.events = events
      self.reminders = reminders
      self.takesBack = takesBack
      self.keepsState = keepsState
    }

    func hears(_ reminder: Reminder) -> Bool {
      reminders?.contains(reminder) == true || reminder.channels(atRepeat: .max).contains(queue.channel)
    }
  }

  private var listeners: [UInt32: [Subscriber]] = [:]

  /// - Parameter listeners: each queue once. Those that want the usual and take nothing back are left out.
  public init(_ listeners: some Sequence<Subscriber> = []) {
    for listener in listeners
    where listener.events != OccurrenceEvent.usual || listener.reminders != nil || listener.takesBack {
      self.listeners[listener.queue.owner, default: []].append(listener)
    }
  }

  /// Those of an owner; nil: there are none.
  func listeners(of owner: UInt32) -> [Subscriber]? { listeners[owner] }

  /// Whether a queue can take back what it shows.
  func takesBack(_ queue: DeliveryQueue) -> Bool {
    listeners[queue.owner]?.contains { $0.queue == queue && $0.takesBack } ?? false
  }

  /// Whether messages of a queue say what is shown from then on.
  func keepsState(_ queue: DeliveryQueue) -> Bool {
    listeners[queue.owner]?.contains { $0.queue == queue && $0.keepsState } ?? false
  }
}

/// The reminders that an endpoint is told of, whichever channels they name.
public enum ReminderChoice: Hashable, Sendable {
  case all
  case tag(String)

  func contains(_ reminder: Reminder) -> Bool {
    switch self {
    case .all: true
    case .tag(let tag): reminder.tags.contains(tag)
    }
  }
}

extension ReminderChoice: CustomStringConvertible {
  /// `all`, or `tag:` and the tag.
  public var description: String {
    switch self {
    case .all: "all"
    case .tag(let tag): "tag:\(tag)"
    }
  }

  /// - Returns: nil for a text that is neither.
  public init?(_ text: String) {
    if text == "all" {
      self = .all
    } else if text.hasPrefix("tag:"), text.utf8.count > 4 {
      self = .tag(String(text.dropFirst(4)))
    } else {
      return nil
    }
  }
}
