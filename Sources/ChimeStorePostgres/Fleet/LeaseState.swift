import Synchronization

/// What this daemon has of the outbox, as its transactions and its loop ask for it while the fleet's thread changes it.
///
/// A lock guards it: the fleet's thread writes, the store's queues and the loop read. Nobody keeps it for longer than it
/// takes to copy.
final class LeaseState: Sendable {
  struct State: Sendable {
    /// Under which number the database knows this daemon; nil: it does not.
    var node: Int64?
    /// Shards that are being handed over: nothing of them is claimed any more.
    var yielding: Set<Int> = [] {
      didSet { yieldingList = yielding.sorted().list }
    }
    private(set) var yieldingList = "{}"
    /// When the leases end unless the daemon is heard of before, by the clock of `Heartbeat`; nil: it has none.
    var leaseEnd: Int64?
    /// When the beat was begun that has not been answered yet, and the first of those that came to nothing, by the clock of
    /// `Heartbeat`; nil: the last was answered.
    var unansweredSince: Int64?
    /// Whether no other daemon lives, and none that is lost had a session at the last beat.
    var isAlone = false
    /// How many daemons live, this one among them.
    var living = 1
    /// How many sessions have been opened: a server that has let one in lets in another.
    var openings = 0
  }

  private let state = Mutex(State())
  /// Has the others told that there may be something for them in the outbox. Set once, before there is a transaction.
  private let word = Mutex<(@Sendable () -> Void)?>(nil)

  var current: State { state.withLock { $0 } }

  func onWord(_ tell: @escaping @Sendable () -> Void) { word.withLock { $0 = tell } }

  func tellOthers() {
    guard current.living > 1 else { return }
    word.withLock { $0 }?()
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
}
