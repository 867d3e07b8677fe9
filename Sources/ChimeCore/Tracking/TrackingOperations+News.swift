import ChimeSchedule
public import ChimeTracking

// Events about trackers for endpoints that subscribe to them (`OccurrenceEvent.logged`, `goal`, `unlocked`).
extension TrackingOperations {
  /// Recipients are the queues to notify, and the languages to use.
  private struct Recipients {
    var queues: [DeliveryQueue]
    var languages: [String]
  }

  /// Returns the subscribers of an event.
  ///
  /// For a tracker, these are endpoints notified of a reminder that is linked to it or belongs to its pack. For a pack,
  /// they include the pack's own channels.
  ///
  /// - Returns: nil if there are none.
  private func recipients(of event: OccurrenceEvent, _ trackers: [Tracker], of pack: PackID?) throws -> Recipients? {
    let wanting = (context.subscriptions.listeners(of: owner) ?? []).filter { $0.events.contains(event) }
    guard !wanting.isEmpty else { return nil }
    let installed = try pack.flatMap { try transaction.pack($0, owner: owner) }
    let languages = installed.flatMap { $0.languages.isEmpty ? nil : $0.languages } ?? context.wording.languages
    var queues = wanting.map(\.queue)
    if wanting.contains(where: { $0.reminders != .all }) {
      let channels = Set(installed?.pack.channels ?? [])
      let reminders = try reminders(of: trackers, installed)
      queues = wanting.filter { listener in
        listener.reminders == .all || channels.contains(listener.queue.channel.rawValue)
          || reminders.contains { listener.hears($0) }
      }.map(\.queue)
    }
    return queues.isEmpty ? nil : Recipients(queues: queues, languages: languages)
  }

  private func reminders(of trackers: [Tracker], _ installed: InstalledPack?) throws -> [Reminder] {
    var ids = Set(installed?.reminders.values.map { $0 } ?? [])
    for tracker in trackers {
      ids.formUnion(try transaction.reminderIDs(.linked(tracker.key), after: nil, limit: Self.mostReminders))
    }
    return try ids.compactMap { try transaction.readableReminder($0)?.reminder }
  }

  /// The most days that are reported of a change of several entries; the latest ones.
  private static let mostDays = 31

  /// Reports that entries of a tracker changed.
  ///
  /// - Parameter summary: the summary of all entries after the change.
  func announce(
    _ difference: Difference, of tracker: Tracker, _ summary: TrackerSummary,
    using generator: inout some RandomNumberGenerator
  ) throws {
    if case .definition = difference { return }
    guard let recipients = try recipients(of: .logged, [tracker], of: tracker.pack) else { return }
    func tell(_ change: TrackerNews.Change, _ entry: Entry?, on day: CivilDate) throws {
      let progress = try progress(of: tracker, on: day, summary)
      let facts = TrackerReport.Facts(tracker, progress, in: recipients.languages)
      let what = entry.flatMap { entry in
        entry.quantity.map { context.wording.amount($0, of: tracker) } ?? entry.item?.rawValue
      }
      let title = what.map { "\(facts.title): \($0)" } ?? facts.title
      let news = TrackerNews(facts: facts, change: change, entry: entry.map { .init($0, of: tracker) })
      try owe(.logged, title, news, to: recipients, using: &generator)
    }
    switch difference {
    case .entry(.some(let removed), .some(let added)) where removed.day == added.day:
      try tell(.changed, added, on: added.day)
    case .entry(let removed, let added):
      if let removed { try tell(.removed, removed, on: removed.day) }
      if let added { try tell(.added, added, on: added.day) }
    case .days(let days):
      let changed = days.isEmpty ? [today(of: tracker)] : days.sorted().suffix(Self.mostDays)
      for day in changed { try tell(.several, nil, on: day) }
    case .definition: break
    }
  }

  /// Reports that a tracker met the goal of its period.
  func announceGoal(
    of tracker: Tracker, _ progress: GoalProgress, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let recipients = try recipients(of: .goal, [tracker], of: tracker.pack) else { return }
    let facts = TrackerReport.Facts(tracker, progress, in: recipients.languages)
    try owe(
      .goal, context.wording.goalMet(tracker, progress).title, TrackerNews(facts: facts), to: recipients,
      using: &generator)
  }

