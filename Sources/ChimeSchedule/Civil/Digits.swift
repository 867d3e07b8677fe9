/// `value` in decimal with at least `width` digits.
func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return digits.utf8.count >= width ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
}

/// The day and the second of that day in a count of wall seconds, rounding towards the past.
func dividedByDay(_ wallSeconds: Int64) -> (day: Int32, second: Int32) {
  var (day, second) = wallSeconds.quotientAndRemainder(dividingBy: 86_400)
  if second < 0 {
    day -= 1
    second += 86_400
  }
  return (Int32(truncatingIfNeeded: day), Int32(truncatingIfNeeded: second))
}

/// Reads fixed-width ASCII numbers and separators, as dates and times on the wire are written.
struct DigitReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { bytes = Array(text.utf8.prefix(128)) }

  var isAtEnd: Bool { position == bytes.count }
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Exactly `count` digits (at most 9); otherwise `nil`, and the position stays.
  mutating func digits(_ count: Int) -> Int? {
    guard bytes.count - position >= count else { return nil }
    var value = 0
    for byte in bytes[position..<position + count] {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    position += count
    return value
  }

  /// Steps over one expected character, in either case.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = next, byte == UInt8(ascii: character) || byte == UInt8(ascii: character) | 0x20 else {
      return false
    }
    position += 1
    return true
  }
}

/// Decodes a value that travels as its text.
func decodeText<Value: LosslessStringConvertible>(_ decoder: any Decoder) throws -> Value {
  let container = try decoder.singleValueContainer()
  guard let value = Value(try container.decode(String.self)) else {
    throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a valid \(Value.self)")
  }
  return value
}

/// Encodes a value as its text.
func encodeText(_ text: String, _ encoder: any Encoder) throws {
  var container = encoder.singleValueContainer()
  try container.encode(text)
}
