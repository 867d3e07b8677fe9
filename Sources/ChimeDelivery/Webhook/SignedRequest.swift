import ChimeCore
package import ChimeSchedule

/// What leaves in one attempt: made from an endpoint and a message, the same each time but for the time and the
/// signatures of it.
package struct SignedRequest {
  package var access: EndpointAccess
  /// `POST`, or `GET`, which has no body; a template has its own.
  var method = "POST"
  /// Whether it takes back what a message shows, by the template's way of doing so.
  var withdraws = false
  /// `webhook-id`, the same for every attempt of a delivery.
  var id: String
  /// Chime's version.
  var version: String
  /// For the endpoint's template and the placeholders of its headers; asked only where there are some.
  var values: @Sendable () -> TemplateValues
  /// The usual body, where there is no template.
  var usual: @Sendable () throws -> [UInt8]

  package init(
    access: EndpointAccess, id: String, version: String, values: @escaping @Sendable () -> TemplateValues,
    usual: @escaping @Sendable () throws -> [UInt8]
  ) {
    (self.access, self.id, self.version, self.values, self.usual) = (access, id, version, values, usual)
  }

  /// - Parameters:
  ///   - time: that of this attempt.
  ///   - token: what stands for `{{token}}`.
  /// - Throws: `TemplateError` when the template or the headers would make too much of the message.
  package func make(at time: Instant, token: String?) throws -> HTTPRequest {
    let template = withdraws ? access.template?.withdrawal : access.template?.message
    let own = withdraws ? access.withdrawalHeaders : access.headers
    var values = template == nil && own.isEmpty ? TemplateValues() : values()
    values[.token] = TemplateValue(token)
    // What takes messages back may have a token of its own.
    let other = withdraws ? access.token?.withdrawing : nil
    values[.withdrawalToken] = TemplateValue(other)
    let bound = own.reduce(template?.bound(values) ?? 0) { $0 + $1.bound(values) }
    guard bound <= Template.textLimit else {
      throw TemplateError(
        "its template or its headers could make this message longer than \(Template.textLimit) bytes: use long "
          + "texts less often, or cut them with |max:N before other filters")
    }
    let content: (type: String?, bytes: [UInt8]) =
      if let template {
        template.body(values)
      } else if method == "GET" {
        (nil, [])
      } else {
        ("application/json", try usual())
      }
    let signatures = access.secrets(at: time).map {
      $0.signature(id: id, timestamp: time.seconds, body: content.bytes)
    }
    var headers = content.type.map { ["content-type: \($0)"] } ?? []
    headers += [
      "user-agent: Chime/\(version)",
      "webhook-id: \(id)",
      "webhook-timestamp: \(time.seconds)",
    ]
    if !signatures.isEmpty { headers.append("webhook-signature: \(signatures.joined(separator: " "))") }
    // A token that no header asks for goes where most receivers look for one (RFC 6750, section 2.1).
    if let token, !own.contains(where: { $0.usesToken }) { headers.append("authorization: Bearer \(token)") }
    for header in own {
      if let value = header.render(values) { headers.append("\(header.name): \(value)") }
    }
    return HTTPRequest(
      method: template?.method ?? method,
      url: template?.url(access.endpoint.url, values) ?? access.endpoint.url,
      headers: headers, body: content.bytes, certificates: access.endpoint.settings.certificates,
      redaction: Redaction(tokens: [token, other].compactMap { $0 }))
  }
}
