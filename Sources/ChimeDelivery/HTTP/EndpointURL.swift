import CCurl
import ChimeCore

/// Validates endpoint addresses with libcurl's own parser, so that the validated address is the one that is dialed.
///
///     try EndpointURL.validate("https://example.org/hook")
///     try EndpointURL.validate("example.org/hook")   // throws: … write https://example.org/hook
public enum EndpointURL {
  /// Maximum length of an address in bytes.
  public static let limit = 2_048

  /// - Throws: `DeliveryError`, whose sentence says what to write instead, or that libcurl is missing.
  public static func validate(_ text: String) throws(DeliveryError) { try validate(text, library: Libcurl.name) }

  static func validate(_ text: String, library: String) throws(DeliveryError) {
    _ = try parts(text, "https://example.org/hook", schemes: ["https", "http"], library: library)
  }

  /// Returns the parts of an address. A user name or password in it is refused.
  ///
  /// - Parameter example: An example for error messages.
  static func parts(
    _ text: String, _ example: String, schemes: [String], library: String = Libcurl.name
  ) throws(DeliveryError) -> (scheme: String, host: String, port: Int?, path: String) {
    try need(!text.isEmpty, "an address is missing, such as \(example)")
    try need(text.utf8.count <= limit, "the address has \(text.utf8.count) bytes; at most \(limit) are allowed")
    try need(
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
      "the address has a control character; write such a byte as %XX")
    try need(!text.utf8.contains(UInt8(ascii: " ")), "the address has a space; write it as %20")
    // Some parsers treat a backslash as a slash (url.spec.whatwg.org), so people could misread the host.
    try need(!text.utf8.contains(UInt8(ascii: "\\")), "the address has a backslash; write / or, to keep it, %5C")
    try Libcurl.load(library)
    guard let handle = chime_curl_url() else { throw DeliveryError("there is not enough memory to read the address") }
    defer { chime_curl_url_cleanup(handle) }
    let code = chime_curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
    try need(code == CURLUE_OK, sentence(for: code, text))
    guard let scheme = part(CURLUPART_SCHEME, of: handle), schemes.contains(scheme) else {
      throw DeliveryError(
        "the address must begin with \(schemes.map { "\($0)://" }.joined(separator: " or "))")
    }
    try need(
      part(CURLUPART_USER, of: handle) == nil && part(CURLUPART_PASSWORD, of: handle) == nil,
      "the address contains a user name or password; remove them: messages are signed with the secret")
    guard let host = part(CURLUPART_HOST, of: handle), !host.isEmpty else {
      throw DeliveryError("the address names no host; write it as \(scheme)://HOST/PATH")
    }
    let port = part(CURLUPART_PORT, of: handle).flatMap { Int($0) }
    try need(port != 0, sentence(for: CURLUE_BAD_PORT_NUMBER, text))
    try need(
      part(CURLUPART_ZONEID, of: handle) == nil || isLinkLocal(host),
      "the address names an interface, which only addresses that begin with fe80: may have; remove % and the text "
        + "after it")
    return (scheme, host, port, part(CURLUPART_PATH, of: handle) ?? "")
  }

  /// Maximum length of an answer topic's address in bytes. One header may contain it several times.
  package static let topicLimit = 300

  /// Validates an answer address: an ntfy topic, or an address to poll.
  package static func validate(replies text: String) throws(DeliveryError) {
    guard let polled = EndpointSettings(replies: text).polled else { return try validate(topic: text) }
    try validate(polled)
    try need(
      !polled.utf8.contains(UInt8(ascii: "#")), "the address for answers contains a #; remove it and the text after it")
  }

  /// Validates the address of an ntfy topic for answers.
  package static func validate(topic text: String) throws(DeliveryError) {
    try validate(text)
    try need(
      text.utf8.count <= topicLimit, "the address of a topic has at most \(topicLimit) bytes, not \(text.utf8.count)")
    guard !text.utf8.contains(where: { "?#\"'".utf8.contains($0) }),
      let topic = text.split(separator: "/").dropFirst(2).last,
      text.hasSuffix("/" + topic), ReplyLine.isID(String(topic))
    else {
      throw DeliveryError(
        "answers come from an ntfy topic: write it as https://ntfy.sh/my-replies, with nothing after the topic; or "
          + "Chime asks for them: write poll:https://example.org/answers"
      )
    }
  }

  /// Returns scheme, host and port of an address in lowercase; nil if it is invalid or libcurl is missing.
  static func origin(of text: String) -> String? {
    guard (try? Libcurl.load()) != nil, let handle = chime_curl_url() else { return nil }
    defer { chime_curl_url_cleanup(handle) }
    guard chime_curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
      let scheme = part(CURLUPART_SCHEME, of: handle),
      let host = part(CURLUPART_HOST, of: handle)
    else { return nil }
    let port = part(CURLUPART_PORT, of: handle) ?? (scheme.lowercased() == "https" ? "443" : "80")
    return "\(scheme)://\(host):\(port)".lowercased()
  }

  /// Returns whether an address is link-local (RFC 4291, 2.5.6), so that it needs a zone (RFC 6874).
  private static func isLinkLocal(_ host: String) -> Bool {
    guard case .v6(let high, _)? = NetworkAddress(host.filter { $0 != "[" && $0 != "]" }) else { return false }
    return high >> 54 == 0xFE80 >> 6
  }

  private static func sentence(for code: CURLUcode, _ text: String) -> String {
    switch code {
    case CURLUE_BAD_SCHEME, CURLUE_NO_SCHEME, CURLUE_UNSUPPORTED_SCHEME:
      // The suggestion completes the address, unless it may contain a password.
      text.utf8.contains(UInt8(ascii: "@")) || text.contains("://")
        ? "the address must begin with https:// or http://"
        : "the address must begin with https:// or http://; write https://\(text)"
    case CURLUE_NO_HOST: "the address names no host; write it as https://HOST/PATH"
    case CURLUE_BAD_PORT_NUMBER: "the port must be a number from 1 to 65535, as in https://example.org:8443/hook"
    case CURLUE_BAD_HOSTNAME, CURLUE_BAD_IPV6:
      "the host is not a name or an address; write it as https://example.org/hook or https://[2001:db8::1]/hook"
    default: "the address is not a URL; write it as https://HOST/PATH"
    }
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard chime_curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { chime_curl_free(text) }
    return String(cString: text)
  }
}
