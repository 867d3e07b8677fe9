import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeDaemon

/// The description of an installed pack matches its reminders, texts, times and the user's streak.
@Suite struct PackDescriptionTests {
  typealias Wired = TrackersInterface

  private func install(
    _ daemon: TestDaemon, _ name: String, _ choices: Wired.PackChoices = .init(), dryRun: Bool = false
  ) throws -> Wired.Pack {
    let reply: Wired.InstallPack.Reply = try daemon.call(
      Wired.InstallPack(name: name, choices: choices, dryRun: dryRun))
    return reply.pack
  }

  private func pack(_ daemon: TestDaemon, _ name: String) throws -> Wired.Pack {
    let reply: Wired.Packs.Reply = try daemon.call(Wired.Packs())
    return try #require(reply.packs.first { $0.id == name })
  }

  @Test(arguments: [true, false]) func declinedReminderIsReported(_ isDry: Bool) async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let none = try install(daemon, "hydration", .init(reminders: ["drink": false]), dryRun: isDry)
      #expect(none.reminders.map(\.id) == [nil])
      let own = try install(daemon, "hydration", .init(when: ["drink": "every 2h from 9:00 to 21:00"]), dryRun: isDry)
      #expect(own.reminders.first?.id != nil)
      #expect(own.reminders.first?.when == "every 2h from 09:00 to 21:00")
    }
  }

  @Test func packListsItsRemindersWithTheirCurrentSchedule() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let id = try #require(try install(daemon, "hydration").reminders.first?.id)
      #expect(try pack(daemon, "hydration").reminders.first?.when == "every 90m from 8:00 to 22:00")
      let _: RemindersInterface.Update.Reply = try daemon.call(
        RemindersInterface.Update(id: id, change: .init(when: "every 2h from 9:00 to 21:00")))
      #expect(try pack(daemon, "hydration").reminders.first?.when == "every 2h from 09:00 to 21:00")
      let _: RemindersInterface.Remove.Reply = try daemon.call(
        RemindersInterface.Remove(id: id))
      #expect(try pack(daemon, "hydration").reminders.first?.id == nil)
    }
  }

  /// Without a location the sun cannot be followed, and the wizard must not promise it.
  @Test func packNamesTheTimeThatWillBeSet() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let found = try pack(daemon, "adkhar")
      #expect(found.reminders.map(\.when) == ["daily at 6:30", "daily at 13:00", "daily at 17:30"])
    }
    let atHome: (inout Configuration) -> Void = { ($0.latitude, $0.longitude) = (50.0875, 14.4213) }
    try await TestDaemon.run(inMemory: true, atHome) { daemon in
      let found = try pack(daemon, "adkhar")
      #expect(found.reminders.first?.when == "sunrise - 30m")
    }
  }

  @Test func placeholdersAreFilledInWhereverTextsAreRead() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let pack = try install(daemon, "goal", .init(titles: ["goal": "Learn"], reminders: ["nudge": true]))
      let id = try #require(pack.reminders.first?.id)
      let title = "Learn: still to do today"
      let body = "Current streak: 0. Longest: 0."
      let list: RemindersInterface.List.Reply = try daemon.call(
        RemindersInterface.List())
      #expect(list.reminders.map(\.title) == [title])
      // By its beginning, and in full.
      for name in ["Learn", "learn: still to do today", id] {
        let found: RemindersInterface.Get.Reply = try daemon.call(
          RemindersInterface.Get(id: name))
        #expect(found.reminder.id == id && found.reminder.title == title && found.reminder.body == body, "\(name)")
      }
      let next: OccurrencesInterface.Upcoming.Reply = try daemon.call(
        OccurrencesInterface.Upcoming())
      #expect(next.upcoming.map(\.title) == [title])
      let status: DaemonInterface.Status.Reply = try daemon.call(DaemonInterface.Status())
      #expect(status.status.nextTitle == title)
      let changed: RemindersInterface.Update.Reply = try daemon.call(
        RemindersInterface.Update(id: "Learn", change: .init(when: "daily at 19:00")))
      #expect(changed.reminder.title == title)
      // The stored title keeps its placeholder.
      let stored = try await daemon.store.read { try $0.reminder(ReminderID(rawValue: id))?.reminder.title }
      #expect(stored == "{{tracker}}: still to do today")
      let fired: OccurrencesInterface.Fire.Reply = try daemon.call(
        OccurrencesInterface.Fire(id: "Learn"))
      #expect(fired.occurrence.title == title)
    }
  }

  /// Any practice continues the user's streak, even if its own streak is broken.
  @Test func usersStreakContinuesWithAnyPractice() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      _ = try install(daemon, "adkhar")
      for (days, practice) in zip([4, 3, 2, 1], ["morning", "evening", "anytime", "morning"]) {
        try daemon.log(practice, at: TestDaemon.noon(daysAgo: days))
      }
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      #expect(day.view.progress.map(\.streak.length).max() == 1)
      #expect(day.view.streaks.map(\.pack) == ["adkhar"] && day.view.streaks.first?.streak.length == 4)
      let all: Wired.Achievements.Reply = try daemon.call(Wired.Achievements())
      #expect(all.streaks == day.view.streaks)
      #expect(all.achievements.first { $0.id == "week_warrior" }?.reached == 4)
      let stats: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "morning"))
      #expect(stats.statistics.packStreak?.length == 4)
      // A pack with one tracker has no additional streak.
      _ = try install(daemon, "goal")
      let goal: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "goal"))
      #expect(goal.statistics.packStreak == nil)
    }
  }

  @Test func partlyDoneDayIsMarkedAsBegun() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try daemon.water()
      try daemon.log("water", 500)
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      let mark = try #require(day.view.week.last)
      #expect(mark.met == 0 && mark.due == 1 && mark.started == 1)
      try daemon.log("water", 2_000)
      let done: Wired.Day.Reply = try daemon.call(Wired.Day())
      #expect(done.view.week.last?.met == 1 && done.view.week.last?.started == 0)
    }
  }
}
