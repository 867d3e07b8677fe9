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

  private static func notify(_ state: String) { sd_notify(0, state) }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
