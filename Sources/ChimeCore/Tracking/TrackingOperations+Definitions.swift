import ChimeSchedule
public import ChimeTracking

extension TrackingOperations {
  /// Adds a tracker or replaces the one with its id, and recomputes its totals if the definition requires it.
  public func put(
    _ tracker: Tracker, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    var tracker = tracker
    tracker.owner = owner
    tracker.beginStock(at: now)
    let before = try transaction.tracker(tracker.key)
    var outcome = TrackingOutcome()
    if let before {
      tracker.createdAt = before.createdAt
      tracker.generation = before.generation
      tracker.keepWeekdays(of: before, until: today(of: tracker))
      outcome.tracker = before
      guard tracker != before else { return outcome }
      guard before.kind == tracker.kind else {
        throw TrackingRefused.conflict("\(tracker.id) is of the kind \(before.kind.rawValue), which cannot change")
      }
      try checkUnit(of: tracker, before)
      tracker.generation += 1
    }
    outcome.change = try begin(.tracker, tracker, tracker.id.rawValue)
    try transaction.put(tracker)
    outcome.tracker = tracker
    try settle(tracker, .definition, &outcome, using: &generator)
    return outcome
  }

  private func checkUnit(of tracker: Tracker, _ before: Tracker) throws {
    guard let old = before.unit, tracker.unit.map({ !$0.converts(to: old) }) ?? true else { return }
    guard try transaction.entryCount(EntryFilter(owner: owner, tracker: tracker.id)) > 0 else { return }
    throw TrackingRefused.invalid(
      field: "unit", "\(tracker.id) has entries in \(old): give a unit that it converts to")
  }

  /// Removes a tracker with all its data. Linked reminders stay and fire as if they had no link.
  public func removeTracker(
    _ id: TrackerID, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try tracker(id)
    var outcome = TrackingOutcome()
    outcome.change = try begin(.tracker, tracker, id.rawValue)
    try transaction.removeTracker(tracker.key)
    outcome.tracker = tracker
    try follow(tracker.key, nil, last: nil, entry: nil, &outcome, using: &generator)
    try praise(in: tracker.pack, .anew, &outcome, using: &generator)
    return outcome
  }

  /// Adds an item or replaces the one with its id.
  public func put(_ item: Item, using generator: inout some RandomNumberGenerator) throws -> TrackingOutcome {
    var item = item
    item.owner = owner
    let tracker = try tracker(item.tracker)
    guard tracker.hasItems else {
      throw TrackingRefused.invalid(field: "tracker", "\(tracker.id) has no items")
    }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.item, tracker, item.title)
    let before = try transaction.item(item.id, of: tracker.key)
    try transaction.put(item)
    outcome.tracker = tracker
    try praise(in: tracker.pack, .item(tracker.id, before: before, after: item), &outcome, using: &generator)
    return outcome
  }

  public func removeItem(
    _ id: ItemID, of tracker: TrackerID, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try self.tracker(tracker)
    guard let item = try transaction.item(id, of: tracker.key) else { throw TrackingRefused.noItem(id, tracker.id) }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.item, tracker, item.title)
    try transaction.removeItem(id, of: tracker.key)
    outcome.tracker = tracker
    try praise(in: tracker.pack, .item(tracker.id, before: item, after: nil), &outcome, using: &generator)
    return outcome
  }

  /// Adds a user's milestone (id 0), or replaces the one with its id.
  ///
  /// - Returns: an outcome whose `milestones` contain it.
  public func put(_ milestone: Milestone) throws -> TrackingOutcome {
    var milestone = milestone
    milestone.owner = owner
    let tracker = try tracker(milestone.tracker)
    if milestone.id != 0,
      try !transaction.milestones(owner: owner, tracker: nil).contains(where: { $0.id == milestone.id })
    {
      throw TrackingRefused.noMilestone(milestone.id)
    }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.milestone, tracker, milestone.title)
    outcome.milestones = [try transaction.put(milestone)]
    outcome.tracker = tracker
    return outcome
  }

  public func removeMilestone(_ id: Int64) throws -> TrackingOutcome {
    guard let milestone = try transaction.milestones(owner: owner, tracker: nil).first(where: { $0.id == id }) else {
      throw TrackingRefused.noMilestone(id)
    }
    var outcome = TrackingOutcome()
    outcome.tracker = try tracker(milestone.tracker)
    outcome.change = try begin(.milestone, outcome.tracker, milestone.title)
    try transaction.removeMilestone(id, owner: owner)
    outcome.milestones = [milestone]
    return outcome
  }
}

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
    stock.warnedState = try stockLevel(of: tracker)?.state ?? .enough
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
    guard level.state > stock.warnedState || isTakenBack && level.state < stock.warnedState else { return }
    var warned = tracker
    warned.stock?.warnedState = level.state
    warned.generation += 1
    try transaction.put(warned)
    outcome.tracker = warned
    guard level.state > stock.warnedState else { return }
    outcome.stock = level
    try warn(context.wording.stock(tracker, level), "stock", of: tracker, &outcome, using: &generator)
  }
}
