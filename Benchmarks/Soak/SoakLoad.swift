import ChimeControl
import FoundationEssentials
import Glibc
import Varlink

/// The load of a soak test: users, programs, good and bad receivers, and malicious clients.
///
/// A single thread generates it, in steps of a fifth of a second.
final class SoakLoad {
  private let daemon: MeasuredDaemon
  private let good: Receiver
  private var client: VarlinkClient
  private var random: SystemRandomNumberGenerator = .init()
  private var watcher: Int32 = -1
  private var halves: [Int32] = []
  private var recent: [String] = []
  private var step = 0
  /// The number of requests, and the refused or unanswered ones by kind.
  private(set) var requests = 0
  private(set) var refusals: [String: Int] = [:]

  static func configuration(popup: String) -> String {
    """
    [desktop]
    program = "\(popup)"
    timeout = "5s"
    [webhook]
    timeout = "3s"
    [history]
    maxOccurrences = 5000
    [control]
    messageTimeout = "2s"
    [commands.sleep]
    program = "/bin/sleep"
    arguments = ["0.5"]
    """
  }

  /// - Parameters:
  ///   - good: answers at once; `hanging` never answers, `failing` answers with 500.
  init(_ daemon: MeasuredDaemon, good: Receiver, hanging: Receiver, failing: Receiver) throws {
    self.daemon = daemon
    self.good = good
    client = try daemon.client()
    try daemon.putEndpoint("good", port: good.port)
    try daemon.putEndpoint("hanging", port: hanging.port)
    try daemon.putEndpoint("failing", port: failing.port)
    // Recurring reminders: one each second, each once a minute.
    let channels = ["good", "good", "desktop", "hanging", "failing", "sleep"]
    try daemon.add(
      (0..<60).map { number in
        RemindersInterface.Draft(
          title: "every minute \(number)", when: "cron: \(number) * * * * *",
          channels: [channels[number % channels.count]])
      } + everydayDrafts(200))
  }

  /// Generates a fifth of a second of load.
  func advance() {
    step += 1
    let second = wallClock() / 1_000_000 + 3
    let title = "bench \(second)"
    let draft = RemindersInterface.Draft(title: title, when: once(at: second), channels: ["good"])
    ask("add", RemindersInterface.Add(reminder: draft)) { recent.append($0.reminder.id) }
    if recent.count > 50, let id = recent.randomElement(using: &random) {
      switch step % 5 {
      case 0: ask("edit", RemindersInterface.Update(id: id, change: .init(body: "step \(step)")))
      case 1: ask("done", OccurrencesInterface.Done(id: id))
      // Snooze none of those whose lateness is measured.
      case 2:
        let title = "every minute \(Int.random(in: 0..<60, using: &random))"
        ask("snooze", OccurrencesInterface.Snooze(id: title, length: "PT5S"))
      case 3: ask("pause", RemindersInterface.Pause(id: id))
      default: ask("remove", RemindersInterface.Remove(id: id))
      }
      if recent.count > 200 { recent.removeFirst(100) }
    }
    if step % 10 == 0 { ask("list", RemindersInterface.List()) }
    if step % 10 == 5 { ask("status", DaemonInterface.Status()) }
    if step % 25 == 0 { comeAndGo() }
    if step % 50 == 0 { attack() }
    if step % 150 == 0 { watch() }
    if step % 300 == 0 { ask("reload", DaemonInterface.Reload()) }
    // As by a debugger, or Ctrl-Z in a terminal.
    if step % 1_500 == 0 {
      kill(daemon.pid, SIGSTOP)
      pause(seconds: 2)
      kill(daemon.pid, SIGCONT)
    }
    drain(watcher)
  }

  /// Closes all connections to the daemon.
  func end() {
    for socket in halves + [watcher] where socket >= 0 { close(socket) }
    halves = []
    watcher = -1
    client.close()
  }

  private func ask<Method: VarlinkMethod>(
    _ kind: String, _ request: Method, _ take: (Method.Reply) -> Void = { _ in }
  ) {
    requests += 1
    do throws(VarlinkClientError) {
      take(try client.call(request))
    } catch {
      // A refusal to answer what has not fired is expected; a lost connection is not.
      if case .remote(let refusal) = error, ["done", "snooze", "pause", "edit", "remove"].contains(kind) {
        if !["Conflict", "NotFound"].contains(where: refusal.name.hasSuffix) {
          refusals["\(kind): \(refusal)", default: 0] += 1
        }
      } else {
        refusals["\(kind): \(error)", default: 0] += 1
        if let fresh = try? daemon.client() { client = fresh }
      }
    }
  }

  /// Connects ten clients that send a request and disconnect, half of them within a message.
  private func comeAndGo() {
    for number in 0..<10 {
      guard let socket = connectedSocket(daemon.socket) else { continue }
      let text = #"{"method":"org.varlink.service.GetInfo"}"#
      send(number % 2 == 0 ? Array(text.utf8) + [0] : Array(text.utf8.prefix(17)), to: socket)
      close(socket)
    }
  }

  /// Sends random bytes, endlessly nested JSON, and incomplete messages.
  private func attack() {
    if let socket = connectedSocket(daemon.socket) {
      send((0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) } + [0], to: socket)
      close(socket)
    }
    if let socket = connectedSocket(daemon.socket) {
      send(Array(repeating: UInt8(ascii: "["), count: 60_000) + [0], to: socket)
      close(socket)
    }
    for socket in halves.prefix(max(0, halves.count - 4)) { close(socket) }
    halves.removeFirst(max(0, halves.count - 4))
    if let socket = connectedSocket(daemon.socket) {
      send(Array(#"{"method":"io.chime"#.utf8), to: socket)
      halves.append(socket)
    }
  }

  /// Replaces the watching client.
  private func watch() {
    if watcher >= 0 { close(watcher) }
    watcher = connectedSocket(daemon.socket) ?? -1
    send(Array("{\"method\":\"\(DaemonInterface.Monitor.method)\",\"more\":true}".utf8) + [0], to: watcher)
  }

  private func send(_ bytes: [UInt8], to socket: Int32) {
    _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  private func drain(_ socket: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while socket >= 0, recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
  }
}

/// Returns a connected stream socket; nil if the connection is refused.
func connectedSocket(_ path: String) -> Int32? {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { room in
    for (index, byte) in path.utf8.enumerated() where index < room.count - 1 { room[index] = byte }
  }
  let size = socklen_t(MemoryLayout<sockaddr_un>.size)
  let code = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
  }
  guard code == 0 else {
    close(descriptor)
    return nil
  }
  return descriptor
}
