public import ChimeCore
public import ChimeSchedule
import Synchronization

/// A ReplyReader receives people's answers, over one open outgoing connection per endpoint that has an answer address.
///
/// Addresses, TLS and proxies follow the rules of webhooks (`EndpointConfiguration`). It has a thread of its own, so
/// that traffic in a topic delays no message.
public final class ReplyReader: AnswerReading {
  private let configuration: EndpointConfiguration
  private let access: @Sendable (DeliveryQueue) -> EndpointAccess?
  private let clock: @Sendable () -> Instant
  private let quiet: Milliseconds
  let engine: HTTPEngine

  /// Time without input after which a connection is given up. ntfy sends a keepalive every 45 seconds.
  public static let usualQuiet = Milliseconds.seconds(150)

  /// - Parameter access: Returns a queue's current endpoint, as for `WebhookChannel`.
  public init(
    configuration: EndpointConfiguration, clock: (@Sendable () -> Instant)? = nil, quiet: Milliseconds = usualQuiet,
    access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    (self.configuration, self.access, self.quiet) = (configuration, access, quiet)
    self.clock = clock ?? Timestamp.now
    engine = HTTPEngine(
      name: "chime-replies",
      limits: HTTPLimits(
        connect: configuration.connectTimeout, total: configuration.totalTimeout, answer: configuration.answerLimit,
        idle: configuration.idleTimeout),
      route: HTTPRoute(
        network: configuration.network, proxy: configuration.proxy, certificateFile: configuration.certificateFile),
      library: Libcurl.name)
  }

  /// An event of a stream, from any thread: `.opened` at most once, `.came` any number of times, finally `.ended`.
  public enum Event: Sendable {
    case opened
    /// Messages in order, and the number of invalid lines.
    case came([Reply], nonsense: Int)
    case ended(End)
  }

  /// A message in the topic.
  public struct Reply: Sendable {
    /// The server's message id.
    public var id: String
    package var said: Result<Said, TokenFault>

    init(id: String, _ said: Said) { (self.id, self.said) = (id, .success(said)) }

    init(id: String, token: Result<ActionToken, TokenFault>) { (self.id, said) = (id, token.map(Said.token)) }
  }

  /// The content of a message.
  package enum Said: Hashable, Sendable {
    case token(ActionToken)
    /// A named person's answer to one message.
    case answer(ChatAnswer)
    /// A marker: everything up to this message was read and need not be read again.
    case nothing
  }

  public struct End: Sendable {
    /// A redacted sentence without a full stop.
    public var reason: String
    /// Delay that the server asks for before the next request.
    public var retryAfter: Milliseconds?
    /// Whether a poll ended normally, so that the next may follow.
    public var isAnswered = false
  }

  /// Reads the answers after a message and all later ones.
  ///
  /// - Parameters:
  ///   - last: The server's id of the last processed message; nil for everything the server has kept.
  ///   - number: Identifies this stream.
  public func open(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (Event) -> Void
  ) {
    let (access, clock) = (access, clock)
    guard access(queue)?.endpoint.settings.polled == nil else {
      return ask(queue, after: last, number: number, hear: hear)
    }
    let intake = Intake { bytes in
      let now = clock()
      let keys = access(queue)?.tokenKeys(at: now) ?? []
      return Self.read(bytes, keys: keys, at: now)
    }
    engine.send(
      HTTPJob(
        queue: nil,
        stream: HTTPStream(number: number, quiet: quiet) { part in
          let taken = intake.take(part)
          if taken.isOpened { hear(.opened) }
          if !taken.replies.isEmpty || taken.nonsense > 0 { hear(.came(taken.replies, nonsense: taken.nonsense)) }
          return taken.goesOn
        },
        prepare: asking(queue, after: last, hear: hear),
        finish: { result in
          hear(.ended(End(reason: intake.fault ?? Self.reason(result), retryAfter: result.retryAfter)))
        }))
  }

  /// Returns a closure that builds the request as it is sent, or reports why it cannot.
  private func asking(
    _ queue: DeliveryQueue, after last: String?, hear: @escaping @Sendable (Event) -> Void
  ) -> @Sendable (HTTPDraft?) -> HTTPRequest? {
    let (access, clock, version) = (access, clock, configuration.version)
    return { _ in
      do throws(DeliveryError) {
        return try Self.request(access(queue), after: last, version: version, at: clock())
      } catch {
        hear(.ended(End(reason: error.description)))
        return nil
      }
    }
  }

  /// Polls once for the answers after `last`. The receiver may delay its response until there are some.
  private func ask(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (Event) -> Void
  ) {
    let (access, clock) = (access, clock)
    let body = Mutex<(isOpen: Bool, bytes: [UInt8])>((false, []))
    engine.send(
      HTTPJob(
        queue: nil,
        stream: HTTPStream(number: number, quiet: quiet) { part in
          let (isFirst, goesOn) = body.withLock { body in
            defer { body.isOpen = true }
            body.bytes += part
            return (!body.isOpen, body.bytes.count <= PolledAnswers.longest)
          }
          if isFirst { hear(.opened) }
          return goesOn
        },
        prepare: asking(queue, after: last, hear: hear),
        finish: { result in
          guard !result.isCutShort, let status = result.status, (200...299).contains(status), result.failure == nil
          else {
            let isLong = body.withLock { $0.bytes.count > PolledAnswers.longest }
            let reason = isLong ? "it answers with more than \(PolledAnswers.longest >> 10) KiB" : Self.reason(result)
            return hear(.ended(End(reason: reason, retryAfter: result.retryAfter)))
          }
          do throws(DeliveryError) {
            let now = clock()
            let keys = access(queue)?.tokenKeys(at: now) ?? []
            let answers = try PolledAnswers(body.withLock { $0.bytes })
            let replies = answers.answers.map { answer in
              Reply(id: answer.id, token: Self.token(answer.token, keys: keys, at: now))
            }
            if !replies.isEmpty { hear(.came(replies, nonsense: 0)) }
            hear(.ended(End(reason: "", isAnswered: true)))
          } catch {
            hear(.ended(End(reason: error.description, retryAfter: result.retryAfter)))
          }
        }))
  }

