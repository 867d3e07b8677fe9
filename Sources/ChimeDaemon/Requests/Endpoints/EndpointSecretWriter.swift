import ChimeCore
import ChimeDelivery

/// An EndpointSecretWriter changes the files of the secrets of endpoints.
///
/// All its methods run on the executor of short requests, one after the other.
struct EndpointSecretWriter: RequestPart {
  let requestContext: RequestContext

  /// - Throws: `ControlFailure.storeUnavailable` if the file cannot be written.
  func change(_ queue: DeliveryQueue, _ body: (inout EndpointSecretFile) -> Void) throws {
    // Only debug builds check this: a shipped daemon must not crash for it.
    #if DEBUG
      loop.requestExecutor.checkIsolated()
    #endif
    do {
      try secrets.change(queue, body)
    } catch {
      throw ControlFailure.storeUnavailable("the secret cannot be written (\(error.call): \(error.reason))")
    }
  }

  /// Gives an endpoint from a backup the secrets that it lacks here. Secrets that are here are newer, and stay.
  ///
  /// - Returns: a sentence about a secret that was not taken.
  func take(_ sheet: EndpointSecretFile?, of queue: DeliveryQueue) throws -> String? {
    guard let sheet else { return nil }
    let kept = secrets.read(queue).sheet
    try change(queue) { here in
      if kept.secrets.isEmpty { here.secrets = sheet.secrets }
      if kept.token == nil { here.token = sheet.token }
    }
    let isOther = !kept.secrets.isEmpty && kept.secrets.map(\.text) != sheet.secrets.map(\.text)
    return isOther ? "the endpoint \(queue.channel) keeps its present secret; the backup has another" : nil
  }

  /// Returns a sentence about the secret or token that a restored endpoint lacks; nil: nothing.
  ///
  /// An endpoint with a template gets a new secret, because its receiver checks no signature.
  func lacking(_ endpoint: Endpoint) throws -> String? {
    let (kept, name) = (secrets.read(endpoint.queue), endpoint.queue.channel)
    if endpoint.kind.secretUse != .none, kept.sheet.secrets.isEmpty {
      guard endpoint.settings.template != nil || endpoint.kind.secretUse == .answers else {
        return "the backup does not have the secret of \(name): give it with chime endpoint add \(name) "
          + "\(endpoint.url) --secret-file FILE"
      }
      try change(endpoint.queue) { $0.secrets = [EndpointFields.made(.hmac)] }
    }
    do {
      try EndpointFields.check(endpoint.url, endpoint.settings, token: kept.sheet.token)
      return nil
    } catch {
      return "the backup does not have the token of \(name): give it with chime endpoint edit \(name) --token-file FILE"
    }
  }
}

extension RequestPart {
  var endpointSecrets: EndpointSecretWriter { EndpointSecretWriter(requestContext: requestContext) }
}
