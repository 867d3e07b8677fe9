import ChimeCore
import ChimeSchedule

// Snapshots of the store, and damage to it.
extension Simulation {
  /// A copy of the store, with what the checker knew of it.
  struct Snapshot {
    var contents: MemoryContents
    var model: InvariantChecker.Model
  }

  /// The most snapshots that are kept.
  private static let mostSnapshots = 3

  func takeSnapshot() {
    guard storeFault == nil, !store.isDamaged else { return }
    snapshots.append(Snapshot(contents: store.contents, model: checker.model))
    if snapshots.count > Self.mostSnapshots { snapshots.removeFirst() }
  }

  /// Damages the store, and its `bad` newest snapshots. A running daemon finds that with its next transaction, and
  /// another one as it starts.
  func damageStore(_ bad: Int) {
    guard snapshots.count > bad, !store.isDamaged else { return }
    if let loop, !loop.isReady || loop.isStopping || !loop.core.degradedMode.isEmpty { return }
    snapshots.removeLast(bad)
    store.isDamaged = true
    checker.permitDelays(for: 0)
    if loop == nil { restoreStore() }
  }

  /// Puts the newest snapshot in the place of a damaged store that a transaction has met.
  ///
  /// - Throws: what the caller of that transaction gets.
  func meetDamage() throws {
    guard store.isDamaged, storeFault != .gone else { return }
    restoreStore()
    throw StoreFailure.unavailable("the store was damaged and is restored, and nothing was carried out")
  }

  private func restoreStore() {
    guard let snapshot = snapshots.last else { return }
    store.isDamaged = false
    store.transaction.contents = snapshot.contents
    store.transaction.changed = MemoryTransaction.Changes()
    store.transaction.restorations += 1
    checker.goBack(to: snapshot.model)
    figures.restorations += 1
    note { "the store was damaged; the newest snapshot takes its place" }
    guard let loop else { return }
    // Commits before it have been reported by then.
    untold += 1
    isRestorationTold = false
    later(3) { [self] in
      untold -= 1
      isRestorationTold = true
      if loop === self.loop, loop.isReady, !loop.isStopping { loop.storeWasRestored() }
    }
  }
}
