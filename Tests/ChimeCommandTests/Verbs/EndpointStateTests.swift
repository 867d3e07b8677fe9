import ChimeControl
import Testing

@testable import ChimeCommand

/// The state of an endpoint in the list and in `chime endpoint show`.
struct EndpointStateTests {
  @Test(
    arguments: [
      (nil, nil, "in use"),
      (1_774_590_000, nil, "failing since Fri 2026-03-27 06:40"),
      (1_774_590_000, 1_774_600_300, "backing off until 09:31:40, failing since Fri 2026-03-27 06:40"),
      // The circuit breaker had closed when the list arrived.
      (1_774_590_000, 1_774_590_060, "failing since Fri 2026-03-27 06:40"),
    ] as [(Int64?, Int64?, String)])
  func endpointShowsItsState(failing: Int64?, resting: Int64?, said: String) throws {
    var endpoint = Samples.endpoint
    endpoint.failingSince = failing.map { Samples.time($0) }
    endpoint.backoffUntil = resting.map { Samples.time($0) }
    let daemon = try FakeDaemon { [endpoint] _, _ in .reply(EndpointsInterface.List.Reply(endpoints: [endpoint])) }
    let shown = chime(["endpoint", "show", "team"], daemon: daemon)
    #expect(shown.output.contains("  \(said)\n"), "\(shown.output)")
    let listed = chime(["endpoint", "list", "--json"], daemon: daemon)
    #expect(listed.output.contains("\"backoffUntil\":\(resting == nil ? "null" : "\"2026-")"), "\(listed.output)")
  }
}
