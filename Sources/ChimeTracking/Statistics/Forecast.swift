import ChimeSchedule

/// What is expected of a measure: one line through its last `window` days, from which the coming days and the day of the
/// goal are both read. It does not depend on the range that is looked at, so every place says the same.
///
/// Amounts and checks have none: how much somebody is going to do is no law of nature.
struct Forecast {
  /// A quarter of a year is long enough for who weighs once a fortnight, and short enough for what has changed.
  static let window = 90
  /// So many days after today are told.
  static let ahead = 14

  /// The fourteen days after today; empty for fewer than three days with a value.
  let days: [Prediction]
  /// The day on which the line is at the goal's value; nil when it goes elsewhere, takes more than ten years, has been there
  /// although the average is not, or when the average is there.
  let goalOn: CivilDate?

  /// - Parameters:
  ///   - points: the days with a value up to today, in order; older ones are passed over.
  ///   - average: where the tracker stands.
  init(_ points: [Statistics.Point], of tracker: Tracker, average: Double?, today: CivilDate) {
    let recent = points.filter { $0.day.number > today.number - Self.window && $0.day <= today }
    guard recent.count >= 3, let fit = LinearFit(recent) else {
      (days, goalOn) = ([], nil)
      return
    }
    days = (1...Self.ahead).compactMap { today.adding(days: $0).flatMap(fit.prediction) }
    guard case .value(let goal)? = tracker.goal?.target, let unit = tracker.unit, let average else {
      goalOn = nil
      return
    }
    let value = goal.value(in: unit)
    let isAhead = (value - average) * fit.slope > 0
    goalOn = isAhead ? fit.day(of: value).flatMap { $0 > today ? $0 : nil } : nil
  }
}
