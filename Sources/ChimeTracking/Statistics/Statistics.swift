public import ChimeSchedule

/// Statistics describe a range of a tracker's days. Numbers are in the tracker's unit (`Tracker.unit`), for a check in entries.
///
/// They are computed from day totals, in a time that grows with the number of days only. For an amount, today is
/// incomplete: totals, met days and the maximum include it, but averages, rates and the minimum do not.
///
///     let reads = Statistics.reads(range)
///     let statistics = Statistics(
///       tracker, in: range, today: today, since: summary.firstDay,
///       totals: try store.dayTotals(of: key, in: reads), items: try store.itemCounts(of: key, in: range))
///     statistics.weeklyRate    // -0.4 kg
public struct Statistics: Hashable, Sendable {
  /// A Point is a day with a number.
  public struct Point: Hashable, Sendable, Codable {
    public var day: CivilDate
    public var value: Double

    public init(_ day: CivilDate, _ value: Double) {
      self.day = day
      self.value = value
    }
  }

  /// A Direction is where a trend leads.
  public enum Direction: String, Hashable, Sendable, Codable, CaseIterable { case up, down, steady }

  /// A MissingData names what is missing for further statistics.
  public enum MissingData: String, Hashable, Sendable, Codable, CaseIterable {
    /// The range has no entries.
    case noEntries
    /// All entries are of one day; a line needs two.
    case oneDay
    /// Only two days have entries; a prediction needs three.
    case twoDays
    /// No average is one to four weeks older than the last one, as a weekly rate requires.
    case underAWeek
    /// The tracker has no goal.
    case noGoal
  }

  /// A Period is a calendar week, which starts on Monday, or a month, as far as it lies in the range.
  public struct Period: Hashable, Sendable {
    public var days: ClosedRange<CivilDate>
    public var entries: Int
    /// The sum, for an amount.
    public var total: Double?
    /// The mean of days with an entry: for an amount without today, for a measure of the days' values.
    public var average: Double?
    /// The number of counted days that were met, and the number due up to today (`ProgressAggregator.due(in:)`).
    public var met: Int
    public var due: Int
  }

  /// The requested range, up to today.
  public var range: ClosedRange<CivilDate>
  public var entries = 0
  /// The sum, for an amount.
  public var total: Double?
  /// The mean of days with an entry; for an amount without today, and nil if there is no other.
  public var dailyAverage: Double?
  /// The first and last value, the minimum and the maximum: of days for an amount, of entries for a measure. Of equal
  /// ones the earliest counts. The minimum of an amount ignores today.
  public var first: Point?
  public var last: Point?
  public var least: Point?
  public var most: Point?
  /// The days with an entry: with the total of an amount, the day's value of a measure, the count of a check.
  public var points: [Point] = []
  /// Moving averages over `averageDays` (`MovingAverage`); for an amount without today, which is incomplete.
  public var averages: [Point] = []
  public var averageDays: Int
  /// The changes per week of the averages that have a predecessor (`MovingAverage.rates`).
  public var rates: [Point] = []
  /// The rate of the last average, if it has one.
  public var weeklyRate: Double?
  /// The trend; steady if the rate is below 0.1 % of the average for a measure, or 2 % for an amount.
  public var direction: Direction?
  /// The slope of the least-squares line, per week. For an amount or a check, the line covers every day from the first
  /// entry on, with 0 for days without entries, and leaves out today, which is incomplete.
  public var trend: Double?
  /// `Forecast.days`; empty for a range that ends before today.
  public var prediction: [Prediction] = []
  /// `Forecast.goalOn`; nil for a range that ends before today.
  public var goalOn: CivilDate?
  public var weeks: [Period] = []
  public var months: [Period] = []
  public var metDays = 0
  public var dueDays = 0
  public var items: [ItemCount]
  /// How evenly the items are used (`Rotation.evenness(of:)`).
  public var evenness: Int?
  public var missingData: [MissingData] = []

