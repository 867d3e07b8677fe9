public import ChimeSchedule

/// A Store holds the daemon's durable state: what has committed here exists, and nothing else does.
///
/// An engine runs bodies on its own executor and never calls back into the event loop. Bodies that arrive together may
/// commit together, but each sees the others' effects in order, and one that throws leaves no trace. `write` returns
/// after its transaction is durable (on SQLite: `synchronous=FULL`).
public protocol Store: Sendable {
  /// Whether other daemons may use it too, so that due times may change without this daemon.
  var isShared: Bool { get }
  /// Runs `body` in a transaction and returns its result once that is durable.
  ///
  /// An engine may run `body` again after a conflict with another user of its database, so side effects must bear that.
  ///
  /// - Throws: errors of `body`, or `StoreFailure`.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Runs `body` like `write`, but without a shared commit where its thousands of rows would delay the others.
  func writeApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Runs `body` on a consistent view of what has committed. Its writes throw `StoreFailure.readOnly`.
  func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Runs a long `body` like `read`, but without delaying other reads where the engine can do that. One runs at a time.
  func readApart<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result

  /// Waits for the transactions that have begun, and closes. Further calls throw `StoreFailure.closed`.
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

/// A StoreTransaction offers the operations of a store, valid inside one body only.
///
/// All are synchronous and may throw `StoreFailure`.
public protocol StoreTransaction: TrackingTransaction {
  /// The database's time at the start of this transaction; nil if the store has no clock and relies on its daemon's.
  /// With several daemons, it decides what is due.
  var time: StoreTime? { get }
  /// Counts how often the store was opened again because of damage, since the daemon's start. If it differs between two
  /// transactions, an older copy may have taken the store's place in between; what the first has read need not hold.
  var restorations: Int { get }

  // Definitions and due times.