  /// Reports what was reached.
  ///
  /// - Parameter trackers: the trackers that may have caused it.
  private func announce(
    _ words: TrackingWords, _ kind: TrackerNews.Unlocked.Kind, id: String, title: LocalizedText, of trackers: [Tracker],
    pack: PackID?, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let recipients = try recipients(of: .unlocked, trackers, of: pack) else { return }
    let reached = TrackerNews.Unlocked(kind, id: id, pack: pack?.rawValue, title: title.text(in: recipients.languages))
    var news = TrackerNews(unlocked: reached)
    if trackers.count == 1, let tracker = trackers.first {
      let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
      let progress = try progress(of: tracker, on: today(of: tracker), summary)
      news.facts = TrackerReport.Facts(tracker, progress, in: recipients.languages)
    }
    try owe(.unlocked, words.title, news, to: recipients, using: &generator)
  }

  private func owe(
    _ event: OccurrenceEvent, _ title: String, _ news: TrackerNews, to recipients: Recipients,
    using generator: inout some RandomNumberGenerator
  ) throws {
    try DesktopNotice.owe(
      DeliveryEvent(.event(event), by: way, news: news), title, to: recipients.queues, of: owner, in: transaction,
      now: now,
      using: &generator)
  }
}

extension TrackerNews.LoggedEntry {
  init(_ entry: Entry, of tracker: Tracker) {
    self.init(
      id: entry.id.rawValue, at: entry.at, day: entry.day.description,
      value: entry.quantity.map { quantity in
        tracker.unit.map { quantity.value(in: $0) } ?? Double(quantity.grains) / Double(Quantity.one.grains)
      }, item: entry.item?.rawValue)
  }
}

// Achievements that a change unlocks, and the messages about them.
extension TrackingOperations {
  /// Returns an achievement's progress for display; see `Achievement.progress`.
  public func progress(
    of achievement: Achievement, in pack: Pack, reached: Int
  ) throws -> (reached: Int, target: Int) {
    try achievement.progress(reached: reached) {
      let ids = achievement.criterion.tracker.map { [$0] } ?? pack.trackers.map(\.id)
      let trackers = try ids.compactMap { try transaction.tracker(key($0)) }
      guard let today = trackers.map({ today(of: $0) }).max() else { return 0 }
      return try PerfectDays.run(of: trackers, upTo: today) { tracker, day in
        tracker.wasMet(try transaction.dayTotal(of: tracker.key, on: day))
      }
    }
  }

  /// Evaluates the achievements of a pack.
  func praise(
    in pack: PackID?, _ occasion: TrackingOccasion, isSilent: Bool = false, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard let pack, let installed = try transaction.pack(pack, owner: owner) else { return }
    let trackers = try installed.pack.trackers.compactMap { try transaction.tracker(key($0.id)) }
    // The first entry of a day triggers the evaluation of criteria that depend on the day alone.
    if case .entry(let change) = occasion, change.removed == nil, let day = change.days.first, day.before == nil,
      let tracker = trackers.first(where: { $0.id == change.tracker }), day.after?.day == today(of: tracker)
    {
      try judge(installed, trackers, .day, isSilent: isSilent, &outcome, using: &generator)
    }
    try judge(installed, trackers, occasion, isSilent: isSilent, &outcome, using: &generator)
    // A level that came with the day shows the final experience, including what the entry earned.
    for index in outcome.levels.indices where outcome.levels[index].pack == pack {
      outcome.levels[index].experience = try transaction.experience(of: pack, owner: owner)
    }
  }

  private func judge(
    _ installed: InstalledPack, _ trackers: [Tracker], _ occasion: TrackingOccasion, isSilent: Bool,
    _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    let pack = installed.pack
    let review = AchievementReview(pack, trackers: trackers, now: now, zone: zone)
    let before = try transaction.experience(of: pack.id, owner: owner)
    let result = try review.outcome(
      of: occasion, progress: try transaction.progress(of: pack.id, owner: owner), experience: before,
      facts: StoredFacts(transaction: transaction, owner: owner), isSilent: isSilent)
    for progress in result.changed { try transaction.setProgress(progress, owner: owner) }
    if result.experience != before {
      try transaction.setExperience(result.experience, of: pack.id, owner: owner)
    }
    for achievement in result.unlocked {
      outcome.unlocked.append(Unlock(pack: pack.id, achievement: achievement, isSilent: isSilent))
      guard !isSilent else { continue }
      let words = context.wording.unlocked(achievement, of: pack)
      let due = achievement.criterion.tracker.map { id in trackers.filter { $0.id == id } } ?? trackers
      try announce(
        words, .achievement, id: achievement.id.rawValue, title: achievement.title, of: due, pack: pack.id,
        using: &generator)
      try tell(words, "unlocked", pack, icon: achievement.icon, &outcome, using: &generator)
    }
    guard let levels = result.levels, levels.after > levels.before else { return }
    let level = LevelUp(pack: pack.id, level: levels.after, experience: result.experience)
    outcome.levels.append(level)
    if !isSilent {
      let words = context.wording.reached(level, of: pack)
      try announce(
        words, .level, id: String(level.level), title: pack.title, of: trackers, pack: pack.id, using: &generator)
      try tell(words, "level", pack, &outcome, using: &generator)
    }
  }

