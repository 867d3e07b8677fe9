internal import Glibc

/// What a compiled catalog has, read without gettext, which tells a translation and never which texts it knows.
///
/// The format is that of the GNU gettext manual, "The Format of GNU MO Files", in either order of bytes.
struct MessageFile {
  /// Text and translation, in the file's order; with a context, as `context`, U+0004 and the text.
  let texts: [(key: String, translation: String)]

  /// Nil for a file that cannot be read or is no catalog.
  init?(path: String) {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < Self.limit {
      let count = fread(&part, 1, part.count, file)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    self.init(bytes)
  }

  /// Nil for bytes that are no catalog.
  init?(_ bytes: [UInt8]) {
    func number(_ place: Int, _ isBig: Bool) -> Int? {
      guard place >= 0, place + 4 <= bytes.count else { return nil }
      let four = bytes[place..<place + 4]
      return (isBig ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
    func text(_ row: Int, _ isBig: Bool) -> String? {
      guard let length = number(row, isBig), let start = number(row + 4, isBig), start + length <= bytes.count else {
        return nil
      }
      return String(decoding: bytes[start..<start + length], as: UTF8.self)
    }
    let isBig = number(0, true) == 0x9504_12de
    guard isBig || number(0, false) == 0x9504_12de, let count = number(8, isBig), let keys = number(12, isBig),
      let translations = number(16, isBig), count <= bytes.count / 16
    else { return nil }
    var found: [(String, String)] = []
    for index in 0..<count {
      guard let key = text(keys + 8 * index, isBig), let said = text(translations + 8 * index, isBig) else {
        return nil
      }
      found.append((key, said))
    }
    texts = found
  }

  /// Far more than any catalog has, in bytes.
  private static let limit = 16 << 20
}
