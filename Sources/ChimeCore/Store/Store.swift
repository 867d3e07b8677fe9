public import ChimeSchedule

/// The memory of the daemon: what has committed here exists, and nothing else does.
///
/// An engine runs bodies on an executor of its own and never calls back into the event loop. Bodies that arrive
/// together may commit together, but each sees the others' effects in order, and one that throws leaves no trace.
/// `write` returns after its transaction has been made durable (on SQLite: `synchronous=FULL`).
public protocol Store: Sendable {
  /// Whether other daemons may be using it too: then what is due may become another without this one.
  var isShared: Bool { get }
  /// Runs `body` in a transaction and returns its result once it is durable.
  ///
  /// An engine whose database has other users may run `body` again when one of them was in the way, so what it does beside
  /// the store is to bear that.
  ///
  /// - Throws: what `body` threw, or `StoreFailure`.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// As `write`, for a body that changes thousands of rows: no other commits with it, where that would cost it time by the
  /// rows.
  func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Runs `body` on a consistent view of what has committed. Writing verbs in it throw `StoreFailure.readOnly`.
  func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// As `read`, for what takes long, such as all that somebody has: no other reading waits for it, where an engine can have it
  /// so. One is under way at a time.
  func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Waits for what was begun, and closes. Further calls throw `StoreFailure.closed`.
  func close() async
}

extension Store {
  public func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result { try await read(body) }

  public func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result { try await write(body) }
}

/// The verbs of a store, valid inside one body only.
///
/// All are synchronous and may throw `StoreFailure`.
public protocol StoreTransaction: TrackingTransaction {
  /// What time the database had when this transaction began; nil for a store that has no clock of its own and goes by that
  /// of its daemon. With several daemons it decides what is due.
  var time: StoreTime? { get }

  // Definitions and due times.

