import CCrypto

/// Base64 of RFC 4648, section 4 (the standard alphabet, padded), by libcrypto.
enum Base64 {
  static func encode(_ bytes: ArraySlice<UInt8>) -> String {
    let input = Array(bytes)
    // Four characters for each three bytes begun, and the zero that EVP_EncodeBlock writes behind them.
    var output = [UInt8](repeating: 0, count: (input.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&output, input, Int32(input.count))
    return String(decoding: output.prefix(Int(count)), as: UTF8.self)
  }

  /// The bytes; nil when the text is not exactly padded base64. EVP_DecodeBlock itself passes over spaces and counts
  /// the padding as zero bytes, so the form is checked first.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard text.count % 4 == 0, padding <= 2, text.dropLast(padding).allSatisfy(isInAlphabet) else { return nil }
    let input = Array(text)
    var output = [UInt8](repeating: 0, count: input.count / 4 * 3)
    let count = EVP_DecodeBlock(&output, input, Int32(input.count))
    guard count >= padding else { return input.isEmpty ? [] : nil }
    let decoded = Array(output.prefix(Int(count) - padding))
    // Bits beyond the last byte must be zero, so that one key has one text.
    return encode(decoded[...]).utf8.elementsEqual(text) ? decoded : nil
  }

  /// Base64url without padding (RFC 4648, section 5).
  static func encodeURL(_ bytes: [UInt8]) -> String {
    var text = encode(bytes[...])
    while text.last == "=" { text.removeLast() }
    return String(
      decoding: text.utf8.map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
      },
      as: UTF8.self)
  }

  /// The bytes; nil when the text is not exactly base64url without padding.
  static func decodeURL(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    for byte in text {
      switch byte {
      case UInt8(ascii: "-"): bytes.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): bytes.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: bytes.append(byte)
      }
    }
    bytes += [UInt8](repeating: UInt8(ascii: "="), count: (4 - bytes.count % 4) % 4)
    return decode(bytes[...])
  }

  private static func isInAlphabet(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
