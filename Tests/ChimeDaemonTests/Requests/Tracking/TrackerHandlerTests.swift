import ChimeControl
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Trackers over the control socket.
@Suite(.serialized)
struct TrackerHandlerTests {
  typealias Wired = TrackersInterface

  /// The chosen cup is the button's text, and what *done* logs.
  @Test func doneLogsTheChosenAmount() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let reply: Wired.InstallPack.Reply = try daemon.call(
        Wired.InstallPack(name: "hydration", choices: .init(usual: ["water": 330])))
      let id = try #require(reply.pack.reminders.first?.id)
      let fired: OccurrencesInterface.Fire.Reply = try daemon.call(OccurrencesInterface.Fire(id: id))
      let _: OccurrencesInterface.Done.Reply = try daemon.call(OccurrencesInterface.Done(id: fired.occurrence.id))
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "water"))
      #expect(entries.entries.map(\.value) == [330])
    }
  }

  /// A user's changes to a tracker stay when a pack with the same tracker is added or updated.
  @Test func packKeepsTheUsersChangesToATracker() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try daemon.put(
        .init(
          id: "weight", title: ["en": "My weight"], kind: .measure, unit: "kg", goal: .init(value: 80),
          fields: ["waist": "cm"]))
      try daemon.log("weight", 90, fields: ["waist": 99])
      for round in 1...2 {
        let _: Wired.InstallPack.Reply = try daemon.call(Wired.InstallPack(name: "weight"))
        let found: Wired.List.Reply = try daemon.call(Wired.List())
        let weight = try #require(found.trackers.first { $0.id == "weight" })
        #expect(weight.pack == "weight" && weight.title["en"] == "My weight", "round \(round)")
        #expect(weight.goal?.value == 80 && weight.unit == "kg")
        // The pack's own settings are added.
        #expect(weight.fields == ["waist": "cm", "body-fat": "%"], "\(weight.fields)")
        #expect(weight.milestoneStep != nil)
      }
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "weight"))
      #expect(entries.entries.count == 1)
    }
  }

  @Test func trackerIsCreatedLoggedListedAndRemoved() async throws {
    try await TestDaemon.run { daemon in
      let water = try daemon.water()
      #expect(water.presets == [100, 250] && water.usual == 250 && water.goal?.total == 2_500)
      #expect(water.counting.weekdays == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
      let first = try daemon.log("water", 500)
      #expect(first.entry?.value == 500 && first.entry?.unit == "ml")
      #expect(first.progress?.remaining == 2_000 && first.progress?.percent == 20 && !first.goalMet)
      // A liter is 1,000 ml, and the usual amount needs no number.
      #expect(try daemon.log("Voda", 1, unit: "l").progress?.total == 1_500)
      #expect(try daemon.log("WAT").progress?.total == 1_750)
      #expect(try daemon.log("water", 750).goalMet)
      let list: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(list.trackers.map(\.id) == ["water"])
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "water", limit: 2, offset: 1))
      #expect(entries.total == 4 && entries.entries.map(\.value) == [250, 1_000])
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      #expect(day.view.mood.kind == .perfectDay && day.view.progress.first?.met == true)
      #expect(day.view.week.count == 7 && day.view.week.last?.met == 1 && day.view.week.last?.due == 1)
      let removed: Wired.Remove.Reply = try daemon.call(Wired.Remove(id: "water"))
      #expect(removed.tracker.id == "water")
      let none: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(none.trackers.isEmpty)
      // All changes are undone, step by step.
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(undone.undone.kind == "tracker" && undone.undone.tracker == "water")
      #expect(try daemon.log("water", 10).progress?.total == 2_510)
    }
  }

  @Test func invalidEntryIsRefusedWithARemedy() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try daemon.water()
      try daemon.put(Wired.TrackerDraft(id: "watches", kind: .check, hasItems: true))
      try daemon.put(Wired.TrackerDraft(id: "weight", kind: .measure, unit: "kg", fields: ["bodyFat": "%"]))
      let _: Wired.PutItem.Reply = try daemon.call(Wired.PutItem(tracker: "watches", title: "Speedmaster"))
      func refused(_ parameters: Wired.Log, _ name: String, _ part: String, _ field: String? = nil) {
        let refusal = daemon.refusal(parameters)
        #expect(refusal?.name == name, "\(parameters)")
        #expect(refusal?.description.contains(part) == true, "\(refusal.map(String.init(describing:)) ?? "")")
        if let field { #expect(refusal?.text("field") == field) }
      }
      refused(.init(tracker: "water", amount: 1, unit: "kg"), "InvalidValue", "cl, dl, floz, l, ml", "unit")
      refused(.init(tracker: "water", amount: 1e300), "InvalidValue", "at most 5000000 ml", "amount")
      refused(.init(tracker: "water", amount: -3), "InvalidValue", "more than zero", "amount")
      refused(.init(tracker: "water", amount: 1e-12), "InvalidValue", "too close to zero", "amount")
      refused(.init(tracker: "water", unit: "ml"), "InvalidValue", "needs an amount", "unit")
      refused(.init(tracker: "watches", amount: 1), "InvalidValue", "leave the amount out", "amount")
      refused(.init(tracker: "watches", item: "Speedmastr"), "NotFound", "speedmaster")
      refused(.init(tracker: "water", item: "x"), "InvalidValue", "has no items", "item")
      refused(.init(tracker: "weight"), "InvalidValue", "give the measured value, in kg", "amount")
      refused(.init(tracker: "weight", amount: 80, fields: ["bodyfat": 1]), "InvalidValue", "bodyFat", "fields")
      refused(.init(tracker: "wat"), "Ambiguous", "watches")
      refused(.init(tracker: "weigth"), "NotFound", "\"similar\":[\"weight\"]")
      refused(.init(tracker: ""), "NotFound", "tracker")
      refused(.init(tracker: "water", note: String(repeating: "ž", count: 501)), "InvalidValue", "501", "note")
      refused(.init(tracker: "water", note: "bell \u{7}"), "InvalidValue", "control character", "note")
      refused(.init(tracker: "water", at: "2999-01-01T00:00:00Z"), "InvalidValue", "future", "at")
      refused(.init(tracker: "water", at: "1970-01-01T00:00:00Z"), "InvalidValue", "after 1970", "at")
      refused(.init(tracker: "water", at: "1969-12-31T00:00:00Z"), "InvalidValue", "RFC 3339", "at")
      refused(.init(tracker: "water", at: "yesterday"), "InvalidValue", "RFC 3339", "at")
      refused(.init(tracker: "water", photo: "nothing"), "NotFound", "upload")
      // Pounds are converted to kilograms exactly; a note of 500 characters is accepted.
      let weighed = try daemon.log(
        "weight", 181.66, unit: "LB", note: String(repeating: "ž", count: 500), fields: ["bodyFat": 18.2])
      #expect(abs((weighed.entry?.value ?? 0) - 82.399590) < 0.000_01)
      #expect(weighed.entry?.fields == ["bodyFat": 18.2])
      let all: Wired.Entries.Reply = try daemon.call(Wired.Entries())
      #expect(all.total == 1, "what was refused has left nothing")
    }
  }

  @Test func repeatedTokenReturnsTheFirstReply() async throws {
    try await TestDaemon.run { daemon in
      try daemon.water()
      let first = try daemon.log("water", 300, token: "t1")
      #expect(try daemon.log("water", 300, token: "t1") == first)
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries())
      #expect(entries.total == 1)
      let other = daemon.refusal(Wired.Put(tracker: Wired.TrackerDraft(id: "tea", kind: .check), token: "t1"))
      #expect(other?.name == "Conflict")
    }
  }

  @Test func invalidDraftNamesItsField() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      func refused(_ draft: Wired.TrackerDraft, _ field: String) {
        let refusal = daemon.refusal(Wired.Put(tracker: draft))
        #expect(refusal?.name == "InvalidValue" && refusal?.text("field") == field, "\(String(describing: refusal))")
      }
      refused(.init(id: "Water", kind: .check), "id")
      refused(.init(id: "../../etc", kind: .check), "id")
      refused(.init(id: "tea"), "kind")
      refused(.init(id: "tea", kind: .amount), "unit")
      refused(.init(id: "tea", kind: .amount, unit: "m/l"), "unit")
      refused(.init(id: "tea", kind: .check, unit: "ml"), "unit")
      refused(.init(id: "tea", title: [:], kind: .check), "title")
      refused(.init(id: "tea", title: ["en": " "], kind: .check), "title")
      refused(.init(id: "tea", title: ["e n": "Tea"], kind: .check), "title")
      refused(.init(id: "tea", kind: .check, decimals: 4), "decimals")
      refused(.init(id: "tea", kind: .check, goal: .init(total: 3)), "goal")
      refused(.init(id: "tea", kind: .check, goal: .init(count: 1, total: 3)), "goal")
      refused(.init(id: "tea", kind: .check, goal: .init(count: 0)), "goal")
      refused(.init(id: "tea", kind: .amount, unit: "ml", goal: .init(value: 3)), "goal")
      refused(.init(id: "tea", kind: .measure, unit: "kg", goal: .init(value: 80, period: .week)), "goal")
      refused(.init(id: "tea", kind: .check, usual: 3), "usual")
      refused(.init(id: "tea", kind: .measure, unit: "kg", usual: 3), "usual")
      refused(.init(id: "tea", kind: .amount, unit: "ml", presets: [0]), "presets")
      refused(.init(id: "tea", kind: .check, counting: .init(weekdays: [])), "counting")
      refused(.init(id: "tea", kind: .check, counting: .init(weekdays: ["monday"])), "counting")
      refused(.init(id: "tea", kind: .check, counting: .init(times: 8, per: .week)), "counting")
      refused(.init(id: "tea", kind: .check, counting: .init(times: 2, per: .days)), "counting")
      refused(.init(id: "tea", kind: .check, dayStartsAt: "25:00"), "dayStartsAt")
      refused(.init(id: "tea", kind: .check, pauses: [.init()]), "pauses")
      refused(.init(id: "tea", kind: .check, pauses: [.init(from: "2026-02-02", to: "2026-02-01")]), "pauses")
      refused(.init(id: "tea", kind: .check, skips: ["2026-02-30"]), "skips")
      refused(.init(id: "tea", kind: .check, fields: ["a b": "kg"]), "fields")
      refused(.init(id: "tea", kind: .check, milestoneStep: 2), "milestoneStep")
      refused(.init(id: "tea", kind: .check, reset: ["title"]), "reset")
      let dry: Wired.Put.Reply = try daemon.call(Wired.Put(tracker: .init(id: "tea", kind: .check), dryRun: true))
      #expect(dry.created && dry.tracker.id == "tea")
      let list: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(list.trackers.isEmpty)
      let tea = try daemon.put(
        .init(id: "tea", kind: .check, counting: .init(times: 7, per: .week), dayStartsAt: "04:30"))
      #expect(tea.dayStartsAt == "04:30" && tea.counting.weekdays?.count == 7)
      refused(.init(id: "tea", kind: .amount), "kind")
      #expect(
        try daemon.put(.init(id: "tea", goal: .init(count: 3, period: .week))).goal == .init(count: 3, period: .week))
      #expect(try daemon.put(.init(id: "tea", reset: ["goal"])).goal == nil)
    }
  }

  @Test func itemsAndMilestonesAreStored() async throws {
    try await TestDaemon.run { daemon in
      try daemon.put(.init(id: "watches", kind: .check, hasItems: true))
      func item(_ parameters: Wired.PutItem) throws -> Wired.Item {
        try daemon.call(parameters).item
      }
      let first = try item(
        .init(tracker: "watches", title: "Žluťoučký kůň 38 mm", attributes: ["brand": "Prim"], since: "2020-02-02"))
      #expect(first.id == "zlutoucky-kun-38-mm")
      #expect(try item(.init(tracker: "watches", title: "Žluťoučký kůň – 38 mm")).id == "zlutoucky-kun-38-mm-2")
      #expect(
        daemon.refusal(Wired.PutItem(tracker: "watches", title: "žluťoučký kůň 38 mm"))?
          .name == "Conflict")
      #expect(
        daemon.refusal(Wired.PutItem(tracker: "watches", id: first.id, until: "2019-01-01"))?.text(
          "field") == "until")
      try daemon.log("watches", item: "Žluťoučký kůň 38 mm")
      let items: Wired.Items.Reply = try daemon.call(Wired.Items())
      #expect(items.total == 2 && items.items.map(\.entries).reduce(0, +) == 1)
      let milestone: Wired.PutMilestone.Reply = try daemon.call(
        Wired.PutMilestone(tracker: "watches", title: "The first one", note: "At last"))
      let changed: Wired.PutMilestone.Reply = try daemon.call(
        Wired.PutMilestone(id: milestone.milestone.id, tracker: "watches", note: ""))
      #expect(changed.milestone.note == nil && changed.milestone.title == "The first one")
      #expect(daemon.refusal(Wired.RemoveMilestone(id: 99))?.name == "NotFound")
      let _: Wired.RemoveMilestone.Reply = try daemon.call(Wired.RemoveMilestone(id: milestone.milestone.id))
      let none: Wired.Milestones.Reply = try daemon.call(Wired.Milestones())
      #expect(none.milestones.isEmpty && none.total == 0)
    }
  }

  @Test func undoEndsWithTheFirstChange() async throws {
    try await TestDaemon.run { daemon in
      #expect(daemon.refusal(Wired.Undo())?.name == "NothingToUndo")
      try daemon.water()
      try daemon.log("water", 100)
      let dry: Wired.Undo.Reply = try daemon.call(Wired.Undo(dryRun: true))
      #expect(dry.undone.kind == "logged" && dry.undone.subject == "100 ml")
      let changes: Wired.Changes.Reply = try daemon.call(Wired.Changes())
      #expect(changes.changes.first == dry.undone && changes.changes.map(\.kind) == ["logged", "tracker"])
      for _ in 0..<2 { let _: Wired.Undo.Reply = try daemon.call(Wired.Undo()) }
      #expect(daemon.refusal(Wired.Undo())?.name == "NothingToUndo")
    }
  }

  @Test func tenYearsOfDaysFitIntoOneMessage() async throws {
    try await TestDaemon.run { daemon in
      try daemon.put(
        .init(id: "weight", title: ["en": "Weight"], kind: .measure, unit: "kg", startedOn: "2010-01-01"))
      // A value with all its digits on every day.
      let today = Int(Date.now.timeIntervalSince1970) / 86_400
      let rows = (0..<3_700).map { "\(CivilDate(dayNumber: today - 1 - $0)!),\(80 + Double($0) / 7_777)" }
      try daemon.upload(Array(("day,value\n" + rows.joined(separator: "\n") + "\n").utf8), as: "csv")
      let imported: Wired.Import.Reply = try daemon.call(Wired.Import(upload: "csv", format: .csv, tracker: "weight"))
      #expect(imported.added == 3_700)
      let days: Wired.Days.Reply = try daemon.call(
        Wired.Days(tracker: "weight", range: Wired.Range(from: nil, to: nil)))
      #expect(days.days.count == 3_700)
      let bytes = try JSONWriter.bytes(of: days).count
      #expect(bytes < 1 << 20, "\(bytes)")
      let refusal = daemon.refusal(Wired.Days(tracker: "weight", range: Wired.Range(from: "2010-01-01")))
      #expect(refusal?.text("field") == "range")
      let stats: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "weight"))
      #expect(stats.statistics.entries == 3_699, "up to today, of which there is none yet")
      #expect(try JSONWriter.bytes(of: stats).count < 1 << 20)
      let week: Wired.Week.Reply = try daemon.call(Wired.Week())
      #expect(week.days.first?.days.count == 7 && week.summaries.count == 7)
      // It was imported in parts, but is one change.
      for limit in [1, 2, 3] {
        let changes: Wired.Changes.Reply = try daemon.call(Wired.Changes(limit: limit))
        #expect(changes.changes.map(\.subject) == Array(["3700", "weight"].prefix(limit)))
      }
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      let left: Wired.Days.Reply = try daemon.call(
        Wired.Days(tracker: "weight", range: Wired.Range(from: nil, to: nil)))
      #expect(undone.undone.subject == "3700" && left.days.allSatisfy { $0.entries == 0 }, "\(left.days.count)")
    }
  }

  @Test func longNotesAreListedInPagesThatFitAMessage() async throws {
    try await TestDaemon.run({ $0.maxMessageBytes = 65_536 }) { daemon in
      try daemon.put(.init(id: "diary", kind: .check))
      for _ in 0..<100 { try daemon.log("diary", note: String(repeating: "🙂", count: 480)) }
      var seen: Set<Int> = []
      var total = 1
      while seen.count < total {
        let page: Wired.Entries.Reply = try daemon.call(Wired.Entries(limit: 5_000, offset: seen.count))
        try #require(!page.entries.isEmpty)
        total = page.total
        seen.formUnion(page.entries.map(\.id))
      }
      #expect(seen.count == 100)
    }
  }

  @Test func watchersGetTrackerEventsAndStatusCountsTrackers() async throws {
    try await TestDaemon.run { daemon in
      let watcher = try VarlinkClient("unix:\(daemon.folder)/io.chime", timeout: .seconds(60))
      let events = try watcher.callMore(DaemonInterface.Monitor(), idleTimeout: .seconds(60))
      #expect(try events.next()?.events.isEmpty == true)
      let _: Wired.InstallPack.Reply = try daemon.call(
        Wired.InstallPack(name: "hydration", choices: Wired.PackChoices(goals: ["water": 1_000])))
      try daemon.log("water", 1_000)
      var seen: [String] = []
      while !["logged", "goal", "unlocked"].allSatisfy(seen.contains) {
        let batch = try #require(try events.next())
        seen += batch.events.map(\.event)
        if let logged = batch.events.first(where: { $0.event == "goal" }) { #expect(logged.tracker == "water") }
      }
      let status: DaemonInterface.Status.Reply = try daemon.call(DaemonInterface.Status())
      #expect(status.status.trackers == 1)
    }
  }

  @Test func packsAreListedInstalledAndRemoved() async throws {
    try await TestDaemon.run { daemon in
      let before: Wired.Packs.Reply = try daemon.call(Wired.Packs())
      #expect(before.packs.count == 5 && before.packs.allSatisfy { $0.shipped && $0.installedAt == nil })
      func install(_ name: String?, _ text: String? = nil, _ choices: Wired.PackChoices? = nil, dryRun: Bool = false)
        -> Wired.InstallPack
      {
        Wired.InstallPack(name: name, text: text, file: "mine.toml", choices: choices, dryRun: dryRun)
      }
      func refused(_ parameters: Wired.InstallPack, _ name: String, _ part: String) {
        let refusal = daemon.refusal(parameters)
        #expect(refusal?.name == name && refusal?.description.contains(part) == true, "\(String(describing: refusal))")
      }
      refused(install("hydratoin"), "NotFound", "hydration")
      refused(install(nil), "InvalidValue", "either the name")
      refused(install(nil, "[pack]\nid = 3\n"), "InvalidPack", "mine.toml")
      refused(install("hydration", nil, .init(goals: ["water": 50_000])), "InvalidValue", "from 500 to 5000 ml")
      refused(install("hydration", nil, .init(goals: ["wine": 500])), "NotFound", "wine")
      refused(install("hydration", nil, .init(units: ["water": "kg"])), "InvalidValue", "does not convert")
      let key = try #require(before.packs.first { $0.id == "hydration" }?.reminders.first?.key)
      refused(install("hydration", nil, .init(when: [key: "every blue moon"])), "InvalidValue", "when")
      let dry: Wired.InstallPack.Reply = try daemon.call(install("hydration", dryRun: true))
      #expect(dry.created)
      let none: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(none.trackers.isEmpty)
      let made: Wired.InstallPack.Reply = try daemon.call(
        install("hydration", nil, .init(goals: ["water": 2], units: ["water": "l"])))
      #expect(made.pack.trackers.first?.goal?.total == 2 && made.pack.reminders.first?.id != nil)
      // An update keeps the choices.
      let again: Wired.InstallPack.Reply = try daemon.call(install("hydration"))
      #expect(!again.created && again.pack.trackers.first?.goal?.total == 2 && again.pack.trackers.first?.unit == "l")
      let gone: Wired.RemovePack.Reply = try daemon.call(Wired.RemovePack(id: "Hydration"))
      #expect(gone.pack.id == "hydration")
      let kept: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(kept.trackers.map(\.id) == ["water"] && kept.trackers[0].pack == nil)
    }
  }

  /// A slow reader of a backup blocks neither logging nor the store.
  @Test func slowReaderOfABackupBlocksNobody() async throws {
    try await TestDaemon.run { daemon in
      try BackupTests.fill(daemon)
      let slow = try VarlinkClient("unix:\(daemon.folder)/io.chime", timeout: .seconds(60))
      let parts = try slow.callMore(Wired.Backup())
      var bytes = Array(Data(base64Encoded: try #require(try parts.next()).data) ?? Data())
      for _ in 0..<20 { try daemon.log("water", 100) }
      while let part = try parts.next() { bytes += Data(base64Encoded: part.data) ?? Data() }
      #expect(BackupTests.body(bytes).count { $0.hasPrefix("{\"entry") } == 41, "as it was when it was asked for")
      // A client that disconnects leaves no file behind.
      let gone = try VarlinkClient("unix:\(daemon.folder)/io.chime", timeout: .seconds(60))
      let first = try gone.callMore(Wired.Backup())
      _ = try first.next()
      gone.close()
      let deadline = ContinuousClock.now + .seconds(120)
      while try FileManager.default.contentsOfDirectory(atPath: daemon.folder + "/uploads").contains(where: {
        $0.hasPrefix("scratch")
      }) {
        try #require(ContinuousClock.now < deadline)
        try daemon.log("water", 1)
      }
    }
  }

  /// Days off that were done anyway: the same rule for numbers, months and statistics.
  @Test func dayOffHasNoNumber() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let today = Int(Date.now.timeIntervalSince1970) / 86_400
      let weekday = try #require(CivilDate(dayNumber: today)).weekday
      let other = try #require(CivilDate(dayNumber: today + 3)).weekday
      try daemon.put(
        .init(
          id: "goal", kind: .check, counting: .init(weekdays: [weekday.abbreviation, other.abbreviation]),
          startedOn: "2020-01-01"))
      // 7 and 14 days ago count, and so do 4 and 11; 1, 2 and 3 days ago do not.
      for ago in [14, 7, 4, 3, 2, 1] { try daemon.log("goal", at: TestDaemon.noon(daysAgo: ago)) }
      let from = try #require(CivilDate(dayNumber: today - 14)).description
      let to = try #require(CivilDate(dayNumber: today - 1)).description
      let days: Wired.Days.Reply = try daemon.call(Wired.Days(tracker: "goal", range: Wired.Range(from: from, to: to)))
      #expect(days.days.compactMap(\.number) == [1, 2, 3])
      #expect(days.days.count { $0.met } == 6)
      let stats: Wired.Stats.Reply = try daemon.call(
        Wired.Stats(tracker: "goal", range: Wired.Range(from: from, to: to)))
      #expect(stats.statistics.metDays == 3 && stats.statistics.dueDays == 4)
      #expect(stats.statistics.weeks.reduce(0) { $0 + $1.met } == 3)
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      #expect(day.view.progress.first?.number == 3)
    }
  }
}
