import ChimeSchedule

/// A Forecast predicts a measure by one line through its last `window` days.
///
/// Both the coming days and the day of the goal are read from this line, whatever range is shown. Amounts and checks
/// have no forecast, because what a person will do follows no trend.
struct Forecast {
  /// A quarter: long enough for someone who weighs every two weeks, short enough to follow changes.
  static let window = 90
  /// The number of days predicted after today.
  static let ahead = 14

  /// The predicted days; empty if fewer than three days have a value.
  let days: [Prediction]
  /// The day on which the line reaches the goal; nil if it leads elsewhere, takes more than ten years, or if the line
  /// or the average is there already.
  let goalOn: CivilDate?

  /// - Parameters:
  ///   - points: the days with a value up to today, in order; older ones are ignored.
  ///   - average: the tracker's current average.
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
