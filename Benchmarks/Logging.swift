import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import ChimeTracking
import FoundationEssentials
import Glibc

/// Measures one log entry in a tracker with few and with many entries: the entry, totals, streaks, fifty locked
/// achievements of every kind, and the undo record.
///
/// A C program measures the fsync of a commit in the same run, so that work and commit are told apart. Then follow
/// undoing, listing and removing all entries.
func measureLogging(_ bench: Bench) async throws {
  let peer = try bench.peer("commit")
  let rate = Double(try Program.output(peer, [bench.folder + "/plain.db", "2"]).split(separator: "\n").first ?? "")
  guard let rate, rate > 0 else { throw BenchFailure("commit said nothing") }
  let commit = 1_000 / rate
  bench.report("one SQLite row a commit, in C", commit, "ms")
  var first: Double?
  for count in [10, 1_000, 100_000] + (bench.options.isQuick ? [] : [1_000_000]) {
    let path = "\(bench.folder)/log-\(count).db"
    let diary = try await Diary(path, entries: count)
    try await diary.measure(bench, commit: commit, first: &first)
    await diary.store.close()
    for ending in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + ending) }
  }
}

/// A store with one tracker and `count` entries on up to ten thousand days. The first entry of each day has an item, as
/// in a collection of watches.
private struct Diary {
  let store: SQLiteStore
  let count: Int
  let tracker: Tracker
  let context: ReminderContext
  /// Noon of the day after the last entries.
  let now: Instant

  private struct OneZone: ZoneSource {
    let local: Zone
    func zone(_ name: String) -> Zone? { nil }
  }

  private static let items = (0..<50).map { ItemID(rawValue: "item-\($0)") }
  private static let owner: UInt32 = 1_000
  private static let mostDays = 10_000
  /// The number of entries logged for each figure.
  private static let rounds = 300

  init(_ path: String, entries count: Int) async throws {
    store = try SQLiteStore.open(path: path)
    self.count = count
    let zone = try MeasuredSchedule.scheduleContext().zone
    context = ReminderContext(zones: OneZone(local: zone))
    now = Instant(seconds: 1_795_280_400)
    let days = min(count, Self.mostDays)
    guard let today = CivilDate(dayNumber: Int(now.seconds / 86_400)), let start = today.adding(days: -days) else {
      throw BenchFailure("there are no such days")
    }
    var tracker = Tracker(
      id: TrackerID(rawValue: "water"), owner: Self.owner, title: "Water", kind: .amount, unit: Unit("ml"),
      goal: Goal(.total(Quantity(grains: 40_000_000_000))), hasItems: true, pack: PackID(rawValue: "bench"),
      startedOn: start, createdAt: now)
    tracker.milestoneStep = nil
    self.tracker = tracker
    let pack = Pack(
      id: PackID(rawValue: "bench"), title: "Bench", text: "", trackers: [tracker], achievements: Self.achievements,
      levels: LevelCurve(), channels: ["bench"])
    try await store.write { [tracker, now] store in
      try store.put(tracker)
      for item in Self.items {
        try store.put(
          Item(
            id: item, tracker: tracker.id, owner: Self.owner, title: item.rawValue,
            attributes: ["brand": "Brand \(item.rawValue.count)"], since: start, createdAt: now))
      }
      try store.put(InstalledPack(pack: pack, owner: Self.owner, installedAt: now))
    }
    try await fill(count, from: start, days: days)
  }

  /// One achievement of each kind, repeated up to fifty; none is reachable.
  private static var achievements: [Achievement] {
    let kinds = Criterion.Kind.allCases.filter { ![.crossed, .goalValue].contains($0) }
    return (0..<50).map { number in
      Achievement(
        id: AchievementID(rawValue: "a\(number)"), title: "Achievement", text: "", experience: 10,
        criterion: Criterion(
          kinds[number % kinds.count], target: 90_000_000 + number, amount: Quantity(grains: .max), minute: 480,
          attribute: "brand", within: 30, minimum: 40, month: 2, day: 29, weekdays: [.friday]))
    }
  }

