import ChimeCore
import ChimeSchedule

/// The ways to reach someone, by lane: `desktop`, and every other name is an endpoint's.
final class Channels: Sendable {
  let webhook = AbsentChannel()

  init(configuration: Configuration, endpoints: EndpointDirectory) {}

  func channel(for lane: Lane) -> any Channel { webhook }
  func withdraw(_ occurrence: OccurrenceID) {}
  func apply(_ configuration: Configuration) {}
  func stop() async {}
}

/// Stands where the channels of `ChimeDelivery` come next: it keeps every message waiting.
struct AbsentChannel: Channel {
  func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let attempt = Attempt(
      number: 0, startedAt: SystemClock.now, took: .zero, outcome: .refused, error: "no channel is furnished yet")
    report(.ended(attempt, next: .blocked(.seconds(30))))
  }

  func withdraw(_ occurrence: OccurrenceID) {}
  func stop() async {}
}
