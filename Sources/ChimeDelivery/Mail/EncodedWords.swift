/// Encodes non-ASCII text of headers (RFC 2047).
enum EncodedWords {
  /// Returns the text as Base64 encoded words, cut between characters. Spaces between the words are ignored when
  /// decoding.
  ///
  /// - Parameters:
  ///   - bytes: Bytes of text per word. 45 give 60 characters of Base64, or 72 with the frame, of at most 75 per word.
  ///   - separator: Text between two words.
  static func text(_ text: String, bytes limit: Int = 45, separator: String = " ") -> String {
    var words: [String] = []
    var part: [UInt8] = []
    for scalar in text.unicodeScalars {
      let bytes = Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      if part.count + bytes.count > limit {
        words.append("=?UTF-8?B?\(Base64.encode(part[...]))?=")
        part = []
      }
      part += bytes
    }
    words.append("=?UTF-8?B?\(Base64.encode(part[...]))?=")
    return words.joined(separator: separator)
  }
}
