/// A MailServer is the server that accepts emails: `smtps://mail.example.org`, or `smtp://mail.example.org:587` with
/// STARTTLS.
struct MailServer: Hashable, Sendable {
  /// The setting's value.
  let url: String
  /// Whether TLS is not required, because the address names this machine.
  let isLocal: Bool

  /// Names of this machine that no name server or network can redefine.
  private static let local: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  init(_ text: String) throws(DeliveryError) {
    try need(
      text.hasPrefix("smtps://") || text.hasPrefix("smtp://"),
      "the server's address must begin with smtps:// or smtp://, as in \(Self.example)")
    try need(
      !text.utf8.contains(UInt8(ascii: "@")),
      "the server's address contains a name or a password: remove them, and give the name with --user and the "
        + "password with --token-file")
    let parts = try EndpointURL.parts(text, Self.example, schemes: ["smtps", "smtp"])
    try need(
      (parts.path == "/" || parts.path == "") && !text.utf8.contains(where: { "?#".utf8.contains($0) }),
      "the server's address must end with its host and port, as in \(Self.example):465")
    url = text.hasSuffix("/") ? String(text.dropLast()) : text
    isLocal = parts.scheme == "smtp" && Self.local.contains(parts.host.lowercased())
  }

  private static let example = "smtps://mail.example.org"
}
