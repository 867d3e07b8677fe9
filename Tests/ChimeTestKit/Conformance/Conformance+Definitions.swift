import ChimeCore
import ChimeSchedule

extension StoreConformance {
  static var definitionCases: [Case] {
    [
      Case("a reminder reads back with every field") { subject in
        let reminder = try fullSample("full")
        let plain = try sample("full")
        for (one, other) in zip(Mirror(reflecting: reminder).children, Mirror(reflecting: plain).children)
        where one.label != "id" {
          try expect("\(one.value)" != "\(other.value)", "the sample leaves \(one.label ?? "a field") at its default")
        }
        try await subject.write { try $0.upsert(reminder, next: at(60)) }
        try await subject.reopen()
        let record = try await subject.read { try $0.reminder(reminder.id) }
        try expect(record, is: ReminderRecord(reminder: reminder, next: at(60)), "the record")
      },
      Case("each enum of a reminder reads back") { subject in
        for rule in CatchUpRule.allCases {
          for pause in [Pause.none, .indefinitely, .until(at(9))] {
            for urgency in Urgency.allCases {
              for zone in [ZoneChoice.local, .named("UTC")] {
                var reminder = try sample("enums", generation: 1)
                reminder.catchUp = CatchUp(suspend: rule, downtime: rule)
                (reminder.pause, reminder.urgency, reminder.timezone) = (pause, urgency, zone)
                let wanted = reminder
                let found = try await subject.write { store in
                  try store.upsert(wanted, next: nil)
                  return try store.reminder(wanted.id)?.reminder
                }
                try expect(found, is: wanted, "the reminder")
              }
            }
          }
        }
      },
      Case("text of any length and script reads back byte for byte") { subject in
        let texts = [
          "", " ", "'", "\"; DROP TABLE reminder; --", "%_\\", "e\u{301}", "\u{202E}abc\u{202C}", "\u{5E9}\u{5DC}",
          "\u{1F469}\u{200D}\u{1F680}", String(repeating: "long ", count: 40_000), "a\tb\r\n",
        ]
        for (number, text) in texts.enumerated() {
          var reminder = try sample("t\(number)", title: text)
          reminder.body = text
          reminder.tags = [text]
          let wanted = reminder
          try await subject.write { try $0.upsert(wanted, next: nil) }
          let found = try await subject.read { try $0.reminder(wanted.id)?.reminder }
          try expect(found.map { Array($0.title.utf8) }, is: Array(text.utf8), "title \(number)")
          try expect(found, is: wanted, "reminder \(number)")
        }
      },
      Case("a new reminder cannot have an id in use") { subject in
        let id = ReminderID(rawValue: "aaaa")
        try await subject.write { try $0.upsert(sample("aaaa"), next: at(1)) }
        try await expect(.idTaken(id)) {
          try await subject.write { try $0.upsert(sample("aaaa", title: "Other"), next: at(2)) }
        }
        let record = try await subject.read { try $0.reminder(id) }
        try expect(record?.reminder.title, is: "Title of aaaa", "the title")
        try expect(record?.next, is: at(1), "the next time")
      },
      Case("a new reminder cannot have an id that the history contains") { subject in
        try await subject.write { store in
          try store.addFired("aaaa")
          try store.remove(ReminderID(rawValue: "aaaa"), now: at(20))
        }
        try await subject.reopen()
        try await expect(.idTaken(ReminderID(rawValue: "aaaa"))) {
          try await subject.write { try $0.upsert(sample("aaaa"), next: at(2)) }
        }
      },
      Case("replacing a reminder keeps its generation and snoozes, and sets its regular time") { subject in
        let record = try await subject.write { store in
          let id = try store.addFired("aaaa", next: at(100))
          var snoozed = try store.theOccurrence(id)
          snoozed.state = .snoozed(until: at(50))
          try store.update(snoozed, now: at(20))
          try store.upsert(sample("aaaa", title: "Changed", generation: 5), next: at(200))
          return try store.reminder(id.reminder)
        }
        try expect(record?.reminder.generation, is: 5, "the generation")
        try expect(record?.reminder.title, is: "Changed", "the title")
        try expect(record?.next, is: at(200), "the next time")
        try expect(record?.snoozedUntil, is: at(50), "the snooze's end")
        try expect(record?.last?.title, is: "Title of aaaa", "the title in the history")
        try expect(record?.open, is: 1, "the open occurrences")
        let due = try await subject.read { try $0.claimDue(now: at(1_000), limit: 10).map(\.dueAt) }
        try expect(due, is: [at(50), at(200)], "the due times")
      },
      Case("a reminder may have no next time") { subject in
        let (due, record) = try await subject.write { store in
          try store.upsert(sample("aaaa"), next: at(1))
          try store.upsert(sample("aaaa", generation: 1), next: nil)
          return (
            try store.claimDue(now: .latest, limit: 10).count, try store.reminder(ReminderID(rawValue: "aaaa"))
          )
        }
        try expect(due, is: 0, "the due times")
        try expect(record?.next, is: nil, "the next time")
      },
      Case("removal keeps the history, closes open occurrences and cancels pending deliveries") { subject in
        let id = try await subject.write { store in
          let id = try store.addFired("aaaa", next: at(100), queues: [desktop, team])
          try store.addFired("bbbb", next: at(100))
          let first = try store.allDeliveries().last?.id ?? DeliveryID(rawValue: "")
          try store.acknowledge(
            first, attempt: Attempt(number: 1, startedAt: at(11), took: .seconds(1), outcome: .delivered),
            state: .delivered(at: at(12)))
          return id
        }
        let wasThere = try await subject.write { try $0.remove(id.reminder, now: at(30)) }
        let again = try await subject.write { try $0.remove(id.reminder, now: at(31)) }
        try expect([wasThere, again], is: [true, false], "whether there was one")
        try await subject.reopen()
        try await subject.read { store in
          try expect(store.reminder(id.reminder), is: nil, "the reminder")
          try expect(store.ids(ReminderFilter()), is: ["bbbb"], "the listing")
          try expect(store.claimDue(now: .latest, limit: 10).map(\.reminder.id.rawValue), is: ["bbbb"], "what is due")
          let occurrence = try store.theOccurrence(id)
          try expect(occurrence.state, is: .dismissed, "the occurrence")
          try expect(occurrence.endedAt, is: at(30), "its end")
          let deliveries = try store.deliveries(DeliveryFilter(reminder: id.reminder), page: Page())
          try expect(deliveries.map(\.state), is: [.cancelled(at: at(30)), .delivered(at: at(12))], "its deliveries")
          try expect(store.attempts(of: deliveries[1].id).count, is: 1, "its attempts")
          try expect(
            store.occurrences(OccurrenceFilter(reminder: id.reminder), page: Page()), is: [occurrence], "its history")
          try expect(store.wakeups().outbox, is: [desktop: at(10)], "the pending deliveries of the other")
        }
      },
    ]
  }

