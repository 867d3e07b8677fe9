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
  /// When occurrences come again.
  var again: [OccurrenceID: Instant] = [:]
  var occurrences: [OccurrenceID: Occurrence] = [:]
  /// Oldest first.
  var outbox: [Entry] = []
  var places: [DeliveryID: Int] = [:]
  var attempts: [DeliveryID: [Attempt]] = [:]
  var endpoints: [Lane: Endpoint] = [:]
  var answers: [Token: Answer] = [:]
  var notes: [String: String] = [:]

  struct Regular: Sendable {
    var scheduledAt: Instant
    var dueAt: Instant
    var wakes: Bool
  }

  struct Entry: Sendable {
    var delivery: Delivery
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
}

extension Delivery {
  /// When it may be tried, unless someone has claimed it.
  var ownTime: Instant {
    if case .waiting(let until) = state { until } else { createdAt }
  }
}
