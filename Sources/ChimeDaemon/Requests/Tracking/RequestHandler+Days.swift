import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Days, weeks and longer times of trackers.
extension RequestHandler {
  /// The longest time that one answer is about: ten years.
  static let maxDays = 3_700

  func handle(_ request: Tracking.Day) async throws -> Tracking.Day.Reply {
    let wanted = try request.day.map { try TrackerFields.day($0, "day") }
    return try await store.read { [self] transaction in
      let day = wanted ?? localToday
      let trackers = try transaction.trackers(owner: caller.owner)
      // A tracker whose day begins at four is at half past one still in the day before.
      let standings = try trackers.map { tracker in
        var stood = try standing(of: tracker, on: wanted ?? today(of: tracker), transaction)
        try detail(&stood, of: tracker, transaction)
        return stood
      }
      let mood = Mood.of(standings.map { MoodShare($0.standing) })
      let packs = try transaction.packs(owner: caller.owner)
      let spoken = packs.first { $0.pack.moods[mood] != nil }
      let own = trackers.filter { $0.pack == spoken?.pack.id }
      // The streak is today's; of another day nothing is said of it.
      let streak = day == localToday ? try tracking(transaction).streakOfAny(own).length : 0
      let text = spoken?.pack.moods[mood]?.filled(DayCount(standings.map(\.standing), streak: streak)) { String($0) }
      let quote = Quote.ofTheDay(day, among: packs.flatMap(\.pack.quotes))
      let source = quote.flatMap { quote in packs.first { $0.pack.quotes.contains(quote) } }
      let wire = self.wire
      let first = day.adding(days: -6) ?? .earliest
      let calendars = try trackers.map { try calendar(of: $0, in: first...day, transaction) }
      return Tracking.Day.Reply(
        view: Tracking.DayView(
          day: day.description, standings: standings.map(\.wired), mood: wire.mood(mood, text),
          quote: quote.map { wire.quote($0, of: source?.pack) },
          nextAchievement: try nextAchievement(packs, on: day, transaction),
          levels: try levels(packs, transaction),
          streaks: day == localToday ? try streaks(packs, transaction) : [], week: marks(calendars)))
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
      let standings = try trackers.map {
        try standing(of: $0, on: max(monday, min(sunday, today(of: $0))), transaction).wired
      }
      let wire = self.wire
      return Tracking.Week.Reply(
        from: monday.description, standings: standings,
        days: zip(trackers, calendars).map { tracker, days in
          Tracking.WeekRow(tracker: tracker.id.rawValue, days: days.map { wire.day($0, of: tracker) })
        }, marks: marks(calendars))
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
    guard (1...365).contains(averageDays) else {
      throw ControlFailure.invalidValue(field: "averageDays", "give 1 to 365 days")
    }
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
      // What was owned in that time has its share of the rotation.
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

  /// Of a further measure: its days are added up from their entries, as no totals are kept of them.
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

  // MARK: Parts

  var localToday: CivilDate { context.zones.local.civil(at: now).date }

  struct Stood {
    var standing: GoalProgress
    var wired: Tracking.Standing
  }

  func standing(of tracker: Tracker, on day: CivilDate, _ transaction: any StoreTransaction) throws -> Stood {
    let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
    let standing = try tracking(transaction).standing(of: tracker, on: day, summary)
    return Stood(standing: standing, wired: wire.standing(standing, of: tracker, lastAt: summary.lastAt))
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

  /// How the days were over all trackers that counted on them.
  private func marks(_ calendars: [[CalendarDay]]) -> [Tracking.DayMark] {
    var marks: [CivilDate: (met: Int, due: Int, begun: Int)] = [:]
    for day in calendars.joined() {
      var mark = marks[day.day] ?? (0, 0, 0)
      if day.counts, !day.isOpenLimit {
        mark.due += 1
        if day.isMet { mark.met += 1 } else if day.total != nil, day.limit == nil { mark.begun += 1 }
      }
      marks[day.day] = mark
    }
    return marks.sorted { $0.key < $1.key }.map {
      Tracking.DayMark(day: $0.key.description, met: $0.value.met, due: $0.value.due, begun: $0.value.begun)
    }
  }

  /// The days that a range means: an open end is where the tracker begins, or today. One that is open at its beginning is cut
  /// there to what one answer can tell.
  private func bounded(
    _ wired: Tracking.Range?, _ range: ClosedRange<CivilDate>?, _ tracker: Tracker, _ summary: TrackerSummary?
  ) throws -> ClosedRange<CivilDate> {
    let begin = min(tracker.startedOn, summary?.firstDay ?? tracker.startedOn)
    let end = max(today(of: tracker), summary?.lastDay ?? .earliest)
    let to = wired?.to == nil ? end : range?.upperBound ?? end
    let longest = to.adding(days: 1 - Self.maxDays) ?? .earliest
    guard wired?.from != nil, let from = range?.lowerBound else { return min(max(begin, longest), to)...to }
    guard from <= to else {
      throw ControlFailure.invalidValue(field: "range", "\(from) is in the future: give a past day, or an end too")
    }
    guard from >= longest else {
      throw ControlFailure.invalidValue(
        field: "range",
        "at most \(Self.maxDays) days fit into one answer: request them in parts")
    }
    return from...to
  }

  /// Of all packs the locked achievement that is nearest.
  private func nextAchievement(
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

  /// Of the packs that have several trackers.
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
