import Glibc

/// The file for node_exporter's textfile collector. It is complete at any moment, readable by everyone, and removed when
/// it is no longer updated, so that no stale number is collected.
struct MetricsFile: Sendable {
  let path: String

  /// Writes to a temporary name that the collector ignores, and renames the file. It is not synced: the next one follows
  /// in seconds, and after a power failure the last one is useless.
  func write(_ text: String) throws(SystemError) {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let temporary = "\(path[..<slash]).\(path[slash...]).new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw SystemError("create \(temporary)") }
    var failure: SystemError?
    // The units' umask would make the file private.
    if fchmod(descriptor, 0o644) != 0 { failure = SystemError("chmod \(temporary)") }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count, failure == nil {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { failure = SystemError("write \(temporary)") } else { written += count }
    }
    close(descriptor)
    if failure == nil, rename(temporary, path) != 0 { failure = SystemError("rename \(temporary)") }
    if let failure {
      unlink(temporary)
      throw failure
    }
  }

  func remove() { unlink(path) }
}