  private func fill(_ count: Int, from start: CivilDate, days: Int) async throws {
    let aggregator = ProgressAggregator(tracker)
    var totals: [DayTotal] = []
    var made = 0
    while totals.count < days {
      let chunk = totals.count..<min(totals.count + 50, days)
      let first = made
      totals += try await store.write { [tracker] store in
        var (number, chunkTotals) = (first, [DayTotal]())
        for place in chunk {
          guard let day = start.adding(days: place) else { continue }
          let end = count * (place + 1) / days
          var entries: [Entry] = []
          while number < end {
            let entry = Entry(
              id: EntryID(rawValue: 0), tracker: tracker.id, owner: Self.owner,
              at: Instant(seconds: Int64(day.dayNumber) * 86_400 + 54_000 + Int64(entries.count)), day: day,
              minute: 600 + entries.count, quantity: Quantity(grains: 4_000_000_000),
              item: entries.isEmpty ? Self.items[place % Self.items.count] : nil,
              note: number % 20 == 0 ? "A note of the day" : nil)
            entries.append(try store.insert(entry))
            number += 1
          }
          guard let total = aggregator.total(of: entries) else { continue }
          try store.setDayTotal(total, on: day, of: tracker.key)
          chunkTotals.append(total)
        }
        return chunkTotals
      }
      made = count * min(chunk.upperBound, days) / days
    }
    let summary = aggregator.summary(of: totals)
    try await store.write { [tracker] in try $0.setSummary(summary, of: tracker.key) }
  }

  func measure(_ bench: Bench, commit: Double, first: inout Double?) async throws {
    var work: [Double] = []
    var busy: [Double] = []
    var whole: [Double] = []
    for round in 0..<Self.rounds {
      let draft = EntryDraft(
        tracker: tracker.id, quantity: Quantity(grains: 4_000_000_000), item: Self.items[round % Self.items.count])
      let begin = monotonicNanoseconds()
      let took = try await store.write { [context, now] transaction in
        let begin = (monotonicNanoseconds(), threadNanoseconds())
        var generator = SystemRandomNumberGenerator()
        let at = now + .seconds(Int64(round))
        _ = try TrackingOperations(in: transaction, owner: Self.owner, context, now: at).log(draft, using: &generator)
        return (monotonicNanoseconds() - begin.0, threadNanoseconds() - begin.1)
      }
      work.append(Double(took.0) / 1_000_000)
      busy.append(Double(took.1) / 1_000_000)
      whole.append(Double(monotonicNanoseconds() - begin) / 1_000_000)
    }
    let amount = Figure.number(Double(count))
    let series = Series(work)
    bench.report("logged among \(amount): work, median", series.median, "ms", beside: .limit(1))
    bench.report("  p99", series.percentile(99), "ms", beside: .limit(1))
    let median = Series(busy).median
    bench.report("  processor time, median", median, "ms", beside: first.map { .peer("among 10", $0) })
    first = first ?? median
    bench.report("  with its commit, median", Series(whole).median, "ms", beside: .peer("C commit", commit))
    try await measureTheRest(bench)
  }

  /// Measures other operations on so many entries, once each.
  private func measureTheRest(_ bench: Bench) async throws {
    func time(_ name: String, _ body: @escaping @Sendable (TrackingOperations) throws -> Void) async throws {
      let begin = monotonicNanoseconds()
      try await store.write { [context, now] transaction in
        try body(TrackingOperations(in: transaction, owner: Self.owner, context, now: now + .hours(1)))
      }
      bench.report("  \(name)", Double(monotonicNanoseconds() - begin) / 1_000_000, "ms")
    }
    let (owner, id) = (Self.owner, tracker.id)
    @Sendable func undo(_ work: TrackingOperations) throws {
      var generator = SystemRandomNumberGenerator()
      _ = try work.undo(using: &generator)
    }
    try await time("undoing one") { try undo($0) }
    try await time("the newest hundred") {
      _ = try $0.transaction.entries(EntryFilter(owner: owner, tracker: id), page: Page(limit: 100))
    }
    try await time("how many have a note") {
      _ = try $0.transaction.entryCount(EntryFilter(owner: owner, tracker: id, hasNote: true))
    }
    try await time("how many in all") { _ = try $0.transaction.entryCount(EntryFilter(owner: owner, tracker: id)) }
    try await time("removing all") { work in
      var generator = SystemRandomNumberGenerator()
      _ = try work.removeEntries(of: id, using: &generator)
    }
    try await time("undoing that") { try undo($0) }
  }
}

/// Returns the processor time of this thread, in nanoseconds.
private func threadNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
