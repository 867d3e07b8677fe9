public import ChimeSchedule
public import ChimeTracking

extension TrackingOperations {
  /// Logs an entry.
  ///
  /// - Returns: an outcome whose `entry` has its id.
  public func log(
    _ draft: EntryDraft, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try tracker(draft.tracker)
    let entry = try entry(draft, of: tracker)
    if !draft.isForced { try checkIsLikely(entry, of: tracker) }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.logged, tracker, tracker.subject(of: entry))
    let logged = try transaction.insert(entry)
    outcome.entry = logged
    try settle(try counting(tracker, [logged.day]), .entry(removed: nil, added: logged), &outcome, using: &generator)
    return outcome
  }

  /// Changes an entry; `change` may set all but its id, tracker and owner. The day follows from the time.
  public func edit(
    _ id: EntryID, using generator: inout some RandomNumberGenerator, _ change: (inout Entry) throws -> Void
  ) throws -> TrackingOutcome {
    try transaction.lockTrackers()
    guard let before = try transaction.entry(id, owner: owner) else { throw TrackingRefused.noEntry(id) }
    let tracker = try tracker(before.tracker)
    var wanted = before
    try change(&wanted)
    var after = before
    (after.at, after.quantity, after.fields) = (wanted.at, wanted.quantity, wanted.fields)
    (after.item, after.note, after.photo) = (wanted.item, wanted.note, wanted.photo)
    // An entry with an unchanged time keeps its day, even if the machine has changed zones since.
    if after.at != before.at { (after.day, after.minute) = tracker.day(at: after.at, in: zone) }
    try check(after, of: tracker)
    var outcome = TrackingOutcome()
    outcome.entry = after
    guard after != before else {
      outcome.tracker = tracker
      return outcome
    }
    outcome.change = try begin(.edited, tracker, tracker.subject(of: before))
    try transaction.update(after)
    try settle(try counting(tracker, [after.day]), .entry(removed: before, added: after), &outcome, using: &generator)
    return outcome
  }

  public func remove(
    _ id: EntryID, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    try transaction.lockTrackers()
    guard let entry = try transaction.entry(id, owner: owner) else { throw TrackingRefused.noEntry(id) }
    let tracker = try tracker(entry.tracker)
    var outcome = TrackingOutcome()
    outcome.change = try begin(.removed, tracker, tracker.subject(of: entry))
    try transaction.removeEntry(id, owner: owner)
    outcome.entry = entry
    outcome.removed = 1
    try settle(tracker, .entry(removed: entry, added: nil), &outcome, using: &generator)
    return outcome
  }

  /// Removes all entries of a tracker, or those of some days; does nothing if there are none.
  public func removeEntries(
    of id: TrackerID, in days: ClosedRange<CivilDate>? = nil, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try tracker(id)
    var outcome = TrackingOutcome()
    outcome.tracker = tracker
    let count = try transaction.entryCount(EntryFilter(owner: owner, tracker: id, days: days))
    guard count > 0 else { return outcome }
    outcome.change = try begin(.removedAll, tracker, String(count))
    let changed = Set(try transaction.entryDays(of: key(id), in: days))
    outcome.removed = try transaction.removeEntries(of: key(id), in: days)
    try settle(tracker, .days(changed), &outcome, using: &generator)
    return outcome
  }

  /// Returns the tracker adjusted to entries on these days: it starts no later than the first, and none of them is skipped.
  private func counting(_ tracker: Tracker, _ days: Set<CivilDate>) throws -> Tracker {
    var counting = tracker
    if let first = days.min(), first < tracker.startedOn { counting.startedOn = first }
    counting.skips.removeAll { days.contains($0) }
    guard counting != tracker else { return tracker }
    counting.generation += 1
    try transaction.put(counting)
    return counting
  }

  /// Returns the draft as an entry.
  private func entry(_ draft: EntryDraft, of tracker: Tracker) throws -> Entry {
    let at = draft.at ?? now
    let (day, minute) = tracker.day(at: at, in: zone)
    let entry = Entry(
      id: EntryID(rawValue: 0), tracker: tracker.id, owner: owner, at: at, day: day, minute: minute,
      quantity: draft.quantity ?? (tracker.kind == .amount ? tracker.usual : nil), fields: draft.fields,
      item: draft.item, note: draft.note, photo: draft.photo)
    try check(entry, of: tracker)
    return entry
  }

  /// How far an entry may lie in the future, because clients have other clocks.
  private static let tolerance = Milliseconds.minutes(1)

  private func check(_ entry: Entry, of tracker: Tracker) throws {
    guard entry.at <= now + Self.tolerance else {
      throw TrackingRefused.invalid(field: "at", "it is in the future: give the present or a past time")
    }
    switch (tracker.kind, entry.quantity) {
    case (.check, .some):
      throw TrackingRefused.invalid(field: "amount", "\(tracker.id) is a check: leave the amount out")
    case (.amount, nil):
      throw TrackingRefused.invalid(field: "amount", "give an amount: \(tracker.id) has no usual amount")
    case (.measure, nil):
      throw TrackingRefused.invalid(
        field: "amount",
        "give the measured value, in \(tracker.unit?.symbol ?? "its unit")")
    case (.amount, .some(let quantity)) where quantity <= .zero:
      throw TrackingRefused.invalid(field: "amount", "an amount must be more than zero")
    case (_, .some(let quantity)) where tracker.bounds?.contains(quantity) == false:
      throw Self.outOfBounds(tracker.bounds, tracker.unit, tracker.decimals, field: "amount")
    case (_, .some(let quantity)):
      let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
      guard quantity.grains.magnitude <= limit.magnitude else {
        throw TrackingRefused.invalid(field: "amount", "it is larger than Chime can record")
      }
    case (.check, nil): break
    }
    for (name, value) in entry.fields {
      guard let unit = tracker.fields[name] else {
        let known = tracker.fields.keys.sorted().joined(separator: ", ")
        throw TrackingRefused.invalid(
          field: name, known.isEmpty ? "\(tracker.id) has no further measures" : "\(tracker.id) has: \(known)")
      }
      guard value.grains.magnitude <= Quantity.limit(of: unit.dimension).magnitude else {
        throw TrackingRefused.invalid(field: name, "it is larger than Chime can record")
      }
      if let bounds = tracker.fieldBounds?[name], !bounds.contains(value) {
        throw Self.outOfBounds(bounds, unit, 0, field: name)
      }
    }
    if let note = entry.note, note.count > Entry.longestNote {
      throw TrackingRefused.invalid(
        field: "note", "a note has at most \(Entry.longestNote) characters; this one has \(note.count)")
    }
    guard let item = entry.item else { return }
    guard tracker.hasItems else {
      throw TrackingRefused.invalid(field: "item", "\(tracker.id) has no items")
    }
    guard try transaction.item(item, of: tracker.key) != nil else { throw TrackingRefused.noItem(item, tracker.id) }
  }

  private static func outOfBounds(_ bounds: Bounds?, _ unit: Unit?, _ decimals: Int, field: String) -> TrackingRefused {
    guard let bounds, let unit else { return .invalid(field: field, "it is larger than Chime can record") }
    let (least, most) = (
      bounds.least.plain(in: unit, decimals: decimals), bounds.most.plain(in: unit, decimals: decimals)
    )
    return .invalid(field: field, "give a value from \(least) to \(most) \(unit)")
  }

  /// Throws for a value far from the nearest one in time, which may be a typing error (8.24 for 82.4).
  private func checkIsLikely(_ entry: Entry, of tracker: Tracker) throws {
    guard tracker.kind == .measure, let bounds = tracker.bounds, let value = entry.quantity, let unit = tracker.unit,
      let near = try nearestValue(to: entry.day, of: tracker),
      bounds.isFar(value, from: near.value, days: Int(entry.day.dayNumber) - Int(near.day.dayNumber))
    else { return }
    let (was, now) = (
      near.value.plain(in: unit, decimals: tracker.decimals), value.plain(in: unit, decimals: tracker.decimals)
    )
    throw TrackingRefused.unlikely(
      field: "amount", "\(now) \(unit) is far from the \(was) \(unit) of \(near.day)")
  }

  private func nearestValue(to day: CivilDate, of tracker: Tracker) throws -> (day: CivilDate, value: Quantity)? {
    guard let summary = try transaction.summary(of: tracker.key), let last = summary.lastDay else { return nil }
    if last <= day { return summary.lastValue.map { (last, $0) } }
    // Far enough for the changes of a season.
    let first = day.adding(days: -90) ?? .earliest
    let totals = try transaction.dayTotals(of: tracker.key, in: first...(day.adding(days: 90) ?? .latest))
    func distance(_ total: DayTotal) -> Int { abs(Int(total.day.dayNumber) - Int(day.dayNumber)) }
    return totals.min { distance($0) < distance($1) }.flatMap { total in total.last.map { (total.day, $0) } }
  }
}

