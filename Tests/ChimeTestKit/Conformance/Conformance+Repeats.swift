import ChimeCore
import ChimeSchedule

// Times that are evaluated later than scheduled, and occurrences that repeat.
extension StoreConformance {
  static var deferralAndRepeatCases: [Case] { deferralCases + repeatCases }

  private static var deferralCases: [Case] {
    [
      Case("a regular time is due later by its jitter") { subject in
        var reminder = try sample("r7k2")
        reminder.jitter = .minutes(10)
        let (offset, wanted) = (reminder.jitterOffset, reminder)
        try expect(offset > .seconds(1), "the sample has no jitter to speak of")
        try await subject.write { try $0.upsert(wanted, next: at(10)) }
        try await subject.reopen()
        let record = try await subject.read { try $0.reminder(wanted.id) }
        try expect(record, is: ReminderRecord(reminder: wanted, next: at(10)), "the record")
        try expect(record?.coming, is: at(10) + offset, "when it fires")
        try await subject.write { store in
          try expect(store.wakeups().nextDue, is: at(10) + offset, "the wakeups")
          try expect(store.claimDue(now: at(10) + offset - .milliseconds(1), limit: 1).count, is: 0, "too early")
          let due = try store.claimDue(now: at(10) + offset, limit: 1)
          try expect(
            due, is: [DueReminder(reminder: wanted, scheduledAt: at(10), dueAt: at(10) + offset)], "what is due")
          try store.record([fire(due[0], next: at(1_000))])
          try expect(store.occurrence(.init(reminder: wanted.id, scheduledAt: at(10)))?.state, is: .fired, "what fired")
          try expect(store.reminder(wanted.id)?.next, is: at(1_000), "the next time")
          try expect(store.wakeups().nextDue, is: at(1_000) + offset, "when that is due")
        }
      },
      Case("a deferred due time keeps its scheduled time") { subject in
        let id = ReminderID(rawValue: "aaaa")
        let firing = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try store.upsert(sample("bbbb"), next: at(90))
          var firing = fire(try store.claimDue(now: at(10), limit: 1)[0], next: at(10))
          (firing.occurrences, firing.deliveries, firing.nextDueAt) = ([], [], at(100))
          // Recording a decision twice has the effect of recording it once.
          try store.record([firing, firing])
          return firing
        }
        try await subject.reopen()
        try await subject.write { store in
          let record = try store.reminder(id)
          try expect(record?.next, is: at(10), "the next time")
          try expect(record?.nextDueAt, is: at(100), "when it is due")
          try expect(record?.isHeld, is: true, "whether it is held")
          try expect(record?.last, is: nil, "the occurrence")
          try expect(store.ids(ReminderFilter()), is: ["bbbb", "aaaa"], "the order")
          try expect(store.ids(ReminderFilter(dueFrom: at(95), dueBefore: at(101))), is: ["aaaa"], "a span")
          try expect(store.wakeups().nextDue, is: at(90), "the wakeups")
          let due = try store.claimDue(now: at(100), limit: 5).filter { $0.reminder.id == id }
          try expect(due, is: [DueReminder(reminder: firing.due.reminder, scheduledAt: at(10), dueAt: at(100))], "due")
          try store.record([fire(due[0], next: nil)])
          try expect(store.reminder(id)?.next, is: nil, "the next time once it has fired")
          try expect(store.reminder(id)?.last?.id.scheduledAt, is: at(10), "what fired")
        }
      },
      Case("deferred times can be reevaluated, and no others") { subject in
        try await subject.write { store in
          try store.upsert(sample("held"), next: at(10), nextDueAt: at(100))
          try store.upsert(sample("later"), next: at(60), nextDueAt: at(200))
          try store.upsert(sample("plain"), next: at(70))
          let fired = try store.addFired("again")
          var occurrence = try store.theOccurrence(fired)
          occurrence.repeatAt = at(300)
          try store.update(occurrence, now: at(20))
          try store.reevaluateHeld(now: at(50))
          try expect(
            store.claimDue(now: .latest, limit: 10).map(\.dueAt), is: [at(50), at(70), at(200), at(300)],
            "the due times")
          let record = try store.reminder(ReminderID(rawValue: "held"))
          try expect(record?.next, is: at(10), "the next time")
          try expect(record?.isHeld, is: true, "that it was held")
          // A new definition replaces the deferral.
          try store.upsert(sample("held", generation: 1), next: at(10))
          try expect(store.reminder(ReminderID(rawValue: "held"))?.isHeld, is: false, "that it is held")
        }
      },
    ]
  }

  private static var repeatCases: [Case] {
    [
      Case("a repeating occurrence is due again until it is answered") { subject in
        let id = try await subject.write { store in
          var reminder = try sample("aaaa")
          reminder.nag = Nag(every: .seconds(40))
          try store.upsert(reminder, next: at(10))
          try store.fireDue(at: at(10), next: at(1_000), repeatAt: at(50))
          return OccurrenceID(reminder: reminder.id, scheduledAt: at(10))
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.wakeups().nextDue, is: at(50), "the wakeups")
          try expect(store.reminder(id.reminder)?.repeatAt, is: at(50), "the repeat")
          try expect(store.reminder(id.reminder)?.snoozedUntil, is: nil, "the snooze")
          // A channel delivered it meanwhile.
          try store.update(try store.theOccurrence(id).delivered(at: at(12)), now: at(12))
          let due = try store.claimDue(now: at(50), limit: 5)
          try expect(due.map(\.isRegular), is: [false], "what is due")
          try expect(due[0].scheduledAt, is: at(10), "its scheduled time")
          let firing = fire(due[0], now: at(50), repeatAt: at(90))
          try store.record([firing])
          try store.record([fire(due[0], now: at(50), repeatAt: at(90), tag: "x")])
          let occurrence = try store.theOccurrence(id)
          try expect(occurrence, is: firing.occurrences[0], "the repeated one")
          try expect(occurrence.repeats, is: 1, "its repeats")
          try expect(store.allDeliveries().count, is: 2, "the deliveries")
          try expect(store.wakeups().nextDue, is: at(90), "the next repeat")
          for (answer, comesAt) in [(Occurrence.Answer.snooze(for: .seconds(500)), at(560)), (.done, at(1_000))] {
            try store.update(try store.theOccurrence(id).answered(answer, at: at(60)), now: at(60))
            try expect(store.wakeups().nextDue, is: comesAt, "the wakeups after \(answer)")
            try expect(store.reminder(id.reminder)?.repeatAt, is: nil, "the repeat after \(answer)")
          }
        }
      },
      Case("an outdated decision does not fire a repeat that was answered meanwhile") { subject in
        for answer in [Occurrence.Answer.done, .dismiss, .snooze(for: .seconds(100))] {
          try await subject.write { store in
            let id = "a\(answer)".filter(\.isLetter)
            var reminder = try sample(id)
            reminder.nag = Nag(every: .seconds(40))
            try store.upsert(reminder, next: at(10))
            try store.fireDue(at: at(10), repeatAt: at(50))
            let due = try store.claimDue(now: at(50), limit: 50).first { $0.reminder.id == reminder.id }
            guard let due else { throw ConformanceFailure(description: "\(id) is not due") }
            let key = OccurrenceID(reminder: reminder.id, scheduledAt: at(10))
            let answered = try store.theOccurrence(key).answered(answer, at: at(49))
            try store.update(answered, now: at(49))
            try store.record([fire(due, now: at(50), repeatAt: at(90))])
            try expect(store.theOccurrence(key), is: answered, "the occurrence")
            let record = try store.reminder(reminder.id)
            try expect(record?.coming, is: answered.recursAt, "when it fires")
            try store.remove(reminder.id, now: at(50))
          }
        }
      },
      Case("a firing ends the repeats of earlier occurrences, but no snooze") { subject in
        try await subject.write { store in
          var reminder = try sample("aaaa")
          reminder.nag = Nag(every: .seconds(400))
          try store.upsert(reminder, next: at(10))
          try store.fireDue(at: at(10), next: at(20), repeatAt: at(410))
          let first = OccurrenceID(reminder: reminder.id, scheduledAt: at(10))
          try store.update(
            try store.theOccurrence(first).answered(.snooze(for: .seconds(480)), at: at(11)), now: at(11))
          try store.fireDue(at: at(20), next: at(30), repeatAt: at(420))
          try store.fireDue(at: at(30), next: nil, repeatAt: at(430))
          let second = try store.theOccurrence(OccurrenceID(reminder: reminder.id, scheduledAt: at(20)))
          try expect(second.repeatAt, is: nil, "the second's repeat")
          try expect(second.isOpen, is: true, "whether the second is open")
          try expect(
            store.claimDue(now: at(5_000), limit: 9).map { [$0.scheduledAt, $0.dueAt] },
            is: [[at(30), at(430)], [at(10), at(491)]], "what is due")
          // The older occurrence fires again, which ends no other.
          let due = try store.claimDue(now: at(491), limit: 9)
          try store.record([fire(due[1], now: at(491), repeatAt: at(900))])
          try expect(store.claimDue(now: at(5_000), limit: 9).map(\.dueAt), is: [at(430), at(900)], "what is due then")
        }
      },
      Case("removal ends repeats") { subject in
        try await subject.write { store in
          var reminder = try sample("aaaa")
          reminder.nag = Nag(every: .seconds(40))
          try store.upsert(reminder, next: at(10))
          try store.fireDue(at: at(10), repeatAt: at(50))
          try store.remove(reminder.id, now: at(20))
          try expect(store.wakeups().nextDue, is: nil, "the wakeups")
          try expect(
            store.theOccurrence(.init(reminder: reminder.id, scheduledAt: at(10))).repeatAt, is: nil, "a repeat")
        }
      },
      Case("a later round cancels pending deliveries of earlier rounds to the same channel") { subject in
        try await subject.write { store in
          try store.addFired("other", queues: [desktop])
          let id = try store.addFired("aaaa", queues: [desktop, team])
          let first = try store.deliveries(DeliveryFilter(occurrence: id), page: Page())
          // The desktop message waits for the bus; the team's is delivered.
          for delivery in first {
            let isDesktop = delivery.queue == desktop
            let attempt = Attempt(number: 1, startedAt: at(11), took: .zero, outcome: isDesktop ? .failed : .delivered)
            try store.acknowledge(
              delivery.id, attempt: attempt, state: isDesktop ? .waiting(until: at(5_000)) : .delivered(at: at(11)))
          }
          var occurrence = try store.theOccurrence(id)
          occurrence.repeatAt = at(50)
          try store.update(occurrence, now: at(20))
          let due = try store.claimDue(now: at(50), limit: 1)[0]
          try store.record([fire(due, queues: [desktop, team], now: at(50))])
          let states = try store.deliveries(DeliveryFilter(occurrence: id), page: Page())
            .sorted { ($0.round, $0.queue) < ($1.round, $1.queue) }.map(\.state)
          try expect(
            states, is: [.cancelled(at: at(50)), .delivered(at: at(11)), .pending, .pending], "the deliveries")
          try expect(
            store.deliveries(DeliveryFilter(reminder: ReminderID(rawValue: "other")), page: Page()).map(\.state),
            is: [.pending], "the neighbour's")
        }
      },
    ]
  }
}
