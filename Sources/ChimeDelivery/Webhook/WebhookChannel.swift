public import ChimeCore
public import ChimeSchedule

/// Sends occurrences to web addresses by HTTP, signed after Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
///
/// One channel serves all endpoints of all owners. Each endpoint has a queue and a limit of its own, so one that hangs
/// delays no other. TLS is always verified, every address is judged as it is dialled, no redirect is followed and no
/// proxy of the environment is used. An endpoint may answer for the occurrence (`WebhookAnswer`).
///
///     let webhooks = WebhookChannel(configuration: EndpointConfiguration(version: "1.0")) { queue in book[queue] }
///     webhooks.send(message) { report in … }
public final class WebhookChannel: EndpointChannel {
  let configuration: EndpointConfiguration
  let sender: MessageSender

  var access: @Sendable (DeliveryQueue) -> EndpointAccess? { sender.access }
  var clock: @Sendable () -> Instant { sender.clock }
  var engine: HTTPEngine { sender.engine }

  /// - Parameters:
  ///   - clock: the wall clock, by default the system's.
  ///   - access: the endpoint of a queue as it is now; nil when there is none. Asked by whoever sends, and on the
  ///     channel's thread at the moment an attempt leaves, so it must be quick: a look-up in memory, or a small file where
  ///     nothing could be sent otherwise.
  public convenience init(
    configuration: EndpointConfiguration, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    self.init(configuration: configuration, library: Libcurl.name, clock: clock, access: access)
  }

  /// - Parameter library: what is loaded as libcurl by the first message.
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

  /// Makes ready for a first message, so that it need not wait for libcurl to be loaded (some milliseconds).
  public func prepare() { engine.prepare() }

  /// Reports `.ended` once, and then `.answered` when the endpoint's answer acts on the occurrence.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let (configuration, delivery) = (configuration, message.delivery)
    sender.send(
      message, report: report,
      make: { access, now in
        if let reason = Self.obstacle(to: message, access) { throw NothingToSend(reason: reason) }
        return try Self.request(for: message, to: access, configuration, at: now)
      },
      judge: { result in
        var verdict = WebhookVerdict(result, channel: delivery.queue.channel, round: delivery.round)
        if let event = delivery.event { verdict.tells(event) }
        return verdict
      }, receipt: { access, answer in access.template?.receipt(in: answer) })
  }

  /// Why a message is not taken back; nil: it is, or the message is another.
  private static func obstacle(to message: OutboundMessage, _ access: EndpointAccess) -> String? {
    guard message.delivery.event?.isWithdrawal == true else { return nil }
    // It was given another template or another token since.
    let name = message.delivery.queue.channel
    if access.takesBack != true { return "endpoint \"\(name)\" cannot take messages back" }
    if access.template?.receipt != nil, message.receipt == nil {
      return "endpoint \"\(name)\" did not return an id for the message"
    }
    return nil
  }

  /// Does nothing: what was sent cannot be called back.
  public func withdraw(_ occurrence: OccurrenceID) {}

  public func stop() async { await engine.stop() }

  /// Sends a signed message of type `chime.test`, or what the endpoint's template makes of a reminder that is made up.
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