  /// Returns the days whose totals are needed: the range, and before it as far as averages, rates and the forecast reach.
  public static func reads(_ range: ClosedRange<CivilDate>, averageDays: Int = 7) -> ClosedRange<CivilDate> {
    let back = max(max(averageDays, 1) + MovingAverage.farthest, Forecast.window)
    return (range.lowerBound.adding(days: -back) ?? .earliest)...range.upperBound
  }

  /// - Parameters:
  ///   - range: days after `today` are left out.
  ///   - firstDay: the day of the first entry (`TrackerSummary.firstDay`), from which on missing amounts count as 0;
  ///     nil for that of the totals.
  ///   - totals: those of `reads(_:)`, in order.
  ///   - items: the count of each item in the range, including those at 0 that belong to the rotation.
  public init(
    _ tracker: Tracker, in range: ClosedRange<CivilDate>, today: CivilDate, since firstDay: CivilDate? = nil,
    totals: some Sequence<DayTotal>, items: [ItemCount] = [], averageDays: Int = 7
  ) {
    let range = range.lowerBound...max(range.lowerBound, min(range.upperBound, today))
    self.range = range
    self.averageDays = max(averageDays, 1)
    self.items = items
    evenness = items.isEmpty ? nil : Rotation.evenness(of: items.map(\.count))
    let days = totals.compactMap { DayValue($0, tracker) }.filter { $0.total.day <= range.upperBound }
    let within = Array(days.drop { $0.total.day < range.lowerBound })
    let aggregator = ProgressAggregator(tracker)
    // An incomplete amount would pull the average down until the evening.
    let unfinished = tracker.kind == .amount && range.upperBound == today ? today : nil
    addRecords(within, tracker, unfinished)
    let reads = Self.reads(range, averageDays: self.averageDays)
    let zeros = tracker.kind == .measure ? nil : (firstDay ?? days.first?.total.day).map { max($0, reads.lowerBound) }
    let average = MovingAverage(days.map(\.point), over: self.averageDays, zerosSince: zeros)
    let last = unfinished == nil ? range.upperBound : today.adding(days: -1) ?? .earliest
    if range.lowerBound <= last {
      averages = average.averages(in: range.lowerBound...last)
      rates = average.rates(of: averages, in: range.lowerBound...last)
    }
    weeklyRate = rates.last.flatMap { $0.day == averages.last?.day ? $0.value : nil }
    if let weeklyRate, let level = averages.last?.value {
      let threshold = level.magnitude * (tracker.kind == .measure ? 0.001 : 0.02)
      direction = weeklyRate.magnitude < threshold || weeklyRate == 0 ? .steady : weeklyRate > 0 ? .up : .down
    }
    addTrend(tracker, today: today, zerosSince: zeros)
    if tracker.kind == .measure, range.upperBound == today {
      let forecast = Forecast(days.map(\.point), of: tracker, average: averages.last?.value, today: today)
      (prediction, goalOn) = (forecast.days, forecast.goalOn)
    }
    weeks = Self.periods(.week, within, aggregator, range, unfinished, today: today)
    months = Self.periods(.month, within, aggregator, range, unfinished, today: today)
    metDays = aggregator.numbered(in: range, within.lazy.map(\.total), today: today)
    dueDays = aggregator.due(in: range, within.lazy.map(\.total), today: today)
    addLacking(tracker)
  }

  private mutating func addRecords(_ days: [DayValue], _ tracker: Tracker, _ unfinished: CivilDate?) {
    points = days.map(\.point)
    entries = days.reduce(0) { $0 + $1.total.count }
    first = points.first
    last = points.last
    guard !days.isEmpty else { return }
    let sum = points.reduce(0) { $0 + $1.value }
    if tracker.kind == .amount { total = sum }
    dailyAverage = Self.mean(points, unfinished)
    for day in days {
      let (least, most) = (Point(day.total.day, day.least), Point(day.total.day, day.most))
      if day.total.day != unfinished, least.value < self.least?.value ?? .infinity { self.least = least }
      if most.value > self.most?.value ?? -.infinity { self.most = most }
    }
  }

  private static func mean(_ points: [Point], _ unfinished: CivilDate?) -> Double? {
    let over = points.filter { $0.day != unfinished }
    return over.isEmpty ? nil : over.reduce(0) { $0 + $1.value } / Double(over.count)
  }

