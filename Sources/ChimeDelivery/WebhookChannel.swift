public import ChimeCore
public import ChimeSchedule

/// The bounds of the webhook channel.
public struct WebhookConfiguration: Sendable {
  /// Chime's version, for the header `user-agent`.
  public var version: String
  /// Time to connect, TLS included.
  public var connectTimeout = Milliseconds.seconds(5)
  /// Time for one attempt in all.
  public var totalTimeout = Milliseconds.seconds(15)
  /// How long connections are kept open for a next message.
  var idleTimeout = Milliseconds.minutes(10)
  /// Attempts of one endpoint that may be under way at once, unless it has a number of its own; further ones wait in its
  /// queue.
  public var concurrentPerEndpoint = 8
  /// Bytes of an answer's body that are read at most; the status of a longer one counts all the same.
  public var answerLimit = 65_536
  /// Which addresses may be dialled.
  public var network = NetworkPolicy(isPersonal: true)
  /// What every message goes through; nil for none, whatever the environment says.
  public var proxy: ProxyServer?
  /// A file of certificates in PEM that are trusted beside the system's; nil for none.
  public var certificateFile: String?
  /// Writes a time as the user reads clocks, such as `08:30`, in the zone that a reminder follows.
  public var timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, _ in
    String(Zone.utc.civil(at: instant).time.description.prefix(5))
  }

  public init(version: String) { self.version = version }
}

/// Sends occurrences to endpoints: to web addresses by HTTP, signed after Standard Webhooks 1.0.0
/// (https://www.standardwebhooks.com), and to mailboxes by SMTP (`MailRequest`).
///
/// One channel serves all endpoints of all owners. Each endpoint has a queue and a limit of its own, so one that hangs
/// delays no other. TLS is always verified, every address is judged as it is dialled, no redirect is followed and no
/// proxy of the environment is used. An endpoint may answer for the occurrence (`WebhookAnswer`).
///
///     let webhooks = WebhookChannel(configuration: WebhookConfiguration(version: "1.0")) { lane in book[lane] }
///     webhooks.send(message) { report in … }
public final class WebhookChannel: EndpointChannel {
  let configuration: WebhookConfiguration
  let sender: MessageSender

  var access: @Sendable (Lane) -> EndpointAccess? { sender.access }
  var clock: @Sendable () -> Instant { sender.clock }
  var engine: HTTPEngine { sender.engine }

  /// - Parameters:
  ///   - clock: the wall clock, by default the system's.
  ///   - access: the endpoint of a lane as it is now; nil when there is none. Asked by whoever sends, and on the
  ///     channel's thread at the moment an attempt leaves, so it must be quick: a look-up in memory, or a small file where
  ///     nothing could be sent otherwise.
  public convenience init(
    configuration: WebhookConfiguration, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (Lane) -> EndpointAccess?
  ) {
    self.init(configuration: configuration, library: Libcurl.name, clock: clock, access: access)
  }

  /// - Parameter library: what is loaded as libcurl by the first message.
  init(
    configuration: WebhookConfiguration, library: String, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (Lane) -> EndpointAccess?
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
        var verdict = WebhookVerdict(result, channel: delivery.lane.channel, round: delivery.round)
        if let event = delivery.event { verdict.tells(event) }
        return verdict
      }, receipt: { access, answer in access.template?.receipt(in: answer) })
  }

  /// Why a message is not taken back; nil: it is, or the message is another.
  private static func obstacle(to message: OutboundMessage, _ access: EndpointAccess) -> String? {
    guard message.delivery.event?.isWithdrawal == true else { return nil }
    // It was given another template or another token since.
    let name = message.delivery.lane.channel
    if access.takesBack != true { return "endpoint \"\(name)\" takes nothing back" }
    if access.template?.receipt != nil, message.receipt == nil {
      return "endpoint \"\(name)\" has not said what it calls the message"
    }
    return nil
  }

  /// Does nothing: what was sent cannot be called back.
  public func withdraw(_ occurrence: OccurrenceID) {}

  public func stop() async { await engine.stop() }

  /// Sends one message now, past the endpoint's queue, and says all about it: a signed one of type `chime.test`, or what
  /// the endpoint's template makes of a reminder that is made up.
  ///
  /// Nothing is stored and nothing retried.
  public func test(_ access: EndpointAccess) async -> WebhookTest {
    let now = clock()
    var random = SystemRandom()
    let (id, channel) = (DeliveryID(at: now, using: &random), access.endpoint.lane.channel)
    let timeOfDay = configuration.timeOfDay
    let sample: @Sendable () -> TemplateValues = {
      TemplateValues(sampleFor: channel, delivery: id, at: now) { timeOfDay($0, .local) }
    }
    func request(redacted: Bool) throws -> HTTPRequest {
      let token = access.token.map { redacted ? Redaction.mark : $0.text }
      guard access.endpoint.kind == .webhook else {
        let occurrence = OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: now)
        return try MailRequest(access: access, id: id.rawValue, occurrence: occurrence, date: now, values: sample).make(
          password: token)
      }
      return try SignedRequest(
        access: access, id: id.rawValue, version: configuration.version,
        values: {
          var values = sample()
          values.put(OfferedAnswers(sampleFor: access, at: now), redacted: redacted)
          return values
        },
        usual: {
          try WebhookMessage(
            type: "chime.test", timestamp: Timestamp.rfc3339(now), data: TestNotice(channel: channel.rawValue)
          ).bytes()
        }
      ).make(at: now, token: token)
    }
    // What is shown is made a second time, with a word in the place of each token.
    let (sent, shown): (HTTPRequest, HTTPRequest)
    do {
      (sent, shown) = (try request(redacted: false), try request(redacted: true))
    } catch {
      let reason =
        (error as? TemplateError)?.description ?? (error as? EndpointURLError)?.description
        ?? "the message cannot be written as JSON"
      return WebhookTest(
        method: access.template?.message.method ?? "POST", url: access.endpoint.url, requestHeaders: [],
        requestBody: "",
        attempt: Attempt(number: 1, startedAt: now, took: .zero, outcome: .refused, error: reason))
    }
    let result = await sender.inspect(sent)
    return WebhookTest(of: shown, result, WebhookVerdict(result, channel: channel), endedAt: clock())
  }

  private static func request(
    for message: OutboundMessage, to access: EndpointAccess, _ configuration: WebhookConfiguration, at now: Instant
  ) throws -> HTTPRequest {
    let zone = message.reminder?.governingZone ?? .local
    let delivery = message.delivery
    guard access.endpoint.kind == .webhook else {
      return try MailRequest(
        access: access, id: delivery.id.rawValue, occurrence: message.occurrence.id, isRepeat: delivery.round > 1,
        date: delivery.createdAt, isUrgent: message.reminder?.urgency == .critical,
        values: { TemplateValues(message) { configuration.timeOfDay($0, zone) } }
      ).make(password: access.token?.text)
    }
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

/// What a test message was and what came of it. Its headers hold the signature, from which no secret can be had.
public struct WebhookTest: Hashable, Sendable {
  public var method: String
  public var url: String
  /// `name: value` lines, as sent; for a token stands `<redacted>`.
  public var requestHeaders: [String]
  public var requestBody: String
  /// Status, answer's beginning, error and timing.
  public var attempt: Attempt
  /// The address, the answer's headers and how long each part took; nil when nothing was sent.
  public var details: HTTPDetails?

  /// Whether the endpoint took it.
  public var isDelivered: Bool { attempt.outcome == .delivered }
}
