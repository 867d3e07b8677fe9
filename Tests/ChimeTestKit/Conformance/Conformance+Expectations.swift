import ChimeCore
import ChimeSchedule

private let id = ReminderID(rawValue: "aaaa")

extension StoreConformance {
  /// Pings of jobs, and the deadlines for them.
  static let expectationCases: [Case] = [
    Case("an awaited ping is found until it arrives, and is due at its deadline") { subject in
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.await(at: at(10), until: at(40), next: at(100))
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(store.awaited(of: id).map(\.state), is: [.awaited(until: at(40))], "the awaited occurrences")
        let record = try store.reminder(id)
        try expect(record?.pingDeadline, is: at(40), "its end")
        try expect(record?.coming, is: at(40), "what comes first")
        try expect(record?.open, is: 0, "what waits for an answer")
        try expect(store.counts(owner: nil).openOccurrences, is: 0, "the count of that")
        let due = try store.claimDue(now: at(40), limit: 9)
        try expect(due.map(\.isRegular), is: [false], "it fires again")
        try expect(due.first?.occurrence?.state, is: .awaited(until: at(40)), "the state it came with")
        guard let due = due.first, var occurrence = due.occurrence else { return }
        (occurrence.state, occurrence.firedAt, occurrence.rounds) = (.fired, at(40), 1)
        try store.record([
          FiringResult(due: due, occurrences: [occurrence], deliveries: [], next: nil, advances: false, skipNext: 0)
        ])
        try expect(store.awaited(of: id), is: [], "what is awaited since")
        try expect(store.theOccurrence(occurrence.id).state, is: .fired, "the state")
        try expect(store.claimDue(now: at(50), limit: 9), is: [], "what is due")
      }
    },
    Case("the start of an outage is kept until the expectation recovers") { subject in
      let other = ReminderID(rawValue: "bbbb")
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.upsert(sample("bbbb"), next: at(10))
        try store.setDown(id, since: at(20))
        try store.setDown(id, since: at(30))
        try store.setDown(other, since: at(20))
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(store.reminder(id)?.downSince, is: at(20), "the start of the outage")
        try expect(store.reminder(other)?.downSince, is: nil, "without expectations")
        var reminder = try expectation("aaaa")
        (reminder.generation, reminder.title) = (1, "another")
        try store.upsert(reminder, next: at(10))
        try expect(store.reminder(id)?.downSince, is: at(20), "after a change of it")
        try store.setDown(id, since: nil)
        try expect(store.reminder(id)?.downSince, is: nil, "when it has recovered")
        try store.setDown(id, since: at(40))
        (reminder.generation, reminder.within) = (2, nil)
        try store.upsert(reminder, next: at(10))
        (reminder.generation, reminder.within) = (3, .hours(1))
        try store.upsert(reminder, next: at(10))
        try expect(store.reminder(id)?.downSince, is: nil, "after no ping was expected of it")
      }
    },
    Case("a completion is found, whatever has been recorded since") { subject in
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.upsert(expectation("bbbb"), next: at(10))
        let states: [(Int64, Occurrence.State)] = [
          (1, .done), (2, .dismissed), (3, .missed(.doneAlready)), (4, .missed(.suspend)), (5, .done),
        ]
        let occurrences = states.map { second, state in
          Occurrence(
            id: OccurrenceID(reminder: id, scheduledAt: at(second)), title: "x", owner: 1_000, state: state,
            endedAt: at(second + 100))
        }
        let due = try DueReminder(reminder: expectation("aaaa"), scheduledAt: at(10), dueAt: at(10))
        try store.record([
          FiringResult(due: due, occurrences: occurrences, deliveries: [], next: at(20), advances: true, skipNext: 0)
        ])
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(store.doneTimes(of: id, from: .earliest).sorted(), is: [at(101), at(103), at(105)], "all")
        try expect(store.doneTimes(of: id, from: at(103)).sorted(), is: [at(103), at(105)], "from a moment on")
        try expect(store.doneTimes(of: ReminderID(rawValue: "bbbb"), from: .earliest), is: [], "of another")
        try expect(store.doneTimes(of: ReminderID(rawValue: "cccc"), from: .earliest), is: [], "of none")
      }
    },
    Case("a decision about another deadline than the awaited one changes nothing") { subject in
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.await(at: at(10), until: at(40), next: at(100))
        let due = try store.claimDue(now: at(40), limit: 9)
        guard let due = due.first, var occurrence = due.occurrence else { return }
        // A run begins meanwhile.
        occurrence.state = .awaited(until: at(60))
        try store.update(occurrence, now: at(39))
        (occurrence.state, occurrence.firedAt, occurrence.rounds) = (.fired, at(40), 1)
        try store.record([
          FiringResult(due: due, occurrences: [occurrence], deliveries: [], next: nil, advances: false, skipNext: 0)
        ])
        try expect(store.awaited(of: id).map(\.state), is: [.awaited(until: at(60))], "the awaited occurrences")
        try expect(store.reminder(id)?.pingDeadline, is: at(60), "its end")
      }
    },
    Case("a ping at the due moment counts for that time, although it is not evaluated yet") { subject in
      let context = ReminderContext(zones: SimulatedZones(local: "UTC"))
      let late = at(10) + .milliseconds(5)
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        guard let record = try store.reminder(id) else { return }
        var generator = SeededGenerator(seed: 1)
        let work = try PingTransaction.run(
          Ping(at: late, kind: .succeeded, uid: 1_000), of: record, in: store, context,
          uptime: Uptime(runningSince: at(0)), using: &generator)
        try expect(work.closed.map(\.occurrence.id.scheduledAt), is: [at(10)], "what it has closed")
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(store.theOccurrence(OccurrenceID(reminder: id, scheduledAt: at(10))).state, is: .done, "the state")
        try expect(store.awaited(of: id), is: [], "the awaited occurrences")
        try expect(store.claimDue(now: late, limit: 9), is: [], "what is due")
        try expect(store.reminder(id)?.next.map { $0 > late }, is: true, "whether it has a time to come")
      }
    },
    Case("a completed occurrence, or one of a removed reminder, is no longer awaited") { subject in
      try await subject.write { store in
        for name in ["aaaa", "bbbb"] {
          try store.upsert(expectation(name), next: at(10))
          try store.await(name, at: at(10), until: at(40), next: at(100))
        }
        var occurrence = try store.awaited(of: id)[0]
        (occurrence.state, occurrence.endedAt) = (.done, at(20))
        try store.update(occurrence, now: at(20))
        try expect(store.awaited(of: id), is: [], "the awaited occurrences")
        try expect(store.reminder(id)?.coming, is: at(100), "what comes first")
        var other = try store.awaited(of: ReminderID(rawValue: "bbbb"))[0]
        other.repeatAt = at(45)
        try store.update(other, now: at(25))
        try store.remove(ReminderID(rawValue: "bbbb"), now: at(30))
        try expect(store.awaited(of: ReminderID(rawValue: "bbbb")), is: [], "what is awaited of a removed one")
        let gone = try store.occurrences(OccurrenceFilter(reminder: ReminderID(rawValue: "bbbb")), page: Page())
        try expect(gone.map(\.state), is: [.dismissed], "its state")
        try expect(gone.map(\.repeatAt), is: [nil], "when it is repeated")
        try expect(store.claimDue(now: at(50), limit: 9), is: [], "what is due")
      }
    },
    Case("awaited occurrences stay in the history") { subject in
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.await(at: at(10), until: at(4_000), next: at(5_000))
        let pruned = try store.prune(HistoryEdge(oldest: at(3_000), first: at(3_000)), past: nil, limit: 9)
        try expect(pruned.count, is: 0, "what was removed")
      }
    },
    Case("the newest pings are kept, with every field") { subject in
      let whole = Ping(
        at: at(1), kind: .failed, uid: 1_000, via: "acme", took: .milliseconds(1_234), status: 3, output: "no\nspace")
      try await subject.write { store in
        try store.upsert(expectation("aaaa"), next: at(10))
        try expect(store.pings(of: id, among: .all, withOutput: true, limit: 9), is: [], "none yet")
        try expect(store.lastPing(of: id, among: [.succeeded]), is: nil, "none yet")
        try store.add(whole, to: id)
        try store.add(Ping(at: at(2), kind: .started, uid: 0), to: id)
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(
          store.pings(of: id, among: .all, withOutput: true, limit: 9),
          is: [Ping(at: at(2), kind: .started, uid: 0), whole], "the pings")
        try expect(
          store.pings(of: id, among: .all, withOutput: true, limit: 1).map(\.kind), is: [.started], "the newest")
        var short = whole
        short.output = nil
        try expect(store.lastPing(of: id, among: .ends), is: short, "the newest of some kinds")
        try expect(store.lastPing(of: id, among: .ends, withOutput: true), is: whole, "the same, with its output")
        for number in 1...Int64(Ping.maxStored) {
          try store.add(Ping(at: at(number + 2), kind: .succeeded, uid: 0), to: id)
        }
        let kept = try store.pings(of: id, among: .all, withOutput: true, limit: 1_000)
        try expect(kept.count, is: Ping.maxStored, "the number of stored rows")
        try expect(kept.last?.at, is: at(3), "the oldest of them")
        try store.remove(id, now: at(5))
        try expect(
          store.pings(of: id, among: .all, withOutput: true, limit: 1_000).count, is: Ping.maxStored, "of a removed one"
        )
      }
    },
    Case("expectations are listed and counted separately") { subject in
      try await subject.write { store in
        try store.upsert(sample("bbbb"), next: at(5))
        var misleading = try sample("cccc")
        misleading.tags = ["\"within\":"]
        try store.upsert(misleading, next: at(6))
        try store.upsert(expectation("aaaa"), next: at(10))
        try store.upsert(expectation("dddd", owner: 1_001), next: at(8))
        func ids(_ filter: ReminderFilter) throws -> [String] {
          try store.reminders(filter, page: Page()).map(\.reminder.id.rawValue)
        }
        try expect(ids(ReminderFilter(expectationsOnly: true)), is: ["dddd", "aaaa"], "all")
        try expect(ids(ReminderFilter(owner: 1_000, expectationsOnly: true)), is: ["aaaa"], "of one")
        var counts = try store.counts(owner: nil)
        try expect([counts.expectations, counts.expectationsDown], is: [2, 0], "the counts")
        try store.await(at: at(10), until: at(40), next: at(100))
        let due = try store.claimDue(now: at(40), limit: 9).filter { !$0.isRegular }
        guard let due = due.first, var occurrence = due.occurrence else { return }
        (occurrence.state, occurrence.firedAt, occurrence.rounds) = (.fired, at(40), 1)
        try store.record([
          FiringResult(due: due, occurrences: [occurrence], deliveries: [], next: nil, advances: false, skipNext: 0)
        ])
        counts = try store.counts(owner: nil)
        try expect([counts.expectations, counts.expectationsDown], is: [2, 1], "when one has reported")
        try expect(store.counts(owner: 1_001).expectationsDown, is: 0, "of another")
      }
    },
  ]
}

private func expectation(_ name: String, owner: UInt32 = 1_000) throws -> Reminder {
  var reminder = try sample(name, owner: owner)
  reminder.within = .seconds(30)
  return reminder
}

extension StoreTransaction {
  /// Records that a time has come whose ping is awaited until `end`.
  fileprivate func await(_ name: String = "aaaa", at time: Instant, until end: Instant, next: Instant) throws {
    let id = ReminderID(rawValue: name)
    guard let reminder = try reminder(id)?.reminder else { return }
    try record([
      FiringResult(
        due: DueReminder(reminder: reminder, scheduledAt: time, dueAt: time),
        occurrences: [
          Occurrence(
            id: OccurrenceID(reminder: id, scheduledAt: time), title: reminder.title, owner: reminder.owner,
            state: .awaited(until: end))
        ], deliveries: [], next: next, advances: true, skipNext: 0)
    ])
  }
}
