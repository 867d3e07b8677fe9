/// `io.chime.Endpoints`, as `Interfaces/io.chime.Endpoints.varlink` describes it.
public enum EndpointsInterface {
  public static let name = "io.chime.Endpoints"

  /// The interface file, as introspection returns it.
  public static var description: String {
    String(decoding: PackageResources.io_chime_Endpoints_varlink, as: UTF8.self)
  }

  /// Its secret is never part of an answer.
  public struct Endpoint: Codable, Hashable, Sendable {
    public var name: String
    public var url: String
    public var createdAt: Wire.Time
    /// Why it is not called any more; null while it is.
    public var disabled: String?
    /// Messages that are still owed to it.
    public var owed: Int

    public init(name: String, url: String, createdAt: Wire.Time, disabled: String? = nil, owed: Int) {
      self.name = name
      self.url = url
      self.createdAt = createdAt
      self.disabled = disabled
      self.owed = owed
    }
  }

  /// What a test sent and what came back.
  public struct TestResult: Codable, Hashable, Sendable {
    public var ok: Bool
    public var url: String
    public var requestHeaders: [String]
    public var requestBody: String
    public var status: Int?
    public var answer: String?
    public var error: String?
    public var tookMs: Int

    public init(
      ok: Bool, url: String, requestHeaders: [String], requestBody: String, status: Int? = nil, answer: String? = nil,
      error: String? = nil, tookMs: Int
    ) {
      self.ok = ok
      self.url = url
      self.requestHeaders = requestHeaders
      self.requestBody = requestBody
      self.status = status
      self.answer = answer
      self.error = error
      self.tookMs = tookMs
    }
  }

  /// Adds or replaces an endpoint. `secret` is `whsec_` and base64 of 24 to 64 bytes; it is needed for a new endpoint and
  /// kept when null for a known one.
  public enum Put {
    public static let method = "io.chime.Endpoints.Put"

    public struct Parameters: Codable, Hashable, Sendable {
      public var name: String
      public var url: String
      public var secret: String?

      public init(name: String, url: String, secret: String? = nil) {
        self.name = name
        self.url = url
        self.secret = secret
      }
    }

    public struct Reply: Codable, Hashable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  public enum Remove {
    public static let method = "io.chime.Endpoints.Remove"

    public struct Parameters: Codable, Hashable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Hashable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  public enum List {
    public static let method = "io.chime.Endpoints.List"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Hashable, Sendable {
      public var endpoints: [Endpoint]

      public init(endpoints: [Endpoint]) {
        self.endpoints = endpoints
      }
    }
  }

  /// Sends one signed test message now.
  public enum Test {
    public static let method = "io.chime.Endpoints.Test"

    public struct Parameters: Codable, Hashable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Hashable, Sendable {
      public var result: TestResult

      public init(result: TestResult) {
        self.result = result
      }
    }
  }
}
