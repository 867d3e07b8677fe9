public import ChimeSchedule

// Parameters, results and errors of a store.

/// A Page is the length of a part of a listing: at most 10,000 items.
///
/// The next page begins after the last item of this one (`after` of a filter), so that what changes in between makes no
/// other item be left out or come twice, and no page passes over those before it.
public struct Page: Hashable, Sendable {
  public let limit: Int

  public init(limit: Int = 100) { self.limit = min(max(limit, 0), 10_000) }
}

/// A ReminderPlace is a place in a listing of reminders: that of a reminder with this `ReminderRecord.coming`.
public struct ReminderPlace: Hashable, Sendable {
  public var coming: Instant?
  public var id: ReminderID

  public init(coming: Instant?, id: ReminderID) {
    self.coming = coming
    self.id = id
  }
}

public struct ReminderFilter: Hashable, Sendable {
  public var owner: UInt32?
  public var tag: String?
  /// Text in the title, the id or a tag, case-insensitive for ASCII.
  public var text: String?
  /// The exact titles, at most a few hundred.
  public var titles: [String]?
  public var idPrefix: String?
  /// Bounds of `ReminderRecord.coming`.
  public var dueFrom: Instant?
  public var dueBefore: Instant?
  /// Whether to include reminders that are over: without next time or open occurrence, and not `awaitsOther`.
  public var includesFinished: Bool
  public var expectationsOnly: Bool
  /// Only those that come later in the listing.
  public var after: ReminderPlace?

  public init(
    owner: UInt32? = nil, tag: String? = nil, text: String? = nil, titles: [String]? = nil, idPrefix: String? = nil,
    dueFrom: Instant? = nil, dueBefore: Instant? = nil, includesFinished: Bool = true, expectationsOnly: Bool = false,
    after: ReminderPlace? = nil
  ) {
    self.owner = owner
    self.tag = tag
    self.text = text
    self.titles = titles
    self.idPrefix = idPrefix
    self.dueFrom = dueFrom
    self.dueBefore = dueBefore
    self.includesFinished = includesFinished
    self.expectationsOnly = expectationsOnly
    self.after = after
  }
}

/// A ReminderSelection says which reminders an operation covers.
public enum ReminderSelection: Hashable, Sendable {
  case all
  /// Those in this zone.
  case zone(ZoneChoice)
  /// Those whose schedule has exceptions (`except on holidays`).
  case withExceptions
  /// Those linked to this tracker (`Reminder.tracker`).
  case linked(TrackerKey)
  /// Those that count from another reminder (`Schedule.chain`), of an owner or of all.
  case chained(owner: UInt32?)
  /// An owner's reminders that count from this one.
  case following(ReminderID, owner: UInt32)
  /// Those that wait until another is done (`Reminder.onlyIfDone`).
  case conditional
  /// An owner's reminders that wait until this one is done.
  case needing(ReminderID, owner: UInt32)
}

public struct OccurrenceFilter: Hashable, Sendable {
  public var owner: UInt32?
  public var reminder: ReminderID?
  public var openOnly: Bool
  public var from: Instant?
  public var before: Instant?
  /// Only those that come later in the listing; it need not exist any more.
  public var after: OccurrenceID?

  public init(
    owner: UInt32? = nil, reminder: ReminderID? = nil, openOnly: Bool = false, from: Instant? = nil,
    before: Instant? = nil, after: OccurrenceID? = nil
  ) {
    self.owner = owner
    self.reminder = reminder
    self.openOnly = openOnly
    self.from = from
    self.before = before
    self.after = after
  }
}

public struct DeliveryFilter: Hashable, Sendable {
  public enum State: String, Hashable, Sendable, Codable, CaseIterable {
    case pending, waiting, delivered, dead, cancelled
  }

  public var owner: UInt32?
  public var channel: ChannelName?
  public var reminder: ReminderID?
  public var occurrence: OccurrenceID?
  public var state: State?
  /// Bounds of the creation time.
  public var from: Instant?
  public var before: Instant?
  /// Only those that come later in the listing; none if it is gone, as older ones go first.
  public var after: DeliveryID?

