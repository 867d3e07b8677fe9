import ChimeSchedule

/// A StrengthRule computes habit strength, which says how firmly a habit is established, from 0 to 1.
///
/// It is the score of Loop Habit Tracker (Á. S. Xavier, https://github.com/iSoron/uhabits, `Score.compute` and
/// `ScoreList.recompute`; explained in its issues 142 and 641): exponential smoothing of each day's worth,
///
///     strength = m · strength of the day before + (1 − m) · worth of the day,     m = ½ ^ (√f / 13)
///
/// where `f` is how often per day the habit is meant to be done: 1 for daily, 3/7 for three times a week. So a daily
/// habit gets half of the way to 1 in 13 days, and a rarer one takes longer, but fewer repetitions.
///
/// The worth of a day, from 0 to 1:
/// - with a goal per day, the share of it that was reached; without a goal, whether there is an entry;
/// - for "`n` times in `d` days", the share of `2n` repetitions done in the last `2d` days (twice the span, so that the
///   choice of days within a week does not matter);
/// - with a goal per week or month, the share of it that was reached in the last 7 or 30 days.
///
/// Loop knows no weekdays. Here, days that do not count are left out, and each counted day moves the strength as much
/// as its share of a week: for `k` weekdays, `f` is `k/7`, and `m` is raised to the power of `7/k`.
struct StrengthRule {
  /// The factor by which a counted day of no worth reduces the strength.
  let multiplier: Double
  /// The number of counted days that a day's worth covers.
  let window: Int
  /// The total that these days need; nil if a day stands for itself.
  let target: Int64?

  /// The number of contributions that suffice, if each is 1; nil if they are amounts.
  var enough: Int? { countsDays ? target.map(Int.init) : nil }
  private let countsDays: Bool

  /// The strength below which it counts as 0.
  static let least = 1e-12

  /// - Parameter weekdays: the counted weekdays, if the tracker counts by weekdays.
  init(_ tracker: Tracker, _ weekdays: WeekdaySet) {
    var (frequency, share) = (1.0, 1.0)
    if case .weekdays = tracker.counting { countsDays = false } else { countsDays = true }
    switch tracker.counting {
    case .weekdays:
      share = Double(max(weekdays.rawValue.nonzeroBitCount, 1)) / 7
      if let goal = tracker.goal, let wanted = goal.wanted, goal.period != .day {
        let days = goal.period == .week ? 7 : 30
        frequency = 1 / Double(days)
        window = max(Int((share * Double(days)).rounded()), 1)
        target = wanted
      } else {
        frequency = share
        (window, target) = (1, nil)
      }
    case .timesAWeek(let times): (frequency, window, target) = Self.repeated(times, in: 7)
    case .timesAMonth(let times): (frequency, window, target) = Self.repeated(times, in: 30)
    case .rolling(let times, let days): (frequency, window, target) = Self.repeated(times, in: days)
    }
    multiplier = Self.half(toThe: frequency.squareRoot() / 13 / share)
  }

  private static func repeated(_ times: Int, in days: Int) -> (Double, Int, Int64?) {
    let days = max(days, 1)
    let times = min(max(times, 1), days)
    if times == days { return (1, 1, nil) }
    return (Double(times) / Double(days), 2 * days, Int64(2 * times))
  }

  /// Returns a day's contribution to a window.
  func contribution(of total: DayTotal, _ tracker: Tracker) -> Int64 {
    if case .weekdays = tracker.counting, let goal = tracker.goal {
      if case .count = goal.target { return Int64(total.count) }
      return total.total.grains
    }
    return total.isMet ? 1 : 0
  }

  /// Returns the worth of a day that stands for itself.
  static func worth(of total: DayTotal) -> Double {
    switch total.goal?.ofDay {
    case .count(let wanted): wanted > 0 ? min(1, Double(total.count) / Double(wanted)) : 1
    case .total(let wanted):
      wanted > .zero ? min(1, max(0, Double(total.total.grains) / Double(wanted.grains))) : 1
    case .value, nil: total.isMet ? 1 : 0
    }
  }

  func step(_ strength: Double, worth: Double) -> Double {
    let next = strength * multiplier + worth * (1 - multiplier)
    return next < Self.least ? 0 : next
  }

  /// Returns the worth of a window with these contributions.
  func worth(of recent: some Sequence<Int64>) -> Double {
    guard let target, target > 0 else { return 1 }
    let sum = recent.reduce(Quantity.zero) { $0 + Quantity(grains: $1) }.grains
    return min(1, max(0, Double(sum) / Double(target)))
  }

  /// Returns the strength after counted days without entries, at the positions after `position` up to `last`.
  func decay(_ strength: Double, after position: Int, through last: Int, recent: [(position: Int, amount: Int64)])
    -> Double
  {
    var strength = strength
    var index = 0
    var position = position + 1
    while position <= last {
      while index < recent.count, recent[index].position <= position - window { index += 1 }
      if index == recent.count || target == nil {
        if strength == 0 { return 0 }
        strength = step(strength, worth: 0)
      } else {
        strength = step(strength, worth: worth(of: recent[index...].lazy.map(\.amount)))
      }
      position += 1
    }
    return strength
  }

  /// Returns ½ to the power of a number from 0 to 1, by the series of e^x, accurate to the last digit or two.
  static func half(toThe exponent: Double) -> Double {
    let x = -0.693_147_180_559_945_3 * exponent
    var (sum, term) = (1.0, 1.0)
    for count in 1...20 {
      term *= x / Double(count)
      sum += term
    }
    return sum
  }
}

extension Goal {
  /// The number of entries or grains that it wants in its period; nil for a value.
  var wanted: Int64? {
    switch target {
    case .count(let count): Int64(count)
    case .total(let total): total.grains
    case .value: nil
    }
  }
}
