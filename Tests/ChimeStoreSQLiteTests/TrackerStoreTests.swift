import ChimeCore
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// Tests of this engine only: how it finds trackers, and what it leaves on the disk.
@Suite struct TrackerStoreTests {
  private static let key = TrackerKey(owner: 7, id: TrackerID(rawValue: "water"))

  private static func day(_ number: Int) -> CivilDate { CivilDate(dayNumber: 20_542 + number) ?? .latest }

  private static func tracker(_ key: TrackerKey = key) -> Tracker {
    Tracker(
      id: key.id, owner: key.owner, title: "Water", kind: .amount, startedOn: day(0),
      createdAt: Instant(seconds: 1_774_828_800))
  }

  private static func entry(_ number: Int, item: Bool = false) -> Entry {
    Entry(
      id: EntryID(rawValue: 0), tracker: key.id, owner: key.owner,
      at: Instant(seconds: 1_774_828_800 + Int64(number)), day: day(number / 10), minute: 480,
      quantity: Quantity(grains: 4_000_000_000), item: item ? ItemID(rawValue: "cup") : nil,
      note: number % 2 == 0 ? "note" : nil)
  }

  private static func change(_ kind: TrackingChange.Kind, _ seconds: Int64 = 0) -> TrackingChange {
    TrackingChange(owner: key.owner, at: Instant(seconds: 1_774_828_800 + seconds), kind: kind, subject: "")
  }

  private static func count(_ path: String, _ table: String, _ condition: String = "1") throws -> Int {
    Int(try Raw.rows(path, "SELECT count(*) FROM \(table) WHERE \(condition)").first ?? "") ?? -1
  }

  /// Every statement uses an index, whatever other rows there are.
  @Test func everyStatementUsesAnIndex() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await SQLiteStore.open(path: path).close()
    let connection = try Connection(path: path, busyTimeout: 0)
    func plan(_ sql: StaticString) throws -> String {
      try connection.all(sql) { $0.text(3) }.joined(separator: "; ")
    }
    for (found, wanted) in [
      (
        try plan(
          "EXPLAIN QUERY PLAN SELECT count(*) FROM entry e INDEXED BY entry_at WHERE e.deleted_by IS NULL AND e.tracker = 1"
        ),
        "SEARCH e USING COVERING INDEX entry_at (tracker=?)"
      ),
      (
        try plan(
          """
          EXPLAIN QUERY PLAN SELECT e.at, e.key FROM entry e INDEXED BY entry_at WHERE e.deleted_by IS NULL AND e.tracker = 1
          ORDER BY e.at DESC, e.key DESC LIMIT 1 OFFSET 1
          """),
        // Only rows of the same time are sorted.
        "SEARCH e USING COVERING INDEX entry_at (tracker=?); USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"
      ),
      (
        try plan(
          """
          EXPLAIN QUERY PLAN SELECT count(*) FROM entry e INDEXED BY entry_day
          WHERE e.deleted_by IS NULL AND e.tracker = 1 AND e.day BETWEEN 1 AND 2
          """), "SEARCH e USING COVERING INDEX entry_day (tracker=? AND day>? AND day<?)"
      ),
      (
        try plan(
          """
          EXPLAIN QUERY PLAN SELECT count(*) FROM entry e INDEXED BY entry_note
          WHERE e.deleted_by IS NULL AND e.tracker = 1 AND e.has_note = 1
          """), "SEARCH e USING COVERING INDEX entry_note (tracker=?)"
      ),
      (
        try plan(
          """
          EXPLAIN QUERY PLAN SELECT e.at, e.key FROM entry e INDEXED BY entry_item
          WHERE e.deleted_by IS NULL AND e.item = 1 AND e.day BETWEEN 1 AND 2 ORDER BY e.at DESC, e.key DESC
          """), "SEARCH e USING COVERING INDEX entry_item (item=?); USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"
      ),
      (
        try plan("EXPLAIN QUERY PLAN UPDATE entry SET deleted_by = NULL WHERE deleted_by = 1"),
        "SEARCH entry USING COVERING INDEX entry_deleted_by (deleted_by=?)"
      ),
      (
        try plan("EXPLAIN QUERY PLAN UPDATE entry SET deleted_by = 1 WHERE tracker = 1 AND deleted_by IS NULL"),
        "SEARCH entry USING COVERING INDEX entry_day (tracker=?)"
      ),
      (
        try plan(
          """
          EXPLAIN QUERY PLAN SELECT item, sum(count), max(day) FROM item_day INDEXED BY item_day_day
          WHERE tracker = 1 AND day BETWEEN 1 AND 2 GROUP BY item
          """),
        "SEARCH item_day USING COVERING INDEX item_day_day (tracker=? AND day>? AND day<?); USE TEMP B-TREE FOR GROUP BY"
      ),
      (
        try plan("EXPLAIN QUERY PLAN SELECT key FROM change WHERE owner = 1 ORDER BY key DESC LIMIT 1"),
        "SEARCH change USING COVERING INDEX change_owner (owner=?)"
      ),
    ] { #expect(found == wanted) }
  }