// Imported entries. A file may have many, so they come in parts with a transaction each.
extension TrackingOperations {
  /// Records a part of an import, without messages about what it unlocks.
  ///
  /// - Parameters:
  ///   - entries: entries of trackers that exist by then, in order of time; they get new ids.
  ///   - trackers: trackers to add or replace.
  ///   - change: the same for all parts, so that one undo reverts them all.
  public func add(
    _ entries: some Sequence<Entry>, trackers: [Tracker] = [], items: [Item] = [], as change: TrackingChange,
    using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    var outcome = TrackingOutcome()
    outcome.change = try transaction.begin(change)
    var touched: [TrackerID: [Entry]] = [:]
    for tracker in trackers {
      try transaction.put(tracker)
      touched[tracker.id] = []
    }
    for item in items {
      try transaction.put(item)
      touched[item.tracker] = []
    }
    for entry in entries { touched[entry.tracker, default: []].append(try transaction.insert(entry)) }
    let redefined = Set(trackers.map(\.id))
    var packs: Set<PackID> = []
    for (id, added) in touched.sorted(by: { $0.key < $1.key }) {
      let known = try tracker(id)
      // As if each had been logged on its day: the tracker starts on the day of the first entry.
      let tracker = try counting(known, Set(added.map(\.day)))
      let summary = try tally(tracker, added, isRedefined: redefined.contains(id) || tracker != known)
      if !added.isEmpty {
        try announce(.days(Set(added.map(\.day))), of: tracker, summary, using: &generator)
      }
      try follow(tracker.key, tracker, last: summary.lastAt, entry: nil, &outcome, using: &generator)
      outcome.tracker = tracker
      if let first = added.map(\.day).min(), let last = added.map(\.day).max(), tracker.goal != nil {
        let totals = try transaction.dayTotals(of: tracker.key, in: first...last)
        try recordMilestones(of: tracker, summary, in: totals)
      }
      if let pack = tracker.pack { packs.insert(pack) }
    }
    for pack in packs.sorted() { try praise(in: pack, .anew, isSilent: true, &outcome, using: &generator) }
    try TrackingDay.arm(in: transaction, context, now: now)
    return outcome
  }

