import ChimeControl
import ChimeCore
import ChimeTracking

// Taking back what was changed.
extension Desk {
  func undo(_ request: Tracking.Undo.Parameters) async throws -> Tracking.Undo.Reply {
    if request.dryRun == true {
      return try await store.read { [self] transaction in
        guard let change = try tracking(transaction).undoable() else { throw TrackingRefused.nothingToUndo }
        return Tracking.Undo.Reply(undone: wire.undoable(change))
      }
    }
    return try await commit(isLarge: true) { [self] transaction in
      var generator = PooledRandom()
      let work = tracking(transaction)
      var (change, outcome) = try work.undo(using: &generator)
      let reminders = try TrackingRestore(work).complete(change, &outcome, using: &generator)
      let told = TrackingNotices.of(
        outcome, owner: caller.owner, saying: "taken back: \(change.kind.rawValue) \(change.subject)")
      return (Tracking.Undo.Reply(undone: wire.undoable(change)), told + reminders)
    }
  }
}
