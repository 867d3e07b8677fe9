public import ChimeSchedule

/// An Endpoint is the address of a webhook, mailboxes, an MQTT broker or a Matrix room, with its settings.
///
/// Its secrets are stored apart, in files of mode 0600, and are never part of this value.
public struct Endpoint: Hashable, Sendable, Codable {
  public var queue: DeliveryQueue
  public var url: String
  public var settings: EndpointSettings
  public var createdAt: Instant
  /// When the current series of failures began; nil if the last attempt arrived, or none was made.
  public var failingSince: Instant?
  /// Set while the endpoint is disabled.
  public var disabled: Disabled?

  /// A Kind is the kind of an endpoint's address.
  public enum Kind: Hashable, Sendable {
    case webhook
    /// Mailboxes; messages go to a server (`EndpointSettings.via`).
    case email
    /// Topics of an MQTT broker.
    case mqtt
    /// A Matrix room; messages go to a homeserver (`EndpointSettings.via`).
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

    /// A SecretUse says what an endpoint's secret is for.
    public enum SecretUse: Hashable, Sendable {
      /// It signs all messages; the receiver has it too.
      case signing
      /// It signs action tokens only. Chime generates it and shares it with nobody.
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

    /// Whether its server may require a user name and a password (`EndpointSettings.user`, and the token).
    public var logsIn: Bool { self == .email || self == .mqtt }

    public var needsToken: Bool { self == .matrix }

    /// Whether it shows the open occurrences, so that each message carries the whole new state.
    public var keepsState: Bool { self == .mqtt }

    /// Whether it can withdraw messages without a template that describes how.
    public var canWithdraw: Bool { self == .mqtt || self == .matrix }
  }

  public var kind: Kind { Kind(of: url) }

  /// Where answers to its messages are read; nil if it takes none.
  public var answersAddress: String? {
    switch kind {
    case .webhook, .email: settings.replies
    case .mqtt: url
    // Only answers of listed senders count.
    case .matrix: settings.senders == nil ? nil : "\(url) \(settings.via ?? "")"
    }
  }

  /// A Disabled says since when and why an endpoint is disabled.
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

/// EndpointSettings say how to send to an endpoint; nil fields mean the configured or usual way.
public struct EndpointSettings: Hashable, Sendable, Codable {
  /// The most attempts in flight at once.
  public var concurrency: Int?
  /// The most messages per span of time.
  public var rate: Rate?
  /// Whether a message is sent only after every earlier one has been settled; nil means no.
  public var inOrder: Bool?

  /// A Rate permits at most `count` messages in any `span`.
  public struct Rate: Hashable, Sendable, Codable {
    public var count: Int
    public var span: Milliseconds

    public init(count: Int, span: Milliseconds) {
      self.count = count
      self.span = span
    }
  }

  /// Headers sent with every message after Chime's own, if any.
  public var headers: [Header]?
  /// The template of messages: the name of one that ships with Chime, or a text that begins with `{`; nil for Chime's
  /// own format.
  public var template: String?
  /// The trusted CA certificates, in PEM; nil for the system's.
  public var certificates: String?
  /// Where answers are read: the address of an ntfy topic, or `poll:` and an address to poll; nil for none.
  public var replies: String?
  /// The server for emails, such as `smtps://mail.example.org`, or the homeserver of a room; nil for a webhook.
  public var via: String?
  /// The sender address of emails; nil for a webhook.
  public var from: String?
  /// The address for replies to emails; nil for `from`.
  public var replyTo: String?
  /// The user name at the server or broker, whose password is the endpoint's token; nil for no login.
  public var user: String?
  /// The senders whose answers in a room count, such as `@ann:example.org`; nil for none. Never empty.
  public var senders: [String]?
  /// The events that it subscribes to, each once; nil for firings and repeats.
  public var events: [OccurrenceEvent]?
  /// The reminders that it is notified of besides those that name it, as a `ReminderChoice`; nil for no others.
  public var reminders: String?
  /// The name of the manifest that declares it (`chime apply`); nil if it was added by hand.
  public var set: String?

  /// The prefix of `replies` for an address to poll.
  public static let pollPrefix = "poll:"

  /// The address to poll for answers; nil if they come by a topic, or not at all.
  public var polled: String? {
    guard let replies, replies.hasPrefix(Self.pollPrefix) else { return nil }
    return String(replies.dropFirst(Self.pollPrefix.count))
  }

  /// Whether answers come by a topic, which others can write to.
  public var hasTopic: Bool { replies != nil && polled == nil }

  /// A Header is one header of a request.
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
