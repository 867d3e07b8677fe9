import CSystemd
import Glibc

/// Hears from logind when the machine is about to sleep and when it has woken
/// (org.freedesktop.login1(5), `PrepareForSleep`), over sd-bus on the system bus.
///
/// Used on the loop's queue only: the loop watches `descriptor` for `interest` and calls `process()`.
final class SleepWatch {
  private let bus: OpaquePointer
  private var slot: OpaquePointer?
  /// Set by the signal's handler while `process()` runs.
  private var signals: [Bool] = []

  /// - Throws: `SystemError` when there is no system bus; waking is then noticed by the clock watch alone.
  init() throws(SystemError) {
    var opened: OpaquePointer?
    let result = sd_bus_open_system(&opened)
    guard result >= 0, let opened else { throw SystemError("system bus", code: -result) }
    bus = opened
    // The handler runs inside sd_bus_process only, which this object calls while it is alive.
    let context = Unmanaged.passUnretained(self).toOpaque()
    let match = sd_bus_match_signal_async(
      bus, &slot, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
      "PrepareForSleep",
      { message, context, _ in
        var goesToSleep: Int32 = 0
        guard let context, sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &goesToSleep) >= 0 else {
          return 0
        }
        Unmanaged<SleepWatch>.fromOpaque(context).takeUnretainedValue().signals.append(goesToSleep != 0)
        return 0
      }, nil, context)
    guard match >= 0 else {
      sd_bus_flush_close_unref(bus)
      throw SystemError("match PrepareForSleep", code: -match)
    }
  }

  deinit {
    sd_bus_slot_unref(slot)
    sd_bus_flush_close_unref(bus)
  }

  var descriptor: Int32 { sd_bus_get_fd(bus) }

  /// What to watch the descriptor for.
  var interest: Poller.Readiness {
    let events = sd_bus_get_events(bus)
    var interest: Poller.Readiness = []
    if events & Int32(POLLIN) != 0 { interest.insert(.readable) }
    if events & Int32(POLLOUT) != 0 { interest.insert(.writable) }
    return interest
  }

  /// Works off what has arrived.
  ///
  /// - Returns: true for each "about to sleep", false for each "awake again".
  /// - Throws: `SystemError` when the bus is gone.
  func process() throws(SystemError) -> [Bool] {
    signals = []
    while true {
      let result = sd_bus_process(bus, nil)
      guard result >= 0 else { throw SystemError("system bus", code: -result) }
      if result == 0 { return signals }
    }
  }
}
