import ChimeCore
import ChimeSchedule

/// NotificationTimes computes when a reminder rings: with jitter and the delay of quiet hours, without the times that are skipped,
/// paused, or dropped by quiet hours.
struct NotificationTimes {
  let reminder: Reminder
  let offset: Milliseconds
  private let timetable: Timetable
  private let quiet: Quiet?
  private let now: Instant

  struct NotificationTime {
    var scheduled: Instant
    var at: Instant
  }

  init(_ reminder: Reminder, _ context: ReminderContext, now: Instant) {
    self.reminder = reminder
    self.now = now
    timetable = context.timetable(of: reminder)
    offset = reminder.jitterOffset
    // Quiet hours do not apply to pings.
    quiet = reminder.isExpectation ? nil : context.quiet(of: reminder)
  }

  /// Returns the first time that rings, from the next time of the schedule on.
  func first(of record: ReminderRecord) -> NotificationTime? {
    var walk = timetable.walk(steps: Self.mostSteps)
    return first(of: record, &walk)
  }

  /// The search limit of one reminder, in steps: a listing has thousands of reminders.
  private static let mostSteps = 30_000

  private func first(of record: ReminderRecord, _ walk: inout TimetableWalk) -> NotificationTime? {
    var next = record.next
    // The store may hold any number. This keeps it within bounds.
    var left = min(max(reminder.skipNext, Reminder.skips.lowerBound), Reminder.skips.upperBound)
    while left > 0, let time = next {
      next = walk.next(after: time)
      left -= 1
    }
    if case .until(let end) = reminder.pause, let time = next, time < end {
      next = walk.next(after: end - .milliseconds(1))
    }
    return notified(from: next, &walk)
  }

  private func notified(from first: Instant?, _ walk: inout TimetableWalk) -> NotificationTime? {
    var next = first
    // If quiet hours drop all times of about a year, the first stands for them.
    for _ in 0..<1_000 {
      guard let time = next else { break }
      // A time that has passed rings now if quiet hours allow it.
      guard let quiet, let end = quiet.end(at: max(time + offset, now)) else {
        return NotificationTime(scheduled: time, at: time + offset)
      }
      let useful = quiet.drops ? .zero : reminder.grace
      if end - (time + offset) <= useful { return NotificationTime(scheduled: time, at: end) }
      next = walk.next(after: max(time, end - offset - useful - .milliseconds(1)))
    }
    return first.map { NotificationTime(scheduled: $0, at: $0 + offset) }
  }

  /// Returns the times before `end`, at most `limit`.
  ///
  /// Times that quiet hours delay to the same moment ring once. If the next time depends on when the reminder is done, only one
  /// is known.
  func all(of record: ReminderRecord, before end: Instant, limit: Int) -> [NotificationTime] {
    var walk = timetable.walk(steps: Self.mostSteps)
    guard limit > 0, let first = first(of: record, &walk), first.at < end else { return [] }
    var all = [first]
    if reminder.pause == .indefinitely || reminder.countsFromDone || reminder.tracker?.pace == true { return all }
    var last = first
    while all.count < limit {
      guard let next = notified(from: walk.next(after: last.scheduled), &walk), next.at < end,
        next.scheduled > last.scheduled
      else { break }
      if next.at != last.at { all.append(next) }
      last = next
    }
    return all
  }
}
