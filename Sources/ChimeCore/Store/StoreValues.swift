public import ChimeSchedule

// What a store is asked with, and what it answers with or throws.

/// Part of a listing: at most `limit` items after the first `offset`.
public struct Page: Hashable, Sendable {
  public var limit: Int
  public var offset: Int

  public init(limit: Int = 100, offset: Int = 0) {
    self.limit = min(max(limit, 0), 10_000)
    self.offset = max(offset, 0)
  }
}

public struct ReminderFilter: Hashable, Sendable {
  public var owner: UInt32?
  public var tag: String?
  /// Occurs in the title, the id or a tag, without regard to case (ASCII).
  public var text: String?
  /// Exactly this title.
  public var title: String?
  public var idPrefix: String?
  /// Of `ReminderRecord.coming`.
  public var dueFrom: Instant?
  public var dueBefore: Instant?
  /// Whether those are in it that have no next time and no open occurrence, and do not wait for what becomes of another
  /// (`ReminderRecord.awaitsOther`).
  public var includesFinished: Bool
  /// Only expectations.
  public var expectationsOnly: Bool

  public init(
    owner: UInt32? = nil, tag: String? = nil, text: String? = nil, title: String? = nil, idPrefix: String? = nil,
    dueFrom: Instant? = nil, dueBefore: Instant? = nil, includesFinished: Bool = true, expectationsOnly: Bool = false
  ) {
    self.owner = owner
    self.tag = tag
    self.text = text
    self.title = title
    self.idPrefix = idPrefix
    self.dueFrom = dueFrom
    self.dueBefore = dueBefore
    self.includesFinished = includesFinished
    self.expectationsOnly = expectationsOnly
  }
}

/// Which reminders a piece of work is about.
public enum ReminderSelection: Hashable, Sendable {
  case all
  /// Those that are kept in this zone.
  case zone(ZoneChoice)
  /// Those whose schedule leaves something out (`except on holidays`).
  case withExceptions
  /// Those that are linked to this tracker (`Reminder.tracker`).
  case linked(TrackerKey)
  /// Those that count from another reminder (`Schedule.chain`), of an owner or of all.
  case chained(owner: UInt32?)
  /// An owner's that count from this one.
  case following(ReminderID, owner: UInt32)
  /// Those whose times wait until another is done (`Reminder.onlyIfDone`).
  case conditional
  /// An owner's whose times wait until this one is done.
  case needing(ReminderID, owner: UInt32)
}

public struct OccurrenceFilter: Hashable, Sendable {
  public var owner: UInt32?
  public var reminder: ReminderID?
  public var openOnly: Bool
  public var from: Instant?
  public var before: Instant?

  public init(
    owner: UInt32? = nil, reminder: ReminderID? = nil, openOnly: Bool = false, from: Instant? = nil,
    before: Instant? = nil
  ) {
    self.owner = owner
    self.reminder = reminder
    self.openOnly = openOnly
    self.from = from
    self.before = before
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
  /// Of the time at which it was made.
  public var from: Instant?
  public var before: Instant?

  public init(
    owner: UInt32? = nil, channel: ChannelName? = nil, reminder: ReminderID? = nil, occurrence: OccurrenceID? = nil,
    state: State? = nil, from: Instant? = nil, before: Instant? = nil
  ) {
    self.owner = owner
    self.channel = channel
    self.reminder = reminder
    self.occurrence = occurrence
    self.state = state
    self.from = from
    self.before = before
  }
}

public struct StoreCounts: Hashable, Sendable {
  /// Reminders that have a next time or an open occurrence, or wait for what becomes of another.
  public var reminders: Int
  public var openOccurrences: Int
  public var owedDeliveries: Int
  public var deadDeliveries: Int
  public var expectations: Int
  /// Of these, how many have told of something that nobody has answered and no ping has ended.
  public var expectationsDown: Int

  public init(
    reminders: Int = 0, openOccurrences: Int = 0, owedDeliveries: Int = 0, deadDeliveries: Int = 0,
    expectations: Int = 0, expectationsDown: Int = 0
  ) {
    self.reminders = reminders
    self.openOccurrences = openOccurrences
    self.owedDeliveries = owedDeliveries
    self.deadDeliveries = deadDeliveries
    self.expectations = expectations
    self.expectationsDown = expectationsDown
  }
}

/// What is measured of a store.
public struct StoreGauges: Hashable, Sendable {
  /// All there are.
  public var reminders: Int
  /// Those that have a regular time to come.
  public var scheduled: Int
  /// Each queue that there ever was, in any order.
  public var queues: [DeliveryQueueGauge]

  public struct DeliveryQueueGauge: Hashable, Sendable {
    public var queue: DeliveryQueue
    /// Messages that are owed.
    public var owed: Int
    /// When the oldest of them was made.
    public var oldest: Instant?
    /// Messages that were given up.
    public var dead: Int

    public init(queue: DeliveryQueue, owed: Int, oldest: Instant?, dead: Int) {
      self.queue = queue
      self.owed = owed
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

/// Why a store refused. The sentence says what to do; it holds no secret.
public enum StoreFailure: Error, Hashable, Sendable {
  /// A new reminder's id is taken.
  case idTaken(ReminderID)
  /// The disk is full, the file system read-only, or the engine out of reach. Nothing was changed; try again.
  case unavailable(String)
  /// The store's schema is newer than this program.
  case newerSchema(found: Int, known: Int)
  /// The file is damaged, and where it was moved.
  case corrupt(String, movedTo: String?)
  /// Another daemon has the store, with what is known of it.
  case held(by: String)
  /// What this is about was claimed by this daemon and is another's now.
  case takenOver
  case readOnly
  case closed
  /// A fault of ours: a statement failed that should not.
  case internalError(String)
}
