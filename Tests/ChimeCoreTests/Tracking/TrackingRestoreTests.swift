import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// A restore replaces what an owner has by a backup, as one change.
@Suite struct TrackingRestoreTests {
  /// Restores the owner's backup of this moment after `changes`, and returns the replaced reminders.
  private func restore(
    _ scenario: TrackingScenario, after changes: (TrackingScenario) async throws -> Void
  ) async throws -> [Reminder] {
    let records = try await scenario.store.read { transaction in
      var records: [BackupRecord] = []
      try BackupRecords(of: TrackingScenario.owner, in: transaction).each { records.append($0) }
      return records
    }
    try await changes(scenario)
    let (context, now, random) = (scenario.context, scenario.now, scenario.random)
    return try await scenario.store.write { transaction in
      var random = random
      let restore = TrackingRestore(
        TrackingOperations(in: transaction, owner: TrackingScenario.owner, context, now: now))
      var plan = try restore.begin()
      try restore.stage(records, &plan)
      try restore.sumUp(plan.trackers.keys.sorted(), plan)
      let done = try restore.finish(plan, using: &random)
      _ = try restore.remember(
        records.compactMap { if case .occurrence(let occurrence) = $0 { occurrence } else { nil } }, done.names)
      return done.before
    }
  }

  private func change(
    _ reminder: Reminder, _ scenario: TrackingScenario, _ edit: @escaping @Sendable (inout Reminder) -> Void
  ) async throws {
    try await scenario.store.write { transaction in
      var record = try #require(try transaction.reminder(reminder.id))
      edit(&record.reminder)
      record.reminder.generation += 1
      try transaction.upsert(record.reminder, next: record.next)
    }
  }

  @Test func timeThatIsDueDuringARestoreFires() async throws {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    let reminder = try await scenario.add("drink", when: "daily at 9:00", link: nil)
    let before = try await restore(scenario) { scenario in
      try await change(reminder, scenario) { $0.title = "Sip" }
      // Nothing has fired yet.
      scenario.now = scenario.at("09:00")
    }
    #expect(before.map(\.title) == ["Sip"])
    try await scenario.run(until: "10:00")
    #expect(scenario.shownTimes() == ["09:00"])
  }

  @Test func restoredScheduleCountsFromTheRestore() async throws {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    let reminder = try await scenario.add("drink", when: "daily at 9:00", link: nil)
    let later = try Schedule(canonical: "daily at 12:00")
    _ = try await restore(scenario) { scenario in
      try await change(reminder, scenario) { $0.schedule = later }
      scenario.now = scenario.at("10:00")
    }
    try await scenario.run(until: "13:00")
    #expect(scenario.shownTimes() == [])
    #expect(try await scenario.next(reminder) == "09:00")
  }

  @Test func restoreIsRefusedOnceWhatItStagedIsBeingRemoved() async throws {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    let (context, now) = (scenario.context, scenario.now)
    try await scenario.store.write { transaction in
      let restore = TrackingRestore(
        TrackingOperations(in: transaction, owner: TrackingScenario.owner, context, now: now))
      var plan = try restore.begin()
      try restore.stage([], &plan)
      // The clock was set ahead, and the upkeep of the history takes the restore for dead.
      _ = try transaction.clearStagingOwners(before: now + .minutes(10), limit: 1)
      var generator = SeededGenerator(seed: 1)
      #expect { try restore.stage([], &plan) } throws: { Self.isConflict($0) }
      #expect { try restore.sumUp([], plan) } throws: { Self.isConflict($0) }
      #expect { try restore.finish(plan, using: &generator) } throws: { Self.isConflict($0) }
    }
  }

  private static func isConflict(_ error: any Error) -> Bool {
    if case TrackingRefused.conflict = error { true } else { false }
  }

  @Test func restoreRemovesWhatTheBackupLacks() async throws {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    let kept = try await scenario.add("drink", when: "daily at 9:00", link: nil)
    _ = try await restore(scenario) { scenario in
      _ = try await scenario.add("walk", title: "Walk", when: "daily at 9:30", link: nil)
      try await scenario.put(try TrackingScenario.waterTracker())
      try await scenario.log(250)
    }
    let key = TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water)
    #expect(try await scenario.store.read { try $0.tracker(key) } == nil)
    try await scenario.run(until: "10:00")
    #expect(scenario.shownTimes("Walk") == [])
    #expect(scenario.shownTimes() == ["09:00"])
    #expect(try await scenario.next(kept) == "09:00")
  }

  @Test func jobThatHasRecoveredSinceTheBackupIsNotDown() async throws {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    let job = try await scenario.add("job", title: "Copy", when: "daily at 9:00", link: nil)
    try await change(job, scenario) { $0.within = .minutes(10) }
    try await scenario.run(until: "09:30")
    let first = OccurrenceID(reminder: job.id, scheduledAt: scenario.at("09:00"))
    let reported = try await scenario.store.read { try ($0.reminder(job.id)?.downSince, $0.occurrence(first)?.isOpen) }
    #expect(reported == (scenario.at("09:10"), true))

    _ = try await restore(scenario) { scenario in
      scenario.now = scenario.at("09:40")
      let (context, now) = (scenario.context, scenario.now)
      _ = try await scenario.store.write { transaction in
        var random = SeededGenerator(seed: 1)
        return try PingTransaction.run(
          Ping(at: now, kind: .succeeded, uid: TrackingScenario.owner),
          of: try #require(try transaction.reminder(job.id)), in: transaction, context,
          uptime: Uptime(runningSince: .earliest), using: &random)
      }
    }
    let recovered = try await scenario.store.read { try ($0.reminder(job.id)?.downSince, $0.occurrence(first)?.state) }
    #expect(recovered == (nil, .done))
  }
}
