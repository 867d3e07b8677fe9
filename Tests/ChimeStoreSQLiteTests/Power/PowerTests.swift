import CPowerVFS
import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// Power cuts and failing disks, simulated by our own file layer: acknowledged changes are there, and none is there by half.
@Suite struct PowerTests {
  /// The seed determines a game completely.
  private static let seed =
    ProcessInfo.processInfo.environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)

  /// The number of games; more for a longer run.
  private static let games =
    ProcessInfo.processInfo.environment["CHIME_TEST_GAMES"].flatMap { UInt64($0) }
    ?? ProofTier.amount(quick: 1, proof: 50)

  /// The distance between tested power cuts, in file changes.
  private static let step = ProofTier.amount(quick: 3, proof: 1)
  private static let fates = ProofTier.amount(
    quick: [power_nothing, power_garbled], proof: [power_nothing, power_all, power_some, power_garbled])

  /// Tests a power cut after every change to a file, with every fate of unsynchronized data.
  @Test func powerCutAtAnyInstantLosesNoAcknowledgedChange() async throws {
    print("PowerTests: CHIME_TEST_SEED=\(Self.seed)")
    var (cuts, different) = (0, 0)
    for game in 0..<Self.games {
      let trial = try PowerTrial(seed: Self.seed + game, steps: ProofTier.amount(quick: 5, proof: 20))
      try await trial.play()
      let result = try await Self.firstLoss(trial)
      (cuts, different) = (cuts + result.cuts, different + result.different)
      #expect(result.loss == nil, "\(result.loss ?? "")")
    }
    print("PowerTests: \(cuts) power cuts left \(different) different disks")
    #expect(different > ProofTier.amount(quick: 60, proof: 500), "cuts worth the name")
  }

  /// The test detects every broken store.
  @Test(
    arguments: ProofTier.amount(
      quick: [.repliesBeforeCommit], proof: PowerTrial.Mutation.allCases.filter { $0 != .none }))
  func brokenStoresAreDetected(_ mutation: PowerTrial.Mutation) async throws {
    let trial = try PowerTrial(seed: Self.seed, steps: 12, mutation: mutation)
    try await trial.play()
    let loss = try #require(try await Self.firstLoss(trial).loss, "CHIME_TEST_SEED=\(Self.seed)")
    print("PowerTests: \(mutation): \(loss.prefix { $0 != "\n" })")
  }

  /// The power fails repeatedly, also during the recovery from an earlier failure.
  @Test func repeatedPowerCutsLoseNothing() async throws {
    var random = SeededGenerator(seed: Self.seed)
    let trial = try PowerTrial(seed: Self.seed, steps: ProofTier.amount(quick: 40, proof: 150))
    try await trial.play()
    var (folder, next) = (try Folder(), try Folder())
    let disk = try PowerDisk()
    var (reached, runs) = (0, 0)
    while reached < trial.steps {
      runs += 1
      try disk.begin(folder)
      var marks: [Int] = []
      let start = reached
      let store = try trial.open(folder, through: disk)
      for step in start..<min(trial.steps, start + Int.random(in: 0...12, using: &random)) {
        _ = try await trial.move(step, on: store)
        marks.append(disk.changes)
      }
      if Bool.random(using: &random) { await store.close() }
      let cut = PowerCut(
        change: Int.random(in: 0...disk.changes, using: &random),
        fate: [power_nothing, power_all, power_some, power_garbled].randomElement(using: &random) ?? power_some,
        seed: random.next())
      await store.close()
      _ = try disk.leave(cut, in: next)
      (folder, next) = (next, folder)
      // Examine a copy, so that the next start uses what the cut left.
      _ = try disk.leave(cut, in: next)
      let quiet = try PowerDisk()
      let found = try await trial.problem(
        in: next, through: quiet, acknowledged: start + marks.count { $0 <= cut.change })
      #expect(found.problem == nil, "CHIME_TEST_SEED=\(Self.seed), run \(runs), \(cut)")
      if found.problem != nil { return }
      reached = found.reached
    }
    print("PowerTests: \(trial.steps) steps took \(runs) runs")
  }

  /// Changes of many callers share commits: each acknowledged one is there, whatever it was grouped with.
  @Test func changesOfASharedCommitSurviveTogether() async throws {
    let (folder, ruins) = (try Folder(), try Folder())
    let (disk, quiet) = (try PowerDisk(), try PowerDisk())
    try disk.begin(folder)
    let store = try SQLiteStore.open(path: folder.path + "/chime.db", through: disk.name)
    let marks = try await withThrowingTaskGroup(of: (name: String, change: Int).self) { group in
      for caller in 0..<8 {
        group.addTask {
          for number in 0..<5 { try await store.write { try $0.setNote("early-\(caller)-\(number)", "kept") } }
          return ("early-\(caller)-4", disk.changes)
        }
        group.addTask {
          try await store.write { try $0.setNote("\(caller)", "kept") }
          return ("\(caller)", disk.changes)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    await store.close()
    for change in stride(from: 0, through: disk.changes, by: Self.step) {
      for fate in [power_nothing, power_some] {
        let cut = PowerCut(change: change, fate: fate, seed: Self.seed &+ UInt64(change))
        _ = try disk.leave(cut, in: ruins)
        let path = ruins.path + "/chime.db"
        let again = try SQLiteStore.open(path: path, through: quiet.name)
        let lost = try await again.read { store in
          try marks.filter { mark in try mark.change <= change && store.note(mark.name) != "kept" }.map(\.name)
        }
        await again.close()
        try #require(lost.isEmpty, "CHIME_TEST_SEED=\(Self.seed), power cut \(cut)")
      }
    }
  }

  /// An acknowledged entry is there with its day's total and its undo record; an unacknowledged one is there with all
  /// of that or not at all.
  @Test func entrySurvivesWithItsTotalAndUndoRecord() async throws {
    let (folder, ruins) = (try Folder(), try Folder())
    let (disk, quiet) = (try PowerDisk(), try PowerDisk())
    let day = try #require(CivilDate(year: 2026, month: 3, day: 30))
    let key = TrackerKey(owner: 7, id: TrackerID(rawValue: "water"))
    func open(_ folder: Folder, _ disk: PowerDisk) throws -> SQLiteStore {
      try SQLiteStore.open(path: folder.path + "/chime.db", through: disk.name)
    }
    let empty = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await empty.write { store in
      try store.put(
        Tracker(id: key.id, owner: 7, title: "Water", kind: .check, startedOn: day, createdAt: .earliest))
    }
    await empty.close()
    try disk.begin(folder)
    let store = try open(folder, disk)
    var marks: [Int] = []
    for number in 1...8 {
      try await store.write { store in
        let at = Instant(seconds: Int64(number))
        try store.begin(TrackingChange(owner: 7, at: at, kind: .logged, subject: "\(number)"))
        try store.insert(
          Entry(id: EntryID(rawValue: 0), tracker: key.id, owner: 7, at: at, day: day, minute: number))
        let total = DayTotal(
          day: day, count: number, total: .zero, firstAt: at, lastAt: at, firstMinute: 0, lastMinute: 0, isMet: false)
        try store.setDayTotal(total, on: day, of: key)
      }
      marks.append(disk.changes)
    }
    await store.close()
    for change in stride(from: 0, through: disk.changes, by: Self.step) {
      for fate in Self.fates {
        let cut = PowerCut(change: change, fate: fate, seed: Self.seed &+ UInt64(change))
        _ = try disk.leave(cut, in: ruins)
        let again = try open(ruins, quiet)
        let (entries, total, last) = try await again.read { store in
          (
            try store.entryCount(EntryFilter(owner: 7)), try store.dayTotal(of: key, on: day)?.count ?? 0,
            try store.lastChange(owner: 7, since: .earliest)?.subject ?? "0"
          )
        }
        await again.close()
        let acknowledged = marks.count { $0 <= change }
        try #require(
          (acknowledged...acknowledged + 1).contains(entries) && total == entries && last == "\(entries)",
          "CHIME_TEST_SEED=\(Self.seed), \(cut): \(entries) of \(acknowledged), \(total), \(last)")
      }
    }
  }

  /// If the power fails during a migration, the next start completes it.
  @Test func powerCutDuringAMigrationIsRepairedAtTheNextStart() async throws {
    let (folder, ruins) = (try Folder(), try Folder())
    let (disk, quiet) = (try PowerDisk(), try PowerDisk())
    let path = folder.path + "/chime.db"
    try await SQLiteStore.open(path: path).close()
    try Raw.run(
      path,
      """
      WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 400)
      INSERT INTO reminder_name SELECT n, 'r' || n FROM n;
      INSERT INTO reminder SELECT key, 1000, 1, 1, 0, '', 'daily at 08:00', 'Title ' || key, NULL, '{}', NULL, NULL, NULL, NULL, NULL FROM reminder_name;
      INSERT INTO due SELECT key, -1, 1000 * key, NULL, 0 FROM reminder_name;
      INSERT INTO occurrence (scheduled_at, reminder, owner, state, rounds, title)
        SELECT key, key, 1000, key % 6, 1, 'Title' FROM reminder_name;
      """)
    let step = Migration(
      version: Schema.current + 1,
      script: """
        ALTER TABLE reminder ADD COLUMN invented INTEGER NOT NULL DEFAULT 7;
        UPDATE reminder SET body = title, invented = key;
        UPDATE due SET next_at = next_at + 1;
        CREATE INDEX occurrence_invented ON occurrence (title, state);
        """)
    func upgraded(_ path: String, through layer: String) throws -> SQLiteStore {
      try SQLiteStore.open(path: path) {
        ($0.migrations, $0.fileLayer, $0.keepingSnapshots) = (Schema.migrations + [step], layer, 0)
      }
    }
    try disk.begin(folder)
    await (try upgraded(path, through: disk.name)).close()
    let wanted = Contents(of: path, through: disk)
    #expect(wanted.verdict == "ok" && disk.changes > 20, "\(wanted.verdict), \(disk.changes) changes")
    for change in stride(from: 0, through: disk.changes, by: Self.step) {
      for fate in Self.fates {
        let cut = PowerCut(change: change, fate: fate, seed: Self.seed &+ UInt64(change))
        _ = try disk.leave(cut, in: ruins)
        let path = ruins.path + "/chime.db"
        let store = try upgraded(path, through: quiet.name)
        let found = Contents(of: path, through: quiet)
        await store.close()
        try #require(found == wanted, "CHIME_TEST_SEED=\(Self.seed), power cut \(cut): \(found.verdict)")
      }
    }
  }

  /// If the disk fails or is full at any access, the change is refused, and succeeds when the disk works again.
  @Test(arguments: [power_fault_io, power_fault_full])
  func failingDiskRefusesChangesUntilItWorks(_ fault: power_fault) async throws {
    var random = SeededGenerator(seed: Self.seed)
    let trial = try PowerTrial(seed: Self.seed + 10, steps: ProofTier.amount(quick: 60, proof: 150))
    try await trial.play()
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let disk = try PowerDisk()
    try disk.begin(folder)
    var store = try trial.open(folder, through: disk)
    var refused = 0
    for step in 0..<trial.steps {
      disk.fail(fault, after: Int.random(in: 0...12, using: &random), count: Int.random(in: 1...4, using: &random))
      var answer = try await trial.move(step, on: store)
      disk.work()
      if answer == nil {
        refused += 1
        let found = Contents(of: path, through: disk)
        #expect(found.fingerprint == trial.model[step], "CHIME_TEST_SEED=\(Self.seed): a refusal changes nothing")
        answer = try await trial.move(step, on: store)
      }
      let found = Contents(of: path, through: disk)
      try #require(
        answer != nil && found == Contents(fingerprint: trial.model[step + 1], verdict: "ok"),
        "CHIME_TEST_SEED=\(Self.seed), step \(step): \(found.verdict)")
      // A start on a failing disk either is refused or works normally.
      guard step % 10 == 9 else { continue }
      await store.close()
      disk.fail(fault, after: Int.random(in: 0...20, using: &random), count: 2)
      do {
        store = try trial.open(folder, through: disk)
      } catch StoreFailure.unavailable {
        disk.work()
        store = try trial.open(folder, through: disk)
      }
      disk.work()
      #expect(Contents(of: path, through: disk).fingerprint == trial.model[step + 1], "step \(step)")
    }
    await store.close()
    print("PowerTests: \(refused) of \(trial.steps) steps were refused")
    #expect(refused > trial.steps / 15)
  }

  /// Tests all power cuts in order, so that the first loss found is the earliest.
  private static func firstLoss(_ trial: PowerTrial) async throws -> (loss: String?, cuts: Int, different: Int) {
    var seen: Set<[UInt64]> = []
    var cuts = 0
    for change in 0...trial.disk.changes {
      for fate in [power_nothing, power_all, power_some, power_garbled] {
        let cut = PowerCut(change: change, fate: fate, seed: trial.seed &* 31 &+ UInt64(change))
        cuts += 1
        if let loss = try await trial.loss(at: cut, seen: &seen) { return (loss, cuts, seen.count) }
      }
    }
    return (nil, cuts, seen.count)
  }
}
