/// A TemplateRequest is one request of a template: method, path, headers and content.
struct TemplateRequest: Hashable, Sendable {
  let method: String
  let path: TemplateText?
  let headers: [TemplateHeader]
  let contentType: String?
  let content: Content

  enum Content: Hashable, Sendable {
    case none
    case text(TemplateNode)
    case json(TemplateNode)
    case mail(MailTexts)
  }

  /// The parts of an email.
  struct MailTexts: Hashable, Sendable {
    var subject: TemplateNode
    var text: TemplateNode
    /// Nil for an email with plain text only.
    var html: TemplateNode?
  }

  static let keys = ["method", "path", "headers", "contentType", "body", "text"]

  /// - Parameters:
  ///   - parts: The members of the JSON object.
  ///   - methods: Allowed methods; the first is the default.
  init(_ parts: [String: TemplateJSON], methods: [String]) throws(DeliveryError) {
    method = try Template.string(parts["method"], "method") ?? methods[0]
    try need(
      methods.contains(method),
      "the template's method must be \(methods.dropLast().joined(separator: ", ")) or "
        + "\(methods[methods.count - 1]), not \"\(PlainText.sentence(method))\"")
    path = try Self.path(try Template.string(parts["path"], "path"))
    headers = try Self.headers(parts["headers"])
    contentType = try Template.string(parts["contentType"], "contentType")
    if let contentType {
      try HeaderRules.check(value: contentType, of: "contentType")
      try need(
        contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
        "the template's contentType may have only ASCII characters, as in text/plain; charset=utf-8")
    }
    switch (parts["body"], parts["text"]) {
    case _ where parts["subject"] != nil || parts["html"] != nil: content = .mail(try Self.mail(parts))
    case (let body?, nil): content = .json(try TemplateNode(body))
    case (nil, let text?): content = .text(try TemplateNode(text))
    case (nil, nil): content = .none
    default: throw DeliveryError("a template has either a body, which is JSON, or a text")
    }
    if method == "GET", content != .none { throw DeliveryError("a GET has no body: leave out body and text") }
    if case .json(let node) = content { try Self.keepToken(out: node, "body") }
    if case .text(let node) = content {
      try need(node.isText, "the template's text must be a string, or a choice among strings")
      try Self.keepToken(out: node, "text")
    }
    if path?.placeholders.contains(where: \.isSecret) == true { throw Self.tokenElsewhere("path") }
  }

  /// Parses the texts of an email, which excludes all HTTP keys.
  private static func mail(_ parts: [String: TemplateJSON]) throws(DeliveryError) -> MailTexts {
    if let stray = ["method", "path", "headers", "contentType", "body"].first(where: { parts[$0] != nil }) {
      throw DeliveryError("the template of an email has a subject, a text and an html, and no \(stray)")
    }
    func node(_ key: String) throws(DeliveryError) -> TemplateNode? {
      guard let value = parts[key] else { return nil }
      let node = try TemplateNode(value)
      try need(node.isText, "the template's \(key) must be a string, or a choice among strings")
      try keepToken(out: node, key)
      return node
    }
    guard let subject = try node("subject"), let text = try node("text") else {
      throw DeliveryError("the template of an email needs a subject and a text; its html is optional")
    }
    return MailTexts(subject: subject, text: text, html: try node("html"))
  }

  private static func path(_ text: String?) throws(DeliveryError) -> TemplateText? {
    guard let text else { return nil }
    let path = try TemplateText(text)
    try need(
      (text.hasPrefix("/") || text.hasPrefix("?"))
        && path.literal.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }),
      "the template's path must begin with / or ?, and apart from placeholders have only visible ASCII characters")
    return path
  }

  private static func headers(_ value: TemplateJSON?) throws(DeliveryError) -> [TemplateHeader] {
    guard let value else { return [] }
    guard case .object(let members) = value, members.count <= HeaderRules.most else {
      throw DeliveryError("the template's headers must be an object of at most \(HeaderRules.most) strings")
    }
    var headers: [TemplateHeader] = []
    for member in members { headers.append(try TemplateHeader(name: member.key, value: member.value)) }
    return headers
  }

  private static func keepToken(out node: TemplateNode, _ part: String) throws(DeliveryError) {
    if node.placeholders.contains(where: \.isSecret) { throw tokenElsewhere(part) }
  }

  private static func tokenElsewhere(_ part: String) -> DeliveryError {
    DeliveryError("{{token}} may stand only in headers, not in the \(part), where the receiver would show it")
  }

  /// Returns whether a placeholder occurs outside the headers.
  func names(_ name: Placeholder.Name) -> Bool {
    if path?.placeholders.contains(name) == true { return true }
    return switch content {
    case .text(let node), .json(let node): node.placeholders.contains(name)
    case .none, .mail: false
    }
  }

  // MARK: Rendering

  /// Returns an upper bound of the rendered request in bytes, without headers.
  func bound(_ values: TemplateValues) -> Int {
    let content =
      switch content {
      case .none: 0
      case .text(let node), .json(let node): node.bound(values)
      case .mail(let texts):
        texts.subject.bound(values) + texts.text.bound(values)
          + (texts.html?.bound(values, first: .html) ?? 0)
      }
    return content + (path?.bound(values) ?? 0)
  }

  /// Returns the address with the path appended before an existing query.
  ///
  ///     https://example.org/rooms/7?v=1 and /send/{{delivery}} → https://example.org/rooms/7/send/msg_1?v=1
  func url(_ base: String, _ values: TemplateValues) -> String {
    guard let path else { return base }
    let added = path.render(values, encoding: Self.segment).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let bare = base.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
    let parts = bare.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var url = String(parts[0])
    if url.hasSuffix("/"), added[0].hasPrefix("/") { url.removeLast() }
    url += added[0]
    let queries = [parts.dropFirst().first, added.dropFirst().first].compactMap { $0 }.filter { !$0.isEmpty }
    return queries.isEmpty ? url : url + "?" + queries.joined(separator: "&")
  }

  /// Encodes a value for a path, so that it cannot add or leave a segment.
  private static func segment(_ text: String) -> String {
    text == "." || text == ".." ? "_" : TemplateFilter.percentEncoded(text)
  }

  func body(_ values: TemplateValues) -> (type: String?, bytes: [UInt8]) {
    switch content {
    // `MailRequest` builds emails.
    case .none, .mail: (nil, [])
    case .text(let node): (contentType ?? "text/plain; charset=utf-8", Array(node.text(values).utf8))
    case .json(let node): (contentType ?? "application/json", (node.render(values) ?? .null).bytes)
    }
  }
}
