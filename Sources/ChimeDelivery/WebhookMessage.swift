import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// The JSON that a webhook carries (Standard Webhooks 1.0.0, "Payload structure": `type`, `timestamp`, `data`).
///
/// Every key is always there, `null` where there is nothing to say, and keys are in alphabetical order, so that all
/// attempts of one delivery send the same bytes.
struct WebhookMessage<Content: Encodable>: Encodable {
  var type: String
  /// When what it tells of happened; an attempt's own time is in the header `webhook-timestamp`.
  var timestamp: String
  var data: Content

  func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self))
  }
}

/// `data` of `reminder.fired`.
struct FiredReminder: Encodable {
  let message: OutboundMessage

  private enum Key: String, CodingKey {
    case occurrence, reminder, title, body, scheduledAt, firedAt, late, latenessMs, channel, round, tags, urgency, url
  }

  func encode(to encoder: any Encoder) throws {
    let occurrence = message.occurrence
    let reminder = message.reminder
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(occurrence.id.description, forKey: .occurrence)
    try container.encode(occurrence.id.reminder.rawValue, forKey: .reminder)
    try container.encode(occurrence.title, forKey: .title)
    try container.encode(reminder?.body, forKey: .body)
    try container.encode(Timestamp.rfc3339(occurrence.id.scheduledAt), forKey: .scheduledAt)
    try container.encode(occurrence.firedAt.map(Timestamp.rfc3339), forKey: .firedAt)
    try container.encode(occurrence.late?.rawValue, forKey: .late)
    try container.encode(occurrence.lateness?.rawValue, forKey: .latenessMs)
    try container.encode(message.delivery.lane.channel.rawValue, forKey: .channel)
    try container.encode(message.delivery.round, forKey: .round)
    try container.encode(reminder?.tags ?? [], forKey: .tags)
    try container.encode((reminder?.urgency ?? .normal).rawValue, forKey: .urgency)
    try container.encode(reminder?.url, forKey: .url)
  }
}

extension WebhookMessage where Content == FiredReminder {
  init(_ message: OutboundMessage) {
    self.init(
      type: "reminder.fired", timestamp: Timestamp.rfc3339(message.delivery.createdAt),
      data: FiredReminder(message: message))
  }
}

/// `data` of `chime.test`.
struct TestNotice: Encodable {
  var channel: String
  var text = "A test message of Chime. No reminder has fired."
}

/// A signed request: what leaves in one attempt.
enum SignedRequest {
  /// - Parameters:
  ///   - id: `webhook-id`, the same for every attempt of a delivery.
  ///   - at: the time of this attempt.
  static func make(
    to endpoint: Endpoint, id: String, at time: Instant, body: [UInt8], secrets: [Secret], version: String
  ) -> HTTPRequest {
    let signatures = secrets.map { $0.signature(id: id, timestamp: time.seconds, body: body) }
    return HTTPRequest(
      url: endpoint.url,
      headers: [
        "content-type: application/json",
        "user-agent: Chime/\(version)",
        "webhook-id: \(id)",
        "webhook-timestamp: \(time.seconds)",
        "webhook-signature: \(signatures.joined(separator: " "))",
      ] + (endpoint.settings.headers ?? []).map { "\($0.name): \($0.value)" },
      body: body, certificates: endpoint.settings.certificates)
  }
}
