public import ChimeCore
public import ChimeSchedule

/// A channel to endpoints of one kind or several.
public protocol EndpointChannel: Channel, AnyObject {
  /// Makes ready for a first message.
  func prepare()
  /// Sends one message now, and says all about it. Nothing is stored and nothing retried.
  func test(_ access: EndpointAccess) async -> EndpointTest
}

/// The bounds of what is sent to endpoints and read from them.
public struct EndpointConfiguration: Sendable {
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

/// What a test message was and what came of it. Its headers hold the signature, from which no secret can be had.
public struct EndpointTest: Hashable, Sendable {
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
