import ChimeCore
package import ChimeSchedule
import Glibc
import Synchronization

/// The time, read once for each event: this machine's, or that of the database in which the store is.
package enum SystemClock {
  /// CLOCK_REALTIME; once a database's clock is followed, that one.
  package static var now: Instant { Instant(milliseconds: nowMicroseconds / 1_000) }

  /// The same in microseconds since the epoch, for the record of lateness.
  static var nowMicroseconds: Int64 {
    let offset = offset.load(ordering: .relaxed)
    return offset == unfollowed ? Int64(microseconds(CLOCK_REALTIME)) : Int64(microseconds(CLOCK_BOOTTIME)) + offset
  }

  /// CLOCK_MONOTONIC in microseconds (what systemd wants with RELOADING=1).
  static var monotonicMicroseconds: UInt64 { microseconds(CLOCK_MONOTONIC) }

  /// How long the machine has slept since it booted, in milliseconds: CLOCK_BOOTTIME runs on in sleep,
  /// CLOCK_MONOTONIC does not.
  static var sleptMilliseconds: Int64 {
    Int64(microseconds(CLOCK_BOOTTIME) / 1_000) - Int64(microseconds(CLOCK_MONOTONIC) / 1_000)
  }

  private static func microseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
  }

  // MARK: The database's clock

  // The clock is the process's, as the machine's is, and is read on every queue: hence one word for all to read, and a lock
  // for the two queues of the store that hear of the database's.
  private static let unfollowed = Int64.min
  private static let offset = Atomic<Int64>(unfollowed)
  private static let heard = Mutex((clock: StoreClock(), step: Milliseconds.zero))

  /// Whether it is a database's time that is told, which nobody sets by setting this machine's clock.
  static var isFollowing: Bool { offset.load(ordering: .relaxed) != unfollowed }

  /// Goes by the database's clock from now on.
  static func follow(_ time: StoreTime) {
    heard.withLock { heard in
      heard.step = heard.step + heard.clock.hear(time)
      if let known = heard.clock.offset { offset.store(known, ordering: .relaxed) }
    }
  }

  /// By how much the database's clock was set since this was last asked.
  static func takeStep() -> Milliseconds {
    heard.withLock { heard in
      defer { heard.step = .zero }
      return heard.step
    }
  }

  /// What this machine's clock shows, as far as is known, when it is `instant`.
  static func machineTime(of instant: Instant) -> Instant {
    guard isFollowing else { return instant }
    return Instant(milliseconds: Int64(microseconds(CLOCK_REALTIME) / 1_000)) + (instant - now)
  }
}
