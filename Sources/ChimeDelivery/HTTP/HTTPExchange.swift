package import ChimeSchedule

/// An HTTP request, or an email to be sent by SMTP.
package struct HTTPRequest: Sendable {
  /// `POST`, `PUT`, `DELETE` or `GET`; a GET has no body.
  package var method = "POST"
  package var url: String
  /// Headers as `name: value`.
  package var headers: [String]
  package var body: [UInt8]
  /// PEM authorities for the receiver's certificate; nil for the system's.
  var certificates: String?
  /// Removes the request's secrets from the response.
  var redaction = Redaction()
  /// The envelope of an email, whose headers and body are then in `headers` and `body`; nil for HTTP.
  var envelope: MailEnvelope?

  /// The headers, each on one line.
  var lines: [String] {
    headers.map { line in String(decoding: line.utf8.filter { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self) }
  }

  /// The complete email as sent to the server.
  var letter: [UInt8] { Array((headers.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body }
}

/// The result of a request.
package struct HTTPResult: Sendable {
  /// The status; nil if no response arrived or, for an email, if the session ended without a reply.
  var status: Int?
  /// The first `HTTPLimits.maxBodyBytes` bytes of the body as received. Apply `redaction` before storing or showing them;
  /// `failure` and `details` are already redacted.
  var answer: [UInt8] = []
  /// Whether `answer` is complete.
  var isWhole = true
  /// The progress of an email's session; nil for HTTP.
  var stage: MailStage?
  /// The `Content-Type` header; nil if missing.
  var contentType: String?
  /// The `Retry-After` header as a delay from now; nil if missing or in the past.
  var retryAfter: Milliseconds?
  /// Why the exchange failed; nil if a response was read, completely or up to the limit.
  var failure: String?
  /// Whether nothing can be sent to any receiver at present.
  var isImpossible = false
  /// Whether the machine had no descriptor left, which does not count as a failed attempt.
  var isStarved = false
  /// Whether the channel stopped, which does not count as a failed attempt.
  var isCutShort = false
  var took = Milliseconds.zero
  /// Present if the job asked for it.
  var details: HTTPDetails?
  /// The request's redaction.
  var redaction = Redaction()
}

extension HTTPResult {
  /// Creates the result of a response that was read.
  package init(
    answering status: Int?, _ answer: [UInt8], isWhole: Bool, contentType: String?, retryAfter: Milliseconds?,
    redaction: Redaction
  ) {
    self.init(
      status: status, answer: answer, isWhole: isWhole, contentType: contentType, retryAfter: retryAfter,
      redaction: redaction)
  }
}

/// Limits of an exchange.
struct HTTPLimits: Sendable {
  var connect: Milliseconds
  var total: Milliseconds
  /// Maximum bytes read of a body.
  var answer: Int
  /// How long connections stay open after the last request.
  var idle: Milliseconds

  /// Maximum bytes kept of a body.
  static let maxBodyBytes = 4_096
  /// Maximum bytes read of headers, interim responses (1xx) included.
  static let headers = 65_536
  /// Maximum bytes received per response with all framing and TLS. HTTP/2 responses on one connection share the limit,
  /// so it is several times what one response may take.
  static let wire: Int64 = 8 << 20
}

/// The network rules, proxy and authorities of requests.
struct HTTPRoute: Sendable {
  var network: NetworkPolicy
  var proxy: ProxyServer?
  /// PEM file of authorities trusted in addition to the system's.
  var certificateFile: String?
}

/// Details of an exchange, for a test.
public struct HTTPDetails: Hashable, Sendable {
  /// The dialed or reused address, which is the proxy's if there is one; nil without a connection.
  public var address: String?
  /// `HTTP/1.1`, `HTTP/2` and so on; nil without a response.
  public var version: String?
  /// Informative response headers as `name: value`, at most 16 of 256 bytes each.
  public var headers: [String] = []
  /// Whether an existing connection was reused.
  public var isReused = false
  public var timing = HTTPTiming()

  public init() {}
}

/// Durations of an exchange's phases in microseconds from its start (curl_easy_getinfo(3), "TIMES"). A phase that did
/// not occur, such as TLS on a plain connection, is zero.
public struct HTTPTiming: Hashable, Sendable {
  /// Until name resolution finished.
  public var nameLookup: Int64 = 0
  /// Until the connection was established.
  public var connect: Int64 = 0
  /// Until the TLS handshake finished.
  public var tls: Int64 = 0
  /// Until the first byte of the response.
  public var firstByte: Int64 = 0
  public var total: Int64 = 0

  public init() {}
}
