/// A JSONText writes JSON member by member, in the given order. It is several times faster than encoding a value, which
/// matters because most messages have such a body.
///
///     var json = JSONText()
///     json.object { $0.member("title", "Tea") }
///     json.bytes   // {"title":"Tea"}
struct JSONText {
  private(set) var bytes: [UInt8] = []
  /// Whether the next member or element needs no comma before it.
  private var isFirst = true

  init() { bytes.reserveCapacity(512) }

  mutating func object(_ members: (inout JSONText) -> Void) { enclose("{", members, "}") }

  mutating func list(_ elements: (inout JSONText) -> Void) { enclose("[", elements, "]") }

  private mutating func enclose(_ opening: Unicode.Scalar, _ parts: (inout JSONText) -> Void, _ closing: Unicode.Scalar)
  {
    bytes.append(UInt8(ascii: opening))
    isFirst = true
    parts(&self)
    bytes.append(UInt8(ascii: closing))
    isFirst = false
  }

  mutating func object(_ key: StaticString, _ members: (inout JSONText) -> Void) {
    begin(key)
    object(members)
  }

  mutating func member(_ key: StaticString, _ text: String?) {
    begin(key)
    write(text)
  }

  mutating func member(_ key: StaticString, _ number: Int64?) {
    begin(key)
    write(literal: number.map { "\($0)" } ?? "null")
  }

  /// Writes whole numbers without a decimal point.
  mutating func member(_ key: StaticString, _ number: Double?) {
    guard let number, number.isFinite else { return member(key, String?.none) }
    if let whole = Int64(exactly: number) { return member(key, whole) }
    begin(key)
    write(literal: "\(number)")
  }

  mutating func member(_ key: StaticString, _ isTrue: Bool) {
    begin(key)
    write(literal: isTrue ? "true" : "false")
  }

  mutating func member(_ key: StaticString, _ texts: [String]) {
    begin(key)
    list { json in for text in texts { json.element { $0.write(text) } } }
  }

  /// Writes a member with an arbitrary key, which is escaped.
  mutating func member(key: String, _ value: (inout JSONText) -> Void) {
    separate()
    write(key)
    bytes.append(UInt8(ascii: ":"))
    value(&self)
  }

  mutating func element(_ value: (inout JSONText) -> Void) {
    separate()
    value(&self)
  }

  /// Keys of Chime's own need no escapes.
  private mutating func begin(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  /// Writes a string with only the required escapes (RFC 8259, section 7).
  mutating func write(_ text: String?) {
    guard var text else { return write(literal: "null") }
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      var start = 0
      for (index, byte) in utf8.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
        bytes.append(contentsOf: utf8[start..<index])
        start = index + 1
        escape(byte)
      }
      bytes.append(contentsOf: utf8[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a number, `true`, `false` or `null`.
  mutating func write(literal: String) { bytes.append(contentsOf: literal.utf8) }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      let digits = Array("0123456789abcdef".utf8)
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }
}
