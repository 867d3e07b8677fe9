import ChimeSchedule

/// ExpectationWords composes what an expectation's alerts say.
enum ExpectationWords {
  /// Returns the title for a decision's occurrence; nil if the reminder is no expectation or nothing of it fires.
  static func title(of firing: FiringResult, in transaction: any StoreTransaction, _ context: ReminderContext) throws
    -> String?
  {
    let reminder = firing.due.reminder
    guard reminder.isExpectation, let fired = firing.occurrences.first(where: { $0.state == .fired })
    else { return nil }
    // A repeat keeps the title of the first alert.
    return fired.repeats > 0 ? fired.title : try words(of: fired, reminder, in: transaction, context).title
  }

  /// Returns why an expectation fired: a run failed, a run takes too long, or no ping came.
  static func words(
    of occurrence: Occurrence, _ reminder: Reminder, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws -> TrackingWords {
    let zone = context.zone(of: reminder) ?? .utc
    func text(_ instant: Instant) -> String {
      String(RFC3339.format(Instant(seconds: instant.seconds), in: zone).prefix(16)).replacing("T", with: " ")
    }
    let reportedAt = occurrence.firedAt ?? occurrence.id.scheduledAt
    let last = try transaction.lastPing(of: reminder.id, among: .all, withOutput: true)
    switch last?.kind {
    case .failed where last.map({ $0.at >= occurrence.id.scheduledAt || $0.at == reportedAt }) ?? false:
      return context.wording.failed(reminder.title, status: last?.status, output: last?.output)
    case .started where last.map({ $0.at <= reportedAt }) ?? false:
      return context.wording.overruns(reminder.title, since: text(last?.at ?? reportedAt))
    default:
      let lastSuccess = try transaction.lastPing(of: reminder.id, among: [.succeeded])
      return context.wording.notPinged(
        reminder.title, since: text(occurrence.id.scheduledAt), last: lastSuccess.map { text($0.at) })
    }
  }
}

extension TrackerReport {
  /// Creates the body of an expectation's message: the reminder's own text and why it fired.
  init(
    of occurrence: Occurrence, _ reminder: Reminder, over known: TrackerReport?, in transaction: any StoreTransaction,
    _ context: ReminderContext
  ) throws {
    self = known ?? TrackerReport()
    title = nil
    let words = try ExpectationWords.words(of: occurrence, reminder, in: transaction, context)
    body = [body ?? reminder.body, words.body].compactMap { $0 }.joined(separator: "\n")
  }
}
