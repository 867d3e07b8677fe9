public import ChimeSchedule

extension Achievement {
  /// How far it has come, as a person counts: a single perfect week by its days, *3 of 7*; all else by its target.
  ///
  /// - Parameters:
  ///   - reached: of its target.
  ///   - perfectDays: the run of perfect days that stands; asked for when it is needed.
  public func progress(
    reached: Int, perfectDays: () throws -> Int
  ) rethrows -> (reached: Int, target: Int) {
    let target = max(criterion.target, 1)
    guard criterion.kind == .perfectWeek, target == 1, reached < target else { return (min(reached, target), target) }
    return (min(try perfectDays(), 6), 7)
  }
}

/// Days on which all was met that was due.
public enum PerfectDays {
  /// How many there are in a row up to today, at most seven: today, which is not over, counts when it is perfect and breaks
  /// nothing when it is not. Days on which nothing was due are passed over, as in `Criterion.Kind.perfectWeek`.
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
