public import ChimeCore
public import ChimeSchedule

/// A WebhookChannel sends occurrences by HTTP, signed by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
///
/// One channel serves all endpoints of all owners. Each endpoint has its own queue and limit, so a hanging endpoint
/// delays no other. TLS is always verified, every address is checked as it is dialed, redirects are not followed, and
/// proxy variables of the environment are ignored. An endpoint may answer for the occurrence (`WebhookAnswer`).
///
///     let webhooks = WebhookChannel(configuration: EndpointConfiguration(version: "1.0")) { queue in book[queue] }
///     webhooks.send(message) { report in … }
public final class WebhookChannel: EndpointChannel {
  let configuration: EndpointConfiguration
  let sender: MessageSender

  var access: @Sendable (DeliveryQueue) -> EndpointAccess? { sender.access }
  var clock: @Sendable () -> Instant { sender.clock }
  var engine: HTTPEngine { sender.engine }

  /// Creates a channel.
  ///
  /// - Parameters:
  ///   - clock: The wall clock; the system's by default.
  ///   - access: Returns a queue's current endpoint, or nil if it has none. Senders call it, and the channel's thread
  ///     calls it when an attempt starts. It must be quick: a look-up in memory, or a small file if nothing could be
  ///     sent otherwise.
  public convenience init(
    configuration: EndpointConfiguration, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    self.init(configuration: configuration, library: Libcurl.name, clock: clock, access: access)
  }

  /// - Parameter library: File name of libcurl, loaded by the first message.
  init(
    configuration: EndpointConfiguration, library: String, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    self.configuration = configuration
    sender = MessageSender(
      engine: HTTPEngine(
        limits: HTTPLimits(
          connect: configuration.connectTimeout, total: configuration.totalTimeout, answer: configuration.answerLimit,
          idle: configuration.idleTimeout),
        route: HTTPRoute(
          network: configuration.network, proxy: configuration.proxy, certificateFile: configuration.certificateFile),
        library: library),
      configuration: configuration, access: access, clock: clock ?? Timestamp.now)
  }

  /// Loads libcurl, so that the first message does not wait some milliseconds for it.
  public func prepare() { engine.prepare() }

  /// Sends a message. Reports `.ended` once, then `.answered` if the endpoint's answer acts on the occurrence.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let (configuration, delivery) = (configuration, message.delivery)
    sender.send(
      message, report: report, make: { try Self.request(for: message, to: $0, configuration, at: $1) },
      judge: { result in
        var verdict = WebhookVerdict(result, channel: delivery.queue.channel, round: delivery.round)
        if let event = delivery.event { verdict.tells(event) }
        return verdict
      }, receipt: { access, answer in access.template?.receipt(in: answer) })
  }

  public func rehearse(_ message: OutboundMessage, at time: Instant) {
    let configuration = configuration
    sender.draft(message, at: time) { try Self.request(for: message, to: $0, configuration, at: $1) }
  }

  /// Returns why a withdrawal is impossible; nil if it is possible or the message is no withdrawal.
  private static func obstacle(to message: OutboundMessage, _ access: EndpointAccess) -> String? {
    guard message.delivery.event?.isWithdrawal == true else { return nil }
    // The endpoint's template or token may have changed since the withdrawal was queued.
    let name = message.delivery.queue.channel
    if access.canWithdraw != true { return "endpoint \"\(name)\" cannot take messages back" }
    if access.template?.receipt != nil, message.receipt == nil {
      return "endpoint \"\(name)\" did not return an id for the message"
    }
    return nil
  }

  /// Does nothing. An HTTP request cannot be recalled; a withdrawal is a delivery of its own.
  public func withdraw(_ occurrence: OccurrenceID) {}

  public func stop() async { await engine.stop() }

  /// Sends a signed `chime.test` message, or a made-up reminder rendered by the endpoint's template.
  public func test(_ access: EndpointAccess) async -> EndpointTest {
    let (channel, configuration) = (access.endpoint.queue.channel, configuration)
    return await sender.test(access) { id, now, values, isShown in
      try SignedRequest(
        access: access, id: id.rawValue, version: configuration.version,
        values: {
          var values = values
          values.put(OfferedAnswers(sampleFor: access, at: now), redacted: isShown)
          return values
        },
        usual: {
          try WebhookMessage(
            type: "chime.test", timestamp: Timestamp.rfc3339(now), data: TestNotice(channel: channel.rawValue)
          ).bytes()
        }
      ).make(at: now, token: access.token.map { isShown ? Redaction.mark : $0.text })
    }
  }

  private static func request(
    for message: OutboundMessage, to access: EndpointAccess, _ configuration: EndpointConfiguration, at now: Instant
  ) throws -> HTTPRequest {
    if let reason = obstacle(to: message, access) { throw NothingToSend(reason: reason) }
    let zone = message.reminder?.governingZone ?? .local
    let delivery = message.delivery
    var request = SignedRequest(
      access: access, id: delivery.id.rawValue, version: configuration.version,
      values: {
        var values = TemplateValues(message) { configuration.timeOfDay($0, zone) }
        values.put(OfferedAnswers(to: message, by: access, at: now))
        return values
      },
      usual: { try WebhookMessage(message, OfferedAnswers(to: message, by: access, at: now)).bytes() })
    request.withdraws = delivery.event?.isWithdrawal == true
    return try request.make(at: now, token: access.token?.text)
  }
}
