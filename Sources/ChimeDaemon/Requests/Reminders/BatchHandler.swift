import ChimeControl
import ChimeCore
import ChimeSchedule

/// Adds thousands of reminders in one request: all of them or none.
extension RemindersHandler {
  /// The most reminders of one call, and the most faults that are reported.
  private static let maxAdded = 5_000
  fileprivate static let maxDraftFaults = 100

  func handle(_ request: Interface.AddMany) async throws -> Interface.AddMany.Reply {
    try need(
      (1...Self.maxAdded).contains(request.reminders.count), "reminders", "give 1 to \(Self.maxAdded) in one call")
    try check(token: request.token)
    var faults = DraftFaults()
    var drafted: [NewReminder] = []
    for (index, draft) in request.reminders.enumerated() {
      if index % 16 == 15 { try life.goOn() }
      try faults.collect(index) {
        let reminder = try writer.draft(draft)
        drafted.append(NewReminder(reminder, next: try fields.firstTime(of: reminder)))
      }
    }
    // Links need a transaction. Other faults are reported without one.
    try faults.throwAny()
    if request.dryRun == true {
      return try await store.read { [self, drafted] transaction in
        let linked = try link(drafted, request.reminders, in: transaction)
        return Interface.AddMany.Reply(ids: [], warnings: try warnings(about: linked, transaction))
      }
    }
    let drafts = try drafted.map { try ChangeDetail.Draft($0.reminder) }
    return try await commit(token: request.token, isLarge: drafted.count > 500) { [self, drafted] transaction in
      let added = try insert(try link(drafted, request.reminders, in: transaction), into: transaction)
      try record(added, from: drafts, in: transaction)
      let reply = Interface.AddMany.Reply(
        ids: added.map(\.id.rawValue), warnings: try warnings(about: added.map { NewReminder($0) }, transaction))
      return (reply, added.map { .reminder(.added, $0, "added \"\($0.title)\"") })
    }
  }

  /// The faults found so far.
  private struct DraftFaults {
    private var all: [Interface.DraftFault] = []

    /// Runs `body` for one draft, and collects its fault, until there are enough.
    mutating func collect(_ index: Int, _ body: () throws -> Void) throws {
      guard all.count < RemindersHandler.maxDraftFaults else { return }
      do {
        try body()
      } catch let failure as StoreFailure {
        throw failure
      } catch {
        let failure = ControlFailure(error)
        all.append(Interface.DraftFault(index: index, field: failure.field, message: failure.reason))
      }
    }

    func throwAny() throws {
      if !all.isEmpty { throw ControlFailure.invalidDrafts(all) }
    }
  }

  /// Links the reminders to their trackers, and to the reminders that they depend on.
  private func link(
    _ drafted: [NewReminder], _ drafts: [Interface.Draft], in transaction: any StoreTransaction
  ) throws -> [NewReminder] {
    var (drafted, faults) = (drafted, DraftFaults())
    for (index, draft) in drafts.enumerated() {
      try faults.collect(index) {
        try chains.resolve(&drafted[index].reminder, waitingFor: draft.onlyIfDone, in: transaction)
      }
      guard let link = draft.tracker else { continue }
      try faults.collect(index) {
        try links.link(&drafted[index].reminder, link, in: transaction)
        drafted[index].next = try writer.firstTime(of: &drafted[index].reminder, in: transaction)
      }
    }
    try faults.throwAny()
    return drafted
  }

  /// Inserts the reminders under ids that are free.
  ///
  /// - Returns: the reminders in the same order.
  func insert(_ drafted: [NewReminder], into transaction: any StoreTransaction) throws -> [Reminder] {
    var (all, generator) = (drafted, PooledRandom())
    var left = Array(all.indices)
    // There are only a million short ids. They are for reminders that people add one by one.
    let shortest = all.count > 16 ? 6 : 4
    for attempt in 0..<16 where !left.isEmpty {
      for place in left {
        all[place].reminder.id = ReminderID(length: shortest + attempt / 4, using: &generator)
      }
      left = try transaction.insert(left.map { all[$0] }).map { left[$0] }
    }
    try need(left.isEmpty, limit: "ids")
    return all.map(\.reminder)
  }

  /// Returns the warnings about all, each once. Reminders with the same channels have the same warnings.
  private func warnings(
    about reminders: [NewReminder], _ transaction: any StoreTransaction
  ) throws -> [String] {
    struct Ways: Hashable {
      var channels: [ChannelName]
      var wakes: Bool
    }
    var known: Set<Ways> = []
    var warnings: [String] = []
    for reminder in reminders.map(\.reminder) {
      let ways = Ways(channels: reminder.channels(atRepeat: .max), wakes: reminder.wake)
      guard known.insert(ways).inserted else { continue }
      warnings += try self.warnings.about(reminder, transaction).filter { !warnings.contains($0) }
    }
    return warnings
  }
}

extension ControlFailure {
  /// The field of a draft that is at fault.
  fileprivate var field: String? {
    switch self {
    case .invalidSchedule: "when"
    case .invalidValue(let field, _): field
    case .notFound(let what, _, _): what
    default: nil
    }
  }

  /// The sentence that says why a draft is refused.
  fileprivate var reason: String {
    switch self {
    case .invalidSchedule(let error): error.message
    case .invalidValue(_, let message), .conflict(let message): message
    case .notFound(let what, let id, _): "there is no \(what) \(id)"
    default: sentence
    }
  }
}
