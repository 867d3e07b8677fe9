import CSystemd
import Glibc

/// Hears from logind when the machine is about to sleep and when it has woken, and holds the lock that makes it wait for us
/// (org.freedesktop.login1(5): `PrepareForSleep`, `Inhibit`; systemd.io/INHIBITOR_LOCKS), over sd-bus on the system bus.
///
/// Nothing here waits for the bus. Used on the loop's queue only: the loop watches `descriptor` for `interest` and calls
/// `process()`.
final class SleepWatch {
  enum Event: Hashable {
    case sleeps
    case wakes
    /// logind has gone: nobody will say when the machine wakes.
    case logindGone
    /// The lock is ours.
    case holds
    /// logind does not give it, for this reason.
    case refused(String)
  }

  private static let service = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"

  private let bus: OpaquePointer
  private var slots: [OpaquePointer] = []
  /// Added to by handlers while `process()` runs.
  private var events: [Event] = []
  /// The lock: sleep waits, for as long as logind allows, until it is closed.
  private var lock: Int32 = -1
  /// Whether the lock is wanted: what comes after it was let go is let go too.
  private var isWanted = false
  /// The call that asks for it.
  private var asking: OpaquePointer?

  /// Begins to connect.
  ///
  /// - Throws: `SystemError` when there is no system bus; waking is then noticed by the clock watch alone.
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
    // Of a call that is unanswered: it would keep the bus, and call what is no more.
    sd_bus_slot_unref(asking)
    for slot in slots { sd_bus_slot_unref(slot) }
    // Without a flush, which would wait.
    sd_bus_close_unref(bus)
  }

  var descriptor: Int32 { sd_bus_get_fd(bus) }

  /// What to watch the descriptor for. Another one after each call.
  var interest: Poller.Readiness {
    let events = sd_bus_get_events(bus)
    var interest: Poller.Readiness = []
    if events & Int32(POLLIN) != 0 { interest.insert(.readable) }
    if events & Int32(POLLOUT) != 0 { interest.insert(.writable) }
    return interest
  }

  /// Works off what has arrived; of one that floods, a share.
  ///
  /// - Throws: `SystemError` when the bus is gone.
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

  /// Asks for the lock; `process()` tells of it. One that is held already is let go when the new one comes.
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
    // Without a limit of time, for which the loop would have to be woken: who does not answer does not keep us waiting.
    let result = sd_bus_call_async(
      bus, &asking, message,
      { answer, context, _ in
        guard let answer, let context else { return 0 }
        Unmanaged<SleepWatch>.fromOpaque(context).takeUnretainedValue().answered(answer)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque(), UInt64.max)
    if result < 0 { refuse(SystemError("Inhibit", code: -result).reason) }
  }

  /// Lets the machine sleep.
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
    // The message keeps its own.
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
    // The handler runs inside sd_bus_process only, which this object calls while it is alive.
    let result = sd_bus_add_match_async(
      bus, &slot, rule,
      { message, context, _ in
        guard let message, let context else { return 0 }
        Unmanaged<SleepWatch>.fromOpaque(context).takeUnretainedValue().heard(message)
        return 0
      }, nil, Unmanaged.passUnretained(self).toOpaque())
    guard result >= 0, let slot else { throw SystemError("AddMatch", code: -result) }
    slots.append(slot)
  }

  private func heard(_ message: OpaquePointer) {
    if sd_bus_message_is_signal(message, Self.manager, "PrepareForSleep") > 0 {
      var begins: Int32 = 0
      guard sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &begins) > 0 else { return }
      events.append(begins != 0 ? .sleeps : .wakes)
    } else if sd_bus_message_is_signal(message, "org.freedesktop.DBus", "NameOwnerChanged") > 0,
      let names = BusReader.three(in: message), names[0] == Self.service
    {
      if !names[1].isEmpty { events.append(.logindGone) }
      // The new one may know nothing of the lock that the old one gave.
      if !names[2].isEmpty { inhibit() }
    }
  }
}
