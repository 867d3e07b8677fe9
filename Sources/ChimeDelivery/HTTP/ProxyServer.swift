/// A ProxyServer is the proxy for all messages except to the listed hosts. It is never read from the environment.
///
///     try ProxyServer("http://proxy.example.org:3128", except: ["localhost", ".lan"])
public struct ProxyServer: Hashable, Sendable {
  /// `http://`, `https://` or `socks5h://` with host and port. The proxy resolves names in all three cases.
  public let url: String
  /// Hosts dialed directly: names with their subdomains, addresses, and blocks of addresses.
  public let exceptions: [String]

  static let schemes = ["http", "https", "socks5h"]

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  public init(_ url: String, except exceptions: [String] = []) throws(DeliveryError) {
    let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    try need(
      parts.count == 2 && Self.schemes.contains(parts[0]),
      "a proxy begins with http://, https:// or socks5h://, as in http://proxy.example.org:3128")
    var place = parts[1]
    // The text before an @ may be a password, so the error does not repeat it.
    try need(!place.utf8.contains(UInt8(ascii: "@")), "a proxy with a user name or password is not supported")
    if place.hasSuffix("/") { place.removeLast() }
    guard let colon = place.lastIndex(of: ":"), Self.isHost(String(place[..<colon])),
      let port = UInt16(place[place.index(after: colon)...]), port > 0
    else { throw DeliveryError("a proxy ends with a host and a port, as in http://proxy.example.org:3128") }
    for exception in exceptions where !Self.isException(exception) {
      throw DeliveryError("an exception from the proxy must be a name, an address or a block of addresses")
    }
    self.url = "\(parts[0])://\(place)"
    self.exceptions = exceptions
  }

  public static func isException(_ text: String) -> Bool {
    AddressBlock(text) != nil || isName(text.hasPrefix(".") ? String(text.dropFirst()) : text)
  }

  private static func isHost(_ text: String) -> Bool {
    guard text.hasPrefix("[") else { return isName(text) }
    return text.hasSuffix("]") && text.contains(":") && NetworkAddress(String(text.dropFirst().dropLast())) != nil
  }

  private static func isName(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
