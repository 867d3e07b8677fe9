import ChimeCore
import Synchronization

/// The endpoints as the webhook channel asks for them, with their secrets read when they are needed.
///
/// A lock guards the table: the loop replaces it, and the channel's thread reads it.
final class EndpointDirectory: Sendable {
  private let secrets: Secrets
  private let table = Mutex<[Lane: Endpoint]>([:])

  init(secrets: Secrets) { self.secrets = secrets }

  func replace(with endpoints: [Endpoint]) {
    table.withLock { $0 = Dictionary(endpoints.map { ($0.lane, $0) }) { _, last in last } }
  }
}
