import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeDaemon

/// `chime undo` of reminders, occurrences, endpoints and entries, in the order of the changes.
@Suite(.serialized)
struct ReminderUndoTests {
  private typealias Wired = TrackersInterface
  private typealias Reminders = RemindersInterface
  private typealias Occurrences = OccurrencesInterface
  private typealias Endpoints = EndpointsInterface

  @Test(arguments: [false, true]) func undoRestoresTheLastChangeFirst(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      try daemon.water()
      try daemon.log("water", 500)
      let tea = try daemon.remind("Tea", "daily at 16:00", tags: ["kitchen"], body: "green")
      let other = try daemon.remind("Bins", "weekly on mon at 07:00")
      let _: Reminders.Remove.Reply = try daemon.call(Reminders.Remove(id: tea.id))
      // A dry run reports the change without undoing it.
      let dry: Wired.Undo.Reply = try daemon.call(Wired.Undo(dryRun: true))
      #expect(dry.undone.kind == "reminderRemoved" && dry.undone.subject == "Tea" && dry.later == nil)
      #expect(try daemon.titles() == ["Bins"])
      let undone = try daemon.undo()
      #expect(undone.undone == dry.undone && undone.notes == nil)
      let back = try daemon.reminder(tea.id)
      #expect(back == tea)
      // Then the earlier changes, one after another.
      #expect(try daemon.undo().undone.kind == "reminderAdded")
      #expect(try daemon.titles() == ["Tea"])
      #expect(daemon.refusal(Reminders.Get(id: other.id)) != nil)
      #expect(try daemon.undo().undone.subject == "Tea")
      #expect(try daemon.titles().isEmpty)
      #expect(try daemon.undo().undone.kind == "logged")
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "water"))
      #expect(entries.total == 0)
    }
  }

  @Test func undoRevertsEditsPausesAndSkips() async throws {
    try await TestDaemon.run { daemon in
      let tea = try daemon.remind("Tea", "daily at 16:00")
      let _: Reminders.Update.Reply = try daemon.call(
        Reminders.Update(id: tea.id, change: .init(title: "Coffee", when: "daily at 08:00")))
      let _: Reminders.Pause.Reply = try daemon.call(Reminders.Pause(id: tea.id))
      let _: Reminders.Skip.Reply = try daemon.call(Reminders.Skip(id: tea.id, count: 2))
      let kinds = try daemon.changes().map(\.kind)
      #expect(kinds == ["reminderSkipped", "reminderPaused", "reminderEdited", "reminderAdded"])
      _ = try daemon.undo()
      #expect(try daemon.reminder(tea.id).skipNext == 0)
      _ = try daemon.undo()
      #expect(try daemon.reminder(tea.id).state != .paused)
      // A change without effect is not recorded.
      let _: Reminders.Resume.Reply = try daemon.call(Reminders.Resume(id: tea.id))
      let edited = try daemon.undo()
      #expect(edited.undone.kind == "reminderEdited" && edited.undone.subject == "Tea")
      #expect(try daemon.reminder(tea.id) == tea)
    }
  }

  @Test(arguments: [false, true]) func undoRevertsAnswersAndMoves(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      let tea = try daemon.remind("Tea", "daily at 16:00")
      let fired: Occurrences.Fire.Reply = try daemon.call(Occurrences.Fire(id: tea.id))
      let id = fired.occurrence.id
      // A manual firing cannot be undone, which is reported before an older change is offered.
      let dry: Wired.Undo.Reply = try daemon.call(Wired.Undo(dryRun: true))
      #expect(dry.undone.kind == "reminderAdded" && dry.later?.kind == "fired" && dry.later?.subject == "Tea")
      let _: Occurrences.Snooze.Reply = try daemon.call(Occurrences.Snooze(id: id, length: "PT10M"))
      let _: Occurrences.Done.Reply = try daemon.call(Occurrences.Done(id: id))
      #expect(try daemon.undo().undone.kind == "reminderDone")
      #expect(try daemon.occurrence(id).state == .snoozed)
      #expect(try daemon.undo().undone.kind == "reminderSnoozed")
      #expect([.fired, .delivered].contains(try daemon.occurrence(id).state))
      let next = try RFC3339.parse(#require(tea.next).at)
      let _: Occurrences.Move.Reply = try daemon.call(Occurrences.Move(id: tea.id, by: "PT1H"))
      #expect(try RFC3339.parse(#require(daemon.reminder(tea.id).next).at) == next + .hours(1))
      #expect(try daemon.undo().undone.kind == "reminderMoved")
      #expect(try RFC3339.parse(#require(daemon.reminder(tea.id).next).at) == next)
    }
  }

  /// The entry that *done* has logged is undone with the answer.
  @Test func undoOfDoneRemovesItsEntry() async throws {
    try await TestDaemon.run { daemon in
      try daemon.water()
      let drink = try daemon.remind("Drink", "every 2h", tracker: .init(tracker: "water", amount: 250))
      let fired: Occurrences.Fire.Reply = try daemon.call(Occurrences.Fire(id: drink.id))
      let _: Occurrences.Done.Reply = try daemon.call(Occurrences.Done(id: fired.occurrence.id))
      #expect(try daemon.undo().undone.kind == "logged")
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "water"))
      #expect(entries.total == 0)
      #expect([.fired, .delivered].contains(try daemon.occurrence(fired.occurrence.id).state))
    }
  }

  @Test func undoReportsATimeThatHasPassed() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let tea = try daemon.remind("Tea", "at 2040-01-01 09:00")
      let _: Reminders.Remove.Reply = try daemon.call(Reminders.Remove(id: tea.id))
      // As it is after the expiry.
      try await daemon.store.write { store in
        let change = try #require(try store.changes(owner: getuid(), since: .earliest, limit: 1).first)
        let text = try #require(try store.detail(of: change.id)).replacing("2040-01-01", with: "2020-01-01")
        try store.setDetail(text, of: change.id)
      }
      let undone = try daemon.undo()
      #expect(undone.notes?.count == 1)
      #expect(
        undone.notes?.first?.contains("has passed meanwhile: it will not ring unless you give it a new time") == true)
      #expect(try daemon.reminder(tea.id).next == nil)
    }
  }

  /// Later changes by others stay and are reported, and undo can skip the conflict.
  @Test func undoOfAConflictLosesNothingAndCanBeSkipped() async throws {
    try await TestDaemon.run { daemon in
      let tea = try daemon.remind("Tea", "daily at 16:00")
      let _: Reminders.Update.Reply = try daemon.call(Reminders.Update(id: tea.id, change: .init(title: "Coffee")))
      try await daemon.store.write { store in
        var record = try #require(try store.reminder(ReminderID(rawValue: tea.id)))
        (record.reminder.title, record.reminder.generation) = ("Cocoa", record.reminder.generation + 1)
        try store.upsert(record.reminder, next: record.next)
      }
      let refusal = daemon.refusal(Wired.Undo())
      #expect(refusal?.name == "Conflict")
      #expect(refusal?.text("message").contains("\"Cocoa\" has been changed since, and stays as it is") == true)
      #expect(try daemon.reminder(tea.id).title == "Cocoa" && daemon.changes().count == 2)
      let skipped: Wired.Undo.Reply = try daemon.call(Wired.Undo(skip: true))
      #expect(skipped.undone.kind == "reminderEdited" && skipped.undone.subject == "Tea")
      #expect(try daemon.reminder(tea.id).title == "Cocoa" && daemon.changes().count == 1)
      // Undo fails if the user was shown another change.
      #expect(daemon.refusal(Wired.Undo(change: skipped.undone.id))?.name == "Conflict")
    }
  }

  /// Add and Update share a type; missing required fields of a new reminder are named.
  @Test func newReminderNeedsATitleAndASchedule() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      for (draft, field) in [
        (Reminders.Draft(when: "daily at 9"), "title"), (Reminders.Draft(title: "Tea"), "when"),
      ] {
        let refusal = daemon.refusal(Reminders.Add(reminder: draft))
        #expect(refusal?.name == Reminders.name + ".InvalidValue" && refusal?.text("field") == field)
        #expect(refusal?.text("message").hasSuffix("is missing") == true)
        let many = daemon.refusal(Reminders.AddMany(reminders: [draft]))
        #expect(many?.name == Reminders.name + ".InvalidDrafts")
      }
      let titles = try daemon.titles()
      #expect(titles.isEmpty)
    }
  }

  @Test func undoRemovesABatchTogether() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try daemon.water()
      // The link of the last one is made when the batch is written.
      let drafts =
        (1...300).map { Reminders.Draft(title: "T\($0)", when: "daily at 16:00") }
        + [Reminders.Draft(title: "Drink", when: "every 2h", tracker: .init(tracker: "water", amount: 250))]
      let _: Reminders.AddMany.Reply = try daemon.call(Reminders.AddMany(reminders: drafts))
      let undone = try daemon.undo()
      #expect(undone.undone.kind == "remindersImported" && undone.undone.subject == "301")
      #expect(try daemon.titles().isEmpty)
    }
  }

  @Test func undoRestoresTheGlobalPause() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let _: Reminders.PauseAll.Reply = try daemon.call(Reminders.PauseAll(until: "2090-01-01T00:00:00Z"))
      let _: Reminders.ResumeAll.Reply = try daemon.call(Reminders.ResumeAll())
      #expect(try daemon.undo().undone.kind == "silenceEnded")
      #expect(try await daemon.store.read { try $0.silence(of: getuid()) } != nil)
      #expect(try daemon.undo().undone.kind == "silenced")
      #expect(try await daemon.store.read { try $0.silence(of: getuid()) } == nil)
    }
  }

  @Test func undoRestoresAnEndpointWithItsSecret() async throws {
    try await TestDaemon.run { daemon in
      let put = Endpoints.Put(
        name: "phone", url: "https://example.org/hook", secret: "whsec_" + String(repeating: "A", count: 43) + "=",
        settings: .init(concurrency: 3))
      let _: Endpoints.Put.Reply = try daemon.call(Endpoints.Put.method, put)
      let secrets = await daemon.loop.secrets
      let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))
      let secret = secrets.read(queue).sheet.text
      #expect(secret.contains("whsec_"))
      let _: Endpoints.Remove.Reply = try daemon.call(Endpoints.Remove(name: "phone"))
      #expect(secrets.read(queue).sheet.secrets.isEmpty)
      #expect(try daemon.undo().notes == nil)
      #expect(secrets.read(queue).sheet.text == secret)
      let list: Endpoints.List.Reply = try daemon.call(Endpoints.List())
      #expect(
        list.endpoints.map(\.url) == ["https://example.org/hook"] && list.endpoints.first?.settings?.concurrency == 3)
      // A secret that is no longer kept must be given again, and undo says so.
      let _: Endpoints.Remove.Reply = try daemon.call(Endpoints.Remove(name: "phone"))
      secrets.forgetAside(before: .latest)
      let bare = try daemon.undo()
      #expect(bare.notes?.first?.contains("the daemon no longer has the secret of phone: give it again") == true)
      // Back to before it was added.
      #expect(try daemon.undo().undone.kind == "endpointAdded")
      let none: Endpoints.List.Reply = try daemon.call(Endpoints.List())
      #expect(none.endpoints.isEmpty)
    }
  }

  @Test func undoRevertsEndpointSettings() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let _: Endpoints.Put.Reply = try daemon.call(
        Endpoints.Put(name: "phone", url: "https://example.org/a", newSecret: .hmac))
      let _: Endpoints.Update.Reply = try daemon.call(Endpoints.Update(name: "phone", url: "https://example.org/b"))
      let _: Endpoints.Disable.Reply = try daemon.call(Endpoints.Disable(name: "phone"))
      _ = try daemon.undo()
      _ = try daemon.undo()
      let list: Endpoints.List.Reply = try daemon.call(Endpoints.List())
      #expect(list.endpoints.map(\.url) == ["https://example.org/a"] && list.endpoints.first?.disabled == nil)
    }
  }

  /// A reminder that nobody has answered for a week of hours: all of them are closed, and all come back.
  @Test func removalAndUndoReachEachOpenOccurrence() async throws {
    try await TestDaemon.run { daemon in
      let tea = try daemon.remind("Tea", "daily at 16:00")
      let id = ReminderID(rawValue: tea.id)
      try await daemon.store.write { transaction in
        let record = try #require(try transaction.reminder(id))
        let first = Instant(seconds: 1_790_000_000)
        for hour in 0..<150 {
          let time = first + .hours(Int64(hour))
          let due = DueReminder(reminder: record.reminder, scheduledAt: time, dueAt: time)
          let occurrence = Occurrence(
            id: OccurrenceID(reminder: id, scheduledAt: time), title: "Tea", owner: record.reminder.owner,
            state: .fired, firedAt: time, rounds: 1)
          try transaction.record([
            FiringResult(
              due: due, occurrences: [occurrence], deliveries: [], next: record.next, advances: false, skipNext: 0)
          ])
        }
      }
      func open() async throws -> Int { try await daemon.store.read { try $0.openOccurrences(of: id).count } }
      #expect(try await open() == 150)
      let _: Reminders.Remove.Reply = try daemon.call(Reminders.Remove(id: tea.id))
      #expect(try await open() == 0)
      _ = try daemon.undo()
      #expect(try await open() == 150)
    }
  }

  /// An applied set is one change, whatever it contains.
  @Test func appliedSetIsOneChange() async throws {
    try await TestDaemon.run { daemon in
      let kept = try daemon.remind("Kept", "daily at 12:00")
      let text = """
        set = "home"
        [[reminder]]
        id = "tea"
        title = "Tea"
        when = "daily at 16:00"
        [[tracker]]
        id = "steps"
        title = "Steps"
        kind = "amount"
        unit = "pages"
        [[tracker]]
        id = "books"
        title = "Books"
        kind = "check"
        """
      let applied: Reminders.Apply.Reply = try daemon.call(
        Reminders.Apply(files: [.init(name: "home.toml", text: text)]))
      #expect(applied.changes.count == 3)
      #expect(try daemon.changes().map(\.kind) == ["setApplied", "reminderAdded"])
      let undone = try daemon.undo()
      #expect(undone.undone.kind == "setApplied" && undone.undone.subject == "home")
      let trackers: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(trackers.trackers.isEmpty)
      #expect(try daemon.titles() == [kept.title])
    }
  }
}

