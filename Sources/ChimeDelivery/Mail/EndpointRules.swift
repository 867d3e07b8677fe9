public import ChimeCore

/// Checks which settings an endpoint's address allows. Each kind of endpoint has settings of its own.
public enum EndpointRules {
  /// A setting that does not fit the address, with a sentence that says what to do.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Name of the setting in the protocol and in files.
    public let field: String
    public let description: String
  }

  /// Validates an address.
  public static func check(url: String) throws(DeliveryError) {
    switch Endpoint.Kind(of: url) {
    case .webhook: try EndpointURL.validate(url)
    case .email: _ = try MailAddress.recipients(of: url)
    case .mqtt: _ = try MQTTAddress(url)
    case .matrix: _ = try MatrixAddress(url)
    }
  }

  /// Checks an address and its settings together. Each must already be valid on its own.
  public static func check(url: String, _ settings: EndpointSettings) throws(Fault) {
    switch Endpoint.Kind(of: url) {
    case .webhook: try checkWebhook(settings)
    case .email: try checkMail(settings)
    case .mqtt: try checkMQTT(settings)
    case .matrix: try checkMatrix(settings)
    }
    let template = settings.template ?? (Endpoint.Kind(of: url) == .email ? "email" : nil)
    try checkEvents(settings.events, template.flatMap { try? Template(setting: $0) })
  }

  /// With a template that does not show the event, every event would look like a firing.
  private static func checkEvents(_ events: [OccurrenceEvent]?, _ template: Template?) throws(Fault) {
    guard let events, let template, !template.tellsEvents, !OccurrenceEvent.usual.isSuperset(of: events) else { return }
    throw Fault(
      field: "events",
      description: "its template covers only the event fired: use one with {{event}} in its texts, or leave this out"
    )
  }

  /// What a kind of endpoint lacks or must not have: the setting, whether it is at fault, and the sentence.
  private typealias Rule = (field: String, isFault: Bool, description: String)

  private static func check(_ rules: [Rule]) throws(Fault) {
    if let rule = rules.first(where: \.isFault) { throw Fault(field: rule.field, description: rule.description) }
  }

  private static func checkWebhook(_ settings: EndpointSettings) throws(Fault) {
    let ofEmails = "only an email has this: write the address as mailto:ann@example.org, or leave it out"
    try check([
      ("via", settings.via != nil, ofEmails), ("from", settings.from != nil, ofEmails),
      ("replyTo", settings.replyTo != nil, ofEmails),
      (
        "user", settings.user != nil,
        "a webhook has no log-in: leave this out; --token-file sets the token for its headers"
      ),
      (
        "senders", settings.senders != nil,
        "only a Matrix room has senders: write the address as matrix:roomid/…, or leave this out"
      ),
      (
        "template", isMail(settings.template) == true,
        "the template is for emails: write the address as mailto:ann@example.org, or choose another one"
      ),
    ])
  }

  private static func checkMail(_ settings: EndpointSettings) throws(Fault) {
    try check([
      noSenders(settings),
      (
        "via", settings.via.map(MatrixServer.isMeant) != false,
        "an email needs a server that sends it, such as smtps://mail.example.org (--via)"
      ),
      ("from", settings.from == nil, "an email needs a sender's address, such as chime@example.org (--from)"),
      (
        "headers", settings.headers != nil,
        "an email takes no headers of your own: leave them out; a template has its subject and texts"
      ),
      (
        "replies", settings.replies != nil,
        "emails have no buttons: leave this out; replyTo is the address for replies"
      ),
      (
        "template", isMail(settings.template) == false,
        "the template is not for emails, which have a subject: use a template like chime endpoint templates email"
      ),
    ])
  }

  private static func noSenders(_ settings: EndpointSettings) -> Rule {
    ("senders", settings.senders != nil, "only a Matrix room has senders: leave this out")
  }

  private static func checkMatrix(_ settings: EndpointSettings) throws(Fault) {
    let foreign = "a room of Matrix does not have this: leave it out"
    try check([
      (
        "via", settings.via.map(MatrixServer.isMeant) != true,
        "a room needs the homeserver of the sending account, such as https://matrix.example.org (--via)"
      ),
      ("from", settings.from != nil, foreign), ("replyTo", settings.replyTo != nil, foreign),
      (
        "user", settings.user != nil,
        "the access token alone identifies a Matrix account (--token-file): leave this out"
      ),
      (
        "replies", settings.replies != nil,
        "Chime reads answers from the room itself: leave this out; senders names the people whose answers count"
      ),
      ("template", settings.template != nil, foreign), ("headers", settings.headers != nil, foreign),
    ])
  }

  private static func checkMQTT(_ settings: EndpointSettings) throws(Fault) {
    let foreign = "an endpoint of MQTT does not have this: leave it out"
    try check([
      noSenders(settings), ("via", settings.via != nil, foreign), ("from", settings.from != nil, foreign),
      ("replyTo", settings.replyTo != nil, foreign),
      ("replies", settings.replies != nil, "MQTT answers use the endpoint's own topic: leave this out"),
      ("template", settings.template != nil, foreign), ("headers", settings.headers != nil, foreign),
    ])
  }

  /// Nil without a valid template.
  private static func isMail(_ template: String?) -> Bool? {
    template.flatMap { try? Template(setting: $0) }?.isMail
  }

  /// Validates a sender or reply address of an email.
  public static func check(mailbox text: String) throws(DeliveryError) { _ = try MailAddress(text) }

  /// Validates the address of a mail server or of a room's homeserver.
  public static func check(server text: String) throws(DeliveryError) {
    if MatrixServer.isMeant(text) { _ = try MatrixServer(text) } else { _ = try MailServer(text) }
  }

  /// Validates the people whose answers count. Duplicates are refused.
  public static func check(senders: [String]) throws(DeliveryError) { try MatrixUser.check(senders) }

  /// Maximum length of a login name in bytes.
  private static let userLimit = 255

  /// Validates a login name.
  public static func check(user text: String) throws(DeliveryError) {
    try need(
      (1...userLimit).contains(text.utf8.count)
        && !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
      "the name for the log-in has 1 to \(userLimit) bytes and no control characters")
  }
}
