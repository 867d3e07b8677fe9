/// Walks the JSON text of one message without building values.
///
/// It checks the grammar of RFC 8259, pairs of surrogates and the depth in the one pass that finds where the
/// members of a message begin and end; values are read later, and only those asked for.
struct JSONScanner {
  /// Why a text is refused.
  enum Fault: Error, Hashable {
    /// Not JSON, at this byte offset.
    case syntax(at: Int)
    /// Objects and arrays nest deeper than allowed.
    case tooDeep
  }

  /// What kind of value begins here.
  enum Kind { case object, array, string, number, bool, null }

  let bytes: [UInt8]
  private(set) var position: Int
  private let end: Int
  private let maxNesting: Int
  private var depth = 0
  /// Whether an object or array has just been entered, so that no comma is due.
  private var isFirst = false

  /// - Parameter range: the part of `bytes` that holds one value; all of them unless told otherwise.
  init(_ bytes: [UInt8], range: Range<Int>? = nil, maxNesting: Int) {
    self.bytes = bytes
    self.maxNesting = maxNesting
    position = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  /// The byte at the position, or NUL, which no JSON text contains, at the end.
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

  /// Enters an object; its members follow from ``nextKey()``.
  mutating func beginObject() throws(Fault) { try open(UInt8(ascii: "{")) }

  /// The range of the next member's key, with the position at its value, which must be passed before the next
  /// call; `nil` when the object has ended.
  mutating func nextKey() throws(Fault) -> Range<Int>? {
    guard try !separatedOrClosed(by: UInt8(ascii: "}")) else { return nil }
    let key = try string()
    skipWhitespace()
    guard current == UInt8(ascii: ":") else { throw fault }
    position += 1
    skipWhitespace()
    return key
  }

  /// Enters an array; its elements follow from ``nextElement()``.
  mutating func beginArray() throws(Fault) { try open(UInt8(ascii: "[")) }

  /// Whether the position is at another element, which must be passed before the next call.
  mutating func nextElement() throws(Fault) -> Bool { try !separatedOrClosed(by: UInt8(ascii: "]")) }

  /// Passes one value of any kind; returns its range.
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

  /// Passes a string; returns the range of its text between the quotes, escapes and all.
  mutating func string() throws(Fault) -> Range<Int> {
    guard current == UInt8(ascii: "\"") else { throw fault }
    position += 1
    let start = position
    while position < end {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return start..<(position - 1)
      case UInt8(ascii: "\\"): try escape()
      case 0..<0x20: throw fault
      default: position += 1
      }
    }
    throw fault
  }

  /// Passes a number; returns its range.
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

  /// The text of a string that ``string()`` has passed, with its escapes resolved.
  func text(_ range: Range<Int>) -> String {
    let raw = bytes[range]
    guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
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

  /// Four hexadecimal digits that ``string()`` has passed.
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

  /// Passes the comma before another member or element, which the first has not; or passes the closing bracket and
  /// says so.
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

  /// The four hexadecimal digits of a `\u` escape.
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
