/// A terminal emulator with the features that full-screen programs use; it records unknown sequences.
struct ScreenReader {
  let width: Int
  let height: Int
  private(set) var cells: [[Character]]
  private(set) var isAlternate = false
  private(set) var isCursorShown = true
  private(set) var unknown: [String] = []
  /// The number of characters written, without cursor moves and colors.
  private(set) var written = 0
  private var x = 0
  private var y = 0
  /// An incomplete sequence or character.
  private var rest: [UInt8] = []

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    cells = Array(repeating: Array(repeating: " ", count: width), count: height)
  }

  /// Returns the same terminal in another size, blank.
  func resized(width: Int, height: Int) -> ScreenReader {
    var other = ScreenReader(width: width, height: height)
    (other.isAlternate, other.isCursorShown, other.unknown) = (isAlternate, isCursorShown, unknown)
    return other
  }

  /// The rows without trailing spaces; the second half of a wide character is skipped.
  var rows: [String] {
    cells.map { row in
      var text = String(row.filter { $0 != "\0" })
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  mutating func read(_ text: String) { read(Array(text.utf8)) }

  mutating func read(_ bytes: [UInt8]) {
    rest += bytes
    // Keep an incomplete UTF-8 character.
    var end = rest.count
    if let start = rest.lastIndex(where: { $0 & 0xC0 != 0x80 }), rest[start] >= 0xC0 {
      let length = rest[start] >= 0xF0 ? 4 : rest[start] >= 0xE0 ? 3 : 2
      if rest.count - start < length { end = start }
    }
    let text = Array(String(decoding: rest[..<end], as: UTF8.self))
    var kept = Array(rest[end...])
    var index = 0
    while index < text.count {
      guard text[index] == "\u{1B}" else {
        put(text[index])
        index += 1
        continue
      }
      guard index + 1 < text.count, text[index + 1] == "[" else {
        if index + 1 < text.count { unknown.append(String(text[index...(index + 1)])) }
        index += 2
        continue
      }
      guard let last = text[(index + 2)...].firstIndex(where: { ("@"..."~").contains($0) }) else {
        kept = Array(String(text[index...]).utf8) + kept
        break
      }
      obey(String(text[(index + 2)..<last]), text[last])
      index = last + 1
    }
    rest = kept
  }

  private mutating func obey(_ values: String, _ command: Character) {
    let numbers = values.split(separator: ";").compactMap { Int($0) }
    switch (values, command) {
    case (_, "H"): (y, x) = ((numbers.first ?? 1) - 1, (numbers.count > 1 ? numbers[1] : 1) - 1)
    case ("2", "J"): cells = Array(repeating: Array(repeating: " ", count: width), count: height)
    case ("", "K"):
      guard cells.indices.contains(y) else { return }
      for column in min(x, width)..<width { cells[y][column] = " " }
    case (_, "m"): break
    case ("?1049", "h"): isAlternate = true
    case ("?1049", "l"): isAlternate = false
    case ("?25", "h"): isCursorShown = true
    case ("?25", "l"): isCursorShown = false
    case ("?7", _), ("?2004", _), ("?2026", _): break
    default: unknown.append(values + String(command))
    }
  }

  private mutating func put(_ character: Character) {
    if character == "\r" { return x = 0 }
    if character == "\n" || character == "\r\n" {
      if character == "\r\n" { x = 0 }
      y = min(y + 1, height - 1)
      return
    }
    written += 1
    let columns = Self.isWide(character) ? 2 : 1
    // The normal screen wraps lines; a full-screen program must not need that.
    if !isAlternate, x + columns > width { (x, y) = (0, min(y + 1, height - 1)) }
    guard cells.indices.contains(y), x + columns <= width else {
      unknown.append("outside: \(character)")
      return
    }
    // Overwriting half of a wide character erases the other half.
    if cells[y][x] == "\0", x > 0 { cells[y][x - 1] = " " }
    if x + columns < width, cells[y][x + columns] == "\0" { cells[y][x + columns] = " " }
    cells[y][x] = character
    if columns == 2 { cells[y][x + 1] = "\0" }
    x += columns
  }

  private static func isWide(_ character: Character) -> Bool {
    character.unicodeScalars.contains { scalar in
      [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0x1F000...0x1FAFF,
      ].contains { $0.contains(scalar.value) } || scalar.value == 0xFE0F
    }
  }
}
