public import ChimeCore
public import ChimeSchedule

/// An endpoint with what is needed to speak to it.
public struct EndpointAccess: Sendable {
  public let endpoint: Endpoint
  /// What its messages are signed with, the newest first; empty when they could not be read: messages wait until they
  /// can, where `needsSecret`.
  public let secrets: [SigningSecret]
  /// What it wants to be shown beside; nil when it wants nothing, or that could not be read.
  public let token: Token?
  /// Why something of its secrets could not be read; nil when all that there is was.
  public let problem: String?
  /// Whether nothing can be sent to it before its secrets have been read again.
  public let lacksSecrets: Bool
  /// Whether nothing is sent without a secret: emails have none.
  public let needsSecret: Bool
  /// Why nothing can be sent to it, for another reason than its secrets; a sentence without a full stop.
  public let fault: String?
  let template: Template?
  let headers: [TemplateHeader]
  /// The same of what takes a message back.
  let withdrawalHeaders: [TemplateHeader]
  /// Of `headers`, those that the endpoint has itself.
  let ownHeaders: [TemplateHeader]

  public init(endpoint: Endpoint, secrets: [SigningSecret], token: Token? = nil, problem: String? = nil) {
    self.endpoint = endpoint
    self.secrets = secrets
    self.token = token
    self.problem = problem
    var lacksToken = false
    needsSecret = endpoint.kind.secretUse != .none
    do throws(TemplateError) {
      (template, ownHeaders) = try Self.compiled(endpoint.settings)
      headers = Self.laid(ownHeaders, over: template?.message)
      withdrawalHeaders = Self.laid(ownHeaders, over: template?.withdrawal)
      let usesToken =
        (headers + withdrawalHeaders).contains { $0.usesToken } || endpoint.settings.user != nil
        || endpoint.kind.needsToken
      lacksToken = token == nil && usesToken
      let misfit = Self.misfit(endpoint)
      fault = misfit ?? (lacksToken ? problem ?? "its token cannot be read; give it with --token-file" : nil)
    } catch {
      (template, ownHeaders, headers, withdrawalHeaders, fault) = (nil, [], [], [], error.description)
    }
    lacksSecrets = needsSecret && secrets.isEmpty || lacksToken
  }

  /// What of its settings does not fit its address.
  private static func misfit(_ endpoint: Endpoint) -> String? {
    do throws(EndpointRules.Fault) {
      try EndpointRules.check(url: endpoint.url, endpoint.settings)
      return nil
    } catch { return error.description }
  }

  /// The template, and the endpoint's own headers, which may have placeholders.
  private static func compiled(
    _ settings: EndpointSettings
  ) throws(TemplateError) -> (Template?, own: [TemplateHeader]) {
    var template: Template?
    if let setting = settings.template { template = try Template(setting: setting) }
    var headers: [TemplateHeader] = []
    for header in settings.headers ?? [] {
      headers.append(try TemplateHeader(name: header.name, value: .string(header.value)))
    }
    return (template, headers)
  }

  /// The endpoint's own headers go before those of the template.
  private static func laid(_ own: [TemplateHeader], over request: TemplateRequest?) -> [TemplateHeader] {
    let names = Set(own.map { $0.name.lowercased() })
    return own + (request?.headers ?? []).filter { !names.contains($0.name.lowercased()) }
  }

  /// Whether it can take back what it shows; nil: it is of no kind that could. False: it lacks the token for that.
  public var takesBack: Bool? {
    if endpoint.kind.takesBack { return true }
    guard template?.withdrawal != nil else { return nil }
    return token?.withdrawing != nil || !withdrawalHeaders.contains { $0.usesWithdrawalToken }
  }

  /// What it wants to be told of.
  public var listener: EventSubscriptions.Subscriber {
    EventSubscriptions.Subscriber(
      queue: endpoint.queue, events: endpoint.settings.events.map(Set.init) ?? OccurrenceEvent.usual,
      reminders: endpoint.settings.reminders.flatMap(ReminderChoice.init),
      takesBack: takesBack == true, keepsState: endpoint.kind.keepsState)
  }

  /// The secrets that sign at a moment.
  func secrets(at now: Instant) -> [Secret] {
    secrets.filter { secret in secret.until.map { now < $0 } ?? true }.map(\.secret)
  }
}

/// A secret, and until when it signs.
public struct SigningSecret: Hashable, Sendable {
  public var secret: Secret
  /// Nil for one that has not been replaced.
  public var until: Instant?

  public init(_ secret: Secret, until: Instant? = nil) {
    self.secret = secret
    self.until = until
  }
}
