import ChimeCore
public import ChimeSchedule

/// A HeartbeatMessage reports the daemon's health to an outside monitor.
public struct HeartbeatMessage: Sendable {
  public enum Method: String, Hashable, Sendable, CaseIterable {
    case post = "POST"
    /// Sends no body.
    case get = "GET"
  }

  /// The result of one heartbeat.
  public enum Outcome: Hashable, Sendable {
    /// The monitor answered 2xx.
    case taken
    /// The reason for the failure, as a sentence without a full stop.
    case refused(String)
    /// The channel stopped during the exchange.
    case cutShort
  }

  public var url: String
  public var method: Method
  /// Secrets that sign the message; empty for an unsigned one.
  public var secrets: [SigningSecret]
  /// Time limit for the exchange.
  public var limit: Milliseconds
  /// Why no reminder can fire; nil if the daemon is healthy.
  public var problem: String?

  public init(
    url: String, method: Method = .post, secrets: [SigningSecret] = [], limit: Milliseconds = .seconds(10),
    problem: String? = nil
  ) {
    (self.url, self.method, self.secrets, self.limit, self.problem) = (url, method, secrets, limit, problem)
  }
}

extension WebhookChannel {
  /// Sends the heartbeat now, outside all queues. It is neither stored nor retried.
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
          queue: nil, limit: message.limit, prepare: { _ in request }, finish: { continuation.resume(returning: $0) }))
    }
    if result.isCutShort { return .cutShort }
    let verdict = WebhookVerdict(result, channel: channel)
    return verdict.outcome == .delivered ? .taken : .refused(verdict.error ?? "no answer")
  }
}

/// The `data` of `chime.heartbeat`.
private struct HeartbeatFacts: Encodable {
  var problem: String?

  private enum Key: CodingKey { case problem }

  /// Writes the key `problem` even when the value is null.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(problem, forKey: .problem)
  }
}
