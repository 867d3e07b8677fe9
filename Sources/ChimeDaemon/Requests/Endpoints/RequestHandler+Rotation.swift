import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

extension RequestHandler {
  /// Secrets of one endpoint that sign at once, at most: each is 50 bytes or more of one header.
  private static let mostSecrets = 8

  func handle(_ request: EndpointsInterface.Rotate) async throws -> EndpointsInterface.Rotate.Reply {
    let queue = try queue(request.name)
    let endpoint = try await store.read { [self] transaction in try known(queue, transaction) }
    guard endpoint.kind.secretUse != .none else {
      throw ControlFailure.conflict(
        "messages to this address are not signed; chime endpoint edit \(queue.channel) --token-file FILE sets "
          + "another password or token")
    }
    let overlap =
      try request.overlap.map { try ReminderFields.duration($0, "overlap", EndpointFields.overlap) } ?? .days(1)
    let kept = secrets.read(queue)
    guard !kept.isCredential else {
      throw ControlFailure.conflict(
        "its secret is the credential endpoint.\(queue.channel), which chimed cannot change: add a second line with "
          + "the new secret to the credential's file, and restart chimed")
    }
    let current = kept.sheet.current
    guard !current.isEmpty else {
      throw ControlFailure.conflict(
        "\(queue.channel) has no secret to replace: put the endpoint again with one")
    }
    let new =
      try request.secret.map(EndpointFields.secrets) ?? current.map { EndpointFields.made($0.signing.secret.kind) }
    guard !new.contains(where: { new in kept.sheet.secrets.contains { $0.signing.secret == new.signing.secret } })
    else {
      throw ControlFailure.invalidValue(field: "secret", "the endpoint has this secret already: give a new one")
    }
    let (now, end) = (now, now + overlap)
    var old = kept.sheet
    for index in old.secrets.indices where old.secrets[index].signing.until == nil {
      old.secrets[index].signing.until = end
    }
    _ = old.forget(before: now)
    guard new.count + old.secrets.count <= Self.mostSecrets else {
      throw ControlFailure.conflict(
        "\(old.secrets.count) replaced secrets of \(queue.channel) are still valid: rotate again when some have "
          + "expired, or with a shorter overlap")
    }
    // Durable before the answer leaves: what the receiver is given has to be what signs.
    try change(queue) { $0.secrets = new + old.secrets }
    let changed = try await store(queue, changesSecret: true) { $0 }
    let told = request.secret == nil ? new.filter { $0.signing.secret.kind == .hmac }.map(\.text) : []
    return EndpointsInterface.Rotate.Reply(endpoint: changed, secret: told.first)
  }
}
