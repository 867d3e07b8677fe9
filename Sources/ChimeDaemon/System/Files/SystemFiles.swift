import Glibc

/// A call to the system that failed, with the system's own word for it.
package struct SystemError: Error, Hashable, Sendable {
  package let call: String
  package let code: Int32

  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  /// What the system says, such as "No such file or directory".
  package var reason: String {
    var buffer = [CChar](repeating: 0, count: 256)
    // The GNU strerror_r is not imported; the POSIX one fills the buffer.
    _ = strerror_r(code, &buffer, buffer.count)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Small whole files and folders.
enum SystemFiles {
  /// Reads a regular file of at most `limit` bytes.
  static func read(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("stat \(path)") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("read \(path)", code: EISDIR) }
    guard status.st_size <= limit else { throw SystemError("read \(path)", code: EFBIG) }
    var bytes = [UInt8]()
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read \(path)") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    throw SystemError("read \(path)", code: EFBIG)
  }

  /// Writes a file so that it is either the old one or the new one whole, whatever happens in between, and is there for
  /// good on return.
  static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(SystemError) {
    let temporary = Self.temporary(of: path)
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw SystemError("create \(temporary)") }
    var failure: SystemError?
    var written = 0
    while written < bytes.count, failure == nil {
      let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { failure = SystemError("write \(temporary)") } else { written += count }
    }
    if failure == nil, fsync(descriptor) != 0 { failure = SystemError("fsync \(temporary)") }
    close(descriptor)
    if failure == nil, rename(temporary, path) != 0 { failure = SystemError("rename \(temporary)") }
    if let failure {
      unlink(temporary)
      throw failure
    }
    synchronizeFolder(folder(of: path))
  }

  /// What `replace` writes first: hidden, so that it is no other file's name.
  private static func temporary(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    return "\(folder(of: path))/.\(name).new"
  }

  /// Removes what `replace` was writing in this folder when the daemon was killed. To be called while nobody writes there.
  static func removeLeftovers(in folder: String) {
    for name in names(in: folder) where name.hasPrefix(".") && name.hasSuffix(".new") { remove("\(folder)/\(name)") }
  }

  /// The size of a file in bytes; nil when there is none.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Removes a file for good, if it is there.
  static func remove(_ path: String) {
    if unlink(path) == 0 { synchronizeFolder(folder(of: path)) }
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Makes what was named or removed in the folder durable. A file system that cannot is no reason to refuse the change.
  static func synchronizeFolder(_ path: String) {
    let descriptor = open(path.isEmpty ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Makes a folder and those above it that are missing, each with `mode`, and for good: a file is no safer than its folder.
  static func makeFolder(_ path: String, mode: mode_t) throws(SystemError) {
    if makeOne(path, mode: mode) { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw SystemError("mkdir \(path)")
    }
    try makeFolder(String(path[..<slash]), mode: mode)
    guard makeOne(path, mode: mode) else { throw SystemError("mkdir \(path)") }
  }

  /// False, with the reason in `errno`, when it cannot be made.
  private static func makeOne(_ path: String, mode: mode_t) -> Bool {
    guard mkdir(path, mode) == 0 else { return errno == EEXIST }
    synchronizeFolder(folder(of: path))
    return true
  }

  /// Why a folder is not to be used: somebody else than this user and root could exchange what is in it, or has put
  /// something there. Nil when nothing is wrong; a sentence without a full stop otherwise.
  ///
  /// In a folder like /tmp (the sticky bit, unlink(2)) files of one's own are one's own.
  ///
  /// - Parameter contents: whether what is in it counts too.
  static func distrust(_ path: String, contents: Bool) -> String? {
    if let fault = distrustWay(to: path) { return fault }
    var status = stat()
    guard stat(path, &status) == 0 else { return "\(path) cannot be accessed: \(SystemError("stat").reason)" }
    guard isOurs(status.st_uid) else {
      return "\(path) belongs to another user (\(status.st_uid)), who could replace its content"
    }
    guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
      return "other users may write to \(path) (mode \(String(status.st_mode & 0o7777, radix: 8))): chmod go-w \(path)"
    }
    guard contents else { return nil }
    for name in names(in: path) {
      guard lstat("\(path)/\(name)", &status) == 0, !isOurs(status.st_uid) else { continue }
      return "\(path)/\(name) belongs to another user (\(status.st_uid))"
    }
    return nil
  }

  private static func isOurs(_ owner: uid_t) -> Bool { owner == geteuid() || owner == 0 }

  /// Why the way to a folder is not to be trusted: somebody else has put a link there, or may put one in the place of what
  /// is there. Nil when nothing is wrong; what is not there is judged by whoever opens it.
  private static func distrustWay(to path: String) -> String? {
    var folder = path.hasPrefix("/") ? "/" : "."
    var rest = path.split(separator: "/").map(String.init)[...]
    // As many as the kernel follows (path_resolution(7)).
    var links = 40
    while let name = rest.popFirst() {
      if name == "." { continue }
      let place = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      var parent = stat()
      var status = stat()
      guard stat(folder, &parent) == 0, lstat(place, &status) == 0 else { return nil }
      if parent.st_mode & S_IWOTH != 0, parent.st_mode & S_ISVTX == 0, name != ".." {
        return "all users may write to \(folder), and so replace \(name) there: chmod o-w \(folder)"
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        folder = place
        continue
      }
      guard isOurs(status.st_uid) else {
        return "\(place) is a link of another user (\(status.st_uid)), who can change its target"
      }
      links -= 1
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      let length = readlink(place, &target, target.count - 1)
      guard links > 0, length > 0 else { return "\(place) is a link without a target" }
      let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix("/") { folder = "/" }
      rest = (text.split(separator: "/").map(String.init) + rest)[...]
    }
    return nil
  }

  /// The names in a folder, without `.` and `..`; none when it cannot be read.
  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