  /// Removing everything copies nothing, and expired undo records disappear from the disk.
  @Test func expiredRecordsDisappearFromTheDisk() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let packID = PackID(rawValue: "hydration")
    try await store.write { store in
      try store.put(Self.tracker())
      for number in 0..<100 { try store.insert(Self.entry(number, item: true)) }
      try store.put(
        Item(id: ItemID(rawValue: "cup"), tracker: Self.key.id, owner: 7, title: "Cup", createdAt: .earliest))
      try store.put(
        Milestone(id: 0, tracker: Self.key.id, owner: 7, day: Self.day(1), title: "One", createdAt: .earliest))
      try store.put(
        InstalledPack(pack: Pack(id: packID, title: "", text: ""), owner: 7, installedAt: .earliest))
      try store.setProgress(
        AchievementProgress(pack: packID, achievement: AchievementID(rawValue: "a")), owner: 7)
      try store.setExperience(4, of: packID, owner: 7)
      // Everything is replaced, and then removed.
      try store.begin(Self.change(.edited))
      for entry in try store.entries(EntryFilter(owner: 7), page: Page()) {
        var edited = entry
        edited.note = nil
        try store.update(edited)
      }
      var item = try #require(try store.items(of: Self.key).first)
      item.title = "Another"
      try store.put(item)
      var milestone = try #require(try store.milestones(owner: 7, tracker: nil).first)
      milestone.title = "Another"
      try store.put(milestone)
      var tracker = Self.tracker()
      tracker.icon = "cup"
      try store.put(tracker)
      try store.put(
        InstalledPack(pack: Pack(id: packID, title: "Another", text: ""), owner: 7, installedAt: .earliest))
      try store.begin(Self.change(.removed, 1))
      _ = try store.removeTracker(Self.key)
      _ = try store.removePack(packID, owner: 7)
      let stagingOwner = try store.makeStagingOwner(for: 7, now: Instant(seconds: 1_774_828_800))
      _ = try store.exchange(Self.change(.restored, 1), with: stagingOwner)
    }
    let names = ["tracker", "entry", "item", "milestone", "pack"]
    for name in names {
      let rows = name == "entry" ? 100 : 1
      #expect(try Self.count(path, name) == rows && Self.count(path, name, "deleted_by IS NOT NULL") == rows, "\(name)")
      #expect(try Self.count(path, name + "_history") == rows, "\(name)_history")
    }
    #expect(try Self.count(path, "achievement") == 1 && Self.count(path, "experience") == 1)

