import CLinux
import CSystemd
import ChimeCore
import Glibc

/// RuntimePaths has the daemon's user, its files and its access rules. It is created from the environment once, at the
/// top; no other code reads the environment.
package struct RuntimePaths: Sendable {
  package var isSystem: Bool
  package var uid: UInt32
  package var configurationPath: String
  package var configurationIsRequired: Bool
  package var stateFolder: String
  package var storePath: String
  package var socketPath: String
  package var localLink: String
  package var zoneFolder: String
  package var environment: [String: String]
  /// Whether the daemon creates and removes the socket; systemd's socket is not its own.
  package var ownsSocket = true

  /// The access to the endpoints' secrets.
  var secrets: Secrets {
    Secrets(
      folder: stateFolder + "/secrets",
      credentials: environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil },
      credentialOwner: isSystem ? 0 : uid)
  }

  /// The group whose members may use the system daemon.
  static let group = "chime"

  package func loadConfiguration() throws(ConfigurationError) -> LoadedConfiguration {
    try ConfigurationFiles.load(path: configurationPath, isRequired: configurationIsRequired)
  }

  /// Returns the permissions of a peer; nil if it may not use this daemon.
  ///
  /// The user daemon serves its own user and root, both with access to that user's data. The system daemon serves members
  /// of the group, each with access to their own data, and root with access to all.
  func caller(uid: UInt32, gid: UInt32) -> Caller? {
    // The number belongs to a tenant, and no user of the system has such a number.
    if Tenant.isTenant(uid) { return nil }
    guard isSystem else {
      return uid == self.uid || uid == 0 ? Caller(uid: uid, owner: self.uid, sees: nil) : nil
    }
    if uid == 0 { return Caller(uid: 0, owner: 0, sees: nil) }
    return Self.isMember(uid: uid, gid: gid) ? Caller(uid: uid, owner: uid, sees: uid) : nil
  }

  private static func isMember(uid: UInt32, gid: UInt32) -> Bool {
    guard let wanted = SystemUsers.number(ofGroup: group) else { return false }
    return gid == wanted || SystemUsers.groups(of: uid, gid: gid).contains(wanted)
  }

  /// Creates the folder of the socket, and returns the reason if it cannot be used. In another user's folder clients
  /// could be led to another server.
  func prepareSocketFolder() -> String? {
    guard let slash = socketPath.lastIndex(of: "/"), slash != socketPath.startIndex else { return nil }
    let folder = String(socketPath[..<slash])
    do {
      try SystemFiles.makeFolder(folder, mode: 0o700)
    } catch {
      return "\(error.call): \(error.reason)"
    }
    return SystemFiles.distrust(folder, contents: false)
  }

  /// Advice for an unusable folder of the socket, as the end of a sentence.
  var folderRemedy: String {
    if isSystem { return uid == 0 ? "" : "; root has to start the system's chimed: systemctl start chimed" }
    let runtime = environment["XDG_RUNTIME_DIR"] ?? ""
    var status = stat()
    guard runtime.isEmpty || stat(runtime, &status) != 0 else { return "; or choose another path with --socket" }
    return
      "; no login session sets XDG_RUNTIME_DIR: choose a path with --socket PATH, and give the same to chime with "
      + "export CHIME_SOCKET=PATH"
  }

  /// The process that listens on the socket's path, such as `chimed (process 812)`; nil if unknown.
  var listener: String? {
    // The socket is non-blocking, because a listener with a full backlog would block the connect.
    let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, flags, 0)
    guard descriptor >= 0, var address = Self.address(socketPath) else { return nil }
    defer { close(descriptor) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    var peer = chime_peer()
    guard connected == 0, chime_peer_credentials(descriptor, &peer) == 0, peer.pid > 0 else { return nil }
    let name = (try? SystemFiles.read("/proc/\(peer.pid)/comm", atMost: 100)).map {
      String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    return "\(name ?? "another daemon") (process \(peer.pid))"
  }

  /// Returns nil if the path is too long.
  private static func address(_ path: String) -> sockaddr_un? {
    let bytes = Array(path.utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }

  /// Listens on the socket's path, and removes the socket of a dead daemon first.
  func listen() throws(SystemError) -> Int32 {
    guard var address = Self.address(socketPath) else { throw SystemError("bind \(socketPath)", code: ENAMETOOLONG) }
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    do throws(SystemError) {
      try removeLeftover(address)
    } catch {
      close(descriptor)
      throw error
    }
    // The file gets the mode of the socket (unix(7)), so no other user can connect in between. The process's umask is not
    // changed, because other threads create files; the bits that it cleared are set afterwards.
    let mode: mode_t = isSystem ? 0o660 : 0o600
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Bool in
        fchmod(descriptor, mode) == 0 && bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
          && chmod(socketPath, mode) == 0
      }
    }
    let bindError = errno
    guard bound else {
      close(descriptor)
      throw SystemError("bind \(socketPath)", code: bindError)
    }
    guard Glibc.listen(descriptor, 512) == 0 else {
      close(descriptor)
      throw SystemError("listen \(socketPath)")
    }
    return descriptor
  }

  /// Removes the socket of a dead daemon, but no other file and no socket with a listener.
  private func removeLeftover(_ address: sockaddr_un) throws(SystemError) {
    var status = stat()
    guard lstat(socketPath, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError("bind \(socketPath)", code: EEXIST) }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { throw SystemError("socket") }
    defer { close(probe) }
    let connected = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected != 0 else { throw SystemError("bind \(socketPath)", code: EADDRINUSE) }
    unlink(socketPath)
  }

  func removeSocket() {
    if ownsSocket { unlink(socketPath) }
  }
}
