public import ChimeSchedule

/// An AchievementReview evaluates a pack's achievements after a change: their progress, and what is now unlocked.
///
///     let review = AchievementReview(pack, trackers: ofThePack, now: now, zone: zone)
///     let outcome = try review.outcome(
///       of: .entry(change), progress: store.progress(of: pack.id, owner: me),
///       experience: store.experience(of: pack.id, owner: me), facts: facts)
///     for progress in outcome.changed { try store.setProgress(progress, owner: me) }
///
/// It evaluates only locked achievements that the change concerns. Unlocked ones stay unlocked, whatever the data; the
/// progress of locked ones decreases with the data.
///
/// For an entry, an item or a day, it starts from the stored progress and the change. For `.anew`, which covers installation,
/// imports, undo, changed definitions and bulk removals, it starts from day totals and items. Both give the same result.
public struct AchievementReview: Sendable {
  public let pack: PackID
  public let achievements: [Achievement]
  public let curve: LevelCurve?
  /// The pack's trackers that the owner still has, in the pack's order.
  public let trackers: [Tracker]
  public let now: Instant
  public let zone: Zone

  public init(_ pack: Pack, trackers: [Tracker], now: Instant, zone: Zone) {
    self.pack = pack.id
    achievements = pack.achievements
    curve = pack.levels
    self.trackers = trackers
    self.now = now
    self.zone = zone
  }

  /// Evaluates the achievements.
  ///
  /// - Parameters:
  ///   - progress: the stored progress; missing achievements are at 0 and locked, unknown ones are ignored.
  ///   - experience: the pack's XP before the change; ignored for `.anew`.
  ///   - isSilent: whether to unlock without messages, as at installation.
  /// - Throws: errors of `facts`.
  public func outcome(
    of occasion: TrackingOccasion, progress: [AchievementProgress], experience: Int, facts: some TrackingFacts,
    isSilent: Bool = false
  ) throws -> AchievementOutcome {
    var kept: [AchievementID: AchievementProgress] = [:]
    for one in progress where one.pack == pack { kept[one.achievement] = one }
    var evaluator = CriterionEvaluator(review: self, occasion: occasion, facts: facts)
    for achievement in achievements where kept[achievement.id]?.unlockedAt == nil {
      evaluator.widest = max(evaluator.widest, achievement.criterion.within ?? 1)
    }
    var outcome = AchievementOutcome(experience: experience, experienceBefore: experience, curve: curve)
    try outcome.experience = evaluator.experience(experience, kept)
    var changed: [AchievementID: AchievementProgress] = [:]

    func judge(_ achievement: Achievement) throws {
      let before = kept[achievement.id] ?? AchievementProgress(pack: pack, achievement: achievement.id)
      guard before.unlockedAt == nil, evaluator.concerns(achievement.criterion) else { return }
      let target = max(achievement.criterion.target, 1)
      let measured = try evaluator.reached(achievement.criterion, from: before.reached, experience: outcome.experience)
      var after = before
      after.reached = min(max(measured, 0), target)
      if after.reached >= target {
        after.unlockedAt = now
        after.wasSilent = isSilent
        outcome.unlocked.append(achievement)
        outcome.experience = outcome.experience.clampedAdding(achievement.experience)
      }
      kept[achievement.id] = after
      if after != before { changed[achievement.id] = after }
    }

    for achievement in achievements where achievement.criterion.kind != .level { try judge(achievement) }
    // An achievement for a level adds XP, which may reach the next level.
    let levels = achievements.filter { $0.criterion.kind == .level }
    var count = -1
    while count != outcome.unlocked.count {
      count = outcome.unlocked.count
      for achievement in levels { try judge(achievement) }
    }
    outcome.changed = achievements.compactMap { changed[$0.id] }
    return outcome
  }

  /// Returns a tracker's current day.
  func today(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: zone).day }
}

/// A CriterionEvaluator runs one evaluation and caches its queries.
struct CriterionEvaluator<Facts: TrackingFacts> {
  let review: AchievementReview
  let occasion: TrackingOccasion
  let facts: Facts
  /// The longest span in days that a locked achievement looks back.
  var widest = 1
  var summaries: [TrackerID: TrackerSummary] = [:]
  var itemLists: [TrackerID: [Item]] = [:]
  var totals: [TrackerID: [DayTotal]] = [:]
  var itemCounts: [TrackerID: [ItemID: Int]] = [:]
  var worn: [TrackerID: (days: ClosedRange<CivilDate>, counts: [ItemDay])] = [:]

  init(review: AchievementReview, occasion: TrackingOccasion, facts: Facts) {
    self.review = review
    self.occasion = occasion
    self.facts = facts
    if case .entry(let change) = occasion { summaries[change.tracker] = change.summary }
  }