  /// Inserts the reminder, or replaces it when `id` is known, together with its regular due time: any other regular
  /// due time of it is dropped (those of its snoozed and repeated occurrences stay).
  ///
  /// A reminder of generation 0 is a new one: it throws `StoreFailure.idTaken` when its id is in use, or was used by a
  /// reminder of which only history is left.
  ///
  /// - Parameters:
  ///   - next: its next scheduled time; nil when there is none.
  ///   - nextDueAt: when that is looked at; nil: at that time and its `jitterOffset`. A later time tells the decision that
  ///     quiet hours have held it.
  ///   - since: after which moment times of this definition are to come; nil: from `next` on.
  func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?, since: Instant?) throws
  /// Inserts new reminders (of generation 0) in this order, each with its regular due time as `upsert` has it. Of one whose
  /// id is in use, was used by a reminder of which only history is left, or stands before it among these, nothing is
  /// inserted.
  ///
  /// - Returns: the places of those in `reminders`, ascending.
  func insert(_ reminders: [NewReminder]) throws -> [Int]
  /// Removes the reminder and its due times, and cancels what it owes but for events. Occurrences, deliveries and attempts stay as
  /// history, but its open occurrences are dismissed at `now`.
  ///
  /// - Returns: whether there was one.
  @discardableResult func remove(_ id: ReminderID, now: Instant) throws -> Bool
  ///
  /// Throws `StoreFailure.internalError` for one whose definition cannot be read; `unreadable` then has it.
  func reminder(_ id: ReminderID) throws -> ReminderRecord?
  /// Reminders in the order in which they come (`ReminderRecord.coming`, those without it last), then id. Those that
  /// cannot be read count for the page and are passed over; `unreadable` has them.
  func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord]
  /// The ids of at most `limit` reminders after `last`, in the order in which they were made: for work on all of them,
  /// which is done in pieces with a transaction for each. `last` may have been removed since.
  ///
  ///     var last: ReminderID?
  ///     repeat {
  ///       let ids = try await store.read { [last] in try $0.reminderIDs(.all, after: last, limit: 1_000) }
  ///       …
  ///       last = ids.last
  ///     } while last != nil
  func reminderIDs(_ selection: ReminderSelection, after last: ReminderID?, limit: Int) throws -> [ReminderID]

  // Firing.

  /// Up to `limit` due times that are not after `now`, earliest first. A store shared by several daemons locks them
  /// for this transaction and passes over what others have locked. Where more is due than `limit`, and that is more than
  /// 16, it need not take the earliest of all.
  func claimDue(now: Instant, limit: Int) throws -> [DueReminder]
  /// What `claimDue` would claim, from behind a place on, and without a trace: for a time in which the store can be read
  /// only. What cannot be read is passed over.
  func due(now: Instant, limit: Int, after place: DueCursor?) throws -> DuePage
  /// Makes the regular due times due at once whose scheduled time has passed and which are looked at later than `now`:
  /// quiet hours, or the zone they are read in, have changed. That they were held stays to be seen.
  func reevaluateHeld(now: Instant) throws
  /// What the last `claimDue`, `due`, `reminders` or `reminder` of this body could not read. Due times that could not be claimed
  /// for it have been put off by an hour, so that they hold up no other.
  var unreadable: [UnreadableReminder] { get }
  /// Writes decisions: inserts or updates their occurrences, inserts their deliveries, advances or deletes the due
  /// time each was made for, and updates the reminder's `skipNext`. An occurrence that was heard (`Occurrence.wasHeard`)
  /// is never inserted a second time, nor are its deliveries; one that comes again is replaced by the decision that was
  /// made for the end of that very snooze, or for that very repeat. A reminder that has been removed fires no more, and
  /// one that has been changed since (its generation differs) keeps its due time for a new decision.
  ///
  /// An occurrence with a time to come again is due then. One that fires for the first time, of a reminder that insists
  /// (`nag`), ends the repeats of its occurrences of earlier times. A delivery of a later round than the first cancels what earlier rounds of
  /// its occurrence still owe to its queue. Events neither cancel nor are cancelled so.
  func record(_ firings: [FiringResult]) throws
  /// What the loop has to wait for: the earliest due time, the earliest that wakes the machine, and each queue's earliest owed delivery.
  func wakeups() throws -> NextWakeups

  // Occurrences.

  func occurrence(_ id: OccurrenceID) throws -> Occurrence?
  /// Those of these occurrences that wait for no answer now: they were answered or missed, are put off, or are gone.
  func answered(among ids: [OccurrenceID]) throws -> Set<OccurrenceID>
  /// Newest first by scheduled time.
  func occurrences(_ filter: OccurrenceFilter, page: Page) throws -> [Occurrence]
  /// When times of a reminder were done, from `first` on: the latest 10,000, in no order. One that had been done already when
  /// it came was so then.
  func doneTimes(of id: ReminderID, from first: Instant) throws -> [Instant]
  /// Replaces an occurrence. Its due time becomes that at which it comes again, or is dropped when it does not; when it is
  /// closed, its owed deliveries but for events are cancelled at `now`. Throws when there is no such occurrence.
  func update(_ occurrence: Occurrence, now: Instant) throws

  // Expectations.

  /// The occurrences of a reminder whose ping is awaited, oldest first.
  func awaited(of id: ReminderID) throws -> [Occurrence]
  /// Notes since when an expectation is down, unless that is noted already; nil: it is up. A reminder that is none is up.
  func setDown(_ id: ReminderID, since: Instant?) throws
  /// Keeps a ping of a reminder that there is or was, and forgets all but the newest `Ping.kept`.
  func add(_ ping: Ping, to id: ReminderID) throws
  /// Those of some kinds, the newest first.
  func pings(of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool, limit: Int) throws -> [Ping]

  // The outbox.

  /// Owes deliveries of occurrences that there are, in this order, besides those of `record`.
  func owe(_ deliveries: [Delivery]) throws
  /// The messages that told that an occurrence fires and may have arrived: those that were delivered, and of those that are
  /// owed what was tried or is claimed. In no order.
  func sent(of id: OccurrenceID) throws -> [Delivery]
  /// Claims up to `limit` owed deliveries of a queue whose time has come, oldest first, and hides them until
  /// `visibleAgain`, so that a claim lost in a crash comes back by itself. Of an ordered queue only the oldest that it owes
  /// can be claimed, and only when its time has come. In a `SharedStore`: nothing of a queue that is another daemon's.
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  /// Appends an attempt and sets the delivery's state. The first that is delivered makes its open occurrence a delivered
  /// one, unless it tells an event. A delivery that is no longer owed keeps its state; the attempt is appended all the same. A `SharedStore` appends
  /// one of the same number and begin once: its server may have committed it and been lost before it could say so.
  ///
  /// Throws `StoreFailure.takenOver`, and has done nothing, when another daemon of a `SharedStore` has had the queue since
  /// the delivery was claimed here.
  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws
  /// What the receiver has called a message (`Attempt.receipt`), the last time that it did.
  func receipt(of id: DeliveryID) throws -> String?
  /// Gives claimed deliveries back: each is visible at its own time again, or at `now` where the clock was set back since it
  /// was claimed. What is not this daemon's any more is passed over.
  func release(_ ids: [DeliveryID], now: Instant) throws
  /// Owes a delivery once more, whatever has become of it: it may be tried from `now` on, and what was tried before
  /// counts no more for the retry schedule. One that waits for its time is tried at once.
  ///
  /// - Returns: false when there is none, or when it is claimed, and so under way.
  @discardableResult func replay(_ id: DeliveryID, now: Instant) throws -> Bool
  /// Makes every hidden delivery visible, at a daemon's start. In a `SharedStore`: those of this daemon's queues.
  func releaseClaims() throws
  /// In a `SharedStore`, makes what is hidden in this daemon's queues visible unless it was claimed here since they are its
  /// own. Elsewhere there is no such thing.
  func releaseFormerClaims() throws
  /// Those of these deliveries that are owed no more: somebody has cancelled them, or they are settled.
  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID>
  /// Makes the owed deliveries of a queue that wait for their time visible at once: its endpoint has been put, its bus
  /// is back, or the clock was set back. What is claimed is under way and left alone.
  func wake(queue: DeliveryQueue, now: Instant) throws
  func delivery(_ id: DeliveryID) throws -> Delivery?
  /// Newest first.
  func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery]
  /// Oldest first.
  func attempts(of id: DeliveryID) throws -> [Attempt]

  // History.

  /// The scheduled time of the latest occurrence that has `count` later ones; nil when there are not so many.
  func timeOfOccurrence(after count: Int) throws -> Instant?
  /// Removes the history that `edge` takes, oldest first, with its deliveries and attempts: looks at no more than `limit`
  /// occurrences. What is still owed or comes again stays: snoozed ones, and those with owed deliveries. With the last
  /// trace of a reminder that has been removed its name is free again.
  ///
  /// - Parameter past: looks at those after this one only; nil: from the oldest on.
  func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned

  /// Removes an owner's history of reminders that have been removed, with its deliveries and attempts, and frees their names; at
  /// most `limit` occurrences at a time.
  ///
  /// - Returns: whether there may be more.
  func eraseHistory(ofRemoved owner: UInt32, limit: Int) throws -> Bool

  /// The definitions that a reminder has had, in the order in which they were in force, the present one last. Those without any
  /// time are left out. Empty for one of which nothing is known; those that cannot be read are passed over.
  func versions(of id: ReminderID) throws -> [ReminderVersion]
  /// The ids of at most `limit` reminders that there are or were, in the order in which they were made, after `last`.
  ///
  /// - Parameter owner: nil: of all owners.
  func versionedIDs(owner: UInt32?, after last: ReminderID?, limit: Int) throws -> [ReminderID]
  /// Forgets the definitions whose times all lie before `end`.
  func forgetVersions(before end: Instant) throws

  // Endpoints.

  /// Adds or replaces it. Its queue is ordered from now on when its settings say so.
  func put(_ endpoint: Endpoint) throws
  /// Removes it and cancels what its queue owes. Returns whether there was one.
  @discardableResult func removeEndpoint(_ queue: DeliveryQueue, now: Instant) throws -> Bool
  /// All endpoints of an owner, or of everyone, by name.
  func endpoints(owner: UInt32?) throws -> [Endpoint]
  func endpoint(_ queue: DeliveryQueue) throws -> Endpoint?

  // Requests that carry a token.

  /// The answer that was given to this owner's token before, if any. Tokens are kept for at least a day.
  func answer(owner: UInt32, token: String) throws -> [UInt8]?
  func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws

  // Action tokens, each of which is good for once.

  /// Remembers that an action token was used, and forgets those that nobody could use any more at `now`.
  ///
  /// - Parameters:
  ///   - token: what tells it from all others.
  ///   - expiry: from when on it is refused anyway.
  /// - Returns: false when it was used before; then nothing has changed.
  func spend(_ token: String, until expiry: Instant, now: Instant) throws -> Bool

  // Tenants.

  /// All that there are or ever were, by name.
  func tenants() throws -> [Tenant]
  /// The tenant of that name, which is given a number when it is new. A number is given once.
  func enrol(tenant name: String) throws -> Tenant
  /// How many reminders of a tenant have a time of their schedule to come.
  ///
  /// While it is asked in a transaction that writes, the number is exact until that commits, its own changes included: of
  /// several daemons whoever asks next waits for it. A body that writes asks for one tenant's only. Reading, it is what has
  /// committed.
  func reminderCount(of tenant: UInt32) throws -> Int
  /// The tenants of which this body has given a time to come to a reminder that had none: those whose count it may have
  /// raised.
  var tenantsWithMore: Set<UInt32> { get }

  // The daemon's own notes.

  /// A small named value, such as the time at which the daemon was last seen alive.
  func note(_ name: String) throws -> String?
  func setNote(_ name: String, _ value: String?) throws
  /// Those whose names begin so, which is in ASCII and not empty.
  func notes(named prefix: String) throws -> [(name: String, value: String)]

  /// How many reminders come before `end`, of all owners. Counts due times; reads no definition.
  func dueCount(before end: Instant) throws -> Int
  /// Counts for `chime status`, of one owner or of all.
  func counts(owner: UInt32?) throws -> StoreCounts
  /// What is measured of all owners' things, for `Metrics`. Reads no definition; its cost grows with what is owed.
  func gauges() throws -> StoreGauges
}