  /// Notifies the user that the day's goal was met.
  func tellGoal(
    _ tracker: Tracker, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let progress = outcome.progress, let pack = try pack(of: tracker) else { return }
    try tell(
      context.wording.goalMet(tracker, progress), "goal", pack, icon: tracker.icon, &outcome, using: &generator)
  }

  /// Notifies the user that the day's limit is near or exceeded.
  func tellLimit(
    _ tracker: Tracker, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let progress = outcome.progress, outcome.limit != nil else { return }
    try warn(context.wording.limit(tracker, progress), "limit", of: tracker, &outcome, using: &generator)
  }

  /// Records the milestones that a measure has reached, each once, and notifies the user.
  func celebrate(
    _ tracker: Tracker, _ tallied: Tallied, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard let steps = MilestoneSteps(tracker, tallied.summary), let value = tallied.summary.lastValue else { return }
    let known = try transaction.milestones(owner: owner, tracker: tracker.id).compactMap(\.value)
    let pack = try pack(of: tracker)
    for crossing in steps.crossed(by: value, celebrated: known) {
      let milestone = try transaction.put(
        Milestone(
          id: 0, tracker: tracker.id, owner: owner, day: tallied.day,
          title: context.wording.title(of: crossing.value, of: tracker), value: crossing.value, createdAt: now))
      outcome.milestones.append(milestone)
      let words = context.wording.reached(milestone, of: tracker)
      try announce(
        words, .milestone, id: String(milestone.id), title: LocalizedText(milestone.title), of: [tracker],
        pack: tracker.pack, using: &generator)
      // The goal has a notice of its own.
      guard let pack, !crossing.isGoal || !outcome.goalMet else { continue }
      try tell(words, "milestone", pack, icon: tracker.icon, &outcome, using: &generator)
    }
  }

  /// Records the milestones that past days reached, each on its day, without notifying anyone.
  ///
  /// - Parameter totals: the new days, in order.
  func recordMilestones(of tracker: Tracker, _ summary: TrackerSummary, in totals: [DayTotal]) throws {
    guard let steps = MilestoneSteps(tracker, summary), !totals.isEmpty else { return }
    var known = try transaction.milestones(owner: owner, tracker: tracker.id).compactMap(\.value)
    for total in totals {
      guard let value = total.last else { continue }
      for crossing in steps.crossed(by: value, celebrated: known) {
        known.append(crossing.value)
        try transaction.put(
          Milestone(
            id: 0, tracker: tracker.id, owner: owner, day: total.day,
            title: context.wording.title(of: crossing.value, of: tracker), value: crossing.value, createdAt: now))
      }
    }
  }

  /// Revokes what today's values earned if they no longer support it.
  ///
  /// A typing error (8.24 for 82.4) that is undone, edited or removed on the same day leaves neither achievement nor
  /// milestone. What was earned on an earlier day stays.
  func retract(_ tracker: Tracker, _ summary: TrackerSummary) throws {
    guard tracker.kind == .measure else { return }
    let steps = MilestoneSteps(tracker, summary)
    for milestone in try transaction.milestones(owner: owner, tracker: tracker.id) {
      guard let value = milestone.value, isOfToday(milestone.createdAt, tracker) else { continue }
      if steps?.isPassed(value, by: summary) != true { try transaction.removeMilestone(milestone.id, owner: owner) }
    }
    guard let pack = tracker.pack else { return }
    try lockAgain(in: pack) { achievement, at in
      achievement.criterion.isOfValues(of: tracker) && isOfToday(at, tracker)
    }
  }

