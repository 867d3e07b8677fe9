import Glibc

/// A FileIdentity detects changes of a file without reading it.
struct FileIdentity: Hashable, Sendable, CustomStringConvertible {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64

  /// Returns nil if the file does not exist.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }

  /// The form for comparison across restarts. The device is omitted, because its number may change with a boot.
  var description: String { "\(inode):\(size):\(seconds).\(nanoseconds)" }
}
