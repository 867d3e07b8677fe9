import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Varlink

// Definitions of trackers, and what all their methods have in common.
extension RequestHandler {
  typealias Tracking = TrackersInterface

  /// More trackers than these nobody looks through.
  static let maxTrackers = 200

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
        guard try work.transaction.trackers(owner: caller.owner).count < Self.maxTrackers else {
          throw ControlFailure.limitExceeded("trackers: at most \(Self.maxTrackers); remove one first")
        }
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

  // MARK: Parts

  func lookup(_ transaction: any StoreTransaction) -> TrackerLookup {
    TrackerLookup(transaction: transaction, owner: caller.owner)
  }

  /// Finds the reminders that the caller sees.
  func reminders(in transaction: any StoreTransaction) -> Lookup {
    Lookup(transaction: transaction, owner: caller.sees, filling: (context, now))
  }

  func tracking(_ transaction: any StoreTransaction) -> TrackingOperations {
    TrackingOperations(in: transaction, owner: caller.owner, context, now: now)
  }

  /// The day of a tracker that is now.
  func today(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: context.zones.local).day }

  /// The caller's changes of their trackers: in one transaction with all that follows from them, told to those who watch.
  ///
  /// - Parameters:
  ///   - token: the answer that was first given to it is given again.
  ///   - dryRun: whether the transaction leaves no trace.
  ///   - body: returns the reply, what came of the change, and in which words it is told; nil: as what was logged.
  func changeTracking<Reply: JSONCodable & Sendable>(
    token: String? = nil, dryRun: Bool? = nil,
    _ body: @escaping @Sendable (TrackingOperations, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
  ) async throws -> Reply {
    try check(token: token)
    if dryRun == true { return try await rehearse(body) }
    return try await commit { [self] transaction in
      if let token, let kept = try transaction.answer(owner: caller.owner, token: token) {
        return (try Self.answer(kept, to: token), [])
      }
      var generator = PooledRandom()
      let (reply, outcome, words) = try body(tracking(transaction), &generator)
      if let token {
        try transaction.keepAnswer(JSONWriter.bytes(of: reply), owner: caller.owner, token: token, now: now)
      }
      return (reply, TrackingNotices.of(outcome, owner: caller.owner, saying: outcome.change == nil ? nil : words))
    }
  }

  private static func answer<Reply: JSONReadable>(_ kept: [UInt8], to token: String) throws -> Reply {
    do {
      return try JSONReader.read(Reply.self, from: kept)
    } catch {
      throw ControlFailure.conflict("the token was used for another call: use a new token for each call")
    }
  }

  /// The reply to a change that is made, and thrown away before anybody sees it.
  private func rehearse<Reply: JSONCodable & Sendable>(
    _ body: @escaping @Sendable (TrackingOperations, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
  ) async throws -> Reply {
    do {
      return try await store.write { [self] transaction -> Reply in
        var generator = PooledRandom()
        let reply = try body(tracking(transaction), &generator).0
        try caller.requireRoom(in: transaction)
        throw Rehearsed(reply: reply)
      }
    } catch let rehearsed as Rehearsed<Reply> {
      return rehearsed.reply
    }
  }
}

/// What takes a rehearsal out of its transaction: a body that throws leaves no trace.
private struct Rehearsed<Reply: Sendable>: Error {
  let reply: Reply
}
