/// A MatrixAddress names a room: `matrix:roomid/abc:example.org` by the Matrix URI scheme, or
/// `matrix:!abc:example.org`.
struct MatrixAddress: Hashable, Sendable {
  /// Room id, such as `!abc:example.org`, or without a server name (room version 12).
  let room: String

  private static let example = "matrix:roomid/abc:example.org"

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  init(_ text: String) throws(DeliveryError) {
    let rest = text.dropFirst("matrix:".count)
    try need(
      !rest.hasPrefix("#") && !rest.hasPrefix("r/"),
      "that is a room's alias, which can change its meaning: give the room's id, as in \(Self.example)")
    let room = rest.hasPrefix("roomid/") ? "!" + rest.dropFirst("roomid/".count) : String(rest)
    try need(
      room.hasPrefix("!") && (2...Matrix.longestID).contains(room.utf8.count)
        && room.dropFirst().utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"!/?#%\\\"".utf8.contains($0) }),
      "the address names no room: write matrix:roomid/ and the room's id without its !, with nothing after it, as "
        + "in \(Self.example)")
    self.room = room
  }
}

/// A MatrixServer is the address of Chime's homeserver, such as `https://matrix.example.org`.
struct MatrixServer: Hashable, Sendable {
  /// URL without a trailing slash.
  let url: String

  /// Returns whether a setting is a homeserver's address. Addresses of mail servers have other schemes.
  static func isMeant(_ text: String) -> Bool {
    ["https://", "http://"].contains { text.lowercased().hasPrefix($0) }
  }

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  init(_ text: String) throws(DeliveryError) {
    try EndpointURL.validate(text)
    try need(
      !text.utf8.contains(where: { "?#".utf8.contains($0) }) && text.firstRange(of: "/_matrix") == nil,
      "the homeserver's address must end with its host, as in https://matrix.example.org: Chime adds the rest")
    url = text.hasSuffix("/") ? String(text.dropLast()) : text
  }
}

/// Checks Matrix user ids, such as `@ann:example.org`.
enum MatrixUser {
  private static let most = 20

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  static func check(_ names: [String]) throws(DeliveryError) {
    for name in names {
      let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      try need(
        name.utf8.count <= Matrix.longestID && parts.count == 2 && parts[0].hasPrefix("@") && parts[0].utf8.count > 1
          && !parts[1].isEmpty && name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !",\"\\".utf8.contains($0) }),
        "\"\(PlainText.sentence(name))\" is not a Matrix user; write @ann:example.org")
    }
    try need(names.count <= most, "an endpoint has at most \(most) senders, not \(names.count)")
    try need(Set(names).count == names.count, "a sender is named twice")
  }
}

/// Rules for all Matrix identifiers.
enum Matrix {
  /// Maximum length of user, room and event ids in bytes ("Common Identifier Format").
  static let longestID = 255

  /// Returns whether a text can be an event id.
  static func isEventID(_ text: String) -> Bool {
    text.hasPrefix("$") && text.utf8.count <= longestID
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x7C }
  }

  /// Returns a request path of the Client-Server API with its parts percent-encoded.
  static func path(_ parts: String...) -> String {
    "/_matrix/client/v3/" + parts.map(TemplateFilter.percentEncoded).joined(separator: "/")
  }
}
