/// The vocabulary that the interfaces share, as Swift values: each mirrors the type of the same name in the
/// `.varlink` files, field by field. Tests hold one against the other.
public enum Wire {
  /// A point in time (RFC 3339 with an offset), and the IANA name of the zone in which the offset was taken.
  /// Until when everything is silent, and whether what is critical is too.
  public struct Silence: Codable, Equatable, Sendable {
    public var until: Time
    public var critical: Bool

    public init(until: Time, critical: Bool) {
      self.until = until
      self.critical = critical
    }
  }

  public struct Time: Codable, Equatable, Sendable {
    public var at: String
    public var zone: String

    public init(at: String, zone: String) {
      self.at = at
      self.zone = zone
    }
  }

  public enum Gap: String, Codable, Sendable, CaseIterable { case shift, skip }
  public enum Fold: String, Codable, Sendable, CaseIterable { case first, last, both }
  public enum Urgency: String, Codable, Sendable, CaseIterable { case low, normal, critical }
  public enum CatchUpRule: String, Codable, Sendable, CaseIterable { case latest, all, skip }

  public struct CatchUp: Codable, Equatable, Sendable {
    public var suspend: CatchUpRule
    public var downtime: CatchUpRule

    public init(suspend: CatchUpRule, downtime: CatchUpRule) {
      self.suspend = suspend
      self.downtime = downtime
    }
  }

  /// No parameters, or none in the answer.
  public struct Empty: Codable, Equatable, Sendable { public init() {} }

  // The errors that several interfaces declare with the same fields.

  public struct NotFound: Codable, Equatable, Sendable {
    public var what: String
    public var id: String
    public var near: [String]

    public init(what: String, id: String, near: [String]) {
      self.what = what
      self.id = id
      self.near = near
    }
  }

  public struct Ambiguous: Codable, Equatable, Sendable {
    public var id: String
    public var candidates: [String]

    public init(id: String, candidates: [String]) {
      self.id = id
      self.candidates = candidates
    }
  }

  public struct InvalidSchedule: Codable, Equatable, Sendable {
    public var text: String
    public var column: Int?
    public var expected: String
    public var suggestion: String?
    public var message: String

    public init(text: String, column: Int?, expected: String, suggestion: String?, message: String) {
      self.text = text
      self.column = column
      self.expected = expected
      self.suggestion = suggestion
      self.message = message
    }
  }

  public struct NeverOccurs: Codable, Equatable, Sendable {
    public var text: String
    public var message: String

    public init(text: String, message: String) {
      self.text = text
      self.message = message
    }
  }

  public struct Inexpressible: Codable, Equatable, Sendable {
    public var text: String
    public var message: String

    public init(text: String, message: String) {
      self.text = text
      self.message = message
    }
  }

  public struct InvalidValue: Codable, Equatable, Sendable {
    public var field: String
    public var message: String

    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  public struct InvalidText: Codable, Equatable, Sendable {
    public var line: Int?
    public var message: String

    public init(line: Int?, message: String) {
      self.line = line
      self.message = message
    }
  }

  /// `Conflict` and `InvalidConfiguration`.
  public struct Message: Codable, Equatable, Sendable {
    public var message: String

    public init(message: String) { self.message = message }
  }

  public struct LimitExceeded: Codable, Equatable, Sendable {
    /// What may be had or done, and how much of it; or which limit of the connection it is.
    public var limit: String
    /// Of what may be tried again: not before this long (ISO 8601).
    public var retryAfter: String?

    public init(limit: String, retryAfter: String? = nil) {
      self.limit = limit
      self.retryAfter = retryAfter
    }
  }

  public struct NotForTenant: Codable, Equatable, Sendable {
    public var tenant: String
    public var message: String

    public init(tenant: String, message: String) {
      self.tenant = tenant
      self.message = message
    }
  }

  public struct StoreUnavailable: Codable, Equatable, Sendable {
    public var reason: String

    public init(reason: String) { self.reason = reason }
  }
}
