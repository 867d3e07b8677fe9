import Glibc
import Varlink

/// Serves connections of a Unix socket in one thread with poll(2), as an owner of `ServerConnection`s must.
struct SocketServer {
  struct Failure: Error, CustomStringConvertible {
    var operation: String
    var number: Int32
    var description: String { "\(operation) failed with error \(number)" }
  }

  private let service: VarlinkService
  private let listener: Int32
  private var connections: [Int32: ServerConnection] = [:]
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  init(_ address: VarlinkAddress, service: VarlinkService) throws {
    self.service = service
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw Failure(operation: "socket", number: errno) }
    var raw = sockaddr_un()
    raw.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: address.path.utf8) }
    var length = MemoryLayout<sockaddr_un>.size
    if address.isAbstract {
      raw.sun_path.0 = 0
      length = MemoryLayout<sa_family_t>.size + address.path.utf8.count
    } else {
      unlink(address.path)
    }
    let result = withUnsafePointer(to: &raw) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(length)) }
    }
    guard result == 0 else { throw Failure(operation: "bind", number: errno) }
    guard listen(listener, 64) == 0 else { throw Failure(operation: "listen", number: errno) }
  }

  /// Serves forever.
  mutating func run(_ perform: (VarlinkCall, inout ServerConnection) throws -> Void) throws {
    while true {
      var entries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      for (descriptor, connection) in connections {
        let events = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
      }
      guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else {
        throw Failure(operation: "poll", number: errno)
      }
      for entry in entries where entry.revents != 0 {
        if entry.fd == listener { accept() } else { try serve(entry.fd, Int32(entry.revents), perform) }
      }
    }
  }

  private mutating func accept() {
    let descriptor = Glibc.accept(listener, nil, nil)
    if descriptor >= 0 { connections[descriptor] = ServerConnection(service: service) }
  }

  private mutating func serve(
    _ descriptor: Int32, _ events: Int32, _ perform: (VarlinkCall, inout ServerConnection) throws -> Void
  ) throws {
    guard var connection = connections.removeValue(forKey: descriptor) else { return }
    if connection.wantsRead, events & (POLLIN | POLLHUP) != 0 {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        connection.receive(buffer.span.extracting(0..<count))
      } else if count == 0 {
        connection.receiveEnd()
      } else if errno != EAGAIN, errno != EINTR {
        connection.disconnect()
      }
    } else if events & (POLLERR | POLLHUP | POLLNVAL) != 0 {
      connection.disconnect()
    }
    // Writing makes room for delayed calls, and calls produce more to write.
    var isProgressing = true
    while isProgressing {
      isProgressing = false
      while let action = connection.next() {
        isProgressing = true
        switch action {
        case .perform(let call): try perform(call, &connection)
        case .upgrade, .close:
          close(descriptor)
          return
        }
      }
      var failure: Int32 = 0
      let before = connection.queuedBytes
      connection.flush { bytes in
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        if count < 0 { failure = errno }
        return count
      }
      if failure != 0, failure != EAGAIN, failure != EINTR { connection.disconnect() }
      isProgressing = isProgressing || connection.queuedBytes != before
    }
    connections[descriptor] = connection
  }
}
