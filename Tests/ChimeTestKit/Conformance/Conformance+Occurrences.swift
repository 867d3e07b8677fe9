import ChimeCore
import ChimeSchedule

extension StoreConformance {
  static var occurrenceCases: [Case] {
    [
      Case("an occurrence reads back in each of its states, with every field") { subject in
        let states: [Occurrence.State] =
          [.fired, .delivered, .snoozed(until: at(99)), .done, .dismissed] + MissReason.allCases.map { .missed($0) }
        let id = try await subject.write { try $0.addFired("aaaa") }
        for state in states {
          for late in LateCause.allCases.map(Optional.some) + [nil] {
            let wanted = Occurrence(
              id: id, title: "Other", owner: 4_294_967_295, state: state, firedAt: late == nil ? nil : at(11),
              deliveredAt: at(12), endedAt: late == nil ? nil : at(13), late: late, rounds: 7,
              repeats: late == nil ? 0 : 5, repeatAt: late == nil ? nil : at(77),
              missedRun: late == nil ? nil : .init(count: 4, through: at(14)))
            let found = try await subject.write { store in
              try store.update(wanted, now: at(20))
              return try store.occurrence(id)
            }
            try expect(found, is: wanted, "the occurrence")
          }
        }
      },
      Case("closing or snoozing an occurrence cancels its pending deliveries, and closing its snooze") { subject in
        for state in [Occurrence.State.done, .dismissed, .missed(.skipped)] {
          let id = "c\(state)".filter(\.isLetter)
          try await subject.write { store in
            let key = try store.addFired(id, queues: [desktop, team])
            try store.addFired(id + "other")
            var occurrence = try store.theOccurrence(key)
            occurrence.state = .snoozed(until: at(50))
            try store.update(occurrence, now: at(20))
            try expect(store.wakeups().nextDue, is: at(50), "the due time while snoozed")
            try expect(
              store.deliveries(DeliveryFilter(occurrence: key), page: Page()).map(\.state),
              is: [.cancelled(at: at(20)), .cancelled(at: at(20))], "the deliveries while snoozed")
            let again = Delivery(
              id: DeliveryID(rawValue: "msg_again\(id)"), occurrence: key, queue: desktop, round: 2, createdAt: at(25))
            try store.owe([again])
            occurrence.state = state
            try store.update(occurrence, now: at(30))
            try expect(store.wakeups().nextDue, is: nil, "the due time once closed")
            try expect(store.delivery(again.id)?.state, is: .cancelled(at: at(30)), "the delivery once closed")
            try expect(
              store.deliveries(DeliveryFilter(reminder: ReminderID(rawValue: id + "other")), page: Page())
                .map(\.state), is: [.pending], "the neighbour's delivery")
          }
        }
      },
      Case("an open occurrence may be delivered and keeps its pending deliveries") { subject in
        let pending = try await subject.write { store in
          let id = try store.addFired("aaaa", queues: [desktop, team])
          try store.update(try store.theOccurrence(id).delivered(at: at(12)), now: at(12))
          return try store.allDeliveries().filter(\.isPending).count
        }
        try expect(pending, is: 2, "the pending deliveries")
      },
      Case("snoozing again moves the due time") { subject in
        let due = try await subject.write { store in
          let id = try store.addFired("aaaa", next: at(1_000))
          for until in [at(50), at(90), at(70)] {
            var occurrence = try store.theOccurrence(id)
            occurrence.state = .snoozed(until: until)
            try store.update(occurrence, now: at(20))
          }
          return try store.claimDue(now: at(500), limit: 10).map(\.dueAt)
        }
        try expect(due, is: [at(70)], "the due times")
      },
      Case("several occurrences of one reminder are snoozed independently") { subject in
        let (due, record) = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          for scheduled in [at(10), at(20)] {
            try store.fireDue(at: scheduled, next: scheduled + .seconds(10))
            var occurrence = try store.theOccurrence(
              OccurrenceID(reminder: ReminderID(rawValue: "aaaa"), scheduledAt: scheduled))
            occurrence.state = .snoozed(until: scheduled + .seconds(100))
            try store.update(occurrence, now: scheduled)
          }
          return (
            try store.claimDue(now: at(500), limit: 10).map { [$0.scheduledAt, $0.dueAt] },
            try store.reminder(ReminderID(rawValue: "aaaa"))
          )
        }
        try expect(due, is: [[at(30), at(30)], [at(10), at(110)], [at(20), at(120)]], "the due times")
        try expect(record?.snoozedUntil, is: at(110), "the earliest snooze")
        try expect(record?.last?.id.scheduledAt, is: at(20), "the latest occurrence")
        try expect(record?.open, is: 2, "the open ones")
      },
      Case("the answered ones of several occurrences are found") { subject in
        let states: [Occurrence.State] =
          [.fired, .delivered, .snoozed(until: at(99)), .done, .dismissed, .missed(.skipped)]
        try await subject.write { store in
          let ids = try states.indices.map { try store.addFired("a\($0)") }
          for (id, state) in zip(ids, states) {
            var occurrence = try store.theOccurrence(id)
            occurrence.state = state
            try store.update(occurrence, now: at(20))
          }
          // One time that never existed, and one reminder that never existed.
          let unknown = [
            OccurrenceID(reminder: ids[0].reminder, scheduledAt: ids[0].scheduledAt + .seconds(1)),
            OccurrenceID(reminder: ReminderID(rawValue: "none"), scheduledAt: ids[0].scheduledAt),
          ]
          try expect(store.answered(among: ids + unknown), is: Set(ids[2...] + unknown), "what waits for no answer")
          try expect(store.answered(among: []), is: [], "of none")
        }
      },
      Case("an unknown occurrence is not found, and cannot be updated") { subject in
        let id = OccurrenceID(reminder: ReminderID(rawValue: "none"), scheduledAt: at(0))
        let found = try await subject.read { try $0.occurrence(id) }
        try expect(found, is: nil, "the occurrence")
        try await expect(.internalError("there is no occurrence \(id) to update")) {
          try await subject.write {
            try $0.update(Occurrence(id: id, title: "", owner: 1, state: .done), now: at(1))
          }
        }
      },
      Case("occurrences are listed newest first, by each filter, in pages") { subject in
        try await subject.write { store in
          for (number, id) in ["aaaa", "bbbb"].enumerated() {
            try store.upsert(sample(id, owner: UInt32(number)), next: at(Int64(10 + number)))
            for step in 0..<5 as Range<Int64> {
              let time = at(10 + Int64(number) + 10 * step)
              try store.fireDue(at: time, next: time + .seconds(10))
              if step < 3 {
                var done = try store.theOccurrence(
                  OccurrenceID(reminder: ReminderID(rawValue: id), scheduledAt: time))
                done.state = .done
                try store.update(done, now: time)
              }
            }
            try store.upsert(sample(id, owner: UInt32(number), generation: 1), next: nil)
          }
        }
        try await subject.read { store in
          func seconds(_ filter: OccurrenceFilter, _ page: Page = Page()) throws -> [Int64] {
            try store.occurrences(filter, page: page).map { ($0.id.scheduledAt - at(0)).rawValue / 1_000 }
          }
          let all: [Int64] = [51, 50, 41, 40, 31, 30, 21, 20, 11, 10]
          let second = ReminderID(rawValue: "bbbb")
          try expect(seconds(OccurrenceFilter()), is: all, "all")
          try expect(seconds(OccurrenceFilter(owner: 0)), is: [50, 40, 30, 20, 10], "an owner")
          try expect(seconds(OccurrenceFilter(reminder: second)), is: [51, 41, 31, 21, 11], "a reminder")
          try expect(seconds(OccurrenceFilter(openOnly: true)), is: [51, 50, 41, 40], "the open ones")
          try expect(seconds(OccurrenceFilter(owner: 1, openOnly: true)), is: [51, 41], "an owner's open ones")
          try expect(seconds(OccurrenceFilter(from: at(20), before: at(31))), is: [30, 21, 20], "a span")
          try expect(
            seconds(OccurrenceFilter(reminder: second, from: at(20), before: at(31))), is: [21], "a reminder's span")
          try expect(seconds(OccurrenceFilter(owner: 0, reminder: second)), is: [], "another's reminder")
          try expect(
            seconds(OccurrenceFilter(reminder: ReminderID(rawValue: "none"))), is: [], "an unknown reminder")
          for (place, time) in all.enumerated() {
            let last = OccurrenceID(
              reminder: ReminderID(rawValue: time % 10 == 1 ? "bbbb" : "aaaa"), scheduledAt: at(time))
            try expect(
              seconds(OccurrenceFilter(after: last), Page(limit: 3)), is: Array(all.dropFirst(place + 1).prefix(3)),
              "three after \(time)")
            try expect(
              seconds(OccurrenceFilter(reminder: second, after: last), Page(limit: 2)),
              is: Array([51, 41, 31, 21, 11].filter { $0 < time }.prefix(2)), "two of a reminder after \(time)")
          }
          let gone = OccurrenceID(reminder: ReminderID(rawValue: "none"), scheduledAt: at(30))
          try expect(
            seconds(OccurrenceFilter(after: gone), Page(limit: 2)), is: [21, 20], "after one of a reminder that is gone"
          )
        }
      },
    ]
  }
}
