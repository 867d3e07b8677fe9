import ChimeControl
import ChimeSchedule
import ChimeWords

/// The data of a report, read completely before the page is rendered.
struct ReportContents: Sendable {
  typealias T = TrackersInterface

  /// A pack with its trackers; trackers without a pack share one chapter.
  struct Chapter: Sendable {
    /// The pack's id; nil for the user's own trackers.
    var id: String?
    var title: [String: String]
    var parts: [Part]
    var achievements: [T.Achievement]
    var level: T.Level?
  }

  /// A tracker with its daily data.
  struct Part: Sendable {
    var tracker: T.Tracker
    var progress: T.GoalProgress
    var statistics: T.Statistics
    /// Every day of up to a year, oldest first.
    var year: [T.DayTotal]
    var milestones: [T.Milestone]
    /// Statistics of the entries' additional measures that have values, sorted by name.
    var fields: [T.Statistics] = []
    /// The items of a collection, including those unused in the range.
    var items: [T.Item] {
      let used = Set((progress.items ?? []).map(\.id))
      return statistics.items
        + (progress.items ?? []).filter { item in
          used.contains(item.id) && !statistics.items.contains { $0.id == item.id }
        }
    }
    /// For a check on certain days: the days required in this month and the next.
    var plan: [DayPlan] = []
    /// For a collection: the entries of the range, newest first.
    var entries: [T.Entry] = []
    /// For a collection: all items with their total use.
    var collection: [T.Item] = []
  }

  /// The local time of the report.
  var madeAt: CivilDateTime
  var today: CivilDate
  var day: T.DayView
  /// Whether the report covers one requested pack.
  var isOfOnePack = false
  /// The range; nil starts at the first entry.
  var range: T.Range?
  var chapters: [Chapter]
  /// Empty in a report of one pack.
  var expectations: [ExpectationsInterface.Expectation] = []
  var photos: [String: ReportPhotos.Photo] = [:]
  /// The number of photos left out for size or format.
  var photosOmitted = 0

  var parts: [Part] { chapters.flatMap(\.parts) }
}

/// Reads the data of a report from the daemon.
struct ReportReader {
  typealias T = TrackersInterface

  var context: Context

  /// - Parameter pack: the only pack to read; nil for all.
  func read(range: T.Range?, pack: String?) throws -> ReportContents {
    let daemon = try context.daemon()
    var view = try daemon.call(T.Day()).view
    let packs = try daemon.call(T.Packs()).packs
      .filter { $0.installedAt != nil }
    if let pack, !packs.contains(where: { $0.id == pack }) { throw unknown(pack, among: packs) }
    let today = try CivilDate(view.day) ?? context.today()
    let unlocks = try daemon.call(T.Achievements(pack: pack))
    let milestones = try daemon.call(T.Milestones()).milestones
    if pack != nil { view.progress = view.progress.filter { $0.tracker.pack == pack } }

    let parts = try view.progress.map { progress in
      try part(progress, range: range, today: today, milestones: milestones, daemon)
    }
    var chapters = packs.filter { pack == nil || $0.id == pack }.map { pack in
      ReportContents.Chapter(
        id: pack.id, title: pack.title, parts: parts.filter { $0.tracker.pack == pack.id },
        achievements: unlocks.achievements.filter { $0.pack == pack.id },
        level: unlocks.levels.first { $0.pack == pack.id })
    }
    let named = Set(chapters.compactMap(\.id))
    let own = parts.filter { part in !(part.tracker.pack.map { named.contains($0) } ?? false) }
    if !own.isEmpty {
      chapters.append(ReportContents.Chapter(id: nil, title: [:], parts: own, achievements: [], level: nil))
    }
    let zone = try context.localZone()
    var contents = ReportContents(
      madeAt: zone.civil(at: context.now), today: today, day: view, isOfOnePack: pack != nil, range: range,
      chapters: chapters)
    if pack == nil {
      contents.expectations = try Pagination.pages(limit: nil) { limit, cursor in
        let reply = try daemon.call(ExpectationsInterface.List(limit: limit, cursor: cursor))
        return (reply.expectations, reply.cursor)
      }.items
    }
    try ReportPhotos.read(into: &contents, daemon)
    return contents
  }

  private func part(
    _ progress: T.GoalProgress, range: T.Range?, today: CivilDate, milestones: [T.Milestone], _ daemon: Daemon
  ) throws -> ReportContents.Part {
    let id = progress.tracker.id
    let statistics = try daemon.call(T.Stats(tracker: id, range: range)).statistics
    // The twelve months up to this one, from the first of the month.
    let first = CivilDate(year: today.year - (today.month == 12 ? 0 : 1), month: today.month % 12 + 1, day: 1)
    let year = try daemon.call(
      T.Days(tracker: id, range: T.Range(from: first?.description, to: today.description))
    ).days
    let fields = try progress.tracker.fields.keys.sorted().map { name in
      try daemon.call(
        T.Stats(tracker: id, range: range, field: name)
      ).statistics
    }
    let isPlanned = progress.tracker.kind == .check && !progress.tracker.hasItems && DayPlan.isOf(progress.tracker)
    let plan =
      isPlanned
      ? try DayPlan.read(context, progress.tracker, from: DayText.firstOfMonth(today), months: 2, today: today) : []
    return ReportContents.Part(
      tracker: progress.tracker, progress: progress, statistics: statistics, year: year,
      milestones: milestones.filter { $0.tracker == id }.sorted { $0.day > $1.day },
      fields: fields.filter { !$0.points.isEmpty }, plan: plan,
      entries: progress.tracker.hasItems ? try entries(of: id, range: range, daemon) : [],
      collection: progress.tracker.hasItems ? try daemon.call(T.Items(tracker: id)).items : [])
  }

  /// Returns the newest entries of the range, at most 4,000.
  private func entries(of id: String, range: T.Range?, _ daemon: Daemon) throws -> [T.Entry] {
    var asked = T.Entries(tracker: id, range: range)
    var entries: [T.Entry] = []
    while entries.count < 4_000 {
      (asked.limit, asked.offset) = (1_000, entries.count)
      let reply: T.Entries.Reply = try daemon.call(asked)
      entries += reply.entries
      if reply.entries.isEmpty || entries.count >= reply.total { break }
    }
    return entries
  }

  private func unknown(_ pack: String, among packs: [T.Pack]) -> Failure {
    let ids = packs.map(\.id)
    return .failed(
      ids.isEmpty
        ? localized("no pack is installed") : localized("the pack \"%1\" is not installed", pack),
      hint: SpellingSuggestions.question(pack, among: ids) ?? localized("`chime pack list` shows those that are"))
  }
}