extension TestDaemon {
  func remind(
    _ title: String, _ when: String, tags: [String]? = nil, body: String? = nil,
    tracker: RemindersInterface.TrackerLink? = nil
  ) throws -> RemindersInterface.Reminder {
    try call(
      RemindersInterface.Add(
        reminder: .init(title: title, when: when, body: body, timezone: "UTC", tags: tags, tracker: tracker))
    ).reminder
  }

  func undo() throws -> TrackersInterface.Undo.Reply {
    try call(TrackersInterface.Undo())
  }

  fileprivate func changes() throws -> [TrackersInterface.Undoable] {
    try call(TrackersInterface.Changes()).changes
  }

  /// Returns a reminder without the field that `Add` does not set.
  func reminder(_ id: String) throws -> RemindersInterface.Reminder {
    var reminder = try call(RemindersInterface.Get(id: id)).reminder
    reminder.undeliverable = nil
    return reminder
  }

  func titles() throws -> [String] {
    try call(RemindersInterface.List(filter: .init(all: true))).reminders.map(\.title).sorted()
  }

  fileprivate func occurrence(_ id: String) throws -> OccurrencesInterface.Occurrence {
    let found = try call(OccurrencesInterface.List()).occurrences
    return try #require(found.first { $0.id == id })
  }
}
