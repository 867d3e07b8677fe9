import CSystemd
import ChimeDelivery
import ChimeSchedule
import Glibc

/// A BusConnection is one connection to a session bus. It tracks the owner of org.freedesktop.Notifications and the calls
/// in flight.
///
/// Only the bus's thread uses it. The thread polls `descriptor` for `interest` until `wakeAt` and then calls `process()`.
final class BusConnection {
  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"

  private let bus: OpaquePointer
  private let tell: (NotificationServerEvent) -> Void
  private let timeout: Milliseconds
  private var slots: [OpaquePointer] = []
  /// The handlers of pending replies, by cookie. A reply may be an error, including the timeout error of sd-bus.
  private var awaited: [UInt64: (OpaquePointer) -> Void] = [:]
  /// The popup calls in flight, to be refused if the connection breaks.
  private var calls: Set<UInt64> = []
  /// Popup calls that timed out, by cookie, oldest first. The server may still show them.
  private var late: [(cookie: UInt64, call: UInt64)] = []
  /// The maximum number of remembered late calls.
  private static let lateLimit = 64
  /// The unique name of the server; nil if there is none.
  private var owner: String?
  /// The time by which the bus must name the owner, on the monotonic clock; nil after that.
  private var deadline: UInt64?
  private var asksForCapabilities = false
  private var wantsActivation = false
  /// Whether a caller waits to learn if there is a server.
  private(set) var isLooking = false

