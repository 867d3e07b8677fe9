import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A TrackerChecker adds up the entries of trackers by itself: each *Done* logs one, nothing else does, and no total lies.
final class TrackerChecker {
  private unowned let world: Simulation
  private var entries: [EntryID: Entry] = [:]
  /// What each change of an owner has done to entries, oldest first; the last one can be undone.
  private var changes: [UInt32: [Change]] = [:]
  private var sums: [Day: Sum] = [:]
  private var seen = Seen()

  fileprivate struct Change {
    var added: Set<EntryID>
    var removed: Set<EntryID>
  }

  fileprivate struct Day: Hashable {
    var key: TrackerKey
    var day: CivilDate
  }

  fileprivate struct Sum {
    var count = 0
    var total = Quantity.zero
  }

  /// What changes with every change of trackers.
  fileprivate struct Seen: Equatable {
    var entry: Int64 = 0
    var change: Int64 = 0
    var count = 0
  }

  init(_ world: Simulation) { self.world = world }

  /// What it knows of the store.
  struct Model {
    fileprivate var entries: [EntryID: Entry]
    fileprivate var changes: [UInt32: [Change]]
    fileprivate var sums: [Day: Sum]
    fileprivate var seen: Seen
  }

  var model: Model { Model(entries: entries, changes: changes, sums: sums, seen: seen) }

  func goBack(to model: Model) {
    (entries, changes, sums, seen) = (model.entries, model.changes, model.sums, model.seen)
  }

  /// Returns whether the day of `time` needs nothing more, so that the reminder is silent.
  func isDone(_ reminder: Reminder, at time: Instant, _ contents: MemoryContents, _ context: ReminderContext) -> Bool {
    guard let link = reminder.tracker, link.quietWhenDone,
      let tracker = contents.tracking.tracker(TrackerKey(owner: reminder.owner, id: link.tracker))
    else { return false }
    return isMet(tracker, on: tracker.day(at: time, in: context.zones.local).day)
  }

  private func isMet(_ tracker: Tracker, on day: CivilDate) -> Bool {
    var sum = Sum()
    // A week begins on Monday.
    let days = tracker.goal?.period == .week ? (day.weekday.rawValue - Weekday.monday.rawValue + 7) % 7 : 0
    for back in 0...days {
      guard let one = sums[Day(key: tracker.key, day: day.adding(days: -back) ?? day)] else { continue }
      sum.count += one.count
      sum.total = sum.total + one.total
    }
    guard sum.count > 0 else { return false }
    return switch tracker.goal?.target {
    case .count(let count): sum.count >= count
    case .total(let total): sum.total >= total
    case .value, nil: true
    }
  }

  /// Checks what a transaction has done to the entries.
  ///
  /// - Parameter done: the reminders of what it has ended as done.
  func check(_ contents: MemoryContents, done: [Reminder], _ work: Work) {
    let tracking = contents.tracking
    let now = Seen(entry: tracking.lastEntry, change: tracking.lastChange, count: tracking.changes.count)
    guard seen != now || !done.isEmpty else { return }
    let isNews = tracking.lastChange > seen.change
    seen = now
    let present = Dictionary(
      tracking.entries.lazy.filter { $0.owner < StagingOwners.first }.map { ($0.id, $0) }
    ) { first, _ in first }
    let added = present.values.filter { entries[$0.id] == nil }
    let removed = entries.values.filter { present[$0.id] == nil }
    for entry in added { add(entry, 1) }
    for entry in removed { add(entry, -1) }
    entries = present
    checkReasons(added, removed, tracking, done: done, isNews: isNews, work)
    checkTotals(added + removed, tracking)
  }

  private func add(_ entry: Entry, _ sign: Int) {
    let day = Day(key: entry.key, day: entry.day)
    var sum = sums[day] ?? Sum()
    sum.count += sign
    sum.total = Quantity(grains: sum.total.grains + Int64(sign) * (entry.quantity?.grains ?? 0))
    sums[day] = sum
  }

  private func checkReasons(
    _ added: [Entry], _ removed: [Entry], _ tracking: MemoryTracking, done: [Reminder], isNews: Bool, _ work: Work
  ) {
    func fail(_ what: String) { world.checker.fail("\(work.kind) at \(work.now.text): \(what)") }
    let isRequest = if case .answer = work.kind { false } else { true }
    let owner = (isRequest ? world.asking : done.first?.owner) ?? Simulation.owner
    let change = Change(added: Set(added.map(\.id)), removed: Set(removed.map(\.id)))
    if work.kind == .client(.undo) {
      let undone = changes[owner]?.popLast() ?? Change(added: [], removed: [])
      if change.added != undone.removed || change.removed != undone.added {
        fail(
          "\(removed.count) entries are gone and \(added.count) have come, and the last change had made "
            + "\(undone.added.count) and removed \(undone.removed.count)")
      }
      return
    }
    if isNews { changes[owner, default: []].append(change) }
    if work.kind == .client(.restore) { return checkRestored(tracking, owner, fail) }
    if !removed.isEmpty { fail("\(removed.count) entries are gone, and nobody has undone them") }
    if work.kind == .client(.log) { return added.count == 1 ? () : fail("\(added.count) entries are logged") }
    var wanted: [TrackerID: Quantity?] = [:]
    for reminder in done {
      guard let link = reminder.tracker, link.logsWhenDone,
        let tracker = tracking.tracker(TrackerKey(owner: reminder.owner, id: link.tracker))
      else { continue }
      wanted[tracker.id] = .some(link.amount ?? tracker.usual)
    }
    if added.count != wanted.count { fail("\(added.count) entries are logged, and \(wanted.count) are to be") }
    for entry in added {
      guard let quantity = wanted[entry.tracker] else { return fail("an entry of \(entry.tracker) is logged") }
      if entry.at != work.now || entry.quantity != quantity { fail("the entry of \(entry.tracker) is another") }
    }
  }

  /// Checks that an owner has the entries of the backup, and no others.
  private func checkRestored(_ tracking: MemoryTracking, _ owner: UInt32, _ fail: (String) -> Void) {
    func plain(_ entries: some Sequence<Entry>) -> [String] {
      entries.map { "\($0.tracker) \($0.at.text) \($0.day) \($0.quantity?.grains ?? 0)" }.sorted()
    }
    let wanted = world.restored.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }
    let found = entries.values.filter { $0.owner == owner }
    if plain(found) != plain(wanted) {
      fail("there are \(found.count) entries, and the backup has \(wanted.count), or they differ")
    }
  }

  private func checkTotals(_ changed: [Entry], _ tracking: MemoryTracking) {
    for day in Set(changed.map { Day(key: $0.key, day: $0.day) }) {
      let (sum, total) = (sums[day] ?? Sum(), tracking.totals[day.key]?[day.day])
      if total?.count ?? 0 != sum.count || total?.total ?? .zero != sum.total {
        world.checker.fail(
          "\(day.key.id) has \(sum.count) entries on \(day.day), and its total says \(total?.count ?? 0)")
      }
    }
    for key in Set(changed.map(\.key)) {
      let count = entries.values.count { $0.key == key }
      if tracking.summaries[key]?.entries ?? 0 != count {
        world.checker.fail(
          "\(key.id) has \(count) entries, and its summary says \(tracking.summaries[key]?.entries ?? 0)")
      }
    }
  }
}
