import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Varlink

/// A RequestContext holds all that handlers need to answer one request.
struct RequestContext: RequestPart {
  let store: any Store
  let wakeupsReader: WakeupsReader
  let context: ReminderContext
  let secrets: Secrets
  let channels: Channels
  let commands: CommandChannel
  let loop: EventLoop
  let configuration: Configuration
  let caller: Caller
  /// Whether the caller still waits for the answer.
  let life: RequestLife
  /// The names of tenants, by owner.
  let tenantNames: [UInt32: String]
  /// The occurrences that fired in degraded mode and were not in the store when the request came.
  let unrecorded: Set<OccurrenceID>
  /// When the daemon ran, and when it could not fire.
  let uptime: Uptime
  let now: Instant

  var requestContext: RequestContext { self }

  /// The size in bytes after which a listing ends, at the end of the part that it has begun.
  static let replyBytes = 1 << 20
  /// The number of items that a listing reads at once, at first and at most. Some items have 40 KiB.
  static let itemsInPart = 100
  static let mostInPart = 400
  /// The longest idempotency token, in bytes.
  static let maxTokenBytes = 256
}

/// A RequestPart answers the requests of one subject. Its extension has the helpers that all subjects share.
protocol RequestPart: Sendable {
  var requestContext: RequestContext { get }
}

extension RequestPart {
  var store: any Store { requestContext.store }
  var context: ReminderContext { requestContext.context }
  var secrets: Secrets { requestContext.secrets }
  var commands: CommandChannel { requestContext.commands }
  var loop: EventLoop { requestContext.loop }
  var configuration: Configuration { requestContext.configuration }
  var caller: Caller { requestContext.caller }
  var life: RequestLife { requestContext.life }
  var unrecorded: Set<OccurrenceID> { requestContext.unrecorded }
  var uptime: Uptime { requestContext.uptime }
  var now: Instant { requestContext.now }

  var wire: WireMapper {
    WireMapper(context: context, now: now, wakeProblem: loop.wakeAlarm.problem, tenants: requestContext.tenantNames)
  }
  var fields: ReminderFields { ReminderFields(context: context, configuration: configuration, now: now) }

  /// Commits a change, hands the next wake-ups to the loop, and publishes the effects.
  ///
  /// - Parameter isLarge: whether the change may touch thousands of rows. It then runs apart from the small ones.
  func commit<Result: Sendable>(
    isLarge: Bool = false, _ body: @escaping @Sendable (any StoreTransaction) throws -> (Result, [PostCommitEffect])
  ) async throws -> Result {
    let (result, effects, wakeups): (Result, [PostCommitEffect], NextWakeups)
    do {
      let whole: @Sendable (any StoreTransaction) throws -> (Result, [PostCommitEffect], NextWakeups) = {
        [wakeupsReader = requestContext.wakeupsReader, caller] transaction in
        let (result, effects) = try body(transaction)
        try caller.requireRoom(in: transaction)
        return (result, effects, try wakeupsReader.read(transaction))
      }
      (result, effects, wakeups) = try await isLarge ? store.writeApart(whole) : store.write(whole)
    } catch let failure as StoreFailure where failure.isPassing {
      await loop.changeRefused(failure)
      throw failure
    }
    // The effects may open a queue, which must find its endpoint as it is now.
    let changesEndpoints = effects.contains { if case .endpointsChanged = $0 { true } else { false } }
    if changesEndpoints { await loop.refreshEndpoints() }
    loop.hasCommitted(wakeups, effects, with: context)
    return result
  }

  /// Commits a change. If it repeats a request with the same idempotency token, it gets the first reply again.
  func commit<Reply: JSONCodable & Sendable>(
    token: String?, isLarge: Bool = false,
    _ body: @escaping @Sendable (any StoreTransaction) throws -> (Reply, [PostCommitEffect])
  ) async throws -> Reply {
    guard let token else { return try await commit(isLarge: isLarge, body) }
    return try await commit(isLarge: isLarge) { [caller, now] transaction in
      if let kept = try transaction.answer(owner: caller.owner, token: token) {
        guard let reply = try? JSONReader.read(Reply.self, from: kept) else {
          throw ControlFailure.conflict("the token was used for another call: use a new token for each call")
        }
        return (reply, [])
      }
      let (reply, effects) = try body(transaction)
      try transaction.keepAnswer(JSONWriter.bytes(of: reply), owner: caller.owner, token: token, now: now)
      return (reply, effects)
    }
  }

