import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// The JSON that a webhook carries (Standard Webhooks 1.0.0, "Payload structure": `type`, `timestamp`, `data`).
///
/// Every key is always there, `null` where there is nothing to say, and keys are in alphabetical order, so that all
/// attempts of one delivery send the same bytes; what is said of a tracker is as it is at the attempt.
struct WebhookMessage<Content> {
  var type: String
  /// When what it tells of happened; an attempt's own time is in the header `webhook-timestamp`.
  var timestamp: String
  var data: Content
}

extension WebhookMessage: Encodable where Content: Encodable {
  func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self))
  }
}

/// `data` of `reminder.fired`.
struct FiredReminder {
  let message: OutboundMessage

  fileprivate func write(_ data: inout JSONText) {
    let occurrence = message.occurrence
    let reminder = message.reminder
    data.member("body", message.body)
    data.member("channel", message.delivery.lane.channel.rawValue)
    data.member("firedAt", occurrence.firedAt.map(Timestamp.rfc3339))
    data.member("late", occurrence.late?.rawValue)
    data.member("latenessMs", occurrence.lateness?.rawValue)
    data.member("occurrence", occurrence.id.description)
    data.member("reminder", occurrence.id.reminder.rawValue)
    data.member("repeat", Int64(occurrence.repetition(ofRound: message.delivery.round)))
    data.member("round", Int64(message.delivery.round))
    data.member("scheduledAt", Timestamp.rfc3339(occurrence.id.scheduledAt))
    data.member("tags", reminder?.tags ?? [])
    data.member("tenant", message.tenant)
    data.member("title", message.title)
    if let facts = message.report?.facts {
      data.object("tracker") { facts.write(&$0) }
    } else {
      data.member("tracker", String?.none)
    }
    data.member("urgency", (reminder?.urgency ?? .normal).rawValue)
    data.member("url", reminder?.url)
  }
}

extension TrackerReport.Facts {
  fileprivate func write(_ data: inout JSONText) {
    data.member("day", day)
    data.member("entries", Int64(entries))
    data.member("goal", goal)
    data.member("id", id)
    data.member("met", isMet)
    data.member("percent", percent.map { Int64($0) })
    data.member("reached", reached)
    data.member("remaining", remaining)
    data.member("streak", Int64(streak))
    data.member("title", title)
    data.member("unit", unit)
  }
}

extension WebhookMessage where Content == FiredReminder {
  init(_ message: OutboundMessage) {
    self.init(
      type: "reminder.fired", timestamp: Timestamp.rfc3339(message.delivery.createdAt),
      data: FiredReminder(message: message))
  }

  func bytes() throws -> [UInt8] {
    var json = JSONText()
    json.object { json in
      json.object("data") { data.write(&$0) }
      json.member("timestamp", timestamp)
      json.member("type", type)
    }
    return json.bytes
  }
}

/// `data` of `chime.test`.
struct TestNotice: Encodable {
  var channel: String
  var text = "A test message of Chime. No reminder has fired."
}
