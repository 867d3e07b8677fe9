public import ChimeCore
public import ChimeSchedule

/// An endpoint with what is needed to speak to it.
public struct EndpointAccess: Sendable {
  public var endpoint: Endpoint
  /// What its messages are signed with, the newest first; empty when they could not be read: messages wait until they
  /// can.
  public var secrets: [SigningSecret]

  public init(endpoint: Endpoint, secrets: [SigningSecret]) {
    self.endpoint = endpoint
    self.secrets = secrets
  }

  /// The secrets that sign at a moment.
  func secrets(at now: Instant) -> [Secret] {
    secrets.filter { secret in secret.until.map { now < $0 } ?? true }.map(\.secret)
  }
}

/// A secret, and until when it signs.
public struct SigningSecret: Hashable, Sendable {
  public var secret: Secret
  /// Nil for one that has not been replaced.
  public var until: Instant?

  public init(_ secret: Secret, until: Instant? = nil) {
    self.secret = secret
    self.until = until
  }
}
