public import ChimeSchedule
import ChimeTracking

// What a `DegradedMode` reads from the store, what it returns to the loop, and what one transaction records.
extension DegradedMode {
  /// A StoreQuery is one read of the store: everything that the next decisions need.
  public struct StoreQuery: Sendable {
    var now: Instant
    var limit: Int
    var after: DueCursor?
    var occurrences: [OccurrenceID]
    /// Due times known only in degraded mode, earliest first; without the reminder if it has changed since it was read.
    var own: [(id: ReminderID, reminder: Reminder?, from: Instant)]
    /// Reminders that have buffered due times to come, and that have changed since they were read.
    var unknown: Set<ReminderID>

    /// - Parameter transaction: may be read-only.
    public func run(in transaction: any StoreTransaction, _ context: ReminderContext) throws -> StoreAnswer {
      var answer = StoreAnswer(askedAt: now, page: try transaction.due(now: now, limit: limit, after: after))
      answer.unreadable = transaction.unreadable
      if !answer.page.due.isEmpty || !own.isEmpty { answer.silences = try transaction.silences() }
      for id in occurrences { answer.occurrences[id] = try transaction.occurrence(id) }
      for (id, known, from) in own {
        var reminder = known
        if known == nil, answer.reminders[id] == nil {
          reminder = try transaction.readableReminder(id)?.reminder
          answer.reminders[id] = .some(reminder)
        }
        if let reminder { try answer.read(reminder, from: from, to: now, in: transaction, context) }
      }
      for id in unknown where answer.reminders[id] == nil {
        answer.reminders[id] = .some(try transaction.readableReminder(id)?.reminder)
      }
      for due in answer.page.due {
        try answer.read(due.reminder, from: due.scheduledAt, to: now, in: transaction, context)
      }
      return answer
    }
  }

  /// A StoreAnswer is the result of a `StoreQuery`.
  public struct StoreAnswer: Sendable {
    /// The `now` of the query. Nothing that becomes due later is in the answer.
    let askedAt: Instant
    var page: DuePage
    var unreadable: [UnreadableReminder] = []
    var occurrences: [OccurrenceID: Occurrence] = [:]
    /// The reminders that had changed; nil for one that was removed.
    var reminders: [ReminderID: Reminder?] = [:]
    /// Later times of the due reminders that already fired before the clock went back.
    var delivered: Set<OccurrenceID> = []
    /// The times of the due reminders, from the due one on, that were done already before the clock went back.
    var doneAlready: Set<OccurrenceID> = []
    var silences: [UInt32: Silence] = [:]
    var links: [ReminderID: LinkedTracker] = [:]
    var conditions: [ReminderID: DoneCondition] = [:]
    var reports: [ReminderID: TrackerReport] = [:]

    init(askedAt: Instant, page: DuePage) { (self.askedAt, self.page) = (askedAt, page) }

    /// Reads everything that decides about the times of a reminder.
    fileprivate mutating func read(
      _ reminder: Reminder, from first: Instant, to now: Instant, in transaction: any StoreTransaction,
      _ context: ReminderContext
    ) throws {
      // The extra minute covers the time between this read and the decision. The page holds more than one decision can fire.
      let behind = OccurrenceFilter(reminder: reminder.id, from: first, before: now + .minutes(1))
      for occurrence in try transaction.occurrences(behind, page: Page(limit: 1_000)) {
        if occurrence.wasDelivered, occurrence.id.scheduledAt > first { delivered.insert(occurrence.id) }
        if occurrence.state == .missed(.doneAlready) { doneAlready.insert(occurrence.id) }
      }
      if conditions[reminder.id] == nil {
        conditions[reminder.id] = try DoneCondition.read(for: reminder, from: first, in: transaction, context)
      }
      guard links[reminder.id] == nil, reports[reminder.id] == nil else { return }
      links[reminder.id] = try LinkedTracker.read(for: reminder, from: first, to: now, in: transaction, context)
      reports[reminder.id] = try TrackerReport.read(for: reminder, in: transaction, context, now: now)
    }
  }

  /// A Work is the result of firing in degraded mode: what to publish, to show, and when to fire next.
  public struct Work: Sendable {
    public var firings: [FiringResult] = []
    /// Popups to show now.
    public var messages: [ClaimedMessage] = []
    public var withoutZone: [Reminder] = []
    public var unreadable: [UnreadableReminder] = []
    /// The next due time; nil if none is known or the buffer is full.
    public var next: Instant?
    /// When to wake the machine next.
    public var nextWake: Instant?
  }

  /// An Entry is one event to record, with its time.
  public enum Entry: Sendable {
    case fired(FiringResult)
    case ended(Outcome, at: Instant)
    case answered(OutboxTransaction.Answer, at: Instant)
    /// A snooze that is no longer recorded, because the store has a later answer.
    case superseded

    /// Whether a time fired, as opposed to being deferred or missed.
    var wasDelivered: Bool { if case .fired(let firing) = self { !firing.deliveries.isEmpty } else { false } }

    func snoozes(_ id: OccurrenceID) -> Bool {
      guard case .answered(let answer, _) = self, case .snooze = answer.answer else { return false }
      return answer.occurrence == id
    }
  }

  /// A Part is what one transaction records of the buffer.
  public struct Part: Sendable {
    public var entries: [Entry]
    public var releases: [DeliveryID]
    public var needsStart: Bool
  }
}
