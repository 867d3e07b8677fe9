import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// An effect of a commit outside the store.
enum PostCommitEffect: Sendable {
  /// Publish to the watchers and the log.
  case event(DaemonEvent)
  /// Withdraw the messages of an occurrence that was closed, or snoozed until the given time.
  case withdraw(OccurrenceID, until: Instant? = nil)
  /// Drop the held messages of cancelled deliveries.
  case cancelled(Set<DeliveryID>)
  /// Make a queue available now, at a person's request.
  case opened(DeliveryQueue)
  /// Read the endpoints again.
  case endpointsChanged

  typealias Kind = DaemonEvent.Kind

  static func reminder(_ kind: Kind, _ reminder: Reminder, _ message: String) -> PostCommitEffect {
    .event(
      DaemonEvent(kind: kind, owner: reminder.owner, reminder: reminder.id, title: reminder.title, message: message))
  }

  static func occurrence(_ kind: Kind, _ occurrence: Occurrence, _ message: String) -> PostCommitEffect {
    .event(DaemonEvent(kind: kind, occurrence: occurrence, message: message))
  }
}

/// A DaemonEvent is one event for `chime watch` and the log.
struct DaemonEvent: Sendable {
  enum Kind: String, Sendable {
    case added, changed, removed, fired, missed, delivered, failed, done, dismissed, snoozed, closed, pinged
    case logged, goal, limit, stock, unlocked, level, milestone
    case clock, zone, calendar, resumed, reloaded, store

    var id: MessageID {
      switch self {
      case .added: .reminderAdded
      case .changed: .reminderChanged
      case .removed: .reminderRemoved
      case .fired: .fired
      case .missed: .missed
      case .delivered: .delivered
      case .failed: .attemptFailed
      case .done, .dismissed, .snoozed: .answered
      case .closed: .popupClosed
      case .pinged: .pinged
      case .logged: .logged
      case .goal: .goalMet
      case .limit: .limitNear
      case .stock: .stockLow
      case .unlocked: .unlocked
      case .level: .levelReached
      case .milestone: .milestoneReached
      case .clock: .clockSet
      case .zone: .zoneChanged
      case .calendar: .calendarChanged
      case .resumed: .resumed
      case .reloaded: .configurationReloaded
      case .store: .storeFailed
      }
    }
  }

  var kind: Kind
  /// The message id in the journal.
  var id: MessageID
  /// The owner; nil if the event is for everyone.
  var owner: UInt32?
  var reminder: ReminderID?
  var title: String?
  var occurrence: OccurrenceID?
  var tracker: TrackerID?
  var delivery: DeliveryID?
  var channel: ChannelName?
  var latenessMicroseconds: Int64?
  /// For missed occurrences: the reason and the number of times.
  var missed: (reason: MissReason, count: Int)?
  /// What a job reported about itself.
  var ping: Ping.Kind?
  var message: String

  /// Creates an event. `id` is the message id if it differs from that of the kind.
  init(
    kind: Kind, id: MessageID? = nil, owner: UInt32? = nil, reminder: ReminderID? = nil, title: String? = nil,
    message: String
  ) {
    self.kind = kind
    self.id = id ?? kind.id
    self.owner = owner
    self.reminder = reminder
    self.title = title
    self.message = message
  }

  init(kind: Kind, id: MessageID? = nil, occurrence: Occurrence, message: String) {
    self.init(
      kind: kind, id: id, owner: occurrence.owner, reminder: occurrence.id.reminder, title: occurrence.title,
      message: message)
    self.occurrence = occurrence.id
  }

  /// Returns the event for the protocol. `tenants` has the tenants' names by owner.
  func wire(at time: Wire.Time, _ tenants: [UInt32: String] = [:]) -> DaemonInterface.Event {
    DaemonInterface.Event(
      at: time, event: kind.rawValue, reminder: reminder?.rawValue, title: title,
      occurrence: occurrence?.description, delivery: delivery?.rawValue, channel: channel?.rawValue,
      latenessMs: latenessMicroseconds.map { Int($0 / 1_000) }, message: message, tracker: tracker?.rawValue,
      tenant: owner.flatMap { tenants[$0] })
  }

  /// The fields for the journal.
  var fields: [(Log.Field, String)] {
    var fields: [(Log.Field, String)] = []
    if let owner { fields.append((.owner, String(owner))) }
    if let reminder { fields.append((.reminder, reminder.rawValue)) }
    if let occurrence { fields.append((.occurrence, occurrence.description)) }
    if let tracker { fields.append((.tracker, tracker.rawValue)) }
    if let delivery { fields.append((.delivery, delivery.rawValue)) }
    if let channel, channel != .desktop { fields.append((.endpoint, channel.rawValue)) }
    if let latenessMicroseconds { fields.append((.latenessMicroseconds, String(latenessMicroseconds))) }
    return fields
  }

  var level: Configuration.LogLevel {
    switch id {
    case .storeFailed, .storeQuarantined, .storeRestored: .error
    case .attemptFailed, .givenUp, .messageCancelled, .endpointDisabled, .snapshotFailed: .warning
    case .missed, .clockSet, .zoneChanged, .calendarChanged, .resumed, .configurationReloaded, .storeRecovered: .notice
    case .pinged: .debug
    default: .info
    }
  }
}
