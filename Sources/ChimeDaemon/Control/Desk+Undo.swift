import ChimeControl
import ChimeCore
import ChimeTracking

// Taking back what was changed.
extension Desk {
  func handle(_ request: Tracking.Undo) async throws -> Tracking.Undo.Reply {
    if request.dryRun == true {
      return try await store.read { [self] transaction in
        guard let change = try tracking(transaction).undoable() else { throw TrackingRefused.nothingToUndo }
        return Tracking.Undo.Reply(undone: wire.undoable(change))
      }
    }
    var begun: TrackingChange?
    while true {
      let (change, isDone) = try await takeBack(goingOnWith: begun)
      if isDone { return Tracking.Undo.Reply(undone: wire.undoable(change)) }
      begun = change
    }
  }

  /// Takes back the last change, or the last part of it: others write between the parts.
  private func takeBack(goingOnWith begun: TrackingChange?) async throws -> (change: TrackingChange, isDone: Bool) {
    try await commit(isLarge: true) { [self] transaction in
      var generator = PooledRandom()
      let work = tracking(transaction)
      var (change, outcome, isDone) = try work.undo(goingOnWith: begun, using: &generator)
      let reminders = try TrackingRestore(work).complete(change, &outcome, using: &generator)
      let told = TrackingNotices.of(
        outcome, owner: caller.owner,
        saying: isDone ? "taken back: \(change.kind.rawValue) \(change.subject)" : nil)
      return ((change, isDone), told + reminders)
    }
  }
}
