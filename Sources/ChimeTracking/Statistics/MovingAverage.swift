import ChimeSchedule

/// The mean of the last days, which shows where something goes beneath its ups and downs.
///
/// Of a measure, as weighing apps have it: the mean of those values that fall into the `days` days that end with a day; days
/// without a value are left out and not guessed, and only days with a value have an average. Of amounts and checks every day
/// from the first entry on has one, and a day without an entry is a 0.
struct MovingAverage {
  typealias Point = Statistics.Point

  /// How far back a rate looks for the average that it is measured against, in days.
  static let farthest = 28

  private let points: [Point]
  private let days: Int
  private let zerosSince: CivilDate?

  /// - Parameters:
  ///   - points: in order; also those before the range that is asked for, as far back as averages and rates look.
  ///   - zerosSince: from which day on a day without a point is a 0; nil for a measure.
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

  /// The change a week of each average, against the newest one that is at least a week before it (and at most four): their
  /// difference, divided by the weeks between them. None where there is no such.
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

  /// A sum that keeps what rounding takes away, so that what has been added and taken off again leaves nothing behind
  /// (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974).
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
