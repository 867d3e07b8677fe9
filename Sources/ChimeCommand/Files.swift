import ChimeWords
import Glibc

/// File operations of the command.
enum Files {
  /// Returns a file's bytes; `nil`, with the reason in `errno`, if it cannot be read or exceeds `limit`.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { keepingErrno { close(descriptor) } }
    return read(descriptor, limit: limit)
  }

  static func read(_ descriptor: Int32, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while true {
      let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { part in
        let count = Glibc.read(descriptor, part.baseAddress, part.count)
        if count > 0 { bytes.append(contentsOf: part[..<count]) }
        return count
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      guard bytes.count <= limit else {
        errno = EFBIG
        return nil
      }
    }
  }

  /// Writes all bytes; `false`, with the reason in `errno`, when that fails.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      written += count
    }
    return true
  }

  /// Creates a file that must not exist yet, readable only by its owner.
  static func create(_ path: String, _ bytes: [UInt8]) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let problem = localized("cannot write %1", path)
    guard descriptor >= 0 else { throw Failure.system(problem, errno: errno) }
    let isWritten = write(bytes, to: descriptor) && fsync(descriptor) == 0
    let code = errno
    Glibc.close(descriptor)
    guard isWritten else {
      unlink(path)
      throw Failure.system(problem, errno: code)
    }
  }

  /// Creates a folder and its parents with mode 0700; existing ones stay as they are.
  static func makeFolder(_ path: String) throws {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
        throw Failure.system(localized("cannot create the folder %1", made), errno: errno)
      }
    }
  }

  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
  }

  /// Makes a new directory entry durable, where the file system supports it.
  static func synchronizeFolder(of path: String) {
    let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Returns the sorted names in a directory without hidden ones; empty if it cannot be read.
  static func entries(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// Runs a cleanup without changing `errno`.
  static func keepingErrno(_ body: () -> Void) {
    let kept = errno
    body()
    errno = kept
  }
}