  /// Inserts the reminder, or replaces the one with its `id`, and sets its regular due time. Due times of its snoozes,
  /// repeats and awaited pings stay.
  ///
  /// A reminder of generation 0 is new: if its id is in use, or was used by a reminder of which only history is left,
  /// this throws `StoreFailure.idTaken`.
  ///
  /// - Parameters:
  ///   - next: its next scheduled time; nil if there is none.
  ///   - nextDueAt: when to evaluate `next`; nil for that time plus `jitterOffset`. A later time tells the decision
  ///     that quiet hours have held it.
  ///   - since: the moment after which times of this definition count; nil for `next`.
  func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?, since: Instant?) throws
  /// Inserts new reminders (generation 0) in this order, each with its regular due time as in `upsert`, and leaves out
  /// those whose id is taken, in the store or by an earlier one in the list.
  ///
  /// - Returns: the indices in `reminders` of those left out, ascending.
  func insert(_ reminders: [NewReminder]) throws -> [Int]
  /// Removes the reminder and its due times, cancels its pending deliveries except events, and dismisses its open
  /// occurrences at `now`. Occurrences, deliveries and attempts stay as history.
  ///
  /// - Returns: whether there was one.
  @discardableResult func remove(_ id: ReminderID, now: Instant) throws -> Bool
  /// Returns the reminder; nil if there is none. Throws `StoreFailure.internalError` if its definition cannot be read;
  /// `unreadable` then lists it.
  func reminder(_ id: ReminderID) throws -> ReminderRecord?
  /// Returns reminders in order of `ReminderRecord.coming` (those without it last), then id. Unreadable ones count for
  /// the page but are left out; `unreadable` lists them.
  func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord]
  /// The place of the last reminder that the last `reminders` of this body found, also of an unreadable one; nil if it
  /// found none.
  var listedThrough: ReminderPlace? { get }
  /// Returns at most `limit` ids after `last`, in order of creation, for work on all reminders in several transactions.
  /// `last` may have been removed since.
  ///
  ///     var last: ReminderID?
  ///     repeat {
  ///       let ids = try await store.read { [last] in try $0.reminderIDs(.all, after: last, limit: 1_000) }
  ///       …
  ///       last = ids.last
  ///     } while last != nil
  func reminderIDs(_ selection: ReminderSelection, after last: ReminderID?, limit: Int) throws -> [ReminderID]

  // Firing.

  /// Claims up to `limit` due times that are not after `now`, earliest first. A shared store locks them for this
  /// transaction and skips those that others have locked. If more than `limit` are due and `limit` is over 16, they
  /// need not be the earliest.
  func claimDue(now: Instant, limit: Int) throws -> [DueReminder]
  /// Returns the due times that `claimDue` would claim, after a cursor and without locks, for a store that can only be
  /// read. Unreadable ones are left out.
  func due(now: Instant, limit: Int, after place: DueCursor?) throws -> DuePage
  /// Makes held due times due at once, because quiet hours or the zone that they are read in changed: regular ones
  /// whose scheduled time has passed and that are evaluated later than `now`. They stay recognizable as held.
  func reevaluateHeld(now: Instant) throws
  /// The reminders that the last `claimDue`, `due`, `reminders` or `reminder` of this body could not read. Their
  /// claimed due times are deferred by an hour, so that they block no others.
  var unreadable: [UnreadableReminder] { get }
  /// Writes decisions: inserts or updates occurrences, inserts deliveries, advances or deletes the due time of each
  /// decision, and updates the reminder's `skipNext`.
  ///
  /// An occurrence that fired (`Occurrence.wasDelivered`) is never inserted again, nor are its deliveries; only the
  /// decision about its own snooze, repeat or awaited ping replaces it. A removed reminder no longer fires. A reminder
  /// that changed since (its generation differs) keeps its due time for a new decision.
  ///
  /// If an occurrence has a next time of its own (`recursAt`), that becomes its due time. The first firing of a
  /// reminder with `nag` ends the repeats of its earlier occurrences. A delivery of a later round cancels pending
  /// deliveries of earlier rounds to its queue. Events neither cancel nor are canceled this way.
  func record(_ firings: [FiringResult]) throws
  /// Returns what the loop waits for: the earliest due time, the earliest that wakes the machine, and each queue's
  /// earliest pending delivery.
  func wakeups() throws -> NextWakeups

  // Occurrences.

  func occurrence(_ id: OccurrenceID) throws -> Occurrence?
  /// Returns those of these occurrences that need no answer now: answered, missed, snoozed, or gone.
  func answered(among ids: [OccurrenceID]) throws -> Set<OccurrenceID>
  /// Returns occurrences, newest first by scheduled time.
  func occurrences(_ filter: OccurrenceFilter, page: Page) throws -> [Occurrence]
  /// Returns when times of a reminder were done, from `first` on: the latest 10,000, unordered. A time whose goal had
  /// already been met when it came counts as done then.
  func doneTimes(of id: ReminderID, from first: Instant) throws -> [Instant]
  /// Replaces an occurrence; throws if there is none. Its due time becomes `recursAt`, or is dropped if that is nil.
  /// If it is closed or snoozed, its pending deliveries except events are canceled at `now`.
  func update(_ occurrence: Occurrence, now: Instant) throws

  // Expectations.

  /// Returns the occurrences of a reminder that await a ping, oldest first.
  func awaited(of id: ReminderID) throws -> [Occurrence]
  /// Records since when an expectation is down, unless recorded already; nil for up. Reminders of other kinds are always up.
  func setDown(_ id: ReminderID, since: Instant?) throws
  /// Adds a ping of an existing or removed reminder, and deletes all but the newest `Ping.maxStored`.
  func add(_ ping: Ping, to id: ReminderID) throws
  /// Returns pings of these kinds, newest first.
  func pings(of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool, limit: Int) throws -> [Ping]

  // The outbox.

  /// Adds pending deliveries of existing occurrences, in this order, besides those of `record`.
  func owe(_ deliveries: [Delivery]) throws
  /// Returns the firing messages of an occurrence that may have arrived, unordered: those delivered, and pending ones
  /// that were tried or are claimed.
  func sent(of id: OccurrenceID) throws -> [Delivery]
  /// Claims up to `limit` due deliveries of a queue, oldest first, and hides them until `visibleAgain`, so that a claim
  /// lost in a crash becomes visible again. An ordered queue only yields its oldest pending delivery, and only once
  /// that is due. A `SharedStore` yields nothing of another daemon's queue.
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  /// Appends an attempt, which gets the next number, and sets the delivery's state. The first delivered one, unless it is an event, sets its open
  /// occurrence to delivered. A delivery that is no longer pending keeps its state, but the attempt is appended.
  ///
  /// A `SharedStore` ignores an attempt with a known start that has the attempt's number or a later one: its server may
  /// have committed it, but failed to say so. It throws `StoreFailure.takenOver` and changes nothing if another daemon has had the queue since the claim.
  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws
  /// Returns the receiver's latest id for a message (`Attempt.receipt`).
  func receipt(of id: DeliveryID) throws -> String?
  /// Releases claimed deliveries: each becomes visible at its own time, or at `now` if the clock was set back since the
  /// claim. Deliveries of another daemon's queues are ignored.
  func release(_ ids: [DeliveryID], now: Instant) throws
  /// Makes a delivery pending again, whatever its state: it may be tried from `now` on, with a fresh retry schedule.
  ///
  /// - Returns: false if there is none, or if it is claimed and so in flight.
  @discardableResult func replay(_ id: DeliveryID, now: Instant) throws -> Bool
  /// Makes every hidden delivery visible, at a daemon's start. In a `SharedStore`: those of this daemon's queues.
  func releaseClaims() throws
  /// Makes deliveries visible that former owners of this daemon's queues have claimed, in a `SharedStore`; does nothing
  /// in other stores.
  func releaseFormerClaims() throws
  /// Returns those of these deliveries that are no longer pending, because they were canceled or settled.
  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID>
  /// Makes the pending deliveries of a queue that wait for their time visible at once: its endpoint was changed, its
  /// bus is back, or the clock was set back. Claimed ones are left alone.
  func wake(queue: DeliveryQueue, now: Instant) throws
  func delivery(_ id: DeliveryID) throws -> Delivery?
  /// Returns deliveries, newest first.
  func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery]
  /// Returns attempts, oldest first.
  func attempts(of id: DeliveryID) throws -> [Attempt]

  // History.

  /// Returns the scheduled time of the latest occurrence that has `count` later ones; nil if there are fewer.
  func timeOfOccurrence(after count: Int) throws -> Instant?
  /// Removes the history that `edge` covers, oldest first, with its deliveries and attempts. Reads at most `limit` occurrences.
  /// Snoozed ones and those with pending deliveries stay. The id of a removed reminder becomes free with the last trace of it.
  ///
  /// - Parameter past: the occurrence after which to start; nil for the oldest.
  func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned

  /// Removes an owner's history of removed reminders, with deliveries and attempts, at most `limit` occurrences at a
  /// time. Their ids become free.
  ///
  /// - Returns: whether more may be left.
  func eraseHistory(ofRemoved owner: UInt32, limit: Int) throws -> Bool

  /// Returns the definitions that a reminder has had, oldest first, the current one last. Definitions without any time
  /// are left out, as are unreadable ones. Empty for an unknown reminder.
  func versions(of id: ReminderID) throws -> [ReminderVersion]
  /// Returns at most `limit` ids of existing and removed reminders after `last`, in order of creation.
  ///
  /// - Parameter owner: nil for all owners.
  func versionedIDs(owner: UInt32?, after last: ReminderID?, limit: Int) throws -> [ReminderID]
  /// Deletes the definitions whose times all lie before `end`.
  func forgetVersions(before end: Instant) throws

  // Endpoints.

  /// Adds or replaces an endpoint. Its settings decide whether its queue is ordered from now on.
  func put(_ endpoint: Endpoint) throws
  /// Removes an endpoint and cancels its queue's pending deliveries. Returns whether there was one.
  @discardableResult func removeEndpoint(_ queue: DeliveryQueue, now: Instant) throws -> Bool
  /// Returns the endpoints of an owner, or of everyone, by name.
  func endpoints(owner: UInt32?) throws -> [Endpoint]
  func endpoint(_ queue: DeliveryQueue) throws -> Endpoint?

  // Requests that carry a token.

  /// Returns the answer given before to this owner's token, if any. Tokens are kept for at least a day.
  func answer(owner: UInt32, token: String) throws -> [UInt8]?
  func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws

  // Action tokens, each valid once.

  /// Records that an action token was used, and deletes those that have expired at `now`.
  ///
  /// - Parameters:
  ///   - token: identifies the token.
  ///   - expiry: when the token expires.
  /// - Returns: false if it was used before; then nothing changes.
  func spend(_ token: String, until expiry: Instant, now: Instant) throws -> Bool

  // Tenants.

  /// Returns all current and former tenants, by name.
  func tenants() throws -> [Tenant]
  /// Returns the tenant of that name, with a new number if it is new. Numbers are never reused.
  func enrol(tenant name: String) throws -> Tenant
  /// Returns how many reminders of a tenant have a scheduled time to come.
  ///
  /// In a write, the count includes the transaction's own changes and stays exact until it commits: other daemons that
  /// ask wait. A write may ask about one tenant only. In a read, it is the committed count.
  func reminderCount(of tenant: UInt32) throws -> Int
  /// The tenants whose count this body may have raised, by giving a time to come to a reminder that had none.
  var tenantsWithMore: Set<UInt32> { get }

  /// Writes to the disk what this body has changed so far, so that the commit has less to do. It stays uncommitted. Engines
  /// that have no such thing ignore it.
  func writeAhead() throws

  // The daemon's own notes.

  /// Returns a small named value, such as the time at which a daemon was last known to run.
  func note(_ name: String) throws -> String?
  func setNote(_ name: String, _ value: String?) throws
  /// Returns the notes whose names have this ASCII prefix, which must not be empty.
  func notes(named prefix: String) throws -> [(name: String, value: String)]

  /// Returns how many reminders are due before `end`, of all owners. Counts due times; reads no definition.
  func dueCount(before end: Instant) throws -> Int
  /// Returns counts for `chime status`, of one owner or of all.
  func counts(owner: UInt32?) throws -> StoreCounts
  /// Returns the measurements for `Metrics`. Reads no definition; the cost grows with the number of pending deliveries.
  func gauges() throws -> StoreGauges
}

