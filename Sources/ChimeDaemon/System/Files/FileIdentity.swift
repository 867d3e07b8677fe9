import Glibc

/// What tells one state of a file from another without reading it.
struct FileIdentity: Hashable, Sendable, CustomStringConvertible {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64

  /// Nil when there is no such file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }

  /// As it is kept across a restart: device numbers may be others after a boot.
  var description: String { "\(inode):\(size):\(seconds).\(nanoseconds)" }
}
