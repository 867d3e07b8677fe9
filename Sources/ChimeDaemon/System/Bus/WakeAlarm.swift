import CLinux
import ChimeSchedule
import Glibc

/// The timer that wakes the machine from its sleep: one timerfd of CLOCK_REALTIME_ALARM, which the kernel hands to the
/// hardware clock when the machine falls asleep (timerfd_create(2)).
///
/// Nobody reads it: what is due is found by the loop's own timer, which runs on once the machine is awake.
final class WakeAlarm: Sendable {
  private let descriptor: Int32
  /// Why the machine is not woken, and what to do; nil when it is.
  let problem: String?

  /// - Parameter clocks: where the kernel shows hardware clocks; one that can wake the machine has a `wakealarm` there
  ///   (the kernel's Documentation/ABI/testing/rtc-cdev and admin-guide/rtc.rst).
  init(isSystem: Bool, clocks: String = "/sys/class/rtc") {
    descriptor = chime_wake_timer()
    if descriptor < 0 {
      let code = errno
      problem = code == EPERM ? Self.notAllowed(isSystem) : SystemError("timerfd", code: code).reason
    } else {
      let names = SystemFiles.names(in: clocks)
      let hasClock = names.contains { access("\(clocks)/\($0)/wakealarm", F_OK) == 0 }
      problem = hasClock ? nil : "this machine has no hardware clock with an alarm"
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Wakes the machine at `time`, and at no time armed before; nil: not at all.
  func arm(at time: Instant?) {
    guard descriptor >= 0 else { return }
    chime_wake_timer_set(descriptor, max(time?.milliseconds ?? 0, 0))
  }

  private static func notAllowed(_ isSystem: Bool) -> String {
    "chimed lacks the capability CAP_WAKE_ALARM; "
      + (isSystem ? "a drop-in of chimed.service grants it" : "root can grant it to the services of users")
      + " (docs/operations.md, Waking the machine)"
  }

}
