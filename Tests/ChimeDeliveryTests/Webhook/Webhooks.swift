import ChimeCore
import ChimeSchedule
import Foundation

@testable import ChimeDelivery

/// Returns a channel whose endpoints all have one address.
func webhooks(
  to url: String, certificates: String? = nil, configure: (inout EndpointConfiguration) -> Void = { _ in }
) throws -> WebhookChannel {
  var configuration = EndpointConfiguration(version: "1.2.3")
  configuration.totalTimeout = .seconds(60)
  configuration.connectTimeout = .seconds(30)
  configure(&configuration)
  let access = try access(to: url, certificates: certificates)
  return WebhookChannel(configuration: configuration) { _ in access }
}

func access(to url: String, certificates: String? = nil) throws -> EndpointAccess {
  var endpoint = Endpoint(
    queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team")), url: url, createdAt: scheduled)
  endpoint.settings.certificates = certificates
  return EndpointAccess(endpoint: endpoint, secrets: [SigningSecret(try Secret(SecretTests.text))])
}

/// Sends a message to that address over a new channel, and returns the outcome.
func attempted(
  _ url: String, certificates: String? = nil, configure: (inout EndpointConfiguration) -> Void = { _ in }
) async throws -> (attempt: Attempt, next: ChannelReport.NextStep) {
  let channel = try webhooks(to: url, certificates: certificates, configure: configure)
  let report = try await channel.deliver(message(channel: "team"))
  await channel.stop()
  guard case .ended(let attempt, let next) = report else { throw Failure("the first report is \(report)") }
  return (attempt, next)
}

/// Returns the resident memory of this process, in bytes.
func residentBytes() throws -> Int {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  guard fields.count > 1, let pages = Int(fields[1]) else { throw Failure("no memory in \(fields)") }
  return pages * sysconf(Int32(_SC_PAGESIZE))
}
