import ChimeCore
import ChimeSchedule

/// The times at which a reminder is heard, as far as its schedule knows them: with its jitter, behind the quiet hours that
/// hold it, without those that are skipped, fall into a pause, or into quiet hours that drop them.
struct HeardTimes {
  let reminder: Reminder
  let offset: Milliseconds
  private let timetable: Timetable
  private let quiet: Quiet?
  private let now: Instant

  struct Heard {
    var scheduled: Instant
    var at: Instant
  }

  init(_ reminder: Reminder, _ context: ReminderContext, now: Instant) {
    self.reminder = reminder
    self.now = now
    timetable = context.timetable(of: reminder)
    offset = reminder.jitterOffset
    // An expectation awaits its ping in quiet hours too.
    quiet = reminder.isExpectation ? nil : context.quiet(of: reminder)
  }

  /// The first that is heard, from the next regular time on.
  func first(of record: ReminderRecord) -> Heard? {
    var walk = timetable.walk(steps: Self.mostSteps)
    return first(of: record, &walk)
  }

  /// The searches for one reminder may take so many steps: a listing has thousands of reminders.
  private static let mostSteps = 30_000

  private func first(of record: ReminderRecord, _ walk: inout TimetableWalk) -> Heard? {
    var next = record.next
    // Within its bounds whatever the store has, and no further than there are times.
    var left = min(max(reminder.skipNext, Reminder.skips.lowerBound), Reminder.skips.upperBound)
    while left > 0, let time = next {
      next = walk.next(after: time)
      left -= 1
    }
    if case .until(let end) = reminder.pause, let time = next, time < end {
      next = walk.next(after: end - .milliseconds(1))
    }
    return heard(from: next, &walk)
  }

  private func heard(from first: Instant?, _ walk: inout TimetableWalk) -> Heard? {
    var next = first
    // Where all of a year fall into quiet hours, the first stands for them.
    for _ in 0..<1_000 {
      guard let time = next else { break }
      // What has passed already rings now, if it may.
      guard let quiet, let end = quiet.end(at: max(time + offset, now)) else {
        return Heard(scheduled: time, at: time + offset)
      }
      let useful = quiet.drops ? .zero : reminder.grace
      if end - (time + offset) <= useful { return Heard(scheduled: time, at: end) }
      next = walk.next(after: max(time, end - offset - useful - .milliseconds(1)))
    }
    return first.map { Heard(scheduled: $0, at: $0 + offset) }
  }

  /// All before `end`, at most `limit`. Of times that are held together the first stands for them, because they are heard
  /// once. Where the next time hangs on what is done till then, that one alone is known.
  func all(of record: ReminderRecord, before end: Instant, limit: Int) -> [Heard] {
    var walk = timetable.walk(steps: Self.mostSteps)
    guard limit > 0, let first = first(of: record, &walk), first.at < end else { return [] }
    var all = [first]
    if reminder.pause == .indefinitely || reminder.countsFromDone || reminder.tracker?.pace == true { return all }
    var last = first
    while all.count < limit {
      guard let next = heard(from: walk.next(after: last.scheduled), &walk), next.at < end,
        next.scheduled > last.scheduled
      else { break }
      if next.at != last.at { all.append(next) }
      last = next
    }
    return all
  }
}
