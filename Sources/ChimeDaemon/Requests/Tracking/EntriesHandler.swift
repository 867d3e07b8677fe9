import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Logs, changes, removes and lists entries.
extension TrackersHandler {
  /// The most entries in one answer.
  private static let maxEntries = 5_000

  func handle(_ request: Tracking.Log) async throws -> Tracking.Log.Reply {
    let at = try TrackerFields.time(request.at)
    let note = try request.note.flatMap(TrackerFields.note)
    let photo = try photo(request.photo)
    return try await changeTracking(token: request.token) { [self] work, generator in
      let lookup = lookup(work.transaction)
      let tracker = try lookup.tracker(request.tracker)
      var draft = EntryDraft(tracker: tracker.id, at: at, note: note, photo: photo ?? nil)
      if let amount = request.amount {
        draft.quantity = try TrackerFields.quantity(amount, in: request.unit, of: tracker)
      } else if request.unit != nil {
        throw ControlFailure.invalidValue(field: "unit", "a unit needs an amount: give that too")
      }
      draft.isForced = request.force ?? false
      draft.fields = try TrackerFields.fields(request.fields ?? [:], of: tracker)
      draft.item = try request.item.map { try lookup.item($0, of: tracker).id }
      let outcome = try work.log(draft, using: &generator)
      return (Tracking.Log.Reply(change: try change(outcome, work.transaction)), outcome, nil)
    }
  }

  func handle(_ request: Tracking.EditEntry) async throws -> Tracking.EditEntry.Reply {
    let at = try TrackerFields.time(request.at)
    let note = try request.note.map(TrackerFields.note)
    let photo = try photo(request.photo)
    return try await changeTracking { [self] work, generator in
      let id = EntryID(rawValue: Int64(request.id))
      guard let known = try work.transaction.entry(id, owner: caller.owner),
        let tracker = try work.transaction.tracker(known.key)
      else { throw TrackingRefused.noEntry(id) }
      var wanted = known
      if let at { wanted.at = at }
      if let amount = request.amount {
        wanted.quantity = try TrackerFields.quantity(amount, in: request.unit, of: tracker)
      } else if request.unit != nil {
        throw ControlFailure.invalidValue(field: "unit", "a unit needs an amount: give that too")
      }
      if let fields = request.fields {
        wanted.fields.merge(try TrackerFields.fields(fields, of: tracker)) { _, new in new }
      }
      if let item = request.item {
        wanted.item = item.isEmpty ? nil : try lookup(work.transaction).item(item, of: tracker).id
      }
      if let note { wanted.note = note }
      if let photo { wanted.photo = photo }
      let outcome = try work.edit(id, using: &generator) { [wanted] in $0 = wanted }
      let reply = Tracking.EditEntry.Reply(change: try change(outcome, work.transaction))
      return (reply, outcome, "\(tracker.id): an entry of \(known.day) changed")
    }
  }

  func handle(_ request: Tracking.RemoveEntry) async throws -> Tracking.RemoveEntry.Reply {
    let range = try TrackerFields.range(request.range)
    return try await changeTracking { [self] work, generator in
      if let id = request.id {
        guard request.tracker == nil, range == nil else {
          throw ControlFailure.invalidValue(
            field: "id",
            "give either an entry's id, or a tracker with an optional range")
        }
        let outcome = try work.remove(EntryID(rawValue: Int64(id)), using: &generator)
        return (Tracking.RemoveEntry.Reply(removed: outcome.removed), outcome, nil)
      }
      guard let name = request.tracker else {
        throw ControlFailure.invalidValue(field: "id", "give an entry's id, or the tracker whose entries to remove")
      }
      let tracker = try lookup(work.transaction).tracker(name)
      let outcome = try work.removeEntries(of: tracker.id, in: range, using: &generator)
      let reply = Tracking.RemoveEntry.Reply(removed: outcome.removed)
      return (reply, outcome, "\(tracker.id): \(outcome.removed) entries removed")
    }
  }

