import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Shows days, weeks and longer ranges of trackers.
extension TrackersHandler {
  /// The longest range of one answer: ten years.
  private static let maxDays = 3_700

  func handle(_ request: Tracking.Day) async throws -> Tracking.Day.Reply {
    let wanted = try request.day.map { try TrackerFields.day($0, "day") }
    return try await store.read { [self] transaction in
      let day = wanted ?? localToday
      let trackers = try transaction.trackers(owner: caller.owner)
      // If the day of a tracker starts at four, 1:30 belongs to the day before.
      let states = try trackers.map { tracker in
        var state = try progress(of: tracker, on: wanted ?? today(of: tracker), transaction)
        try detail(&state, of: tracker, transaction)
        return state
      }
      let mood = Mood.of(states.map { MoodShare($0.progress) })
      let packs = try transaction.packs(owner: caller.owner)
      let spoken = packs.first { $0.pack.moods[mood] != nil }
      let own = trackers.filter { $0.pack == spoken?.pack.id }
      // Only today has a streak.
      let streak = day == localToday ? try tracking(transaction).streakOfAny(own).length : 0
      let text = spoken?.pack.moods[mood]?.filled(DayCount(states.map(\.progress), streak: streak)) { String($0) }
      let quote = Quote.ofTheDay(day, among: packs.flatMap(\.pack.quotes))
      let source = quote.flatMap { quote in packs.first { $0.pack.quotes.contains(quote) } }
      let wire = self.wire
      let first = day.adding(days: -6) ?? .earliest
      let calendars = try trackers.map { try calendar(of: $0, in: first...day, transaction) }
      return Tracking.Day.Reply(
        view: Tracking.DayView(
          day: day.description, progress: states.map(\.wire), mood: wire.mood(mood, text),
          quote: quote.map { wire.quote($0, of: source?.pack) },
          nextAchievement: try next(packs, on: day, transaction),
          levels: try levels(packs, transaction),
          streaks: day == localToday ? try streaks(packs, transaction) : [], week: summaries(calendars)))
    }
  }

  func handle(_ request: Tracking.Week) async throws -> Tracking.Week.Reply {
    let wanted = try request.day.map { try TrackerFields.day($0, "day") }
    return try await store.read { [self] transaction in
      let day = wanted ?? localToday
      let monday = day.adding(days: 1 - day.weekday.rawValue) ?? .earliest
      let sunday = monday.adding(days: 6) ?? .latest
      let trackers = try transaction.trackers(owner: caller.owner)
      let calendars = try trackers.map { try calendar(of: $0, in: monday...sunday, transaction) }
      let states = try trackers.map {
        try progress(of: $0, on: max(monday, min(sunday, today(of: $0))), transaction).wire
      }
      let wire = self.wire
      return Tracking.Week.Reply(
        from: monday.description, progress: states,
        days: zip(trackers, calendars).map { tracker, days in
          Tracking.WeekRow(tracker: tracker.id.rawValue, days: days.map { wire.day($0, of: tracker) })
        }, summaries: summaries(calendars))
    }
  }

  func handle(_ request: Tracking.Days) async throws -> Tracking.Days.Reply {
    let asked = try TrackerFields.range(request.range)
    return try await store.read { [self] transaction in
      let tracker = try lookup(transaction).tracker(request.tracker)
      let summary = try transaction.summary(of: tracker.key)
      let range = try bounded(request.range, asked, tracker, summary)
      let wire = self.wire
      let days = try calendar(of: tracker, in: range, transaction).map { wire.day($0, of: tracker) }
      return Tracking.Days.Reply(tracker: wire.tracker(tracker), days: days)
    }
  }

  func handle(_ request: Tracking.Stats) async throws -> Tracking.Stats.Reply {
    let asked = try TrackerFields.range(request.range)
    let averageDays = request.averageDays ?? 7
    try need((1...365).contains(averageDays), "averageDays", "give 1 to 365 days")
    if let name = request.field {
      return try await store.readApart { [self] transaction in
        try stats(field: name, request, asked, averageDays, transaction)
      }
    }
    return try await store.read { [self] transaction in
      let tracker = try lookup(transaction).tracker(request.tracker)
      let summary = try transaction.summary(of: tracker.key)
      let range = try bounded(request.range, asked, tracker, summary)
      let now = today(of: tracker)
      let counts = try transaction.itemCounts(of: tracker.key, in: range)
      let byItem = Dictionary(counts.map { ($0.item, $0) }) { first, _ in first }
      // Unused items count if they were owned in the range.
      let items = try transaction.items(of: tracker.key).filter {
        byItem[$0.id] != nil
          || (($0.since ?? .earliest) <= range.upperBound && ($0.until ?? .latest) >= range.lowerBound)
      }
      let totals = try transaction.dayTotals(of: tracker.key, in: Statistics.reads(range, averageDays: averageDays))
      let statistics = Statistics(
        tracker, in: range, today: now, totals: totals,
        items: items.map { byItem[$0.id] ?? ItemCount(item: $0.id, count: 0) }, averageDays: averageDays)
      let wire = self.wire
      let pack = try tracker.pack.flatMap { try transaction.pack($0, owner: caller.owner) }
      let packStreak = try pack.flatMap { try streaks([$0], transaction).first?.streak }
      let worn = items.map { wire.item($0, count: byItem[$0.id]) }.sorted {
        $0.entries != $1.entries ? $0.entries > $1.entries : $0.title < $1.title
      }
      return Tracking.Stats.Reply(
        statistics: wire.statistics(
          statistics, of: tracker, form: ProgressAggregator(tracker).form(of: summary ?? TrackerSummary(), on: now),
          packStreak: packStreak, items: fitting(worn)))
    }
  }

