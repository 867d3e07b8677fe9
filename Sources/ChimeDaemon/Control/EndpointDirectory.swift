import ChimeCore
import ChimeDelivery
import Synchronization

/// The endpoints as the webhook channel asks for them, each with its secret.
///
/// A lock guards the table: the loop replaces it, and the channel's thread reads it.
final class EndpointDirectory: Sendable {
  private let secrets: Secrets
  private let table = Mutex<[Lane: EndpointAccess]>([:])

  init(secrets: Secrets) { self.secrets = secrets }

  func replace(with endpoints: [Endpoint]) {
    let access = endpoints.map { endpoint in
      (
        endpoint.lane,
        EndpointAccess(
          endpoint: endpoint,
          secrets: secrets.read(endpoint.lane).flatMap { try? Secret($0) }.map { [SigningSecret($0)] } ?? [])
      )
    }
    table.withLock { $0 = Dictionary(access) { _, last in last } }
  }

  func access(_ lane: Lane) -> EndpointAccess? { table.withLock { $0[lane] } }
}
