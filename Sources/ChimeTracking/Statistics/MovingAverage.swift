import ChimeSchedule

/// A MovingAverage is the mean of the last `days` days, which shows the trend beneath ups and downs.
///
/// For a measure, as in weighing apps, it is the mean of the values in these days. Days without a value are left out,
/// and only days with a value have an average. For amounts and checks, every day from the first entry on has an
/// average, and a day without an entry counts as 0.
struct MovingAverage {
  typealias Point = Statistics.Point

  /// The most days between an average and the earlier one that its rate is measured against.
  static let farthest = 28

  private let points: [Point]
  private let days: Int
  private let zerosSince: CivilDate?

  /// - Parameters:
  ///   - points: in order, including those before the requested range, as far back as averages and rates reach.
  ///   - zerosSince: the day from which on a missing day counts as 0; nil for a measure.
  init(_ points: [Point], over days: Int, zerosSince: CivilDate?) {
    self.points = points
    self.days = days
    self.zerosSince = zerosSince
  }

  func averages(in range: ClosedRange<CivilDate>) -> [Point] {
    all(through: range.upperBound).filter { range.contains($0.day) }
  }

  private func all(through last: CivilDate) -> [Point] {
    guard !points.isEmpty else { return [] }
    let points = zerosSince.map { filled(self.points, $0.number, last.number) } ?? self.points
    var averages: [Point] = []
    averages.reserveCapacity(points.count)
    var from = points.startIndex
    var sum = Sum()
    for point in points {
      sum.add(point.value)
      while points[from].day.number <= point.day.number - days {
        sum.add(-points[from].value)
        from += 1
      }
      averages.append(Point(point.day, sum.value / Double(averages.count + 1 - from)))
    }
    return averages
  }

  /// Returns the change per week of each average, against the newest one that is one to four weeks older: their
  /// difference divided by the weeks between them. Averages without such a predecessor have no rate.
  func rates(of averages: [Point], in range: ClosedRange<CivilDate>) -> [Point] {
    let all = all(through: range.upperBound)
    var rates: [Point] = []
    var before = all.startIndex
    for average in averages {
      while before + 1 < all.endIndex, all[before + 1].day.number <= average.day.number - 7 { before += 1 }
      guard before < all.endIndex else { break }
      let apart = average.day.number - all[before].day.number
      guard (7...Self.farthest).contains(apart) else { continue }
      rates.append(Point(average.day, (average.value - all[before].value) * 7 / Double(apart)))
    }
    return rates
  }

  /// A Sum compensates for rounding, so that values added and subtracted again leave nothing behind (Neumaier,
  /// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974).
  struct Sum {
    private var sum = 0.0
    private var lost = 0.0

    var value: Double { sum + lost }

    mutating func add(_ number: Double) {
      let next = sum + number
      lost += sum.magnitude >= number.magnitude ? (sum - next) + number : (number - next) + sum
      sum = next
    }
  }
}
