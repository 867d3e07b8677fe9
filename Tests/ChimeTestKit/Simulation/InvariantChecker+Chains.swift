import ChimeCore
import ChimeSchedule

// Reminders that follow another, or wait until another is done.
extension InvariantChecker {
  struct Chaining {
    /// The times that the current transaction must give to each following reminder.
    var given: [ReminderID: Set<Instant>] = [:]
    /// The occurrences that the transaction has ended.
    var ends: Set<End> = []
    /// All times at which each reminder was done.
    var done: [ReminderID: [Instant]] = [:]
  }

  struct End: Hashable {
    var reminder: ReminderID
    var event: Chain.Event
    var at: Instant
  }

  // MARK: Completions, and what follows them

  /// Finds what a transaction has ended, before the checker records the changes.
  func recordEnds(_ changes: MemoryTransaction.Changes, _ work: Work) {
    (chains.ends, chains.given) = ([], [:])
    for id in changes.occurrences {
      guard let new = contents.occurrences[id] else { continue }
      let old = occurrences[id]
      // An expectation that was reported down is not missed again when an answer closes it.
      let isTold = old?.firedAt != nil && isExpectation(id)
      if let event = Self.event(new), event != old.flatMap(Self.event), event == .done || !isTold {
        chains.ends.insert(End(reminder: id.reminder, event: event, at: new.endedAt ?? work.now))
      } else if new.state == .fired, let fired = new.firedAt, old?.firedAt == nil, isExpectation(id), !isAsked(work) {
        chains.ends.insert(End(reminder: id.reminder, event: .missed, at: fired))
      }
    }
    if case .ping(let id, .succeeded) = work.kind {
      // A successful ping counts as done even when no ping was awaited.
      let isClosing = chains.ends.contains { $0.reminder == id && $0.event == .done }
      if !isClosing { chains.ends.insert(End(reminder: id, event: .done, at: work.now)) }
    }
    guard !chains.ends.isEmpty else { return }
    for end in chains.ends where end.event == .done { chains.done[end.reminder, default: []].append(end.at) }
    for (id, reminder) in contents.reminders {
      guard let chain = reminder.schedule.chain else { continue }
      for end in chains.ends where chain.event == end.event && chain.reminder == end.reminder.rawValue {
        var time = Instant(seconds: (end.at.milliseconds + 999) / 1_000) + chain.delay
        while contents.occurrences[OccurrenceID(reminder: id, scheduledAt: time)] != nil { time = time + .seconds(1) }
        chains.given[id, default: []].insert(time)
      }
    }
  }

  private static func event(_ occurrence: Occurrence) -> Chain.Event? {
    switch occurrence.state {
    case .done, .missed(.doneAlready): .done
    case .missed(.paused), .missed(.skipped): nil
    case .missed: .missed
    case .fired, .delivered, .snoozed, .awaited, .dismissed: nil
    }
  }

  private func isAsked(_ work: Work) -> Bool { work.kind == .client(.fire) }

  /// Returns the reminder's former state with the chain times given since; checks that each time has a cause.
  func withGivenTimes(_ before: Known, _ after: Known, _ work: Work) -> Known {
    let reminder = after.reminder
    let given = chains.given[reminder.id] ?? []
    guard reminder.follows != nil, reminder.chainedTimes != before.reminder.chainedTimes || !given.isEmpty,
      work.kind != .recomputeDueTimes,
      !asks(work, .edit, of: reminder.id)
    else { return before }
    let (old, new) = (Set(before.reminder.chainedTimes ?? []), Set(reminder.chainedTimes ?? []))
    for time in new.subtracting(old) where !given.contains(time) {
      fail("\(reminder.id) was given the time \(time.text), and no followed occurrence has ended")
    }
    // After the clock went back, a time may be given again whose record is gone from the history.
    let added = new.subtracting(old.subtracting(given))
    let waiting = before.regular?.scheduledAt ?? .latest
    for time in old.subtracting(new) where time >= waiting && time + reminder.jitterOffset > work.now {
      fail("\(reminder.id) has lost its time \(time.text)")
    }
    var before = before
    before.reminder.chainedTimes = old.union(new).sorted()
    before.reminder.generation = reminder.generation
    if let first = added.min(), before.regular.map({ first < $0.scheduledAt }) ?? true {
      before.regular = MemoryContents.Regular(
        scheduledAt: first, dueAt: first + reminder.jitterOffset, wakes: reminder.wake)
    }
    return before
  }