/// A reminder with what the store knows beside its definition.
public struct ReminderRecord: Hashable, Sendable {
  public var reminder: Reminder
  /// Its next regular time, as its schedule gives it.
  public var next: Instant?
  /// When that is looked at: later by its jitter, or at the end of the quiet hours that hold it.
  public var nextDueAt: Instant?
  /// Its latest occurrence, by scheduled time.
  public var last: Occurrence?
  /// How many of its occurrences are open.
  public var open: Int
  /// When its earliest snoozed occurrence fires again.
  public var snoozedUntil: Instant?
  /// When the first of its unanswered occurrences is repeated.
  public var repeatAt: Instant?
  /// Until when the earliest of its awaited pings may come.
  public var awaitedUntil: Instant?
  /// Since when it is told of an expectation that no ping came, or that one failed; nil: it is up.
  public var downSince: Instant?
  /// Whether it counts from another reminder of which something may become yet: one that has a time to come or an open
  /// occurrence, or awaits another itself.
  public var awaitsOther: Bool

  /// - Parameter nextDueAt: nil: at `next` and the jitter.
  public init(
    reminder: Reminder, next: Instant? = nil, nextDueAt: Instant? = nil, last: Occurrence? = nil, open: Int = 0,
    snoozedUntil: Instant? = nil, repeatAt: Instant? = nil, awaitedUntil: Instant? = nil, downSince: Instant? = nil,
    awaitsOther: Bool = false
  ) {
    self.reminder = reminder
    self.next = next
    self.nextDueAt = nextDueAt ?? next.map { $0 + reminder.jitterOffset }
    self.last = last
    self.open = open
    self.snoozedUntil = snoozedUntil
    self.repeatAt = repeatAt
    self.awaitedUntil = awaitedUntil
    self.downSince = downSince
    self.awaitsOther = awaitsOther
  }
}

