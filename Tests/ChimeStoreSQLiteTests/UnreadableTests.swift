import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import Testing

/// Definitions that this program cannot read, such as those of a later version.
struct UnreadableTests {
  @Test func unreadableReminderBlocksNoOther() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let now = Instant(seconds: 1_774_828_800)
    let store = try SQLiteStore.open(path: path)
    try await store.write { transaction in
      for id in ["aaaa", "bbbb"] {
        let reminder = Reminder(
          id: ReminderID(rawValue: id), owner: 0, title: id, schedule: try Schedule(canonical: "daily at 08:30"),
          createdAt: now)
        try transaction.upsert(reminder, next: now)
      }
    }
    await store.close()
    try Raw.run(path, "UPDATE reminder SET schedule = 'on the twelfth of never' WHERE title = 'aaaa'")

    let again = try SQLiteStore.open(path: path)
    let (claimed, unreadable, next) = try await again.write { transaction in
      let claimed = try transaction.claimDue(now: now, limit: 10).map(\.reminder.id.rawValue)
      return (claimed, transaction.unreadable.map(\.id.rawValue), try transaction.wakeups().nextDue)
    }
    #expect(claimed == ["bbbb"])
    #expect(unreadable == ["aaaa"])
    #expect(next == now, "the readable one is still to be recorded")
    let (later, due) = try await again.write { transaction in
      (
        try transaction.claimDue(now: now, limit: 10).count,
        try transaction.remove(ReminderID(rawValue: "bbbb"), now: now)
      )
    }
    #expect(later == 1 && due)
    #expect(try await again.write { try $0.wakeups().nextDue } == now + .hours(1))
    await again.close()
  }

  /// A postponed reminder is evaluated later, but keeps its scheduled time: once readable, it fires as that occurrence.
  @Test func deferredUnreadableReminderKeepsItsScheduledTimes() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let now = Instant(seconds: 1_774_828_800)
    let store = try SQLiteStore.open(path: path)
    try await store.write { transaction in
      // Due on the minute; ten minutes late because of its jitter; and not yet due, but with a due snooze.
      for (id, next, dueAt) in [
        ("aaaa", now, now), ("bbbb", now - .minutes(10), now), ("cccc", now + .minutes(30), now + .minutes(40)),
      ] {
        let reminder = Reminder(
          id: ReminderID(rawValue: id), owner: 0, title: id, schedule: try Schedule(canonical: "daily at 08:30"),
          createdAt: now)
        try transaction.upsert(reminder, next: next, nextDueAt: dueAt)
      }
    }
    await store.close()
    let snoozed = now - .days(1)
    try Raw.run(
      path,
      """
      INSERT INTO due (reminder, snooze_of, next_at)
        SELECT key, \(snoozed.milliseconds), \(now.milliseconds - 1) FROM reminder WHERE title = 'cccc';
      UPDATE reminder SET schedule = 'on the twelfth of never'
      """)

    let unreadable = try SQLiteStore.open(path: path)
    try await unreadable.write { transaction in
      let claimed = try transaction.claimDue(now: now, limit: 10)
      #expect(claimed.isEmpty && transaction.unreadable.count == 3)
      let claimedLater = try transaction.claimDue(now: now + .minutes(39), limit: 10)
      #expect(claimedLater.isEmpty)
      #expect(transaction.unreadable.isEmpty, "none is evaluated again within the hour")
      #expect(try transaction.wakeups().nextDue == now + .minutes(40), "what was not due stays")
    }
    await unreadable.close()
    try Raw.run(path, "UPDATE reminder SET schedule = 'daily at 08:30'")

    let again = try SQLiteStore.open(path: path)
    let due = try await again.write { try $0.claimDue(now: now + .hours(1), limit: 10) }
    let kept = due.map { due in
      "\(due.reminder.id) \((due.scheduledAt - now).rawValue / 1_000) \((due.dueAt - now).rawValue / 1_000) \(due.isRegular)"
    }
    #expect(
      kept
        == ["cccc 1800 2400 true", "aaaa 0 3600 true", "bbbb -600 3600 true", "cccc -86400 3600 false"])
    await again.close()
  }

  @Test func unreadableReminderIsSkippedInListingsAndRemovable() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let now = Instant(seconds: 1_774_828_800)
    let store = try SQLiteStore.open(path: path)
    try await store.write { transaction in
      for (index, id) in ["aaaa", "bbbb", "cccc", "dddd"].enumerated() {
        let reminder = Reminder(
          id: ReminderID(rawValue: id), owner: 7, title: id, schedule: try Schedule(canonical: "daily at 08:30"),
          createdAt: now)
        try transaction.upsert(reminder, next: now + .seconds(Int64(index)))
      }
    }
    await store.close()
    try Raw.run(path, "UPDATE reminder SET definition = '{' WHERE title IN ('aaaa', 'bbbb')")

    let again = try SQLiteStore.open(path: path)
    try await again.read { transaction in
      let ids = try transaction.reminders(ReminderFilter(), page: Page()).map(\.reminder.id.rawValue)
      #expect(ids == ["cccc", "dddd"])
      #expect(transaction.unreadable.map(\.id.rawValue) == ["aaaa", "bbbb"])
      #expect(transaction.unreadable.map(\.owner) == [7, 7])
      #expect(transaction.unreadable[0].reason.contains("the definition of reminder aaaa cannot be read"))
      // They count in a page nevertheless, so that a list continues after them.
      #expect(try transaction.reminders(ReminderFilter(), page: Page(limit: 1)).isEmpty)
      #expect(transaction.unreadable.map(\.id.rawValue) == ["aaaa"])
      #expect(try transaction.firstComing(owner: 7)?.reminder.id.rawValue == "cccc")
      let all = try transaction.reminderIDs(.all, after: nil, limit: 10)
      #expect(all.map(\.rawValue) == ["aaaa", "bbbb", "cccc", "dddd"])
      #expect(try all.compactMap(transaction.readableReminder).map(\.reminder.id.rawValue) == ids)
      #expect(throws: StoreFailure.self) { try transaction.reminder(ReminderID(rawValue: "aaaa")) }
      #expect(transaction.unreadable.map(\.title) == ["aaaa"])
      #expect(try transaction.reminder(ReminderID(rawValue: "cccc")) != nil)
      #expect(transaction.unreadable.isEmpty)
    }
    #expect(try await again.write { try $0.remove(ReminderID(rawValue: "aaaa"), now: now) })
    await again.close()
  }
}
