public import ChimeCore
public import ChimeSchedule

/// A channel whose endpoints users configure: webhook, MQTT, Matrix or mail.
public protocol EndpointChannel: Channel, AnyObject {
  /// Loads libraries ahead of the first message.
  func prepare()
  /// Sends one test message now, outside all queues. It is neither stored nor retried.
  func test(_ access: EndpointAccess) async -> EndpointTest
}

/// Limits and network settings that all endpoints share.
public struct EndpointConfiguration: Sendable {
  /// Chime's version, for the `user-agent` header.
  public var version: String
  /// Time limit for connecting, TLS handshake included.
  public var connectTimeout = Milliseconds.seconds(5)
  /// Time limit for a whole attempt.
  public var totalTimeout = Milliseconds.seconds(15)
  /// How long an idle connection stays open for the next message.
  var idleTimeout = Milliseconds.minutes(10)
  /// Attempts that one endpoint may have in flight, unless its own settings say otherwise. Further attempts queue.
  public var concurrentPerEndpoint = 8
  /// Maximum bytes read of an answer's body. The status of a longer answer still counts.
  public var answerLimit = 65_536
  /// Addresses that may be dialed.
  public var network = NetworkPolicy(isPersonal: true)
  /// Proxy for every message; nil for none. Proxy variables of the environment are ignored.
  public var proxy: ProxyServer?
  /// PEM file of certificates trusted in addition to the system's; nil for none.
  public var certificateFile: String?
  /// Formats a time of day in the user's clock format, such as `08:30`, in the reminder's zone.
  public var timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, _ in
    String(Zone.utc.civil(at: instant).time.description.prefix(5))
  }

  public init(version: String) { self.version = version }
}

/// A test message and its result. Its headers contain the signature, which does not reveal the secret.
public struct EndpointTest: Hashable, Sendable {
  public var method: String
  public var url: String
  /// `name: value` lines as sent, with `<redacted>` in place of a token.
  public var requestHeaders: [String]
  public var requestBody: String
  /// Status, start of the answer, error and timing.
  public var attempt: Attempt
  /// Address, answer headers and the duration of each phase; nil if nothing was sent.
  public var details: HTTPDetails?

  public var isDelivered: Bool { attempt.outcome == .delivered }
}
