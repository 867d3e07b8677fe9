import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

/// Whether `chime status` says that everything is all right.
struct HealthStatusTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let clock = WallClock(zone: .utc, now: now)

  static func health() -> DaemonInterface.Health {
    DaemonInterface.Health(
      version: "1", pid: 1, instance: .user, startedAt: time(.zero), zone: "UTC", store: "/chime.db", reminders: 1,
      openOccurrences: 0, pendingDeliveries: 0, deadDeliveries: 0, connections: 1, clockEvents: 0, residentBytes: 1,
      summary: "")
  }

  static func time(_ ago: Milliseconds) -> Wire.Time {
    Wire.Time(at: RFC3339.format(now - ago, in: .utc), zone: "UTC")
  }

  @Test(arguments: [(Milliseconds.seconds(59), 0), (.minutes(1), 1), (.hours(20), 1)])
  func failingEndpointIsReportedAfterAWhile(_ failing: Milliseconds, _ problems: Int) {
    var endpoint = EndpointsInterface.Endpoint(
      name: "team", url: "https://example.test/", createdAt: Self.time(.hours(48)), pending: 1)
    endpoint.failingSince = Self.time(failing)
    let found = HealthStatus(Self.health(), endpoints: [endpoint], clock: Self.clock).problems
    #expect(found.count == problems)
    #expect(found.allSatisfy { $0.text.hasPrefix("endpoint team has accepted nothing since ") }, "\(found)")
    // Open circuit breakers and disabled endpoints have other sentences.
    endpoint.backoffUntil = Self.time(.zero)
    #expect(HealthStatus(Self.health(), endpoints: [endpoint], clock: Self.clock).problems.isEmpty)
    endpoint.disabled = "it answered 410 Gone"
    #expect(HealthStatus(Self.health(), endpoints: [endpoint], clock: Self.clock).problems.count == 1)
  }
}
