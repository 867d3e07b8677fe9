package import ChimeCore
import ChimeRecords
import Dispatch

extension SQLiteStore: SnapshotManager {
  /// Takes a snapshot without delaying writers or readers. It has its own connection and a thread with low priority, and
  /// pauses between its steps.
  package func takeSnapshot(keeping count: Int) async throws -> StoreSnapshot {
    let run = SnapshotRun()
    guard let generation = note(run) else { throw StoreFailure.closed }
    defer { note(nil) }
    do {
      return try await withCheckedThrowingContinuation { caller in
        do {
          let copy = SnapshotCopy(opening: opening, run: run)
          try StoreThread.start("chime-snapshot", nice: 19) {
            caller.resume(with: Result { try copy.make(keeping: count, isPatient: true) })
          }
        } catch {
          caller.resume(throwing: error)
        }
      }
    } catch let damage as StoreFailure where damage.damage != nil {
      throw await seenTo(damage, generation)
    }
  }

  /// Recovers from damage that a snapshot found in the store.
  private func seenTo(_ damage: StoreFailure, _ generation: Int) async -> StoreFailure {
    await withCheckedContinuation { caller in
      writer.queue.async {
        // The run is over, so recovery must not wait for it.
        self.note(nil)
        caller.resume(returning: self.recover(from: damage, generation: generation))
      }
    }
  }

  package func snapshots() -> [StoreSnapshot] { opening.folder.items }
}
