public import ChimeCore
import ChimeSchedule

/// Sends occurrences to mailboxes by SMTP. The way is the webhooks': their threads, limits and rules for addresses.
public final class MailChannel: EndpointChannel {
  private let sender: MessageSender

  public init(beside webhooks: WebhookChannel) { sender = webhooks.sender }

  public func prepare() { sender.engine.prepare() }

  /// Reports `.ended` once.
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

  /// Does nothing: an email that was sent stays.
  public func withdraw(_ occurrence: OccurrenceID) {}

  /// The threads are the webhooks', who stop them.
  public func stop() async {}

  /// Sends an email about a reminder that is made up.
  public func test(_ access: EndpointAccess) async -> EndpointTest {
    await sender.test(access) { id, now, values, isShown in
      let occurrence = OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: now)
      return try MailRequest(access: access, id: id.rawValue, occurrence: occurrence, date: now, values: { values })
        .make(password: access.token.map { isShown ? Redaction.mark : $0.text })
    }
  }
}
