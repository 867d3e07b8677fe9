import CSystemd
import ChimeControl
import ChimeSchedule
import Glibc

/// A BusProbe checks whether a session bus answers and which notification server runs there. It starts no service.
///
/// It uses its own connection, and blocks until it has the result or the time is up.
struct BusProbe {
  private static let notifications = "org.freedesktop.Notifications"

  private let bus: OpaquePointer
  private let end: UInt64

  /// Probes the session bus.
  ///
  /// - Parameters:
  ///   - environment: as for `SessionBus`.
  ///   - limit: the total time limit.
  static func look(in environment: [String: String], within limit: Milliseconds) -> DaemonInterface.BusState {
    guard let address = SessionBus.address(in: environment) else {
      return DaemonInterface.BusState(
        problem: "the environment names no session bus (DBUS_SESSION_BUS_ADDRESS)", server: .unknown)
    }
    var state = DaemonInterface.BusState(address: address, server: .unknown)
    var made: OpaquePointer?
    guard sd_bus_new(&made) >= 0, let made else {
      state.problem = "cannot create a connection to it"
      return state
    }
    defer { sd_bus_close_unref(made) }
    let probe = BusProbe(bus: made, end: BusConnection.monotonicMicroseconds + UInt64(limit.rawValue) * 1_000)
    do {
      try probe.connect(to: address)
      try probe.lookForServer(&state)
    } catch {
      state.problem = error.sentence
    }
    return state
  }

  private struct Trouble: Error { var sentence: String }

  private func connect(to address: String) throws(Trouble) {
    for step in [sd_bus_set_address(bus, address), sd_bus_set_bus_client(bus, 1), sd_bus_start(bus)] where step < 0 {
      throw Trouble(sentence: "it cannot be reached: \(SystemError("connect", code: -step).reason)")
    }
    // sd_bus_call(3) would wait too long for the bus's first message.
    while true {
      let ready = sd_bus_is_ready(bus)
      if ready > 0 { return }
      let step = ready < 0 ? ready : sd_bus_process(bus, nil)
      guard step >= 0 else {
        throw Trouble(sentence: "it cannot be reached: \(SystemError("connect", code: -step).reason)")
      }
      guard step == 0 else { continue }
      let left = rest
      guard left > 0 else { throw Trouble(sentence: "it does not answer") }
      sd_bus_wait(bus, left)
    }
  }

  /// The remaining time in microseconds.
  private var rest: UInt64 {
    let now = BusConnection.monotonicMicroseconds
    return now >= end ? 0 : end - now
  }

  private func lookForServer(_ state: inout DaemonInterface.BusState) throws(Trouble) {
    guard let names = try self.names(by: "ListNames") else { throw Trouble(sentence: "it does not answer") }
    guard names.contains(Self.notifications) else {
      let activatable = try self.names(by: "ListActivatableNames")
      state.server = (activatable ?? []).contains(Self.notifications) ? .activatable : .missing
      return
    }
    state.server = .running
    guard let capabilities = try texts(call("GetCapabilities", on: Self.notifications)) else {
      state.serverProblem = "it does not answer"
      return
    }
    state.capabilities = capabilities.map { String($0.prefix(60)) }.sorted()
    guard let answer = try call("GetServerInformation", on: Self.notifications) else { return }
    defer { sd_bus_message_unref(answer) }
    guard sd_bus_message_has_signature(answer, "ssss") > 0, let name = BusReader.text(in: answer),
      BusReader.text(in: answer) != nil, let version = BusReader.text(in: answer)
    else { return }
    state.serverName = String("\(name) \(version)".prefix(100))
  }

  private func names(by method: String) throws(Trouble) -> [String]? {
    try texts(call(method, on: "org.freedesktop.DBus"))
  }

  private func texts(_ answer: OpaquePointer?) -> [String]? {
    guard let answer else { return nil }
    defer { sd_bus_message_unref(answer) }
    return BusReader.texts(in: answer)
  }

  /// Returns the reply, which the caller releases; nil for an error or timeout.
  private func call(_ method: String, on service: String) throws(Trouble) -> OpaquePointer? {
    let path = "/" + service.split(separator: ".").joined(separator: "/")
    var message: OpaquePointer?
    guard sd_bus_message_new_method_call(bus, &message, service, path, service, method) >= 0, let message else {
      throw Trouble(sentence: "cannot create a call to it")
    }
    defer { sd_bus_message_unref(message) }
    sd_bus_message_set_auto_start(message, 0)
    var answer: OpaquePointer?
    guard sd_bus_call(bus, message, max(1, rest), nil, &answer) >= 0 else { return nil }
    return answer
  }
}
