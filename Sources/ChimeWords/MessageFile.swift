internal import Glibc

/// A MessageFile is a compiled catalog, parsed without gettext, because gettext cannot list the texts of a catalog.
///
/// The format is that of the GNU gettext manual, "The Format of GNU MO Files", in either byte order.
struct MessageFile {
  /// Texts and translations in file order. A text with a context is the context, U+0004 and the text.
  let texts: [(key: String, translation: String)]

  /// Returns `nil` if the file cannot be read or is not a catalog.
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

  /// Returns `nil` if the bytes are not a catalog.
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

  /// The most bytes to read, far more than any catalog has.
  private static let limit = 16 << 20
}