  /// Returns the trackers that a criterion covers.
  func scope(_ criterion: Criterion) -> [Tracker] {
    guard let only = criterion.tracker else { return review.trackers }
    return review.trackers.filter { $0.id == only }
  }

  func isAbout(_ criterion: Criterion, _ tracker: TrackerID) -> Bool {
    guard criterion.tracker == nil || criterion.tracker == tracker else { return false }
    return review.trackers.contains { $0.id == tracker }
  }

  /// Returns whether the change can affect a criterion.
  func concerns(_ criterion: Criterion) -> Bool {
    switch occasion {
    case .anew: true
    case .entry(let change):
      switch criterion.kind {
      case .level: true
      case .itemsOwned, .firstItem, .daysSinceStart: false
      case .distinctValues where criterion.within == nil: false
      default: isAbout(criterion, change.tracker)
      }
    case .item(let tracker, _, _):
      switch criterion.kind {
      case .level: true
      case .itemsOwned, .firstItem, .distinctValues, .itemAnniversary, .entriesForItem: isAbout(criterion, tracker)
      default: false
      }
    case .day:
      switch criterion.kind {
      case .level: true
      case .anniversary, .daysSinceStart, .streak, .streakOfAny, .weekends, .itemsOwned, .itemsInDay, .distinctItems,
        .distinctValues,
        .evenRotation:
        true
      // The days of a limit are met when they end.
      case .daysMet, .goalMet: scope(criterion).contains(where: \.isLimited)
      default: false
      }
    }
  }

  /// Returns the pack's XP after the change, without achievements that it unlocks.
  mutating func experience(_ before: Int, _ kept: [AchievementID: AchievementProgress]) throws -> Int {
    switch occasion {
    case .item, .day: return before
    case .entry(let change):
      guard let tracker = review.trackers.first(where: { $0.id == change.tracker }) else { return before }
      let more = (change.added == nil ? 0 : 1) - (change.removed == nil ? 0 : 1)
      return max(before.clampedAdding(more * tracker.experience), 0)
    case .anew:
      var sum = 0
      for tracker in review.trackers {
        let (product, overflow) = try summary(of: tracker).entries.multipliedReportingOverflow(by: tracker.experience)
        sum = sum.clampedAdding(overflow ? .max : product)
      }
      for achievement in review.achievements where kept[achievement.id]?.unlockedAt != nil {
        sum = sum.clampedAdding(achievement.experience)
      }
      return sum
    }
  }
}

// Cached queries.
extension CriterionEvaluator {
  mutating func summary(of tracker: Tracker) throws -> TrackerSummary {
    if let known = summaries[tracker.id], !tracker.isLimited { return known }
    let kept = try summaries[tracker.id] ?? facts.summary(of: tracker.id) ?? TrackerSummary()
    let summary = ProgressAggregator(tracker).closed(kept, before: review.today(of: tracker))
    summaries[tracker.id] = summary
    return summary
  }

  mutating func items(of tracker: Tracker) throws -> [Item] {
    if let known = itemLists[tracker.id] { return known }
    let items = try facts.items(of: tracker.id)
    itemLists[tracker.id] = items
    return items
  }

  /// Returns the totals of all days.
  mutating func totals(of tracker: Tracker) throws -> [DayTotal] {
    if let known = totals[tracker.id] { return known }
    let summary = try summary(of: tracker)
    guard let first = summary.firstDay, let last = summary.lastDay, first <= last else { return [] }
    let days = try facts.dayTotals(of: tracker.id, in: first...last)
    totals[tracker.id] = days
    return days
  }

  mutating func count(of item: ItemID, _ tracker: Tracker) throws -> Int {
    if let known = itemCounts[tracker.id]?[item] { return known }
    let count = try facts.count(of: item, tracker: tracker.id)
    itemCounts[tracker.id, default: [:]][item] = count
    return count
  }

  /// Returns the items used per day. Reads as far back as the longest span needs, so that shorter ones hit the cache.
  mutating func itemDays(of tracker: Tracker, in days: ClosedRange<CivilDate>) throws -> ArraySlice<ItemDay> {
    if let known = worn[tracker.id], known.days.lowerBound <= days.lowerBound, known.days.upperBound >= days.upperBound
    {
      return known.counts[...].drop { $0.day < days.lowerBound }.prefix { $0.day <= days.upperBound }
    }
    let earliest = try max(
      days.upperBound.adding(days: 1 - widest) ?? .earliest, summary(of: tracker).firstDay ?? .earliest)
    let asked = min(days.lowerBound, earliest)...days.upperBound
    let counts = try facts.itemDays(of: tracker.id, in: asked)
    worn[tracker.id] = (asked, counts)
    return counts.drop { $0.day < days.lowerBound }
  }
}
