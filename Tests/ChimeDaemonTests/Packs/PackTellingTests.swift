import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeDaemon

/// The description of an installed pack matches its reminders, texts, times and the user's streak.
@Suite struct PackTellingTests {
  typealias Wired = TrackersInterface

  private func install(
    _ house: TrackerHouse, _ name: String, _ choices: Wired.PackChoices = .init(), dryRun: Bool = false
  ) throws -> Wired.Pack {
    let reply: Wired.InstallPack.Reply = try house.call(
      Wired.InstallPack(name: name, choices: choices, dryRun: dryRun))
    return reply.pack
  }

  private func pack(_ house: TrackerHouse, _ name: String) throws -> Wired.Pack {
    let reply: Wired.Packs.Reply = try house.call(Wired.Packs())
    return try #require(reply.packs.first { $0.id == name })
  }

  @Test(arguments: [true, false]) func aReminderThatIsLeftOutIsToldSo(_ isDry: Bool) async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      let none = try install(house, "hydration", .init(reminders: ["drink": false]), dryRun: isDry)
      #expect(none.reminders.map(\.id) == [nil])
      let own = try install(house, "hydration", .init(when: ["drink": "every 2h from 9:00 to 21:00"]), dryRun: isDry)
      #expect(own.reminders.first?.id != nil)
      #expect(own.reminders.first?.when == "every 2h from 09:00 to 21:00")
    }
  }

  @Test func aPackTellsItsRemindersAsTheyAre() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      let id = try #require(try install(house, "hydration").reminders.first?.id)
      #expect(try pack(house, "hydration").reminders.first?.when == "every 90m from 8:00 to 22:00")
      let _: RemindersInterface.Update.Reply = try house.call(
        RemindersInterface.Update(id: id, change: .init(when: "every 2h from 9:00 to 21:00")))
      #expect(try pack(house, "hydration").reminders.first?.when == "every 2h from 09:00 to 21:00")
      let _: RemindersInterface.Remove.Reply = try house.call(
        RemindersInterface.Remove(id: id))
      #expect(try pack(house, "hydration").reminders.first?.id == nil)
    }
  }

  /// Without a location the sun cannot be followed, and the wizard must not promise it.
  @Test func theTimeThatWillBeSetIsNamed() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      let found = try pack(house, "adkhar")
      #expect(found.reminders.map(\.when) == ["daily at 6:30", "daily at 13:00", "daily at 17:30"])
    }
    let atHome: (inout Configuration) -> Void = { ($0.latitude, $0.longitude) = (50.0875, 14.4213) }
    try await TrackerHouse.live(inMemory: true, atHome) { house in
      let found = try pack(house, "adkhar")
      #expect(found.reminders.first?.when == "sunrise - 30m")
    }
  }

  @Test func textsAreFilledInWhereverTheyAreRead() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      let pack = try install(house, "goal", .init(titles: ["goal": "Learn"], reminders: ["nudge": true]))
      let id = try #require(pack.reminders.first?.id)
      let title = "Learn: still to do today"
      let body = "Current streak: 0. Longest: 0."
      let list: RemindersInterface.List.Reply = try house.call(
        RemindersInterface.List())
      #expect(list.reminders.map(\.title) == [title])
      // By its beginning, and in full.
      for name in ["Learn", "learn: still to do today", id] {
        let found: RemindersInterface.Get.Reply = try house.call(
          RemindersInterface.Get(id: name))
        #expect(found.reminder.id == id && found.reminder.title == title && found.reminder.body == body, "\(name)")
      }
      let next: OccurrencesInterface.Upcoming.Reply = try house.call(
        OccurrencesInterface.Upcoming())
      #expect(next.upcoming.map(\.title) == [title])
      let status: DaemonInterface.Status.Reply = try house.call(DaemonInterface.Status())
      #expect(status.status.nextTitle == title)
      let changed: RemindersInterface.Update.Reply = try house.call(
        RemindersInterface.Update(id: "Learn", change: .init(when: "daily at 19:00")))
      #expect(changed.reminder.title == title)
      // The stored title keeps its placeholder.
      let stored = try await house.store.read { try $0.reminder(ReminderID(rawValue: id))?.reminder.title }
      #expect(stored == "{{tracker}}: still to do today")
      let fired: OccurrencesInterface.Fire.Reply = try house.call(
        OccurrencesInterface.Fire(id: "Learn"))
      #expect(fired.occurrence.title == title)
    }
  }

  /// Any practice continues the user's streak, even if its own streak is broken.
  @Test func theStreakOfThePersonStandsBesideThoseOfThePractices() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      _ = try install(house, "adkhar")
      for (days, practice) in zip([4, 3, 2, 1], ["morning", "evening", "anytime", "morning"]) {
        try house.log(practice, at: TrackerHouse.noon(daysAgo: days))
      }
      let day: Wired.Day.Reply = try house.call(Wired.Day())
      #expect(day.view.standings.map(\.streak.length).max() == 1)
      #expect(day.view.streaks.map(\.pack) == ["adkhar"] && day.view.streaks.first?.streak.length == 4)
      let all: Wired.Achievements.Reply = try house.call(Wired.Achievements())
      #expect(all.streaks == day.view.streaks)
      #expect(all.achievements.first { $0.id == "week_warrior" }?.reached == 4)
      let stats: Wired.Stats.Reply = try house.call(Wired.Stats(tracker: "morning"))
      #expect(stats.statistics.packStreak?.length == 4)
      // A pack with one tracker has no additional streak.
      _ = try install(house, "goal")
      let goal: Wired.Stats.Reply = try house.call(Wired.Stats(tracker: "goal"))
      #expect(goal.statistics.packStreak == nil)
    }
  }

  @Test func aDayThatWasBegunIsMarkedAsOne() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      try house.water()
      try house.log("water", 500)
      let day: Wired.Day.Reply = try house.call(Wired.Day())
      let mark = try #require(day.view.week.last)
      #expect(mark.met == 0 && mark.due == 1 && mark.begun == 1)
      try house.log("water", 2_000)
      let done: Wired.Day.Reply = try house.call(Wired.Day())
      #expect(done.view.week.last?.met == 1 && done.view.week.last?.begun == 0)
    }
  }
}
