import Glibc

/// Inspects the socket: its kind, its owner, and its listener.
enum SocketProbe {
  /// Inspects the socket file without connecting.
  static func look(at path: String) -> SocketFacts {
    var facts = SocketFacts(path: path)
    var status = stat()
    guard lstat(path, &status) == 0 else {
      facts.kind = errno == ENOENT || errno == ENOTDIR ? .missing : .unreachable
      return facts
    }
    facts.kind = status.st_mode & S_IFMT == S_IFSOCK ? .socket : .other
    facts.mode = status.st_mode & 0o777
    facts.owner = status.st_uid
    facts.group = name(ofGroup: status.st_gid)
    return facts
  }

  /// Connects and disconnects, to find out whether a process listens.
  static func connect(_ facts: inout SocketFacts) {
    let bytes = Array(facts.path.utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      facts.connection = .failed(describe(errno: ENAMETOOLONG))
      return
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, flags, 0)
    guard descriptor >= 0 else {
      facts.connection = .failed(describe(errno: errno))
      return
    }
    defer { close(descriptor) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      switch errno {
      case ECONNREFUSED: facts.connection = .refused
      case EACCES, EPERM: facts.connection = .notPermitted
      // The backlog is full: a process holds the socket but accepts no connection.
      case EAGAIN: facts.connection = .taken
      case let code: facts.connection = .failed(describe(errno: code))
      }
      return
    }
    facts.connection = .taken
    facts.holder = holder(of: descriptor)
  }

  /// Returns the process that called listen(2) (unix(7), "SO_PEERCRED").
  private static func holder(of descriptor: Int32) -> SocketFacts.Holder? {
    // The layout of struct ucred, which the Glibc module does not export: process, user and group.
    var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, credentials.pid > 0 else {
      return nil
    }
    let bytes = Files.read("/proc/\(credentials.pid)/comm", limit: 100) ?? Array("?".utf8)
    let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return SocketFacts.Holder(pid: credentials.pid, userID: credentials.user, name: name)
  }

  private static func name(ofGroup number: UInt32) -> String {
    var entry = group()
    var buffer = [CChar](repeating: 0, count: 16_384)
    // The name points into the buffer, so the buffer must outlive its use.
    return buffer.withUnsafeMutableBufferPointer { buffer in
      var found: UnsafeMutablePointer<group>?
      guard let start = buffer.baseAddress, getgrgid_r(number, &entry, start, buffer.count, &found) == 0, found != nil,
        let name = entry.gr_name
      else { return "\(number)" }
      return String(cString: name)
    }
  }
}