/// A ReminderRecord is a reminder with its state in the store.
public struct ReminderRecord: Hashable, Sendable {
  public var reminder: Reminder
  /// Its next scheduled time.
  public var next: Instant?
  /// When `next` is evaluated: later by its jitter, or at the end of the quiet hours that hold it.
  public var nextDueAt: Instant?
  /// Its latest occurrence, by scheduled time.
  public var last: Occurrence?
  /// The number of its open occurrences.
  public var open: Int
  /// When its earliest snoozed occurrence fires again.
  public var snoozedUntil: Instant?
  /// When the first of its unanswered occurrences repeats.
  public var repeatAt: Instant?
  /// The earliest deadline of its awaited pings.
  public var pingDeadline: Instant?
  /// Since when an expectation is down, because a ping is missing or failed; nil while it is up.
  public var downSince: Instant?
  /// Whether it counts from another reminder that may still be done or missed: one with a time to come, with an open
  /// occurrence, or that awaits another itself.
  public var awaitsOther: Bool

  /// - Parameter nextDueAt: nil for `next` plus jitter.
  public init(
    reminder: Reminder, next: Instant? = nil, nextDueAt: Instant? = nil, last: Occurrence? = nil, open: Int = 0,
    snoozedUntil: Instant? = nil, repeatAt: Instant? = nil, pingDeadline: Instant? = nil, downSince: Instant? = nil,
    awaitsOther: Bool = false
  ) {
    self.reminder = reminder
    self.next = next
    self.nextDueAt = nextDueAt ?? next.map { $0 + reminder.jitterOffset }
    self.last = last
    self.open = open
    self.snoozedUntil = snoozedUntil
    self.repeatAt = repeatAt
    self.pingDeadline = pingDeadline
    self.downSince = downSince
    self.awaitsOther = awaitsOther
  }
}

