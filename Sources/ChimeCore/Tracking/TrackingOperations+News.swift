import ChimeSchedule
import ChimeTracking

// Events about trackers for endpoints that subscribe to them (`OccurrenceEvent.logged`, `goal`, `unlocked`).
extension TrackingOperations {
  /// Recipients are the queues to notify, and the languages to use.
  struct Recipients {
    var queues: [DeliveryQueue]
    var languages: [String]
  }

  /// Returns the subscribers of an event.
  ///
  /// For a tracker, these are endpoints notified of a reminder that is linked to it or belongs to its pack. For a pack,
  /// they include the pack's own channels.
  ///
  /// - Returns: nil if there are none.
  func recipients(of event: OccurrenceEvent, _ trackers: [Tracker], of pack: PackID?) throws -> Recipients? {
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
      let standing = try standing(of: tracker, on: day, summary)
      let facts = TrackerReport.Facts(tracker, standing, in: recipients.languages)
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
      let told = days.isEmpty ? [today(of: tracker)] : days.sorted().suffix(Self.mostDays)
      for day in told { try tell(.several, nil, on: day) }
    case .definition: break
    }
  }

  /// Reports that a tracker met the goal of its period.
  func announceGoal(
    of tracker: Tracker, _ standing: GoalProgress, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let recipients = try recipients(of: .goal, [tracker], of: tracker.pack) else { return }
    let facts = TrackerReport.Facts(tracker, standing, in: recipients.languages)
    try owe(
      .goal, context.wording.goalMet(tracker, standing).title, TrackerNews(facts: facts), to: recipients,
      using: &generator)
  }

  /// Reports what was reached.
  ///
  /// - Parameter trackers: the trackers that may have caused it.
  func announce(
    _ words: TrackingWords, _ kind: TrackerNews.Unlocked.Kind, id: String, title: LocalizedText, of trackers: [Tracker],
    pack: PackID?, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let recipients = try recipients(of: .unlocked, trackers, of: pack) else { return }
    let reached = TrackerNews.Unlocked(kind, id: id, pack: pack?.rawValue, title: title.text(in: recipients.languages))
    var news = TrackerNews(unlocked: reached)
    if trackers.count == 1, let tracker = trackers.first {
      let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
      let standing = try standing(of: tracker, on: today(of: tracker), summary)
      news.facts = TrackerReport.Facts(tracker, standing, in: recipients.languages)
    }
    try owe(.unlocked, words.title, news, to: recipients, using: &generator)
  }

  private func owe(
    _ event: OccurrenceEvent, _ title: String, _ news: TrackerNews, to recipients: Recipients,
    using generator: inout some RandomNumberGenerator
  ) throws {
    try DesktopNotice.owe(
      DeliveryEvent(.told(event), by: way, news: news), title, to: recipients.queues, of: owner, in: transaction,
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
