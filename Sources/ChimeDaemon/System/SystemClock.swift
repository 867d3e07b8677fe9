import ChimeCore
package import ChimeSchedule
import Glibc
import Synchronization

/// The current time: this machine's, or that of the database with the store. It is read once for each event.
package enum SystemClock {
  /// The present time: CLOCK_REALTIME, or the database's clock once it is followed.
  package static var now: Instant { Instant(milliseconds: nowMicroseconds / 1_000) }

  /// The present time in microseconds since the epoch, for lateness.
  static var nowMicroseconds: Int64 {
    let offset = offset.load(ordering: .relaxed)
    return offset == unfollowed ? Int64(microseconds(CLOCK_REALTIME)) : Int64(microseconds(CLOCK_BOOTTIME)) + offset
  }

  /// CLOCK_MONOTONIC in microseconds (for systemd's RELOADING=1).
  static var monotonicMicroseconds: UInt64 { microseconds(CLOCK_MONOTONIC) }

  /// The total sleep since boot in milliseconds: CLOCK_BOOTTIME counts sleep, CLOCK_MONOTONIC does not.
  static var sleptMilliseconds: Int64 {
    Int64(microseconds(CLOCK_BOOTTIME) / 1_000) - Int64(microseconds(CLOCK_MONOTONIC) / 1_000)
  }

  /// Blocks until the clock shows `time`, and for 10 ms at most, should it be set back meanwhile. A thread that sleeps wakes up
  /// some 100 µs late, so the last of them pass without sleep.
  static func wait(until time: Instant) {
    let end = monotonicMicroseconds + 10_000
    while case let left = time.milliseconds * 1_000 - nowMicroseconds, left > 0, monotonicMicroseconds < end {
      if left > 250 { usleep(UInt32(min(left, 10_000) - 150)) }
    }
  }

  private static func microseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
  }

  // MARK: The database's clock

  // The clock is global and is read on every queue. Readers use one atomic word; a lock guards the updates by the store's
  // two queues.
  private static let unfollowed = Int64.min
  private static let offset = Atomic<Int64>(unfollowed)
  private static let storeClock = Mutex((clock: StoreClock(), step: Milliseconds.zero))

  /// Whether the clock follows a database. Setting the local clock then has no effect.
  static var isFollowing: Bool { offset.load(ordering: .relaxed) != unfollowed }

  /// Follows the database's clock from now on.
  static func follow(_ time: StoreTime) {
    storeClock.withLock { storeClock in
      storeClock.step = storeClock.step + storeClock.clock.observe(time)
      if let known = storeClock.clock.offset { offset.store(known, ordering: .relaxed) }
    }
  }

  /// Returns the sum of the database clock's steps since the last call.
  static func takeStep() -> Milliseconds {
    storeClock.withLock { storeClock in
      defer { storeClock.step = .zero }
      return storeClock.step
    }
  }

  /// Returns the time that the local clock will show at `instant`, as far as known.
  static func machineTime(of instant: Instant) -> Instant {
    guard isFollowing else { return instant }
    return Instant(milliseconds: Int64(microseconds(CLOCK_REALTIME) / 1_000)) + (instant - now)
  }
}
