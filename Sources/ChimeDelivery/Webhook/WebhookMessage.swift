import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// A WebhookMessage is the JSON body of a webhook (Standard Webhooks 1.0.0, "Payload structure").
///
/// Every key is always present, in a fixed order and `null` if it has no value, so that all attempts of one delivery
/// send the same bytes. Tracker values are the exception: they are current as of the attempt.
struct WebhookMessage<Content> {
  /// The delivery's id, if it is not sent outside the body.
  var id: String?
  var type: String
  /// Time of the reported event. The attempt's own time is in the `webhook-timestamp` header.
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

/// The `data` of `reminder.fired`, of later occurrence events, and of tracker events.
struct FiredReminder {
  let message: OutboundMessage
  /// Actions that the receiver may take; nil if its endpoint reads no answers.
  var answers: OfferedAnswers?

  func write(_ data: inout JSONText) {
    if let event = message.delivery.event, let news = event.news {
      write(news, of: event, &data)
    } else {
      writeOccurrence(&data)
    }
  }

  private func write(_ news: TrackerNews, of event: DeliveryEvent, _ data: inout JSONText) {
    data.member("by", event.person)
    data.member("change", news.change?.rawValue)
    data.member("channel", message.delivery.queue.channel.rawValue)
    if let entry = news.entry {
      data.object("entry") { object in
        object.member("at", Timestamp.rfc3339(entry.at))
        object.member("day", entry.day)
        object.member("id", entry.id)
        object.member("item", entry.item)
        object.member("value", entry.value)
      }
    } else {
      data.member("entry", String?.none)
    }
    data.member("tenant", message.tenant)
    data.member("title", message.title)
    write(news.facts, &data)
    if let unlocked = news.unlocked {
      data.object("unlocked") { object in
        object.member("id", unlocked.id)
        object.member("kind", unlocked.kind.rawValue)
        object.member("pack", unlocked.pack)
        object.member("title", unlocked.title)
      }
    } else {
      data.member("unlocked", String?.none)
    }
  }

  private func write(_ facts: TrackerReport.Facts?, _ data: inout JSONText) {
    if let facts {
      data.object("tracker") { facts.write(&$0) }
    } else {
      data.member("tracker", String?.none)
    }
  }

  private func writeOccurrence(_ data: inout JSONText) {
    let occurrence = message.occurrence
    let reminder = message.reminder
    let event = message.delivery.event
    if let answers { data.object("answers") { answers.write(&$0) } }
    data.member("body", message.body)
    if let event { data.member("by", event.person) }
    data.member("channel", message.delivery.queue.channel.rawValue)
    data.member("firedAt", occurrence.firedAt.map(Timestamp.rfc3339))
    data.member("late", occurrence.late?.rawValue)
    data.member("latenessMs", occurrence.lateness?.rawValue)
    if let event {
      if let channel = event.channel {
        data.object("message") { given in
          given.member("channel", channel.rawValue)
          given.member("id", event.message?.rawValue)
        }
      } else {
        data.member("message", String?.none)
      }
    }
    data.member("occurrence", occurrence.id.description)
    if let event { data.member("reason", event.reason?.rawValue) }
    data.member("reminder", occurrence.id.reminder.rawValue)
    data.member("repeat", Int64(occurrence.repetition(ofRound: message.delivery.round)))
    data.member("round", Int64(message.delivery.round))
    data.member("scheduledAt", Timestamp.rfc3339(occurrence.id.scheduledAt))
    data.member("tags", reminder?.tags ?? [])
    data.member("tenant", message.tenant)
    data.member("title", message.title)
    write(message.report?.facts, &data)
    if let event { data.member("until", event.until.map(Timestamp.rfc3339)) }
    data.member("urgency", (reminder?.urgency ?? .normal).rawValue)
    for text in Reminder.messageTexts { data.member(key: text.name) { $0.write(reminder?[keyPath: text.path]) } }
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
  init(_ message: OutboundMessage, _ answers: OfferedAnswers? = nil) {
    self.init(
      type: message.kind.type, timestamp: Timestamp.rfc3339(message.delivery.createdAt),
      data: FiredReminder(message: message, answers: answers))
  }

  func bytes() throws -> [UInt8] {
    var json = JSONText()
    json.object { json in
      json.object("data") { data.write(&$0) }
      if let id { json.member("id", id) }
      json.member("timestamp", timestamp)
      json.member("type", type)
    }
    return json.bytes
  }
}

/// The `data` of `chime.test`.
struct TestNotice: Encodable {
  var channel: String
  var text = "A test message of Chime. No reminder has fired."
}

extension DeliveryEvent.Kind {
  /// The value of `type`.
  var type: String {
    switch self {
    case .event(.fired), .event(.repeated), .withdrawal: "reminder.fired"
    case .event(.givenUp): "message.givenUp"
    case .event(let event): (event.isOfTracker ? "tracker." : "occurrence.") + event.rawValue
    }
  }
}

extension DeliveryEvent {
  /// The person who caused the event, or `popup` for the desktop.
  var person: String? { by == "desktop" ? "popup" : by }
}
