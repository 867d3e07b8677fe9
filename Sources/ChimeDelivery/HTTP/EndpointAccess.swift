public import ChimeCore
public import ChimeSchedule

/// An EndpointAccess is an endpoint with its secrets, token and compiled template.
public struct EndpointAccess: Sendable {
  public let endpoint: Endpoint
  /// Signing secrets, newest first; empty if they cannot be read. If `needsSecret`, messages then wait.
  public let secrets: [SigningSecret]
  /// The endpoint's token; nil if it has none or it cannot be read.
  public let token: Token?
  /// Why a secret or the token could not be read; nil if all were read.
  public let problem: String?
  /// Whether nothing can be sent until the secrets are read again.
  public let lacksSecrets: Bool
  /// Whether messages require a secret; emails do not.
  public let needsSecret: Bool
  /// Why nothing can be sent, apart from missing signing secrets, as a sentence without a full stop.
  public let fault: String?
  let template: Template?
  let headers: [TemplateHeader]
  /// Headers of withdrawals.
  let withdrawalHeaders: [TemplateHeader]
  /// The headers among `headers` that the endpoint's own settings define.
  let ownHeaders: [TemplateHeader]

  public init(endpoint: Endpoint, secrets: [SigningSecret], token: Token? = nil, problem: String? = nil) {
    self.endpoint = endpoint
    self.secrets = secrets
    self.token = token
    self.problem = problem
    var lacksToken = false
    needsSecret = endpoint.kind.secretUse != .none
    do throws(DeliveryError) {
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

  /// Returns which setting does not fit the address; nil if all do.
  private static func misfit(_ endpoint: Endpoint) -> String? {
    do throws(EndpointRules.Fault) {
      try EndpointRules.check(url: endpoint.url, endpoint.settings)
      return nil
    } catch { return error.description }
  }

  /// Parses the template and the endpoint's own headers.
  private static func compiled(
    _ settings: EndpointSettings
  ) throws(DeliveryError) -> (Template?, own: [TemplateHeader]) {
    var template: Template?
    if let setting = settings.template { template = try Template(setting: setting) }
    var headers: [TemplateHeader] = []
    for header in settings.headers ?? [] {
      headers.append(try TemplateHeader(name: header.name, value: .string(header.value)))
    }
    return (template, headers)
  }

  /// Merges headers. The endpoint's own override the template's.
  private static func laid(_ own: [TemplateHeader], over request: TemplateRequest?) -> [TemplateHeader] {
    let names = Set(own.map { $0.name.lowercased() })
    return own + (request?.headers ?? []).filter { !names.contains($0.name.lowercased()) }
  }

  /// Whether the endpoint can withdraw messages; nil if its kind or template never can, false if the required token is
  /// missing.
  public var canWithdraw: Bool? {
    if endpoint.kind.canWithdraw { return true }
    guard template?.withdrawal != nil else { return nil }
    return token?.withdrawing != nil || !withdrawalHeaders.contains { $0.usesWithdrawalToken }
  }

  /// The events that the endpoint subscribes to.
  public var listener: EventSubscriptions.Subscriber {
    EventSubscriptions.Subscriber(
      queue: endpoint.queue, events: endpoint.settings.events.map(Set.init) ?? OccurrenceEvent.usual,
      reminders: endpoint.settings.reminders.flatMap(ReminderChoice.init),
      canWithdraw: canWithdraw == true, keepsState: endpoint.kind.keepsState)
  }

  /// Returns the secrets that sign at a given time.
  func secrets(at now: Instant) -> [Secret] {
    secrets.filter { secret in secret.until.map { now < $0 } ?? true }.map(\.secret)
  }
}

/// A secret and when it stops signing.
public struct SigningSecret: Hashable, Sendable {
  public var secret: Secret
  /// Nil unless the secret was replaced.
  public var until: Instant?

  public init(_ secret: Secret, until: Instant? = nil) {
    self.secret = secret
    self.until = until
  }
}
