import ChimeWords
import Glibc

/// The few things the command does with files.
enum Files {
  /// The bytes of a file, at most `limit` of them; `nil`, with the reason in `errno`, when it cannot be read or is longer.
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

  /// Writes all of the bytes; `false`, with the reason in `errno`, when that fails.
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

  /// Makes a file that is not there yet, readable by its owner alone.
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

  /// Makes a folder that may be there already, with those above it; what it makes is its owner's alone.
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

  /// Makes a new name durable, where the file system can.
  static func synchronizeFolder(of path: String) {
    let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// The names in a directory, in order; empty when it cannot be read.
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

  /// Does something that must not change what `errno` says.
  static func keepingErrno(_ body: () -> Void) {
    let kept = errno
    body()
    errno = kept
  }
}
