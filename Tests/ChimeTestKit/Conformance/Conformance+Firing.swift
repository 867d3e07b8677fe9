import ChimeCore
import ChimeSchedule

extension StoreConformance {
  static var firingCases: [Case] {
    [
      Case("due times are claimed earliest first, up to the limit, none after now") { subject in
        let claimed = try await subject.write { store in
          for (id, next) in [("cccc", 30), ("aaaa", 10), ("bbbb", 20), ("dddd", 31)] as [(String, Int64)] {
            try store.upsert(sample(id), next: at(next))
          }
          return (
            try store.claimDue(now: at(30), limit: 10).map(\.reminder.id.rawValue),
            try store.claimDue(now: at(30), limit: 2).map(\.reminder.id.rawValue),
            try store.claimDue(now: at(9), limit: 10).count, try store.claimDue(now: at(30), limit: 0).count
          )
        }
        try expect(claimed.0, is: ["aaaa", "bbbb", "cccc"], "all that are due")
        try expect(claimed.1, is: ["aaaa", "bbbb"], "two")
        try expect([claimed.2, claimed.3], is: [0, 0], "none")
      },
      Case("due times can be read in parts, and stay due") { subject in
        try await subject.write { store in
          for (id, next) in [("cccc", 30), ("aaaa", 12), ("bbbb", 20), ("eeee", 20), ("dddd", 31)] as [(String, Int64)]
          {
            try store.upsert(sample(id), next: at(next))
          }
          // A repeat is due beside the regular times.
          try store.addFired("ffff", next: at(90))
          var snoozed = try store.theOccurrence(
            OccurrenceID(reminder: ReminderID(rawValue: "ffff"), scheduledAt: at(10)))
          snoozed.state = .snoozed(until: at(25))
          try store.update(snoozed, now: at(11))
        }
        let whole = try await subject.read { try $0.due(now: at(30), limit: 10, after: nil) }
        try expect(
          whole.due.map(\.reminder.id.rawValue), is: ["aaaa", "bbbb", "eeee", "ffff", "cccc"], "all that are due")
        try expect(whole.due.map(\.isRegular), is: [true, true, true, false, true], "which recur")
        try expect(whole.isWhole, is: true, "whole")
        try expect(whole.next, is: at(31), "the next")
        var (parts, place): ([DueReminder], DueCursor?) = ([], nil)
        for wanted in [false, false, true] {
          let from = place
          let part = try await subject.read { try $0.due(now: at(30), limit: 2, after: from) }
          try expect(part.isWhole, is: wanted, "whole after \(parts.count)")
          parts += part.due
          place = part.end
        }
        try expect(parts, is: whole.due, "the parts")
        let end = place
        let rest = try await subject.read { try $0.due(now: at(30), limit: 2, after: end) }
        try expect(rest.due.count, is: 0, "behind the last")
        try expect(rest.end, is: nil, "no last")
        let later = try await subject.read { try $0.due(now: at(31), limit: 2, after: end) }
        try expect(later.due.map(\.reminder.id.rawValue), is: ["dddd"], "what has come since")
        try await subject.write { try expect($0.claimDue(now: at(30), limit: 10), is: whole.due, "still due") }
      },
      Case("a firing records its occurrence and deliveries, and advances the reminder") { subject in
        let firing = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          return try store.fireDue(at: at(10), next: at(70), queues: [desktop, team])[0]
        }
        try await subject.reopen()
        try await subject.read { store in
          try expect(store.occurrence(firing.occurrences[0].id), is: firing.occurrences[0], "the occurrence")
          try expect(Set(store.allDeliveries()), is: Set(firing.deliveries), "the deliveries")
          try expect(store.delivery(firing.deliveries[1].id), is: firing.deliveries[1], "one delivery")
          let wanted = ReminderRecord(
            reminder: firing.due.reminder, next: at(70), last: firing.occurrences[0], open: 1, snoozedUntil: nil)
          try expect(store.reminder(firing.due.reminder.id), is: wanted, "the reminder")
          try expect(
            store.wakeups(), is: NextWakeups(nextDue: at(70), outbox: [desktop: at(10), team: at(10)]), "the wakeups")
        }
      },
      Case("the same firing recorded twice is one occurrence") { subject in
        let firing = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          return try store.fireDue(at: at(10), next: at(70))[0]
        }
        // The same decision, made again with other delivery ids.
        let again = fire(firing.due, next: at(70), tag: "x")
        try await subject.write { try $0.record([again, again]) }
        try await subject.write { try $0.record([firing]) }
        try await subject.read { store in
          try expect(store.occurrences(OccurrenceFilter(), page: Page()).count, is: 1, "occurrences")
          try expect(store.allDeliveries(), is: firing.deliveries, "the deliveries")
          try expect(store.reminder(firing.due.reminder.id)?.next, is: at(70), "the next time")
        }
      },
      Case("a missed occurrence may still fire, once") { subject in
        let (state, deliveries) = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          let due = try store.claimDue(now: at(10), limit: 1)[0]
          var missed = fire(due, next: at(70), queues: [])
          missed.occurrences[0].state = .missed(.downtime)
          missed.occurrences[0].firedAt = nil
          missed.occurrences[0].missedRun = .init(count: 3, through: at(40))
          try store.record([missed])
          let found = try store.theOccurrence(missed.occurrences[0].id)
          try expect(found, is: missed.occurrences[0], "the missed one")
          try store.record([fire(due, next: at(70)), fire(due, next: at(70), tag: "x")])
          return (try store.theOccurrence(found.id).state, try store.allDeliveries().count)
        }
        try expect(state, is: .fired, "the state")
        try expect(deliveries, is: 1, "the deliveries")
      },
      Case("a fired occurrence does not fire again when the clock goes back") { subject in
        // The last state: a snooze ended during suspend, too long ago to fire.
        for state in [Occurrence.State.delivered, .done, .dismissed, .snoozed(until: at(500)), .missed(.suspend)] {
          let id = "s\(state)".filter(\.isLetter)
          let (found, deliveries) = try await subject.write { store in
            let key = try store.addFired(id, next: at(70))
            var answered = try store.theOccurrence(key)
            answered.state = state
            try store.update(answered, now: at(20))
            try store.upsert(sample(id, generation: 1), next: at(10))
            let due = try store.claimDue(now: at(10), limit: 1)[0]
            try expect(due.occurrence, is: answered, "the occurrence that comes with the due time")
            try store.record([fire(due, next: at(70), tag: "x")])
            return (
              try store.theOccurrence(key),
              try store.deliveries(DeliveryFilter(reminder: key.reminder), page: Page()).count
            )
          }
          try expect(found.state, is: state, "the state")
          try expect(deliveries, is: 1, "the deliveries when \(state)")
        }
      },
      Case("a reminder without a next time is due no more, and skips are counted down") { subject in
        let record = try await subject.write { store in
          var reminder = try sample("aaaa")
          reminder.skipNext = 2
          try store.upsert(reminder, next: at(10))
          var firing = fire(try store.claimDue(now: at(10), limit: 1)[0], next: nil)
          firing.skipNext = 1
          try store.record([firing])
          return try store.reminder(reminder.id)
        }
        try expect(record?.next, is: nil, "the next time")
        try expect(record?.reminder.skipNext, is: 1, "the skips left")
      },
      Case("a decision about an older definition does not advance the new one") { subject in
        // This also holds if the new next time equals the old one.
        for (id, changed) in [("aaaa", at(40)), ("bbbb", at(10))] {
          let due = try await subject.write { store in
            try store.upsert(sample(id), next: at(10))
            return try store.claimDue(now: at(10), limit: 10).first { $0.reminder.id.rawValue == id }
          }
          guard let due else { throw ConformanceFailure(description: "\(id) is not due") }
          try await subject.write { try $0.upsert(sample(id, generation: 1), next: changed) }
          try await subject.write { try $0.record([fire(due, next: at(70))]) }
          let record = try await subject.read { try $0.reminder(due.reminder.id) }
          try expect(record?.next, is: changed, "the next time of the new definition")
          try expect(record?.open, is: 1, "the occurrence that fired before the change")
        }
      },
      Case("a removed reminder no longer fires") { subject in
        let due = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          return try store.claimDue(now: at(10), limit: 1)[0]
        }
        let count = try await subject.write { store in
          try store.remove(due.reminder.id, now: at(10))
          try store.record([fire(due, next: at(70))])
          return try store.allDeliveries().count + store.occurrences(OccurrenceFilter(), page: Page()).count
        }
        try expect(count, is: 0, "what was recorded")
      },
      Case("a snooze's end fires the same occurrence and consumes no regular time") { subject in
        let id = try await subject.write { try $0.addFired("aaaa", next: at(100)) }
        try await subject.write { store in
          var snoozed = try store.theOccurrence(id)
          snoozed.state = .snoozed(until: at(50))
          try store.update(snoozed, now: at(20))
        }
        try await subject.reopen()
        let due = try await subject.write { store in
          let due = try store.claimDue(now: at(50), limit: 10)
          try store.fireDue(at: at(55))
          try store.record([fire(due[0], tag: "x")])
          return due
        }
        try expect(due.map(\.dueAt), is: [at(50)], "the due times")
        try expect(due.map(\.scheduledAt), is: [at(10)], "the scheduled times")
        try expect(due[0].occurrence?.state, is: .snoozed(until: at(50)), "the state it came with")
        try await subject.read { store in
          let occurrence = try store.theOccurrence(id)
          try expect(occurrence.rounds, is: 2, "the rounds")
          try expect(occurrence.state, is: .fired, "the state")
          try expect(store.allDeliveries().map(\.round), is: [2, 1], "the deliveries' rounds")
          let record = try store.reminder(id.reminder)
          try expect(record?.next, is: at(100), "the next time")
          try expect(record?.snoozedUntil, is: nil, "the snooze")
          try expect(store.wakeups().nextDue, is: at(100), "the wakeups")
        }
      },
      Case("an outdated decision does not fire a snooze that was answered or prolonged meanwhile") { subject in
        for id in ["done", "long"] {
          try await subject.write { store in
            let key = try store.addFired(id)
            var occurrence = try store.theOccurrence(key)
            occurrence.state = .snoozed(until: at(50))
            try store.update(occurrence, now: at(20))
            guard let due = try store.claimDue(now: at(50), limit: 1).first else {
              throw ConformanceFailure(description: "the snooze's end is not due")
            }
            occurrence.state = id == "done" ? .done : .snoozed(until: at(90))
            try store.update(occurrence, now: at(21))
            try store.record([fire(due, tag: "x")])
            try expect(store.theOccurrence(key), is: occurrence, "the occurrence")
            try expect(
              store.deliveries(DeliveryFilter(reminder: key.reminder), page: Page()).count, is: 1, "deliveries")
            try expect(
              store.reminder(key.reminder)?.snoozedUntil, is: id == "done" ? nil : at(90), "the snooze's end")
          }
        }
      },
      Case("ten thousand due in one second are all claimed, once each") { subject in
        let count = 10_000
        try await subject.write { store in
          for number in 0..<count { try store.upsert(sample("r\(number)"), next: at(10)) }
        }
        var fired: [String] = []
        while true {
          let batch = try await subject.write { store in
            let firings = try store.claimDue(now: at(11), limit: 500).map { fire($0, next: at(70)) }
            try store.record(firings)
            return firings.map(\.due.reminder.id.rawValue)
          }
          if batch.isEmpty { break }
          fired += batch
        }
        try expect(fired.count, is: count, "the firings")
        try expect(Set(fired).count, is: count, "the reminders that fired")
        let (counts, wakeups) = try await subject.read { (try $0.counts(owner: nil), try $0.wakeups()) }
        try expect(
          counts, is: StoreCounts(reminders: count, openOccurrences: count, pendingDeliveries: count), "the counts")
        try expect(wakeups, is: NextWakeups(nextDue: at(70), outbox: [desktop: at(10)]), "the wakeups")
      },
      Case("an empty store has no wakeups") { subject in
        let wakeups = try await subject.read { try $0.wakeups() }
        try expect(wakeups, is: NextWakeups(), "the wakeups")
      },
    ]
  }
}
