import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Changes of trackers, and their notices.
struct TrackingOperationsTests {
  static let pack = PackID(rawValue: "drinks")

  static func drinks() throws -> Pack {
    var tracker = try TrackingScenario.waterTracker(goal: 1_000)
    tracker.verb = LocalizedText(["en": "Drank", "cs": "Vypito"])
    func achievement(_ id: String, _ criterion: Criterion, experience: Int = 50) -> Achievement {
      Achievement(
        id: AchievementID(rawValue: id), title: LocalizedText("Title of \(id)"), text: LocalizedText("Text of \(id)"),
        experience: experience, criterion: criterion)
    }
    return Pack(
      id: pack, title: "Drinks", text: "Water", trackers: [tracker],
      reminders: [
        PackReminder(
          key: "drink", title: "Still {{remaining}}", body: "{{percent}} % and {{nobody}}, {{mood.title}}{{quote}}",
          when: "every 90m from 8:00 to 22:00", tracker: TrackingScenario.water, followsEntries: true),
        PackReminder(
          key: "extra", title: "Extra", when: "daily at 12:00", tracker: TrackingScenario.water, isOptional: true),
      ],
      achievements: [
        achievement("first", Criterion(.entries)), achievement("met", Criterion(.goalMet)),
        achievement("year", Criterion(.anniversary, target: 1)),
      ], levels: LevelCurve(base: 100, power: 1),
      moods: [.lightDay: MoodText(title: "Light", message: "", next: "")])
  }

  static func installed(_ start: String = "2026-06-01 07:00") async throws -> TrackingScenario {
    let scenario = try TrackingScenario(start)
    let pack = try drinks()
    try await scenario.change { try $0.install(pack, using: &$1) }
    return scenario
  }

  func reminder(_ scenario: TrackingScenario, _ key: String = "drink") async throws -> Reminder? {
    try await scenario.store.read { transaction in
      guard let id = try transaction.pack(Self.pack, owner: TrackingScenario.owner)?.reminders[key] else { return nil }
      return try transaction.reminder(id)?.reminder
    }
  }

  /// A level that comes with a new day is reported with the XP of the day's first entry.
  @Test func newLevelIsReportedWithTheEntrysExperience() async throws {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    var pack = try Self.drinks()
    pack.achievements.append(
      Achievement(
        id: AchievementID(rawValue: "next_day"), title: "Next day", text: "", experience: 150,
        criterion: Criterion(.daysSinceStart, tracker: TrackingScenario.water, target: 1)))
    try await scenario.change { [pack] in try $0.install(pack, using: &$1) }
    scenario.now = scenario.at("2026-06-02 07:00")
    let outcome = try await scenario.log(100)
    let experience = try await scenario.store.read { try $0.experience(of: Self.pack, owner: TrackingScenario.owner) }
    #expect(outcome.levels.last?.experience == experience)
    #expect(experience > 150)
  }

  @Test func packInstallsItsTrackersAndReminders() async throws {
    let scenario = try await Self.installed()
    let drink = try #require(try await reminder(scenario))
    #expect(drink.tracker?.tracker == TrackingScenario.water && drink.tracker?.followsEntries == true)
    #expect(try await reminder(scenario, "extra") == nil, "an optional one is to be asked for")
    try await scenario.run(until: "08:30")
    let message = try #require(scenario.shown.first?.message)
    #expect(message.title == "Still 1000 ml" && message.occurrence.title == "Still 1000 ml")
    #expect(message.body == "0 % and {{nobody}}, ", "what is not known is nothing, what is no name stays")
    #expect(message.report?.button == "Drank 250 ml")
    #expect(message.report?.facts?.remaining == 1_000 && message.report?.facts?.unit == "ml")
  }

  @Test(
    arguments: [
      // All is unlocked.
      ("{{streak}} in a row. Next: {{nextAchievement}} ({{nextAchievement.progress}}).", "5 in a row."),
      ("Next: {{nextAchievement}}. {{streak}} in a row.", "5 in a row."),
      ("{{quote.translation}} ({{quote.source}})\n{{tracker}}: go on", "Water: go on"),
      ("{{tracker}}: well done! {{nextAchievement}}", "Water: well done!"),
      // A sentence that is the whole text, or has other content, stays.
      ("Next: {{nextAchievement}}.", "Next: ."), ("{{streak}} and {{nextAchievement}}.", "5 and ."),
      ("No. {{nobody}} knows.", "No. {{nobody}} knows."), ("One.  Two.\n", "One.  Two.\n"), ("", ""),
    ])
  func sentenceWithoutAValueIsLeftOut(_ text: String, _ expected: String) {
    let values = ["streak": "5", "tracker": "Water", "nextAchievement": ""]
    #expect(ReminderText.filled(text, values) == expected)
  }

