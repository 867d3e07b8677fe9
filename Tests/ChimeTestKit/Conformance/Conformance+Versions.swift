import ChimeCore
import ChimeSchedule

private let id = ReminderID(rawValue: "aaaa")

extension StoreConformance {
  /// The definitions that a reminder has had, for the audit of its times.
  static let versionCases: [Case] = [
    Case("a replaced definition is kept with the span of its times") { subject in
      try await subject.write { store in
        try store.upsert(sample("aaaa"), next: at(10))
        try expect(spans(store), is: ["10 10 now weekdays at 08:30"], "a new one")
        try store.fireDue(at: at(10), next: at(20))
        try expect(spans(store), is: ["10 20 now weekdays at 08:30"], "one that has fired")
        try store.upsert(sample("aaaa", title: "Other", generation: 1), next: at(20))
        try expect(spans(store), is: ["10 20 now weekdays at 08:30"], "one that has another title")
        var tagged = try sample("aaaa", generation: 1)
        (tagged.tags, tagged.channels, tagged.pause) = (["home"], [ChannelName(rawValue: "team")], .indefinitely)
        try store.upsert(tagged, next: at(20))
        try expect(spans(store), is: ["10 20 now weekdays at 08:30"], "one that says and sends something else")
        try expect(store.versions(of: id).last?.reminder.tags, is: ["home"], "as it is now")
        try store.upsert(daily(2), next: at(25))
        try expect(spans(store), is: ["10 20 weekdays at 08:30", "25 25 now daily at 09:00"], "another schedule")
        try store.upsert(sample("aaaa", generation: 3), next: at(15))
        try expect(
          spans(store), is: ["10 15 weekdays at 08:30", "15 15 now weekdays at 08:30"], "one that never had a time")
        try store.upsert(daily(4), next: at(12))
        try expect(
          spans(store), is: ["10 12 weekdays at 08:30", "12 12 now daily at 09:00"],
          "one whose time is behind that of the next")
      }
      try await subject.reopen()
      try await subject.write { store in
        try expect(store.versions(of: id).last?.dueAt, is: at(12), "when the next is due")
        try store.upsert(daily(5), next: nil)
        try expect(spans(store).last, is: "10 12 weekdays at 08:30", "one that is over leaves no span without times")
      }
    },
    Case("times repeated after the clock was set back belong to the new definition") { subject in
      try await subject.write { store in
        try store.upsert(sample("aaaa"), next: at(10), since: at(5))
        try store.fireDue(at: at(900), next: at(910))
        // Edits at a time ahead, then the clock goes back and the reminder is edited again.
        try store.upsert(daily(1), next: at(950), since: at(900))
        try store.upsert(daily(2), next: at(50), since: at(20))
        try expect(
          spans(store), is: ["5 20 weekdays at 08:30", "20 50 now daily at 09:00"], "when the clock is set back")
        try store.upsert(sample("aaaa", generation: 3), next: at(60), since: at(30))
        try expect(
          spans(store), is: ["5 20 weekdays at 08:30", "20 30 daily at 09:00", "30 60 now weekdays at 08:30"],
          "in the order in which they were in force")
      }
    },
    Case("a former definition ends where the clock was set back to, although the next time stays") { subject in
      try await subject.write { store in
        try store.upsert(sample("aaaa"), next: at(10), since: at(5))
        try store.fireDue(at: at(900), next: at(910))
        try store.upsert(daily(1), next: at(950), since: at(900))
        try store.upsert(daily(2), next: at(950), since: at(20))
        try expect(spans(store), is: ["5 20 weekdays at 08:30", "900 950 now daily at 09:00"], "the spans")
      }
    },
    Case("a recomputed due time begins a new span") { subject in
      try await subject.write { store in
        try store.upsert(sample("aaaa"), next: at(10))
        try store.fireDue(at: at(10), next: at(20))
        try store.upsert(sample("aaaa", generation: 1), next: at(30))
        try expect(
          spans(store), is: ["10 20 weekdays at 08:30", "30 30 now weekdays at 08:30"], "the zone has changed")
      }
    },
    Case("a definition is in force from its creation") { subject in
      try await subject.write { store in
        try store.upsert(sample("aaaa"), next: at(10), since: at(5))
        try expect(spans(store), is: ["5 10 now weekdays at 08:30"], "a new one")
        try store.fireDue(at: at(10), next: at(20))
        try store.upsert(daily(1), next: at(25), since: at(12))
        try expect(spans(store), is: ["5 12 weekdays at 08:30", "12 25 now daily at 09:00"], "another schedule")
        try store.upsert(sample("aaaa", generation: 2), next: at(40), since: at(30))
        try expect(
          spans(store),
          is: ["5 12 weekdays at 08:30", "12 25 daily at 09:00", "30 40 now weekdays at 08:30"],
          "one whose time had come and was not decided")
        try store.upsert(daily(3), next: at(40), since: at(35))
        try expect(spans(store).last, is: "35 40 now daily at 09:00", "another with the same next time")
      }
    },
    Case("the definitions of a removed reminder stay as long as its history") { subject in
      try await subject.write { store in
        try store.addFired("aaaa", next: at(20))
        try store.remove(id, now: at(15))
        try expect(spans(store), is: ["10 15 weekdays at 08:30"], "the last one")
        try expect(store.versionedIDs(owner: nil, after: nil, limit: 9), is: [id], "the ids")
        while try store.eraseHistory(ofRemoved: 1_000, limit: 1) {}
        try expect(spans(store), is: [], "when the history is erased")
        try expect(store.versionedIDs(owner: nil, after: nil, limit: 9), is: [], "the ids then")
      }
    },
    Case("definitions are pruned with their times") { subject in
      try await subject.write { store in
        try store.addFired("aaaa", next: at(20))
        try store.upsert(daily(1), next: at(30))
        try store.fireDue(at: at(30), next: at(40))
        try store.upsert(sample("aaaa", generation: 2), next: at(50))
        try ScheduleAudit.forget(before: at(20), in: store)
        try expect(spans(store), is: ["30 40 daily at 09:00", "50 50 now weekdays at 08:30"], "what is left")
        try expect(ScheduleAudit.keptSince(in: store), is: at(20), "since when history is whole")
        try ScheduleAudit.forget(before: at(15), in: store)
        try expect(ScheduleAudit.keptSince(in: store), is: at(20), "after less was to be forgotten")
      }
    },
    Case("present and former reminders are listed in order, of one owner or all") { subject in
      try await subject.write { store in
        for (name, owner) in [("cccc", 1_000), ("aaaa", 1_001), ("bbbb", 1_000), ("dddd", 1_000)] {
          try store.addFired(name, owner: UInt32(owner), next: at(20))
        }
        try store.remove(ReminderID(rawValue: "bbbb"), now: at(15))
      }
      try await subject.read { store in
        func ids(_ owner: UInt32?, after last: String? = nil, limit: Int = 9) throws -> [String] {
          try store.versionedIDs(owner: owner, after: last.map { ReminderID(rawValue: $0) }, limit: limit)
            .map(\.rawValue)
        }
        try expect(ids(nil), is: ["cccc", "aaaa", "bbbb", "dddd"], "all")
        try expect(ids(1_000), is: ["cccc", "bbbb", "dddd"], "of one")
        try expect(ids(1_000, after: "cccc", limit: 1), is: ["bbbb"], "the next")
        try expect(ids(nil, after: "bbbb"), is: ["dddd"], "after a removed one")
        try expect(ids(7), is: [], "of nobody")
      }
    },
  ]
}

private func daily(_ generation: Int64) throws -> Reminder {
  var reminder = try sample("aaaa", generation: generation)
  reminder.schedule = try Schedule(canonical: "daily at 09:00")
  return reminder
}

/// Formats versions as `10 20 weekdays at 08:30`: the first time, the first undecided time, whether it is in force, and
/// the schedule.
private func spans(_ store: any StoreTransaction) throws -> [String] {
  func show(_ time: Instant?) -> String { time.map { "\(($0 - at(0)).rawValue / 1_000)" } ?? "-" }
  return try store.versions(of: id).map {
    "\(show($0.from)) \(show($0.until)) \($0.isInForce ? "now " : "")\($0.reminder.schedule.canonical)"
  }
}
