/// An error of a Varlink reply: a fully qualified name with parameters.
///
/// A structure with the error's parameters as fields suffices:
///
///     struct NotFound: VarlinkError, Codable {
///       var varlinkName: String { "org.example.library.NotFound" }
///       var book: String
///     }
///
/// Source: Varlink, "Interface Definition", Error: identified by its fully-qualified name, with an optional object.
public protocol VarlinkError: Error, JSONWritable, Sendable {
  /// The name as `interface.Error`. The interface of the failing method, or `org.varlink.service`, must declare it.
  var varlinkName: String { get }
}

/// The six errors of `org.varlink.service`, which any method may return.
///
/// Source: the interface `org.varlink.service`.
public enum ServiceError: VarlinkError, Hashable, CustomStringConvertible {
  /// The service has no interface of this name.
  case interfaceNotFound(interface: String)
  /// The interface declares no such method; the name is fully qualified.
  case methodNotFound(method: String)
  /// The method is declared, but this service does not implement it.
  case methodNotImplemented(method: String)
  /// A parameter is missing, unknown or of the wrong type; its path, such as `reminder.tags[2]`.
  case invalidParameter(parameter: String)
  /// The client is not permitted to do this.
  case permissionDenied
  /// The method returns only streams, but was called without `more`.
  case expectedMore

  /// Creates the error from a reply; `nil` for a name that is none of the six.
  init?(name: String, parameters: JSON) {
    func text(_ name: String) -> String {
      if case .string(let text) = parameters[name] { text } else { "" }
    }
    switch name {
    case "org.varlink.service.InterfaceNotFound": self = .interfaceNotFound(interface: text("interface"))
    case "org.varlink.service.MethodNotFound": self = .methodNotFound(method: text("method"))
    case "org.varlink.service.MethodNotImplemented": self = .methodNotImplemented(method: text("method"))
    case "org.varlink.service.InvalidParameter": self = .invalidParameter(parameter: text("parameter"))
    case "org.varlink.service.PermissionDenied": self = .permissionDenied
    case "org.varlink.service.ExpectedMore": self = .expectedMore
    default: return nil
    }
  }

  /// The fully qualified name, such as `org.varlink.service.MethodNotFound`.
  public var varlinkName: String {
    switch self {
    case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
    case .methodNotFound: "org.varlink.service.MethodNotFound"
    case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
    case .invalidParameter: "org.varlink.service.InvalidParameter"
    case .permissionDenied: "org.varlink.service.PermissionDenied"
    case .expectedMore: "org.varlink.service.ExpectedMore"
    }
  }

  /// Writes the parameters. The name is not part of them.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .interfaceNotFound(let interface): writer.field("interface", interface)
    case .methodNotFound(let method), .methodNotImplemented(let method): writer.field("method", method)
    case .invalidParameter(let parameter): writer.field("parameter", parameter)
    case .permissionDenied, .expectedMore: break
    }
    writer.endObject()
  }

  public var description: String {
    switch self {
    case .interfaceNotFound(let interface): "the service has no interface '\(interface)'"
    case .methodNotFound(let method): "there is no method '\(method)'"
    case .methodNotImplemented(let method): "the service does not implement '\(method)'"
    case .invalidParameter(let parameter): "the parameter '\(parameter)' is missing, unknown or of the wrong type"
    case .permissionDenied: "permission denied"
    case .expectedMore: "the method answers with a stream: call it with 'more'"
    }
  }
}
