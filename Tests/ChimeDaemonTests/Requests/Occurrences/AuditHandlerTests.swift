import ChimeControl
import ChimeCore
import ChimeSchedule
import Glibc
import Testing

@testable import ChimeDaemon

/// An audit that exceeds one reply.
@Suite(.serialized) struct AuditHandlerTests {
  @Test func nextPageContinuesAFullAudit() async throws {
    try await TestDaemon.run(inMemory: true) { _ in
    } _: { daemon in
      let now = Instant(seconds: SystemClock.now.seconds)
      // The first reminder alone has more times than fit into a reply, without any records.
      try await daemon.store.write { store in
        for (id, schedule) in [("aaaa", "calendar: *:*:*"), ("bbbb", "calendar: *:0"), ("cccc", "calendar: *:0")] {
          let reminder = Reminder(
            id: ReminderID(rawValue: id), owner: getuid(), title: id, schedule: try Schedule(canonical: schedule),
            createdAt: now - .hours(20))
          try store.upsert(reminder, next: now + .hours(1), since: now - .hours(20))
        }
      }
      var (names, cursor, answers): ([String], String?, Int) = ([], nil, 0)
      repeat {
        let reply: OccurrencesInterface.Audit.Reply = try daemon.call(OccurrencesInterface.Audit(cursor: cursor))
        names += reply.audits.map(\.reminder)
        cursor = reply.cursor
        answers += 1
      } while cursor != nil && answers < 9
      #expect(names == ["aaaa", "bbbb", "cccc"])
      #expect(answers == 2)
    }
  }
}
