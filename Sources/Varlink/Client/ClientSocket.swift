import Glibc

/// A ClientSocket is a connected, non-blocking Unix stream socket with deadlines. Releasing it closes it.
struct ClientSocket: ~Copyable {
  private let descriptor: Int32

  init(_ address: VarlinkAddress, deadline: ContinuousClock.Instant?) throws(VarlinkClientError) {
    descriptor = try Self.connected(address, deadline: deadline)
  }

  deinit { close(descriptor) }

  /// Returns the user id of the process that called listen(2) (unix(7), "SO_PEERCRED").
  borrowing func peerUserID() -> UInt32? {
    // The layout of `struct ucred`, which Glibc's module does not export.
    var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    return credentials.user
  }

  /// Returns the descriptor for poll(2).
  borrowing func number() -> Int32 { descriptor }

  /// Returns whether a read would return at once, with bytes or with the end of the stream.
  borrowing func hasBytes() throws(VarlinkClientError) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let result = poll(&entry, 1, 0)
      if result >= 0 { return result > 0 }
      if errno != EINTR { throw .system(operation: "poll", errno: errno) }
    }
  }

  /// Writes all bytes.
  ///
  /// - Returns: `false` if the service has closed the connection. Its last reply may still be readable.
  borrowing func write(
    _ bytes: [UInt8], deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 {
        written += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: POLLOUT, deadline: deadline)
      case EPIPE, ECONNRESET: return false
      default: throw .system(operation: "send", errno: errno)
      }
    }
    return true
  }

  /// Waits for the first byte and reads what is available.
  ///
  /// - Returns: The number of bytes; 0 at the end of the stream.
  borrowing func read(
    into buffer: inout [UInt8], deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) -> Int {
    while true {
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: POLLIN, deadline: deadline)
      case ECONNRESET: return 0
      default: throw .system(operation: "recv", errno: errno)
      }
    }
  }

  /// Returns the text of an error number.
  static func message(_ number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private borrowing func wait(
    for events: Int32, deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let result = poll(&entry, 1, try Self.milliseconds(until: deadline))
    if result < 0, errno != EINTR { throw .system(operation: "poll", errno: errno) }
  }

  /// Returns the poll(2) timeout, rounded up; -1 for none.
  private static func milliseconds(
    until deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) -> Int32 {
    guard let deadline else { return -1 }
    let left = ContinuousClock.now.duration(to: deadline)
    guard left > .zero else { throw .timedOut }
    return Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up)))
  }

  private static func sleep(
    _ duration: Duration, deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) {
    let most = Int32(clamping: Int64(duration / .milliseconds(1)))
    let left = try milliseconds(until: deadline)
    _ = poll(nil, 0, left < 0 ? most : min(most, left))
  }

  /// Returns a connected descriptor. It is closed on failure.
  private static func connected(
    _ address: VarlinkAddress, deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", errno: errno) }
    do throws(VarlinkClientError) {
      while let failure = connect(descriptor, address) {
        switch failure {
        case EINTR: continue
        // The service's backlog is full. Unix sockets have no event for that, so retry shortly.
        case EAGAIN: try sleep(.milliseconds(5), deadline: deadline)
        case ENOENT: throw .noSocket(address)
        case ECONNREFUSED: throw .refused(address)
        default: throw .system(operation: "connect", errno: failure)
        }
      }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Connects and returns the error number; `nil` on success.
  private static func connect(_ descriptor: Int32, _ address: VarlinkAddress) -> Int32? {
    var raw = sockaddr_un()
    raw.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: address.path.utf8) }
    let length: Int
    if address.isAbstract {
      // An abstract name begins with NUL, and the length marks its end.
      raw.sun_path.0 = 0
      length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + address.path.utf8.count } ?? 0
    } else {
      length = MemoryLayout<sockaddr_un>.size
    }
    let result = withUnsafePointer(to: &raw) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(length))
      }
    }
    return result == 0 ? nil : errno
  }
}
