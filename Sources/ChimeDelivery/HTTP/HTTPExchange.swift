package import ChimeSchedule

/// One request.
package struct HTTPRequest: Sendable {
  /// `POST`, `PUT`, `DELETE` or `GET`; a GET has no body.
  package var method = "POST"
  package var url: String
  /// `name: value` lines.
  package var headers: [String]
  package var body: [UInt8]
  /// The certificates, in PEM, that the receiver's has to go back to; nil for those that the system trusts.
  var certificates: String?
  /// What has to be taken out of whatever comes back.
  var redaction = Redaction()
  /// Of an email, which goes by SMTP: `headers` and `body` are the message's; nil for HTTP.
  var envelope: MailEnvelope?

  /// Its headers, each on one line.
  var lines: [String] {
    headers.map { line in String(decoding: line.utf8.filter { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self) }
  }

  /// What an email's server is given: the whole message.
  var letter: [UInt8] { Array((headers.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body }
}

/// What a request came to.
package struct HTTPResult: Sendable {
  /// Nil when no answer came; of an email, when the session ended for another reason than a reply.
  var status: Int?
  /// The first `HTTPLimits.kept` bytes of the answer's body, as the receiver sent them: what is kept or shown of them
  /// goes through `redaction`, as `failure` and `details` have.
  var answer: [UInt8] = []
  /// Whether `answer` is all of it.
  var isWhole = true
  /// Of an email, how far its session had come; nil for HTTP.
  var stage: MailStage?
  /// As the answer's header has it; nil when it has none.
  var contentType: String?
  /// Retry-After in either form, counted from now; nil when it was not there or lies in the past.
  var retryAfter: Milliseconds?
  /// Why the exchange did not end as it should; nil when an answer was read, in full or up to the limit.
  var failure: String?
  /// Whether nothing could be sent to anybody, for the time being.
  var isImpossible = false
  /// Whether this machine had no descriptor for it just now, which is nobody's failure either.
  var isStarved = false
  /// Whether it was given up because the channel stops, which is nobody's failure.
  var isCutShort = false
  var took = Milliseconds.zero
  /// For a job that asked for it.
  var details: HTTPDetails?
  /// That of the request.
  var redaction = Redaction()
}

extension HTTPResult {
  /// An answer that was read.
  package init(
    answering status: Int?, _ answer: [UInt8], isWhole: Bool, contentType: String?, retryAfter: Milliseconds?,
    redaction: Redaction
  ) {
    self.init(
      status: status, answer: answer, isWhole: isWhole, contentType: contentType, retryAfter: retryAfter,
      redaction: redaction)
  }
}

/// The bounds of an exchange.
struct HTTPLimits: Sendable {
  var connect: Milliseconds
  var total: Milliseconds
  /// Bytes of an answer's body that are read at most.
  var answer: Int
  /// How long connections are kept open after the last request.
  var idle: Milliseconds

  /// Bytes of an answer's body that are kept at most.
  static let kept = 4_096
  /// Bytes of an answer's headers that are read at most, those of interim answers (1xx) included.
  static let headers = 65_536
  /// Bytes that come over a connection at most for one answer: body, headers and all that is around them, of TLS as well. An
  /// answer that shares its connection with others (HTTP/2) shares this too, so it is as many times what one of them takes.
  static let wire: Int64 = 8 << 20
}

/// The ways that a request may take.
struct HTTPRoute: Sendable {
  var network: NetworkPolicy
  var proxy: ProxyServer?
  /// A file of certificates in PEM that are trusted beside the system's.
  var certificateFile: String?
}

/// What was seen of one exchange beside its answer.
public struct HTTPDetails: Hashable, Sendable {
  /// The address that was dialled (the proxy's, where there is one), or that of the connection used again; nil when
  /// there was no connection.
  public var address: String?
  /// `HTTP/1.1`, `HTTP/2` …; nil without an answer.
  public var version: String?
  /// Those of the answer's headers that tell a person something, as `name: value`, at most 16 of 256 bytes.
  public var headers: [String] = []
  /// Whether an earlier connection was used again.
  public var isReused = false
  public var timing = HTTPTiming()

  public init() {}
}

/// How long each part of an exchange took, in microseconds from its beginning (curl_easy_getinfo(3), "TIMES"). What did
/// not happen, such as TLS on a connection without it, is zero.
public struct HTTPTiming: Hashable, Sendable {
  /// Until the name was resolved.
  public var nameLookup: Int64 = 0
  /// Until the connection stood.
  public var connect: Int64 = 0
  /// Until TLS was agreed on.
  public var tls: Int64 = 0
  /// Until the first byte of the answer.
  public var firstByte: Int64 = 0
  public var total: Int64 = 0

  public init() {}
}
