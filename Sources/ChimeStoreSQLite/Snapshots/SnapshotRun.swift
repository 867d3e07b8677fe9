import ChimeCore
import Dispatch
import Glibc
import Synchronization

/// One snapshot under way, for those who have to be able to end it.
final class SnapshotRun: Sendable {
  private let calledOff = Atomic<Bool>(false)
  private let isInStore = Atomic<Bool>(false)
  private let presence = DispatchGroup()

  var isCalledOff: Bool { calledOff.load(ordering: .sequentiallyConsistent) }

  func requireWanted() throws(StoreFailure) { if isCalledOff { throw .closed } }

  /// The store's file is read from here on. Followed by `requireWanted`, so that either the run sees that it was called
  /// off, or who called it off waits for it.
  func enterStore() {
    presence.enter()
    isInStore.store(true, ordering: .sequentiallyConsistent)
  }

  /// The store's file is not touched any more. A second time it does nothing.
  func leaveStore() {
    if isInStore.exchange(false, ordering: .sequentiallyConsistent) { presence.leave() }
  }

  /// Has it end soon, and waits until it has let go of the store's file.
  func callOff() {
    calledOff.store(true, ordering: .sequentiallyConsistent)
    presence.wait()
  }

  /// Runs `body` on a thread of its own that gives way to all others (setpriority(2): on Linux a nice value is the
  /// thread's). It is there for as long as the snapshot takes.
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
