/// Texts of headers that are not ASCII (RFC 2047).
enum EncodedWords {
  /// Words in Base64, cut between two characters of the text; the spaces between them do not count.
  ///
  /// - Parameters:
  ///   - bytes: of the text in each word: 45 are 60 characters of Base64, with the frame 72 of the 75 that a word may have.
  ///   - separator: what stands between two words.
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
