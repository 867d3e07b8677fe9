public import ChimeSchedule
public import ChimeTracking

/// TrackingOperations changes an owner's trackers, with everything that follows from it, in one transaction.
///
/// That includes totals, streaks, achievements, XP, milestones, the times of linked reminders, and notices.
///
///     let outcome = try await store.write { transaction in
///       let work = TrackingOperations(in: transaction, owner: 1_000, context, now: now)
///       return try work.log(EntryDraft(tracker: water), using: &random)
///     }
///
/// Each method is one change that `undo` can revert. A method that throws `TrackingRefused`, or an error of the
/// transaction, leaves changes that must not be committed.
public struct TrackingOperations {
  public let transaction: any StoreTransaction
  public let owner: UInt32
  public let context: ReminderContext
  public let now: Instant
  /// Who causes the change, as in `DeliveryEvent.by`; nil for the clock.
  public var way: String?

  public init(
    in transaction: any StoreTransaction, owner: UInt32, _ context: ReminderContext, by way: String? = "cli",
    now: Instant
  ) {
    self.transaction = transaction
    self.owner = owner
    self.context = context
    self.now = now
    self.way = way
  }

  /// The zone in which days are read.
  var zone: Zone { context.zones.local }

  func key(_ id: TrackerID) -> TrackerKey { TrackerKey(owner: owner, id: id) }

  func tracker(_ id: TrackerID) throws -> Tracker {
    guard let tracker = try transaction.tracker(key(id)) else { throw TrackingRefused.noTracker(id) }
    return tracker
  }

  func begin(_ kind: TrackingChange.Kind, _ tracker: Tracker?, _ subject: String) throws -> Int64 {
    try transaction.begin(
      TrackingChange(owner: owner, at: now, kind: kind, tracker: tracker?.id, subject: subject))
  }
}

// The results of changed entries: day totals, the tracker's summary, and its progress.
extension TrackingOperations {
  /// A Difference says what changed in a tracker.
  enum Difference {
    /// One entry was added, removed, or replaced.
    case entry(removed: Entry?, added: Entry?)
    /// The definition changed: today is judged again, past days keep their verdicts.
    case definition
    /// The entries of these days, and perhaps the definition, changed: today is judged again.
    case days(Set<CivilDate>)
  }

  /// Updates everything that follows from a recorded change of one tracker.
  func settle(
    _ tracker: Tracker, _ difference: Difference, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    outcome.tracker = tracker
    let tallied = try tally(tracker, difference)
    outcome.progress = try progress(of: tracker, on: tallied.day, tallied.summary)
    outcome.goalMet = tallied.isReached && !tallied.wasReached
    try announce(difference, of: tracker, tallied.summary, using: &generator)
    var logged: Entry?
    if case .entry(nil, let added) = difference { logged = added }
    try follow(tracker.key, tracker, last: tallied.summary.lastAt, entry: logged, &outcome, using: &generator)
    if case .entry(_, .some) = difference, tallied.day == today(of: tracker) {
      outcome.limit = tallied.limit(of: tracker)
      try tellLimit(tracker, &outcome, using: &generator)
    }
    if outcome.goalMet, let progress = outcome.progress {
      try announceGoal(of: tracker, progress, using: &generator)
      if tallied.day == today(of: tracker) { try tellGoal(tracker, &outcome, using: &generator) }
    }
    switch difference {
    case .entry(_, .some): try celebrate(tracker, tallied, &outcome, using: &generator)
    case .definition: try recordMilestones(of: tracker, tallied.summary, in: allTotals(of: tracker.key))
    case .entry, .days: break
    }
    switch difference {
    case .entry(.some, _), .days: try retract(tracker, tallied.summary)
    case .entry, .definition: break
    }
    try praise(in: tracker.pack, tallied.occasion, &outcome, using: &generator)
    try watchStock(tracker, isTakenBack: logged == nil, &outcome, using: &generator)
  }

  /// Does the same for several trackers, each with its changed days; each pack is evaluated once.
  func settle(
    _ trackers: [(tracker: Tracker, days: Set<CivilDate>)], isSilent: Bool, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    for (tracker, days) in trackers {
      let tallied = try tally(tracker, .days(days))
      try announce(.days(days), of: tracker, tallied.summary, using: &generator)
      try follow(tracker.key, tracker, last: tallied.summary.lastAt, entry: nil, &outcome, using: &generator)
      outcome.tracker = tracker
      try retract(tracker, tallied.summary)
    }
    for pack in Set(trackers.compactMap(\.tracker.pack)).sorted() {
      try praise(in: pack, .anew, isSilent: isSilent, &outcome, using: &generator)
    }
  }

