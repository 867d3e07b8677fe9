import CZlib

/// ZipArchive reads zip archives: stored or deflated files, without encryption, in one part, without ZIP64.
///
/// Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.4.
enum ZipArchive {
  static let signature: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
  /// The largest total size of the unpacked files, in bytes.
  static let longest = 64 << 20
  static let mostFiles = 5_000

  /// - Parameter isWanted: Returns whether to unpack the file with a path.
  /// - Throws: ``ExchangeError`` if the archive is broken or too large.
  static func files(
    in archive: [UInt8], where isWanted: (String) -> Bool
  ) throws(ExchangeError) -> [(path: String, bytes: [UInt8])] {
    func number(_ at: Int, _ width: Int) -> Int? {
      guard at >= 0, at + width <= archive.count else { return nil }
      return (0..<width).reduce(0) { $0 | Int(archive[at + $1]) << (8 * $1) }
    }
    let broken = ExchangeError(line: nil, "this is not a valid zip archive")
    // The end of the central directory. A comment may follow it.
    var end = archive.count - 22
    while end >= max(0, archive.count - 22 - 0xFFFF), number(end, 4) != 0x0605_4B50 { end -= 1 }
    guard end >= 0, number(end, 4) == 0x0605_4B50, let count = number(end + 10, 2), var entry = number(end + 16, 4)
    else {
      throw broken
    }
    try need(count <= mostFiles, line: nil, "the archive has more than \(mostFiles) files")
    var files: [(path: String, bytes: [UInt8])] = []
    var rest = longest
    for _ in 0..<count {
      guard number(entry, 4) == 0x0201_4B50, let flags = number(entry + 8, 2), let method = number(entry + 10, 2),
        let checksum = number(entry + 16, 4), let packed = number(entry + 20, 4), let size = number(entry + 24, 4),
        let nameLength = number(entry + 28, 2), let extra = number(entry + 30, 2), let comment = number(entry + 32, 2),
        let header = number(entry + 42, 4), entry + 46 + nameLength <= archive.count
      else { throw broken }
      let path = String(decoding: archive[entry + 46..<entry + 46 + nameLength], as: UTF8.self)
      entry += 46 + nameLength + extra + comment
      guard isWanted(path) else { continue }
      try need(flags & 1 == 0, line: nil, "\(quoted(path)) in the archive is encrypted")
      guard number(header, 4) == 0x0403_4B50, let ownName = number(header + 26, 2),
        let ownExtra = number(header + 28, 2),
        header + 30 + ownName + ownExtra + packed <= archive.count
      else { throw broken }
      try need(size <= rest, line: nil, "the content of the archive has more than \(longest >> 20) MiB")
      let data = archive[(header + 30 + ownName + ownExtra)...].prefix(packed)
      let bytes: [UInt8]?
      switch method {
      case 0: bytes = Array(data)
      case 8: bytes = inflated(data, to: size)
      default: throw ExchangeError(line: nil, "the compression of \(quoted(path)) in the archive is not supported")
      }
      guard let bytes, bytes.count == size, Int(checksum32(bytes)) == checksum else {
        throw ExchangeError(line: nil, "\(quoted(path)) in the archive is damaged")
      }
      rest -= size
      files.append((path, bytes))
    }
    return files
  }

  /// Returns the CRC-32 of ISO 3309.
  static func checksum32(_ bytes: [UInt8]) -> UInt32 { UInt32(truncatingIfNeeded: crc32_z(0, bytes, bytes.count)) }

  /// Inflates raw DEFLATE data (RFC 1951); `nil` if it is broken or does not give exactly `size` bytes.
  static func inflated(_ data: ArraySlice<UInt8>, to size: Int) -> [UInt8]? {
    // DEFLATE cannot compress more than this, so a small archive cannot make Chime allocate much memory.
    guard size <= 1_032 * (data.count + 1) else { return nil }
    var stream = z_stream()
    guard inflateInit2_(&stream, -MAX_WBITS, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      return nil
    }
    defer { inflateEnd(&stream) }
    // One extra byte detects data that is longer than `size`.
    var bytes = [UInt8](repeating: 0, count: size + 1)
    let end = data.withUnsafeBytes { packed in
      bytes.withUnsafeMutableBytes { room in
        // zlib reads this buffer and never writes to it.
        stream.next_in = UnsafeMutablePointer(mutating: packed.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(packed.count)
        stream.next_out = room.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(room.count)
        return inflate(&stream, Z_FINISH)
      }
    }
    guard end == Z_STREAM_END, stream.total_out == UInt(size) else { return nil }
    bytes.removeLast()
    return bytes
  }
}
