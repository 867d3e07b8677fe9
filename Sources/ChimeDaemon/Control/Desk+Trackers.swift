import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Varlink

// Definitions of trackers, and what all their methods have in common.
extension Desk {
  typealias Tracking = TrackersInterface

  /// More trackers than these nobody looks through.
  static let maxTrackers = 200

  /// Answers a call of `io.chime.Trackers`; nil for one of another interface.
  func performTracking(_ call: VarlinkCall) async throws -> VarlinkReply? {
    let reply: VarlinkReply
    switch call.method {
    case Tracking.Put.method: reply = try VarlinkReply(await putTracker(call.parameters()))
    case Tracking.Remove.method: reply = try VarlinkReply(await removeTracker(call.parameters()))
    case Tracking.List.method: reply = try VarlinkReply(await listTrackers())
    case Tracking.Log.method: reply = try VarlinkReply(await log(call.parameters()))
    case Tracking.EditEntry.method: reply = try VarlinkReply(await editEntry(call.parameters()))
    case Tracking.RemoveEntry.method: reply = try VarlinkReply(await removeEntry(call.parameters()))
    case Tracking.Entries.method: reply = try VarlinkReply(await entries(call.parameters()))
    case Tracking.Day.method: reply = try VarlinkReply(await day(call.parameters()))
    case Tracking.Week.method: reply = try VarlinkReply(await week(call.parameters()))
    case Tracking.Days.method: reply = try VarlinkReply(await days(call.parameters()))
    case Tracking.Stats.method: reply = try VarlinkReply(await stats(call.parameters()))
    case Tracking.Achievements.method: reply = try VarlinkReply(await achievements(call.parameters()))
    case Tracking.Items.method: reply = try VarlinkReply(await items(call.parameters()))
    case Tracking.PutItem.method: reply = try VarlinkReply(await putItem(call.parameters()))
    case Tracking.RemoveItem.method: reply = try VarlinkReply(await removeItem(call.parameters()))
    case Tracking.Milestones.method: reply = try VarlinkReply(await milestones(call.parameters()))
    case Tracking.PutMilestone.method: reply = try VarlinkReply(await putMilestone(call.parameters()))
    case Tracking.RemoveMilestone.method: reply = try VarlinkReply(await removeMilestone(call.parameters()))
    case Tracking.Packs.method: reply = try VarlinkReply(await packs())
    case Tracking.InstallPack.method: reply = try VarlinkReply(await installPack(call.parameters()))
    case Tracking.RemovePack.method: reply = try VarlinkReply(await removePack(call.parameters()))
    case Tracking.Upload.method: reply = try VarlinkReply(await upload(call.parameters()))
    case Tracking.Photo.method: reply = try VarlinkReply(readPhoto(call.parameters()))
    case Tracking.Import.method: reply = try VarlinkReply(await importEntries(call.parameters()))
    case Tracking.Restore.method: reply = try await restore(call.parameters())
    case Tracking.Undo.method: reply = try VarlinkReply(await undo(call.parameters()))
    case Tracking.Changes.method: reply = try VarlinkReply(await changes(call.parameters()))
    default: return nil
    }
    guard reply.bytes.count <= configuration.maxMessageBytes else {
      throw ControlFailure.limitExceeded(
        "control.maxMessageBytes: the answer has \(reply.bytes.count) bytes; ask for less at once")
    }
    return reply
  }

  func putTracker(_ request: Tracking.Put.Parameters) async throws -> Tracking.Put.Reply {
    try await changeTracking(token: request.token, dryRun: request.dryRun) { [self] work, generator in
      let fields = TrackerFields(bearings: bearings, now: now)
      let known = try TrackerID(checking: request.tracker.id).flatMap {
        try work.transaction.tracker(TrackerKey(owner: caller.owner, id: $0))
      }
      var tracker: Tracker
      if let known {
        tracker = known
        try fields.apply(request.tracker, to: &tracker)
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

  func removeTracker(_ request: Tracking.Remove.Parameters) async throws -> Tracking.Remove.Reply {
    try await changeTracking { [self] work, generator in
      let tracker = try lookup(work.transaction).tracker(request.id)
      let outcome = try work.removeTracker(tracker.id, using: &generator)
      return (Tracking.Remove.Reply(tracker: wire.tracker(tracker)), outcome, "\(tracker.id) removed")
    }
  }

  func listTrackers() async throws -> Tracking.List.Reply {
    try await store.read { [self] transaction in
      Tracking.List.Reply(trackers: try transaction.trackers(owner: caller.owner).map(wire.tracker))
    }
  }

  // MARK: Parts

  func lookup(_ transaction: any StoreTransaction) -> TrackerLookup {
    TrackerLookup(transaction: transaction, owner: caller.owner)
  }

  func tracking(_ transaction: any StoreTransaction) -> TrackingWork {
    TrackingWork(in: transaction, owner: caller.owner, bearings, now: now)
  }

  /// The day of a tracker that is now.
  func today(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: bearings.zones.local).day }

  /// The caller's changes of their trackers: in one transaction with all that follows from them, told to those who watch.
  ///
  /// - Parameters:
  ///   - token: the answer that was first given to it is given again.
  ///   - dryRun: whether the transaction leaves no trace.
  ///   - body: returns the reply, what came of the change, and in which words it is told; nil: as what was logged.
  func changeTracking<Reply: Codable & Sendable>(
    token: String? = nil, dryRun: Bool? = nil,
    _ body: @escaping @Sendable (TrackingWork, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
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
        try transaction.keepAnswer(Array(JSONEncoder().encode(reply)), owner: caller.owner, token: token, now: now)
      }
      return (reply, TrackingNotices.of(outcome, owner: caller.owner, saying: outcome.change == nil ? nil : words))
    }
  }

  private static func answer<Reply: Decodable>(_ kept: [UInt8], to token: String) throws -> Reply {
    do {
      return try JSONDecoder().decode(Reply.self, from: Data(kept))
    } catch {
      throw ControlFailure.conflict("the token was used for another call: give each call one of its own")
    }
  }

  /// The reply to a change that is made, and thrown away before anybody sees it.
  private func rehearse<Reply: Codable & Sendable>(
    _ body: @escaping @Sendable (TrackingWork, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
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