  /// Returns the statistics of a further measure. The store has no totals of these, so entries are added up.
  private func stats(
    field name: String, _ request: Tracking.Stats, _ asked: ClosedRange<CivilDate>?, _ averageDays: Int,
    _ transaction: any StoreTransaction
  ) throws -> Tracking.Stats.Reply {
    let tracker = try lookup(transaction).tracker(request.tracker)
    let summary = try transaction.summary(of: tracker.key)
    let range = try bounded(request.range, asked, tracker, summary)
    let (field, totals) = try field(
      name, of: tracker, in: Statistics.reads(range, averageDays: averageDays), transaction)
    let now = today(of: tracker)
    let statistics = Statistics(field, in: range, today: now, totals: totals, averageDays: averageDays)
    let aggregator = ProgressAggregator(field)
    return Tracking.Stats.Reply(
      statistics: wire.statistics(
        statistics, of: field, form: aggregator.form(of: aggregator.summary(of: totals), on: now),
        packStreak: nil, items: []))
  }

  private struct State {
    var progress: GoalProgress
    var wire: Tracking.GoalProgress
  }

  private func progress(of tracker: Tracker, on day: CivilDate, _ transaction: any StoreTransaction) throws -> State {
    let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
    let progress = try tracking(transaction).progress(of: tracker, on: day, summary)
    return State(progress: progress, wire: wire.progress(progress, of: tracker, lastAt: summary.lastAt))
  }

  private func calendar(
    of tracker: Tracker, in range: ClosedRange<CivilDate>, _ transaction: any StoreTransaction
  ) throws -> [CalendarDay] {
    let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
    let reads = DayCalendar.reads(tracker, in: range, summary)
    return DayCalendar.days(
      tracker, in: range, summary: summary, totals: try transaction.dayTotals(of: tracker.key, in: reads),
      today: today(of: tracker))
  }

  /// Returns how many trackers were met, due and started on each day.
  private func summaries(_ calendars: [[CalendarDay]]) -> [Tracking.DaySummary] {
    var summaries: [CivilDate: (met: Int, due: Int, started: Int)] = [:]
    for day in calendars.joined() {
      var summary = summaries[day.day] ?? (0, 0, 0)
      if day.counts, !day.isOpenLimit {
        summary.due += 1
        if day.isMet { summary.met += 1 } else if day.total != nil, day.limit == nil { summary.started += 1 }
      }
      summaries[day.day] = summary
    }
    return summaries.sorted { $0.key < $1.key }.map {
      Tracking.DaySummary(day: $0.key.description, met: $0.value.met, due: $0.value.due, started: $0.value.started)
    }
  }

  /// Returns the days of a range. An open end is the start of the tracker, or today. An open start is limited to `maxDays`.
  private func bounded(
    _ wired: Tracking.Range?, _ range: ClosedRange<CivilDate>?, _ tracker: Tracker, _ summary: TrackerSummary?
  ) throws -> ClosedRange<CivilDate> {
    let begin = min(tracker.startedOn, summary?.firstDay ?? tracker.startedOn)
    let end = max(today(of: tracker), summary?.lastDay ?? .earliest)
    let to = wired?.to == nil ? end : range?.upperBound ?? end
    let longest = to.adding(days: 1 - Self.maxDays) ?? .earliest
    guard wired?.from != nil, let from = range?.lowerBound else { return min(max(begin, longest), to)...to }
    try need(from <= to, "range", "\(from) is in the future: give a past day, or an end too")
    try need(from >= longest, "range", "at most \(Self.maxDays) days fit into one answer: request them in parts")
    return from...to
  }

  // MARK: At a glance

