import ChimeCore
import ChimeSchedule

// Inserting many reminders at once.
extension StoreConformance {
  static var insertingCases: [Case] {
    [
      Case("inserting many reminders equals inserting each") { subject in
        var all = try (0..<120).map { NewReminder(try sample("r\($0)"), next: at(100 + Int64($0))) }
        all.append(NewReminder(try sample("last")))
        var full = try fullSample("full")
        full.generation = 0
        all.append(NewReminder(full, next: at(90)))
        let (inserted, first) = (all, min(at(100), at(90) + full.jitterOffset))
        let taken = try await subject.write { try $0.insert(inserted) }
        try expect(taken, is: [], "those whose name was taken")
        try await subject.reopen()
        try await subject.read { store in
          for new in inserted {
            let record = try store.reminder(new.reminder.id)
            try expect(record?.reminder, is: new.reminder, "the reminder")
            try expect(record?.next, is: new.next, "its next time")
            try expect(record?.nextDueAt, is: new.next.map { $0 + new.reminder.jitterOffset }, "when it is due")
          }
          try expect(
            store.reminderIDs(.all, after: nil, limit: 1_000), is: inserted.map(\.reminder.id),
            "the order in which they were made")
          try expect(store.wakeups().nextDue, is: first, "what comes next")
        }
      },
      Case("reminders whose id is or was in use are left out of many") { subject in
        try await subject.write { store in
          try store.upsert(sample("used"), next: at(50))
          try store.addFired("past", next: at(60))
          try store.remove(ReminderID(rawValue: "past"), now: at(20))
        }
        let taken = try await subject.write { store in
          try store.insert(
            ["new1", "used", "twice", "past", "twice", "new2"].map {
              NewReminder(try sample($0, title: "another"), next: at(70))
            })
        }
        try expect(taken, is: [1, 3, 4], "their places")
        try await subject.read { store in
          try expect(
            store.ids(ReminderFilter()), is: ["used", "new1", "new2", "twice"], "what there is, as it comes")
          try expect(
            store.reminder(ReminderID(rawValue: "used"))?.reminder.title, is: "Title of used", "the one that was there")
        }
        try await subject.write { try expect($0.insert([]), is: [], "of none, none") }
      },
      Case("the owners whose counts many reminders raised are known") { subject in
        let acme = try await subject.write { try $0.enrol(tenant: "acme").number }
        try await subject.write { store in
          _ = try store.insert([
            NewReminder(try sample("user"), next: at(10)), NewReminder(try sample("none", owner: acme)),
          ])
          try expect(store.tenantsWithMore, is: [], "a user's, and one without a time")
          _ = try store.insert([NewReminder(try sample("aaaa", owner: acme), next: at(10))])
          try expect(store.tenantsWithMore, is: [acme], "one with a time")
          try expect(store.reminderCount(of: acme), is: 1, "how many there are")
        }
      },
      Case("reminders that were inserted together fire") { subject in
        let (fired, wakes) = try await subject.write { store in
          var waking = try sample("wakes")
          waking.wake = true
          try expect(
            store.insert([NewReminder(try sample("aaaa"), next: at(10)), NewReminder(waking, next: at(12))]), is: [],
            "the taken")
          let wakes = try store.wakeups().nextWake
          return (try store.fireDue(at: at(12)).map(\.due.reminder.id.rawValue), wakes)
        }
        try expect(fired, is: ["aaaa", "wakes"], "what has fired")
        try expect(wakes, is: at(12), "the wake-up")
      },
    ]
  }
}