  public init(
    owner: UInt32? = nil, channel: ChannelName? = nil, reminder: ReminderID? = nil, occurrence: OccurrenceID? = nil,
    state: State? = nil, from: Instant? = nil, before: Instant? = nil, after: DeliveryID? = nil
  ) {
    self.owner = owner
    self.channel = channel
    self.reminder = reminder
    self.occurrence = occurrence
    self.state = state
    self.from = from
    self.before = before
    self.after = after
  }
}

public struct StoreCounts: Hashable, Sendable {
  /// Reminders that have a next time or an open occurrence, or await another.
  public var reminders: Int
  public var openOccurrences: Int
  public var pendingDeliveries: Int
  public var deadDeliveries: Int
  public var expectations: Int
  /// Expectations that are down: a failed or missing ping was reported, and neither an answer nor a ping has ended that.
  public var expectationsDown: Int

  public init(
    reminders: Int = 0, openOccurrences: Int = 0, pendingDeliveries: Int = 0, deadDeliveries: Int = 0,
    expectations: Int = 0, expectationsDown: Int = 0
  ) {
    self.reminders = reminders
    self.openOccurrences = openOccurrences
    self.pendingDeliveries = pendingDeliveries
    self.deadDeliveries = deadDeliveries
    self.expectations = expectations
    self.expectationsDown = expectationsDown
  }
}

/// StoreGauges are measurements of a store.
public struct StoreGauges: Hashable, Sendable {
  public var reminders: Int
  /// Reminders with a scheduled time to come.
  public var scheduled: Int
  /// Every queue that ever existed, in any order.
  public var queues: [DeliveryQueueGauge]

  public struct DeliveryQueueGauge: Hashable, Sendable {
    public var queue: DeliveryQueue
    /// The number of pending messages.
    public var pending: Int
    /// When the oldest pending message was created.
    public var oldest: Instant?
    /// The number of messages that were given up.
    public var dead: Int

    public init(queue: DeliveryQueue, pending: Int, oldest: Instant?, dead: Int) {
      self.queue = queue
      self.pending = pending
      self.oldest = oldest
      self.dead = dead
    }
  }

  public init(reminders: Int, scheduled: Int, queues: [DeliveryQueueGauge]) {
    self.reminders = reminders
    self.scheduled = scheduled
    self.queues = queues
  }
}

/// A StoreFailure says why a store refused an operation. Its sentence says what to do and contains no secrets.
public enum StoreFailure: Error, Hashable, Sendable {
  /// The id of a new reminder is taken.
  case idTaken(ReminderID)
  /// The disk is full, the file system read-only, or the engine unreachable. Nothing was changed; retry later.
  case unavailable(String)
  /// The store's schema is newer than this program.
  case newerSchema(found: Int, known: Int)
  /// The file is damaged and was moved to this path.
  case corrupt(String, movedTo: String?)
  /// Another daemon holds the store; the text describes it.
  case held(by: String)
  /// The claimed delivery belongs to another daemon now.
  case takenOver
  case readOnly
  case closed
  /// A bug: a statement failed that never should.
  case internalError(String)

  /// The failure as a sentence that says what to do.
  public var sentence: String {
    switch self {
    case .idTaken(let id): "the id \(id) is used already"
    case .unavailable(let reason): reason
    case .newerSchema(let found, let known):
      "the store has schema \(found), but this chimed knows \(known): start a newer chimed"
    case .corrupt(let reason, let movedTo):
      "the store is damaged (\(reason))" + (movedTo.map { "; it was moved to \($0)" } ?? "")
    case .held(let by): "another daemon uses the store (\(by)): stop it first"
    case .takenOver: "another daemon has taken this over"
    case .readOnly: "the store cannot be written here"
    case .closed: "the daemon is stopping"
    case .internalError(let reason): "a bug in chimed: \(reason)"
    }
  }
}
