public import ChimeCore
import ChimeSchedule

/// A store that remembers nothing beyond its process: the plainest reading of the contract, for engines to be compared
/// with and for tests that need no disk.
///
///     let store = MemoryStore()
///     let again = await MemoryStore(continuing: store)   // as another start of the daemon would find it
public actor MemoryStore: Store {
  private var contents = MemoryContents()
  private var isClosed = false

  public init() {}

  /// A transaction of a store that has nothing and is nobody's, for who needs no more of it.
  public static func emptyTransaction() -> any StoreTransaction {
    MemoryTransaction(MemoryContents(), isReadOnly: false)
  }

  /// A store with what `other` holds.
  public init(continuing other: MemoryStore) async { contents = await other.contents }

  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    if isClosed { throw StoreFailure.closed }
    let transaction = MemoryTransaction(contents, isReadOnly: false)
    let result = try body(transaction)
    contents = transaction.contents
    return result
  }

  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    if isClosed { throw StoreFailure.closed }
    return try body(MemoryTransaction(contents, isReadOnly: true))
  }

  public func close() async { isClosed = true }
}

/// All that a store holds, as a value: a transaction works on a copy, which replaces the original or is dropped.
struct MemoryContents: Sendable {
  /// Every reminder there ever was, with its place in the order of their making.
  var order: [ReminderID: Int] = [:]
  var reminders: [ReminderID: Reminder] = [:]
  var regular: [ReminderID: Regular] = [:]
  /// The first time of each definition, and those that were replaced, in their order.
  var countsFrom: [ReminderID: Instant] = [:]
  var replaced: [ReminderID: [ReminderVersion]] = [:]
  /// The newest first.
  var pings: [ReminderID: [Ping]] = [:]
  /// Since when expectations are down.
  var down: [ReminderID: Instant] = [:]
  /// When occurrences come again.
  var again: [OccurrenceID: Instant] = [:]
  private(set) var occurrences: PartedTable<OccurrenceID, Occurrence> = [:]
  /// What each reminder's are for, earliest first.
  private var timesOf: [ReminderID: [Instant]] = [:]
  /// Those that say that they are to be repeated, whether or not they are due again.
  private(set) var insisting: [ReminderID: Set<OccurrenceID>] = [:]
  private(set) var outbox: PartedTable<DeliveryID, Entry> = [:]
  private(set) var deliveriesOf: PartedTable<OccurrenceID, [DeliveryID]> = [:]
  /// What each queue owes, oldest first; queues that owe nothing are not in it.
  private(set) var owed: [DeliveryQueue: [Owed]] = [:]
  private var places = 0
  var attempts: PartedTable<DeliveryID, [Attempt]> = [:]
  var endpoints: [DeliveryQueue: Endpoint] = [:]
  var answers: [Token: Answer] = [:]
  /// Action tokens that were used, with when they expire.
  var spent: [String: Instant] = [:]
  var notes: [String: String] = [:]
  /// In the order in which they were enrolled.
  var tenants: [Tenant] = []
  var tracking = MemoryTracking()

  struct Regular: Hashable, Sendable {
    var scheduledAt: Instant
    var dueAt: Instant
    var wakes: Bool
  }

  struct Entry: Sendable {
    var delivery: Delivery
    var visibleAt: Instant
    /// Grows from one to the next.
    var place: Int
  }

  /// What what wakes next is made of.
  struct Owed: Sendable {
    var id: DeliveryID
    var place: Int
    var visibleAt: Instant
  }

  struct Token: Hashable, Sendable {
    var owner: UInt32
    var token: String
  }

  struct Answer: Sendable {
    var bytes: [UInt8]
    var keptAt: Instant
  }

  func hasOccurrences(of reminder: ReminderID) -> Bool { timesOf[reminder] != nil }

  /// A reminder's, those for times from `first` to before `end`, earliest first.
  func occurrenceIDs(
    of reminder: ReminderID, from first: Instant? = nil, before end: Instant? = nil
  ) -> some BidirectionalCollection<OccurrenceID> {
    let times = timesOf[reminder] ?? []
    let from = first.map { Self.place(of: $0, in: times) } ?? 0
    let through = end.map { Self.place(of: $0, in: times) } ?? times.count
    return times[from..<max(from, through)].lazy.map { OccurrenceID(reminder: reminder, scheduledAt: $0) }
  }

  func occurrences(of reminder: ReminderID) -> [Occurrence] {
    occurrenceIDs(of: reminder).compactMap { occurrences[$0] }
  }

  private func place(of id: OccurrenceID) -> Int { Self.place(of: id.scheduledAt, in: timesOf[id.reminder] ?? []) }

  /// How many are earlier. Simulations ask for the latest ones very often.
  private static func place(of time: Instant, in times: [Instant]) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle].milliseconds < time.milliseconds { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func put(_ occurrence: Occurrence) {
    if occurrences.updateValue(occurrence, forKey: occurrence.id) == nil {
      let place = place(of: occurrence.id)
      timesOf[occurrence.id.reminder, default: []].insert(occurrence.id.scheduledAt, at: place)
    }
    if occurrence.repeatAt != nil {
      insisting[occurrence.id.reminder, default: []].insert(occurrence.id)
    } else {
      calm(occurrence.id)
    }
  }

  private mutating func calm(_ id: OccurrenceID) {
    insisting[id.reminder]?.remove(id)
    if insisting[id.reminder]?.isEmpty == true { insisting[id.reminder] = nil }
  }

  /// Removes it with its deliveries and their attempts.
  mutating func forget(_ id: OccurrenceID) {
    if occurrences.removeValue(forKey: id) != nil {
      let place = place(of: id)
      timesOf[id.reminder]?.remove(at: place)
    }
    calm(id)
    if timesOf[id.reminder]?.isEmpty == true { timesOf[id.reminder] = nil }
    for delivery in deliveriesOf.removeValue(forKey: id) ?? [] {
      guard let entry = outbox.removeValue(forKey: delivery) else { continue }
      strike(entry)
      attempts[delivery] = nil
    }
  }

  mutating func append(_ delivery: Delivery) {
    places += 1
    deliveriesOf[delivery.occurrence, default: []].append(delivery.id)
    put(Entry(delivery: delivery, visibleAt: delivery.ownTime, place: places))
  }

  mutating func put(_ entry: Entry) {
    let delivery = entry.delivery
    let wasOwed = outbox.updateValue(entry, forKey: delivery.id)?.delivery.isOwed ?? false
    guard delivery.isOwed else { return wasOwed ? strike(entry) : () }
    let owed = Owed(id: delivery.id, place: entry.place, visibleAt: entry.visibleAt)
    let place = self.place(entry)
    if wasOwed {
      self.owed[delivery.queue]?[place] = owed
    } else {
      self.owed[delivery.queue, default: []].insert(owed, at: place)
    }
  }

  /// Where it stands, or would stand, among what its queue owes.
  private func place(_ entry: Entry) -> Int {
    let list = owed[entry.delivery.queue] ?? []
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].place < entry.place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func strike(_ entry: Entry) {
    let (queue, place) = (entry.delivery.queue, place(entry))
    guard let list = owed[queue], place < list.count, list[place].place == entry.place else { return }
    owed[queue]?.remove(at: place)
    if owed[queue]?.isEmpty == true { owed[queue] = nil }
  }
}

extension Delivery {
  /// When it may be tried, unless someone has claimed it.
  var ownTime: Instant {
    if case .waiting(let until) = state { until } else { createdAt }
  }
}
