import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Synchronization

/// An EndpointCache holds the endpoints with their secrets, for the threads of the channels.
///
/// A lock guards the table: the loop replaces it, and a channel reads it and may read missing secrets once more.
final class EndpointCache: Sendable {
  private let secrets: Secrets
  private let table = Mutex(Table())

  private struct Table {
    var access: [DeliveryQueue: EndpointAccess] = [:]
    /// Increases with each replacement, so that a late read does not write into a newer table.
    var generation = 0
  }

  init(secrets: Secrets) { self.secrets = secrets }

  /// What the loop learns when the endpoints are read.
  struct Review {
    /// When the next replaced secret stops signing; nil: none was replaced.
    var nextEnd: Instant?
    /// Whether files still hold expired secrets.
    var hasOldSecrets = false
    /// Sentences about secrets that cannot be read.
    var problems: [String] = []
    /// The queues whose missing secrets are there again.
    var mended: [DeliveryQueue] = []
    /// The endpoints that receive other events than firing.
    var subscriptions = EventSubscriptions()
  }

  func replace(with endpoints: [Endpoint], now: Instant) -> Review {
    var review = Review()
    var access: [DeliveryQueue: EndpointAccess] = [:]
    for endpoint in endpoints {
      let kept = secrets.read(endpoint.queue)
      access[endpoint.queue] = kept.access(endpoint)
      let ends = kept.isCredential ? [] : kept.sheet.secrets.compactMap(\.signing.until)
      review.nextEnd = ([review.nextEnd] + ends.filter { $0 > now }).compactMap { $0 }.min()
      if ends.contains(where: { $0 <= now }) { review.hasOldSecrets = true }
      if let problem = kept.problem { review.problems.append("endpoint \"\(endpoint.queue.channel)\": \(problem)") }
    }
    // Events for a disabled endpoint wait until it is enabled.
    review.subscriptions = EventSubscriptions(access.values.map(\.listener).sorted { $0.queue < $1.queue })
    table.withLock { [access] table in
      review.mended = table.access.filter { $0.value.lacksSecrets && access[$0.key]?.lacksSecrets == false }.map(\.key)
      table = Table(access: access, generation: table.generation + 1)
    }
    return review
  }

  /// Returns an endpoint as it was last read. Missing secrets are read once more: the cause may be gone.
  func access(_ queue: DeliveryQueue) -> EndpointAccess? {
    let (known, generation) = table.withLock { ($0.access[queue], $0.generation) }
    guard let known, known.lacksSecrets, known.endpoint.disabled == nil else { return known }
    let again = secrets.read(queue).access(known.endpoint)
    table.withLock { if $0.generation == generation { $0.access[queue] = again } }
    return again
  }

  /// Returns the kind of an endpoint, by its address; nil: there is no such endpoint.
  func kind(of queue: DeliveryQueue) -> Endpoint.Kind? { table.withLock { $0.access[queue]?.endpoint.kind } }

  /// Removes expired secrets from the files.
  func forgetOldSecrets(_ now: Instant) {
    for queue in table.withLock({ Array($0.access.keys) }) {
      let kept = secrets.read(queue)
      guard !kept.isCredential, kept.sheet.secrets.contains(where: { $0.signing.until.map { $0 <= now } ?? false })
      else { continue }
      // An expired secret signs no more even if this fails. The next start removes it.
      try? secrets.change(queue) { _ = $0.forget(before: now) }
    }
  }
}