  /// Adds entries to the totals of their days. The cost grows with the number of new entries only.
  private func tally(_ tracker: Tracker, _ added: [Entry], isRedefined: Bool) throws -> TrackerSummary {
    let key = tracker.key
    let kept = try transaction.summary(of: key)
    var summary = kept ?? TrackerSummary()
    // Skipped days count in every sum, so a changed definition changes the meaning of the same days.
    var isPlain = kept != nil && !isRedefined
    for (day, entries) in Dictionary(grouping: added, by: \.day).sorted(by: { $0.key < $1.key }) {
      let was = try transaction.dayTotal(of: key, on: day)
      let aggregator = aggregator(tracker, of: day, was)
      let total = entries.reduce(was) { aggregator.total($0, adding: $1) }
      try transaction.setDayTotal(total, on: day, of: key)
      if isPlain, let total { isPlain = ProgressAggregator(tracker).add(total, replacing: was, to: &summary) }
    }
    if !isPlain { summary = ProgressAggregator(tracker).summary(of: try allTotals(of: key)) }
    if summary != kept { try transaction.setSummary(summary.entries == 0 ? nil : summary, of: key) }
    return summary
  }
}

// Sample data, which lets a pack show something before the user has entries.
extension TrackingOperations {
  /// The id prefix of sample items, by which one command can remove them.
  public static let samplePrefix = "sample-"

