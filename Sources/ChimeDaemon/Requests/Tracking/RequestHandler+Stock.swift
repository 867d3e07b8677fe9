import ChimeControl
import ChimeCore
import ChimeTracking

// What entries use up.
extension RequestHandler {
  func handle(_ request: Tracking.Stocks) async throws -> Tracking.Stocks.Reply {
    try await store.read { [self] transaction in
      let one = try lookup(transaction).tracker(request.tracker)
      let trackers = try one.map { [$0] } ?? transaction.trackers(owner: caller.owner)
      let (work, wire) = (tracking(transaction), self.wire)
      return Tracking.Stocks.Reply(
        stocks: try trackers.compactMap { tracker in
          try work.stockLevel(of: tracker).map { wire.stock($0, of: tracker) }
        })
    }
  }

  func handle(_ request: Tracking.Restock) async throws -> Tracking.Restock.Reply {
    guard (request.add == nil) != (request.count == nil), let amount = request.add ?? request.count else {
      throw ControlFailure.invalidValue(
        field: "add",
        "give either the amount that is added, or count: the amount in all")
    }
    if let days = request.warnDays, !Stock.warnDays.contains(days) {
      throw ControlFailure.invalidValue(field: "warnDays", "give 0 to 366 days")
    }
    let field = request.add == nil ? "count" : "add"
    return try await changeTracking(token: request.token) { [self] work, _ in
      let known = try lookup(work.transaction).tracker(request.tracker)
      let quantity = try TrackerFields.stock(amount, in: request.unit, of: known, field)
      guard quantity > .zero || request.add == nil else {
        throw ControlFailure.invalidValue(field: field, "give more than zero")
      }
      let outcome = try work.restock(
        known.id, quantity, isCount: request.add == nil, warnDays: request.warnDays)
      let tracker = outcome.tracker ?? known
      guard let level = try work.stockLevel(of: tracker) else { throw TrackingRefused.noTracker(tracker.id) }
      let left = PlainWording().amount(level.left, of: tracker)
      return (
        Tracking.Restock.Reply(stock: wire.stock(level, of: tracker)), outcome, "\(tracker.id): \(left) in stock"
      )
    }
  }
}
