import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeDaemon

/// `io.chime.Trackers.StartOver` removes everything of one user at once, and nothing of others.
@Suite(.serialized)
struct StartOverTests {
  private typealias Wired = TrackersInterface
  private typealias Reminders = RemindersInterface

  @Test(arguments: [false, true]) func startOverRemovesAllAndUndoRestoresAllButTheHistory(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      try daemon.water()
      try daemon.log("water", 500)
      let _: Wired.InstallPack.Reply = try daemon.call(Wired.InstallPack(name: "weight"))
      let tea = try daemon.call(Reminders.Add(reminder: .init(title: "Tea", when: "daily at 16:00"))).reminder
      let _: OccurrencesInterface.Fire.Reply = try daemon.call(OccurrencesInterface.Fire(id: tea.id))
      let _: EndpointsInterface.Put.Reply = try daemon.call(
        EndpointsInterface.Put(name: "phone", url: "https://example.org", newSecret: .hmac))
      // Another user's reminder, which stays.
      let other = Reminder(
        id: ReminderID(rawValue: "zzzz"), owner: 4_711, title: "Other",
        schedule: try Schedule(canonical: "daily at 09:00"),
        createdAt: Instant(seconds: 1))
      try await daemon.store.write { try $0.upsert(other, next: Instant(seconds: 4_000_000_000)) }
      let dry = try daemon.call(Wired.StartOver(dryRun: true))
      #expect(dry.entries == 1 && dry.packs == 1 && dry.endpoints == 1 && dry.trackers == 2)
      let backup = try daemon.backup()
      #expect(!backup.isEmpty)
      let reply = try daemon.call(Wired.StartOver())
      #expect(reply == dry)
      let left = try await daemon.store.read { store in
        [
          try store.reminders(ReminderFilter(owner: getuid()), page: Page(limit: 10)).count,
          try store.occurrences(OccurrenceFilter(owner: getuid()), page: Page(limit: 10)).count,
          try store.trackers(owner: getuid()).count, try store.packs(owner: getuid()).count,
          try store.endpoints(owner: getuid()).count,
        ]
      }
      #expect(left == [0, 0, 0, 0, 0])
      #expect(try await daemon.store.read { try $0.reminder(ReminderID(rawValue: "zzzz")) } != nil)
      let empty = try daemon.call(Wired.StartOver(dryRun: true))
      #expect(empty == Wired.StartOver.Reply(reminders: 0, trackers: 0, entries: 0, packs: 0, endpoints: 0))
      // It is one change, and is undone as one.
      let undone = try daemon.call(Wired.Undo())
      #expect(undone.undone.kind == "startedOver" && undone.notes == nil)
      let again = try daemon.call(Wired.StartOver(dryRun: true))
      #expect(again == dry)
      let secrets = await daemon.loop.secrets
      #expect(
        !secrets.read(DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))).sheet.secrets.isEmpty)
      #expect(
        try daemon.call(Reminders.Get(id: tea.id)).reminder.title == "Tea")
      // The earlier backup restores the same.
      let _: Wired.StartOver.Reply = try daemon.call(Wired.StartOver())
      try daemon.upload(backup, as: "before")
      let restored = try daemon.call(Wired.Restore(upload: "before"))
      #expect(restored.contents?.entries == 1 && restored.contents?.packs == 1)
    }
  }
}
