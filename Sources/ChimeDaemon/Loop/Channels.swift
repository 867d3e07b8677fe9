import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The ways to reach someone, by lane: `desktop`, and every other name is an endpoint's.
final class Channels: Sendable {
  let webhook: WebhookChannel
  private let desktop = AbsentChannel()

  init(configuration: Configuration, endpoints: EndpointDirectory) {
    var webhooks = WebhookConfiguration(version: Version.text)
    webhooks.connectTimeout = configuration.webhookConnectTimeout
    webhooks.totalTimeout = configuration.webhookTimeout
    webhooks.concurrentPerEndpoint = configuration.webhookConcurrency
    webhook = WebhookChannel(configuration: webhooks) { endpoints.access($0) }
  }

  func channel(for lane: Lane) -> any Channel { lane.channel == .desktop ? desktop : webhook }

  func withdraw(_ occurrence: OccurrenceID) { desktop.withdraw(occurrence) }

  func stop() async { await webhook.stop() }
}

/// Stands where the desktop's channel comes next: it keeps every message waiting.
struct AbsentChannel: Channel {
  func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let attempt = Attempt(
      number: 0, startedAt: SystemClock.now, took: .zero, outcome: .refused, error: "no channel is furnished yet")
    report(.ended(attempt, next: .blocked(.seconds(30))))
  }

  func withdraw(_ occurrence: OccurrenceID) {}
  func stop() async {}
}
