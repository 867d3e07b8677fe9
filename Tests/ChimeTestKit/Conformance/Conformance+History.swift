import ChimeCore
import ChimeSchedule

private let again = at(500)

extension StoreConformance {
  /// Ordered queues, and deliveries that are released or sent again.
  static let queueCases: [Case] = [
    Case("an ordered queue sends only its oldest message, and waits for it") { subject in
      try await subject.write { store in
        try store.put(ordered(team))
        for id in ["aaaa", "bbbb", "cccc"] { try store.addFired(id, queues: [team, desktop]) }
        func claim(_ now: Instant) throws -> [String] {
          try store.claimDeliveries(queue: team, now: now, visibleAgain: again, limit: 9)
            .map(\.occurrence.id.reminder.rawValue)
        }
        try expect(store.wakeups().outbox, is: [team: at(10), desktop: at(10)], "the wakeups")
        try expect(claim(at(10)), is: ["aaaa"], "the first")
        try expect(claim(at(10)), is: [], "while it is in flight")
        try expect(store.wakeups().outbox[team], is: again, "the wakeups while it is in flight")
        let head = try store.oldest(team)
        try store.acknowledge(head, attempt: failure, state: .waiting(until: at(70)))
        try expect(store.wakeups().outbox[team], is: at(70), "the wakeup of a queue whose first message failed")
        try expect(claim(at(69)), is: [], "before its time")
        try expect(claim(at(70)), is: ["aaaa"], "at its time")
        try store.acknowledge(head, attempt: nil, state: .delivered(at: at(71)))
        try expect(store.wakeups().outbox[team], is: at(10), "the wakeups after it")
        try expect(claim(at(71)), is: ["bbbb"], "the second")
        try store.acknowledge(try store.oldest(team), attempt: nil, state: .dead(at: at(72)))
        try store.update(Occurrence(answered: .done, store.theOccurrence(occurrence("cccc"))), now: at(73))
        try expect(store.wakeups().outbox[team], is: nil, "the wakeups without pending deliveries")
        let other = try store.claimDeliveries(queue: desktop, now: at(80), visibleAgain: again, limit: 9)
        try expect(other.count, is: 2, "what a queue without order may claim")
      }
    },
    Case("a queue is ordered as long as its endpoint says so") { subject in
      try await subject.write { store in
        for id in ["aaaa", "bbbb"] { try store.addFired(id, queues: [team]) }
        try store.acknowledge(try store.oldest(team), attempt: nil, state: .waiting(until: at(90)))
        try expect(store.wakeups().outbox[team], is: at(10), "the wakeups without order")
        try store.put(ordered(team))
        try expect(store.wakeups().outbox[team], is: at(90), "the wakeups in order")
        try store.put(Endpoint(queue: team, url: "http://h/", createdAt: at(0)))
        try expect(store.wakeups().outbox[team], is: at(10), "the wakeups without order again")
      }
      try await subject.write { store in
        try store.put(ordered(team))
        try store.removeEndpoint(team, now: at(20))
        for id in ["cccc", "dddd"] { try store.addFired(id, queues: [team]) }
        let claims = try store.claimDeliveries(queue: team, now: at(20), visibleAgain: again, limit: 9)
        try expect(claims.count, is: 2, "what can be claimed when the endpoint is gone")
      }
    },
    Case("a released claim is visible at its own time again") { subject in
      try await subject.write { store in
        for id in ["aaaa", "bbbb", "cccc"] { try store.addFired(id) }
        let ids = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 9)
          .map(\.delivery.id)
        try store.acknowledge(ids[1], attempt: failure, state: .waiting(until: at(60)))
        try store.acknowledge(ids[2], attempt: nil, state: .delivered(at: at(11)))
        try store.release(ids + [DeliveryID(rawValue: "msg_none")], now: .latest)
        try expect(store.wakeups().outbox, is: [desktop: at(10)], "the wakeups")
        let claims = try store.claimDeliveries(queue: desktop, now: at(12), visibleAgain: again, limit: 9)
        try expect(claims.map(\.delivery.id), is: [ids[0]], "what can be claimed")
        try expect(store.delivery(ids[1])?.state, is: .waiting(until: at(60)), "the state of one that failed")
        try expect(store.delivery(ids[2])?.state, is: .delivered(at: at(11)), "the state of one that arrived")
      }
    },
    Case("a redelivery keeps its id and attempts, and no longer counts them") { subject in
      for state in [Delivery.State.dead(at: at(20)), .cancelled(at: at(20)), .delivered(at: at(20))] {
        let id = "k\(state)".filter(\.isLetter)
        try await subject.write { store in
          try store.addFired(id)
          let delivery = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)[0]
            .delivery
          try store.acknowledge(delivery.id, attempt: failure, state: .waiting(until: at(10)))
          var second = failure
          second.number = 2
          try store.acknowledge(delivery.id, attempt: second, state: state)
          try expect(store.replay(delivery.id, now: at(30)), "\(state) is sent again")
          try expect(store.delivery(delivery.id)?.state, is: .waiting(until: at(30)), "the state")
          try expect(store.delivery(delivery.id)?.attempts, is: 2, "the attempts")
          try expect(store.delivery(delivery.id)?.attemptsBefore, is: 2, "those that count no more")
          try expect(store.wakeups().outbox, is: [desktop: at(30)], "the wakeups")
        }
        try await subject.reopen()
        try await subject.write { store in
          let claims = try store.claimDeliveries(queue: desktop, now: at(30), visibleAgain: again, limit: 9)
          try expect(claims.map(\.delivery.attemptsBefore), is: [2], "the claimed event")
          try store.acknowledge(claims[0].delivery.id, attempt: nil, state: .delivered(at: at(31)))
        }
      }
    },
    Case("a delivery in flight is not redelivered, and a waiting one is retried at once") { subject in
      try await subject.write { store in
        try store.addFired("aaaa")
        let id = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)[0].delivery.id
        try expect(!store.replay(id, now: at(11)), "one in flight stays")
        try store.acknowledge(id, attempt: failure, state: .waiting(until: at(9_000)))
        try expect(store.replay(id, now: at(12)), "one that waits")
        try expect(store.wakeups().outbox, is: [desktop: at(12)], "the wakeups")
        try expect(!store.replay(DeliveryID(rawValue: "msg_none"), now: at(12)), "one that is not there")
      }
    },
    Case("a redelivery in an ordered queue keeps its position") { subject in
      try await subject.write { store in
        try store.addFired("aaaa", queues: [team])
        let id = try store.oldest(team)
        try store.acknowledge(id, attempt: nil, state: .dead(at: at(11)))
        try store.put(ordered(team))
        try store.addFired("bbbb", queues: [team])
        try store.replay(id, now: at(40))
        try expect(store.wakeups().outbox, is: [team: at(40)], "the wakeups")
        let claims = try store.claimDeliveries(queue: team, now: at(40), visibleAgain: again, limit: 9)
        try expect(claims.map(\.delivery.id), is: [id], "what can be claimed")
      }
    },
    Case("the first successful delivery marks its open occurrence as delivered") { subject in
      try await subject.write { store in
        let key = try store.addFired("aaaa", queues: [desktop, team])
        try store.acknowledge(try store.oldest(desktop), attempt: nil, state: .delivered(at: at(12)))
        try expect(store.theOccurrence(key).state, is: .delivered, "the state")
        try expect(store.theOccurrence(key).deliveredAt, is: at(12), "its time")
        try store.acknowledge(try store.oldest(team), attempt: nil, state: .delivered(at: at(15)))
        try expect(store.theOccurrence(key).deliveredAt, is: at(12), "its time after the second")

        let snoozed = try store.addFired("bbbb")
        var occurrence = try store.theOccurrence(snoozed)
        occurrence.state = .snoozed(until: at(60))
        // The attempt at it was under way.
        let sent = try store.oldest(desktop)
        try store.update(occurrence, now: at(20))
        try store.acknowledge(sent, attempt: nil, state: .delivered(at: at(21)))
        try expect(store.theOccurrence(snoozed).state, is: .snoozed(until: at(60)), "a snoozed one's state")
        try expect(store.wakeups().nextDue, is: at(60), "and its end")

        let failed = try store.addFired("cccc")
        try store.acknowledge(try store.oldest(desktop), attempt: failure, state: .waiting(until: at(99)))
        try expect(store.theOccurrence(failed).state, is: .fired, "the state after a failure")
      }
    },
  ]

  /// Which history is removed, and which stays.
  static let historyCases: [Case] = [
    Case("old closed occurrences are pruned, with all their records") { subject in
      try await subject.write { store in
        for (number, id) in ["aaaa", "bbbb", "cccc"].enumerated() {
          try store.addPast(id, at: at(Int64(number) * 100), endedAt: at(Int64(number) * 100 + 5))
        }
        try expect(store.timeOfOccurrence(after: 0), is: at(200), "the time of the newest")
        try expect(store.timeOfOccurrence(after: 2), is: at(0), "the time of the third")
        try expect(store.timeOfOccurrence(after: 3), is: nil, "the time of a fourth")
        let deliveries = try store.allDeliveries()
        let pruned = try store.prune(HistoryEdge(first: at(150)), past: nil, limit: 10)
        try expect(pruned, is: Pruned(count: 2, past: nil, isOver: true), "what was removed")
        let left = try store.occurrences(OccurrenceFilter(), page: Page()).map(\.id.reminder.rawValue)
        try expect(left, is: ["cccc"], "the occurrences that are left")
        try expect(store.allDeliveries(), is: [deliveries[0]], "the deliveries that are left")
        try expect(store.attempts(of: deliveries[0].id).count, is: 1, "their attempts")
        try expect(store.delivery(deliveries[1].id), is: nil, "a delivery that went")
        try expect(store.attempts(of: deliveries[1].id), is: [], "its attempts")
        try expect(store.reminder(ReminderID(rawValue: "aaaa"))?.last, is: nil, "a reminder whose times went")
      }
    },
    Case("occurrences closed late, unanswered, recurring or pending are not pruned by age alone") { subject in
      try await subject.write { store in
        try store.addPast("late", at: at(0), endedAt: at(900))
        try store.addFired("open")
        try store.acknowledge(try store.oldest(desktop), attempt: nil, state: .delivered(at: at(11)))
        try store.addFired("owed")
        let snoozed = try store.addFired("snoozed", queues: [])
        var occurrence = try store.theOccurrence(snoozed)
        occurrence.state = .snoozed(until: at(9_000))
        try store.update(occurrence, now: at(20))
        let kept = try store.occurrences(OccurrenceFilter(), page: Page())
        let first = try store.prune(HistoryEdge(oldest: at(10)), past: nil, limit: 10)
        try expect(first.count, is: 0, "how many closed ones went")
        try expect(first.isOver, "all were examined")
        try expect(store.occurrences(OccurrenceFilter(), page: Page()), is: kept, "the occurrences that are left")
        let second = try store.prune(HistoryEdge(oldest: at(1_000)), past: nil, limit: 10)
        try expect(second.count, is: 2, "how many went in the end")
        let left = try store.occurrences(OccurrenceFilter(), page: Page()).map(\.id.reminder.rawValue)
        try expect(Set(left), is: ["owed", "snoozed"], "the occurrences that are left in the end")
        try expect(store.wakeups().nextDue, is: at(9_000), "the snooze's end")
      }
    },
    Case("history is pruned in small steps, past rows that stay") { subject in
      try await subject.write { store in
        for number in 0..<10 {
          // Every third delivery is pending.
          if number % 3 == 0 {
            try store.upsert(sample("owed\(number)"), next: at(Int64(number)))
            try store.fireDue(at: at(Int64(number)), queues: [team])
          } else {
            try store.addPast("r\(number)", at: at(Int64(number)), endedAt: at(20))
          }
        }
      }
      var (past, counts) = (OccurrenceID?.none, [Int]())
      while true {
        let from = past
        let part = try await subject.write {
          try $0.prune(HistoryEdge(oldest: at(1_000), first: at(500)), past: from, limit: 4)
        }
        counts.append(part.count)
        past = part.past
        if part.isOver { break }
        try expect(counts.count < 9, "it comes to an end")
      }
      try expect(counts, is: [2, 3, 1], "how many went in each step")
      let left = try await subject.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
      try expect(left.count, is: 4, "how many are left")
    },
    Case("an id is free once the last record of its reminder is pruned") { subject in
      try await subject.write { store in
        try store.addPast("aaaa", at: at(0), endedAt: at(5))
        try store.remove(ReminderID(rawValue: "aaaa"), now: at(6))
      }
      try await expect(.idTaken(ReminderID(rawValue: "aaaa"))) {
        try await subject.write { try $0.upsert(sample("aaaa"), next: at(50)) }
      }
      try await subject.write { store in
        _ = try store.prune(HistoryEdge(first: at(100)), past: nil, limit: 10)
        try store.upsert(sample("aaaa"), next: at(50))
        try expect(store.wakeups().nextDue, is: at(50), "the wakeups")
      }
    },
    Case("nothing is pruned without need, or in a read-only body") { subject in
      try await subject.write { store in
        try store.addPast("aaaa", at: at(0), endedAt: at(5))
        try expect(
          store.prune(HistoryEdge(), past: nil, limit: 10), is: Pruned(count: 0, past: nil, isOver: true), "nothing")
      }
      try await expect(.readOnly) {
        try await subject.read { _ = try $0.prune(HistoryEdge(first: at(9)), past: nil, limit: 1) }
      }
      try await expect(.readOnly) { try await subject.read { try $0.release([], now: at(0)) } }
      try await expect(.readOnly) {
        try await subject.read { _ = try $0.replay(DeliveryID(rawValue: "x"), now: at(1)) }
      }
    },
  ]

  private static let failure = Attempt(number: 1, startedAt: at(10), took: .zero, outcome: .failed)

  static func ordered(_ queue: DeliveryQueue) -> Endpoint {
    Endpoint(queue: queue, url: "http://h/", settings: EndpointSettings(inOrder: true), createdAt: at(0))
  }

  private static func occurrence(_ id: String) -> OccurrenceID {
    OccurrenceID(reminder: ReminderID(rawValue: id), scheduledAt: at(10))
  }
}

extension StoreTransaction {
  /// Returns the oldest pending delivery of a queue.
  fileprivate func oldest(_ queue: DeliveryQueue) throws -> DeliveryID {
    let pending = try allDeliveries().filter { $0.queue == queue && $0.isPending }
    guard let last = pending.last else { throw ConformanceFailure(description: "\(queue) owes nothing") }
    return last.id
  }

  /// Adds a reminder that fired, was delivered and done.
  fileprivate func addPast(_ id: String, at time: Instant, endedAt: Instant) throws {
    try upsert(sample(id), next: time)
    try fireDue(at: time)
    let key = OccurrenceID(reminder: ReminderID(rawValue: id), scheduledAt: time)
    let attempt = Attempt(number: 1, startedAt: time, took: .zero, outcome: .delivered)
    try acknowledge(try oldest(desktop), attempt: attempt, state: .delivered(at: time))
    var occurrence = try theOccurrence(key)
    occurrence.state = .done
    occurrence.endedAt = endedAt
    try update(occurrence, now: endedAt)
  }
}

extension Occurrence {
  fileprivate init(answered state: State, _ occurrence: Occurrence) {
    self = occurrence
    self.state = state
  }
}
