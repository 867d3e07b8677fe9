import Glibc

/// The file that node_exporter's textfile collector reads: whole at any moment, readable by everybody, and gone when nobody
/// writes it any more, so that no number is believed that has grown stale.
struct MetricsFile: Sendable {
  let path: String

  /// Writes it under a name that no collector looks for, and renames it. It is not made durable: the next one comes in
  /// seconds, and after a power cut nobody wants the last one.
  func write(_ text: String) throws(SystemError) {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let temporary = "\(path[..<slash]).\(path[slash...]).new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw SystemError("create \(temporary)") }
    var failure: SystemError?
    // The umask of the units keeps everything else private.
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