  private mutating func addTrend(_ tracker: Tracker, today: CivilDate, zerosSince: CivilDate?) {
    let line: [Point]
    if tracker.kind == .measure {
      line = points
    } else if let first = zerosSince, !points.isEmpty {
      let last = range.upperBound == today ? today.number - 1 : range.upperBound.number
      line = filled(points, max(first, range.lowerBound).number, last)
    } else {
      line = []
    }
    trend = LinearFit(line).map { $0.slope * 7 }
  }

  private mutating func addLacking(_ tracker: Tracker) {
    switch points.count {
    case 0: missingData.append(.noEntries)
    case 1: missingData.append(.oneDay)
    default:
      if points.count == 2, tracker.kind == .measure { missingData.append(.twoDays) }
      if weeklyRate == nil { missingData.append(.underAWeek) }
    }
    // A check without a goal is wanted once a day.
    if tracker.goal == nil, tracker.kind != .check { missingData.append(.noGoal) }
  }

  private static func periods(
    _ kind: CalendarPeriod, _ days: [DayValue], _ aggregator: ProgressAggregator, _ range: ClosedRange<CivilDate>,
    _ unfinished: CivilDate?, today: CivilDate
  ) -> [Period] {
    var periods: [Period] = []
    var next = days.startIndex
    guard let begin = days.first?.total.day else { return [] }
    var index = kind.index(of: begin.number)
    while index <= kind.index(of: range.upperBound.number) {
      let whole = kind.days(index)
      let bounds =
        max(
          CivilDate(nearest: whole.lowerBound), range.lowerBound)...min(
          CivilDate(nearest: whole.upperBound), range.upperBound)
      var period = Period(days: bounds, entries: 0, met: 0, due: 0)
      let from = next
      while next < days.endIndex, days[next].total.day <= bounds.upperBound { next += 1 }
      let part = days[from..<next]
      period.entries = part.reduce(0) { $0 + $1.total.count }
      period.met = aggregator.numbered(in: bounds, part.lazy.map(\.total), today: today)
      period.due = aggregator.due(in: bounds, part.lazy.map(\.total), today: today)
      if aggregator.tracker.kind == .amount { period.total = part.reduce(0) { $0 + $1.point.value } }
      if aggregator.tracker.kind != .check { period.average = Self.mean(part.map(\.point), unfinished) }
      periods.append(period)
      index += 1
    }
    return periods
  }
}

/// A DayValue is a day's total with its numbers in the tracker's unit.
struct DayValue {
  var total: DayTotal
  var point: Statistics.Point
  var least: Double
  var most: Double

  /// Creates the value; nil for a day of a measure without one.
  init?(_ total: DayTotal, _ tracker: Tracker) {
    self.total = total
    func number(_ quantity: Quantity) -> Double {
      if let unit = tracker.unit { return quantity.value(in: unit) }
      return Double(quantity.grains) / Double(Quantity.one.grains)
    }
    switch tracker.kind {
    case .check:
      point = Statistics.Point(total.day, Double(total.count))
      (least, most) = (point.value, point.value)
    case .amount:
      point = Statistics.Point(total.day, number(total.total))
      (least, most) = (point.value, point.value)
    case .measure:
      guard let last = total.last else { return nil }
      point = Statistics.Point(total.day, number(last))
      least = number(total.least ?? last)
      most = number(total.most ?? last)
    }
  }
}

/// Returns the points of all days in a range, with 0 for missing days.
func filled(_ points: [Statistics.Point], _ first: Int, _ last: Int) -> [Statistics.Point] {
  var filled: [Statistics.Point] = []
  guard first <= last else { return filled }
  filled.reserveCapacity(last - first + 1)
  var index = points.startIndex
  for day in first...last {
    while index < points.endIndex, points[index].day.number < day { index += 1 }
    let here = index < points.endIndex && points[index].day.number == day
    filled.append(here ? points[index] : Statistics.Point(CivilDate(nearest: day), 0))
  }
  return filled
}
