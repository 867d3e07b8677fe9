import ChimeCore
import ChimeSchedule
import ChimeWords

/// The actions that the receiver of a message may take: the address for their tokens, and a token and a button label
/// for each. The address is empty if the daemon polls for tokens (`EndpointSettings.polled`).
struct OfferedAnswers: Sendable {
  struct Offer: Hashable, Sendable {
    var token: String
    var label: String
  }

  var address: String
  var done: Offer?
  var snooze: Offer?
  var dismiss: Offer?
  var log: Offer?

  /// Nil if the endpoint reads no answers or the message reports an event or a closed occurrence.
  init?(to message: OutboundMessage, by access: EndpointAccess, at now: Instant) {
    guard let address = access.endpoint.answersAddress, message.delivery.event == nil, message.occurrence.isOpen,
      message.reminder != nil,
      let key = access.tokenKeys(at: now).first
    else { return nil }
    self.address = access.endpoint.settings.polled == nil ? address : ""
    let delivery = message.delivery
    func offer(_ action: ActionToken.Action, _ label: String) -> Offer? {
      // The expiry counts from the message's creation, so that all attempts send the same token.
      ActionToken(
        .answer(
          action, message.occurrence.id, round: delivery.round, expiry: delivery.createdAt + ActionToken.life)
      ).text(key).map { Offer(token: $0, label: Self.label(label)) }
    }
    let length = DesktopConfiguration.snooze(of: message)
    if let item = message.report?.items.first {
      done = offer(.item(item.item), item.title)
    } else {
      done = offer(.done, message.report?.button ?? localized("Done"))
    }
    snooze = offer(.snooze(length), localized("Snooze %1", Presentation.span(length)))
    dismiss = offer(.dismiss, localized("Dismiss"))
    log = message.report?.log.flatMap { offer(.log(grains: $0.grains), $0.title) }
  }

  /// Actions of a made-up reminder. Their tokens have no effect.
  init?(sampleFor access: EndpointAccess, at now: Instant) {
    guard let address = access.endpoint.answersAddress, let key = access.tokenKeys(at: now).first else { return nil }
    self.address = access.endpoint.settings.polled == nil ? address : ""
    let occurrence = OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: now)
    func offer(_ action: ActionToken.Action, _ label: String) -> Offer? {
      ActionToken(.answer(action, occurrence, round: 1, expiry: now + .minutes(10))).text(key)
        .map { Offer(token: $0, label: label) }
    }
    done = offer(.done, localized("Done"))
    snooze = offer(.snooze(.minutes(10)), localized("Snooze %1", Presentation.span(.minutes(10))))
    dismiss = offer(.dismiss, localized("Dismiss"))
  }

  func write(_ json: inout JSONText) {
    json.member("address", address.isEmpty ? nil : address)
    Self.write(dismiss, "dismiss", &json)
    Self.write(done, "done", &json)
    Self.write(log, "log", &json)
    Self.write(snooze, "snooze", &json)
  }

  private static func write(_ offer: Offer?, _ name: StaticString, _ json: inout JSONText) {
    guard let offer else { return json.member(name, String?.none) }
    json.object(name) { offered in
      offered.member("label", offer.label)
      offered.member("token", offer.token)
    }
  }

  /// Returns one short line that is safe between quotes.
  private static func label(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in PlainText.withoutControls(text, lines: false).unicodeScalars {
      line.append(scalar == "\"" ? "'" : scalar == "\\" ? "/" : scalar)
    }
    let label = PlainText.clipped(String(line), bytes: 40)
    return label.allSatisfy(\.isWhitespace) ? localized("Done") : label
  }
}

extension TemplateValues {
  /// Sets the values of the answers. With `redacted`, tokens are replaced by the mark.
  mutating func put(_ answers: OfferedAnswers?, redacted: Bool = false) {
    guard let answers else { return }
    self[.answersAddress] = .text(answers.address)
    func lay(_ offer: OfferedAnswers.Offer?, _ token: Placeholder.Name, _ label: Placeholder.Name) {
      guard let offer else { return }
      self[token] = .text(redacted ? Redaction.mark : offer.token)
      self[label] = .text(offer.label)
    }
    lay(answers.done, .answersDone, .answersDoneLabel)
    lay(answers.snooze, .answersSnooze, .answersSnoozeLabel)
    lay(answers.dismiss, .answersDismiss, .answersDismissLabel)
    lay(answers.log, .answersLog, .answersLogLabel)
  }
}