  /// Checks that each end gave its followers their times and released the reminders that waited for it.
  func checkChains(_ work: Work) {
    for (id, times) in chains.given {
      let known = Set(contents.reminders[id]?.chainedTimes ?? [])
      for time in times.sorted() {
        if !known.contains(time) {
          fail("\(id) should be due at \(time.text) after the end at \(work.now.text), and is not")
        } else if contents.regular[id].map({ $0.scheduledAt > time }) ?? true {
          fail("\(id) was given the time \(time.text), and is due at \(show(contents.regular[id]?.scheduledAt))")
        }
      }
    }
    guard work.kind != .fire else { return }
    for end in chains.ends where end.event == .done {
      for (id, regular) in contents.regular {
        guard let reminder = contents.reminders[id], reminder.onlyIfDone == end.reminder,
          regular.scheduledAt + reminder.jitterOffset <= work.now, regular.dueAt > work.now,
          isDone(end.reminder, onDayOf: regular.scheduledAt, reminder, work) != nil
        else { continue }
        fail("\(id) waits until \(regular.dueAt.text), and \(end.reminder) was done at \(end.at.text)")
      }
    }
  }

  // MARK: Done conditions

  func isConditional(_ reminder: Reminder) -> Bool {
    reminder.onlyIfDone.map { contents.reminders[$0] != nil } ?? false
  }

  /// Returns when another reminder was first done on the day of a time; nil if it was not.
  private func isDone(_ id: ReminderID, onDayOf time: Instant, _ reminder: Reminder, _ work: Work) -> Instant? {
    let zone = work.context.zone(of: reminder) ?? .utc
    let day = zone.civil(at: time).date
    return chains.done[id]?.filter { zone.civil(at: $0).date == day }.min()
  }

  enum Waiting {
    case no, yes
    /// Undecidable: a clock change ends the day twice, or early.
    case perhaps
  }

  /// Returns whether a due time waits for another reminder.
  func waits(_ reminder: Reminder, _ time: Instant, _ work: Work) -> Waiting {
    guard isConditional(reminder), let other = reminder.onlyIfDone, time + reminder.jitterOffset <= work.now,
      isDone(other, onDayOf: time, reminder, work) == nil
    else { return .no }
    let zone = work.context.zone(of: reminder) ?? .utc
    func waits(at now: Instant) -> Bool {
      let moment = time + reminder.jitterOffset
      return now < moment + reminder.grace && (now <= moment || zone.civil(at: now).date == zone.civil(at: time).date)
    }
    let around = [-1, 0, 1].map { waits(at: work.now + .hours($0)) }
    // Part of a day may come twice: jitter puts a time off into the next day, and its own day follows.
    let isTurned = zone.offset(at: time - .days(1)) != zone.offset(at: time + .days(1))
    if around == [true, true, true], !isTurned { return .yes }
    return isTurned || around.contains(true) ? .perhaps : .no
  }

  /// Checks that a waiting time fires when the other is done on that day, and is missed if the day ends first.
  func checkConditional(_ judged: [Judged], _ before: Known, _ work: Work) {
    let reminder = before.reminder
    guard let other = reminder.onlyIfDone else { return }
    for (position, one) in judged.enumerated() {
      guard let state = one.state else { continue }
      func wrong(_ why: String) {
        fail("\(reminder.id) at \(one.time.text) is \(state) at \(work.now.text): \(why)")
      }
      if position < reminder.skipNext {
        if state != .missed(.skipped) { wrong("it should be skipped") }
        continue
      }
      if reminder.pause.holds(at: one.time) {
        if state != .missed(.paused) { wrong("the reminder was paused") }
        continue
      }
      if state == .missed(.doneAlready) {
        let isMet = [one.time, work.now].contains { trackers.isDone(reminder, at: $0, contents, work.context) }
        if decided == nil, !isMet { wrong("the goal of its tracker is not met") }
        continue
      }
      let done = isDone(other, onDayOf: one.time, reminder, work)
      guard state == .missed(.notDone) else {
        if done == nil { wrong("\(other) was not done on that day") }
        continue
      }
      if waits(reminder, one.time, work) == .yes { wrong("it still waits until \(other) is done") }
      if let done, done <= one.time + reminder.jitterOffset { wrong("\(other) was done at \(done.text)") }
    }
  }
}
