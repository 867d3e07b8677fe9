import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// How things of which the store keeps no versions were before a change and after it: reminders, their occurrences,
/// endpoints, a silence. It stands as JSON beside the change, and says what undoing it brings back.
struct ChangeDetail: Codable, Sendable {
  /// Nil: there was none, or there is none since.
  struct Step<Thing: Codable & Hashable & Sendable>: Codable, Sendable {
    var before: Thing?
    var after: Thing?
    /// When a reminder was to come next.
    var next: Instant?
    /// How far the answers to an endpoint's messages were read, as `ReplyTransaction` notes it.
    var mark: String?
  }

  var reminders: [Step<Reminder>] = []
  /// Of a removed reminder those that waited for an answer.
  var occurrences: [Step<Occurrence>] = []
  var endpoints: [Step<Endpoint>] = []
  var silence: Step<Silence>?
  /// All reminders as they were, when all were exchanged for others.
  var all: [Reminder]?
  /// The changes of trackers that were made with it and are taken back with it, first to last.
  var parts: [Int64] = []
  /// Whether an endpoint has been given another secret, which is not brought back.
  var changesSecret = false

  init(
    reminders: [Step<Reminder>] = [], occurrences: [Step<Occurrence>] = [], endpoints: [Step<Endpoint>] = [],
    silence: Step<Silence>? = nil
  ) {
    (self.reminders, self.occurrences, self.endpoints, self.silence) = (reminders, occurrences, endpoints, silence)
  }

  init(removing record: ReminderRecord, _ open: [Occurrence]) {
    self.init(
      reminders: [.init(before: record.reminder, after: nil, next: record.next)],
      occurrences: open.map { .init(before: $0, after: nil) })
  }

  init(reading text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }

  /// Removes an endpoint, with the note of how far its answers were read.
  mutating func remove(_ endpoint: Endpoint, in transaction: any StoreTransaction, now: Instant) throws {
    let mark = try ReplyTransaction.takeMark(of: endpoint.queue, in: transaction)
    endpoints.append(.init(before: endpoint, after: nil, mark: mark))
    try transaction.removeEndpoint(endpoint.queue, now: now)
  }

  mutating func add(_ other: ChangeDetail) {
    reminders += other.reminders
    occurrences += other.occurrences
  }

  func text() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}

/// What somebody has done last of what cannot be taken back, so that undo can say that it takes back something older.
struct LastAct: Sendable {
  enum Kind: String, Sendable { case fired, rotated, redelivered, cancelled, removed }

  var at: Instant
  var kind: String
  var subject: String

  static func note(of owner: UInt32) -> String { "act \(owner)" }

  init(at: Instant, kind: Kind, subject: String) { (self.at, self.kind, self.subject) = (at, kind.rawValue, subject) }

  init?(text: String) {
    let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, let milliseconds = Int64(words[0]) else { return nil }
    (at, kind, subject) = (Instant(milliseconds: milliseconds), String(words[1]), String(words[2]))
  }

  var text: String { "\(at.milliseconds) \(kind) \(subject)" }
}

extension RequestHandler {
  /// Records what the caller has changed, so that it can be taken back.
  @discardableResult
  func record(
    _ kind: TrackingChange.Kind, _ subject: String, _ detail: ChangeDetail, in transaction: any StoreTransaction
  ) throws -> Int64 {
    let change = try transaction.begin(
      TrackingChange(owner: caller.owner, at: now, kind: kind, subject: subject))
    try transaction.setDetail(detail.text(), of: change)
    return change
  }

  /// Records reminders that were added by one request.
  func record(_ added: [Reminder], in transaction: any StoreTransaction) throws {
    guard let first = added.first else { return }
    let detail = ChangeDetail(reminders: added.map { .init(before: nil, after: $0) })
    let isOne = added.count == 1
    try record(
      isOne ? .reminderAdded : .remindersImported, isOne ? first.title : String(added.count), detail, in: transaction)
  }

  /// Notes what the caller has done that cannot be taken back.
  func note(_ kind: LastAct.Kind, _ subject: String, in transaction: any StoreTransaction) throws {
    try transaction.setNote(
      LastAct.note(of: caller.owner), LastAct(at: now, kind: kind, subject: subject).text)
  }
}