  /// Evaluates unlocked achievements again, and locks those that the current data does not earn.
  ///
  /// - Parameter isDoubted: selects achievements by their time of unlocking.
  func lockAgain(in pack: PackID, where isDoubted: (Achievement, Instant) -> Bool) throws {
    guard let installed = try transaction.pack(pack, owner: owner) else { return }
    var progress = try transaction.progress(of: pack, owner: owner)
    let known = Dictionary(installed.pack.achievements.map { ($0.id, $0) }) { first, _ in first }
    var doubted: Set<AchievementID> = []
    for index in progress.indices {
      guard let at = progress[index].unlockedAt, let achievement = known[progress[index].achievement],
        isDoubted(achievement, at)
      else { continue }
      progress[index].unlockedAt = nil
      doubted.insert(progress[index].achievement)
    }
    guard !doubted.isEmpty else { return }
    let trackers = try installed.pack.trackers.compactMap { try transaction.tracker(key($0.id)) }
    let review = AchievementReview(installed.pack, trackers: trackers, now: now, zone: zone)
    let judged = try review.outcome(
      of: .anew, progress: progress, experience: 0, facts: StoredFacts(transaction: transaction, owner: owner))
    let earned = Set(judged.unlocked.map(\.id))
    var experience = try transaction.experience(of: pack, owner: owner)
    for achievement in installed.pack.achievements
    where doubted.contains(achievement.id) && !earned.contains(achievement.id) {
      let locked = judged.changed.first { $0.achievement == achievement.id }
      try transaction.setProgress(
        locked ?? AchievementProgress(pack: pack, achievement: achievement.id), owner: owner)
      experience = max(experience - achievement.experience, 0)
    }
    try transaction.setExperience(experience, of: pack, owner: owner)
  }

  private func isOfToday(_ instant: Instant, _ tracker: Tracker) -> Bool {
    tracker.day(at: instant, in: zone).day == today(of: tracker)
  }

  private func pack(of tracker: Tracker) throws -> Pack? {
    try tracker.pack.flatMap { try transaction.pack($0, owner: owner)?.pack }
  }

  /// Notifies the user through the pack's channels. Trackers without a pack get no notice; `chime watch` shows theirs.
  private func tell(
    _ words: TrackingWords, _ tag: String, _ pack: Pack, icon: String? = nil, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let channels = pack.channels.isEmpty ? context.channels : pack.channels.map(ChannelName.init(rawValue:))
    outcome.notices.append(
      try DesktopNotice.record(
        words.title, words.body, to: owner, in: transaction, context, channels: channels,
        tags: [pack.id.rawValue, tag], icon: icon ?? pack.icon, now: now, using: &generator))
  }

  /// Notifies the user of any tracker's warning, through its pack's channels or the usual ones.
  func warn(
    _ words: TrackingWords, _ tag: String, of tracker: Tracker, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let pack = try pack(of: tracker)
    let channels = pack.map { $0.channels.map(ChannelName.init(rawValue:)) } ?? []
    outcome.notices.append(
      try DesktopNotice.record(
        words.title, words.body, to: owner, in: transaction, context,
        channels: channels.isEmpty ? context.channels : channels, tags: [pack?.id.rawValue, tag].compactMap { $0 },
        icon: tracker.icon ?? pack?.icon, now: now, using: &generator))
  }
}

/// StoredFacts answers the queries of achievement reviews from the store.
private struct StoredFacts: TrackingFacts {
  let transaction: any StoreTransaction
  let owner: UInt32

  private func key(_ id: TrackerID) -> TrackerKey { TrackerKey(owner: owner, id: id) }

  func summary(of tracker: TrackerID) throws -> TrackerSummary? { try transaction.summary(of: key(tracker)) }
  func dayTotal(of tracker: TrackerID, on day: CivilDate) throws -> DayTotal? {
    try transaction.dayTotal(of: key(tracker), on: day)
  }
  func dayTotals(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [DayTotal] {
    try transaction.dayTotals(of: key(tracker), in: days)
  }
  func items(of tracker: TrackerID) throws -> [Item] { try transaction.items(of: key(tracker)) }

  func count(of item: ItemID, tracker: TrackerID) throws -> Int {
    try transaction.itemCount(of: item, key: key(tracker))
  }

  func itemDays(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [ItemDay] {
    try transaction.itemDays(of: key(tracker), in: days)
  }
}
