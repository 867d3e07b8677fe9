import Glibc

/// Facts about the process.
enum ProcessFacts {
  static var pid: Int { Int(getpid()) }

  /// The host name.
  static var machine: String {
    var bytes = [CChar](repeating: 0, count: 256)
    gethostname(&bytes, bytes.count - 1)
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The resident memory in bytes (proc(5), statm); 0 if unknown.
  static var residentBytes: Int {
    guard let descriptor = Optional(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)), descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = read(descriptor, &buffer, buffer.count)
    let fields = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
