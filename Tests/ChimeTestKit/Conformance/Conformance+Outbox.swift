import ChimeCore
import ChimeSchedule

extension StoreConformance {
  private static let again = at(500)

  static var outboxCases: [Case] {
    [
      Case("claims are made oldest first, hidden, and visible again when they expire") { subject in
        try await subject.write { store in
          for (number, id) in ["aaaa", "bbbb", "cccc"].enumerated() {
            try store.upsert(sample(id), next: at(Int64(10 + number)))
          }
          try store.fireDue(at: at(12))
        }
        func claim(_ now: Instant, _ limit: Int) async throws -> [String] {
          try await subject.write {
            try $0.claimDeliveries(queue: desktop, now: now, visibleAgain: again, limit: limit)
              .map(\.occurrence.id.reminder.rawValue)
          }
        }
        try expect(await claim(at(11), 10), is: [], "before their time")
        try expect(await claim(at(12), 2), is: ["aaaa", "bbbb"], "the first two")
        try expect(await claim(at(13), 2), is: ["cccc"], "what is left")
        try expect(await claim(at(499), 2), is: [], "while hidden")
        let outbox = try await subject.read { try $0.wakeups().outbox }
        try expect(outbox, is: [desktop: again], "the wakeups while hidden")
        try await subject.reopen()
        try expect(await claim(at(500), 10), is: ["aaaa", "bbbb", "cccc"], "the restored data")
      },
      Case("a claim contains all that a channel needs, and counts no attempt") { subject in
        let message = try await subject.write { store in
          try store.upsert(fullSample("full"), next: at(10), nextDueAt: at(10))
          try store.fireDue(at: at(10), queues: [team])
          return try store.claimDeliveries(queue: team, now: at(10), visibleAgain: again, limit: 1)[0]
        }
        try expect(message.reminder, is: try fullSample("full"), "the reminder")
        try expect(message.occurrence.id, is: message.delivery.occurrence, "the occurrence")
        try expect(message.delivery.attempts, is: 0, "the attempts")
        try expect(message.delivery.state, is: .pending, "the state")
        let other = try await subject.write {
          try $0.claimDeliveries(queue: desktop, now: at(900), visibleAgain: again, limit: 1)
        }
        try expect(other, is: [], "another queue's")
      },
      Case("a failed attempt waits, a delivered one ends, and both are recorded") { subject in
        let id = try await subject.write { store in
          try store.addFired("aaaa")
          return try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)[0].delivery.id
        }
        let failed = Attempt(
          number: 1, startedAt: at(10), took: .milliseconds(1_234), outcome: .failed, status: 500, answer: "no\u{FFFD}",
          error: "the server answered 500")
        let delivered = Attempt(number: 2, startedAt: at(40), took: .zero, outcome: .delivered)
        try await subject.write { try $0.acknowledge(id, attempt: failed, state: .waiting(until: at(40))) }
        try await subject.write { store in
          try expect(store.delivery(id)?.state, is: .waiting(until: at(40)), "the state")
          try expect(store.wakeups().outbox, is: [desktop: at(40)], "the wakeups")
          let early = try store.claimDeliveries(queue: desktop, now: at(39), visibleAgain: again, limit: 1)
          try expect(early, is: [], "before its time")
          let claimed = try store.claimDeliveries(queue: desktop, now: at(40), visibleAgain: again, limit: 1)
          try expect(claimed.map(\.delivery.attempts), is: [1], "the attempts")
        }
        try await subject.write { try $0.acknowledge(id, attempt: delivered, state: .delivered(at: at(41))) }
        try await subject.reopen()
        try await subject.read { store in
          try expect(store.attempts(of: id), is: [failed, delivered], "the attempts")
          try expect(store.delivery(id)?.state, is: .delivered(at: at(41)), "the state")
          try expect(store.delivery(id)?.attempts, is: 2, "their number")
          try expect(store.wakeups().outbox, is: [:], "the wakeups")
        }
      },
      Case("a canceled delivery keeps its state, and its attempt is recorded") { subject in
        for state in [Delivery.State.delivered(at: at(1)), .dead(at: at(2)), .cancelled(at: at(3))] {
          let id = "k\(state)".filter(\.isLetter)
          try await subject.write { store in
            let key = try store.addFired(id)
            let delivery = try store.deliveries(DeliveryFilter(occurrence: key), page: Page())[0].id
            try store.acknowledge(delivery, attempt: nil, state: state)
            let late = Attempt(number: 1, startedAt: at(10), took: .seconds(1), outcome: .refused)
            try store.acknowledge(delivery, attempt: late, state: .waiting(until: at(99)))
            try expect(store.delivery(delivery)?.state, is: state, "the state")
            try expect(store.attempts(of: delivery), is: [late], "the attempts")
            try expect(store.wakeups().outbox, is: [:], "the wakeups")
          }
        }
      },
      Case("an attempt gets the next number, whatever its sender counted") { subject in
        try await subject.write { store in
          let key = try store.addFired("aaaa")
          let id = try store.deliveries(DeliveryFilter(occurrence: key), page: Page())[0].id
          for (number, second) in [(1, 10), (2, 12), (1, 11)] {
            let attempt = Attempt(number: number, startedAt: at(Int64(second)), took: .zero, outcome: .failed)
            try store.acknowledge(id, attempt: attempt, state: .waiting(until: at(20)))
          }
          try expect(store.attempts(of: id).map(\.number), is: [1, 2, 3], "the numbers")
          try expect(
            store.attempts(of: id).map(\.startedAt), is: [at(10), at(12), at(11)], "in the order of recording")
        }
      },
      Case("a blocked delivery counts no attempt") { subject in
        let delivery = try await subject.write { store in
          let key = try store.addFired("aaaa")
          let id = try store.deliveries(DeliveryFilter(occurrence: key), page: Page())[0].id
          try store.acknowledge(id, attempt: nil, state: .waiting(until: at(60)))
          return try store.delivery(id)
        }
        try expect(delivery?.attempts, is: 0, "the attempts")
        try expect(delivery?.state, is: .waiting(until: at(60)), "the state")
      },
      Case("an occurrence delivered in two rounds keeps the time of the first") { subject in
        try await subject.write { store in
          let team = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
          let id = try store.addFired("aaaa", queues: [desktop, team])
          func take(_ queue: DeliveryQueue, _ second: Int64) throws {
            let claimed = try store.claimDeliveries(queue: queue, now: at(10), visibleAgain: again, limit: 1)
            let attempt = Attempt(number: 1, startedAt: at(second), took: .zero, outcome: .delivered)
            try store.acknowledge(claimed[0].delivery.id, attempt: attempt, state: .delivered(at: at(second)))
          }
          try take(desktop, 41)
          var occurrence = try store.theOccurrence(id)
          occurrence.state = .fired
          try store.update(occurrence, now: at(45))
          try take(team, 50)
          try expect(store.theOccurrence(id).state, is: .delivered, "the state")
          try expect(store.theOccurrence(id).deliveredAt, is: at(41), "when it first was")
        }
      },
      Case("an event stays pending whatever happens to its occurrence, and does not count as shown") {
        subject in
        let told = DeliveryEvent(.event(.snoozed), by: "endpoint:phone", until: at(70))
        let withdrawal = DeliveryEvent(.withdrawal, message: DeliveryID(rawValue: "msg_first"))
        let givenUp = DeliveryEvent(
          .event(.givenUp), reason: .quiet, message: DeliveryID(rawValue: "msg_first"), channel: team.channel)
        @Sendable func event(_ name: String, _ id: OccurrenceID, _ event: DeliveryEvent, round: Int = 1) -> Delivery {
          Delivery(
            id: DeliveryID(rawValue: "msg_\(name)"), occurrence: id, queue: team, round: round, createdAt: at(11),
            event: event)
        }
        let id = try await subject.write { store in
          let id = try store.addFired("aaaa")
          try store.owe([event("told", id, told), event("back", id, withdrawal), event("dead", id, givenUp, round: 3)])
          let unknown = OccurrenceID(reminder: ReminderID(rawValue: "none"), scheduledAt: at(10))
          try store.owe([event("unknown", unknown, told)])
          return id
        }
        try await subject.reopen()
        try await subject.write { store in
          let pending = try store.deliveries(DeliveryFilter(channel: team.channel), page: Page())
          try expect(pending.map(\.event), is: [givenUp, withdrawal, told], "their events")
          try expect(pending.map(\.round), is: [3, 1, 1], "of which round")
          try expect(store.wakeups().outbox, is: [desktop: at(10), team: at(11)], "the wakeups")
          let claimed = try store.claimDeliveries(queue: team, now: at(12), visibleAgain: again, limit: 2)
          try expect(claimed.map(\.delivery.event), is: [told, withdrawal], "the claimed event")
          let attempt = Attempt(number: 1, startedAt: at(12), took: .zero, outcome: .delivered)
          try store.acknowledge(claimed[0].delivery.id, attempt: attempt, state: .delivered(at: at(12)))
          try expect(store.theOccurrence(id).state, is: .fired, "the occurrence's state")
          try expect(store.theOccurrence(id).deliveredAt, is: nil, "when it was shown")
          try expect(store.sent(of: id), is: [], "what was shown of it")
          // A later round replaces messages; an answer or a removal cancels them.
          let due = DueReminder(
            reminder: try sample("aaaa"), scheduledAt: at(10), dueAt: at(30), isRegular: false,
            occurrence: try store.theOccurrence(id))
          try store.record([fire(due, queues: [team])])
          var occurrence = try store.theOccurrence(id)
          (occurrence.state, occurrence.endedAt) = (.done, at(40))
          try store.update(occurrence, now: at(40))
          try store.remove(id.reminder, now: at(50))
          let left = try store.deliveries(DeliveryFilter(occurrence: id), page: Page()).filter(\.isPending)
          try expect(left.map(\.event), is: [givenUp, withdrawal], "the deliveries still pending")
        }
      },
      Case("the receiver's id of a message is kept through later attempts") { subject in
        let id = try await subject.write { store in
          _ = try store.addFired("aaaa")
          let claimed = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)
          let id = claimed[0].delivery.id
          try expect(store.receipt(of: id), is: nil, "before any attempt")
          for (number, receipt) in [(1, nil), (2, "25"), (3, nil)] as [(Int, String?)] {
            let attempt = Attempt(
              number: number, startedAt: at(Int64(10 + number)), took: .zero, outcome: .delivered, receipt: receipt)
            try store.acknowledge(id, attempt: attempt, state: .waiting(until: at(20)))
          }
          return id
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.receipt(of: id), is: "25", "its title")
          try expect(store.attempts(of: id).map(\.receipt), is: [nil, nil, nil], "what attempts have of it")
          try expect(store.receipt(of: DeliveryID(rawValue: "msg_none")), is: nil, "of one that is not there")
        }
      },
      Case("a delivered, attempted or claimed message may have been shown") { subject in
        try await subject.write { store in
          let id = try store.addFired("aaaa", queues: [desktop, team])
          try expect(store.sent(of: id), is: [], "before any claim")
          _ = try store.claimDeliveries(queue: team, now: at(10), visibleAgain: again, limit: 1)
          try expect(store.sent(of: id).map(\.queue), is: [team], "what is claimed")
          let shown = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)[0].delivery
            .id
          let failed = Attempt(number: 1, startedAt: at(10), took: .zero, outcome: .failed)
          try store.acknowledge(shown, attempt: failed, state: .waiting(until: at(60)))
          try expect(Set(store.sent(of: id).map(\.queue)), is: [desktop, team], "what was tried")
          let delivered = Attempt(number: 2, startedAt: at(60), took: .zero, outcome: .delivered)
          try store.acknowledge(shown, attempt: delivered, state: .delivered(at: at(60)))
          try expect(Set(store.sent(of: id).map(\.queue)), is: [desktop, team], "what was delivered")
          try store.acknowledge(shown, attempt: nil, state: .cancelled(at: at(61)))
          var occurrence = try store.theOccurrence(id)
          (occurrence.state, occurrence.endedAt) = (.done, at(62))
          try store.update(occurrence, now: at(62))
          try expect(store.sent(of: id).map(\.queue), is: [desktop], "what was cancelled")
        }
      },
      Case("an unknown delivery cannot be acknowledged") { subject in
        let id = DeliveryID(rawValue: "msg_none")
        try await expect(.internalError("there is no delivery msg_none to acknowledge")) {
          try await subject.write { try $0.acknowledge(id, attempt: nil, state: .dead(at: at(1))) }
        }
        let found = try await subject.read { (try $0.delivery(id), try $0.attempts(of: id)) }
        try expect(found.0, is: nil, "the delivery")
        try expect(found.1, is: [], "its attempts")
      },
      Case("released claims are visible at once, and waiting ones at their time") { subject in
        let waiting = try await subject.write { store in
          try store.addFired("aaaa")
          try store.addFired("bbbb")
          let claims = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 2)
          try store.acknowledge(claims[1].delivery.id, attempt: nil, state: .waiting(until: at(300)))
          return claims[1].delivery.id
        }
        try await subject.reopen()
        try await subject.write { store in
          try store.releaseClaims()
          try expect(store.delivery(waiting)?.state, is: .waiting(until: at(300)), "the waiting one")
          let now = try store.claimDeliveries(queue: desktop, now: at(20), visibleAgain: again, limit: 9)
          try expect(now.map(\.occurrence.id.reminder.rawValue), is: ["aaaa"], "what is visible")
          let later = try store.claimDeliveries(queue: desktop, now: at(300), visibleAgain: again, limit: 9)
          try expect(later.map(\.occurrence.id.reminder.rawValue), is: ["bbbb"], "what was waiting")
        }
      },
      Case("this daemon's own claims do not count as a former owner's") { subject in
        try await subject.write { store in
          try store.addFired("aaaa")
          let claims = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 9)
          try expect(claims.count, is: 1, "the claims")
          try store.releaseFormerClaims()
          let more = try store.claimDeliveries(queue: desktop, now: at(20), visibleAgain: again, limit: 9)
          try expect(more.count, is: 0, "what is visible")
        }
      },
      Case("the deliveries of several that are no longer pending are found") { subject in
        try await subject.write { store in
          for id in ["aaaa", "bbbb", "cccc", "dddd"] { try store.addFired(id) }
          let claims = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 4)
          let ids = claims.map(\.delivery.id)
          try store.acknowledge(ids[0], attempt: nil, state: .delivered(at: at(11)))
          try store.acknowledge(ids[1], attempt: nil, state: .waiting(until: at(60)))
          try store.remove(claims[2].occurrence.id.reminder, now: at(12))
          let unknown = DeliveryID(rawValue: "msg_none")
          try expect(
            store.settled(among: ids + [unknown]), is: [ids[0], ids[2], unknown],
            "the deliveries that are no longer pending")
          try expect(store.settled(among: []), is: [], "of none")
        }
      },
      Case("a woken queue retries waiting deliveries at once, but not those in flight") { subject in
        try await subject.write { store in
          for id in ["aaaa", "bbbb", "cccc"] { try store.addFired(id, queues: [desktop, team]) }
          for queue in [desktop, team] {
            let claims = try store.claimDeliveries(queue: queue, now: at(10), visibleAgain: again, limit: 2)
            try store.acknowledge(claims[0].delivery.id, attempt: nil, state: .waiting(until: at(9_000)))
          }
          try store.wake(queue: team, now: at(20))
          try expect(store.wakeups().outbox[team], is: at(10), "the wakeup of the queue")
          let woken = try store.claimDeliveries(queue: team, now: at(20), visibleAgain: again, limit: 9)
          try expect(
            Set(woken.map(\.occurrence.id.reminder.rawValue)), is: ["aaaa", "cccc"], "what the queue may try")
          try expect(
            woken.first { $0.occurrence.id.reminder.rawValue == "aaaa" }?.delivery.state, is: .waiting(until: at(20)),
            "the state of what waited")
          let other = try store.claimDeliveries(queue: desktop, now: at(20), visibleAgain: again, limit: 9)
          try expect(other.map(\.occurrence.id.reminder.rawValue), is: ["cccc"], "what another queue may try")
          try store.wake(queue: DeliveryQueue(owner: 5, channel: .desktop), now: at(20))
        }
      },
      Case("a delivery woken when the clock went back stays due after its claim is released") { subject in
        try await subject.write { store in
          // It fired at 10; now the clock is at 5.
          try store.addFired("aaaa", queues: [team])
          try store.wake(queue: team, now: at(5))
          let claims = try store.claimDeliveries(queue: team, now: at(5), visibleAgain: at(6), limit: 1)
          try expect(claims.count, is: 1, "the woken deliveries")
          try store.release(claims.map(\.delivery.id), now: at(5))
          let again = try store.claimDeliveries(queue: team, now: at(5), visibleAgain: at(6), limit: 1)
          try expect(again.map(\.delivery.id), is: claims.map(\.delivery.id), "what may be retried")
          // The clock goes back while the delivery is claimed.
          try store.release(claims.map(\.delivery.id), now: at(2))
          let third = try store.claimDeliveries(queue: team, now: at(2), visibleAgain: at(6), limit: 1)
          try expect(third.map(\.delivery.id), is: claims.map(\.delivery.id), "what may be tried by the clock as it is")
          try store.release(claims.map(\.delivery.id), now: at(5))
          try store.releaseClaims()
          try expect(store.wakeups().outbox[team], is: at(2), "when it may be tried after a start")
        }
      },
      Case("deliveries are listed newest first, by each filter, in pages") { subject in
        try await subject.write { store in
          for (number, id) in ["aaaa", "bbbb", "cccc"].enumerated() {
            let owner = UInt32(number % 2)
            try store.addFired(
              id, owner: owner,
              queues: [
                DeliveryQueue(owner: owner, channel: .desktop), DeliveryQueue(owner: owner, channel: team.channel),
              ])
          }
          for (number, state) in [
            Delivery.State.waiting(until: at(60)), .delivered(at: at(1)), .dead(at: at(2)), .cancelled(at: at(3)),
          ].enumerated() {
            try store.acknowledge(try store.allDeliveries()[number].id, attempt: nil, state: state)
          }
        }
        try await subject.read { store in
          func found(_ filter: DeliveryFilter, _ page: Page = Page()) throws -> [String] {
            try store.deliveries(filter, page: page).map { "\($0.occurrence.reminder)/\($0.queue.channel)" }
          }
          let all = ["cccc/team", "cccc/desktop", "bbbb/team", "bbbb/desktop", "aaaa/team", "aaaa/desktop"]
          try expect(found(DeliveryFilter()), is: all, "all")
          try expect(found(DeliveryFilter(owner: 1)), is: ["bbbb/team", "bbbb/desktop"], "an owner")
          try expect(
            found(DeliveryFilter(channel: .desktop)), is: ["cccc/desktop", "bbbb/desktop", "aaaa/desktop"], "a channel")
          try expect(
            found(DeliveryFilter(reminder: ReminderID(rawValue: "cccc"))), is: ["cccc/team", "cccc/desktop"],
            "a reminder")
          try expect(
            found(
              DeliveryFilter(
                channel: team.channel,
                occurrence: OccurrenceID(reminder: ReminderID(rawValue: "aaaa"), scheduledAt: at(10)))),
            is: ["aaaa/team"], "an occurrence and a channel")
          let states: [(DeliveryFilter.State, [String])] = [
            (.waiting, ["cccc/team"]), (.delivered, ["cccc/desktop"]), (.dead, ["bbbb/team"]),
            (.cancelled, ["bbbb/desktop"]), (.pending, ["aaaa/team", "aaaa/desktop"]),
          ]
          for (state, wanted) in states { try expect(found(DeliveryFilter(state: state)), is: wanted, "\(state)") }
          let listed = try store.deliveries(DeliveryFilter(), page: Page())
          for (place, last) in listed.enumerated() {
            try expect(
              found(DeliveryFilter(after: last.id), Page(limit: 2)), is: Array(all[(place + 1)...].prefix(2)),
              "two after \(place)")
          }
          let gone = DeliveryFilter(after: DeliveryID(rawValue: "msg_none"))
          try expect(found(gone), is: [], "after one that is gone")
          try expect(
            store.counts(owner: nil),
            is: StoreCounts(reminders: 3, openOccurrences: 3, pendingDeliveries: 3, deadDeliveries: 1), "the counts")
          try expect(
            store.counts(owner: 1),
            is: StoreCounts(reminders: 1, openOccurrences: 1, pendingDeliveries: 0, deadDeliveries: 1),
            "an owner's counts"
          )
        }
      },
      Case("the result of a removed reminder's delivery in flight is recorded") { subject in
        let (state, attempts) = try await subject.write { store in
          let key = try store.addFired("aaaa")
          let id = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: again, limit: 1)[0].delivery.id
          try store.remove(key.reminder, now: at(11))
          try store.acknowledge(
            id, attempt: Attempt(number: 1, startedAt: at(10), took: .seconds(2), outcome: .delivered),
            state: .delivered(at: at(12)))
          return (try store.delivery(id)?.state, try store.attempts(of: id).count)
        }
        try expect(state, is: .cancelled(at: at(11)), "the state")
        try expect(attempts, is: 1, "the attempts")
      },
    ]
  }
}
