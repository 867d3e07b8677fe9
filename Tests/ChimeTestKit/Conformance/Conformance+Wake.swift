import ChimeCore
import ChimeSchedule

// The times for which the machine wakes.
extension StoreConformance {
  static var wakeCases: [Case] {
    [
      Case("the wake-up is the earliest time that requests one") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try expect(store.wakeups().nextWake, is: nil, "without one that wakes")
          try store.upsert(waking("bbbb"), next: at(50))
          try store.upsert(waking("cccc"), next: at(30))
          try expect(store.wakeups().nextWake, is: at(30), "the earlier of two")
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.reminder(ReminderID(rawValue: "cccc"))?.reminder.wake, is: true, "the stored value")
          try expect(store.wakeups().nextWake, is: at(30), "after a restart")
          try expect(store.wakeups().nextDue, is: at(10), "beside the earliest due time")
          try expect(store.due(now: at(29), limit: 5, after: nil).nextWake, is: at(30), "the next to come")
          try expect(
            store.due(now: at(30), limit: 5, after: nil).nextWake, is: at(50), "what has come does not hide it")
          try expect(store.due(now: at(50), limit: 5, after: nil).nextWake, is: nil, "when none is to come")
          // The reminder fires and recurs.
          try store.fireDue(at: at(30), next: at(90))
          try expect(store.wakeups().nextWake, is: at(50), "the next")
          try store.fireDue(at: at(50), next: at(70))
          try expect(store.wakeups().nextWake, is: at(70), "its next time")
          try store.remove(ReminderID(rawValue: "bbbb"), now: at(51))
          try expect(store.wakeups().nextWake, is: at(90), "without the one that is removed")
          try store.upsert(sample("cccc", generation: 2), next: at(90))
          try expect(store.wakeups().nextWake, is: nil, "once it does not ask any more")
        }
      },
      Case("the wake-up includes jitter, and leaves out paused and skipped times") { subject in
        try await subject.write { store in
          var reminder = try waking("aaaa")
          reminder.jitter = .minutes(10)
          try store.upsert(reminder, next: at(10))
          try expect(store.wakeups().nextWake, is: at(10) + reminder.jitterOffset, "with jitter")
          (reminder.jitter, reminder.generation) = (.zero, 1)
          reminder.pause = .until(at(100))
          try store.upsert(reminder, next: at(10))
          try expect(store.wakeups().nextWake, is: nil, "in a pause")
          try store.fireDue(at: at(10), next: at(100))
          try expect(store.wakeups().nextWake, is: at(100), "at the end of the pause")
          reminder.generation = 2
          (reminder.pause, reminder.skipNext) = (.none, 1)
          try store.upsert(reminder, next: at(100))
          try expect(store.wakeups().nextWake, is: nil, "for a skipped time")
          var firing = fire(try store.claimDue(now: at(100), limit: 1)[0], next: at(200))
          firing.skipNext = 0
          try store.record([firing])
          try expect(store.wakeups().nextWake, is: at(200), "for the time after it")
        }
      },
      Case("the end of a snooze and a repeat request a wake-up") { subject in
        try await subject.write { store in
          var reminder = try waking("aaaa")
          reminder.nag = Nag(every: .seconds(20))
          try store.upsert(reminder, next: at(10))
          let firing = try store.fireDue(at: at(10), repeatAt: at(30))[0]
          try expect(store.wakeups().nextWake, is: at(30), "a repeat")
          var occurrence = try store.theOccurrence(firing.occurrences[0].id)
          (occurrence.state, occurrence.repeatAt) = (.snoozed(until: at(60)), nil)
          try store.update(occurrence, now: at(20))
          try expect(store.wakeups().nextWake, is: at(60), "the end of a snooze")
          reminder.generation = 1
          reminder.pause = .until(at(61))
          try store.upsert(reminder, next: nil)
          try expect(store.wakeups().nextWake, is: nil, "one in a pause")
          reminder.generation = 2
          reminder.pause = .until(at(60))
          try store.upsert(reminder, next: nil)
          try expect(store.wakeups().nextWake, is: at(60), "one at the end of a pause")
          reminder.generation = 3
          reminder.wake = false
          try store.upsert(reminder, next: nil)
          try expect(store.wakeups().nextWake, is: nil, "one that does not ask any more")
          try expect(store.wakeups().nextDue, is: at(60), "the due time")
        }
      },
      Case("an outdated decision requests no wake-up for a changed reminder") { subject in
        try await subject.write { store in
          var reminder = try waking("aaaa")
          reminder.nag = Nag(every: .seconds(20))
          try store.upsert(reminder, next: at(10))
          let due = try store.claimDue(now: at(10), limit: 1)[0]
          (reminder.wake, reminder.generation) = (false, 1)
          try store.upsert(reminder, next: at(500))
          try store.record([fire(due, next: at(100), repeatAt: at(30))])
          try expect(store.wakeups().nextDue, is: at(30), "the repeat")
          try expect(store.wakeups().nextWake, is: nil, "the wake-up")
        }
      },
    ]
  }
}

/// Returns a reminder that wakes the machine.
private func waking(_ id: String) throws -> Reminder {
  var reminder = try sample(id)
  reminder.wake = true
  return reminder
}
