import ChimeSchedule
import Synchronization

/// A wall clock that moves only when it is set.
final class ManualTime: Sendable {
  private let instant = Mutex(Instant(seconds: 1_800_000_000))

  var now: Instant { instant.withLock { $0 } }
  func set(_ instant: Instant) { self.instant.withLock { $0 = instant } }
}
