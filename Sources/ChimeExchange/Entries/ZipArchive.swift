/// The files of a zip archive: stored or deflated, without encryption, not in parts, no ZIP64.
///
/// Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.4.
enum ZipArchive {
  static let signature: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
  /// The most that one archive may come to.
  static let longest = 64 << 20
  static let mostFiles = 5_000

  /// - Parameter isWanted: which files are to be unpacked, by their path.
  /// - Throws: ``ExchangeError`` when it is broken, or comes to too much.
  static func files(
    in archive: [UInt8], where isWanted: (String) -> Bool
  ) throws(ExchangeError) -> [(path: String, bytes: [UInt8])] {
    func number(_ at: Int, _ width: Int) -> Int? {
      guard at >= 0, at + width <= archive.count else { return nil }
      return (0..<width).reduce(0) { $0 | Int(archive[at + $1]) << (8 * $1) }
    }
    let broken = ExchangeError(line: nil, "this is no sound zip archive")
    // The end of the central directory, before which there may be a comment.
    var end = archive.count - 22
    while end >= max(0, archive.count - 22 - 0xFFFF), number(end, 4) != 0x0605_4B50 { end -= 1 }
    guard end >= 0, number(end, 4) == 0x0605_4B50, let count = number(end + 10, 2), var entry = number(end + 16, 4)
    else {
      throw broken
    }
    guard count <= mostFiles else { throw ExchangeError(line: nil, "the archive has more than \(mostFiles) files") }
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
      guard flags & 1 == 0 else { throw ExchangeError(line: nil, "\(quoted(path)) in the archive is encrypted") }
      guard number(header, 4) == 0x0403_4B50, let ownName = number(header + 26, 2),
        let ownExtra = number(header + 28, 2),
        header + 30 + ownName + ownExtra + packed <= archive.count
      else { throw broken }
      guard size <= rest else { throw ExchangeError(line: nil, "the archive comes to more than \(longest >> 20) MiB") }
      let data = archive[(header + 30 + ownName + ownExtra)...].prefix(packed)
      let bytes: [UInt8]?
      switch method {
      case 0: bytes = Array(data)
      case 8: bytes = Inflate.bytes(of: data, atMost: size)
      default: throw ExchangeError(line: nil, "\(quoted(path)) in the archive is packed in a way not known here")
      }
      guard let bytes, bytes.count == size, Int(checksum32(bytes)) == checksum else {
        throw ExchangeError(line: nil, "\(quoted(path)) in the archive is damaged")
      }
      rest -= size
      files.append((path, bytes))
    }
    return files
  }

  /// CRC-32 of ISO 3309.
  static func checksum32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
