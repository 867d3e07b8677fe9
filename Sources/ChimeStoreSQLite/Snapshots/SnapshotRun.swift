import ChimeCore
import Dispatch
import Synchronization

/// A SnapshotRun is a snapshot in progress that other threads can call off.
final class SnapshotRun: Sendable {
  private let calledOff = Atomic<Bool>(false)
  private let isInStore = Atomic<Bool>(false)
  private let presence = DispatchGroup()

  var isCalledOff: Bool { calledOff.load(ordering: .sequentiallyConsistent) }

  func requireWanted() throws(StoreFailure) { if isCalledOff { throw .closed } }

  /// Notes that the store's file is read from now on. Call `requireWanted` after it: either the run sees that it was
  /// called off, or `callOff` waits for it.
  func enterStore() {
    presence.enter()
    isInStore.store(true, ordering: .sequentiallyConsistent)
  }

  /// Notes that the store's file is no longer in use. Repeated calls do nothing.
  func leaveStore() {
    if isInStore.exchange(false, ordering: .sequentiallyConsistent) { presence.leave() }
  }

  /// Calls the run off, and waits until it has released the store's file.
  func callOff() {
    calledOff.store(true, ordering: .sequentiallyConsistent)
    presence.wait()
  }
}
