import ChimeControl
import ChimeWords
import FoundationEssentials
import Glibc

/// Sends a file to the daemon in parts, with a progress line.
enum Uploading {
  /// The size limit of a file, in bytes.
  static let longest = 256 << 20
  static let longestPhoto = 20 << 20
  /// The size of a part: below 512 KiB, and a multiple of three for base64.
  private static let part = 384 << 10

  /// Sends the file and returns the upload's name for later calls. `-` is standard input.
  static func send(_ path: String, limit: Int = longest, _ context: Context) throws -> String {
    try send(bytes(path, limit: limit, context), called: path, context)
  }

  static func bytes(_ path: String, limit: Int, _ context: Context) throws -> [UInt8] {
    let bytes: [UInt8]
    if path == "-" {
      bytes = context.process.input.all(limit: limit)
    } else if let read = Files.read(path, limit: limit) {
      bytes = read
    } else if errno == EFBIG {
      throw tooLong(path, limit)
    } else {
      throw Failure.system(localized("cannot read %1", path), errno: errno)
    }
    guard bytes.count <= limit else { throw tooLong(path, limit) }
    try need(!bytes.isEmpty, failed: localized("%1 is empty", path))
    return bytes
  }

  private static func tooLong(_ path: String, _ limit: Int) -> Failure {
    .failed(localized("%1 is longer than %2 MiB", path, String(limit >> 20)))
  }

  static func send(_ bytes: [UInt8], called name: String, _ context: Context) throws -> String {
    let daemon = try context.daemon()
    var generator = SystemRandomNumberGenerator()
    let upload = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    let progress = Progress(
      context, localized("Sending %1", TerminalSanitizer.line(name)), total: bytes.count, of: .bytes)
    defer { progress.end() }
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + part, bytes.count)
      let reply: TrackersInterface.Upload.Reply = try daemon.call(
        TrackersInterface.Upload(
          upload: upload, offset: offset, data: Data(bytes[offset..<end]).base64EncodedString()))
      try need(
        reply.received == end, failed: localized("%1 did not arrive completely", name), hint: localized("try again"))
      offset = end
      progress.tell(offset)
    }
    return upload
  }
}
