import ChimeCore
import ChimeSchedule

// Reminders that follow another, or wait for it.
extension StoreConformance {
  static var chainCases: [Case] {
    [
      Case("followers of a reminder are found, of its owner only") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try store.upsert(chained("bbbb", "after done of aaaa"), next: nil)
          try store.upsert(chained("cccc", "30m after missed of aaaa"), next: nil)
          try store.upsert(chained("dddd", "after done of bbbb", owner: 2), next: nil)
          _ = try store.insert([NewReminder(try chained("eeee", "after done of bbbb"))])
        }
        try await subject.reopen()
        try await subject.write { store in
          func ids(_ selection: ReminderSelection) throws -> [String] {
            try store.reminderIDs(selection, after: nil, limit: 10).map(\.rawValue)
          }
          try expect(ids(.following(ReminderID(rawValue: "aaaa"), owner: 1_000)), is: ["bbbb", "cccc"], "of aaaa")
          try expect(ids(.following(ReminderID(rawValue: "bbbb"), owner: 1_000)), is: ["eeee"], "of bbbb")
          try expect(ids(.following(ReminderID(rawValue: "bbbb"), owner: 2)), is: ["dddd"], "of another's")
          try expect(ids(.chained(owner: nil)), is: ["bbbb", "cccc", "dddd", "eeee"], "of all")
          try expect(ids(.chained(owner: 2)), is: ["dddd"], "of an owner")
          try store.upsert(sample("cccc", generation: 1), next: at(10))
          try expect(ids(.following(ReminderID(rawValue: "aaaa"), owner: 1_000)), is: ["bbbb"], "since it was changed")
        }
      },
      Case("a waiting follower is listed until the followed reminder can have no more times") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try store.upsert(chained("bbbb", "after done of aaaa"), next: nil)
          try store.upsert(chained("cccc", "after done of bbbb"), next: nil)
          try store.upsert(chained("dddd", "after done of zzzz"), next: nil)
          let active = ReminderFilter(includesFinished: false)
          try expect(store.ids(active), is: ["aaaa", "bbbb", "cccc"], "those of all")
          let owned = ReminderFilter(owner: 1_000, includesFinished: false)
          try expect(store.ids(owned), is: ["aaaa", "bbbb", "cccc"], "those of the owner")
          try expect(store.counts(owner: nil).reminders, is: 3, "the number of all")
          try expect(store.counts(owner: 1_000).reminders, is: 3, "the number of the owner's")
          try expect(record("cccc", store).awaitsOther, is: true, "whether one waits")
          try expect(record("dddd", store).awaitsOther, is: false, "whether one waits for what is not there")
          // The occurrence fires and stays open.
          let id = try store.fireDue(at: at(10))[0].occurrences[0].id
          try expect(store.ids(owned), is: ["aaaa", "bbbb", "cccc"], "while it is open")
          let done = try store.theOccurrence(id).answered(.done, at: at(20))
          try store.update(done, now: at(20))
          try expect(store.ids(owned), is: [], "once it is done, without followers")
          try Chains.follow([doneAt20], in: store, now: at(20))
          try expect(store.ids(owned), is: ["bbbb", "cccc"], "with a time")
        }
      },
      Case("reminders that wait for a completion are found, and due when it comes") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try store.upsert(waiting("bbbb", for: "aaaa"), next: at(10))
          _ = try store.insert([NewReminder(try waiting("cccc", for: "aaaa"), next: at(900))])
          try store.upsert(waiting("dddd", for: "aaaa", owner: 2), next: at(10))
        }
        try await subject.reopen()
        try await subject.write { store in
          let id = ReminderID(rawValue: "aaaa")
          let found = try store.reminderIDs(.needing(id, owner: 1_000), after: nil, limit: 10).map(\.rawValue)
          try expect(found, is: ["bbbb", "cccc"], "those that wait")
          try expect(store.reminderIDs(.conditional, after: nil, limit: 10).count, is: 3, "of all owners")
          for due in try store.claimDue(now: at(10), limit: 5) {
            // Waiting reminders are deferred.
            var firing = fire(due, next: due.reminder.onlyIfDone == nil ? nil : due.scheduledAt)
            if due.reminder.onlyIfDone != nil {
              (firing.occurrences, firing.deliveries, firing.nextDueAt) = ([], [], at(500))
            }
            try store.record([firing])
          }
          try expect(store.wakeups().nextDue, is: at(500), "while they wait")
          let done = try store.theOccurrence(OccurrenceID(reminder: id, scheduledAt: at(10))).answered(
            .done, at: at(20))
          try store.update(done, now: at(20))
          try expect(Chains.follow([doneAt20], in: store, now: at(20)), is: [], "the followers with a time")
          let due = try store.claimDue(now: at(20), limit: 5)
          try expect(due.map(\.reminder.id.rawValue), is: ["bbbb"], "what is due")
          try expect(due.first?.scheduledAt, is: at(10), "its time")
        }
      },
      Case("a finished occurrence gives its follower one time") { subject in
        try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(10))
          try store.upsert(chained("bbbb", "30s after done of aaaa"), next: nil)
          try store.upsert(chained("cccc", "after missed of aaaa"), next: nil)
          let id = try store.fireDue(at: at(10), next: at(100))[0].occurrences[0].id
          let done = try store.theOccurrence(id).answered(.done, at: at(20))
          try store.update(done, now: at(20))
          let steps = try Chains.follow([doneAt20], in: store, now: at(20))
          try expect(steps.map(\.after.id.rawValue), is: ["bbbb"], "the followers with a time")
          try expect(store.wakeups().nextDue, is: at(50), "the due time")
          try expect(store.reminderIDs(.following(id.reminder, owner: 2), after: nil, limit: 1), is: [], "another's")
        }
        try await subject.reopen()
        try await subject.write { store in
          let due = try store.claimDue(now: at(50), limit: 5)
          try expect(due.map(\.reminder.id.rawValue), is: ["bbbb"], "what is due")
          try expect(due.first?.reminder.chainedTimes, is: [at(50)], "its times")
          let timetable = try record("bbbb", store).reminder.timetable(in: .utc)
          try store.record([fire(due[0], next: timetable.next(after: at(50)))])
          try expect(store.wakeups().nextDue, is: at(100), "the due time after it")
          try expect(store.versions(of: ReminderID(rawValue: "bbbb")).last?.reminder.chainedTimes, is: [at(50)], "kept")
        }
      },
    ]
  }
}

private func chained(_ id: String, _ when: String, owner: UInt32 = 1_000) throws -> Reminder {
  var reminder = try sample(id, owner: owner)
  reminder.schedule = try Schedule(canonical: when)
  return reminder
}

private func waiting(_ id: String, for other: String, owner: UInt32 = 1_000) throws -> Reminder {
  var reminder = try sample(id, owner: owner)
  reminder.onlyIfDone = ReminderID(rawValue: other)
  return reminder
}

private func record(_ id: String, _ store: any StoreTransaction) throws -> ReminderRecord {
  guard let record = try store.reminder(ReminderID(rawValue: id)) else {
    throw ConformanceFailure(description: "there is no \(id)")
  }
  return record
}

/// The end of `aaaa`: done at 20.
private let doneAt20 = Chains.End(of: ReminderID(rawValue: "aaaa"), owner: 1_000, .done, at: at(20))
