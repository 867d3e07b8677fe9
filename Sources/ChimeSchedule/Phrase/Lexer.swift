/// A Lexer splits a phrase into words, numbers and signs, one at a time, without backtracking.
///
/// It works on bytes. A copy serves as a bookmark.
struct Lexer {
  struct Token {
    enum Kind: Equatable {
      /// A sequence of letters and characters beyond ASCII.
      case word
      /// A sequence of digits.
      case number
      /// One other character.
      case sign(UInt8)
      /// `..`
      case dots
      case end
    }

    var kind: Kind = .end
    var range: Range<Int> = 0..<0
    /// The meaning of a word, if it has one.
    var keyword: Keyword?
    /// The value of a number; a longer one than 15 digits counts as `Int64.max`.
    var value: Int64 = 0
  }

  let bytes: [UInt8]
  /// The current token.
  private(set) var token = Token()
  /// The end of the previous token.
  private(set) var previousEnd = 0
  private var position = 0
  /// Whether the last duration had days and weeks only; ``countsWeeks``: weeks only.
  var countsDays = false
  /// Whether the caller ignores the text of faults.
  var isQuiet = false
  var countsWeeks = false
  /// Whether the caller does not use keywords.
  var isBare = false

  init(_ text: String) { bytes = Array(text.utf8) }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the first token.
  mutating func start() throws(Fault) {
    try need(
      bytes.count <= Schedule.maximumLength, .outOfRange, at: 0..<0,
      "the text is longer than \(Schedule.maximumLength) bytes", expected: "a shorter one")
    try advance()
  }

  /// Whether the token follows the previous one without a space.
  var isAdjacent: Bool { token.range.lowerBound == previousEnd && token.kind != .end }

  var keyword: Keyword? { token.keyword }

  /// Returns some bytes in quotation marks, shortened and escaped.
  func quoted(_ range: Range<Int>) -> String {
    isQuiet
      ? ""
      : "\"\(excerpt(String(decoding: bytes[range].prefix(256), as: UTF8.self), limit: 24))\""
  }

  /// The token in quotation marks, or `the end`.
  var quoted: String { token.kind == .end ? "the end" : quoted(token.range) }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Skips the token if it is that keyword.
  mutating func skip(_ keyword: Keyword) throws(Fault) -> Bool {
    guard token.keyword == keyword else { return false }
    try advance()
    return true
  }

  /// Skips the token if it is that sign.
  mutating func skip(_ sign: Unicode.Scalar) throws(Fault) -> Bool {
    guard token.kind == .sign(UInt8(ascii: sign)) else { return false }
    try advance()
    return true
  }

  /// Reads a name that begins with the token: ASCII letters, digits, `-` and `_`, beginning with a letter. The range is
  /// empty if there is none.
  mutating func name() throws(Fault) -> Range<Int> {
    let start = token.range.lowerBound
    guard token.kind == .word else { return start..<start }
    var end = start
    while end < bytes.count, Lexer.isName(bytes[end]) { end += 1 }
    guard end > start, end >= token.range.upperBound else { return start..<start }
    token.range = start..<end
    position = end
    try advance()
    return start..<end
  }

  private static func isName(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: "_")
  }

  /// Returns the next token; `nil` if it cannot be read.
  func peek() -> Token? { ahead(1)?.token }

  /// Returns the lexer `count` tokens ahead; `nil` if one of them cannot be read.
  func ahead(_ count: Int) -> Lexer? {
    var copy = self
    for _ in 0..<count {
      do { try copy.advance() } catch { return nil }
    }
    return copy
  }

  /// Whether the token is a number with an ordinal suffix: `15th`.
  var isNumeral: Bool {
    guard token.kind == .number, let next = peek(), next.keyword == .ordinalSuffix else { return false }
    return next.range.lowerBound == token.range.upperBound
  }

  mutating func advance() throws(Fault) {
    previousEnd = token.range.upperBound
    while let width = spaceWidth { position += width }
    let start = position
    guard position < bytes.count else {
      token = Token(kind: .end, range: bytes.count..<bytes.count)
      return
    }
    let byte = bytes[position]
    switch byte {
    case 0x30...0x39: token = number(from: start)
    case _ where Lexer.isWord(byte):
      if hasDash {
        position += 3
        token = Token(kind: .sign(UInt8(ascii: "-")), range: start..<position)
      } else {
        token = word(from: start)
      }
    case 0x00...0x1F, 0x7F:
      throw Fault(
        range: start..<start + 1, problem: "a control character (\(excerpt(text(start..<start + 1))))",
        expected: "printable text")
    default:
      position += 1
      let isDots = byte == UInt8(ascii: ".") && position < bytes.count && bytes[position] == byte
      if isDots { position += 1 }
      token = Token(kind: isDots ? .dots : .sign(byte), range: start..<position)
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool { byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20) }

  /// The width of the white space at the position: ASCII's, and the no-break spaces of word processors.
  private var spaceWidth: Int? {
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case 0x20, 0x09, 0x0A, 0x0D: return 1
    case 0xC2: return bytes.count - position >= 2 && bytes[position + 1] == 0xA0 ? 2 : nil
    case 0xE2:
      return bytes.count - position >= 3 && bytes[position + 1] == 0x80 && bytes[position + 2] == 0xAF ? 3 : nil
    default: return nil
    }
  }

  /// Whether an en dash is at the position. It counts as a hyphen.
  private var hasDash: Bool {
    bytes.count - position >= 3 && bytes[position] == 0xE2 && bytes[position + 1] == 0x80
      && bytes[position + 2] == 0x93
  }

  private mutating func number(from start: Int) -> Token {
    var value: Int64 = 0
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
      value = value < 100_000_000_000_000 ? value * 10 + Int64(bytes[position] - 0x30) : .max
      position += 1
    }
    return Token(kind: .number, range: start..<position, value: value)
  }

  private mutating func word(from start: Int) -> Token {
    while position < bytes.count, Lexer.isWord(bytes[position]), spaceWidth == nil, !hasDash { position += 1 }
    return Token(kind: .word, range: start..<position, keyword: isBare ? nil : Keyword(bytes[start..<position]))
  }
}
