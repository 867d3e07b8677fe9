import ChimeSchedule
public import ChimeTracking

// Stock that entries use up, and the warnings when it runs low.
extension TrackingOperations {
  /// Returns what is left of a tracker's stock; nil if it has none.
  public func stockLevel(of tracker: Tracker) throws -> StockLevel? {
    guard let stock = tracker.stock, let since = stock.since else { return nil }
    let (key, today) = (tracker.key, today(of: tracker))
    let counted = tracker.day(at: since, in: zone).day
    // An entry's day depends on the zone at its time, so it may differ by one day from the day of `since`.
    let near = (counted.adding(days: -1) ?? counted)...(counted.adding(days: 1) ?? counted)
    let first = min(near.lowerBound, today.adding(days: -StockLevel.window) ?? .earliest)
    let totals = try transaction.dayTotals(of: key, in: first ... .latest)
    var used = Quantity.zero
    for total in totals where total.day >= near.lowerBound {
      if near.contains(total.day) {
        for entry in try transaction.entries(of: key, on: total.day) where entry.at >= since {
          used = used + tracker.used(by: entry)
        }
      } else {
        used = used + tracker.used(by: total)
      }
    }
    return StockLevel(
      stock, of: tracker, used: used, totals: totals, since: try transaction.summary(of: key)?.firstDay, today: today)
  }

  /// Adds to a stock, or sets it; a tracker without a stock gets one.
  ///
  /// - Parameters:
  ///   - id: a tracker that is no measure.
  ///   - quantity: for a check, in ones.
  ///   - isCount: whether `quantity` replaces the stock instead of adding to it.
  ///   - warnDays: nil to keep the current value.
  public func restock(
    _ id: TrackerID, _ quantity: Quantity, isCount: Bool, warnDays: Int? = nil
  ) throws -> TrackingOutcome {
    try transaction.lockTrackers()
    var tracker = try tracker(id)
    var stock = tracker.stock ?? Stock(.zero, since: now)
    if isCount {
      (stock.quantity, stock.since) = (quantity, now)
    } else {
      stock.quantity = stock.quantity + quantity
    }
    guard stock.quantity <= tracker.mostStock else {
      throw TrackingRefused.invalid(field: "add", "it is larger than Chime can record")
    }
    stock.warnDays = warnDays ?? stock.warnDays
    tracker.stock = stock
    var outcome = TrackingOutcome()
    outcome.change = try begin(.stocked, tracker, tracker.subject(of: quantity))
    // The reply reports the state, so no warning follows.
    stock.told = try stockLevel(of: tracker)?.state ?? .enough
    tracker.stock = stock
    tracker.generation += 1
    try transaction.put(tracker)
    outcome.tracker = tracker
    return outcome
  }

  /// Warns, once after each refill, that a stock runs low, and that it is used up.
  ///
  /// - Parameter isTakenBack: whether entries were changed or removed, so that a warning may become due again.
  func watchStock(
    _ tracker: Tracker, isTakenBack: Bool, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard let stock = tracker.stock, let level = try stockLevel(of: tracker) else { return }
    guard level.state > stock.told || isTakenBack && level.state < stock.told else { return }
    var told = tracker
    told.stock?.told = level.state
    told.generation += 1
    try transaction.put(told)
    outcome.tracker = told
    guard level.state > stock.told else { return }
    outcome.stock = level
    try warn(context.wording.stock(tracker, level), "stock", of: tracker, &outcome, using: &generator)
  }
}

extension Tracker {
  /// The largest possible stock.
  public var mostStock: Quantity {
    kind == .check ? .ones(1_000_000) : Quantity(grains: Quantity.limit(of: unit?.dimension ?? .count))
  }

  /// Returns an amount as text for programs: `250 ml`, `30`.
  func subject(of quantity: Quantity) -> String {
    guard let unit else { return String(quantity.grains / Quantity.one.grains) }
    return "\(quantity.plain(in: unit, decimals: decimals)) \(unit)"
  }
}
