import ChimeCore
import ChimeSchedule

extension StoreConformance {
  static var otherCases: [Case] {
    [
      Case("endpoints belong to their owners and are listed by name") { subject in
        @Sendable func endpoint(_ owner: UInt32, _ name: String, _ url: String, disabled: String? = nil) -> Endpoint {
          Endpoint(
            queue: DeliveryQueue(owner: owner, channel: ChannelName(rawValue: name)), url: url, createdAt: at(1),
            disabled: disabled.map { Endpoint.Disabled(reason: $0, at: at(9)) })
        }
        let all = [
          endpoint(1, "alpha", "http://a/"), endpoint(2, "alpha", "http://b/", disabled: "gone"),
          endpoint(1, "beta", "http://c/?q='%\""),
        ]
        try await subject.write { store in
          for endpoint in all.reversed() { try store.put(endpoint) }
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.endpoints(owner: nil), is: all, "all")
          try expect(store.endpoints(owner: 1), is: [all[0], all[2]], "an owner's")
          try expect(store.endpoint(all[1].queue), is: all[1], "one")
          try expect(store.endpoint(team), is: nil, "an unknown one")
          let changed = endpoint(2, "alpha", "http://d/")
          try store.put(changed)
          try expect(store.endpoint(changed.queue), is: changed, "a changed one")
          try expect(store.endpoint(all[0].queue), is: all[0], "another owner's of that name")
        }
      },
      Case("removing an endpoint cancels its pending deliveries") { subject in
        try await subject.write { store in
          try store.put(Endpoint(queue: team, url: "http://a/", createdAt: at(1)))
          try store.addFired("aaaa", queues: [desktop, team])
          try expect(store.removeEndpoint(team, now: at(20)), is: true, "whether there was one")
          try expect(store.removeEndpoint(team, now: at(21)), is: false, "whether there was one still")
          try expect(store.endpoints(owner: nil), is: [], "the endpoints")
          try expect(store.wakeups().outbox, is: [desktop: at(10)], "the pending deliveries")
          let states = try store.deliveries(DeliveryFilter(channel: team.channel), page: Page()).map(\.state)
          try expect(states, is: [.cancelled(at: at(20))], "its deliveries")
        }
      },
      Case("a reply is kept for its owner's token for a day") { subject in
        try await subject.write { store in
          try store.keepAnswer([1, 0, 255], owner: 1, token: "t", now: at(0))
          try store.keepAnswer([], owner: 2, token: "t", now: at(0))
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.answer(owner: 1, token: "t"), is: [1, 0, 255], "the answer")
          try expect(store.answer(owner: 2, token: "t"), is: [], "an empty answer")
          try expect(store.answer(owner: 1, token: "u"), is: nil, "an unknown token's")
          try store.keepAnswer([2], owner: 1, token: "later", now: at(86_400))
          try expect(store.answer(owner: 1, token: "t"), is: [1, 0, 255], "the answer after a day")
          try store.keepAnswer([3], owner: 1, token: "later still", now: at(86_401))
          try expect(store.answer(owner: 1, token: "t"), is: nil, "the answer after more than a day")
          try expect(store.answer(owner: 1, token: "later"), is: [2], "the younger answer")
        }
      },
      Case("an action token is used once, and deleted when it has expired") { subject in
        try await subject.write { store in
          try expect(store.spend("a", until: at(100), now: at(0)), is: true, "the first time")
          try expect(store.spend("b", until: at(50), now: at(0)), is: true, "another")
          try expect(store.spend("a", until: at(900), now: at(1)), is: false, "the second time")
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.spend("a", until: at(100), now: at(100)), is: false, "as it expires")
          try expect(store.spend("b", until: at(300), now: at(101)), is: true, "one that had expired")
          try expect(store.spend("a", until: at(300), now: at(101)), is: true, "the other that had expired")
        }
        struct Aborted: Error {}
        do {
          try await subject.write { store in
            _ = try store.spend("c", until: at(900), now: at(0))
            throw Aborted()
          }
        } catch is Aborted {}
        try await subject.write { store in
          try expect(store.spend("c", until: at(900), now: at(0)), is: true, "one whose use was undone")
        }
      },
      Case("the channel of an answer is kept with the occurrence") { subject in
        try await subject.write { store in
          try store.addFired("aaaa", queues: [desktop])
          guard var occurrence = try store.occurrences(OccurrenceFilter(), page: Page()).first else { return }
          occurrence.state = .snoozed(until: at(900))
          occurrence.answeredBy = "endpoint:phone"
          try store.update(occurrence, now: at(20))
        }
        try await subject.reopen()
        try await subject.write { store in
          let known = try store.occurrences(OccurrenceFilter(), page: Page()).first
          try expect(known != nil, "nothing has fired")
          guard var found = known else { return }
          try expect(found.answeredBy, is: "endpoint:phone", "the way")
          try expect(store.reminder(found.id.reminder)?.last?.answeredBy, is: "endpoint:phone", "that of the last time")
          try expect(
            store.due(now: at(1_000), limit: 5, after: nil).due.compactMap(\.occurrence?.answeredBy),
            is: ["endpoint:phone"],
            "that of what is due")
          found.answeredBy = nil
          found.state = .done
          try store.update(found, now: at(30))
          try expect(store.occurrence(found.id)?.answeredBy, is: nil, "of an answer by the socket")
        }
      },
      Case("gauges count reminders, and the pending deliveries of each queue") { subject in
        let empty = try await subject.read { try $0.gauges() }
        try expect(empty, is: StoreGauges(reminders: 0, scheduled: 0, queues: []), "those of an empty store")
        try await subject.write { store in
          try store.put(Endpoint(queue: team, url: "http://a/", createdAt: at(1)))
          try store.addFired("aaaa", queues: [desktop, team])
          try store.addFired("bbbb", queues: [team])
          try store.upsert(sample("cccc"), next: at(99))
          let claims = try store.claimDeliveries(queue: desktop, now: at(10), visibleAgain: at(50), limit: 1)
          try store.acknowledge(claims[0].delivery.id, attempt: nil, state: .dead(at: at(11)))
        }
        try await subject.reopen()
        var gauges = try await subject.read { try $0.gauges() }
        gauges.queues.sort { $0.queue < $1.queue }
        let created = try await subject.read { store in
          try store.deliveries(DeliveryFilter(channel: team.channel), page: Page()).map(\.createdAt).min()
        }
        try expect(gauges.reminders, is: 3, "all reminders")
        try expect(gauges.scheduled, is: 1, "those with a time to come")
        try expect(
          gauges.queues,
          is: [
            StoreGauges.DeliveryQueueGauge(queue: desktop, pending: 0, oldest: nil, dead: 1),
            StoreGauges.DeliveryQueueGauge(queue: team, pending: 2, oldest: created, dead: 0),
          ], "the queues")
      },
      Case("notes are stored, replaced and removed") { subject in
        try await subject.write { store in
          try store.setNote("seen", "1")
          try store.setNote("seen", "2")
          try store.setNote("gone", "x")
          try store.setNote("gone", nil)
          try store.setNote("empty", "")
        }
        try await subject.reopen()
        let notes = try await subject.read { store in try ["seen", "gone", "empty", "none"].map(store.note) }
        try expect(notes, is: ["2", nil, "", nil], "the notes")
      },
      Case("counts include reminders with a next time or an open occurrence, of one owner or all") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa", owner: 1), next: at(900))
          try store.upsert(sample("bbbb", owner: 1), next: nil)
          try store.addFired("cccc", owner: 2, next: at(900))
          try store.addFired("dddd", owner: 2)
          let gone = try store.addFired("eeee", owner: 2)
          try store.remove(gone.reminder, now: at(20))
          try expect(
            store.counts(owner: nil), is: StoreCounts(reminders: 3, openOccurrences: 2, pendingDeliveries: 2), "all")
          try expect(store.counts(owner: 1), is: StoreCounts(reminders: 1), "the first's")
          try expect(store.counts(owner: 3), is: StoreCounts(), "nobody's")
        }
      },
    ]
  }

  static var transactionCases: [Case] {
    [
      Case("a body that throws leaves no trace and gets its own error") { subject in
        struct Refusal: Error, Equatable { var number: Int }
        do {
          try await subject.write { store in
            try store.addFired("aaaa")
            try store.setNote("a", "b")
            throw Refusal(number: 3)
          }
          throw ConformanceFailure(description: "nothing was thrown")
        } catch let refusal as Refusal {
          try expect(refusal.number, is: 3, "the error")
        }
        try await subject.read { store in
          try expect(store.ids(ReminderFilter()), is: [], "the reminders")
          try expect(store.note("a"), is: nil, "the note")
          try expect(store.wakeups(), is: NextWakeups(), "the wakeups")
        }
        try await subject.write { try $0.upsert(sample("aaaa"), next: nil) }
      },
      Case("each owner has one silence, the last one set") { subject in
        let (first, second) = (Silence(until: at(60)), Silence(until: at(90), coversCritical: true))
        try await subject.write { store in
          try store.setNote("silent", "no silence")
          try store.setSilence(second, of: 1_000)
          try store.setSilence(first, of: 1_000)
          try store.setSilence(second, of: .max)
          try expect(store.silences(), is: [1_000: first, .max: second], "what is written")
        }
        try await subject.read { store in
          try expect(store.silences(), is: [1_000: first, .max: second], "the silences")
          try expect(store.silence(of: 1_000), is: first, "that of one")
          try expect(store.silence(of: 1), is: nil, "that of another")
        }
        try await subject.write { try $0.setSilence(nil, of: 1_000) }
        try await subject.read { try expect($0.silences(), is: [.max: second], "what is left") }
      },
      Case("a body that throws does not affect others in the same commit") { subject in
        struct Refusal: Error {}
        let store = subject.store
        let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
          for number in 0..<100 {
            group.addTask {
              let landed = try? await store.write { store in
                try store.addFired("r\(number)")
                if number % 3 == 0 { throw Refusal() }
                return true
              }
              return (number, landed ?? false)
            }
          }
          var outcomes: [Int: Bool] = [:]
          for await (number, landed) in group { outcomes[number] = landed }
          return outcomes
        }
        try await subject.reopen()
        let ids = try await subject.read { Set(try $0.ids(ReminderFilter(), Page(limit: 1_000))) }
        for number in 0..<100 {
          try expect(outcomes[number], is: number % 3 != 0, "whether \(number) was acknowledged")
          try expect(ids.contains("r\(number)"), is: number % 3 != 0, "whether \(number) is there")
        }
      },
      Case("two hundred concurrent writers all commit, and see each other in order") { subject in
        let store = subject.store
        try await store.write { try $0.setNote("n", "0") }
        let seen = try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<200 {
            group.addTask {
              try await store.write { store in
                let count = Int(try store.note("n") ?? "") ?? -1
                try store.setNote("n", "\(count + 1)")
                try store.upsert(sample("r\(number)"), next: at(Int64(number)))
                return count
              }
            }
          }
          return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        try expect(seen, is: Set(0..<200), "what the writers saw")
        try await subject.reopen()
        let (note, count) = try await subject.read { (try $0.note("n"), try $0.counts(owner: nil).reminders) }
        try expect(note, is: "200", "the count")
        try expect(count, is: 200, "the reminders")
      },
      Case("an id that two writers request at once goes to one") { subject in
        let store = subject.store
        let outcomes = await withTaskGroup(of: StoreFailure?.self) { group in
          for number in 0..<20 {
            group.addTask {
              do {
                try await store.write { try $0.upsert(sample("same", title: "\(number)"), next: nil) }
                return nil
              } catch { return error as? StoreFailure }
            }
          }
          return await group.reduce(into: [StoreFailure?]()) { $0.append($1) }
        }
        try expect(outcomes.count { $0 == nil }, is: 1, "how many have it")
        try expect(
          outcomes.count { $0 == .idTaken(ReminderID(rawValue: "same")) }, is: 19, "how many were refused")
      },
      Case("a read sees earlier writes, and cannot write") { subject in
        for number in 0..<50 {
          try await subject.write { try $0.setNote("n", "\(number)") }
          let note = try await subject.read { try $0.note("n") }
          try expect(note, is: "\(number)", "the note")
          if number % 10 > 0 { continue }
          let apart = try await subject.store.readApart { try $0.note("n") }
          try expect(apart, is: "\(number)", "the note, read apart")
        }
        try await expect(.readOnly) { try await subject.store.readApart { try $0.setNote("n", nil) } }
        let delivery = DeliveryID(rawValue: "d")
        let occurrence = Occurrence(
          id: OccurrenceID(reminder: ReminderID(rawValue: "a"), scheduledAt: at(0)), title: "", owner: 1, state: .done)
        let verbs: [@Sendable (any StoreTransaction) throws -> Void] = [
          { try $0.upsert(sample("aaaa"), next: nil) }, { try $0.remove(occurrence.id.reminder, now: at(0)) },
          { try $0.record([]) }, { try $0.update(occurrence, now: at(0)) },
          { _ = try $0.claimDeliveries(queue: desktop, now: at(0), visibleAgain: at(1), limit: 1) },
          { try $0.acknowledge(delivery, attempt: nil, state: .dead(at: at(0))) }, { try $0.releaseClaims() },
          { try $0.wake(queue: desktop, now: at(0)) },
          { try $0.put(Endpoint(queue: team, url: "", createdAt: at(0))) },
          { try $0.removeEndpoint(team, now: at(0)) },
          { try $0.keepAnswer([], owner: 1, token: "", now: at(0)) },
          { _ = try $0.spend("", until: at(1), now: at(0)) }, { try $0.setNote("n", nil) },
        ]
        for verb in verbs { try await expect(.readOnly) { try await subject.read(verb) } }
      },
      Case("a closed store says so, and changes begun before are there") { subject in
        let store = subject.store
        async let last: Void = store.write { try $0.setNote("last", "1") }
        try await last
        await store.close()
        await store.close()
        try await expect(.closed) { try await store.write { try $0.setNote("last", "2") } }
        try await expect(.closed) { _ = try await store.read { try $0.note("last") } }
        try await subject.reopen()
        let note = try await subject.read { try $0.note("last") }
        try expect(note, is: "1", "the note")
      },
    ]
  }
}