    let later = Instant(seconds: 1_774_828_800 + 2)
    var steps = 0
    while try await store.write({ try $0.forgetChanges(before: later, limit: 20) }) {
      steps += 1
      #expect(steps < 100)
      if steps >= 100 { break }
    }
    // 208 rows and two changes, twenty at a time.
    #expect(steps == 10 || steps == 11, "\(steps) steps")
    // The staging owner's rows, with unlocked achievements.
    #expect(try await store.write { try $0.clearStagingOwners(before: later, limit: 20) } == false)
    for name in names + names.map({ $0 + "_history" }) + [
      "achievement", "experience", "change", "item_day", "item_total",
    ] {
      #expect(try Self.count(path, name) == 0, "\(name)")
    }
    await store.close()
  }

  /// The cost of a removal does not grow with the rows, because nothing is copied.
  @Test func thousandEntriesAreRemovedByOneStatementAndRestored() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let change = try await store.write { store in
      try store.put(Self.tracker())
      for number in 0..<1_000 { try store.insert(Self.entry(number, item: number % 3 == 0)) }
      let change = try store.begin(Self.change(.removedAll))
      #expect(try store.removeEntries(of: Self.key, in: nil) == 1_000)
      #expect(try store.itemCounts(of: Self.key, in: nil).isEmpty)
      return change
    }
    #expect(try Self.count(path, "entry_history") == 0)
    #expect(try Self.count(path, "entry", "deleted_by = \(change)") == 1_000)
    try await store.write { store in
      let touched = try store.takeBack(change)
      #expect(touched[Self.key]?.count == 100 && touched.count == 1)
      #expect(try store.entryCount(EntryFilter(owner: 7)) == 1_000)
      #expect(try store.itemCount(of: ItemID(rawValue: "cup"), key: Self.key) == 334)
    }
    await store.close()
  }

  /// Rows that a later version has written, or that are damaged.
  @Test func unreadableRowsAreSkippedAndReported() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let packID = PackID(rawValue: "hydration")
    let other = TrackerKey(owner: 7, id: TrackerID(rawValue: "weight"))
    try await store.write { store in
      try store.put(Self.tracker())
      try store.put(Self.tracker(other))
      var entry = Self.entry(0, item: true)
      entry.fields = ["fat": Quantity(grains: 1)]
      try store.insert(entry)
      try store.setSummary(TrackerSummary(), of: Self.key)
      for id in [packID, PackID(rawValue: "watches")] {
        try store.put(InstalledPack(pack: Pack(id: id, title: "", text: ""), owner: 7, installedAt: .earliest))
      }
      try store.begin(Self.change(.logged))
    }
    await store.close()
    try Raw.run(
      path,
      """
      UPDATE tracker SET definition = '{"kind":"rating","title":{},"startedOn":"2026-01-01"}'
        WHERE key = (SELECT key FROM tracker_name WHERE id = 'water');
      UPDATE tracker_summary SET content = '{"entries":1}';
      UPDATE entry SET fields = '{';
      UPDATE pack SET definition = '[]', print = 1 WHERE key = (SELECT key FROM pack_name WHERE id = 'hydration');
      UPDATE change SET kind = 'divined';
      """)

    let again = try SQLiteStore.open(path: path)
    try await again.write { store in
      let trackers = try store.trackers(owner: nil)
      #expect(trackers.map(\.id) == [other.id])
      let failure = #expect(throws: StoreFailure.self) { try store.tracker(Self.key) }
      #expect(failure?.sentence.contains("tracker water cannot be read; you can remove it") == true)
      #expect(try store.tracker(other) != nil)
      #expect(try store.packs(owner: 7).map(\.pack.id.rawValue) == ["watches"])
      #expect(throws: StoreFailure.self) { try store.pack(packID, owner: 7) }
      #expect(try store.summary(of: Self.key) == nil, "to be made anew")
      let entry = try #require(try store.entries(EntryFilter(owner: 7), page: Page()).first)
      #expect(entry.note == "note" && entry.fields.isEmpty)
      let last = try #require(try store.lastChange(owner: 7, since: .earliest))
      #expect(last.kind == .edited)
      #expect(try store.takeBack(last.id).isEmpty)
      // Removed and added again, they work normally.
      #expect(try store.removeTracker(Self.key) && store.removePack(packID, owner: 7))
      try store.put(Self.tracker())
      #expect(try store.trackers(owner: 7).count == 2)
    }
    await again.close()
  }
}
