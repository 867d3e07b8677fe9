public import ChimeSchedule

/// A Stock is a supply that entries use up: tablets, coffee capsules.
///
/// What is left is computed from it and the entries since, so that undoing, editing or removing an entry corrects it. A
/// check uses one per entry.
public struct Stock: Hashable, Sendable, Codable {
  /// A State is the supply state. Each one is reported only once before a refill.
  public enum State: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    case enough
    /// It lasts for fewer days than `warnDays`.
    case low
    case empty

    public static func < (left: State, right: State) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  public static let usualWarnDays = 7
  public static let warnDays = 0...366

  /// The amount when it was counted, plus what was added since.
  public var quantity: Quantity
  /// When it was counted; later entries use it up. Nil for when it is stored.
  public var since: Instant?
  /// Warn when it lasts for fewer days than this.
  public var warnDays: Int
  /// The last state that was reported since it was counted or refilled.
  public var warnedState: State

  public init(
    _ quantity: Quantity, since: Instant? = nil, warnDays: Int = usualWarnDays, warnedState: State = .enough
  ) {
    self.quantity = quantity
    self.since = since
    self.warnDays = warnDays
    self.warnedState = warnedState
  }
}

/// A StockLevel is what is left of a stock, and for how long.
public struct StockLevel: Hashable, Sendable {
  /// The number of days before today from which the rate is computed.
  public static let window = 14

  /// The amount left, at least zero.
  public var left: Quantity
  /// The amount that was logged in excess of the stock.
  public var shortfall: Quantity
  /// The use per day, in grains; nil if unknown.
  public var rate: Double?
  /// The number of whole days that it lasts at that rate; nil without a rate.
  public var days: Int?
  /// The last day that it lasts for, today at the earliest; nil without a rate, if nothing is left, or beyond a century.
  public var until: CivilDate?
  public var state: Stock.State

  /// - Parameters:
  ///   - used: the amount used since the stock was counted.
  ///   - totals: the totals of the last `window` days and today; others are ignored.
  ///   - firstDay: the day of the tracker's first entry; nil if there is none.
  public init(
    _ stock: Stock, of tracker: Tracker, used: Quantity, totals: some Sequence<DayTotal>, since firstDay: CivilDate?,
    today: CivilDate
  ) {
    let rest = stock.quantity - used
    left = max(rest, .zero)
    shortfall = max(.zero - rest, .zero)
    let from = max(today.adding(days: -Self.window) ?? .earliest, firstDay ?? today)
    let past = totals.filter { from <= $0.day && $0.day < today }
    let sum = past.reduce(0) { $0 + Double(tracker.used(by: $1).grains) }
    rate = sum > 0 ? sum / Double(today.number - from.number) : tracker.wantedADay
    state = left == .zero ? .empty : .enough
    guard let rate, rate > 0 else { return }
    // The summand absorbs rounding errors, as of half tablets.
    let lasts = Double(left.grains) / rate + 1e-9
    guard lasts < 36_500 else { return }
    days = Int(lasts)
    if state == .enough, lasts < Double(stock.warnDays) { state = .low }
    guard state != .empty else { return }
    let usedToday = totals.first { $0.day == today }.map { Double(tracker.used(by: $0).grains) } ?? 0
    let after = Double(left.grains) - max(rate - usedToday, 0)
    until = today.adding(days: max(0, Int((after / rate + 1e-9).rounded(.down))))
  }
}

extension Tracker {
  /// Keeps the stock of the previous definition. A manifest sets the initial amount and the warning; afterwards entries
  /// and refills change the amount.
  public mutating func keepStock(of before: Tracker) {
    guard var kept = before.stock else { return }
    kept.warnDays = stock?.warnDays ?? kept.warnDays
    stock = kept
  }

  /// Starts the stock now, unless it has a start.
  public mutating func beginStock(at now: Instant) { if stock?.since == nil { stock?.since = now } }

  /// Returns the amount that a day's entries use up.
  public func used(by total: DayTotal) -> Quantity { kind == .check ? .ones(total.count) : total.total }

  /// Returns the amount that an entry uses up.
  public func used(by entry: Entry) -> Quantity { kind == .check ? .one : entry.quantity ?? .zero }

  /// The largest possible stock.
  public var mostStock: Quantity {
    kind == .check ? .ones(1_000_000) : Quantity(grains: Quantity.limit(of: unit?.dimension ?? .count))
  }

  /// The average amount per day that the goal asks for, in grains; nil for a limit or without a goal.
  var wantedADay: Double? {
    var perDay: Double
    switch counting {
    case .weekdays(let set): perDay = Double(set.rawValue.nonzeroBitCount) / 7
    case .timesAWeek(let times): perDay = Double(times) / 7
    case .timesAMonth(let times): perDay = Double(times) / 30
    case .rolling(let times, let days): perDay = Double(times) / Double(max(days, 1))
    }
    guard let goal else { return kind == .check ? perDay * Double(Quantity.one.grains) : nil }
    guard !goal.isAtMost, let amount = goal.amount else { return nil }
    switch goal.period {
    case .day: break
    case .week: perDay = 1 / 7
    case .month: perDay = 1 / 30
    }
    return Double(amount.grains) * perDay
  }
}
