import ChimeControl
import ChimeCore
import ChimeTracking
import FoundationEssentials

/// A TrackersHandler answers the methods about trackers. Most subjects have a file of their own.
struct TrackersHandler: TrackersInterface.Handler, ReminderPart, TrackingPart {
  let requestContext: RequestContext

  func handle(_ request: Tracking.Put) async throws -> Tracking.Put.Reply {
    try await changeTracking(token: request.token, dryRun: request.dryRun) { [self] work, generator in
      let fields = TrackerFields(context: context, now: now)
      let known = try TrackerID(checking: request.tracker.id).flatMap {
        try work.transaction.tracker(TrackerKey(owner: caller.owner, id: $0))
      }
      var tracker: Tracker
      if let known {
        tracker = known
        try TrackerFields.apply(request.tracker, to: &tracker)
        if let old = known.unit, tracker.unit != old, request.tracker.milestoneStep == nil,
          let pack = try known.pack.flatMap({ try work.transaction.pack($0, owner: caller.owner)?.pack })
        {
          PackChosen.changeStep(of: &tracker, from: old, in: pack)
        }
      } else {
        try need(
          work.transaction.trackers(owner: caller.owner).count < TrackerFields.maxTrackers,
          limit: "trackers: at most \(TrackerFields.maxTrackers); remove one first")
        tracker = try fields.new(request.tracker, owner: caller.owner)
      }
      let outcome = try work.put(tracker, using: &generator)
      let reply = Tracking.Put.Reply(
        tracker: wire.tracker(outcome.tracker ?? tracker), created: known == nil)
      return (reply, outcome, "\(tracker.id) \(known == nil ? "added" : "changed")")
    }
  }

  func handle(_ request: Tracking.Remove) async throws -> Tracking.Remove.Reply {
    try await changeTracking { [self] work, generator in
      let tracker = try lookup(work.transaction).tracker(request.id)
      let outcome = try work.removeTracker(tracker.id, using: &generator)
      return (Tracking.Remove.Reply(tracker: wire.tracker(tracker)), outcome, "\(tracker.id) removed")
    }
  }

  func handle(_: Tracking.List) async throws -> Tracking.List.Reply {
    try await store.read { [self] transaction in
      Tracking.List.Reply(trackers: try transaction.trackers(owner: caller.owner).map(wire.tracker))
    }
  }

  // MARK: Stocks

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
        field: "add", "give either the amount that is added, or count: the amount in all")
    }
    if let days = request.warnDays, !Stock.warnDays.contains(days) {
      throw ControlFailure.invalidValue(field: "warnDays", "give 0 to 366 days")
    }
    let field = request.add == nil ? "count" : "add"
    return try await changeTracking(token: request.token) { [self] work, _ in
      let known = try lookup(work.transaction).tracker(request.tracker)
      let quantity = try TrackerFields.stock(amount, in: request.unit, of: known, field)
      try need(quantity > .zero || request.add == nil, field, "give more than zero")
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

  // MARK: Files in parts

  func handle(_ request: Tracking.Upload) async throws -> Tracking.Upload.Reply {
    try need(request.offset >= 0, "offset", "give the number of bytes sent before")
    guard let data = Data(base64Encoded: request.data) else {
      throw ControlFailure.invalidValue(field: "data", "it is not base64 (RFC 4648, section 4)")
    }
    let received = try loop.uploads.append(Array(data), to: request.upload, of: caller.owner, at: request.offset)
    await loop.sweepUploadsLater()
    return Tracking.Upload.Reply(received: received)
  }

  func handle(_ request: Tracking.Photo) throws -> Tracking.Photo.Reply {
    let (bytes, total) = try loop.photos.part(
      request.name, of: caller.owner, from: request.offset ?? 0, atMost: partBytes)
    return Tracking.Photo.Reply(data: Data(bytes).base64EncodedString(), total: total)
  }
}
