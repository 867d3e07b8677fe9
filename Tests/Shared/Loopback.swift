import Glibc

/// A server socket at 127.0.0.1, for receivers that violate HTTP.
enum Loopback {
  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  /// Listens on a free port; the caller closes the descriptor.
  static func listen(backlog: Int32) throws -> (descriptor: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isUp = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && Glibc.listen(listener, backlog) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isUp else {
      let reason = String(cString: strerror(errno))
      close(listener)
      throw Refused(description: "no server: \(reason)")
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }
}
