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
    return try await changeTracking { [self] work, generator in
      var (change, outcome) = try work.undo(using: &generator)
      // For those who watch it is a change as any other.
      outcome.change = change.id
      return (
        Tracking.Undo.Reply(undone: wire.undoable(change)), outcome,
        "taken back: \(change.kind.rawValue) \(change.subject)"
      )
    }
  }
}