  /// The newest entries in which the latest value of each field is searched.
  private static let entriesForFields = 100

  /// Adds the trend of a measure, its further measures, the stock, and the items of the day.
  private func detail(_ state: inout State, of tracker: Tracker, _ transaction: any StoreTransaction) throws {
    let day = state.progress.day
    if tracker.kind == .measure, state.progress.value != nil {
      let range = Self.quarter(upTo: day)
      let totals = try transaction.dayTotals(of: tracker.key, in: Statistics.reads(range))
      let statistics = Statistics(tracker, in: range, today: day, totals: totals)
      state.wire.weeklyRate = statistics.weeklyRate
      state.wire.direction = statistics.direction.flatMap { Tracking.GoalProgress.Direction(rawValue: $0.rawValue) }
      state.wire.goalOn = state.progress.isReached ? nil : statistics.goalOn?.description
    }
    if !tracker.fields.isEmpty {
      let filter = EntryFilter(owner: caller.owner, tracker: tracker.id, days: .earliest...day)
      let newest = try transaction.entries(filter, page: Page(limit: Self.entriesForFields))
      let values = newest.reduce(into: [String: Quantity]()) { $0.merge($1.fields) { newer, _ in newer } }
      state.wire.fields = values.reduce(into: [:]) { result, field in
        guard let unit = tracker.fields[field.key] else { return }
        result?[field.key] = wire.number(field.value, unit)
      }
    }
    state.wire.stock = try tracking(transaction).stockLevel(of: tracker).map { wire.stock($0, of: tracker) }
    if tracker.hasItems { state.wire.items = try items(of: tracker, usedOn: day, transaction) }
  }

  private func items(
    of tracker: Tracker, usedOn day: CivilDate, _ transaction: any StoreTransaction
  ) throws -> [Tracking.Item] {
    var order: [ItemID] = []
    for item in try transaction.entries(of: tracker.key, on: day).compactMap(\.item) {
      order.removeAll { $0 == item }
      order.append(item)
    }
    let wire = self.wire
    return try order.suffix(Self.mostItemsOfDay).compactMap { id in
      guard let item = try transaction.item(id, of: tracker.key) else { return nil }
      return wire.item(
        item, count: ItemCount(item: id, count: try transaction.itemCount(of: id, key: tracker.key), lastDay: day))
    }
  }

  private static let mostItemsOfDay = 50

  /// Returns the three months that end with a day, as `chime chart` draws them.
  private static func quarter(upTo day: CivilDate) -> ClosedRange<CivilDate> {
    let months = day.year * 12 + day.month - 1 - 3
    let (year, month) = (months / 12, months % 12 + 1)
    let before = CivilDate(year: year, month: month, day: min(day.day, CivilDate.daysIn(month: month, year: year)))
    return min(before?.adding(days: 1) ?? .earliest, day)...day
  }

  /// Returns a field as if it were a tracker, and the totals of its days.
  private func field(
    _ name: String, of tracker: Tracker, in days: ClosedRange<CivilDate>, _ transaction: any StoreTransaction
  ) throws -> (tracker: Tracker, totals: [DayTotal]) {
    let unit = try TrackerFields.unit(ofField: name, tracker)
    var field = tracker
    field.title = LocalizedText(tracker.title.texts.mapValues { "\($0): \(name)" })
    (field.kind, field.unit, field.decimals, field.goal, field.milestoneStep) = (.measure, unit, 1, nil, nil)
    (field.presets, field.usual, field.fields, field.hasItems) = ([], nil, [:], false)
    var byDay: [CivilDate: [Entry]] = [:]
    let filter = EntryFilter(owner: caller.owner, tracker: tracker.id, days: days)
    try BackupRecords.oldestFirst(filter, transaction) { entry in
      try life.goOn()
      guard let value = entry.fields[name] else { return }
      var entry = entry
      entry.quantity = value
      byDay[entry.day, default: []].append(entry)
    }
    let aggregator = ProgressAggregator(field)
    return (field, byDay.sorted { $0.key < $1.key }.compactMap { aggregator.total(of: $0.value) })
  }
}

/// Lists achievements, and the levels and streaks of packs.
extension TrackersHandler {
  func handle(_ request: Tracking.Achievements) async throws -> Tracking.Achievements.Reply {
    try await store.read { [self] transaction in
      if let item = request.item { return try achievements(ofItem: item, request, transaction) }
      try need(request.tracker == nil, "tracker", "a tracker needs an item of it: give that too")
      let packs = try request.pack.map { [try lookup(transaction).pack($0)] } ?? transaction.packs(owner: caller.owner)
      let wire = self.wire
      let achievements = try packs.flatMap { installed in
        let progress = Dictionary(
          try transaction.progress(of: installed.pack.id, owner: caller.owner).map { ($0.achievement, $0) }
        ) { first, _ in first }
        let work = tracking(transaction)
        return try installed.pack.achievements.map { one in
          let kept = progress[one.id]
          let shown =
            kept?.unlockedAt == nil ? try work.progress(of: one, in: installed.pack, reached: kept?.reached ?? 0) : nil
          return wire.achievement(one, of: installed.pack, kept, shown: shown)
        }
      }
      return Tracking.Achievements.Reply(
        achievements: achievements, levels: try levels(packs, transaction), streaks: try streaks(packs, transaction))
    }
  }

