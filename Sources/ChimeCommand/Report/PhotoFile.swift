/// A picture file, its format, and a copy without the camera's metadata.
///
/// A photo records place, device and time, which the recipient of a report must not learn. Of Exif only the orientation
/// stays, without which a portrait would lie on its side. Color profiles stay too.
///
/// Sources: JPEG (ITU-T T.81, annex B), Exif 2.32 (4.6.4, orientation), PNG (W3C, third edition, 5.6), the WebP
/// container specification, GIF89a.
enum PhotoFile {
  enum Kind: String, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case webp = "image/webp"
    case gif = "image/gif"
  }

  /// Returns the format and the cleaned bytes; nil for formats that not every browser shows, and for truncated files.
  static func clean(_ bytes: [UInt8]) -> (kind: Kind, bytes: [UInt8])? {
    switch kind(bytes) {
    case .jpeg: jpeg(bytes).map { (.jpeg, $0) }
    case .png: png(bytes).map { (.png, $0) }
    case .webp: webp(bytes).map { (.webp, $0) }
    case .gif: (.gif, bytes)
    case nil: nil
    }
  }

  static func kind(_ bytes: [UInt8]) -> Kind? {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    if bytes.starts(with: Array("GIF8".utf8)) { return .gif }
    let isRIFF = bytes.count > 12 && bytes.starts(with: Array("RIFF".utf8))
    return isRIFF && bytes[8..<12].elementsEqual("WEBP".utf8) ? .webp : nil
  }

  // MARK: JPEG

  private static func jpeg(_ bytes: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = [0xFF, 0xD8]
    var orientation: UInt8?
    var kept: [ArraySlice<UInt8>] = []
    var at = 2
    while at + 4 <= bytes.count {
      guard bytes[at] == 0xFF else { return nil }
      let marker = bytes[at + 1]
      if marker == 0xFF {
        at += 1
        continue
      }
      // The picture data begins: keep the rest.
      if marker == 0xDA {
        if let orientation { result += exif(orientation) }
        // Cut at the end of the picture, because phones append a video or a second picture.
        return result + kept.flatMap { $0 } + bytes[at..<end(of: bytes, from: at)]
      }
      let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
      let next = at + 2 + length
      guard length >= 2, next <= bytes.count else { return nil }
      let body = bytes[(at + 4)..<next]
      switch marker {
      case 0xE1: orientation = orientation ?? self.orientation(body)
      // JFIF, color profile and Adobe's transform define the colors.
      case 0xE0, 0xEE: kept.append(bytes[at..<next])
      case 0xE2: if body.starts(with: Array("ICC_PROFILE".utf8)) { kept.append(bytes[at..<next]) }
      case 0xE3...0xEF, 0xFE: break
      default: kept.append(bytes[at..<next])
      }
      at = next
    }
    return nil
  }

  /// Returns the end of the picture whose scan data begin at `start`. In scan data, 0xFF before 0 or a restart marker
  /// is data; in a progressive picture, tables stand between scans.
  private static func end(of bytes: [UInt8], from start: Int) -> Int {
    var at = start
    while at + 3 < bytes.count {
      guard bytes[at] == 0xFF else {
        at += 1
        continue
      }
      switch bytes[at + 1] {
      case 0xD9: return at + 2
      case 0x00, 0xD0...0xD7: at += 2
      case 0xFF: at += 1
      default: at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
      }
    }
    return bytes.count
  }

  /// Returns an Exif segment that contains only the orientation.
  private static func exif(_ orientation: UInt8) -> [UInt8] {
    let tiff: [UInt8] = [
      0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
    ]
    return [0xFF, 0xE1, 0, UInt8(tiff.count + 8)] + Array("Exif".utf8) + [0, 0] + tiff
  }

  /// Returns the orientation, 2 to 8, from the first directory of an Exif segment; nil for the normal one.
  private static func orientation(_ body: ArraySlice<UInt8>) -> UInt8? {
    guard body.starts(with: Array("Exif".utf8) + [0, 0]) else { return nil }
    let tiff = Array(body.dropFirst(6))
    guard tiff.count >= 14 else { return nil }
    let isLittle = tiff[0] == 0x49
    func number(_ at: Int, _ size: Int) -> Int? {
      guard at >= 0, at + size <= tiff.count else { return nil }
      let part = tiff[at..<(at + size)]
      return (isLittle ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let start = number(4, 4), let count = number(start, 2) else { return nil }
    for entry in 0..<min(count, 200) {
      let at = start + 2 + entry * 12
      if number(at, 2) == 0x0112, let value = number(at + 8, 2), (2...8).contains(value) { return UInt8(value) }
    }
    return nil
  }

  // MARK: PNG and WebP

  /// Chunks that affect the look; texts, times and Exif are dropped.
  private static let pngChunks: Set<String> = [
    "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "bKGD", "pHYs",
  ]

  private static func png(_ bytes: [UInt8]) -> [UInt8]? {
    var result = Array(bytes[..<8])
    var at = 8
    while at + 12 <= bytes.count {
      let length = bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: bytes[(at + 4)..<(at + 8)], as: UTF8.self)
      guard length <= bytes.count - at - 12 else { return nil }
      let next = at + 12 + length
      if pngChunks.contains(name) { result += bytes[at..<next] }
      if name == "IEND" { return result }
      at = next
    }
    return nil
  }

  private static func webp(_ bytes: [UInt8]) -> [UInt8]? {
    var body: [UInt8] = []
    var at = 12
    while at + 8 <= bytes.count {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[at + 4 + $1]) << (8 * $1) }
      guard length <= bytes.count - at - 8 else { return nil }
      let next = min(at + 8 + length + length % 2, bytes.count)
      let name = String(decoding: bytes[at..<(at + 4)], as: UTF8.self)
      if name != "EXIF", name != "XMP " {
        var chunk = Array(bytes[at..<next])
        // Clear the header flags for Exif (8) and XMP (4).
        if name == "VP8X", chunk.count > 8 { chunk[8] &= ~0x0C }
        body += chunk
      }
      at = next
    }
    guard !body.isEmpty else { return nil }
    let size = body.count + 4
    return Array("RIFF".utf8) + (0..<4).map { UInt8(size >> (8 * $0) & 255) } + Array("WEBP".utf8) + body
  }
}
