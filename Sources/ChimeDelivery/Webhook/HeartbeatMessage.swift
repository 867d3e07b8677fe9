import ChimeCore
public import ChimeSchedule

/// Tells whoever watches the daemon from outside how it is.
public struct HeartbeatMessage: Sendable {
  public enum Method: String, Hashable, Sendable, CaseIterable {
    case post = "POST"
    /// Has no body.
    case get = "GET"
  }

  /// What came of one.
  public enum Outcome: Hashable, Sendable {
    /// The answer was 2xx.
    case taken
    /// Why it was not; a sentence without a full stop.
    case refused(String)
    /// The channel has stopped meanwhile.
    case cutShort
  }

  public var url: String
  public var method: Method
  /// What it is signed with; empty: it is not.
  public var secrets: [SigningSecret]
  /// How long the exchange may take.
  public var limit: Milliseconds
  /// Why nothing could fire; nil: everything can.
  public var problem: String?

  public init(
    url: String, method: Method = .post, secrets: [SigningSecret] = [], limit: Milliseconds = .seconds(10),
    problem: String? = nil
  ) {
    (self.url, self.method, self.secrets, self.limit, self.problem) = (url, method, secrets, limit, problem)
  }
}

extension WebhookChannel {
  /// Sends it now, past all queues. Nothing is stored and nothing retried.
  public func send(_ message: HeartbeatMessage) async -> HeartbeatMessage.Outcome {
    let now = clock()
    var random = SystemRandom()
    let channel = ChannelName(rawValue: "heartbeat")
    let access = EndpointAccess(
      endpoint: Endpoint(queue: DeliveryQueue(owner: 0, channel: channel), url: message.url, createdAt: now),
      secrets: message.secrets)
    var signed = SignedRequest(
      access: access, id: DeliveryID(at: now, using: &random).rawValue, version: configuration.version,
      values: { TemplateValues() },
      usual: {
        try WebhookMessage(
          type: "chime.heartbeat", timestamp: Timestamp.rfc3339(now), data: HeartbeatFacts(problem: message.problem)
        ).bytes()
      })
    signed.method = message.method.rawValue
    guard let request = try? signed.make(at: now, token: nil) else {
      return .refused("the message cannot be written as JSON")
    }
    let result = await withCheckedContinuation { continuation in
      engine.send(
        HTTPJob(
          queue: nil, limit: message.limit, prepare: { request }, finish: { continuation.resume(returning: $0) }))
    }
    if result.isCutShort { return .cutShort }
    let verdict = WebhookVerdict(result, channel: channel)
    return verdict.outcome == .delivered ? .taken : .refused(verdict.error ?? "no answer")
  }
}

/// `data` of `chime.heartbeat`.
private struct HeartbeatFacts: Encodable {
  var problem: String?

  private enum Key: CodingKey { case problem }

  /// The key is there when there is no problem, too.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(problem, forKey: .problem)
  }
}