  /// Runs `body` on the executor of short requests. All files of secrets are changed there, one after the other.
  func onRequestExecutor(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await Task(executorPreference: loop.requestExecutor, operation: body).value
  }

  // MARK: Input

  func instant(_ text: String?, _ field: String) throws -> Instant? {
    guard let text else { return nil }
    guard let instant = try? RFC3339.parse(text) else {
      throw ControlFailure.invalidValue(field: field, "give an RFC 3339 time, such as 2026-12-01T09:00:00+01:00")
    }
    return instant
  }

  func check(token: String?) throws {
    if let token, !(1...RequestContext.maxTokenBytes).contains(token.utf8.count) {
      throw ControlFailure.invalidValue(field: "token", "give 1 to \(RequestContext.maxTokenBytes) bytes")
    }
  }

  /// Returns a lookup of the reminders that the caller sees.
  func reminders(in transaction: any StoreTransaction) -> Lookup {
    Lookup(transaction: transaction, owner: caller.sees, filling: (context, now))
  }

  /// Returns a lookup of the reminders of one owner, even if the caller is another.
  func reminders(of owner: UInt32, in transaction: any StoreTransaction) -> Lookup {
    Lookup(transaction: transaction, owner: owner, filling: (context, now))
  }

  // MARK: Listings

  /// Returns the number of items that a request asks for.
  func page(limit: Int?) throws -> Page {
    let limit = limit ?? 100
    try need((1...10_000).contains(limit), "limit", "give a number from 1 to 10000")
    return Page(limit: limit)
  }

  /// Returns the place after which a request's page begins; nil: it is the first.
  func place<Place: ListingPlace>(_ cursor: String?) throws -> Place? {
    guard let cursor else { return nil }
    guard let place = Place(cursor: cursor) else {
      throw ControlFailure.invalidValue(field: "cursor", "give the cursor of the previous answer, or none")
    }
    return place
  }

  /// Reads a page in parts until it is full, nothing is left, or the answer exceeds `replyBytes`; so a page may be short.
  ///
  /// - Parameter read: reads a part after a place; returns its number of items, their approximate bytes in the answer, and
  ///   the place of the last.
  /// - Returns: the cursor of the next page; nil: this was the last.
  func inParts<Place: ListingPlace>(
    _ page: Page, after start: Place?, _ read: (Page, Place?) throws -> (count: Int, bytes: Int, last: Place?)
  ) throws -> String? {
    var (taken, bytes, size, place) = (0, 0, RequestContext.itemsInPart, start)
    while taken < page.limit {
      try life.goOn()
      let part = Page(limit: min(size, page.limit - taken))
      let found = try read(part, place)
      (taken, bytes, place) = (taken + found.count, bytes + found.bytes, found.last)
      if found.count < part.limit { return nil }
      if bytes >= RequestContext.replyBytes { break }
      // Some listings are sorted once more for each part, so the next one is as large as the answer allows.
      let fitting = (RequestContext.replyBytes - bytes) / max(1, bytes / taken)
      size = min(max(fitting, RequestContext.itemsInPart), RequestContext.mostInPart)
    }
    return place?.cursor
  }
}

/// A ListingPlace is a place in a listing, whose text is the cursor of the next page.
protocol ListingPlace {
  /// Reads a cursor; nil if it is none.
  init?(cursor: String)
  var cursor: String { get }
}

extension ReminderPlace: ListingPlace {
  init?(cursor: String) {
    let parts = cursor.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0] == "-" || Int64(parts[0]) != nil else { return nil }
    let coming = Int64(parts[0]).map { Instant(milliseconds: $0) }
    self.init(coming: coming, id: ReminderID(rawValue: String(parts[1])))
  }

  var cursor: String { "\(coming.map { String($0.milliseconds) } ?? "-") \(id)" }
}

extension OccurrenceID: ListingPlace {
  init?(cursor: String) { self.init(cursor) }

  var cursor: String { description }
}

extension DeliveryID: ListingPlace {
  init?(cursor: String) {
    self.init(rawValue: cursor)
    if number == nil { return nil }
  }

  var cursor: String { rawValue }
}
