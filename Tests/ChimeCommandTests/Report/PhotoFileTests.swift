import Testing

@testable import ChimeCommand

/// A photo's metadata is removed before it is sent.
@Suite struct PhotoFileTests {
  private static let place = Array("GPS 50.0875 N 14.4213 E".utf8)

  private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
    [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
  }

  /// Returns an Exif segment with a camera's name, an orientation and a location.
  private static func exif(orientation: UInt8, isLittle: Bool) -> [UInt8] {
    func two(_ value: Int) -> [UInt8] {
      isLittle ? [UInt8(value & 255), UInt8(value >> 8)] : [UInt8(value >> 8), UInt8(value & 255)]
    }
    func four(_ value: Int) -> [UInt8] { isLittle ? two(value) + [0, 0] : [0, 0] + two(value) }
    let make = two(0x010F) + two(2) + four(4) + Array("Cam\0".utf8)
    let turn = two(0x0112) + two(3) + four(1) + two(Int(orientation)) + [0, 0]
    return Array("Exif\0\0".utf8) + Array((isLittle ? "II" : "MM").utf8) + two(42) + four(8) + two(2) + make + turn
      + four(0)
      + place
  }

  /// Scans whose data has a stuffed 0xFF and a restart, tables between two scans, and a film after the end.
  private static let scans: [UInt8] =
    segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56] + segment(0xC4, [0, 0xFF, 0xD9, 1])
    + segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x78, 0xFF, 0xD9]

  @Test(arguments: [(UInt8(6), true), (6, false), (1, true), (0, false), (200, true)])
  func jpegKeepsOnlyItsOrientation(_ orientation: UInt8, _ isLittle: Bool) throws {
    let table = Self.segment(0xDB, [0] + Array(repeating: 7, count: 64))
    let profile = Self.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9])
    let bytes: [UInt8] =
      [0xFF, 0xD8] + Self.segment(0xE1, Self.exif(orientation: orientation, isLittle: isLittle))
      + Self.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.place) + profile
      + Self.segment(0xED, Self.place) + Self.segment(0xFE, Self.place) + table + Self.scans + Self.place
    let clean = try #require(PhotoFile.clean(bytes))
    #expect(clean.kind == .jpeg && !contains(clean.bytes, Self.place) && !contains(clean.bytes, Array("Cam".utf8)))
    #expect(contains(clean.bytes, table) && contains(clean.bytes, profile))
    #expect(clean.bytes.suffix(Self.scans.count) == Self.scans[...], "the picture is whole, and nothing follows it")
    let isTurned = (2...8).contains(orientation)
    #expect(contains(clean.bytes, Array("Exif".utf8)) == isTurned)
    if isTurned { #expect(contains(clean.bytes, [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation])) }
    // A cleaned file does not change again.
    #expect(PhotoFile.clean(clean.bytes)?.bytes == clean.bytes)
  }

  @Test func pngKeepsOnlyThePicture() throws {
    let bare = TestPicture.png(width: 20, height: 10)
    let told = TestPicture.png(
      width: 20, height: 10, chunks: [("tEXt", Self.place), ("eXIf", Self.place), ("tIME", [7, 234, 3, 27, 8, 0, 0])])
    #expect(PhotoFile.clean(bare)?.bytes == bare)
    #expect(PhotoFile.clean(told)?.bytes == bare)
  }

  @Test func webpKeepsOnlyThePicture() throws {
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
      Array(name.utf8) + [UInt8(body.count), 0, 0, 0] + body + (body.count % 2 == 1 ? [0] : [])
    }
    func file(_ chunks: [UInt8]) -> [UInt8] {
      Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0] + Array("WEBP".utf8) + chunks
    }
    let picture = chunk("VP8 ", [1, 2, 3])
    let flags: [UInt8] = [0x2C, 0, 0, 0, 9, 0, 0, 9, 0, 0]
    let bytes = file(chunk("VP8X", flags) + picture + chunk("EXIF", Self.place) + chunk("XMP ", Self.place))
    let clean = try #require(PhotoFile.clean(bytes))
    #expect(clean.kind == .webp && clean.bytes == file(chunk("VP8X", [0x20] + flags.dropFirst()) + picture))
  }

  /// A truncated file or one that is no picture is refused or cut, and never read beyond its end.
  @Test func hostileFilesAreRefusedOrCut() {
    let jpeg: [UInt8] = [0xFF, 0xD8] + Self.segment(0xE1, Self.exif(orientation: 6, isLittle: true)) + Self.scans
    let png = TestPicture.png(width: 9, height: 3)
    for bytes in [jpeg, png] {
      for count in 0..<bytes.count { _ = PhotoFile.clean(Array(bytes.prefix(count))) }
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] = 0xFF
        _ = PhotoFile.clean(damaged)
      }
    }
    #expect(PhotoFile.clean(Array(png.dropLast(20))) == nil)
    #expect(PhotoFile.clean(Array("<svg onload=alert(1)>".utf8)) == nil)
    #expect(PhotoFile.clean([]) == nil)
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}