  private static func token(_ text: String, keys: [TokenKey], at now: Instant) -> Result<ActionToken, TokenFault> {
    do throws(TokenFault) {
      return .success(try ActionToken(text.trimmed, keys: keys, at: now))
    } catch { return .failure(error) }
  }

  /// Does nothing. The next request names the last processed message.
  public func settle(_ id: String, of number: UInt64) {}

  public func close(_ number: UInt64, forgetting: Bool = false) { engine.end(number) }

  public func stop() async { await engine.stop() }

  private static func request(
    _ access: EndpointAccess?, after last: String?, version: String, at now: Instant
  ) throws(DeliveryError) -> HTTPRequest {
    guard let access, let replies = access.endpoint.settings.replies else {
      throw DeliveryError("it has no address for answers")
    }
    let secrets = access.secrets(at: now)
    try need(!secrets.isEmpty, access.problem ?? "its secret cannot be read")
    let polled = access.endpoint.settings.polled
    var headers = ["accept: application/x-ndjson, application/json", "user-agent: Chime/\(version)"]
    if polled != nil {
      // The receiver knows the secret and can verify who asks.
      var random = SystemRandom()
      let id = DeliveryID(at: now, using: &random).rawValue
      let signatures = secrets.map { $0.signature(id: id, timestamp: now.seconds, body: []) }
      headers += [
        "webhook-id: \(id)", "webhook-timestamp: \(now.seconds)",
        "webhook-signature: \(signatures.joined(separator: " "))",
      ]
    }
    // The endpoint's token and headers go only to the endpoint's own origin.
    let token = access.token?.text
    if let own = EndpointURL.origin(of: access.endpoint.url), own == EndpointURL.origin(of: polled ?? replies) {
      var values = TemplateValues()
      values[.token] = TemplateValue(token)
      let own = access.ownHeaders
      if let token, !access.headers.contains(where: { $0.usesToken }) {
        headers.append("authorization: Bearer \(token)")
      }
      for header in own { if let value = header.render(values) { headers.append("\(header.name): \(value)") } }
    }
    return HTTPRequest(
      method: "GET", url: polled.map { PolledAnswers.url($0, after: last) } ?? "\(replies)/json?since=\(last ?? "all")",
      headers: headers, body: [],
      certificates: access.endpoint.settings.certificates, redaction: Redaction(token: token))
  }

  private static func reason(_ result: HTTPResult) -> String {
    guard !result.isCutShort else { return HTTPLoop.stopping }
    guard let status = result.status else { return result.failure ?? "no answer" }
    switch status {
    case 200..<300: return result.failure ?? "the server has ended the connection"
    case 300..<400: return "the server redirects, which Chime does not follow: give the target address"
    case 401, 403: return "the server rejects it (status \(status)): give a token that may read the topic"
    default: return "the server answered with status \(status)"
    }
  }

  private static func read(_ lines: [[UInt8]], keys: [TokenKey], at now: Instant) -> Taken {
    var taken = Taken()
    for line in lines {
      switch ReplyLine(line) {
      case .opened: taken.isOpened = true
      case .other: break
      case .nonsense: taken.nonsense += 1
      case .message(let id, let text):
        taken.replies.append(Reply(id: id, token: token(text, keys: keys, at: now)))
      }
    }
    return taken
  }

  /// The content of a part of a stream.
  private struct Taken {
    var isOpened = false
    var replies: [Reply] = []
    var nonsense = 0
    var goesOn = true
  }

  /// The line buffer of one stream. Only one thread uses it; the lock satisfies the compiler.
  private final class Intake: Sendable {
    private struct State {
      var lines = ReplyLines()
      let begin = SuspendingClock.now
      var fault: String?
    }

    private let state = Mutex(State())
    private let read: @Sendable ([[UInt8]]) -> Taken

    init(read: @escaping @Sendable ([[UInt8]]) -> Taken) { self.read = read }

    var fault: String? { state.withLock { $0.fault } }

    func take(_ part: UnsafeRawBufferPointer) -> Taken {
      let bytes = Array(part)
      let lines: [[UInt8]]? = state.withLock { state in
        do throws(DeliveryError) {
          return try state.lines.take(bytes, elapsed: Milliseconds(state.begin.duration(to: .now)))
        } catch {
          state.fault = error.description
          return nil
        }
      }
      guard let lines else { return Taken(goesOn: false) }
      return read(lines)
    }
  }
}

extension String {
  /// The text without surrounding white space.
  fileprivate var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
