/// An encoder for test pictures.
enum TestPicture {
  /// Returns a PNG of a sunrise with uncompressed pixels.
  ///
  /// Source: PNG (W3C, third edition), zlib (RFC 1950), deflate's stored blocks (RFC 1951, 3.2.4).
  static func png(width: Int, height: Int, chunks: [(String, [UInt8])] = []) -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        let (dx, dy) = (x - width / 2, y - height * 2 / 3)
        let isSun = dx * dx + dy * dy < height * height / 14
        let isGround = y > height * 2 / 3
        let share = Double(y) / Double(height)
        if isGround {
          rows += [UInt8(38 + share * 20), UInt8(62 + share * 24), 70]
        } else if isSun {
          rows += [250, 214, 130]
        } else {
          rows += [UInt8(120 + share * 120), UInt8(150 + share * 30), UInt8(190 - share * 60)]
        }
      }
    }
    var stream: [UInt8] = [0x78, 0x01]
    var rest = rows[...]
    while !rest.isEmpty {
      let part = rest.prefix(65_535)
      rest = rest.dropFirst(65_535)
      let length = UInt16(part.count)
      stream += [
        rest.isEmpty ? 1 : 0, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8),
      ]
      stream += part
    }
    stream += bytes(adler(rows))
    let header = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 2, 0, 0, 0]
    let all = [("IHDR", header)] + chunks + [("IDAT", stream), ("IEND", [])]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + all.flatMap { chunk($0.0, $0.1) }
  }

  private static func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(kind.utf8) + data
    return bytes(UInt32(data.count)) + body + bytes(crc(body))
  }

  private static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 255) } }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    var (a, b) = (UInt32(1), UInt32(0))
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return b << 16 | a
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
  }
}