  @Test func entryUnlocksAchievementsAndSendsANotice() async throws {
    let scenario = try await Self.installed()
    let first = try await scenario.log(250)
    #expect(first.unlocked.map(\.achievement.id.rawValue) == ["first"] && !first.goalMet)
    try await scenario.fire()
    #expect(scenario.shown.map(\.message.occurrence.title) == ["Unlocked: Title of first"])
    let second = try await scenario.log(750)
    #expect(second.goalMet && second.unlocked.map(\.achievement.id.rawValue) == ["met"])
    // 2 entries of 10 XP and twice 50.
    #expect(second.levels.map(\.level) == [2] && second.levels.map(\.experience) == [120])
    try await scenario.fire()
    #expect(
      Set(scenario.shown.map(\.message.occurrence.title)) == [
        "Unlocked: Title of first", "Goal met: Water", "Unlocked: Title of met", "Level 2: Drinks",
      ])
    let tags = scenario.shown.compactMap(\.message.reminder?.tags)
    #expect(tags.contains(["chime", "drinks", "goal"]) && tags.contains(["chime", "drinks", "unlocked"]))
    // Unlocks stay, and are reported once.
    try await scenario.change { try $0.undo(using: &$1).outcome }
    let again = try await scenario.log(750)
    #expect(again.goalMet && again.unlocked.isEmpty)
  }

  @Test func installationUnlocksPastAchievementsSilently() async throws {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    try await scenario.put(try TrackingScenario.waterTracker(goal: 1_000))
    try await scenario.log(1_000)
    let pack = try Self.drinks()
    let outcome = try await scenario.change { try $0.install(pack, using: &$1) }
    #expect(outcome.unlocked.count == 2 && outcome.unlocked.allSatisfy(\.isSilent))
    #expect(outcome.notices.isEmpty)
    let entries = try await scenario.store.read { try $0.entryCount(EntryFilter(owner: TrackingScenario.owner)) }
    #expect(entries == 1)
  }

  @Test func undoRestoresARemovedPackWithItsReminders() async throws {
    let scenario = try await Self.installed()
    let before = try #require(try await reminder(scenario))
    try await scenario.change { try $0.removePack(Self.pack, using: &$1) }
    #expect(try await scenario.store.read { try $0.reminder(before.id) } == nil)
    #expect(try await scenario.store.read { try $0.trackers(owner: TrackingScenario.owner) }.map(\.pack) == [nil])
    try await scenario.change { try $0.undo(using: &$1).outcome }
    let after = try #require(try await scenario.store.read { try $0.reminder(before.id) })
    #expect(after.reminder.title == before.title && after.next == scenario.at("08:00"))
    // And the installation itself.
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await scenario.store.read { try $0.reminder(before.id) } == nil)
    #expect(try await scenario.store.read { try $0.trackers(owner: TrackingScenario.owner) }.isEmpty)
  }

  /// One wake-up per day while something depends on the date, and none otherwise.
  @Test func anniversaryUnlocksOnItsDay() async throws {
    let scenario = try await Self.installed("2026-06-01 09:00")
    try await scenario.log(250)
    var days = 0
    while days < 400 {
      let wakeups = try await scenario.store.read { try $0.dueWakeups() }
      let without = try await scenario.store.read { try $0.wakeups() }
      if wakeups.nextDue == without.nextDue, try await scenario.store.read({ try TrackingDay.next(in: $0) }) == nil {
        break
      }
      let next = try #require(try await scenario.store.read { try TrackingDay.next(in: $0) })
      scenario.now = next
      try await scenario.fire()
      days += 1
    }
    #expect(days == 365)
    #expect(scenario.clock(scenario.now) == "2027-06-01 00:00")
    let titles = scenario.shown.map(\.message.occurrence.title)
    #expect(titles.contains("Unlocked: Title of year"))
    let idle = try TrackingScenario("2026-06-01 09:00")
    try await idle.put(try TrackingScenario.waterTracker())
    #expect(try await idle.store.read { try $0.dueWakeups() }.nextDue == nil)
  }

  @Test func totalsEqualTheSumOfTheEntries() async throws {
    let scenario = try TrackingScenario("2026-06-10 09:00")
    try await scenario.put(try TrackingScenario.waterTracker(goal: 500))
    let key = TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water)
    var random = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      switch Int.random(in: 0..<11, using: &random) {
      case 0..<6:
        let at = scenario.now - .hours(Int64.random(in: 0...100, using: &random))
        try await scenario.log(Double(Int.random(in: 1...4, using: &random) * 100), at: at)
      case 6:
        let entries = try await scenario.store.read {
          try $0.entries(EntryFilter(owner: TrackingScenario.owner), page: Page(limit: 9))
        }
        guard let entry = entries.randomElement(using: &random) else { continue }
        let at = scenario.now - .hours(Int64.random(in: 0...50, using: &random))
        try await scenario.change { try $0.edit(entry.id, using: &$1) { $0.at = at } }
      case 7:
        let entries = try await scenario.store.read {
          try $0.entries(EntryFilter(owner: TrackingScenario.owner), page: Page(limit: 9))
        }
        guard let entry = entries.randomElement(using: &random) else { continue }
        try await scenario.change { try $0.remove(entry.id, using: &$1) }
      case 8:
        _ = try await scenario.change { work, random in
          guard let change = try work.undoable(), change.kind != .tracker else { return TrackingOutcome() }
          return try work.undo(using: &random).outcome
        }
      case 9:
        let change = TrackingChange(owner: TrackingScenario.owner, at: scenario.now, kind: .imported, subject: "")
        for part in try Self.imported(
          scenario, (0..<9).map { _ in Int64.random(in: 0...150, using: &random) }, parts: 2)
        {
          try await scenario.change { try $0.add(part, as: change, using: &$1) }
        }
      default: scenario.now = scenario.now + .hours(7)
      }
      try await scenario.store.read { transaction in
        let aggregator = ProgressAggregator(try #require(try transaction.tracker(key)))
        let entries = try transaction.entries(EntryFilter(owner: TrackingScenario.owner), page: Page(limit: 10_000))
        let totals = Dictionary(grouping: entries, by: \.day).compactMapValues { aggregator.total(of: $0) }
        let kept = try transaction.dayTotals(of: key, in: .earliest ... .latest)
        let expected = totals.values.sorted { $0.day < $1.day }
        #expect(kept == expected)
        let summary = try transaction.summary(of: key)
        #expect(summary == (expected.isEmpty ? nil : aggregator.summary(of: expected)))
      }
    }
  }

  /// Returns entries of so many hours ago, sorted by time, in parts.
  static func imported(_ scenario: TrackingScenario, _ hours: [Int64], parts: Int) throws -> [[Entry]] {
    let tracker = try TrackingScenario.waterTracker()
    let entries = try hours.sorted(by: >).map { ago in
      let at = scenario.now - .hours(ago)
      let (day, minute) = tracker.day(at: at, in: scenario.zone)
      return Entry(
        id: EntryID(rawValue: 0), tracker: tracker.id, owner: TrackingScenario.owner, at: at, day: day, minute: minute,
        quantity: try TrackingScenario.ml(Double(100 + ago)))
    }
    let length = (entries.count + parts - 1) / parts
    return stride(from: 0, to: entries.count, by: length).map { Array(entries[$0..<min($0 + length, entries.count)]) }
  }

  /// An import in parts is undone part by part, unless another change came in between.
  @Test func importIsUndonePartByPart() async throws {
    let scenario = try TrackingScenario("2026-06-10 09:00")
    try await scenario.put(try TrackingScenario.waterTracker(goal: 500))
    func count() async throws -> Int {
      try await scenario.store.read { try $0.entryCount(EntryFilter(owner: TrackingScenario.owner)) }
    }
    func undo(_ begun: TrackingChange? = nil) async throws -> (change: TrackingChange, isDone: Bool) {
      let (context, now) = (scenario.context, scenario.now)
      return try await scenario.store.write { transaction in
        var random = SeededGenerator(seed: 1)
        let work = TrackingOperations(in: transaction, owner: TrackingScenario.owner, context, now: now)
        let undone = try work.undo(goingOnWith: begun, using: &random)
        return (undone.change, undone.isDone)
      }
    }
    let parts = try Self.imported(scenario, Array(1...12), parts: 3)
    let change = TrackingChange(owner: TrackingScenario.owner, at: scenario.now, kind: .imported, subject: "12")
    for part in parts { try await scenario.change { try $0.add(part, as: change, using: &$1) } }
    try await scenario.log(250)
    #expect(try await undo().isDone, "the cup that was logged after it")
    let first = try await undo()
    #expect(!first.isDone)
    #expect(try await count() == 8)
    try await scenario.log(250)
    await #expect(throws: TrackingRefused.self, "the cup is no part of the import") { try await undo(first.change) }
    #expect(try await count() == 9)
    #expect(try await undo().isDone)
    let second = try await undo()
    #expect(!second.isDone)
    #expect(try await undo(second.change).isDone)
    #expect(try await count() == 0)
    // Another import of the same moment is a separate one.
    var other = change
    other.subject = "8"
    for (part, change) in zip(parts, [change, other, other]) {
      try await scenario.change { try $0.add(part, as: change, using: &$1) }
    }
    let begun = try await undo()
    #expect(!begun.isDone)
    #expect(try await undo(begun.change).isDone)
    #expect(try await count() == 4)
  }

  @Test func invalidEntriesAreRefused() async throws {
    let scenario = try await Self.installed()
    let future = scenario.now + .hours(1)
    await #expect(throws: TrackingRefused.self) { try await scenario.log(250, at: future) }
    await #expect(throws: TrackingRefused.self) { try await scenario.log(-1) }
    await #expect(throws: TrackingRefused.noTracker(TrackerID(rawValue: "tea"))) {
      try await scenario.log(1, TrackerID(rawValue: "tea"))
    }
    let note = String(repeating: "a", count: 501)
    await #expect(throws: TrackingRefused.self) {
      try await scenario.change { try $0.log(EntryDraft(tracker: TrackingScenario.water, note: note), using: &$1) }
    }
    await #expect(throws: TrackingRefused.nothingToUndo) {
      try await scenario.change { work, random in
        _ = try work.undo(using: &random)
        return try work.undo(using: &random).outcome
      }
    }
  }

  /// In degraded mode: reminders are silent too, and *done* counts before it is recorded.
  @Test func reminderStaysSilentAfterTheGoalInDegradedMode() async throws {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    try await scenario.put(try TrackingScenario.waterTracker(goal: 500))
    _ = try await scenario.add("wtr1", when: "every 1h from 8:00 to 22:00", link: LinkedReminderTests.quiet)
    var degradedMode = DegradedMode()
    var shown: [OutboundMessage] = []
    var missed = 0
    for hour in 8...12 {
      scenario.now = scenario.at(hour < 10 ? "0\(hour):00" : "\(hour):00")
      let (look, context) = (degradedMode.query(now: scenario.now, limit: 50), scenario.context)
      let seen = try await scenario.store.read { try look.run(in: $0, context) }
      let work = degradedMode.fire(
        seen, DeliveryQueuePolicies(), context, Uptime(runningSince: .earliest), now: scenario.now,
        using: &scenario.random)
      shown += work.messages.map(\.message)
      missed += work.firings.flatMap(\.occurrences).count { $0.state == .missed(.doneAlready) }
      guard hour < 10, let last = shown.last else { continue }
      let reminder = try await scenario.store.read { try $0.reminder(last.occurrence.id.reminder)?.reminder }
      _ = try degradedMode.answer(
        OutboxTransaction.Answer(answer: .done, occurrence: last.occurrence.id), last.occurrence, reminder, context,
        now: scenario.now)
    }
    #expect(shown.map { scenario.clock($0.occurrence.id.scheduledAt).suffix(5) } == ["08:00", "09:00"])
    #expect(missed == 3)
    #expect(shown.first?.report?.button == "Log 250 ml")
    let (part, context, now) = (degradedMode.part(), scenario.context, scenario.now)
    let commit = try await scenario.store.write { transaction in
      var random = SeededGenerator(seed: 3)
      return try DegradedModeCommit.run(
        part, in: transaction, DeliveryQueuePolicies(), seenFailing: [:], context, now: now, using: &random)
    }
    #expect(commit.logged.count == 2 && commit.logged.last?.outcome.goalMet == true && commit.refused == [])
    let total = try await scenario.store.read {
      try $0.summary(of: TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water))?.total
    }
    #expect(total == (try TrackingScenario.ml(500)))
  }

  @Test func entriesBeforeTheTrackersStartCount() async throws {
    let scenario = try TrackingScenario("2026-06-03 09:00")
    var tracker = try TrackingScenario.waterTracker(goal: 250)
    tracker.startedOn = try #require(CivilDate("2026-06-03"))
    try await scenario.put(tracker)
    try await scenario.log(at: scenario.at("2026-06-01 20:00"))
    try await scenario.log(at: scenario.at("2026-06-02 20:00"))
    let today = try await scenario.log()
    #expect(today.progress?.form.streak.length == 3)
    let begun = try await scenario.store.read { [key = tracker.key] in try $0.tracker(key)?.startedOn }
    #expect(begun == CivilDate("2026-06-01"))
    // Undoing the entries undoes that too.
    for _ in 0..<3 { try await scenario.change { try $0.undo(using: &$1).outcome } }
    let again = try await scenario.store.read { [key = tracker.key] in try $0.tracker(key)?.startedOn }
    #expect(again == CivilDate("2026-06-03"))
  }

  @Test func skippedDayThatIsDoneIsNoSkip() async throws {
    let scenario = try TrackingScenario("2026-06-02 09:00")
    var tracker = try TrackingScenario.waterTracker(goal: 250)
    tracker.skips = [try #require(CivilDate("2026-06-01")), try #require(CivilDate("2026-05-20"))]
    try await scenario.put(tracker)
    try await scenario.log()
    let outcome = try await scenario.log(at: scenario.at("2026-06-01 20:00"))
    #expect(outcome.progress?.isMet == true && outcome.progress?.counts == true)
    let skips = try await scenario.store.read { [key = tracker.key] in try $0.tracker(key)?.skips }
    #expect(skips == [try #require(CivilDate("2026-05-20"))])
  }
}