  static var listingCases: [Case] {
    [
      Case("reminders are listed by next time, then id, those without one last, in pages") { subject in
        try await subject.write { store in
          for (id, next) in [("dddd", 30), ("cccc", nil), ("bbbb", 10), ("aaaa", nil), ("ffff", 10), ("eeee", 20)]
            as [(String, Int64?)]
          {
            try store.upsert(sample(id), next: next.map { at($0) })
          }
        }
        try await subject.read { store in
          let all = ["bbbb", "ffff", "eeee", "dddd", "aaaa", "cccc"]
          try expect(store.ids(ReminderFilter()), is: all, "all")
          for filter in [ReminderFilter(), ReminderFilter(text: "")] {
            for size in 1...7 {
              var (filter, listed): (ReminderFilter, [String]) = (filter, [])
              repeat {
                let page = try store.ids(filter, Page(limit: size))
                try expect(page, is: Array(all.dropFirst(listed.count).prefix(size)), "the next \(size)")
                listed += page
                filter.after = store.listedThrough
              } while filter.after != nil
              try expect(listed, is: all, "all in pages of \(size)")
            }
          }
          try expect(store.ids(ReminderFilter(), Page(limit: 0)), is: [], "an empty page")
          try expect(
            store.ids(ReminderFilter(dueFrom: at(10), dueBefore: at(30))), is: ["bbbb", "ffff", "eeee"], "a span")
          try expect(store.ids(ReminderFilter(includesFinished: false)), is: Array(all.prefix(4)), "the unfinished")
        }
      },
      Case("a snoozed reminder is listed at the end of its snooze") { subject in
        try await subject.write { store in
          try store.addFired("aaaa")
          try store.upsert(sample("bbbb"), next: at(20))
          try store.upsert(sample("cccc"), next: at(40))
          let id = OccurrenceID(reminder: ReminderID(rawValue: "aaaa"), scheduledAt: at(10))
          var occurrence = try store.theOccurrence(id)
          occurrence.state = .snoozed(until: at(30))
          try store.update(occurrence, now: at(12))
        }
        try await subject.read { store in
          try expect(store.ids(ReminderFilter()), is: ["bbbb", "aaaa", "cccc"], "all")
          try expect(store.ids(ReminderFilter(dueFrom: at(25), dueBefore: at(35))), is: ["aaaa"], "a span")
          try expect(
            [at(20), at(30), at(31), .latest].map { try store.dueCount(before: $0) }, is: [0, 1, 2, 3], "counts")
          try expect(
            store.ids(ReminderFilter(includesFinished: false), Page(limit: 2)), is: ["bbbb", "aaaa"], "a page")
        }
      },
      Case("filters take their text literally: no pattern, no SQL") { subject in
        let titles = [
          "aaaa": "100% sure", "bbbb": "a_b", "cccc": "it's", "dddd": "\u{5DE}\u{5D9}\u{5DD} water",
          "eeee": "back\\slash",
          "ffff": "WATER", "gggg": "1000 sure",
        ]
        try await subject.write { store in
          for (id, title) in titles.sorted(by: { $0.key < $1.key }) {
            var reminder = try sample(id, title: title, owner: id == "gggg" ? 2 : 1)
            reminder.tags = id == "aaaa" ? ["Health", "x%y"] : []
            try store.upsert(reminder, next: nil)
          }
        }
        try await subject.read { store in
          let searches: [(String, [String])] = [
            ("%", ["aaaa"]), ("_", ["bbbb"]), ("'", ["cccc"]), ("\\", ["eeee"]), ("water", ["dddd", "ffff"]),
            ("\u{5D9}", ["dddd"]), ("hEALTH", ["aaaa"]), ("AAA", ["aaaa"]), ("' OR 1=1 --", []), ("nothing", []),
            ("", titles.keys.sorted()), (String(repeating: "%", count: 100_000), []),
          ]
          for (text, wanted) in searches {
            try expect(store.ids(ReminderFilter(text: text)), is: wanted, "what has \(text.prefix(20))")
          }
          try expect(store.ids(ReminderFilter(tag: "Health")), is: ["aaaa"], "a tag")
          try expect(store.ids(ReminderFilter(tag: "health")), is: [], "a tag in another case")
          try expect(store.ids(ReminderFilter(tag: "x%y")), is: ["aaaa"], "a tag with a sign")
          try expect(store.ids(ReminderFilter(titles: ["WATER"])), is: ["ffff"], "a title")
          try expect(store.ids(ReminderFilter(titles: ["water"])), is: [], "a title in another case")
          try expect(
            store.ids(ReminderFilter(owner: 1, titles: ["none", "it's", "1000 sure", "WATER", "it's"])).sorted(),
            is: ["cccc", "ffff"], "the titles of an owner")
          try expect(store.ids(ReminderFilter(titles: [])), is: [], "no title")
          try expect(store.ids(ReminderFilter(idPrefix: "a")), is: ["aaaa"], "a prefix")
          try expect(store.ids(ReminderFilter(idPrefix: "%")), is: [], "a prefix that is a sign")
          try expect(store.ids(ReminderFilter(idPrefix: "")).count, is: 7, "the empty prefix")
          try expect(store.ids(ReminderFilter(owner: 2)), is: ["gggg"], "an owner")
          try expect(store.ids(ReminderFilter(owner: 1, text: "sure")), is: ["aaaa"], "an owner and a text")
        }
      },
      Case("all reminders can be read in parts, whatever changes meanwhile") { subject in
        try await subject.write { store in
          for (number, id) in ["dddd", "aaaa", "cccc", "bbbb", "eeee"].enumerated() {
            var reminder = try sample(id)
            if number % 2 == 1 { reminder.timezone = .named("UTC") }
            if id == "cccc" {
              reminder.schedule = try Schedule(canonical: "daily at 08:30 except on holidays")
            }
            try store.upsert(reminder, next: number == 0 ? nil : at(10))
          }
        }
        @Sendable func pieces(_ selection: ReminderSelection, of size: Int) async throws -> [[String]] {
          var pieces: [[String]] = []
          var last: ReminderID?
          repeat {
            let ids = try await subject.read { [last] in try $0.reminderIDs(selection, after: last, limit: size) }
            pieces.append(ids.map(\.rawValue))
            last = ids.last
          } while last != nil
          return pieces
        }
        try expect(await pieces(.all, of: 2), is: [["dddd", "aaaa"], ["cccc", "bbbb"], ["eeee"], []], "by two")
        try expect(await pieces(.all, of: 5), is: [["dddd", "aaaa", "cccc", "bbbb", "eeee"], []], "all at once")
        try expect(await pieces(.zone(.named("UTC")), of: 1), is: [["aaaa"], ["bbbb"], []], "of a zone")
        try expect(await pieces(.withExceptions, of: 9), is: [["cccc"], []], "those with exceptions")
        let rest = try await subject.write { store in
          try store.remove(ReminderID(rawValue: "aaaa"), now: at(1))
          return try store.reminderIDs(.all, after: ReminderID(rawValue: "aaaa"), limit: 2).map(\.rawValue)
        }
        try expect(rest, is: ["cccc", "bbbb"], "after one that is gone")
      },
      Case("a reminder with an open occurrence is not finished") { subject in
        let id = try await subject.write { try $0.addFired("aaaa") }
        let ids = try await subject.read { try $0.ids(ReminderFilter(includesFinished: false)) }
        try expect(ids, is: ["aaaa"], "while open")
        let later = try await subject.write { store in
          var done = try store.theOccurrence(id)
          done.state = .done
          try store.update(done, now: at(20))
          return try store.ids(ReminderFilter(includesFinished: false))
        }
        try expect(later, is: [], "once done")
      },
    ]
  }
}
