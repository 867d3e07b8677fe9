import ChimeControl
import ChimeSchedule
import ChimeWords

/// The value axis of a chart, with round numbers as ticks.
///
///     Scale(of: [78.4, 88.1], ticks: 5)   // 78 … 90 in steps of 2 (78, 80 …)
///
/// Source: "Nice numbers for graph labels", P. Heckbert, Graphics Gems (1990).
struct Scale: Equatable, Sendable {
  var low: Double
  var high: Double
  var step: Double

  /// - Parameters:
  ///   - values: the values to cover; an empty array gives 0 … 1.
  ///   - ticks: the approximate number of steps.
  ///   - fromZero: whether the axis includes zero, as bars need.
  ///   - isWhole: whether values are whole numbers, so that no step is smaller than 1.
  init(of values: [Double], ticks: Int, fromZero: Bool = false, isWhole: Bool = false) {
    let finite = values.filter(\.isFinite)
    var low = fromZero ? min(0, finite.min() ?? 0) : finite.min() ?? 0
    var high = finite.max() ?? 1
    if high - low < 1e-9 {
      // A single value gets a margin on both sides.
      let room = max(abs(high) * 0.02, 0.5)
      high += room
      if !fromZero { low -= room }
    }
    let rough = (high - low) / Double(max(ticks, 1))
    var power = 1.0
    while power * 10 <= rough { power *= 10 }
    while power > rough { power /= 10 }
    let nice = ([1, 2, 2.5, 5].map { $0 * power }.first { $0 >= rough * 0.999 }) ?? power * 10
    step = isWhole ? max(1, nice.rounded(.up)) : nice
    self.low = (low / step + 1e-9).rounded(.down) * step
    self.high = (high / step - 1e-9).rounded(.up) * step
  }

  /// Whether the chart has room for the goal: a goal far from all values would flatten them against an edge.
  ///
  /// - Parameter isFirst: whether there are only one or two values, which nothing can flatten. A first column then
  ///   stands beside its goal instead of filling the chart.
  static func holds(_ goal: Double, beside values: [Double], isColumns: Bool, isFirst: Bool) -> Bool {
    guard let low = values.min(), let high = values.max() else { return false }
    if isColumns { return isFirst || goal < max(high, 1) * 4 }
    let room = max(high - low, high.magnitude * (isFirst ? 0.1 : 0.02)) * 1.5
    return goal > low - room && goal < high + room
  }

  /// The labeled values, lowest first.
  var ticks: [Double] {
    (0...max(0, Int(((high - low) / step).rounded()))).map { low + Double($0) * step }
  }

  /// The number of decimals that the tick labels need: 0 to 3.
  var decimals: Int {
    (0..<3).first { places in
      let factor = [1.0, 10, 100][places]
      return abs((step * factor).rounded() - step * factor) < 1e-6
    } ?? 3
  }

  /// Returns the position of a value: 0 at the low end, 1 at the high end.
  func share(_ value: Double) -> Double { (value - low) / (high - low) }
}

/// The day axis of a chart.
struct DayAxis: Equatable, Sendable {
  var first: CivilDate
  var last: CivilDate

  var count: Int { Int(last.dayNumber - first.dayNumber) + 1 }

  /// Returns an axis of at least so many days, so that a single column does not fill the chart.
  ///
  /// - Parameter isColumns: columns end with today. Points start one day after the axis begins, because a point on the
  ///   edge is easily overlooked, and leave the future free.
  func holding(atLeast days: Int, isColumns: Bool) -> DayAxis {
    guard count < days, let begin = isColumns ? last.adding(days: 1 - days) : first.adding(days: -1),
      let end = begin.adding(days: days - 1)
    else { return self }
    return DayAxis(first: begin, last: max(end, last))
  }

  /// The minimum number of weeks in a chart of weekly sums.
  static let fewestWeeks = 8

  /// Returns the minimum number of days in a chart: 14, or 7 for shorter ranges.
  static func fewestDays(in range: TrackersInterface.Range?) -> Int {
    guard let from = range?.from.flatMap({ CivilDate($0) }), let to = range?.to.flatMap({ CivilDate($0) }) else {
      return 14
    }
    return min(max(Int(to.dayNumber - from.dayNumber) + 1, 7), 14)
  }

  /// Returns the position of a day: 0 for the first, 1 for the last.
  func share(_ day: CivilDate) -> Double {
    count < 2 ? 0.5 : Double(day.dayNumber - first.dayNumber) / Double(count - 1)
  }

  struct Tick: Equatable, Sendable {
    var day: CivilDate
    var text: String
  }

  /// Returns at most `limit` labeled days. Weeks begin on Monday, months on the first.
  func ticks(limit: Int) -> [Tick] {
    if count <= 7, count <= limit { return every(1).map { Tick(day: $0, text: LocalizedFormat.weekday($0.weekday)) } }
    let short = { (day: CivilDate) in Tick(day: day, text: DayText.short(day)) }
    if count <= 62 {
      let mondays = every(1).filter { $0.weekday == .monday }
      let thinned = [1, 2, 4].lazy.map { step in Self.thin(mondays, step) }.first { $0.count <= limit }
      return (thinned ?? Array(mondays.prefix(1))).map(short)
    }
    let months = every(1).filter { $0.day == 1 }
    for step in [1, 2, 3, 4, 6, 12, 24, 60, 120] {
      let chosen = months.filter { ($0.year * 12 + $0.month - 1) % step == 0 }
      guard chosen.count <= limit else { continue }
      return chosen.map { Tick(day: $0, text: step >= 12 ? String($0.year) : DayText.month($0.month)) }
    }
    return []
  }

  private func every(_ step: Int) -> [CivilDate] {
    stride(from: 0, to: count, by: step).compactMap { first.adding(days: $0) }
  }

  private static func thin(_ days: [CivilDate], _ step: Int) -> [CivilDate] {
    days.enumerated().filter { $0.offset % step == 0 }.map(\.element)
  }
}
