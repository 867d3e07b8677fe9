import ChimeCore
import ChimeSchedule
import ChimeWords

/// What an event holds: a text, the same in HTML, and which message of Chime's it is about.
struct MatrixContent: Hashable, Sendable {
  /// Whether clients ring for it: a notice is only shown.
  var isNotice = false
  var lines: [Line]
  /// The message that it is, or is about: answers to it are answers to that one.
  var delivery: DeliveryID
  /// Whom it calls by name.
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

  /// The key of ours among an event's.
  static let key = "io.chime.delivery"

  var text: String { lines.map(\.text).joined(separator: "\n") }

  /// The members of `content`.
  private func write(_ json: inout JSONText, prefix: String = "") {
    json.member("body", prefix + text)
    json.member("format", "org.matrix.custom.html")
    json.member("formatted_body", prefix + lines.map(\.html).joined(separator: "<br>"))
    json.member("io.chime.delivery", delivery.rawValue)
    json.object("m.mentions") { json in if !mentions.isEmpty { json.member("user_ids", mentions) } }
    json.member("msgtype", isNotice ? "m.notice" : "m.text")
  }

  /// A message of its own.
  var bytes: [UInt8] {
    var json = JSONText()
    json.object { write(&$0) }
    return json.bytes
  }

  /// What takes the place of an event that was sent.
  func bytes(replacing event: String) -> [UInt8] {
    var json = JSONText()
    json.object { json in
      // For programs that show no edits.
      write(&json, prefix: "* ")
      json.object("m.new_content") { write(&$0) }
      json.object("m.relates_to") { json in
        json.member("event_id", event)
        json.member("rel_type", "m.replace")
      }
    }
    return json.bytes
  }

  /// What is replied to an event.
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
  /// That a reminder fires, or what became of it.
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

  /// What stands in the place of a message that waits for no answer any more; nil: nothing, as a later one has come.
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
    guard case .told(let event) = message.delivery.event?.kind else { return nil }
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

  /// The message of `chime endpoint test`.
  init(testOf delivery: DeliveryID) {
    self.init(
      lines: [Line(text: "A test of Chime", style: .strong), Line(text: "No reminder has fired.")], delivery: delivery)
  }

  /// What somebody is told whose words were not understood.
  init(explaining delivery: DeliveryID, isImpossible: Bool) {
    let text =
      isImpossible
      ? localized("Chime cannot do that with this reminder.")
      : localized("I do not understand that. Reply with: done · dismiss · 20m · tomorrow 9:00, or react with ✅ 💤 ❌.")
    self.init(isNotice: true, lines: [Line(text: text)], delivery: delivery)
  }
}
