public import ChimeSchedule

extension Criterion {
  /// Whether doing something today can bring it nearer; what only time or a certain day brings cannot.
  ///
  /// - Parameters:
  ///   - day: today.
  ///   - minute: the clock on the wall, 0 to 1439: after 8:00 no entry before 8:00 is to be had today. Nil: whenever.
  public func canMove(on day: CivilDate, minute: Int? = nil) -> Bool {
    switch kind {
    case .anniversary, .daysSinceStart, .itemAnniversary, .evenRotation: false
    case .entryOnDate, .entryOnWeekday: isOn(day)
    case .entryBefore: minute.map { $0 < self.minute ?? 0 } ?? true
    case .streak:
      switch days {
      case .all: true
      case .weekdays: WeekdaySet.weekdays.contains(day.weekday)
      case .weekends: WeekdaySet.weekends.contains(day.weekday)
      }
    default: true
    }
  }
}

extension Achievement {
  /// The locked one that is nearest: of those that something done today can bring nearer, else of the others, the one with
  /// the greatest share of its target; of equals the one that is worth more XP, then the first in the pack. Nil when all are
  /// unlocked.
  public static func next(
    among achievements: [Achievement], progress: [AchievementProgress], on day: CivilDate, minute: Int? = nil
  ) -> (achievement: Achievement, reached: Int)? {
    var kept: [AchievementID: AchievementProgress] = [:]
    for one in progress { kept[one.achievement] = one }
    var best: (achievement: Achievement, reached: Int, rank: (Int, Double, Int))?
    for achievement in achievements {
      let progress = kept[achievement.id]
      guard progress?.unlockedAt == nil else { continue }
      let reached = progress?.reached ?? 0
      let share = Double(reached) / Double(max(achievement.criterion.target, 1))
      let rank = (achievement.criterion.canMove(on: day, minute: minute) ? 1 : 0, share, achievement.experience)
      if best.map({ rank > $0.rank }) ?? true { best = (achievement, reached, rank) }
    }
    return best.map { ($0.achievement, $0.reached) }
  }
}
