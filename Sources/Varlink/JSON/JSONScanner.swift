import Glibc

/// A JSONScanner walks through the JSON text of one message without building values.
///
/// In one pass it finds the bounds of members and checks the syntax (RFC 8259), surrogate pairs and nesting. Values are
/// read later, and only those needed.
struct JSONScanner {
  /// Why a text is refused.
  enum Fault: Error, Hashable {
    /// Not JSON; the byte offset of the error.
    case syntax(at: Int)
    /// Objects and arrays nest deeper than allowed.
    case tooDeep
  }

  /// The kind of a value, known by its first byte.
  enum Kind { case object, array, string, number, bool, null }

  let bytes: [UInt8]
  private(set) var position: Int
  private let end: Int
  private let maxNesting: Int
  private var depth = 0
  /// Whether an object or array was just entered, so that no comma is expected.
  private var isFirst = false

  /// - Parameter range: The part of `bytes` that contains one value; all of them by default.
  init(_ bytes: [UInt8], range: Range<Int>? = nil, maxNesting: Int) {
    self.bytes = bytes
    self.maxNesting = maxNesting
    position = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  /// The byte at the position. At the end it is NUL, which never occurs in JSON text.
  private var current: UInt8 { position < end ? bytes[position] : 0 }

  private var fault: Fault { .syntax(at: position) }

  mutating func skipWhitespace() {
    while position < end {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      default: return
      }
    }
  }

  /// Throws unless only white space is left.
  mutating func expectEnd() throws(Fault) {
    skipWhitespace()
    if position < end { throw fault }
  }

  mutating func peek() throws(Fault) -> Kind {
    skipWhitespace()
    switch current {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    default: throw fault
    }
  }

  /// Enters an object. ``nextKey()`` yields its members.
  mutating func beginObject() throws(Fault) { try open(UInt8(ascii: "{")) }

  /// Returns the range of the next member's key and moves to its value; `nil` at the end of the object. Read or skip
  /// the value before the next call.
  mutating func nextKey() throws(Fault) -> Range<Int>? {
    guard try !separatedOrClosed(by: UInt8(ascii: "}")) else { return nil }
    let key = try string()
    skipWhitespace()
    guard current == UInt8(ascii: ":") else { throw fault }
    position += 1
    skipWhitespace()
    return key
  }

  /// Enters an array. ``nextElement()`` yields its elements.
  mutating func beginArray() throws(Fault) { try open(UInt8(ascii: "[")) }

  /// Returns whether another element follows. Read or skip it before the next call.
  mutating func nextElement() throws(Fault) -> Bool { try !separatedOrClosed(by: UInt8(ascii: "]")) }

  /// Skips one value of any kind and returns its range.
  @discardableResult
  mutating func skipValue() throws(Fault) -> Range<Int> {
    let kind = try peek()
    let start = position
    switch kind {
    case .object:
      try beginObject()
      while try nextKey() != nil { try skipValue() }
    case .array:
      try beginArray()
      while try nextElement() { try skipValue() }
    case .string: _ = try string()
    case .number: _ = try number()
    case .bool: _ = try bool()
    case .null: try null()
    }
    return start..<position
  }

  mutating func bool() throws(Fault) -> Bool {
    if current == UInt8(ascii: "t") {
      try literal("true")
      return true
    }
    try literal("false")
    return false
  }

  mutating func null() throws(Fault) { try literal("null") }

  /// Reads a string and returns the range between its quotes, with escapes unresolved.
  mutating func string() throws(Fault) -> Range<Int> {
    guard current == UInt8(ascii: "\"") else { throw fault }
    position += 1
    let start = position
    while true {
      skipOrdinaryCharacters()
      switch current {
      case UInt8(ascii: "\""):
        position += 1
        return start..<(position - 1)
      case UInt8(ascii: "\\"): try escape()
      default: throw fault
      }
    }
  }