/// An UnreadableReminder has a definition that this program cannot read, such as one written by a later version.
public struct UnreadableReminder: Error, Hashable {
  public var id: ReminderID
  public var owner: UInt32
  public var title: String
  /// The reason and the remedy, as a sentence.
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
  public var restorations: Int { 0 }

  /// Returns the open occurrences of a reminder, newest first: a year of unanswered hours, and at most 10,000.
  public func openOccurrences(of id: ReminderID) throws -> [Occurrence] {
    try occurrences(OccurrenceFilter(reminder: id, openOnly: true), page: Page(limit: 10_000))
  }

  /// Returns all occurrences of a filter that few match, newest first.
  public func allOccurrences(_ filter: OccurrenceFilter) throws -> [Occurrence] {
    let page = Page(limit: 10_000)
    var (filter, all): (OccurrenceFilter, [Occurrence]) = (filter, [])
    while true {
      let found = try occurrences(filter, page: page)
      all += found
      filter.after = found.last?.id
      if found.count < page.limit { return all }
    }
  }

  public func writeAhead() {}

  public func upsert(_ reminder: Reminder, next: Instant?, since: Instant? = nil) throws {
    try upsert(reminder, next: next, nextDueAt: nil, since: since)
  }

  public func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?) throws {
    try upsert(reminder, next: next, nextDueAt: nextDueAt, since: nil)
  }

  /// Returns the newest ping of these kinds; nil if there is none.
  public func lastPing(
    of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool = false
  ) throws -> Ping? {
    try pings(of: id, among: kinds, withOutput: withOutput, limit: 1).first
  }

  /// Returns the reminder; nil if there is none or its definition cannot be read (`unreadable` then lists it).
  public func readableReminder(_ id: ReminderID) throws -> ReminderRecord? {
    do { return try reminder(id) } catch  where !unreadable.isEmpty { return nil }
  }

  /// Passes all readable reminders of a filter to `body`, in pages.
  public func eachPage(of filter: ReminderFilter, _ body: ([ReminderRecord]) throws -> Void) throws {
    let page = Page(limit: 1_000)
    var filter = filter
    while true {
      let found = try reminders(filter, page: page)
      let isLast = found.count + unreadable.count < page.limit
      filter.after = listedThrough
      try body(found)
      if isLast { return }
    }
  }

  /// Returns whether a name is unused and has no history of another user.
  public func isFree(_ id: ReminderID, for owner: UInt32) throws -> Bool {
    guard try readableReminder(id) == nil, unreadable.isEmpty else { return false }
    return try occurrences(OccurrenceFilter(reminder: id), page: Page(limit: 1)).allSatisfy { $0.owner == owner }
  }

  /// Returns the reminder with the earliest next time, of an owner or of all.
  public func firstComing(owner: UInt32?) throws -> ReminderRecord? {
    var filter = ReminderFilter(owner: owner, dueFrom: .earliest, includesFinished: false)
    while true {
      let found = try reminders(filter, page: Page(limit: filter.after == nil ? 1 : 8))
      if !found.isEmpty || unreadable.isEmpty { return found.first }
      filter.after = listedThrough
    }
  }
}

