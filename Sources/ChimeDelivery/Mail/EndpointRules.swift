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
  public static func check(url: String) throws(EndpointURLError) {
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

  private static func checkWebhook(_ settings: EndpointSettings) throws(Fault) {
    let ofEmails = "only an email has this: write the address as mailto:ann@example.org, or leave it out"
    let foreign: [(field: String, isSet: Bool, description: String)] = [
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
    ]
    if let first = foreign.first(where: \.isSet) { throw Fault(field: first.field, description: first.description) }
    if isMail(settings.template) == true {
      throw Fault(
        field: "template",
        description: "the template is for emails: write the address as mailto:ann@example.org, or choose another one"
      )
    }
  }

  private static func checkMail(_ settings: EndpointSettings) throws(Fault) {
    try checkNoSenders(settings)
    guard settings.via.map(MatrixServer.isMeant) == false else {
      throw Fault(
        field: "via",
        description: "an email needs a server that sends it, such as smtps://mail.example.org (--via)")
    }
    guard settings.from != nil else {
      throw Fault(
        field: "from", description: "an email needs a sender's address, such as chime@example.org (--from)")
    }
    guard settings.headers == nil else {
      throw Fault(
        field: "headers",
        description: "an email takes no headers of your own: leave them out; a template has its subject and texts")
    }
    guard settings.replies == nil else {
      throw Fault(
        field: "replies",
        description: "emails have no buttons: leave this out; replyTo is the address for replies")
    }
    if isMail(settings.template) == false {
      throw Fault(
        field: "template",
        description: "the template is not for emails, which have a subject: use a template like chime endpoint "
          + "templates email")
    }
  }

  private static func checkNoSenders(_ settings: EndpointSettings) throws(Fault) {
    guard settings.senders != nil else { return }
    throw Fault(field: "senders", description: "only a Matrix room has senders: leave this out")
  }

  private static func checkMatrix(_ settings: EndpointSettings) throws(Fault) {
    guard settings.via.map(MatrixServer.isMeant) == true else {
      throw Fault(
        field: "via",
        description: "a room needs the homeserver of the sending account, such as https://matrix.example.org (--via)"
      )
    }
    let others = [
      ("from", settings.from), ("replyTo", settings.replyTo), ("user", settings.user), ("replies", settings.replies),
      ("template", settings.template), ("headers", settings.headers.map { _ in "" }),
    ]
    if let (name, _) = others.first(where: { $0.1 != nil }) {
      throw Fault(
        field: name,
        description: name == "replies"
          ? "Chime reads answers from the room itself: leave this out; senders names the people whose answers count"
          : name == "user"
            ? "the access token alone identifies a Matrix account (--token-file): leave this out"
            : "a room of Matrix does not have this: leave it out")
    }
  }

  private static func checkMQTT(_ settings: EndpointSettings) throws(Fault) {
    try checkNoSenders(settings)
    let others = [
      ("via", settings.via), ("from", settings.from), ("replyTo", settings.replyTo), ("replies", settings.replies),
      ("template", settings.template), ("headers", settings.headers.map { _ in "" }),
    ]
    if let (name, _) = others.first(where: { $0.1 != nil }) {
      throw Fault(
        field: name,
        description: name == "replies"
          ? "MQTT answers use the endpoint's own topic: leave this out"
          : "an endpoint of MQTT does not have this: leave it out")
    }
  }

  /// Nil without a valid template.
  private static func isMail(_ template: String?) -> Bool? {
    template.flatMap { try? Template(setting: $0) }?.isMail
  }

  /// Validates a sender or reply address of an email.
  public static func check(mailbox text: String) throws(EndpointURLError) { _ = try MailAddress(text) }

  /// Validates the address of a mail server or of a room's homeserver.
  public static func check(server text: String) throws(EndpointURLError) {
    if MatrixServer.isMeant(text) { _ = try MatrixServer(text) } else { _ = try MailServer(text) }
  }

  /// Validates the people whose answers count. Duplicates are refused.
  public static func check(senders: [String]) throws(EndpointURLError) { try MatrixUser.check(senders) }

  /// Maximum length of a login name in bytes.
  private static let userLimit = 255

  /// Validates a login name.
  public static func check(user text: String) throws(EndpointURLError) {
    guard (1...userLimit).contains(text.utf8.count),
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw EndpointURLError("the name for the log-in has 1 to \(userLimit) bytes and no control characters")
    }
  }
}
