import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Varlink

/// Who asks, by the numbers that the kernel gave at accept.
struct Caller: Hashable, Sendable {
  let uid: UInt32
  /// Whose things it makes.
  let owner: UInt32
  /// Whose things it sees; nil: everyone's.
  let sees: UInt32?
  /// The tenant for whom it acts; nil: for itself.
  var tenant: TenantDefinition?
}

extension Caller {
  /// Ends a change that has brought the tenant for whom it is made above its number of reminders.
  func requireRoom(in transaction: any StoreTransaction) throws {
    guard tenant?.reminders != nil, transaction.tenantsWithMore.contains(owner) else { return }
    try requireRoom(for: transaction.reminderCount(of: owner))
  }

  /// Ends what would leave the tenant for whom it is made with so many reminders, where these are too many.
  func requireRoom(for count: Int) throws {
    guard let tenant, let limit = tenant.reminders, count > limit else { return }
    throw ControlFailure.limitExceeded(
      "tenant \"\(tenant.name)\" may have \(limit) reminders with a future time, and this would make \(count): "
        + "remove some, or ask for a higher limit, reminders in [tenants.\(tenant.name)] of the configuration")
  }
}

/// Where requests are answered: outside the loop, against the store, each in one transaction.
///
/// A reply is made after its transaction has committed, and the loop has been told of the commit before.
struct RequestHandler: InterfaceHandler, Sendable {
  let store: any Store
  let wakeupsReader: WakeupsReader
  let context: ReminderContext
  let secrets: Secrets
  let endpoints: EndpointCache
  let channels: Channels
  let commands: CommandChannel
  let loop: EventLoop
  let configuration: Configuration
  let caller: Caller
  /// Whether the caller still waits.
  let life: RequestLife
  /// The names of tenants, by what their things are owned by.
  let tenantNames: [UInt32: String]
  /// What was heard from memory when the request came, and is not in the store.
  let heard: Set<OccurrenceID>
  /// When nobody could fire.
  let uptime: Uptime
  let now: Instant

  var wire: WireMapper {
    WireMapper(context: context, now: now, wakeProblem: loop.wakeAlarm.problem, tenants: tenantNames)
  }
  var fields: ReminderFields { ReminderFields(context: context, configuration: configuration, now: now) }

  /// Answers a call; never throws, whatever was asked.
  func answer(_ call: VarlinkCall) async -> VarlinkReply {
    let interface = call.method.lastIndex(of: ".").map { String(call.method[..<$0]) } ?? ""
    do {
      return try await perform(call)
    } catch {
      return ControlFailure(error).reply(interface: interface)
    }
  }

  private func perform(_ call: VarlinkCall) async throws -> VarlinkReply {
    if call.method == Tracking.Restore.method { return try await restore(call.parameters()) }
    guard let reply = try await reply(to: call) else { throw ServiceError.methodNotImplemented(method: call.method) }
    guard reply.bytes.count <= configuration.maxMessageBytes || !call.method.hasPrefix(Tracking.name + ".") else {
      throw ControlFailure.limitExceeded(
        "control.maxMessageBytes: the answer has \(reply.bytes.count) bytes; request less at once")
    }
    return reply
  }

  /// Writes, tells the loop what the store looks like since, and publishes what happened.
  ///
  /// - Parameter isLarge: whether it may change thousands of rows.
  func commit<Result: Sendable>(
    isLarge: Bool = false, _ body: @escaping @Sendable (any StoreTransaction) throws -> (Result, [PostCommitEffect])
  ) async throws -> Result {
    let (result, effects, wakeups): (Result, [PostCommitEffect], NextWakeups)
    do {
      let whole: @Sendable (any StoreTransaction) throws -> (Result, [PostCommitEffect], NextWakeups) = {
        [wakeupsReader, caller] transaction in
        let (result, effects) = try body(transaction)
        try caller.requireRoom(in: transaction)
        return (result, effects, try wakeupsReader.read(transaction))
      }
      (result, effects, wakeups) = try await isLarge ? store.writeApart(whole) : store.write(whole)
    } catch let failure as StoreFailure where failure.isPassing {
      await loop.changeRefused(failure)
      throw failure
    }
    // What a queue is now owed at once is to find its endpoint as it is now.
    let changesEndpoints = effects.contains { if case .endpointsChanged = $0 { true } else { false } }
    if changesEndpoints { await loop.refreshEndpoints() }
    loop.hasCommitted(wakeups, effects, with: context)
    return result
  }

  /// The part of a listing that a request asks for; the cursor is the number of items before it.
  func page(limit: Int?, cursor: String?) throws -> Page {
    let limit = limit ?? 100
    guard (1...10_000).contains(limit) else {
      throw ControlFailure.invalidValue(field: "limit", "give a number from 1 to 10000")
    }
    guard let cursor else { return Page(limit: limit) }
    guard let offset = Int(cursor), (0...1_000_000_000).contains(offset) else {
      throw ControlFailure.invalidValue(field: "cursor", "give the cursor of the previous answer, or none")
    }
    return Page(limit: limit, offset: offset)
  }

  /// Reads a page in parts until it is full, there is no more, or the answer has become long, and gives the cursor behind
  /// what was read. A page may therefore be shorter than its limit, and what it takes does not depend on that.
  ///
  /// - Parameter read: how many a part had, and about how many bytes they are in the answer.
  func inParts(_ page: Page, _ read: (Page) throws -> (count: Int, bytes: Int)) throws -> String? {
    var (taken, bytes) = (0, 0)
    while taken < page.limit {
      try life.goOn()
      let part = Page(limit: min(Self.itemsInPart, page.limit - taken), offset: page.offset + taken)
      let found = try read(part)
      (taken, bytes) = (taken + found.count, bytes + found.bytes)
      if found.count < part.limit { return nil }
      if bytes >= Self.replyBytes { break }
    }
    return String(page.offset + taken)
  }

  /// How many bytes an answer may have before it ends, but for the part that it ends with.
  static let replyBytes = 1 << 20
  /// How many items are read at a time: some are 40 KiB.
  static let itemsInPart = 100

  /// About how many bytes a reminder is in an answer; what has a bound of some hundred is left out.
  static func bytes(of reminder: RemindersInterface.Reminder) -> Int {
    let texts = ReminderFields.texts.compactMap { reminder[keyPath: $0.shown] } + reminder.tags
    return 600 + reminder.title.utf8.count + reminder.when.utf8.count + texts.reduce(0) { $0 + $1.utf8.count }
  }

  func instant(_ text: String?, _ field: String) throws -> Instant? {
    guard let text else { return nil }
    guard let instant = try? RFC3339.parse(text) else {
      throw ControlFailure.invalidValue(field: field, "give an RFC 3339 time, such as 2026-12-01T09:00:00+01:00")
    }
    return instant
  }
}
