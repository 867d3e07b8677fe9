public import ChimeCore

/// A Template is a JSON text with placeholders that replaces an endpoint's usual message.
///
/// The body is parsed before placeholders are replaced and is serialized afterwards. No value can end a string, add a
/// key or change the structure.
///
///     let template = try Template(#"{"body": {"text": "{{title}}", "loud": {"{{urgency}}": {"critical": true}}}}"#)
public struct Template: Hashable, Sendable {
  /// Maximum length of a template in bytes.
  public static let limit = 65_536
  static let deepest = 64

  /// One-line description for listings.
  public let summary: String
  /// Example of a matching endpoint address.
  public let example: String?
  /// The request for a firing and for every other event.
  let message: TemplateRequest
  /// The request that withdraws a message; nil if the template cannot.
  let withdrawal: TemplateRequest?
  /// Member of a JSON answer that contains the receiver's message id; nil to use the delivery's id.
  let receipt: String?

  private static let keys =
    ["description", "example"] + TemplateRequest.keys + ["subject", "html", "withdraw", "receipt"]

  /// - Throws: `DeliveryError`, whose sentence names the error and its place.
  public init(_ text: String) throws(DeliveryError) {
    try need(
      text.utf8.count <= Self.limit, "the template has \(text.utf8.count) bytes; at most \(Self.limit) are allowed")
    let json = try TemplateJSON(parsing: text)
    try need(json.depth <= Self.deepest, "the template nests deeper than \(Self.deepest) lists and objects")
    guard case .object(let members) = json else { throw DeliveryError("a template must be a JSON object") }
    if let stray = members.first(where: { !Self.keys.contains($0.key) })?.key {
      throw DeliveryError(
        "a template has no key \"\(PlainText.sentence(stray))\"; there are: \(Self.keys.joined(separator: ", "))")
    }
    let parts = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    summary = PlainText.sentence(try Self.string(parts["description"], "description") ?? "")
    example = try Self.string(parts["example"], "example")
    message = try TemplateRequest(parts, methods: ["POST", "PUT", "GET"])
    withdrawal = try Self.withdrawal(parts["withdraw"])
    receipt = try Self.string(parts["receipt"], "receipt")
    try checkReceipt()
    if isMail, withdrawal != nil { throw DeliveryError("an email cannot be taken back: leave out withdraw") }
  }

  /// Checks that `{{receipt}}` and `{{token.withdraw}}` occur only in `withdraw`. The receipt is known only after
  /// delivery.
  private func checkReceipt() throws(DeliveryError) {
    let isNamed = withdrawal?.names(.receipt) == true
    if receipt != nil, !isNamed {
      throw DeliveryError(
        "{{receipt}} in withdraw stands for the template's receipt: write it into the path or the body there")
    }
    if receipt == nil, isNamed {
      throw DeliveryError(
        "withdraw has {{receipt}}: name the member of the answer with receipt, as in \"receipt\": \"id\"")
    }
    if message.names(.receipt) {
      throw DeliveryError("{{receipt}} may stand only in withdraw: the answer supplies it")
    }
    if message.headers.contains(where: \.usesWithdrawalToken) {
      throw DeliveryError("{{token.withdraw}} may stand only in the headers of withdraw")
    }
  }

  private static func withdrawal(_ value: TemplateJSON?) throws(DeliveryError) -> TemplateRequest? {
    guard let value else { return nil }
    guard case .object(let members) = value else { throw DeliveryError("the template's withdraw must be an object") }
    if let stray = members.first(where: { !TemplateRequest.keys.contains($0.key) })?.key {
      let known = TemplateRequest.keys.joined(separator: ", ")
      throw DeliveryError(
        "the template's withdraw has no key \"\(PlainText.sentence(stray))\"; there are: \(known)")
    }
    return try TemplateRequest(
      Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }, methods: ["POST", "PUT", "GET", "DELETE"])
  }

  /// Whether the template is for emails.
  public var isMail: Bool { if case .mail = message.content { true } else { false } }

  /// Whether the message shows which event it reports.
  var tellsEvents: Bool {
    switch message.content {
    case .none: message.path?.placeholders.contains(.event) == true
    case .text(let node), .json(let node): node.placeholders.contains(.event)
    case .mail(let texts): texts.subject.placeholders.contains(.event) || texts.text.placeholders.contains(.event)
    }
  }

  /// Returns the receiver's message id from its answer; nil if the answer has none.
  func receipt(in answer: [UInt8]) -> String? {
    guard let receipt, let text = String(validating: answer, as: UTF8.self),
      case .object(let members)? = try? TemplateJSON(parsing: text)
    else { return nil }
    switch members.first(where: { $0.key == receipt })?.value {
    case .string(let text) where (1...256).contains(text.utf8.count): return text
    case .integer(let number): return String(number)
    default: return nil
    }
  }

  static func string(_ value: TemplateJSON?, _ key: String) throws(DeliveryError) -> String? {
    switch value {
    case nil: nil
    case .string(let text): text
    default: throw DeliveryError("the template's \(key) must be a string")
    }
  }

  /// Returns whether the template needs a token, given that the endpoint's headers override its own.
  public func needsToken(besides others: [EndpointSettings.Header]) -> Bool {
    let names = Set(others.map { $0.name.lowercased() })
    return (message.headers + (withdrawal?.headers ?? [])).contains {
      $0.usesToken && !names.contains($0.name.lowercased())
    }
  }

  // MARK: Rendering

  /// Maximum bytes of text in a rendered message. A template of 64 KiB could otherwise repeat a long text thousands of
  /// times in every message.
  static let textLimit = 1 << 20
}
