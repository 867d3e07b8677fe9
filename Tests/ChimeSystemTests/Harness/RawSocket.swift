import Foundation

/// A connection to the control socket at the level of the wire: bytes, and a NUL after each message.
///
/// It is independent of the product's `Varlink`, so that common errors are found. Its calls block; use `blocking` in tests.
final class RawSocket: Sendable {
  private let descriptor: Int32

  init(path: String, timeout: Int = 20) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: timeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let descriptor = descriptor
    // From here on, deinit closes the descriptor on a throw; closing it here too could close another test's descriptor
    // of the same number.
    guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw HarnessFailure("cannot connect to \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Returns false if the peer has closed.
  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Returns the next message without its NUL; nil if the peer closes first.
  func receive() throws -> [UInt8]? {
    var message: [UInt8] = []
    var byte: UInt8 = 0
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      // Peek first and read only up to the NUL: the rest belongs to the next message.
      let seen = recv(descriptor, &chunk, chunk.count, Int32(MSG_PEEK))
      if seen < 0, errno == EINTR { continue }
      if seen < 0, errno == EAGAIN { throw HarnessFailure("no answer in time") }
      guard seen > 0 else { return nil }
      let end = chunk[..<seen].firstIndex(of: 0)
      let wanted = end ?? seen
      if wanted > 0 {
        let taken = recv(descriptor, &chunk, wanted, 0)
        guard taken > 0 else { return nil }
        message += chunk[..<taken]
        if taken < wanted { continue }
      }
      if end != nil {
        recv(descriptor, &byte, 1, 0)
        return message
      }
    }
  }

  /// Calls a method and returns the reply's parameters, or the error's name and parameters.
  func call(_ method: String, _ parameters: JSON = [:]) throws -> Answer {
    guard send(try JSON.object(["method": .string(method), "parameters": parameters]).bytes + [0]) else {
      throw Disconnected()
    }
    guard let reply = try receive() else { throw Disconnected() }
    let message = try JSON(parsing: String(decoding: reply, as: UTF8.self))
    return Answer(error: message["error"].string, parameters: message["parameters"])
  }

  struct Answer: Sendable {
    let error: String?
    let parameters: JSON
  }

  struct Disconnected: Error {}
}
