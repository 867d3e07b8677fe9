import ChimeCore
import Dispatch
import Glibc
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

  /// Runs `body` on a new thread with the lowest priority (setpriority(2): on Linux a nice value belongs to a thread).
  /// The thread ends with the snapshot.
  static func inBackground(_ body: @escaping @Sendable () -> Void) throws(StoreFailure) {
    final class Work {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      throw .unavailable("no thread can be started for a snapshot (\(errorText(code)))")
    }
    pthread_detach(thread)
  }
}
