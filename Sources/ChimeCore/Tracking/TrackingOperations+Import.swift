import ChimeSchedule
public import ChimeTracking

// Entries that were made elsewhere. Those of a file may be many, so they come in parts, each in a transaction of its own.
extension TrackingOperations {
  /// Records a part of what a file has; nobody is told of what that unlocks.
  ///
  /// - Parameters:
  ///   - entries: of trackers that are there then, in the order of their times; they get new ids.
  ///   - trackers: to be made, or put in the place of what they were.
  ///   - change: the same for each part, so that all are taken back as one.
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
      // As if each had been logged on its day: the tracker's days begin with the first entry.
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

  /// Adds entries to the totals of their days, which costs as much as there are entries, whatever the days have already.
  private func tally(_ tracker: Tracker, _ added: [Entry], isRedefined: Bool) throws -> TrackerSummary {
    let (key, today) = (tracker.key, today(of: tracker))
    let kept = try transaction.summary(of: key)
    var summary = kept ?? TrackerSummary()
    // Days that were skipped count in every sum, so another definition makes another of the same days.
    var isPlain = kept != nil && !isRedefined
    for (day, entries) in Dictionary(grouping: added, by: \.day).sorted(by: { $0.key < $1.key }) {
      let was = try transaction.dayTotal(of: key, on: day)
      var judged = tracker
      // A day that has passed stays as it was judged.
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