extension ReminderRecord {
  /// Whether quiet hours hold its next scheduled time.
  public var isHeld: Bool {
    guard let next, let nextDueAt else { return false }
    return nextDueAt > next + reminder.jitterOffset
  }

  /// Whether it may still fire, be answered or follow another reminder.
  public var isAlive: Bool { coming != nil || open > 0 || awaitsOther }

  /// The earliest of its next evaluation, snooze end, repeat, and ping deadline.
  public var coming: Instant? { [nextDueAt, snoozedUntil, repeatAt, pingDeadline].compactMap { $0 }.min() }
}

/// A DueReminder is one due time with the data that a decision about it needs.
public struct DueReminder: Hashable, Sendable {
  public var reminder: Reminder
  /// The occurrence's scheduled time.
  public var scheduledAt: Instant
  /// When it is evaluated: the scheduled time plus jitter, the end of quiet hours or of a snooze, or the time of a repeat.
  public var dueAt: Instant
  /// Whether it is a scheduled time; otherwise the end of a snooze, a repeat, or the deadline of a ping.
  public var isRegular: Bool
  /// The occurrence, if it exists already.
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

/// A NextWakeups tells the event loop when the store next needs it.
public struct NextWakeups: Hashable, Sendable {
  public var nextDue: Instant?
  /// The earliest due time that wakes the machine (`Reminder.wakes`).
  public var nextWake: Instant?
  /// Per queue, when its earliest pending delivery may be tried. Claimed ones count with the end of their claim.
  public var outbox: [DeliveryQueue: Instant]
  /// The number of the transaction, in the order in which the store runs them. The value with the higher number wins,
  /// whichever reaches the loop first. The daemon counts; an engine leaves it 0.
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
