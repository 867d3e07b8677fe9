import CLinux
import ChimeSchedule
import Glibc

/// A WakeAlarm wakes the machine from sleep: a timerfd of CLOCK_REALTIME_ALARM, which the kernel programs into the
/// hardware clock when the machine falls asleep (timerfd_create(2)).
///
/// Nobody reads it. The loop's own timer fires the due reminders once the machine is awake.
final class WakeAlarm: Sendable {
  private let descriptor: Int32
  /// The reason why the wake-up alarm cannot be set, with advice; nil if it can.
  let problem: String?

  /// Creates the timer without an alarm time.
  ///
  /// - Parameter clocks: the folder of the kernel's hardware clocks. A clock that can wake the machine has a file
  ///   `wakealarm` there (the kernel's Documentation/ABI/testing/rtc-cdev and admin-guide/rtc.rst).
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

  /// Sets the alarm to `time` instead of any earlier setting; nil cancels it.
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
