import ChimeSchedule
import Dispatch
import Glibc

/// When a timer is to run out, on a clock that stands still while the machine sleeps and that nobody sets.
struct MonotonicDeadline {
  private let microseconds: UInt64

  init(after wait: Milliseconds) {
    let wait = min(max(wait, .zero), .days(36_600))
    microseconds = SystemClock.monotonicMicroseconds + UInt64(wait.rawValue) * 1_000
  }

  /// How much later it is now; nil when it is earlier.
  var lateness: Milliseconds? {
    let now = SystemClock.monotonicMicroseconds
    return now < microseconds ? nil : .milliseconds(Int64((now - microseconds) / 1_000))
  }
}

/// One timer of the loop's queue, of either clock, with zero leeway.
///
/// libdispatch makes its timerfd when the first timer of a clock is armed and loses the timer silently when there is
/// no descriptor left: the loop arms one of each clock at start, before any client is let in. A timer that is not armed
/// (`.distantFuture`) has none made.
struct LoopTimer {
  private let source: any DispatchSourceTimer

  init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler(handler: handler)
    source.schedule(wallDeadline: .distantFuture, leeway: .nanoseconds(0))
    source.activate()
  }

  /// Fires at a time of the wall clock, and follows the clock when it is set. Where the time is a database's, it is waited
  /// for by a clock that nobody sets.
  func arm(at instant: Instant) {
    if SystemClock.isFollowing { return arm(after: instant - SystemClock.now) }
    let time = timespec(
      tv_sec: Int(instant.milliseconds / 1_000), tv_nsec: Int(instant.milliseconds % 1_000) * 1_000_000)
    source.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: .nanoseconds(0))
  }

  /// Fires after a span of time, whatever becomes of the wall clock. Longer than a year is a year.
  func arm(after wait: Milliseconds) {
    let wait = min(max(wait, .zero), .days(366))
    source.schedule(deadline: .now() + .milliseconds(Int(wait.rawValue)), leeway: .nanoseconds(0))
  }

  func disarm() { source.schedule(wallDeadline: .distantFuture, leeway: .nanoseconds(0)) }

  func cancel() { source.cancel() }
}
