import ChimeSchedule
import Dispatch
import Glibc

/// The deadline of a timer on the monotonic clock, which stands still during sleep and cannot be set.
struct MonotonicDeadline {
  private let microseconds: UInt64

  init(after wait: Milliseconds) {
    let wait = min(max(wait, .zero), .days(36_600))
    microseconds = SystemClock.monotonicMicroseconds + UInt64(wait.rawValue) * 1_000
  }

  /// The time since the deadline; nil if it has not passed.
  var lateness: Milliseconds? {
    let now = SystemClock.monotonicMicroseconds
    return now < microseconds ? nil : .milliseconds(Int64((now - microseconds) / 1_000))
  }
}

/// A LoopTimer is one timer of the loop's queue, on either clock, with zero leeway.
///
/// libdispatch creates its timerfd when the first timer of a clock is armed. Without a free descriptor it loses the
/// timer silently. The loop therefore arms one timer of each clock at the start, before any client connects. An unarmed
/// timer (`.distantFuture`) creates none.
struct LoopTimer {
  private let source: any DispatchSourceTimer

  init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler(handler: handler)
    source.schedule(wallDeadline: .distantFuture, leeway: .nanoseconds(0))
    source.activate()
  }

  /// Fires at a wall-clock time and follows steps of that clock. If the daemon follows a database's clock, the
  /// monotonic clock is used instead.
  func arm(at instant: Instant) {
    if SystemClock.isFollowing { return arm(after: instant - SystemClock.now) }
    let time = timespec(
      tv_sec: Int(instant.milliseconds / 1_000), tv_nsec: Int(instant.milliseconds % 1_000) * 1_000_000)
    source.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: .nanoseconds(0))
  }

  /// Fires after a span of time, independent of the wall clock. The maximum is 366 days.
  func arm(after wait: Milliseconds) {
    let wait = min(max(wait, .zero), .days(366))
    source.schedule(deadline: .now() + .milliseconds(Int(wait.rawValue)), leeway: .nanoseconds(0))
  }

  func disarm() { source.schedule(wallDeadline: .distantFuture, leeway: .nanoseconds(0)) }

  func cancel() { source.cancel() }
}
