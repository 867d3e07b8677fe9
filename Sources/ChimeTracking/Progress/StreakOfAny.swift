public import ChimeSchedule

/// A StreakOfAny is a person's streak over several trackers: a day counts if at least one of them was met.
///
/// A day on which none was due neither breaks nor extends it, nor does today while it is not over. Limits are ignored.
///
///     let streak = StreakOfAny(trackers, since: firstDay, now: now, zone: zone)
///     streak.current { tracker, day in totals[tracker.id]?[day]?.isMet ?? false }    // 12 days
public struct StreakOfAny {
  private let trackers: [Tracker]
  private let first: Int
  /// The latest current day of any tracker; `unfinished` is the earliest.
  let last: Int
  private let unfinished: Int

  /// - Parameter since: the first day with an entry; nil if there is none.
  public init(_ trackers: [Tracker], since: CivilDate?, now: Instant, zone: Zone) {
    let todays = trackers.map { $0.day(at: now, in: zone).day.number }
    let starts = trackers.map(\.startedOn) + [since].compactMap { $0 }
    // A limit is kept by doing nothing.
    self.trackers = trackers.filter { !$0.isLimited }
    first = starts.min()?.number ?? 0
    last = todays.max() ?? -1
    unfinished = todays.min() ?? -1
  }

  /// Returns the current streak.
  ///
  /// - Parameter most: the length at which to stop counting.
  public func current(
    atMost most: Int = .max, isMet: (Tracker, CivilDate) throws -> Bool
  ) rethrows -> Streak {
    try run(upTo: last, atMost: most, isMet)
  }

  /// Returns the longest streak ever, including the current one.
  func longest(isMet: (Tracker, CivilDate) throws -> Bool) rethrows -> Int {
    var (longest, run) = (0, 0)
    for day in stride(from: first, through: last, by: 1) {
      switch try counts(day, isMet) {
      case true?: run += 1
      case false?: run = 0
      case nil: break
      }
      longest = max(longest, run)
    }
    return longest
  }

  /// Returns the length of the run that contains a day, counted up to `most`; 0 if the day was not met.
  func length(around day: CivilDate, atMost most: Int, isMet: (Tracker, CivilDate) throws -> Bool) rethrows -> Int {
    guard day.number <= last, try counts(day.number, isMet) == true else { return 0 }
    var (end, later) = (day.number, 0)
    var next = end + 1
    while next <= last, later < most, let verdict = try Optional(counts(next, isMet)), verdict != false {
      if verdict == true { (end, later) = (next, later + 1) }
      next += 1
    }
    return try run(upTo: end, atMost: most, isMet).length
  }

  private func run(
    upTo end: Int, atMost most: Int, _ isMet: (Tracker, CivilDate) throws -> Bool
  ) rethrows -> Streak {
    var streak = Streak()
    var day = end
    while day >= first, streak.length < most, let verdict = try Optional(counts(day, isMet)), verdict != false {
      if verdict == true {
        streak.length += 1
        streak.first = CivilDate(nearest: day)
        streak.last = streak.last ?? CivilDate(nearest: day)
      }
      day -= 1
    }
    return streak
  }

  /// Returns whether a day extends a run (true) or breaks it (false); nil if it does neither.
  private func counts(_ day: Int, _ isMet: (Tracker, CivilDate) throws -> Bool) rethrows -> Bool? {
    let date = CivilDate(nearest: day)
    if try trackers.contains(where: { try isMet($0, date) }) { return true }
    return day < unfinished && trackers.contains { $0.counts(date) } ? false : nil
  }
}
