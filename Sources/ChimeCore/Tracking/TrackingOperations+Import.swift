import ChimeSchedule
public import ChimeTracking

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
    let (key, today) = (tracker.key, today(of: tracker))
    let kept = try transaction.summary(of: key)
    var summary = kept ?? TrackerSummary()
    // Skipped days count in every sum, so a changed definition changes the meaning of the same days.
    var isPlain = kept != nil && !isRedefined
    for (day, entries) in Dictionary(grouping: added, by: \.day).sorted(by: { $0.key < $1.key }) {
      let was = try transaction.dayTotal(of: key, on: day)
      var judged = tracker
      // A past day keeps the goal by which it was judged.
      if let was, day != today { judged.goal = was.goal }
      let aggregator = ProgressAggregator(judged)
      let total = entries.reduce(was) { aggregator.total($0, adding: $1) }
      try transaction.setDayTotal(total, on: day, of: key)
      if isPlain, let total { isPlain = ProgressAggregator(tracker).add(total, replacing: was, to: &summary) }
    }
    if !isPlain { summary = ProgressAggregator(tracker).summary(of: try allTotals(of: key)) }
    if summary != kept { try transaction.setSummary(summary.entries == 0 ? nil : summary, of: key) }
    return summary
  }
}