/// A reminder whose definition this program cannot read, such as one that a later version has written.
public struct UnreadableReminder: Hashable, Sendable {
  public var id: ReminderID
  public var owner: UInt32
  public var title: String
  /// Why, and what to do, as a sentence.
  public var reason: String

  public init(id: ReminderID, owner: UInt32, title: String, reason: String) {
    self.id = id
    self.owner = owner
    self.title = title
    self.reason = reason
  }
}

extension Store {
  public var isShared: Bool { false }
}

extension StoreTransaction {
  public var time: StoreTime? { nil }

  public func upsert(_ reminder: Reminder, next: Instant?, since: Instant? = nil) throws {
    try upsert(reminder, next: next, nextDueAt: nil, since: since)
  }

  public func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?) throws {
    try upsert(reminder, next: next, nextDueAt: nextDueAt, since: nil)
  }

  /// The reminder; nil when there is none, and when its definition cannot be read (`unreadable` then has it).
  public func readableReminder(_ id: ReminderID) throws -> ReminderRecord? {
    do { return try reminder(id) } catch  where !unreadable.isEmpty { return nil }
  }

  /// The reminder that comes first, of an owner or of all.
  public func firstComing(owner: UInt32?) throws -> ReminderRecord? {
    var page = Page(limit: 1)
    while true {
      let found = try reminders(
        ReminderFilter(owner: owner, dueFrom: .earliest, includesFinished: false), page: page)
      if !found.isEmpty || unreadable.isEmpty { return found.first }
      page = Page(limit: 8, offset: page.offset + page.limit)
    }
  }
}

