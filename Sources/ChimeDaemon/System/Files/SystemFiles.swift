import FoundationEssentials
import Glibc

/// A SystemError is a failed system call with its errno.
package struct SystemError: Error, Hashable, Sendable {
  package let call: String
  package let code: Int32

  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  /// The system's message, such as "No such file or directory".
  package var reason: String {
    var buffer = [CChar](repeating: 0, count: 256)
    // The GNU strerror_r is not imported; the POSIX version fills the buffer.
    _ = strerror_r(code, &buffer, buffer.count)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Operations on small files and on folders.
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

  /// Replaces a file atomically and durably: after a crash it is either the old or the new one.
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

  /// The temporary name for `replace`. It is hidden, so it is no other file's name.
  private static func temporary(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    return "\(folder(of: path))/.\(name).new"
  }

  /// Deletes the temporary files of `replace` that a killed daemon left in this folder. Call it while nobody writes there.
  static func removeLeftovers(in folder: String) {
    for name in names(in: folder) where name.hasPrefix(".") && name.hasSuffix(".new") { remove("\(folder)/\(name)") }
  }

  /// Returns the size of a file in bytes; nil if it does not exist.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Removes a file durably, if it exists.
  static func remove(_ path: String) {
    if unlink(path) == 0 { synchronizeFolder(folder(of: path)) }
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Makes creations and removals in a folder durable. A file system without support for this is not an error.
  static func synchronizeFolder(_ path: String) {
    let descriptor = open(path.isEmpty ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Creates a folder and its missing parents durably, each with `mode`. A file is as durable as its folder.
  static func makeFolder(_ path: String, mode: mode_t) throws(SystemError) {
    if makeOne(path, mode: mode) { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw SystemError("mkdir \(path)")
    }
    try makeFolder(String(path[..<slash]), mode: mode)
    guard makeOne(path, mode: mode) else { throw SystemError("mkdir \(path)") }
  }

  /// Returns false with the reason in `errno` if the folder cannot be created.
  private static func makeOne(_ path: String, mode: mode_t) -> Bool {
    guard mkdir(path, mode) == 0 else { return errno == EEXIST }
    synchronizeFolder(folder(of: path))
    return true
  }

  /// Returns the reason why a folder is not trusted, as a sentence without a full stop: a user other than this one and
  /// root could replace files in it, or has put files there. Returns nil if it is trusted.
  ///
  /// In a folder with the sticky bit, such as /tmp, a user's own files are safe (unlink(2)).
  ///
  /// - Parameter contents: whether the files in the folder count as well.
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

  /// Returns the reason why the path to a folder is not trusted: another user has put a symbolic link into it, or could
  /// replace a part of it. Returns nil if it is trusted, or if a part does not exist.
  private static func distrustWay(to path: String) -> String? {
    var folder = path.hasPrefix("/") ? "/" : "."
    var rest = path.split(separator: "/").map(String.init)[...]
    // The limit of the kernel (path_resolution(7)).
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

  /// Returns the names in a folder without `.` and `..`; none if it cannot be read.
  static func names(in path: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }
}
