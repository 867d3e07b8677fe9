public import ChimeCore
import ChimeSchedule

/// A MemoryStore keeps all data in memory. It is the reference implementation of the store contract, for comparison
/// with engines and for tests without a disk.
///
///     let store = MemoryStore()
///     let again = await MemoryStore(continuing: store)  // what the next start of the daemon finds
public actor MemoryStore: Store {
  private var contents = MemoryContents()
  private var isClosed = false

  public init() {}

  /// Returns a transaction on an empty store of its own.
  public static func emptyTransaction() -> any StoreTransaction {
    MemoryTransaction(MemoryContents(), isReadOnly: false)
  }

  /// Creates a store with the contents of `other`.
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

/// The contents of a store as a value. A transaction works on a copy, which replaces the original on commit.
struct MemoryContents: Sendable {
  /// Every reminder that ever existed, with its creation order.
  var order: [ReminderID: Int] = [:]
  var reminders: [ReminderID: Reminder] = [:]
  var regular: [ReminderID: Regular] = [:]
  /// The first time of each current definition, and the replaced definitions in order.
  var countsFrom: [ReminderID: Instant] = [:]
  var replaced: [ReminderID: [ReminderVersion]] = [:]
  /// Newest first.
  var pings: [ReminderID: [Ping]] = [:]
  /// When each expectation went down.
  var down: [ReminderID: Instant] = [:]
  /// When open occurrences fire again.
  var again: [OccurrenceID: Instant] = [:]
  private(set) var occurrences: PartedTable<OccurrenceID, Occurrence> = [:]
  /// The scheduled times of each reminder's occurrences, earliest first.
  private var timesOf: [ReminderID: [Instant]] = [:]
  /// The occurrences that repeat, whether or not they are due again.
  private(set) var repeating: [ReminderID: Set<OccurrenceID>] = [:]
  private(set) var outbox: PartedTable<DeliveryID, Entry> = [:]
  private(set) var deliveriesOf: PartedTable<OccurrenceID, [DeliveryID]> = [:]
  /// The pending deliveries of each queue, oldest first; queues without any are absent.
  private(set) var pending: [DeliveryQueue: [PendingDelivery]] = [:]
  private var places = 0
  var attempts: PartedTable<DeliveryID, [Attempt]> = [:]
  /// The epochs under which deliveries were claimed (`FleetFence`).
  var claimEpochs: [DeliveryID: Int64] = [:]
  var endpoints: [DeliveryQueue: Endpoint] = [:]
  var answers: [Token: Answer] = [:]
  /// Used action tokens, with their expiry times.
  var spent: [String: Instant] = [:]
  var notes: [String: String] = [:]
  /// In the order of creation.
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
    /// The order of creation; it grows with each delivery.
    var place: Int
  }

  /// A pending delivery, as the basis of the queue's next wakeup.
  struct PendingDelivery: Sendable {
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

  /// Returns a reminder's occurrences from `first` to before `end`, earliest first.
  func occurrenceIDs(
    of reminder: ReminderID, from first: Instant? = nil, before end: Instant? = nil
  ) -> some BidirectionalCollection<OccurrenceID> {
    let times = timesOf[reminder] ?? []
    let from = first.map { Self.place(of: $0, in: times) } ?? 0
    let through = end.map { Self.place(of: $0, in: times) } ?? times.count
    return times[from..<max(from, through)].lazy.map { OccurrenceID(reminder: reminder, scheduledAt: $0) }
  }

  /// Returns the first occurrences of all reminders after `past` and before `end`, by time and then by the order of creation.
  func occurrenceIDs(after past: OccurrenceID?, before end: Instant, limit: Int) -> [OccurrenceID] {
    typealias Rank = (time: Instant, order: Int, id: OccurrenceID)
    func precedes(_ one: Rank, _ other: Rank) -> Bool { (one.time, one.order) < (other.time, other.order) }
    let pastOrder = past.flatMap { order[$0.reminder] } ?? -1
    var ranks: [Rank] = []
    for (reminder, times) in timesOf {
      let order = order[reminder] ?? -1
      var first = past.map { Self.place(of: $0.scheduledAt, in: times) } ?? 0
      if let past, first < times.count, times[first] == past.scheduledAt, order <= pastOrder { first += 1 }
      for time in times[first...].prefix(limit) {
        guard time < end else { break }
        ranks.append((time, order, OccurrenceID(reminder: reminder, scheduledAt: time)))
      }
    }
    return ranks.sorted(by: precedes).prefix(limit).map(\.id)
  }

  func occurrences(of reminder: ReminderID) -> [Occurrence] {
    occurrenceIDs(of: reminder).compactMap { occurrences[$0] }
  }

  private func place(of id: OccurrenceID) -> Int { Self.place(of: id.scheduledAt, in: timesOf[id.reminder] ?? []) }

  /// Returns the number of earlier times, by binary search: simulations ask for the latest ones very often.
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
      repeating[occurrence.id.reminder, default: []].insert(occurrence.id)
    } else {
      calm(occurrence.id)
    }
  }

  private mutating func calm(_ id: OccurrenceID) {
    repeating[id.reminder]?.remove(id)
    if repeating[id.reminder]?.isEmpty == true { repeating[id.reminder] = nil }
  }

  /// Removes an occurrence with its deliveries and their attempts.
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
      claimEpochs[delivery] = nil
    }
  }

  mutating func append(_ delivery: Delivery) {
    places += 1
    deliveriesOf[delivery.occurrence, default: []].append(delivery.id)
    put(Entry(delivery: delivery, visibleAt: delivery.ownTime, place: places))
  }

  mutating func put(_ entry: Entry) {
    let delivery = entry.delivery
    let wasPending = outbox.updateValue(entry, forKey: delivery.id)?.delivery.isPending ?? false
    guard delivery.isPending else { return wasPending ? strike(entry) : () }
    let pending = PendingDelivery(id: delivery.id, place: entry.place, visibleAt: entry.visibleAt)
    let place = self.place(entry)
    if wasPending {
      self.pending[delivery.queue]?[place] = pending
    } else {
      self.pending[delivery.queue, default: []].insert(pending, at: place)
    }
  }

  /// Returns the delivery's position among the pending ones of its queue.
  private func place(_ entry: Entry) -> Int {
    let list = pending[entry.delivery.queue] ?? []
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].place < entry.place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func strike(_ entry: Entry) {
    let (queue, place) = (entry.delivery.queue, place(entry))
    guard let list = pending[queue], place < list.count, list[place].place == entry.place else { return }
    pending[queue]?.remove(at: place)
    if pending[queue]?.isEmpty == true { pending[queue] = nil }
  }
}

extension Delivery {
  /// The earliest time of the next attempt, ignoring claims.
  var ownTime: Instant {
    if case .waiting(let until) = state { until } else { createdAt }
  }
}
