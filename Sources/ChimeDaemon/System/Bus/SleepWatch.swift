import CSystemd
import Glibc

/// A SleepWatch receives sleep and wake events from logind and holds the inhibitor lock that delays sleep.
///
/// It uses sd-bus on the system bus (org.freedesktop.login1(5): `PrepareForSleep`, `Inhibit`; systemd.io/INHIBITOR_LOCKS) and
/// never blocks. It is used on the loop's queue only: the loop watches `descriptor` for `interest` and calls `process()`.
final class SleepWatch {
  enum Event: Hashable {
    case sleeps
    case wakes
    /// logind has stopped, so nobody reports when the machine wakes.
    case logindGone
    /// The lock was granted.
    case holds
    /// logind refuses the lock, for this reason.
    case refused(String)
  }

  private static let service = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"

  private let bus: OpaquePointer
  private var slots: [OpaquePointer] = []
  /// Collects events while `process()` runs.
  private var events: [Event] = []
  /// The lock. Sleep waits, within logind's limit, until it is closed.
  private var lock: Int32 = -1
  /// Whether the lock is wanted. A lock that arrives after `release` is closed.
  private var isWanted = false
  /// The pending `Inhibit` call.
  private var asking: OpaquePointer?

  /// Starts to connect.
  ///
  /// - Throws: `SystemError` without a system bus. Only the clock watch then detects waking.
  init() throws(SystemError) {
    var opened: OpaquePointer?
    let result = sd_bus_open_system(&opened)
    guard result >= 0, let opened else { throw SystemError("system bus", code: -result) }
    bus = opened
    try match(
      "type='signal',sender='\(Self.service)',path='\(Self.path)',interface='\(Self.manager)',member='PrepareForSleep'")
    try match(
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
  }

  deinit {
    release()
    // An unanswered call would keep the bus alive and call a handler on a freed object.
    sd_bus_slot_unref(asking)
    for slot in slots { sd_bus_slot_unref(slot) }
    // Close without a flush, which would block.
    sd_bus_close_unref(bus)
  }

  var descriptor: Int32 { sd_bus_get_fd(bus) }

  /// The events to poll the descriptor for; they may change with each call.
  var interest: Poller.Readiness {
    let events = sd_bus_get_events(bus)
    var interest: Poller.Readiness = []
    if events & Int32(POLLIN) != 0 { interest.insert(.readable) }
    if events & Int32(POLLOUT) != 0 { interest.insert(.writable) }
    return interest
  }

  /// Processes at most 256 messages, so that a flood does not block the loop.
  ///
  /// - Throws: `SystemError` if the bus is gone.
  func process() throws(SystemError) -> [Event] {
    events = []
    for _ in 0..<256 {
      let result = sd_bus_process(bus, nil)
      guard result >= 0 else { throw SystemError("system bus", code: -result) }
      if result == 0 { break }
    }
    return events
  }

  // MARK: The lock

  /// Requests the lock; `process()` reports the result. A lock that is already held is closed when the new one arrives.
  func inhibit() {
    isWanted = true
    guard asking == nil else { return }
    var message: OpaquePointer?
    let made = sd_bus_message_new_method_call(bus, &message, Self.service, Self.path, Self.manager, "Inhibit")
    defer { sd_bus_message_unref(message) }
    guard made >= 0 else { return refuse(SystemError("Inhibit", code: -made).reason) }
    for text in ["sleep", "Chime", "What is under way is finished first", "delay"] {
      text.withCString { _ = sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) }
    }
    // The call has no timeout, because a timeout would wake the loop. A missing answer delays nothing.
    let result = sd_bus_call_async(
      bus, &asking, message,
      { answer, context, _ in
        guard let answer, let context else { return 0 }
        Unmanaged<SleepWatch>.fromOpaque(context).takeUnretainedValue().answered(answer)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque(), UInt64.max)
    if result < 0 { refuse(SystemError("Inhibit", code: -result).reason) }
  }

  /// Releases the lock.
  func release() {
    isWanted = false
    if lock >= 0 { close(lock) }
    lock = -1
  }

  private func answered(_ answer: OpaquePointer) {
    sd_bus_slot_unref(asking)
    asking = nil
    if sd_bus_message_is_method_error(answer, nil) > 0 {
      let text = sd_bus_message_get_error(answer).pointee.message.map { String(cString: $0) }
      return refuse(text ?? "an error without words")
    }
    var given: Int32 = -1
    // The message owns its descriptor, so the lock is a duplicate.
    guard sd_bus_message_read_basic(answer, CChar(UInt8(ascii: "h")), &given) > 0 else {
      return refuse("it answered without a lock")
    }
    let copy = fcntl(given, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { return refuse(SystemError("fcntl").reason) }
    guard isWanted else {
      close(copy)
      return
    }
    if lock >= 0 { close(lock) }
    lock = copy
    events.append(.holds)
  }

  private func refuse(_ reason: String) { events.append(.refused(reason)) }

  // MARK: Signals

  private func match(_ rule: String) throws(SystemError) {
    var slot: OpaquePointer?
    // The handler runs only inside sd_bus_process, which this object calls while it is alive.
    let result = sd_bus_add_match_async(
      bus, &slot, rule,
      { message, context, _ in
        guard let message, let context else { return 0 }
        Unmanaged<SleepWatch>.fromOpaque(context).takeUnretainedValue().received(message)
        return 0
      }, nil, Unmanaged.passUnretained(self).toOpaque())
    guard result >= 0, let slot else { throw SystemError("AddMatch", code: -result) }
    slots.append(slot)
  }

  private func received(_ message: OpaquePointer) {
    if sd_bus_message_is_signal(message, Self.manager, "PrepareForSleep") > 0 {
      var begins: Int32 = 0
      guard sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &begins) > 0 else { return }
      events.append(begins != 0 ? .sleeps : .wakes)
    } else if sd_bus_message_is_signal(message, "org.freedesktop.DBus", "NameOwnerChanged") > 0,
      let names = BusReader.three(in: message), names[0] == Self.service
    {
      if !names[1].isEmpty { events.append(.logindGone) }
      // A restarted logind may not know the old lock.
      if !names[2].isEmpty { inhibit() }
    }
  }
}
