import ChimeSchedule
public import ChimeTracking

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
