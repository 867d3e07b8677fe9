extension EndpointsInterface {
  /// Adds an endpoint, or replaces one of that name, which keeps its secret and its token unless others are given.
  public enum Put {
    public static let method = "io.chime.Endpoints.Put"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String
      public var url: String
      public var secret: String?
      public var newSecret: Signing?
      public var token: String?
      public var settings: Settings?

      public init(
        name: String, url: String, secret: String? = nil, newSecret: Signing? = nil, token: String? = nil,
        settings: Settings? = nil
      ) {
        self.name = name
        self.url = url
        self.secret = secret
        self.newSecret = newSecret
        self.token = token
        self.settings = settings
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint
      public var secret: String?

      public init(endpoint: Endpoint, secret: String? = nil) {
        self.endpoint = endpoint
        self.secret = secret
      }
    }
  }

  /// Changes what is given, and sets back to the usual way what `reset` names.
  public enum Update {
    public static let method = "io.chime.Endpoints.Update"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String
      public var url: String?
      public var token: String?
      public var settings: Settings?
      public var reset: [Resettable]?

      public init(
        name: String, url: String? = nil, token: String? = nil, settings: Settings? = nil, reset: [Resettable]? = nil
      ) {
        self.name = name
        self.url = url
        self.token = token
        self.settings = settings
        self.reset = reset
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  public enum Remove {
    public static let method = "io.chime.Endpoints.Remove"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  public enum List {
    public static let method = "io.chime.Endpoints.List"

    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoints: [Endpoint]

      public init(endpoints: [Endpoint]) {
        self.endpoints = endpoints
      }
    }
  }

  /// Replaces the secret; until the end of `overlap` messages are signed with the old one too.
  public enum Rotate {
    public static let method = "io.chime.Endpoints.Rotate"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String
      public var secret: String?
      /// ISO 8601; a day when null.
      public var overlap: String?

      public init(name: String, secret: String? = nil, overlap: String? = nil) {
        self.name = name
        self.secret = secret
        self.overlap = overlap
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint
      public var secret: String?

      public init(endpoint: Endpoint, secret: String? = nil) {
        self.endpoint = endpoint
        self.secret = secret
      }
    }
  }

  public enum Enable {
    public static let method = "io.chime.Endpoints.Enable"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  public enum Disable {
    public static let method = "io.chime.Endpoints.Disable"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var endpoint: Endpoint

      public init(endpoint: Endpoint) {
        self.endpoint = endpoint
      }
    }
  }

  /// Sends one signed test message now.
  public enum Test {
    public static let method = "io.chime.Endpoints.Test"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var result: TestResult

      public init(result: TestResult) {
        self.result = result
      }
    }
  }

  public enum Templates {
    public static let method = "io.chime.Endpoints.Templates"

    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var templates: [Template]

      public init(templates: [Template]) {
        self.templates = templates
      }
    }
  }
}
