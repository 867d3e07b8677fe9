import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Synchronization

/// The endpoints as the webhook channel asks for them, each with its secrets.
///
/// A lock guards the table: the loop replaces it, and the channel's thread reads it, and what it lacked once more.
final class EndpointCache: Sendable {
  private let secrets: Secrets
  private let table = Mutex(Table())

  private struct Table {
    var access: [DeliveryQueue: EndpointAccess] = [:]
    /// Grows when the endpoints are read anew: what was read of one before is not put among them.
    var generation = 0
  }

  init(secrets: Secrets) { self.secrets = secrets }

  /// What the loop has to know after it has read the endpoints.
  struct Review {
    /// When the first secret that has been replaced stops signing; nil when there is none.
    var nextEnd: Instant?
    /// Whether files still have secrets that sign no more.
    var hasOldSecrets = false
    /// What cannot be read, as sentences.
    var problems: [String] = []
    /// Those that something can be sent to again.
    var mended: [DeliveryQueue] = []
    /// Who is told more of reminders than that they fire.
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
    // What one that is disabled is to be told waits until it is enabled.
    review.subscriptions = EventSubscriptions(access.values.map(\.listener).sorted { $0.queue < $1.queue })
    table.withLock { [access] table in
      review.mended = table.access.filter { $0.value.lacksSecrets && access[$0.key]?.lacksSecrets == false }.map(\.key)
      table = Table(access: access, generation: table.generation + 1)
    }
    return review
  }

  /// As it was read last. Secrets that could not be read then are read now: what stood in their way may be over.
  func access(_ queue: DeliveryQueue) -> EndpointAccess? {
    let (known, generation) = table.withLock { ($0.access[queue], $0.generation) }
    guard let known, known.lacksSecrets, known.endpoint.disabled == nil else { return known }
    let again = secrets.read(queue).access(known.endpoint)
    table.withLock { if $0.generation == generation { $0.access[queue] = again } }
    return again
  }

  /// What the address of an endpoint is one of; nil where there is none.
  func kind(of queue: DeliveryQueue) -> Endpoint.Kind? { table.withLock { $0.access[queue]?.endpoint.kind } }

  /// Removes from the files the secrets whose time is over.
  func forgetOldSecrets(_ now: Instant) {
    for queue in table.withLock({ Array($0.access.keys) }) {
      let kept = secrets.read(queue)
      guard !kept.isCredential, kept.sheet.secrets.contains(where: { $0.signing.until.map { $0 <= now } ?? false })
      else { continue }
      // One that cannot be written now signs no more all the same, and is removed at the next start.
      try? secrets.change(queue) { _ = $0.forget(before: now) }
    }
  }
}
