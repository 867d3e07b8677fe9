import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Synchronization

/// The endpoints as the webhook channel asks for them, each with its secrets.
///
/// A lock guards the table: the loop replaces it, and the channel's thread reads it.
final class EndpointDirectory: Sendable {
  private let secrets: Secrets
  private let table = Mutex<[Lane: EndpointAccess]>([:])

  init(secrets: Secrets) { self.secrets = secrets }

  /// What the loop has to know after it has read the endpoints.
  struct Review {
    /// When the first secret that has been replaced stops signing; nil when there is none.
    var nextEnd: Instant?
    /// Whether files still have secrets that sign no more.
    var hasOldSecrets = false
    /// What cannot be read, as sentences.
    var problems: [String] = []
  }

  func replace(with endpoints: [Endpoint], now: Instant) -> Review {
    var review = Review()
    var access: [Lane: EndpointAccess] = [:]
    for endpoint in endpoints {
      let kept = secrets.read(endpoint.lane)
      access[endpoint.lane] = kept.access(endpoint)
      let ends = kept.isCredential ? [] : kept.sheet.secrets.compactMap(\.signing.until)
      review.nextEnd = ([review.nextEnd] + ends.filter { $0 > now }).compactMap { $0 }.min()
      if ends.contains(where: { $0 <= now }) { review.hasOldSecrets = true }
      if let problem = kept.problem { review.problems.append("endpoint \"\(endpoint.lane.channel)\": \(problem)") }
    }
    table.withLock { $0 = access }
    return review
  }

  func access(_ lane: Lane) -> EndpointAccess? { table.withLock { $0[lane] } }

  /// Removes from the files the secrets whose time is over.
  func forgetOldSecrets(_ now: Instant) {
    for lane in table.withLock({ Array($0.keys) }) {
      let kept = secrets.read(lane)
      guard !kept.isCredential, kept.sheet.secrets.contains(where: { $0.signing.until.map { $0 <= now } ?? false })
      else { continue }
      // One that cannot be written now signs no more all the same, and is removed at the next start.
      try? secrets.change(lane) { _ = $0.forget(before: now) }
    }
  }
}
