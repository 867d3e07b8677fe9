import FoundationEssentials
import Glibc

/// Reminders that are written directly into a store, faster than a client could add them.
struct Population {
  struct Group {
    var count: Int
    /// The due second of the first reminder.
    var first: Int64
    /// The number of seconds over which they are spread.
    var seconds = 1
    var isDaily = false
    var channel: String
    /// The beginning of their titles; the second and a number follow.
    var title = "bench"
  }

  var groups: [Group]

  /// Stops the daemon, writes the reminders, and starts it again; returns the start time in milliseconds.
  func settle(in daemon: MeasuredDaemon, _ bench: Bench) throws -> Double {
    daemon.stop()
    let lines = groups.map {
      "\($0.count) \($0.first) \($0.seconds) \($0.isDaily ? "daily" : "once") \($0.channel) \($0.title)\n"
    }
    let input = daemon.folder + "/population"
    guard FileManager.default.createFile(atPath: input, contents: Data(lines.joined().utf8)) else {
      throw BenchFailure(call: input)
    }
    _ = try Program.output(
      bench.peer("populate"), [daemon.folder + "/state/chime.db", "\(getuid())"], input: input)
    return try daemon.start()
  }
}

/// A service manager's notification socket (sd_notify(3)).
final class NoticeSocket {
  let path: String
  private let descriptor: Int32

  init(path: String) throws(BenchFailure) {
    self.path = path
    unlink(path)
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = path.utf8.count < MemoryLayout.size(ofValue: address.sun_path)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      for (index, byte) in path.utf8.enumerated() where index < room.count - 1 { room[index] = byte }
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard fits, code == 0 else { throw BenchFailure(call: path) }
  }

  deinit { close(descriptor) }

  /// Waits for READY; returns false on a timeout.
  func waitForReady(seconds: Int) -> Bool {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { return false }
      if String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").contains("READY=1") { return true }
    }
  }
}
