public import ChimeCore

/// A MailChannel sends occurrences by SMTP. It shares the threads, limits and address rules of webhooks.
public final class MailChannel: EndpointChannel {
  private let sender: MessageSender

  public init(beside webhooks: WebhookChannel) { sender = webhooks.sender }

  public func prepare() { sender.engine.prepare() }

  /// Sends a message. Reports `.ended` once.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let (delivery, timeOfDay) = (message.delivery, sender.configuration.timeOfDay)
    sender.send(
      message, report: report,
      make: { access, _ in
        try MailRequest(
          access: access, id: delivery.id.rawValue, occurrence: message.occurrence.id, isRepeat: delivery.round > 1,
          date: delivery.createdAt, isUrgent: message.reminder?.urgency == .critical,
          values: {
            let zone = message.reminder?.governingZone ?? .local
            return TemplateValues(message) { timeOfDay($0, zone) }
          }
        ).make(password: access.token?.text)
      },
      judge: { result in
        var verdict = WebhookVerdict(result, channel: delivery.queue.channel, round: delivery.round)
        if let event = delivery.event { verdict.tells(event) }
        return verdict
      })
  }

  /// Does nothing, because an email cannot be recalled.
  public func withdraw(_ occurrence: OccurrenceID) {}

  /// Does nothing, because the webhook channel stops the shared engine.
  public func stop() async {}

  /// Sends an email about a made-up reminder.
  public func test(_ access: EndpointAccess) async -> EndpointTest {
    await sender.test(access) { id, now, values, isShown in
      let occurrence = OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: now)
      return try MailRequest(access: access, id: id.rawValue, occurrence: occurrence, date: now, values: { values })
        .make(password: access.token.map { isShown ? Redaction.mark : $0.text })
    }
  }
}
