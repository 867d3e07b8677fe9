import ChimeCore
import ChimeSchedule
import ChimeWords

/// A MatrixContent is the content of a room event: text, HTML, and the id of Chime's message.
struct MatrixContent: Hashable, Sendable {
  /// Whether the event is a notice, for which clients do not ring.
  var isNotice = false
  var lines: [Line]
  /// The message that this event is or refers to. Replies to the event answer it.
  var delivery: DeliveryID
  /// User ids to mention.
  var mentions: [String] = []

  struct Line: Hashable, Sendable {
    var text: String
    var style = Style.plain

    enum Style: Hashable, Sendable { case plain, strong, struck }

    var html: String {
      let text = Presentation.escaped(text).unicodeScalars.reduce(into: "") { html, scalar in
        if scalar == "\n" { html += "<br>" } else { html.unicodeScalars.append(scalar) }
      }
      return switch style {
      case .plain: text
      case .strong: "<strong>\(text)</strong>"
      case .struck: "<del>\(text)</del>"
      }
    }
  }

  /// Chime's own key in an event's content.
  static let key = "io.chime.delivery"

  var text: String { lines.map(\.text).joined(separator: "\n") }

  /// Writes the members of `content`.
  private func write(_ json: inout JSONText, prefix: String = "") {
    json.member("body", prefix + text)
    json.member("format", "org.matrix.custom.html")
    json.member("formatted_body", prefix + lines.map(\.html).joined(separator: "<br>"))
    json.member("io.chime.delivery", delivery.rawValue)
    json.object("m.mentions") { json in if !mentions.isEmpty { json.member("user_ids", mentions) } }
    json.member("msgtype", isNotice ? "m.notice" : "m.text")
  }

  /// The content of a new event.
  var bytes: [UInt8] {
    var json = JSONText()
    json.object { write(&$0) }
    return json.bytes
  }

  /// Returns the content that replaces an earlier event.
  func bytes(replacing event: String) -> [UInt8] {
    var json = JSONText()
    json.object { json in
      // Fallback for clients without edits.
      write(&json, prefix: "* ")
      json.object("m.new_content") { write(&$0) }
      json.object("m.relates_to") { json in
        json.member("event_id", event)
        json.member("rel_type", "m.replace")
      }
    }
    return json.bytes
  }

  /// Returns the content of a reply to an event.
  func bytes(answering event: String) -> [UInt8] {
    var json = JSONText()
    json.object { json in
      write(&json)
      json.object("m.relates_to") { $0.object("m.in_reply_to") { $0.member("event_id", event) } }
    }
    return json.bytes
  }
}

extension MatrixContent {
  /// Creates the content for a firing or another event.
  init(_ message: OutboundMessage, to access: EndpointAccess, timeOfDay: (Instant) -> String) {
    let title = Presentation.title(of: message)
    delivery = message.delivery.id
    let senders = access.endpoint.settings.senders ?? []
    guard message.delivery.event == nil else {
      isNotice = true
      lines = [Line(text: title, style: .strong)]
      if let said = Self.event(message, timeOfDay: timeOfDay) { lines.append(Line(text: said)) }
      return
    }
    lines = [Line(text: title, style: .strong)]
    let text = Presentation.text(of: message, timeOfDay: timeOfDay)
    if !text.isEmpty { lines.append(Line(text: text)) }
    if !senders.isEmpty, message.occurrence.isOpen {
      let done = message.report?.items.isEmpty == false ? nil : "✅ \(message.report?.button ?? localized("Done"))"
      let snooze = "💤 \(Presentation.span(DesktopConfiguration.snooze(of: message)))"
      let offers = [done, snooze, "❌ \(localized("Dismiss"))"].compactMap { $0 }
      lines.append(Line(text: PlainText.withoutControls(offers.joined(separator: " · "), lines: false)))
    }
    switch message.reminder?.urgency {
    case .critical?: mentions = senders
    case .low?: isNotice = true
    case .normal?, nil: break
    }
  }

  /// Creates the replacement of a message that no longer waits for an answer; nil if a later message supersedes it.
  init?(insteadOf message: OutboundMessage, timeOfDay: (Instant) -> String) {
    guard let taken = message.delivery.event?.message, let end = Self.end(message.occurrence, timeOfDay: timeOfDay)
    else { return nil }
    delivery = taken
    isNotice = message.reminder?.urgency == .low
    lines = [Line(text: Presentation.title(of: message), style: .struck), Line(text: end)]
  }

  private static func end(_ occurrence: Occurrence, timeOfDay: (Instant) -> String) -> String? {
    let time = occurrence.endedAt.map(timeOfDay) ?? ""
    return switch occurrence.state {
    case .done: localized("✔ done at %1", time)
    case .dismissed: localized("✖ dismissed at %1", time)
    case .snoozed(let until): localized("💤 until %1", timeOfDay(until))
    case .missed: localized("missed")
    case .fired, .delivered, .awaited: nil
    }
  }

  private static func event(_ message: OutboundMessage, timeOfDay: (Instant) -> String) -> String? {
    guard case .event(let event) = message.delivery.event?.kind else { return nil }
    return switch event {
    case .reopened: localized("waits for an answer again")
    case .givenUp:
      localized("a message by %1 was given up", message.delivery.event?.channel?.rawValue ?? "")
    case .logged: localized("entries have changed")
    case .goal: localized("the goal is met")
    case .unlocked: localized("is reached")
    case .fired, .repeated, .done, .dismissed, .snoozed, .missed: end(message.occurrence, timeOfDay: timeOfDay)
    }
  }

  /// Creates the message of `chime endpoint test`.
  init(testOf delivery: DeliveryID) {
    self.init(
      lines: [Line(text: "A test of Chime", style: .strong), Line(text: "No reminder has fired.")], delivery: delivery)
  }

  /// Creates the reply to an answer that had no effect.
  init(explaining delivery: DeliveryID, isImpossible: Bool) {
    let text =
      isImpossible
      ? localized("Chime cannot do that with this reminder.")
      : localized("I do not understand that. Reply with: done · dismiss · 20m · tomorrow 9:00, or react with ✅ 💤 ❌.")
    self.init(isNotice: true, lines: [Line(text: text)], delivery: delivery)
  }
}
