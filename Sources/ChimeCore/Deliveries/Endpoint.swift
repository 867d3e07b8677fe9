public import ChimeSchedule

/// The address of a webhook, of mailboxes, at a broker of MQTT or of a room of Matrix, and how it wants to be called. Its secrets are
/// kept apart, in files of mode 0600, and are never part of this value.
public struct Endpoint: Hashable, Sendable, Codable {
  public var queue: DeliveryQueue
  public var url: String
  public var settings: EndpointSettings
  public var createdAt: Instant
  /// When the first failure came since it last took a message; nil while the last attempt arrived, or none was made.
  public var failingSince: Instant?
  /// Set when it is not to be called any more.
  public var disabled: Disabled?

  /// What its address is one of.
  public enum Kind: Hashable, Sendable {
    case webhook
    /// Mailboxes, which a server is given messages for (`EndpointSettings.via`).
    case email
    /// Topics of a broker of MQTT.
    case mqtt
    /// A room of Matrix, which a homeserver is asked for (`EndpointSettings.via`).
    case matrix

    public init(of url: String) {
      let scheme = url.prefix { $0 != ":" }.lowercased()
      switch scheme {
      case "mailto": self = .email
      case "mqtt", "mqtts": self = .mqtt
      case "matrix": self = .matrix
      default: self = .webhook
      }
    }

    /// What an endpoint has a secret for.
    public enum SecretUse: Hashable, Sendable {
      /// It signs all messages, and the receiver has it too.
      case signing
      /// Chime makes it, for action tokens alone: nobody else has it.
      case answers
      case none
    }

    public var secretUse: SecretUse {
      switch self {
      case .webhook: .signing
      case .email, .matrix: .none
      case .mqtt: .answers
      }
    }

    /// Whether its server may want a name and a password (`EndpointSettings.user`, and the token).
    public var logsIn: Bool { self == .email || self == .mqtt }

    /// Whether nothing can be sent without a token.
    public var needsToken: Bool { self == .matrix }

    /// Whether it shows what is open, so that each message says what is to be shown from then on.
    public var keepsState: Bool { self == .mqtt }

    /// Whether it can take back what it shows without a template that says how.
    public var takesBack: Bool { self == .mqtt || self == .matrix }
  }

  public var kind: Kind { Kind(of: url) }

  /// Where answers to its messages are read; nil: nobody answers by it.
  public var answersAddress: String? {
    switch kind {
    case .webhook, .email: settings.replies
    case .mqtt: url
    // Whoever is not named has nothing to say.
    case .matrix: settings.senders == nil ? nil : "\(url) \(settings.via ?? "")"
    }
  }

  /// Why and since when an endpoint is not called.
  public struct Disabled: Hashable, Sendable, Codable {
    /// A sentence without a full stop.
    public var reason: String
    public var at: Instant

    public init(reason: String, at: Instant) {
      self.reason = reason
      self.at = at
    }
  }

  public init(
    queue: DeliveryQueue, url: String, settings: EndpointSettings = EndpointSettings(), createdAt: Instant,
    failingSince: Instant? = nil, disabled: Disabled? = nil
  ) {
    self.queue = queue
    self.url = url
    self.settings = settings
    self.createdAt = createdAt
    self.failingSince = failingSince
    self.disabled = disabled
  }
}

/// How an endpoint wants to be called. Nil is the configuration's or the usual way.
public struct EndpointSettings: Hashable, Sendable, Codable {
  /// Attempts that may be under way at once.
  public var concurrency: Int?
  /// How many messages it takes in a span of time.
  public var rate: Rate?
  /// Whether a message is sent only when every earlier one has been settled; nil means no.
  public var inOrder: Bool?

  /// At most `count` messages in any `span`.
  public struct Rate: Hashable, Sendable, Codable {
    public var count: Int
    public var span: Milliseconds

    public init(count: Int, span: Milliseconds) {
      self.count = count
      self.span = span
    }
  }

  /// Sent with every message, after Chime's own; nil for none.
  public var headers: [Header]?
  /// What is sent instead of the usual message: the name of a template that comes with Chime, or the text of one, which
  /// begins with `{`; nil for the usual message.
  public var template: String?
  /// The certificates, in PEM, that the receiver's has to go back to; nil for those that the system trusts.
  public var certificates: String?
  /// Where answers to its messages are read: the address of a topic of ntfy, or `poll:` and an address that is asked for them;
  /// nil: nobody answers by it.
  public var replies: String?
  /// The server that emails are given to, such as `smtps://mail.example.org`, or the homeserver of a room; nil for a webhook.
  public var via: String?
  /// Whom emails are from, as an address; nil for a webhook.
  public var from: String?
  /// Where answers to emails go, as an address; nil: to `from`.
  public var replyTo: String?
  /// The name to log in to the server or broker with, whose password is the endpoint's token; nil: without.
  public var user: String?
  /// Whose answers in a room count, such as `@ann:example.org`; nil: nobody's. Never empty.
  public var senders: [String]?
  /// What it is told; nil: that reminders fire and are repeated. Each once.
  public var events: [OccurrenceEvent]?
  /// Of which reminders it is told besides those that name it, as `ReminderChoice` writes it; nil: of no others.
  public var reminders: String?
  /// The set of files that declares it, by name (`chime apply`); nil: it was added by hand.
  public var set: String?

  /// What `replies` begins with where an address is asked.
  public static let pollPrefix = "poll:"

  /// The address that is asked for answers; nil: they come by a topic, or not at all.
  public var polled: String? {
    guard let replies, replies.hasPrefix(Self.pollPrefix) else { return nil }
    return String(replies.dropFirst(Self.pollPrefix.count))
  }

  /// Whether answers come by a topic, which others can write to.
  public var hasTopic: Bool { replies != nil && polled == nil }

  /// One header of a request.
  public struct Header: Hashable, Sendable, Codable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(
    concurrency: Int? = nil, rate: Rate? = nil, inOrder: Bool? = nil, headers: [Header]? = nil, template: String? = nil,
    certificates: String? = nil, replies: String? = nil, via: String? = nil, from: String? = nil,
    replyTo: String? = nil, user: String? = nil, senders: [String]? = nil, events: [OccurrenceEvent]? = nil,
    reminders: String? = nil, set: String? = nil
  ) {
    self.concurrency = concurrency
    self.rate = rate
    self.inOrder = inOrder
    self.headers = headers
    self.template = template
    self.certificates = certificates
    self.replies = replies
    self.via = via
    self.from = from
    self.replyTo = replyTo
    self.user = user
    self.senders = senders
    self.events = events
    self.reminders = reminders
    self.set = set
  }
}
