public import ChimeSchedule

/// What is there of something that entries use up: tablets, capsules of coffee.
///
/// What is left follows from it and the entries since, so that an entry that is taken back, edited or removed gives back what it
/// used. A check uses one with each entry.
public struct Stock: Hashable, Sendable, Codable {
  /// Nothing more is told before a refill.
  public enum State: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    case enough
    /// It lasts for fewer days than were asked for.
    case low
    /// Nothing is left.
    case empty

    public static func < (left: State, right: State) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  public static let usualWarnDays = 7
  public static let warnDays = 0...366

  /// How much there was when it was counted, with what was added since.
  public var quantity: Quantity
  /// When it was counted: entries from then on use it up. Nil: when it is put into the store.
  public var since: Instant?
  /// It is told when it will last for fewer days than these.
  public var warnDays: Int
  /// What of it has been told since it was counted or added to.
  public var told: State

  public init(
    _ quantity: Quantity, since: Instant? = nil, warnDays: Int = usualWarnDays, told: State = .enough
  ) {
    self.quantity = quantity
    self.since = since
    self.warnDays = warnDays
    self.told = told
  }
}

/// What is left of a stock, and for how long.
public struct StockLevel: Hashable, Sendable {
  /// How many days before today the rate is that of.
  public static let window = 14

  /// Never below zero.
  public var left: Quantity
  /// How much more was logged than there was.
  public var short: Quantity
  /// What a day uses up, in grains; nil: not known.
  public var rate: Double?
  /// How many whole days it is enough for at that rate; nil without one.
  public var days: Int?
  /// The last day that it is enough for, today at least; nil without a rate, when nothing is left, or beyond a hundred years.
  public var until: CivilDate?
  public var state: Stock.State

  /// - Parameters:
  ///   - used: what the entries since it was counted have used.
  ///   - totals: those of the days from `window` before today on; others do no harm.
  ///   - firstDay: the day of the tracker's first entry; nil: there is none.
  public init(
    _ stock: Stock, of tracker: Tracker, used: Quantity, totals: some Sequence<DayTotal>, since firstDay: CivilDate?,
    today: CivilDate
  ) {
    let rest = stock.quantity - used
    left = max(rest, .zero)
    short = max(.zero - rest, .zero)
    let from = max(today.adding(days: -Self.window) ?? .earliest, firstDay ?? today)
    let past = totals.filter { from <= $0.day && $0.day < today }
    let sum = past.reduce(0) { $0 + Double(tracker.used(by: $1).grains) }
    rate = sum > 0 ? sum / Double(today.number - from.number) : tracker.wantedADay
    state = left == .zero ? .empty : .enough
    guard let rate, rate > 0 else { return }
    // Halves of tablets are no whole numbers.
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
  /// Takes over the stock of what it was. A file says how much there is at first, and for how long it is to last; what there is
  /// now follows from entries and refills.
  public mutating func keepStock(of before: Tracker) {
    guard var kept = before.stock else { return }
    kept.warnDays = stock?.warnDays ?? kept.warnDays
    stock = kept
  }

  /// Has entries use up its stock from now on, when nothing is said of that.
  public mutating func beginStock(at now: Instant) { if stock?.since == nil { stock?.since = now } }

  /// What a day's entries use up.
  public func used(by total: DayTotal) -> Quantity { kind == .check ? .ones(total.count) : total.total }

  /// What an entry uses up.
  public func used(by entry: Entry) -> Quantity { kind == .check ? .one : entry.quantity ?? .zero }

  /// What its goal asks for on a day on average, in grains; of a limit and without a goal nothing is known.
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
