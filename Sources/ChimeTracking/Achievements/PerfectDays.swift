public import ChimeSchedule

extension Achievement {
  /// Returns the progress as people count: a single perfect week by its days, *3 of 7*; all others by their target.
  ///
  /// - Parameters:
  ///   - reached: the progress towards the target.
  ///   - perfectDays: returns the current run of perfect days; called only if needed.
  public func progress(
    reached: Int, perfectDays: () throws -> Int
  ) rethrows -> (reached: Int, target: Int) {
    let target = max(criterion.target, 1)
    guard criterion.kind == .perfectWeek, target == 1, reached < target else { return (min(reached, target), target) }
    return (min(try perfectDays(), 6), 7)
  }
}

/// PerfectDays counts days on which everything due was met.
public enum PerfectDays {
  /// Returns the current run of perfect days, at most seven.
  ///
  /// Today counts if it is perfect, and breaks nothing otherwise. Days with nothing due are ignored, as in
  /// `Criterion.Kind.perfectWeek`.
  ///
  /// - Parameter isMet: whether a tracker was met on a day.
  public static func run(
    of trackers: [Tracker], upTo today: CivilDate, isMet: (Tracker, CivilDate) throws -> Bool
  ) rethrows -> Int {
    var (run, passed) = (0, 0)
    var next: CivilDate? = today
    while let day = next, run < 7, passed < 100 {
      let due = trackers.filter { $0.isDue(on: day) }
      if due.isEmpty {
        passed += 1
      } else if try due.allSatisfy({ try isMet($0, day) }) {
        (run, passed) = (run + 1, 0)
      } else if day != today {
        return run
      }
      next = day.adding(days: -1)
    }
    return run
  }
}
