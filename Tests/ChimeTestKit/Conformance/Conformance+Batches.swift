import ChimeCore
import ChimeSchedule

// Engines write a batch of firings in a few statements, whatever firings it contains.
extension StoreConformance {
  static var batchCases: [Case] {
    [
      Case("recording a batch equals recording each of its firings") { subject in
        let firings = try await subject.write { store in
          try store.fillForBatch()
          return try store.recordBatch(at: at(20), next: at(100))
        }
        try expect(firings.count, is: 20, "what was due")
        try await subject.reopen()
        try await subject.read { store in
          let heard = firings.filter { $0.due.reminder.id.rawValue.hasPrefix("heard") }
          for firing in heard {
            try expect(store.occurrence(firing.occurrences[0].id)?.state, is: .done, "the fired ones")
          }
          for firing in firings where !heard.contains(firing) {
            try expect(store.occurrence(firing.occurrences[0].id), is: firing.occurrences[0], "what has fired")
          }
          let wanted = firings.filter { !heard.contains($0) }.flatMap(\.deliveries).filter { $0.queue == team }
          try expect(
            store.allDeliveries().reversed().filter { $0.queue == team }, is: wanted, "the pending deliveries, in order"
          )
          for firing in firings where firing.advances {
            let record = try store.reminder(firing.due.reminder.id)
            try expect(record?.next, is: at(100), "the next time of \(firing.due.reminder.id)")
            try expect(record?.reminder.skipNext, is: firing.skipNext, "the skips left of \(firing.due.reminder.id)")
          }
          for number in 0..<3 {
            let earlier = OccurrenceID(reminder: ReminderID(rawValue: "repeats\(number)"), scheduledAt: at(10))
            try expect(store.theOccurrence(earlier).repeatAt, is: nil, "the repeat of the earlier time")
          }
          try expect(store.wakeups().nextDue, is: at(100), "what comes next")
        }
      },
      Case("hundreds of due times are claimed earliest first, and their deliveries are in that order") { subject in
        let count: Int64 = 300
        let wanted = (0..<count).map { at($0) }
        try await subject.write { store in
          try store.put(ordered(team))
          // 7 and 300 are coprime: each second has one reminder, and neighbors in time were not added one after the other.
          for number in 0..<count { try store.upsert(sample("r\(number)"), next: at(number * 7 % count)) }
          let firings = try store.claimDue(now: at(count), limit: 500).map {
            fire($0, next: at(1_000), queues: [team], now: at(count))
          }
          try expect(firings.map(\.due.dueAt), is: wanted, "the claim")
          try store.record(firings)
        }
        try await subject.write { store in
          try expect(
            store.allDeliveries().reversed().map(\.occurrence.scheduledAt), is: wanted, "the pending deliveries")
          for time in wanted {
            let claims = try store.claimDeliveries(queue: team, now: at(count), visibleAgain: at(900), limit: 9)
            try expect(claims.map(\.occurrence.id.scheduledAt), is: [time], "the oldest")
            try store.acknowledge(claims[0].delivery.id, attempt: nil, state: .delivered(at: at(count)))
          }
        }
      },
      Case("an occurrence that a batch contains twice is recorded as the later one, if allowed") { subject in
        let found = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          var firing = fire(try store.claimDue(now: at(10), limit: 1)[0], next: at(70))
          var missed = firing.occurrences[0]
          missed.state = .missed(.downtime)
          missed.firedAt = nil
          firing.occurrences.insert(missed, at: 0)
          try store.record([firing])
          return try store.theOccurrence(missed.id).state
        }
        try expect(found, is: .fired, "the state")
      },
    ]
  }
}

extension StoreTransaction {
  /// Adds twenty reminders that are due at `at(20)`: first firings, repeated firings, ended snoozes, and reminders that
  /// still nag about an earlier time.
  fileprivate func fillForBatch() throws {
    for number in 0..<3 {
      var repeating = try sample("repeats\(number)")
      repeating.nag = Nag(every: .seconds(50), max: 3)
      try upsert(repeating, next: at(10))
    }
    try fireDue(at: at(10), next: at(18), repeatAt: at(60))
    for number in 0..<5 {
      var heard = try theOccurrence(try addFired("heard\(number)", next: at(500)))
      heard.state = .done
      try update(heard, now: at(11))
      var snoozed = try theOccurrence(try addFired("snoozed\(number)"))
      snoozed.state = .snoozed(until: at(19))
      try update(snoozed, now: at(11))
    }
    for number in 0..<5 { try upsert(sample("heard\(number)", generation: 1), next: at(10)) }
    for number in 0..<7 {
      var fresh = try sample("fresh\(number)")
      fresh.skipNext = number % 3
      try upsert(fresh, next: at(12 + Int64(number)))
    }
  }

  fileprivate func recordBatch(at now: Instant, next: Instant) throws -> [FiringResult] {
    let firings = try claimDue(now: now, limit: 1_000).map { due in
      var firing = fire(due, next: next, queues: [desktop, team], now: now, tag: "b")
      if firing.skipNext > 1 { firing.skipNext -= 1 }
      return firing
    }
    try record(firings)
    return firings
  }
}
