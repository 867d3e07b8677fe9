import CSystemd
import Glibc

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
  private static func notify(_ state: String) {
    guard let channel else { return }
    var address = channel.address
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(channel.socket, state, state.utf8.count, Int32(MSG_NOSIGNAL), $0, channel.length)
      }
    }
  }

  /// Made with the first message, which is sent before a client is let in; nil where nobody listens.
  private static let channel: (socket: Int32, address: sockaddr_un, length: socklen_t)? = {
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
    return (descriptor, address, socklen_t(start + name.count + (isAbstract ? 0 : 1)))
  }()

  private static func oneLine(_ text: String) -> String {
    // A line of its own would be an order of its own.
    Log.line(text)
  }
}