  /// Moves to the next quotation mark, backslash or control character, or to the end.
  ///
  /// It looks at eight bytes at once, because most of a long message is in its strings: of an upload, half a megabyte. Each
  /// test sets the highest bit of a byte that fits; bits above the lowest one may be wrong, as a borrow may pass through.
  private mutating func skipOrdinaryCharacters() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let from = position
    let (end, quote, backslash) = (end, ones * UInt64(UInt8(ascii: "\"")), ones * UInt64(UInt8(ascii: "\\")))
    // Unsafe, as a span cannot load eight bytes at any place. The loop stays below `end`, which is within the bytes.
    position = bytes.withUnsafeBytes { bytes in
      var position = from
      while position + 8 <= end {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let (quotes, backslashes) = (word ^ quote, word ^ backslash)
        let found =
          ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones * 0x20) & ~word)
          & (ones * 0x80)
        guard found == 0 else { return position + found.trailingZeroBitCount / 8 }
        position += 8
      }
      while position < end, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\"),
        bytes[position] >= 0x20
      {
        position += 1
      }
      return position
    }
  }

  /// Reads a number and returns its range.
  mutating func number() throws(Fault) -> Range<Int> {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    if current == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if current == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    return start..<position
  }

  /// Returns the text of a range from ``string()`` with its escapes resolved.
  func text(_ range: Range<Int>) -> String {
    let raw = bytes[range]
    // memchr(3) of half a megabyte takes a tenth of the time of `contains`.
    let hasEscapes = raw.withUnsafeBytes { raw in
      raw.baseAddress.map { memchr($0, Int32(UInt8(ascii: "\\")), raw.count) != nil } ?? false
    }
    guard hasEscapes else { return String(decoding: raw, as: UTF8.self) }
    var (text, index): ([UInt8], Int) = ([], raw.startIndex)
    text.reserveCapacity(raw.count)
    while index < raw.endIndex {
      guard bytes[index] == UInt8(ascii: "\\") else {
        text.append(bytes[index])
        index += 1
        continue
      }
      let name = bytes[index + 1]
      index += 2
      switch name {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        var units = [codeUnit(at: index)]
        index += 4
        if UTF16.isLeadSurrogate(units[0]) {
          units.append(codeUnit(at: index + 2))
          index += 6
        }
        text += String(decoding: units, as: UTF16.self).utf8
      default: text.append(name)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the value of four hexadecimal digits that ``string()`` has checked.
  private func codeUnit(at index: Int) -> UInt16 {
    bytes[index..<(index + 4)].reduce(0) { $0 << 4 | UInt16(Character(UnicodeScalar($1)).hexDigitValue ?? 0) }
  }

  private mutating func open(_ bracket: UInt8) throws(Fault) {
    skipWhitespace()
    guard current == bracket else { throw fault }
    guard depth < maxNesting else { throw .tooDeep }
    depth += 1
    position += 1
    isFirst = true
  }

  /// Skips the comma before the next member or element and returns false, or skips the closing bracket and returns
  /// true.
  private mutating func separatedOrClosed(by bracket: UInt8) throws(Fault) -> Bool {
    skipWhitespace()
    let wasFirst = isFirst
    isFirst = false
    if current == bracket {
      depth -= 1
      position += 1
      return true
    }
    if !wasFirst {
      guard current == UInt8(ascii: ",") else { throw fault }
      position += 1
      skipWhitespace()
    }
    return false
  }

  private mutating func literal(_ word: StaticString) throws(Fault) {
    for offset in 0..<word.utf8CodeUnitCount {
      guard current == word.utf8Start[offset] else { throw fault }
      position += 1
    }
  }

  private mutating func digits() throws(Fault) {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) else { throw fault }
    while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
  }

  private mutating func escape() throws(Fault) {
    position += 1
    switch current {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 1
    case UInt8(ascii: "u"):
      position += 1
      switch try codeUnit() {
      case 0xD800..<0xDC00:
        guard current == UInt8(ascii: "\\") else { throw fault }
        position += 1
        guard current == UInt8(ascii: "u") else { throw fault }
        position += 1
        guard case 0xDC00..<0xE000 = try codeUnit() else { throw fault }
      case 0xDC00..<0xE000: throw fault
      default: break
      }
    default: throw fault
    }
  }

  /// Reads the four hexadecimal digits of a `\u` escape.
  private mutating func codeUnit() throws(Fault) -> Int {
    var value = 0
    for _ in 0..<4 {
      guard let digit = Character(UnicodeScalar(current)).hexDigitValue else { throw fault }
      value = value << 4 | digit
      position += 1
    }
    return value
  }
}