  func handle(_ request: Tracking.Entries) async throws -> Tracking.Entries.Reply {
    let range = try TrackerFields.range(request.range)
    let weekdays = try request.weekdays.map { try TrackerFields.weekdays($0, "weekdays") }
    let limit = request.limit ?? 100
    let offset = request.offset ?? 0
    guard (0...Self.maxEntries).contains(limit) else {
      throw ControlFailure.invalidValue(field: "limit", "give a number from 0 to \(Self.maxEntries)")
    }
    guard (0...1_000_000_000).contains(offset) else {
      throw ControlFailure.invalidValue(field: "offset", "give the number of entries to skip")
    }
    let text = try request.text.map { try ReminderFields.text($0, "text", maximum: 1_000) }
    return try await store.read { [self] transaction in
      let lookup = lookup(transaction)
      let tracker = try lookup.tracker(request.tracker)
      if request.item != nil, tracker == nil {
        throw ControlFailure.invalidValue(field: "item", "an item needs a tracker: give that too")
      }
      let filter = EntryFilter(
        owner: caller.owner, tracker: tracker?.id, days: range, weekdays: weekdays,
        item: try tracker.flatMap { tracker in try request.item.map { try lookup.item($0, of: tracker).id } },
        hasNote: request.withNotes ?? false, hasMilestone: request.withMilestones ?? false, text: text)
      let found = limit == 0 ? [] : try transaction.entries(filter, page: Page(limit: limit, offset: offset))
      let total = try transaction.entryCount(filter)
      return Tracking.Entries.Reply(entries: fitting(try wired(found, transaction)), total: total)
    }
  }

  /// Returns entries as they are sent. Those of measures have the average and the rate of their day.
  private func wired(_ entries: [Entry], _ transaction: any StoreTransaction) throws -> [Tracking.Entry] {
    var trackers: [TrackerID: Tracker] = [:]
    var spans: [TrackerID: ClosedRange<CivilDate>] = [:]
    for entry in entries {
      if trackers[entry.tracker] == nil { trackers[entry.tracker] = try transaction.tracker(entry.key) }
      let span = spans[entry.tracker] ?? entry.day...entry.day
      spans[entry.tracker] = min(span.lowerBound, entry.day)...max(span.upperBound, entry.day)
    }
    var averages: [TrackerID: [String: Double]] = [:]
    var rates: [TrackerID: [String: Double]] = [:]
    for (id, span) in spans {
      guard let tracker = trackers[id], tracker.kind == .measure else { continue }
      let totals = try transaction.dayTotals(of: tracker.key, in: Statistics.reads(span))
      let statistics = Statistics(tracker, in: span, today: today(of: tracker), totals: totals)
      averages[id] = Self.byDay(statistics.averages)
      rates[id] = Self.byDay(statistics.rates)
    }
    let wire = self.wire
    return entries.compactMap { entry in
      guard let tracker = trackers[entry.tracker] else { return nil }
      var wired = wire.entry(entry, of: tracker)
      wired.average = averages[entry.tracker]?[wired.day]
      wired.rate = rates[entry.tracker]?[wired.day]
      return wired
    }
  }

  private static func byDay(_ points: [Statistics.Point]) -> [String: Double] {
    Dictionary(points.map { ($0.day.description, $0.value) }) { _, last in last }
  }

  /// Returns the effects of a change.
  private func change(_ outcome: TrackingOutcome, _ transaction: any StoreTransaction) throws -> Tracking.Change {
    let wire = self.wire
    var change = Tracking.Change(
      goalMet: outcome.goalMet, limit: outcome.limit.map(wire.limit),
      stock: outcome.stock.map { wire.stock($0.state) }, unlocked: [], milestones: [])
    if let tracker = outcome.tracker {
      change.entry = outcome.entry.map { wire.entry($0, of: tracker) }
      let summary = try transaction.summary(of: tracker.key)
      // An edit that changes nothing has no progress.
      let standing =
        try outcome.standing
        ?? tracking(transaction).standing(
          of: tracker, on: outcome.entry?.day ?? today(of: tracker), summary ?? TrackerSummary())
      change.standing = wire.standing(standing, of: tracker, lastAt: summary?.lastAt)
      change.standing?.stock = try tracking(transaction).stockLevel(of: tracker).map { wire.stock($0, of: tracker) }
      change.milestones = outcome.milestones.map { wire.milestone($0, unit: tracker.unit) }
    }
    change.unlocked = try unlocked(outcome, transaction)
    if let level = outcome.levels.last, let pack = try transaction.pack(level.pack, owner: caller.owner)?.pack {
      change.levelUp = wire.level(of: pack, experience: level.experience)
    }
    return change
  }
}
