import CSystemd
import Dispatch
import Glibc
import Synchronization

/// What systemd is told, and what it hands over (sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3)).
///
/// Does nothing outside systemd.
enum ServiceManager {
  static func ready(status: String) { notify("READY=1\nSTATUS=\(oneLine(status))") }

  static func status(_ text: String) { notify("STATUS=\(oneLine(text))") }

  static func reloading() {
    notify("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonicMicroseconds)")
  }

  static func stopping() { notify("STOPPING=1") }

  /// What is being done takes longer than systemd would wait.
  static func extendTimeout(bySeconds seconds: Int) { notify("EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000)") }

  static func watchdog() { notify("WATCHDOG=1") }

  /// How often the watchdog wants to hear of us; nil when there is none.
  static func watchdogMicroseconds() -> UInt64? {
    var interval: UInt64 = 0
    return sd_watchdog_enabled(0, &interval) > 0 ? interval : nil
  }

  /// Sockets that systemd listens on for us. They are ours from the first call on; children do not inherit them.
  ///
  /// Unless the unit says NonBlocking=yes they come blocking, and the loop accepts until there is nobody left.
  static func listeningSockets() -> [Int32] {
    let count = sd_listen_fds(1)
    guard count > 0 else { return [] }
    return (0..<count).map { SD_LISTEN_FDS_START + $0 }.filter {
      sd_is_socket_unix($0, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0
        && fcntl($0, F_SETFL, fcntl($0, F_GETFL) | O_NONBLOCK) == 0
    }
  }

  /// Over a socket that is kept. sd_notify(3) makes one for each message and cannot when no descriptor is left: then
  /// systemd would not hear of the watchdog, and would end a daemon that works.
  ///
  /// It never waits: a manager that reads nothing for a while holds up no reminder. What tells of a state that lasts goes to
  /// it later, from a thread of its own; a status and a sign of life are followed by others.
  private static func notify(_ state: String) {
    guard let channel else { return }
    let isFleeting = state.hasPrefix("STATUS=") || state.hasPrefix("WATCHDOG=")
    let begins = owed.withLock { owed in
      if owed.isEmpty, channel.send(state, Int32(MSG_DONTWAIT)) { return false }
      guard !isFleeting, owed.count < mostOwed else { return false }
      owed.append(state)
      return owed.count == 1
    }
    guard begins else { return }
    DispatchQueue(label: "io.chime.notify").async {
      while let first = owed.withLock({ $0.first }) {
        _ = channel.send(first, 0)
        owed.withLock { _ = $0.removeFirst() }
      }
    }
  }

  /// What the manager has not taken yet, the oldest first.
  private static let owed = Mutex<[String]>([])
  /// A daemon that is reloaded again and again tells twice each time.
  private static let mostOwed = 64

  private struct Channel {
    let socket: Int32
    let address: sockaddr_un
    let length: socklen_t

    /// False when it cannot be taken now. A manager that is gone takes everything.
    func send(_ state: String, _ flags: Int32) -> Bool {
      var address = address
      let count = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(socket, state, state.utf8.count, Int32(MSG_NOSIGNAL) | flags, $0, length)
        }
      }
      return count >= 0 || errno != EAGAIN
    }
  }

  /// Made with the first message, which is sent before a client is let in; nil where nobody listens.
  private static let channel: Channel? = {
    // A path, or an abstract name behind an @ (sd_notify(3), $NOTIFY_SOCKET).
    guard let name = getenv("NOTIFY_SOCKET").map({ Array(String(cString: $0).utf8) }),
      let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
      let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)
    else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let isAbstract = first == UInt8(ascii: "@")
    if isAbstract { address.sun_path.0 = 0 }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    return Channel(
      socket: descriptor, address: address, length: socklen_t(start + name.count + (isAbstract ? 0 : 1)))
  }()

  private static func oneLine(_ text: String) -> String {
    // A line of its own would be an order of its own.
    Log.line(text)
  }
}
