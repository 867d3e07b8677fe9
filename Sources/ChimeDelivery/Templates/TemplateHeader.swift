public import ChimeCore

/// A header whose value may contain placeholders.
struct TemplateHeader: Hashable, Sendable {
  let name: String
  private let value: TemplateNode

  /// Maximum bytes of a value from a message, before encoding. Tokens and the owner's own text have limits of their own
  /// (`ownLimit`).
  static let limit = 2_048
  private static let ownLimit = HeaderRules.limit + Token.limit

  init(name: String, value: TemplateJSON) throws(DeliveryError) {
    try HeaderRules.check(name: name)
    let node = try TemplateNode(value)
    try need(node.isText, "the header \(name) must be a string, or a choice among strings")
    self.name = name
    self.value = node
    try check(literals: value)
  }

  private func check(literals json: TemplateJSON) throws(DeliveryError) {
    switch json {
    case .string(let text): try HeaderRules.check(value: text, of: name)
    case .object(let members): for member in members { try check(literals: member.value) }
    default: break
    }
  }

  func bound(_ values: TemplateValues) -> Int { value.bound(values) }

  var usesToken: Bool { value.placeholders.contains { $0.isSecret } }
  /// Whether the header needs the withdrawal token.
  var usesWithdrawalToken: Bool { value.placeholders.contains(.withdrawalToken) }

  /// Returns the value for a request: one line without control characters, non-ASCII text in encoded words (RFC 2047).
  /// Nil if the value is empty; the header is then omitted.
  func render(_ values: TemplateValues) -> String? {
    let limit = usesToken || value.placeholders.isEmpty ? Self.ownLimit : Self.limit
    let line = PlainText.clipped(PlainText.withoutControls(value.text(values), lines: false), bytes: limit)
    let words = line.split(separator: " ", omittingEmptySubsequences: true)
    guard !words.isEmpty else { return nil }
    let text = words.joined(separator: " ")
    return text.utf8.allSatisfy { $0 < 0x80 } ? text : EncodedWords.text(text)
  }
}

/// Rules for configured headers (RFC 9110, sections 5.1 and 5.5).
public enum HeaderRules {
  /// Maximum headers of an endpoint, and of a template.
  public static let most = 32
  /// Maximum length of a value in bytes.
  public static let limit = 4_096

  /// Headers that Chime or the connection sets.
  private static let taken: Set<String> = [
    "webhook-id", "webhook-timestamp", "webhook-signature", "content-type", "content-length", "content-encoding",
    "user-agent", "host", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect",
    "proxy-authorization", "proxy-connection", "http2-settings",
  ]
  /// Headers whose value is always a secret.
  private static let secret: Set<String> = ["authorization", "cookie"]

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  public static func check(_ headers: [EndpointSettings.Header]) throws(DeliveryError) {
    try need(headers.count <= most, "an endpoint has at most \(most) headers of its own, not \(headers.count)")
    var seen: Set<String> = []
    for header in headers {
      let known = try TemplateHeader(name: header.name, value: .string(header.value))
      try need(seen.insert(header.name.lowercased()).inserted, "the header \(header.name) occurs twice")
      if secret.contains(header.name.lowercased()), !known.usesToken {
        throw DeliveryError(
          "the header \(header.name) holds a secret: put the secret into a file, give that as the token, and write "
            + "\(header.name): Bearer {{token}}")
      }
    }
  }

  static func check(name: String) throws(DeliveryError) {
    let shown = PlainText.sentence(name)
    try need(
      !name.isEmpty && name.utf8.count <= 100 && name.utf8.allSatisfy(isTokenByte),
      "\"\(shown)\" is not the name of a header: use letters, digits and -, as in X-Title")
    try need(!taken.contains(name.lowercased()), "Chime itself sets the header \(shown): leave it out")
  }

  static func check(value: String, of name: String) throws(DeliveryError) {
    try need(
      value.utf8.count <= limit, "the value of \(name) has \(value.utf8.count) bytes; at most \(limit) are allowed")
    try need(
      !value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
      "the value of \(name) has a control character; write it on one line")
  }

  /// Matches a `tchar` (RFC 9110, section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
