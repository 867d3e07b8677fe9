import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// A ChangeDetail holds the state before and after a change of what has no versions in the store: reminders, their
/// occurrences, endpoints, a silence. It is stored as JSON with the change, and tells undo what to restore.
struct ChangeDetail: Codable, Sendable {
  /// The state before and after; nil: it did not exist.
  struct Step<Thing: Codable & Hashable & Sendable>: Codable, Sendable {
    var before: Thing?
    var after: Thing?
    /// The next time of a reminder before the change.
    var next: Instant?
    /// How far the replies to an endpoint were read, as recorded by `ReplyTransaction`.
    var mark: String?
  }

  var reminders: [Step<Reminder>] = []
  /// The reminders that one request added together.
  var added: [Encoded] = []
  /// The open occurrences of removed reminders.
  var occurrences: [Step<Occurrence>] = []
  var endpoints: [Step<Endpoint>] = []
  var silence: Step<Silence>?
  /// All former reminders, if a restore replaced all.
  var all: [Encoded]?
  /// The changes of trackers that belong to it, first to last. Undo reverts them too.
  var parts: [Int64] = []
  /// Whether the secret of an endpoint was changed. Undo cannot revert that.
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

  /// Removes an endpoint, and the note of how far its replies were read.
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

  /// A reminder: its id, and the text of its `Draft`.
  struct Encoded: Codable, Sendable {
    private var id: ReminderID
    private var text: String

    init(_ reminder: Reminder, from draft: Draft?) throws {
      (id, text) = (reminder.id, try (draft ?? Draft(reminder)).text(of: reminder))
    }

    var reminder: Reminder {
      get throws {
        var reminder = try JSONDecoder().decode(Reminder.self, from: Data(text.utf8))
        reminder.id = id
        return reminder
      }
    }
  }

  /// A Draft is a reminder without its id, and its JSON. A request makes it before the transaction: the JSON of thousands
  /// takes as long as their rows, and others wait for the end of a transaction.
  struct Draft: Sendable {
    private let reminder: Reminder
    private let text: String

    init(_ reminder: Reminder) throws {
      self.reminder = reminder
      text = String(decoding: try JSONEncoder().encode(reminder), as: UTF8.self)
    }

    /// Returns the JSON of the reminder without its id. The transaction may have linked it to others.
    fileprivate func text(of reminder: Reminder) throws -> String {
      var unnamed = reminder
      unnamed.id = self.reminder.id
      return unnamed == self.reminder ? text : try Draft(unnamed).text
    }
  }
}

/// The last act of a user that cannot be undone. Undo mentions it if it is newer than the change that it reverts.
struct LastAction: Sendable {
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

extension RequestPart {
  /// Records a change of the caller, so that it can be undone.
  @discardableResult
  func record(
    _ kind: TrackingChange.Kind, _ subject: String, _ detail: ChangeDetail, in transaction: any StoreTransaction
  ) throws -> Int64 {
    let change = try transaction.begin(
      TrackingChange(owner: caller.owner, at: now, kind: kind, subject: subject))
    try transaction.setDetail(detail.text(), of: change)
    return change
  }

  /// Records the reminders that one request added, in the order of their drafts.
  func record(_ added: [Reminder], from drafts: [ChangeDetail.Draft], in transaction: any StoreTransaction) throws {
    guard let first = added.first else { return }
    var detail = ChangeDetail()
    detail.added = try zip(added, drafts).map { try .init($0, from: $1) }
    let isOne = added.count == 1
    try record(
      isOne ? .reminderAdded : .remindersImported, isOne ? first.title : String(added.count), detail, in: transaction)
  }

  /// Records an act of the caller that cannot be undone.
  func note(_ kind: LastAction.Kind, _ subject: String, in transaction: any StoreTransaction) throws {
    try transaction.setNote(
      LastAction.note(of: caller.owner), LastAction(at: now, kind: kind, subject: subject).text)
  }
}
