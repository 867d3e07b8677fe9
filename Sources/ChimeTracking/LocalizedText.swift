/// A LocalizedText is a text in several languages, by BCP 47 tag.
///
///     LocalizedText(["en": "First Sip", "cs": "První doušek"]).text(in: ["cs-CZ", "en"])   // První doušek
public struct LocalizedText: Hashable, Sendable, Codable, ExpressibleByStringLiteral {
  public var texts: [String: String]

  public init(_ texts: [String: String]) { self.texts = texts }
  /// Creates a text in no particular language, or in English.
  public init(stringLiteral text: String) { texts = ["en": text] }
  public init(_ text: String) { texts = ["en": text] }

  /// Returns the text in the first of `languages` that it has, by tag or by primary subtag (RFC 4647, "Lookup"); else
  /// in English, else in any language.
  public func text(in languages: [String]) -> String {
    for language in languages {
      var tag = language.replacing("_", with: "-").lowercased()
      while true {
        if let found = texts.first(where: { $0.key.lowercased() == tag }) { return found.value }
        guard let cut = tag.lastIndex(of: "-") else { break }
        tag = String(tag[..<cut])
      }
    }
    return texts["en"] ?? texts.sorted { $0.key < $1.key }.first?.value ?? ""
  }

  public init(from decoder: any Decoder) throws {
    texts = try decoder.singleValueContainer().decode([String: String].self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(texts)
  }
}
