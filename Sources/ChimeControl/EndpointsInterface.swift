/// `io.chime.Endpoints`, as `Interfaces/io.chime.Endpoints.varlink` describes it.
public enum EndpointsInterface {
  public static let name = "io.chime.Endpoints"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.endpoints }

  public enum Signing: String, Codable, Sendable, CaseIterable { case hmac, ed25519 }
  public enum SecretPlace: String, Codable, Sendable, CaseIterable { case file, credential }
  public enum Resettable: String, Codable, Sendable, CaseIterable {
    case headers, template, certificates, concurrency, rate, inOrder, token
  }

  /// Its value may have placeholders; `{{token}}` stands for the endpoint's token.
  public struct Header: Codable, Equatable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// At most `count` messages in any `span`.
  public struct Rate: Codable, Equatable, Sendable {
    public var count: Int
    /// ISO 8601.
    public var span: String

    public init(count: Int, span: String) {
      self.count = count
      self.span = span
    }
  }

  /// How an endpoint is called; null is the usual way.
  public struct Settings: Codable, Equatable, Sendable {
    public var headers: [Header]?
    /// The name of a shipped template, or the text of one.
    public var template: String?
    /// PEM.
    public var certificates: String?
    public var concurrency: Int?
    public var rate: Rate?
    public var inOrder: Bool?

    public init(
      headers: [Header]? = nil, template: String? = nil, certificates: String? = nil, concurrency: Int? = nil,
      rate: Rate? = nil, inOrder: Bool? = nil
    ) {
      self.headers = headers
      self.template = template
      self.certificates = certificates
      self.concurrency = concurrency
      self.rate = rate
      self.inOrder = inOrder
    }
  }

  /// Its secrets and its token are never part of this.
  public struct Endpoint: Codable, Equatable, Sendable {
    public var name: String
    public var url: String
    public var createdAt: Wire.Time
    /// Why it is not called any more; null while it is.
    public var disabled: String?
    /// Messages that are still owed to it.
    public var owed: Int
    public var disabledAt: Wire.Time?
    /// When the first failure came since it last took a message.
    public var failingSince: Wire.Time?
    /// Messages that were given up.
    public var dead: Int?
    public var settings: Settings?
    /// How its messages are signed; empty when its secret cannot be read.
    public var signing: [Signing]?
    /// What the receiver verifies Ed25519 with.
    public var publicKeys: [String]?
    public var secretFrom: SecretPlace?
    /// Until when replaced secrets sign too.
    public var rotationEnds: Wire.Time?
    public var hasToken: Bool?
    /// Why nothing can be sent to it.
    public var fault: String?
    /// Until when nothing is tried, because attempts failed in a row; null while it does not rest.
    public var restingUntil: Wire.Time?
    /// The set of files that declares it (io.chime.Reminders.Apply); null for one that was added by hand.
    public var set: String?

    public init(
      name: String, url: String, createdAt: Wire.Time, disabled: String? = nil, owed: Int, disabledAt: Wire.Time? = nil,
      failingSince: Wire.Time? = nil, dead: Int? = nil, settings: Settings? = nil, signing: [Signing]? = nil,
      publicKeys: [String]? = nil, secretFrom: SecretPlace? = nil, rotationEnds: Wire.Time? = nil,
      hasToken: Bool? = nil, fault: String? = nil, restingUntil: Wire.Time? = nil,
      set: String? = nil
    ) {
      self.name = name
      self.url = url
      self.createdAt = createdAt
      self.disabled = disabled
      self.owed = owed
      self.disabledAt = disabledAt
      self.failingSince = failingSince
      self.dead = dead
      self.settings = settings
      self.signing = signing
      self.publicKeys = publicKeys
      self.secretFrom = secretFrom
      self.rotationEnds = rotationEnds
      self.hasToken = hasToken
      self.fault = fault
      self.restingUntil = restingUntil
      self.set = set
    }
  }

  /// In microseconds from the beginning of the exchange.
  public struct Timing: Codable, Equatable, Sendable {
    public var nameLookup: Int
    public var connect: Int
    public var tls: Int
    public var firstByte: Int
    public var total: Int

    public init(nameLookup: Int, connect: Int, tls: Int, firstByte: Int, total: Int) {
      self.nameLookup = nameLookup
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
    }
  }

  /// What a test sent and what came back.
  public struct TestResult: Codable, Equatable, Sendable {
    public var ok: Bool
    public var url: String
    public var requestHeaders: [String]
    public var requestBody: String
    public var status: Int?
    public var answer: String?
    public var error: String?
    public var tookMs: Int
    public var method: String?
    public var responseHeaders: [String]?
    /// The address that was dialled.
    public var address: String?
    public var httpVersion: String?
    public var timing: Timing?

    public init(
      ok: Bool, url: String, requestHeaders: [String], requestBody: String, status: Int? = nil, answer: String? = nil,
      error: String? = nil, tookMs: Int, method: String? = nil, responseHeaders: [String]? = nil,
      address: String? = nil, httpVersion: String? = nil, timing: Timing? = nil
    ) {
      self.ok = ok
      self.url = url
      self.requestHeaders = requestHeaders
      self.requestBody = requestBody
      self.status = status
      self.answer = answer
      self.error = error
      self.tookMs = tookMs
      self.method = method
      self.responseHeaders = responseHeaders
      self.address = address
      self.httpVersion = httpVersion
      self.timing = timing
    }
  }

  /// A template that comes with Chime.
  public struct Template: Codable, Equatable, Sendable {
    public var name: String
    public var summary: String
    /// An address of the kind that it is for.
    public var example: String?
    public var needsToken: Bool
    public var text: String

    public init(name: String, summary: String, example: String? = nil, needsToken: Bool, text: String) {
      self.name = name
      self.summary = summary
      self.example = example
      self.needsToken = needsToken
      self.text = text
    }
  }
}
