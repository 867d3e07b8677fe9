public import ChimeSchedule

/// The streak of a person, over several trackers: a day counts when one of them at least was met. A day on which none was asked
/// for neither breaks it nor adds to it, nor does today, as long as it is not over. Limits have no part in it.
///
///     let streak = StreakOfAny(trackers, since: firstDay, now: now, zone: zone)
///     streak.standing { tracker, day in totals[tracker.id]?[day]?.isMet ?? false }    // 12 days
public struct StreakOfAny {
  private let trackers: [Tracker]
  private let first: Int
  /// The newest day that any of them has, and the oldest that is not over for one of them.
  let last: Int
  private let unfinished: Int

  /// - Parameter since: the first day that has an entry; nil without any.
  public init(_ trackers: [Tracker], since: CivilDate?, now: Instant, zone: Zone) {
    let todays = trackers.map { $0.day(at: now, in: zone).day.number }
    let starts = trackers.map(\.startedOn) + [since].compactMap { $0 }
    // A limit is kept by doing nothing.
    self.trackers = trackers.filter { !$0.isLimited }
    first = starts.min()?.number ?? 0
    last = todays.max() ?? -1
    unfinished = todays.min() ?? -1
  }

  /// The streak that stands now.
  ///
  /// - Parameter most: where counting ends.
  public func standing(
    atMost most: Int = .max, isMet: (Tracker, CivilDate) throws -> Bool
  ) rethrows -> Streak {
    try run(upTo: last, atMost: most, isMet)
  }

  /// The longest there has been, the standing one included.
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

  /// The length of the run that a day belongs to, as far as a number; 0 when it counts for none.
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

  /// Whether a day adds to a run, or breaks it; nil when it does neither.
  private func counts(_ day: Int, _ isMet: (Tracker, CivilDate) throws -> Bool) rethrows -> Bool? {
    let date = CivilDate(nearest: day)
    if try trackers.contains(where: { try isMet($0, date) }) { return true }
    return day < unfinished && trackers.contains { $0.counts(date) } ? false : nil
  }
}
