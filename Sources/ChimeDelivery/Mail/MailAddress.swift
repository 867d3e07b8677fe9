/// A MailAddress is a mailbox such as `ann@example.org`, in the unquoted form that every server accepts (RFC 5321,
/// section 4.1.2). It cannot end a command or a header.
struct MailAddress: Hashable, Sendable, CustomStringConvertible {
  let description: String
  /// The part after the `@`.
  let domain: String

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  init(_ text: String) throws(DeliveryError) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    try need(
      parts.count == 2 && Self.isLocalPart(parts[0]) && Self.isDomain(parts[1]),
      "\"\(PlainText.sentence(text))\" is not the address of a mailbox; write it as ann@example.org")
    (description, domain) = (text, String(parts[1]))
  }

  /// Matches a dot-atom of `atext` (RFC 5322, section 3.2.3).
  private static func isLocalPart(_ text: Substring) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
        !word.isEmpty && word.utf8.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
      }
  }

  private static func isDomain(_ text: Substring) -> Bool {
    text.utf8.count <= 253
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count) && label.utf8.first != UInt8(ascii: "-")
          && label.utf8.last != UInt8(ascii: "-")
          && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
      }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}

extension MailAddress {
  /// Maximum mailboxes of one endpoint; servers may refuse more.
  static let most = 20

  /// Parses `mailto:ann@example.org,bob@example.org` (RFC 6068, without header fields).
  static func recipients(of url: String) throws(DeliveryError) -> [MailAddress] {
    try need(
      url.utf8.count <= EndpointURL.limit,
      "the address has \(url.utf8.count) bytes; at most \(EndpointURL.limit) are allowed")
    let rest = url.dropFirst("mailto:".count)
    try need(
      !rest.utf8.contains(UInt8(ascii: "?")),
      "the address of an email ends with its mailboxes; remove ? and the text after it: a template sets the subject")
    var found: [MailAddress] = []
    for part in rest.split(separator: ",", omittingEmptySubsequences: false) {
      found.append(try MailAddress(decoded(part)))
    }
    try need(found.count <= most, "an endpoint has at most \(most) mailboxes, not \(found.count)")
    return found
  }

  /// Decodes `%XX` (RFC 3986, section 2.1).
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
