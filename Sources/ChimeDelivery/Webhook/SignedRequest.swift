import ChimeCore
package import ChimeSchedule

/// A SignedRequest builds the HTTP request of one attempt. Retries differ only in the time and its signatures.
package struct SignedRequest {
  package var access: EndpointAccess
  /// `POST`, or `GET` without a body. A template overrides it.
  var method = "POST"
  /// Whether the request withdraws an earlier message, using the template's withdrawal section.
  var withdraws = false
  /// The `webhook-id`, equal for every attempt of a delivery.
  var id: String
  /// Chime's version.
  var version: String
  /// Values for the template and for header placeholders; called only if the endpoint has either.
  var values: @Sendable () -> TemplateValues
  /// Body for an endpoint without a template.
  var usual: @Sendable () throws -> [UInt8]

  package init(
    access: EndpointAccess, id: String, version: String, values: @escaping @Sendable () -> TemplateValues,
    usual: @escaping @Sendable () throws -> [UInt8]
  ) {
    (self.access, self.id, self.version, self.values, self.usual) = (access, id, version, values, usual)
  }

  /// Builds and signs the request.
  ///
  /// - Parameters:
  ///   - time: Time of this attempt.
  ///   - token: Value of `{{token}}`.
  /// - Throws: `DeliveryError` if the template or the headers could exceed `Template.textLimit`.
  package func make(at time: Instant, token: String?) throws -> HTTPRequest {
    let template = withdraws ? access.template?.withdrawal : access.template?.message
    let own = withdraws ? access.withdrawalHeaders : access.headers
    var values = template == nil && own.isEmpty ? TemplateValues() : values()
    values[.token] = TemplateValue(token)
    // Withdrawals may use a token of their own.
    let other = withdraws ? access.token?.withdrawing : nil
    values[.withdrawalToken] = TemplateValue(other)
    let bound = own.reduce(template?.bound(values) ?? 0) { $0 + $1.bound(values) }
    try need(
      bound <= Template.textLimit,
      "its template or its headers could make this message longer than \(Template.textLimit) bytes: use long "
        + "texts less often, or cut them with |max:N before other filters")
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
    // Most receivers expect a token here (RFC 6750, section 2.1), unless a header of the endpoint places it.
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
