import CCrypto

/// Base64 with the standard alphabet and padding (RFC 4648, section 4), by libcrypto.
enum Base64 {
  static func encode(_ bytes: ArraySlice<UInt8>) -> String {
    let input = Array(bytes)
    // Four characters for every three bytes begun, plus the terminating zero of EVP_EncodeBlock.
    var output = [UInt8](repeating: 0, count: (input.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&output, input, Int32(input.count))
    return String(decoding: output.prefix(Int(count)), as: UTF8.self)
  }

  /// Decodes padded base64; nil if the text is anything else. EVP_DecodeBlock ignores spaces and counts padding as zero
  /// bytes, so the form is checked first.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard text.count % 4 == 0, padding <= 2, text.dropLast(padding).allSatisfy(isInAlphabet) else { return nil }
    let input = Array(text)
    var output = [UInt8](repeating: 0, count: input.count / 4 * 3)
    let count = EVP_DecodeBlock(&output, input, Int32(input.count))
    guard count >= padding else { return input.isEmpty ? [] : nil }
    let decoded = Array(output.prefix(Int(count) - padding))
    // Unused bits of the last character must be zero, so that each key has exactly one text.
    return encode(decoded[...]).utf8.elementsEqual(text) ? decoded : nil
  }

  /// Encodes as base64url without padding (RFC 4648, section 5).
  static func encodeURL(_ bytes: [UInt8]) -> String {
    var text = encode(bytes[...])
    while text.last == "=" { text.removeLast() }
    return String(
      decoding: text.utf8.map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
      },
      as: UTF8.self)
  }

  /// Decodes base64url without padding; nil if the text is anything else.
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