  /// Starts to connect.
  init(address: String, timeout: Milliseconds, tell: @escaping (NotificationServerEvent) -> Void) throws(BusTrouble) {
    var made: OpaquePointer?
    let failure = sd_bus_new(&made)
    guard failure >= 0, let made else { throw .refused(call: "sd_bus_new", code: -failure) }
    bus = made
    self.tell = tell
    self.timeout = timeout
    deadline = Self.monotonicMicroseconds + Self.microseconds(timeout)
    for step in [sd_bus_set_address(bus, address), sd_bus_set_bus_client(bus, 1), sd_bus_start(bus)] where step < 0 {
      throw .noBus(SystemError("connect", code: -step).reason)
    }
    try match(
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
    try match("type='signal',sender='\(Self.service)',path='\(Self.path)',interface='\(Self.service)'")
    try watchLateAnswers()
    try askForOwner()
  }

  deinit {
    for slot in slots { sd_bus_slot_unref(slot) }
    sd_bus_close_unref(bus)
  }

  // MARK: Interface for the thread

  var descriptor: Int32 { sd_bus_get_fd(bus) }

  var interest: Int16 { Int16(clamping: max(0, sd_bus_get_events(bus))) }

  /// The time on the monotonic clock when `process()` must be called at the latest; nil for never.
  var wakeAt: UInt64? {
    var limit = UInt64.max
    if sd_bus_get_timeout(bus, &limit) < 0 { limit = 0 }
    let earliest = min(limit, deadline ?? .max)
    return earliest == .max ? nil : earliest
  }

  /// Processes at most 256 messages, so that a flood does not block the thread.
  func process() throws(BusTrouble) {
    for _ in 0..<256 {
      let result = sd_bus_process(bus, nil)
      guard result >= 0 else {
        throw deadline == nil ? .gone : .noBus(SystemError("connect", code: -result).reason)
      }
      if result == 0 { break }
    }
    if let deadline, deadline <= Self.monotonicMicroseconds { throw .silent }
  }

  /// Refuses all calls in flight.
  func abandon(_ trouble: BusTrouble) {
    awaited = [:]
    for call in calls.sorted() { tell(.refused(call, trouble.fault)) }
    calls = []
  }

  func look(activating: Bool) throws(BusTrouble) {
    isLooking = true
    wantsActivation = wantsActivation || activating
    if deadline == nil { try askForCapabilities() }
  }

  func notify(_ call: UInt64, _ notification: DesktopNotification) throws(BusTrouble) {
    let message = try method("Notify")
    defer { sd_bus_message_unref(message) }
    var writer = BusWriter(message)
    writer.add(notification)
    guard writer.failure >= 0 else {
      tell(.refused(call, BusTrouble.refused(call: "Notify", code: -writer.failure).fault))
      return
    }
    let started = Self.monotonicMicroseconds
    calls.insert(call)
    try send(message) { [unowned self] answer in
      calls.remove(call)
      if let fault = fault(of: answer, since: started) {
        remember(answer, of: call)
        tell(.refused(call, fault))
        return
      }
      var number: UInt32 = 0
      guard sd_bus_message_has_signature(answer, "u") > 0,
        sd_bus_message_read_basic(answer, CChar(UInt8(ascii: "u")), &number) > 0
      else {
        tell(.refused(call, Self.nonsense("Notify", answer)))
        return
      }
      tell(.shown(call, number: number))
    }
  }

  func close(_ number: UInt32) throws(BusTrouble) {
    guard owner != nil else { return }
    let message = try method("CloseNotification")
    defer { sd_bus_message_unref(message) }
    var number = number
    sd_bus_message_append_basic(message, CChar(UInt8(ascii: "u")), &number)
    sd_bus_message_set_auto_start(message, 0)
    // A reply is requested and ignored, so that an error is not mistaken for a signal.
    try send(message) { _ in }
  }

  // MARK: The server

  private func askForOwner() throws(BusTrouble) {
    let message = try method(
      "GetNameOwner", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", on: "org.freedesktop.DBus")
    defer { sd_bus_message_unref(message) }
    Self.service.withCString { _ = sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) }
    try send(message) { [unowned self] answer in
      deadline = nil
      owner = sd_bus_message_is_method_error(answer, nil) > 0 ? nil : BusReader.text(in: answer)
      // If the query cannot be sent, the server counts as absent.
      if isLooking || owner != nil { try? askForCapabilities() }
    }
  }

  /// Queries the present server, or the one that the bus starts if activation is wanted.
  private func askForCapabilities() throws(BusTrouble) {
    guard !asksForCapabilities else { return }
    guard owner != nil || wantsActivation else {
      answer(.unreachable(Self.noServer))
      return
    }
    let message = try method("GetCapabilities")
    defer { sd_bus_message_unref(message) }
    sd_bus_message_set_auto_start(message, wantsActivation ? 1 : 0)
    let started = Self.monotonicMicroseconds
    let asked = owner
    try send(message) { [unowned self] message in
      asksForCapabilities = false
      // Ignore the reply, or its absence, of a previous server.
      if let asked, let owner, owner != asked, (try? askForCapabilities()) != nil { return }
      if let fault = fault(of: message, since: started) {
        answer(.unreachable(fault))
      } else if let names = BusReader.texts(in: message) {
        answer(.open(ServerCapabilities(names: names), identity: identity))
      } else {
        answer(.unreachable(Self.nonsense("GetCapabilities", message)))
      }
    }
    asksForCapabilities = true
  }

  /// The server's unique name, which the bus never reuses, and the bus's id.
  private var identity: String {
    var id = sd_id128_t()
    sd_bus_get_bus_id(bus, &id)
    let bytes = withUnsafeBytes(of: &id) { Array($0) }
    return (owner ?? "") + "@" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func answer(_ event: NotificationServerEvent) {
    isLooking = false
    wantsActivation = false
    tell(event)
  }

  private func received(_ message: OpaquePointer) {
    // Any program on the bus can send signals. Owner changes are accepted from the bus only, popup events from the server only.
    guard let sender = sd_bus_message_get_sender(message).map({ String(cString: $0) }) else { return }
    if sender == "org.freedesktop.DBus", sd_bus_message_is_signal(message, sender, "NameOwnerChanged") > 0 {
      guard let names = BusReader.three(in: message), names[0] == Self.service else { return }
      let hadOwner = owner != nil
      owner = names[2].isEmpty ? nil : names[2]
      if hadOwner { tell(.gone) }
      if owner != nil { try? askForCapabilities() }
      return
    }
    guard sender == owner else { return }
    var number: UInt32 = 0
    if sd_bus_message_is_signal(message, Self.service, "ActionInvoked") > 0 {
      guard sd_bus_message_has_signature(message, "us") > 0,
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "u")), &number) > 0, let key = BusReader.text(in: message)
      else { return }
      tell(.invoked(number: number, key: key))
    } else if sd_bus_message_is_signal(message, Self.service, "NotificationClosed") > 0 {
      var reason: UInt32 = 0
      guard sd_bus_message_has_signature(message, "uu") > 0,
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "u")), &number) > 0,
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "u")), &reason) > 0
      else { return }
      tell(.closed(number: number, PopupClosing(reason: reason)))
    }
  }

  // MARK: Calls

  private func match(_ rule: String) throws(BusTrouble) {
    var slot: OpaquePointer?
    // The handler runs only inside sd_bus_process, which this object calls while it is alive.
    let result = sd_bus_add_match_async(
      bus, &slot, rule,
      { message, context, _ in
        guard let message, let context else { return 0 }
        Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().received(message)
        return 0
      }, nil, Unmanaged.passUnretained(self).toOpaque())
    guard result >= 0, let slot else { throw .refused(call: "AddMatch", code: -result) }
    slots.append(slot)
  }

  /// Receives replies that are no longer awaited, such as those of a server that hung.
  private func watchLateAnswers() throws(BusTrouble) {
    var slot: OpaquePointer?
    let result = sd_bus_add_filter(
      bus, &slot,
      { message, context, _ in
        guard let message, let context else { return 0 }
        Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().heardLate(message)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    guard result >= 0, let slot else { throw .refused(call: "sd_bus_add_filter", code: -result) }
    slots.append(slot)
  }

  private func remember(_ answer: OpaquePointer, of call: UInt64) {
    var cookie: UInt64 = 0
    guard sd_bus_message_get_reply_cookie(answer, &cookie) >= 0 else { return }
    late.append((cookie, call))
    if late.count > Self.lateLimit { late.removeFirst() }
  }

  private func heardLate(_ message: OpaquePointer) {
    var cookie: UInt64 = 0
    var number: UInt32 = 0
    guard sd_bus_message_get_reply_cookie(message, &cookie) >= 0,
      let index = late.firstIndex(where: { $0.cookie == cookie }),
      sd_bus_message_get_sender(message).map({ String(cString: $0) }) == owner
    else { return }
    let call = late.remove(at: index).call
    guard sd_bus_message_has_signature(message, "u") > 0,
      sd_bus_message_read_basic(message, CChar(UInt8(ascii: "u")), &number) > 0
    else { return }
    tell(.shown(call, number: number))
  }

  private func method(
    _ name: String, of service: String = service, at path: String = path, on interface: String = service
  ) throws(BusTrouble) -> OpaquePointer {
    var message: OpaquePointer?
    let result = sd_bus_message_new_method_call(bus, &message, service, path, interface, name)
    guard result >= 0, let message else { throw .refused(call: name, code: -result) }
    return message
  }

  private func send(_ message: OpaquePointer, then handle: @escaping (OpaquePointer) -> Void) throws(BusTrouble) {
    let result = sd_bus_call_async(
      bus, nil, message,
      { answer, context, _ in
        guard let answer, let context else { return 0 }
        let connection = Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
        var cookie: UInt64 = 0
        sd_bus_message_get_reply_cookie(answer, &cookie)
        connection.awaited.removeValue(forKey: cookie)?(answer)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque(), Self.microseconds(timeout))
    var cookie: UInt64 = 0
    guard result >= 0, sd_bus_message_get_cookie(message, &cookie) >= 0 else { throw .gone }
    awaited[cookie] = handle
  }

  /// Returns the fault that an error reply describes; nil if the reply is not an error.
  private func fault(of answer: OpaquePointer, since started: UInt64) -> NotificationFault? {
    guard sd_bus_message_is_method_error(answer, nil) > 0 else { return nil }
    let error = sd_bus_message_get_error(answer)
    let name = error?.pointee.name.map { String(cString: $0) } ?? "an error without a name"
    let words = error?.pointee.message.map { String(cString: $0) } ?? ""
    let tookTooLong = Self.monotonicMicroseconds - started >= Self.microseconds(timeout)
    switch name {
    case "org.freedesktop.DBus.Error.NoReply" where tookTooLong:
      return NotificationFault(
        isBlocked: false,
        sentence: "the notification server did not answer within \(DurationText.format(timeout))")
    // The server left without a reply, or does not exist.
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
      "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.NoServer",
      "org.freedesktop.DBus.Error.Disconnected", "org.freedesktop.DBus.Error.TimedOut":
      return Self.noServer
    case _ where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."): return Self.noServer
    default: return NotificationFault(isBlocked: false, sentence: "the notification server refused: \(name): \(words)")
    }
  }

  private static let noServer = NotificationFault(
    isBlocked: true, sentence: "no notification server on the session bus")

  private static func nonsense(_ method: String, _ answer: OpaquePointer) -> NotificationFault {
    let signature = sd_bus_message_get_signature(answer, 1).map { String(cString: $0) } ?? ""
    return NotificationFault(
      isBlocked: false,
      sentence: "the notification server's answer to \(method) does not follow the specification: \"\(signature)\"")
  }

  static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
  }

  private static func microseconds(_ span: Milliseconds) -> UInt64 { UInt64(max(0, span.rawValue)) * 1_000 }
}