  /// Returns what an item has earned by itself, and what was unlocked on the days of its use.
  private func achievements(
    ofItem name: String, _ request: Tracking.Achievements, _ transaction: any StoreTransaction
  ) throws -> Tracking.Achievements.Reply {
    guard let tracker = try lookup(transaction).tracker(request.tracker) else {
      throw ControlFailure.invalidValue(field: "tracker", "an item needs a tracker: give that too")
    }
    let item = try lookup(transaction).item(name, of: tracker)
    guard let pack = try tracker.pack.flatMap({ try transaction.pack($0, owner: caller.owner)?.pack }),
      request.pack.map({ $0 == pack.id.rawValue }) ?? true
    else { return Tracking.Achievements.Reply(achievements: [], levels: [], streaks: []) }
    let progress = Dictionary(
      try transaction.progress(of: pack.id, owner: caller.owner).map { ($0.achievement, $0) }
    ) { first, _ in first }
    let count = try transaction.itemCount(of: item.id, key: tracker.key)
    let days = try daysUsed(item, of: tracker, transaction)
    let anniversaries = item.anniversaries(among: days)
    let wire = self.wire
    let achievements = pack.achievements.compactMap { one -> Tracking.Achievement? in
      let kept = progress[one.id]
      let own: Int? =
        switch one.criterion.kind {
        case .entriesForItem: count
        case .itemAnniversary: anniversaries
        default: nil
        }
      if let own {
        let target = max(one.criterion.target, 1)
        return wire.achievement(one, of: pack, own >= target ? kept : nil, shown: (min(own, target), target))
      }
      guard let at = kept?.unlockedAt, days.contains(tracker.day(at: at, in: context.zones.local).day) else {
        return nil
      }
      return wire.achievement(one, of: pack, kept)
    }
    return Tracking.Achievements.Reply(achievements: achievements, levels: [], streaks: [])
  }

  private func daysUsed(
    _ item: Item, of tracker: Tracker, _ transaction: any StoreTransaction
  ) throws -> Set<CivilDate> {
    Set(
      try transaction.itemDays(of: tracker.key, in: .earliest ... .latest).filter { $0.item == item.id && $0.count > 0 }
        .map(\.day))
  }

  /// Returns the nearest locked achievement of all packs.
  func next(
    _ packs: [InstalledPack], on day: CivilDate, _ transaction: any StoreTransaction
  ) throws -> Tracking.Achievement? {
    let minute = context.zones.local.civil(at: now).time.secondOfDay / 60
    var best: (wired: Tracking.Achievement, rank: Nearness)?
    for pack in packs.map(\.pack) {
      let progress = try transaction.progress(of: pack.id, owner: caller.owner)
      guard
        let (achievement, reached) = Achievement.next(
          among: pack.achievements, progress: progress, on: day, minute: Int(minute))
      else { continue }
      let rank = Nearness(achievement, reached: reached, on: day, minute: Int(minute))
      if let best, rank <= best.rank { continue }
      let shown = try tracking(transaction).progress(of: achievement, in: pack, reached: reached)
      best = (
        wire.achievement(
          achievement, of: pack, progress.first { $0.achievement == achievement.id }, shown: shown), rank
      )
    }
    return best?.wired
  }

  /// Returns the streaks of packs with several trackers.
  func streaks(_ packs: [InstalledPack], _ transaction: any StoreTransaction) throws -> [Tracking.PackStreak] {
    let all = try transaction.trackers(owner: caller.owner)
    return try packs.compactMap { pack in
      let trackers = all.filter { $0.pack == pack.pack.id }
      guard trackers.count > 1 else { return nil }
      return Tracking.PackStreak(
        pack: pack.pack.id.rawValue, streak: wire.streak(try tracking(transaction).streakOfAny(trackers)))
    }
  }

  func levels(_ packs: [InstalledPack], _ transaction: any StoreTransaction) throws -> [Tracking.Level] {
    try packs.compactMap {
      wire.level(of: $0.pack, experience: try transaction.experience(of: $0.pack.id, owner: caller.owner))
    }
  }
}
