import CSystemd
import Dispatch
import Glibc
import Synchronization

/// The interface to systemd (sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3)). Without systemd it does nothing.
enum ServiceManager {
  static func ready(status: String) { notify("READY=1\nSTATUS=\(oneLine(status))") }

  static func status(_ text: String) { notify("STATUS=\(oneLine(text))") }

  static func reloading() {
    notify("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonicMicroseconds)")
  }

  static func stopping() { notify("STOPPING=1") }

  /// Extends systemd's start or stop timeout for slow work.
  static func extendTimeout(bySeconds seconds: Int) { notify("EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000)") }

  static func watchdog() { notify("WATCHDOG=1") }

  /// Returns the watchdog's timeout; nil if there is no watchdog.
  static func watchdogMicroseconds() -> UInt64? {
    var interval: UInt64 = 0
    return sd_watchdog_enabled(0, &interval) > 0 ? interval : nil
  }

  /// Returns the listening sockets from systemd and takes ownership with the first call; children do not inherit them.
  ///
  /// They are blocking unless the unit sets NonBlocking=yes. The loop accepts until EAGAIN, so they are made non-blocking.
  static func listeningSockets() -> [Int32] {
    let count = sd_listen_fds(1)
    guard count > 0 else { return [] }
    return (0..<count).map { SD_LISTEN_FDS_START + $0 }.filter {
      sd_is_socket_unix($0, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0
        && fcntl($0, F_SETFL, fcntl($0, F_GETFL) | O_NONBLOCK) == 0
    }
  }

  /// Sends a notification over a socket that stays open. sd_notify(3) opens one for each message and fails without a free
  /// descriptor. systemd would then miss the watchdog and kill a working daemon.
  ///
  /// It never blocks, so a manager that stops reading delays no reminder. Lasting states are sent later from another
  /// thread. A status or watchdog message is dropped, because others follow.
  private static func notify(_ state: String) {
    guard let channel else { return }
    let isFleeting = state.hasPrefix("STATUS=") || state.hasPrefix("WATCHDOG=")
    let begins = pending.withLock { pending in
      if pending.isEmpty, channel.send(state, Int32(MSG_DONTWAIT)) { return false }
      guard !isFleeting, pending.count < mostPending else { return false }
      pending.append(state)
      return pending.count == 1
    }
    guard begins else { return }
    DispatchQueue(label: "io.chime.notify").async {
      while let first = pending.withLock({ $0.first }) {
        _ = channel.send(first, 0)
        pending.withLock { _ = $0.removeFirst() }
      }
    }
  }

  /// Messages that the manager has not taken yet, oldest first.
  private static let pending = Mutex<[String]>([])
  /// Each reload sends two lasting states.
  private static let mostPending = 64

  private struct Channel {
    let socket: Int32
    let address: sockaddr_un
    let length: socklen_t

    /// Sends a message. Returns false if it would block. A manager that is gone counts as success.
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

  /// The socket, created with the first message, before any client connects; nil without a manager.
  private static let channel: Channel? = {
    // A path, or an abstract name after an @ (sd_notify(3), $NOTIFY_SOCKET).
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
    // A second line would be a second command.
    Log.line(text)
  }
}