  func today(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: zone).day }

  /// A Tallied is the result of a change of entries.
  struct Tallied {
    /// The day that the change concerns.
    var day: CivilDate
    var before: TrackerSummary
    var summary: TrackerSummary
    /// Whether the goal of that day, or of its week or month, was reached before the change.
    var wasReached: Bool
    var isReached: Bool
    var occasion: TrackingOccasion

    /// Returns the state of the day's limit if the change brought it nearer; otherwise nil.
    func limit(of tracker: Tracker) -> LimitState? {
      guard case .entry(let change) = occasion, let day = change.days.first(where: { $0.after?.day == day }),
        let after = tracker.limitState(of: day.after), let before = tracker.limitState(of: day.before), after > before
      else { return nil }
      return after
    }
  }

  /// Updates the totals of the changed days, and the summary.
  func tally(_ tracker: Tracker, _ difference: Difference) throws -> Tallied {
    let key = tracker.key
    let aggregator = ProgressAggregator(tracker)
    // A summary of another program version reads as nil and is recomputed.
    let kept = try transaction.summary(of: key)
    let before = try kept ?? aggregator.summary(of: allTotals(of: key))
    var tallied = Tallied(
      day: today(of: tracker), before: before, summary: before, wasReached: false, isReached: false, occasion: .anew)
    switch difference {
    case .entry(let removed, let added):
      tallied.day = (added ?? removed)?.day ?? tallied.day
      tallied.wasReached = try isReached(tracker, on: tallied.day, before)
      var changes: [EntryChange.DayChange] = []
      for day in Set([removed?.day, added?.day].compactMap { $0 }).sorted() {
        let old = try transaction.dayTotal(of: key, on: day)
        let new: DayTotal?
        if let added, removed == nil {
          new = aggregator.total(old, adding: added)
        } else {
          new = aggregator.total(of: try transaction.entries(of: key, on: day))
        }
        try transaction.setDayTotal(new, on: day, of: key)
        changes.append(.init(before: old, after: new))
      }
      let isPlain = removed == nil || removed?.day == added?.day
      if isPlain, let change = changes.first, let new = change.after,
        aggregator.add(new, replacing: change.before, to: &tallied.summary)
      {
        // The summary is up to date without reading anything else.
      } else {
        tallied.summary = aggregator.summary(of: try allTotals(of: key))
      }
      tallied.occasion = .entry(
        EntryChange(tracker.id, removed: removed, added: added, days: changes, summary: tallied.summary))
    case .definition:
      tallied.wasReached = try isReached(tracker, on: tallied.day, before)
      let today = try transaction.entries(of: key, on: tallied.day)
      if !today.isEmpty { try transaction.setDayTotal(aggregator.total(of: today), on: tallied.day, of: key) }
      tallied.summary = aggregator.summary(of: try allTotals(of: key))
    case .days(let days):
      tallied.wasReached = try isReached(tracker, on: tallied.day, before)
      try retotal(tracker, days)
      tallied.summary = aggregator.summary(of: try allTotals(of: key))
    }
    if tallied.summary != kept || tallied.summary.entries == 0 {
      try transaction.setSummary(tallied.summary.entries == 0 ? nil : tallied.summary, of: key)
    }
    tallied.isReached = try isReached(tracker, on: tallied.day, tallied.summary)
    return tallied
  }

  func allTotals(of key: TrackerKey) throws -> [DayTotal] {
    try transaction.dayTotals(of: key, in: .earliest ... .latest)
  }

  /// Recomputes the totals of some days from their entries, and that of today.
  private func retotal(_ tracker: Tracker, _ days: Set<CivilDate>) throws {
    let key = tracker.key
    for day in days.union([today(of: tracker)]).sorted() {
      let was = try transaction.dayTotal(of: key, on: day)
      let new = try aggregator(tracker, of: day, was).total(of: transaction.entries(of: key, on: day))
      if new != was { try transaction.setDayTotal(new, on: day, of: key) }
    }
  }

  /// Returns the aggregator of a day with this total. A past day keeps the goal by which it was judged; today is judged by
  /// the current goal.
  func aggregator(_ tracker: Tracker, of day: CivilDate, _ total: DayTotal?) -> ProgressAggregator {
    var judged = tracker
    if let total, day != today(of: tracker) { judged.goal = total.goal }
    return ProgressAggregator(judged)
  }

  /// Returns whether the tracker's goal is reached; false without one.
  private func isReached(_ tracker: Tracker, on day: CivilDate, _ summary: TrackerSummary) throws -> Bool {
    guard let goal = tracker.goal, !goal.isAtMost, summary.entries > 0 else { return false }
    if goal.period == .day, case .value = goal.target {
    } else if goal.period == .day {
      return try transaction.dayTotal(of: tracker.key, on: day)?.isMet ?? false
    }
    return try progress(of: tracker, on: day, summary).isReached
  }

  /// Returns a person's streak over several trackers: consecutive days on each of which at least one was met. Days are
  /// read backwards in parts, as far as the streak goes.
  public func streakOfAny(_ trackers: [Tracker]) throws -> Streak {
    let firsts = try trackers.compactMap { try transaction.summary(of: $0.key)?.firstDay }
    let streak = StreakOfAny(trackers, since: firsts.min(), now: now, zone: zone)
    var known: [TrackerID: (from: CivilDate, met: Set<CivilDate>)] = [:]
    return try streak.current { tracker, day in
      var part = known[tracker.id] ?? (from: day.adding(days: 1) ?? day, met: [])
      if day < part.from {
        part.from = day.adding(days: -63) ?? .earliest
        part.met.formUnion(
          try transaction.dayTotals(of: tracker.key, in: part.from...day).lazy.filter(\.isMet).map(\.day))
        known[tracker.id] = part
      }
      return part.met.contains(day)
    }
  }

  /// Returns a tracker's progress on a day.
  ///
  /// - Parameter summary: the summary of all entries.
  public func progress(of tracker: Tracker, on day: CivilDate, _ summary: TrackerSummary) throws -> GoalProgress {
    let key = tracker.key
    let reads = GoalProgress.reads(tracker, on: day)
    let isOver = day < today(of: tracker)
    guard let last = summary.lastDay, day < last else {
      return GoalProgress(
        tracker, on: day, summary: summary, totals: try transaction.dayTotals(of: key, in: reads), isOver: isOver)
    }
    let totals = try transaction.dayTotals(of: key, in: .earliest...day)
    return GoalProgress(
      tracker, on: day, summary: ProgressAggregator(tracker).summary(of: totals), totals: totals, isOver: isOver)
  }
}