extension ReminderRecord {
  /// Whether quiet hours hold its next regular time.
  public var isHeld: Bool {
    guard let next, let nextDueAt else { return false }
    return nextDueAt > next + reminder.jitterOffset
  }

  /// Whether something may become of it yet: it has a time to come or an open occurrence, or awaits another.
  public var isAlive: Bool { coming != nil || open > 0 || awaitsOther }

  /// What comes first of the moment at which its next regular time is looked at, the end of a snooze, a repeat, and the end
  /// of the time for a ping.
  public var coming: Instant? { [nextDueAt, snoozedUntil, repeatAt, awaitedUntil].compactMap { $0 }.min() }
}

/// One due time with all that a decision about it needs.
public struct DueReminder: Hashable, Sendable {
  public var reminder: Reminder
  /// The occurrence's scheduled time.
  public var scheduledAt: Instant
  /// When it was to be looked at: the scheduled time and its jitter, the end of quiet hours, that of a snooze, or the
  /// time of a repeat.
  public var dueAt: Instant
  /// Whether it is a time of the schedule; otherwise the occurrence comes again.
  public var isRegular: Bool
  /// The occurrence, when it exists already (one that comes again, or one that was missed or fired before).
  public var occurrence: Occurrence?

  public init(
    reminder: Reminder, scheduledAt: Instant, dueAt: Instant, isRegular: Bool = true, occurrence: Occurrence? = nil
  ) {
    self.reminder = reminder
    self.scheduledAt = scheduledAt
    self.dueAt = dueAt
    self.isRegular = isRegular
    self.occurrence = occurrence
  }
}

/// What the event loop holds in memory of a store.
public struct NextWakeups: Hashable, Sendable {
  public var nextDue: Instant?
  /// The earliest due time for which the machine is to be woken (`Reminder.wakes`).
  public var nextWake: Instant?
  /// For each queue that owes something: when the earliest of it may be tried. Hidden claims count with the time at
  /// which they come back.
  public var outbox: [DeliveryQueue: Instant]
  /// Grows with each transaction in the order in which the store runs them: of two horizons the one with the greater
  /// number is the truth, whichever reaches the loop first. The daemon counts; an engine leaves it 0.
  public var sequence: UInt64

  public init(
    nextDue: Instant? = nil, nextWake: Instant? = nil, outbox: [DeliveryQueue: Instant] = [:], sequence: UInt64 = 0
  ) {
    self.nextDue = nextDue
    self.nextWake = nextWake
    self.outbox = outbox
    self.sequence = sequence
  }
}