  /// Records the sample data of an installed pack as one change, without messages about what it unlocks.
  ///
  /// - Returns: the outcome; empty if the samples exist already.
  public func addSamples(
    of pack: Pack, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    var items: [Item] = []
    var entries: [Entry] = []
    for sample in pack.samples ?? [] {
      let tracker = try tracker(sample.tracker)
      let id = ItemID(rawValue: Self.samplePrefix + sample.id)
      guard tracker.hasItems, try transaction.item(id, of: tracker.key) == nil else { continue }
      let today = today(of: tracker)
      let first = sample.days.max() ?? 0
      items.append(
        Item(
          id: id, tracker: tracker.id, owner: owner, title: sample.title, attributes: sample.attributes,
          since: today.adding(days: -first), createdAt: now))
      entries += sample.days.compactMap { back in
        guard let day = today.adding(days: -back) else { return nil }
        let noon = CivilDateTime(date: day, time: .noon)
        // Noon may still be to come, and no entry may lie in the future.
        let at = min(zone.firstInstant(noon), now)
        return Entry(
          id: EntryID(rawValue: 0), tracker: tracker.id, owner: owner, at: at, day: day,
          minute: Int(zone.civil(at: at).time.secondOfDay) / 60, item: id)
      }
    }
    guard !items.isEmpty else { return TrackingOutcome() }
    let change = TrackingChange(owner: owner, at: now, kind: .imported, subject: "sample")
    // Days before a tracker's start do not count, so it starts with the first sample.
    var trackers: [Tracker] = []
    for (id, own) in Dictionary(grouping: entries, by: \.tracker) {
      var tracker = try tracker(id)
      guard let first = own.map(\.day).min(), first < tracker.startedOn else { continue }
      tracker.startedOn = first
      tracker.generation += 1
      trackers.append(tracker)
    }
    return try add(
      entries.sorted { ($0.tracker, $0.at) < ($1.tracker, $1.at) }, trackers: trackers, items: items, as: change,
      using: &generator)
  }

  /// Removes sample items and their entries as one change. What they unlocked is locked again, and the tracker starts
  /// where it would have started without them.
  ///
  /// - Returns: the number of items, and the outcome; its `change` is nil if there are no samples.
  public func removeSamples(
    of pack: PackID, using generator: inout some RandomNumberGenerator
  ) throws -> (items: Int, outcome: TrackingOutcome) {
    var outcome = TrackingOutcome()
    var count = 0
    var changed: [(tracker: Tracker, days: Set<CivilDate>)] = []
    var added: Set<Instant> = []
    // Trackers that start with the sample, each with the day on which the sample was added.
    var begun: [(tracker: Tracker, day: CivilDate)] = []
    for tracker in try transaction.trackers(owner: owner) where tracker.pack == pack && tracker.hasItems {
      let samples = try transaction.items(of: tracker.key).filter { $0.id.rawValue.hasPrefix(Self.samplePrefix) }
      guard !samples.isEmpty else { continue }
      if outcome.change == nil { outcome.change = try begin(.removedAll, tracker, "sample") }
      var days: Set<CivilDate> = []
      for item in samples {
        let filter = EntryFilter(owner: owner, tracker: tracker.id, item: item.id)
        while case let entries = try transaction.entries(filter, page: Page(limit: 1_000)), !entries.isEmpty {
          for entry in entries {
            days.insert(entry.day)
            try transaction.removeEntry(entry.id, owner: owner)
          }
          outcome.removed += entries.count
        }
        try transaction.removeItem(item.id, of: tracker.key)
      }
      count += samples.count
      added.formUnion(samples.map(\.createdAt))
      if tracker.startedOn == samples.compactMap(\.since).min(), let at = samples.map(\.createdAt).min() {
        begun.append((tracker, tracker.day(at: at, in: zone).day))
      }
      changed.append((tracker, days))
    }
    try settle(changed, isSilent: true, &outcome, using: &generator)
    for (var tracker, day) in begun {
      tracker.startedOn = min(try transaction.summary(of: tracker.key)?.firstDay ?? day, day)
      tracker.generation += 1
      try transaction.put(tracker)
      try settle([(tracker, [])], isSilent: true, &outcome, using: &generator)
    }
    try lockAgain(in: pack) { added.contains($1) }
    return (count, outcome)
  }
}

extension Zone {
  /// Returns the first instant at which a clock shows that time; in a gap, the moment of the clock change.
  fileprivate func firstInstant(_ civil: CivilDateTime) -> Instant {
    switch resolve(civil) {
    case .unique(let instant): instant
    case .gap(_, _, let transition): transition
    case .fold(let first, _): first
    }
  }
}
