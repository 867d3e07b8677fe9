public import ChimeSchedule
import ChimeTracking

// What a `DegradedMode` asks the store for, what comes of it, and what it brings to the store.
extension DegradedMode {
  /// A question to the store.
  public struct Look: Sendable {
    var now: Instant
    var limit: Int
    var after: DueCursor?
    var occurrences: [OccurrenceID]
    /// What is due of what is known here alone, the earliest first; without the reminder where it has changed since.
    var own: [(id: ReminderID, reminder: Reminder?, from: Instant)]
    /// Reminders of which something comes later, and which have changed since they were read.
    var unknown: Set<ReminderID>

    /// - Parameter transaction: may be one that reads only.
    public func run(in transaction: any StoreTransaction, _ context: ReminderContext) throws -> Seen {
      var seen = Seen(page: try transaction.due(now: now, limit: limit, after: after))
      seen.unreadable = transaction.unreadable
      if !seen.page.due.isEmpty || !own.isEmpty { seen.silences = try transaction.silences() }
      for id in occurrences { seen.occurrences[id] = try transaction.occurrence(id) }
      for (id, known, from) in own {
        var reminder = known
        if known == nil, seen.reminders[id] == nil {
          reminder = try transaction.readableReminder(id)?.reminder
          seen.reminders[id] = .some(reminder)
        }
        if let reminder { try seen.read(reminder, from: from, to: now, in: transaction, context) }
      }
      for id in unknown where seen.reminders[id] == nil {
        seen.reminders[id] = .some(try transaction.readableReminder(id)?.reminder)
      }
      for due in seen.page.due {
        try seen.read(due.reminder, from: due.scheduledAt, to: now, in: transaction, context)
      }
      return seen
    }
  }

  /// The store's answer.
  public struct Seen: Sendable {
    var page: DuePage
    var unreadable: [UnreadableReminder] = []
    var occurrences: [OccurrenceID: Occurrence] = [:]
    /// Those that had changed; nil where one is gone.
    var reminders: [ReminderID: Reminder?] = [:]
    /// Times behind those that are due which were heard before the clock went back.
    var heard: Set<OccurrenceID> = []
    var silences: [UInt32: Silence] = [:]
    var links: [ReminderID: LinkedTracker] = [:]
    var conditions: [ReminderID: DoneCondition] = [:]
    var reports: [ReminderID: TrackerReport] = [:]

    init(page: DuePage) { self.page = page }

    /// Reads what decides about the times of a reminder.
    fileprivate mutating func read(
      _ reminder: Reminder, from first: Instant, to now: Instant, in transaction: any StoreTransaction,
      _ context: ReminderContext
    ) throws {
      // A moment passes until it is decided. No decision lets more times fire than that.
      let behind = OccurrenceFilter(reminder: reminder.id, from: first + .seconds(1), before: now + .minutes(1))
      for occurrence in try transaction.occurrences(behind, page: Page(limit: 1_000)) where occurrence.wasHeard {
        heard.insert(occurrence.id)
      }
      if conditions[reminder.id] == nil {
        conditions[reminder.id] = try DoneCondition.read(for: reminder, from: first, in: transaction, context)
      }
      guard links[reminder.id] == nil, reports[reminder.id] == nil else { return }
      links[reminder.id] = try LinkedTracker.read(for: reminder, from: first, to: now, in: transaction, context)
      reports[reminder.id] = try TrackerReport.read(for: reminder, in: transaction, context, now: now)
    }
  }

  /// What firing without the store came to.
  public struct Work: Sendable {
    public var firings: [FiringResult] = []
    /// Popups, to be shown now.
    public var messages: [ClaimedMessage] = []
    public var withoutZone: [Reminder] = []
    public var unreadable: [UnreadableReminder] = []
    /// When there is something to fire next; nil: nothing, as far as is known, or no room for it.
    public var next: Instant?
    /// When the machine is to be woken next.
    public var nextWake: Instant?
  }

  /// One thing that is to be recorded, with when it was.
  public enum Entry: Sendable {
    case fired(FiringResult)
    case ended(Outcome, at: Instant)
    case answered(OutboxTransaction.Answer, at: Instant)
    /// A snooze that is not to be recorded any more: the store has a later answer.
    case overtaken

    /// Whether something fired, rather than being put off or missed.
    var isHeard: Bool { if case .fired(let firing) = self { !firing.deliveries.isEmpty } else { false } }

    func snoozes(_ id: OccurrenceID) -> Bool {
      guard case .answered(let answer, _) = self, case .snooze = answer.answer else { return false }
      return answer.occurrence == id
    }
  }

  /// What one transaction records.
  public struct Part: Sendable {
    public var entries: [Entry]
    public var releases: [DeliveryID]
    public var owesStart: Bool
  }
}
