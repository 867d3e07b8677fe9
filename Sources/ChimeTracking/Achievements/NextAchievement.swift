public import ChimeSchedule

extension Criterion {
  /// Returns whether doing something today can advance it, rather than only time or a certain date.
  ///
  /// - Parameters:
  ///   - day: today.
  ///   - minute: the local time, 0…1439, because after 8:00 no entry before 8:00 is possible today; nil to ignore it.
  public func canMove(on day: CivilDate, minute: Int? = nil) -> Bool {
    switch kind {
    case .anniversary, .daysSinceStart, .itemAnniversary, .evenRotation: false
    case .entryOnDate, .entryOnWeekday: isOn(day)
    case .entryBefore: minute.map { $0 < self.minute ?? 0 } ?? true
    case .weekends: WeekdaySet.weekends.contains(day.weekday)
    case .streak:
      switch days {
      case .all: true
      case .weekdays: WeekdaySet.weekdays.contains(day.weekday)
      case .weekends: WeekdaySet.weekends.contains(day.weekday)
      }
    default: true
    }
  }

  /// Returns roughly how many days or entries are left, so that different kinds can be compared. Exceeding a goal
  /// counts more than meeting it, a level takes days, and the way to a weight weeks.
  public func remaining(after reached: Int) -> Int {
    let left = max(target - reached, 0)
    return switch kind {
    case .shareOfGoal: (target + 99) / 100
    case .level: left.multipliedReportingOverflow(by: 7).partialValue
    case .perfectWeek, .weekends: left.multipliedReportingOverflow(by: 7).partialValue
    case .anniversary: left.multipliedReportingOverflow(by: 365).partialValue
    case .crossed, .goalValue: left.multipliedReportingOverflow(by: 30).partialValue
    default: left
    }
  }
}

/// A Nearness ranks locked achievements; the greatest is the next to reach.
public struct Nearness: Comparable, Sendable {
  var canMove: Bool
  var remaining: Int

  public init(_ achievement: Achievement, reached: Int, on day: CivilDate, minute: Int? = nil) {
    canMove = achievement.criterion.canMove(on: day, minute: minute)
    remaining = achievement.criterion.remaining(after: reached)
  }

  public static func < (left: Nearness, right: Nearness) -> Bool {
    (left.canMove ? 1 : 0, -left.remaining) < (right.canMove ? 1 : 0, -right.remaining)
  }
}

extension Achievement {
  /// Returns the locked achievement that is nearest; nil if all are unlocked.
  ///
  /// It prefers those that something done today can advance, then the least left to do, then the order in the pack,
  /// which starts with easy ones.
  public static func next(
    among achievements: [Achievement], progress: [AchievementProgress], on day: CivilDate, minute: Int? = nil
  ) -> (achievement: Achievement, reached: Int)? {
    var kept: [AchievementID: AchievementProgress] = [:]
    for one in progress { kept[one.achievement] = one }
    var best: (achievement: Achievement, reached: Int, rank: Nearness)?
    for achievement in achievements {
      let progress = kept[achievement.id]
      guard progress?.unlockedAt == nil else { continue }
      let reached = progress?.reached ?? 0
      let rank = Nearness(achievement, reached: reached, on: day, minute: minute)
      if best.map({ rank > $0.rank }) ?? true { best = (achievement, reached, rank) }
    }
    return best.map { ($0.achievement, $0.reached) }
  }
}
