/// EventSubscriptions holds the endpoints that subscribe to more than firings, or that can withdraw messages.
///
/// It is a value in `ReminderContext`, so that the store is not asked where nothing is subscribed.
public struct EventSubscriptions: Hashable, Sendable {
  /// A Subscriber is such an endpoint.
  public struct Subscriber: Hashable, Sendable {
    public var queue: DeliveryQueue
    /// The events that it subscribes to.
    public var events: Set<OccurrenceEvent>
    /// The reminders that it is notified of, besides those that name it.
    public var reminders: ReminderChoice?
    /// Whether it can withdraw messages.
    public var canWithdraw: Bool
    /// Whether each of its messages carries the whole state.
    public var keepsState: Bool

    public init(
      queue: DeliveryQueue, events: Set<OccurrenceEvent> = OccurrenceEvent.usual, reminders: ReminderChoice? = nil,
      canWithdraw: Bool = false, keepsState: Bool = false
    ) {
      self.queue = queue
      self.events = events
      self.reminders = reminders
      self.canWithdraw = canWithdraw
      self.keepsState = keepsState
    }

    func hears(_ reminder: Reminder) -> Bool {
      reminders?.contains(reminder) == true || reminder.channels(atRepeat: .max).contains(queue.channel)
    }
  }

  private var listeners: [UInt32: [Subscriber]] = [:]

  /// - Parameter listeners: each queue once. Those with the usual events and without withdrawals are left out.
  public init(_ listeners: some Sequence<Subscriber> = []) {
    for listener in listeners
    where listener.events != OccurrenceEvent.usual || listener.reminders != nil || listener.canWithdraw {
      self.listeners[listener.queue.owner, default: []].append(listener)
    }
  }

  /// Returns the subscribers of an owner; nil if there are none.
  func listeners(of owner: UInt32) -> [Subscriber]? { listeners[owner] }

  /// Returns whether a queue can withdraw messages.
  func canWithdraw(_ queue: DeliveryQueue) -> Bool {
    listeners[queue.owner]?.contains { $0.queue == queue && $0.canWithdraw } ?? false
  }

  /// Returns whether messages of a queue carry the whole state.
  func keepsState(_ queue: DeliveryQueue) -> Bool {
    listeners[queue.owner]?.contains { $0.queue == queue && $0.keepsState } ?? false
  }
}

/// A ReminderChoice selects the reminders that an endpoint is notified of, whichever channels they name.
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
  /// The text form: `all`, or `tag:` and the tag.
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
