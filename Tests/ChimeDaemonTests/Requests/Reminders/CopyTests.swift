import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// `chime copy`: a new reminder like another, without the other's state.
@Suite(.serialized)
struct CopyTests {
  private typealias Reminders = RemindersInterface

  /// Stores a reminder from long ago.
  @discardableResult
  private static func keep(
    _ when: String, in daemon: TestDaemon, _ change: (inout Reminder) -> Void = { _ in }
  ) async throws -> Reminder {
    let made = SystemClock.now - .days(3)
    let schedule = try Schedule(canonical: when)
    var reminder = Reminder(
      id: ReminderID(rawValue: "tea"), owner: getuid(), title: "Tea", schedule: schedule, createdAt: made)
    change(&reminder)
    try await daemon.store.write { [reminder] in try $0.upsert(reminder, next: nil, since: SystemClock.now) }
    return reminder
  }

  @Test(arguments: [false, true]) func copyEqualsTheOriginalExceptForTheChanges(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      let tea = try daemon.call(
        Reminders.Add(
          reminder: .init(
            title: "Tea", when: "daily at 16:00", body: "green", tags: ["kitchen"], urgency: .low, location: "Kitchen",
            nag: .init(every: "PT5M"), snooze: ["PT3M"]))
      ).reminder
      _ = try daemon.call(Reminders.Pause(id: tea.id))
      _ = try daemon.call(Reminders.Skip(id: tea.id, count: 2))
      let reply = try daemon.call(
        Reminders.Copy(id: "Tea", change: .init(title: "Coffee", body: "", location: "Office", reset: [.nag])))
      let copy = reply.reminder
      #expect(copy.id != tea.id && copy.title == "Coffee" && copy.location == "Office" && copy.body == nil)
      #expect(copy.when == tea.when && copy.tags == tea.tags && copy.urgency == .low && copy.snooze == ["PT3M"])
      #expect(copy.nag == nil && copy.state == .active && copy.skipNext == 0 && copy.next == tea.next)
      // The original is unchanged, and undo removes only the copy.
      #expect(try daemon.reminder(tea.id).skipNext == 2)
      #expect(try daemon.undo().undone.kind == "reminderAdded")
      #expect(try daemon.titles() == ["Tea"])
      #expect(try daemon.reminder(tea.id).location == "Kitchen")
    }
  }

  /// The copy keeps rhythm, zone and last completion, but not the set or the pause.
  @Test(arguments: ["every 90m starting 2020-01-01 00:07", "every 30 days after done at 09:00 starting 2020-01-01"])
  func copyKeepsTheRhythmOfTheOriginal(_ when: String) async throws {
    try await TestDaemon.run { daemon in
      let tea = try await Self.keep(when, in: daemon) {
        $0.timezone = .named("Asia/Tokyo")
        $0.lastDone = $0.createdAt
        $0.set = "home"
        $0.pause = .indefinitely
      }
      let copy = try daemon.call(Reminders.Copy(id: "tea", change: .init(title: "Stretch"))).reminder
      let tokyo = try #require(ZoneCatalog().zone(for: tea.timezone))
      let next = try #require(tea.timetable(in: tokyo).next(after: SystemClock.now))
      #expect(try copy.next.map { try RFC3339.parse($0.at) } == next && copy.timezone == "Asia/Tokyo")
      #expect(copy.set == nil && copy.state == .active)
    }
  }

  /// A fired one-off has no time for the copy.
  @Test func copyOfAFiredOneOffNeedsATime() async throws {
    try await TestDaemon.run { daemon in
      try await Self.keep("at 2020-01-01 09:00", in: daemon)
      let refusal = daemon.refusal(Reminders.Copy(id: "Tea", change: .init(title: "Again")))
      #expect(refusal?.name.hasSuffix("InvalidValue") == true && refusal?.text("field") == "when")
      #expect(refusal?.text("message").contains("chime copy tea --when") == true, "\(refusal as Any)")
      let copy = try daemon.call(Reminders.Copy(id: "Tea", change: .init(when: "in 4m"))).reminder
      #expect(copy.title == "Tea" && copy.state == .active)
      // A given time in the past is the usual error.
      let past = daemon.refusal(Reminders.Copy(id: "tea", change: .init(when: "at 2020-01-02 09:00")))
      #expect(past?.text("message").contains("--when") == false, "\(past as Any)")
    }
  }

  @Test func copyOfAnExpectationNeedsItsOwnTitle() async throws {
    try await TestDaemon.run { daemon in
      let job = try daemon.call(
        Reminders.Add(reminder: .init(title: "backup", when: "daily at 3:00", within: "PT2H"))
      ).reminder
      let refusal = daemon.refusal(Reminders.Copy(id: "backup", change: .init(when: "daily at 4:00")))
      #expect(refusal?.text("field") == "title" && refusal?.text("message").contains("\(job.id) --title") == true)
      let copy = try daemon.call(Reminders.Copy(id: "backup", change: .init(title: "mirror"))).reminder
      #expect(copy.within == "PT2H" && copy.urgency == .critical)
      _ = try daemon.call(ExpectationsInterface.Ping(id: "backup"))
      #expect(try daemon.call(ExpectationsInterface.Get(id: "mirror")).pings.isEmpty)
      // Without expecting pings, it may have the same name.
      _ = try daemon.call(Reminders.Copy(id: job.id, change: .init(reset: [.within])))
    }
  }

  @Test func copyKeepsTheTrackerAndTheFollowedReminder() async throws {
    try await TestDaemon.run { daemon in
      _ = try daemon.water()
      let tea = try daemon.call(
        Reminders.Add(reminder: .init(title: "Tea", when: "daily at 16:00", tracker: .init(tracker: "water")))
      ).reminder
      let drink = try daemon.call(Reminders.Copy(id: tea.id, change: .init(title: "Water", when: "daily at 9:00")))
        .reminder
      #expect(drink.tracker == tea.tracker)
      _ = try daemon.call(Reminders.Add(reminder: .init(title: "Wash up", when: "30m after done of Tea")))
      let copy = try daemon.call(
        Reminders.Copy(id: "Wash up", change: .init(title: "Dry", onlyIfDone: drink.id))
      ).reminder
      #expect(copy.follows?.reminder == tea.id && copy.onlyIfDone?.reminder == drink.id && copy.next == nil)
    }
  }

  @Test func copyIsMadeOncePerToken() async throws {
    try await TestDaemon.run { daemon in
      let tea = try daemon.remind("Water the plants", "daily at 16:00")
      let request = Reminders.Copy(id: tea.id, change: .init(title: "Twice"), token: "t")
      let (first, second) = (try daemon.call(request), try daemon.call(request))
      #expect(first == second)
      #expect(try daemon.titles().sorted() == ["Twice", "Water the plants"])
      // The token belongs to this call; another kind of call has no answer of its own there.
      let drafts = [Reminders.Draft(title: "Third", when: "daily at 9:00")]
      for other in [
        daemon.refusal(Reminders.AddMany(reminders: drafts, token: "t")),
        daemon.refusal(Reminders.Import(text: "0 9 * * * true\n", format: .crontab, token: "t")),
      ] {
        #expect(other?.name.hasSuffix("Conflict") == true && other?.description.contains("token") == true)
      }
      #expect(try daemon.titles().count == 2)
      let refusal = daemon.refusal(Reminders.Copy(id: "Water the plant", change: .init(title: "x")))
      #expect(refusal?.name.hasSuffix("NotFound") == true && refusal?.description.contains("Water the plants") == true)
      #expect(daemon.refusal(Reminders.Copy(id: tea.id, change: .init(title: "")))?.text("field") == "title")
    }
  }
}
