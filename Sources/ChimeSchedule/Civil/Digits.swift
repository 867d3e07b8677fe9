/// Returns `value` in decimal with at least `width` digits.
func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return digits.utf8.count >= width ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
}

/// Returns the day of a count of wall seconds and the second of that day, rounded down.
func dividedByDay(_ wallSeconds: Int64) -> (day: Int32, second: Int32) {
  var (day, second) = wallSeconds.quotientAndRemainder(dividingBy: 86_400)
  if second < 0 {
    day -= 1
    second += 86_400
  }
  return (Int32(truncatingIfNeeded: day), Int32(truncatingIfNeeded: second))
}

/// A DigitReader reads fixed-width ASCII numbers and separators, as in dates and times on the wire.
struct DigitReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { bytes = Array(text.utf8.prefix(128)) }

  var isAtEnd: Bool { position == bytes.count }
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads exactly `count` digits (at most 9). On failure it returns `nil` and keeps the position.
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

  /// Skips one expected character, in either case.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = next, byte == UInt8(ascii: character) || byte == UInt8(ascii: character) | 0x20 else {
      return false
    }
    position += 1
    return true
  }
}

/// Decodes a value from its text form.
func decodeText<Value: LosslessStringConvertible>(_ decoder: any Decoder) throws -> Value {
  let container = try decoder.singleValueContainer()
  guard let value = Value(try container.decode(String.self)) else {
    throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a valid \(Value.self)")
  }
  return value
}

func encodeText(_ text: String, _ encoder: any Encoder) throws {
  var container = encoder.singleValueContainer()
  try container.encode(text)
}
