import Foundation
import Synchronization

/// The receiver of sd_notify(3) messages, in place of a service manager.
final class NotifySocket: Sendable {
  let path: String
  private let descriptor: Int32
  private let heard = Mutex<[String]>([])

  init(path: String) throws {
    self.path = path
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    let bound = withUnixAddress(path) { bind(descriptor, $0, $1) }
    guard descriptor >= 0, bound == 0 else { throw HarnessFailure("cannot listen on \(path)") }
    // The thread ends when close() sends an empty datagram.
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 8_192)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        heard.withLock { $0 += lines }
      }
      Glibc.close(descriptor)
    }
  }

  var lines: [String] { heard.withLock { $0 } }

  func count(of line: String) -> Int { lines.count { $0 == line } }

  func close() {
    let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    _ = withUnixAddress(path) { sendto(sender, nil, 0, 0, $0, $1) }
    Glibc.close(sender)
  }
}

/// Calls `body` with the address of a Unix socket; returns -1 if the path is too long.
func withUnixAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> some BinaryInteger) -> Int {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let fits = withUnsafeMutableBytes(of: &address.sun_path) { buffer in
    guard path.utf8.count < buffer.count else { return false }
    buffer.copyBytes(from: path.utf8)
    return true
  }
  guard fits else { return -1 }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Int(body($0, socklen_t(MemoryLayout<sockaddr_un>.size)))
    }
  }
}
