/// An error as a Varlink reply carries it: a fully-qualified name, and what the value writes as parameters.
///
/// A structure whose fields are the error's parameters is all that is needed:
///
///     struct NotFound: VarlinkError, Codable {
///       var varlinkName: String { "org.example.library.NotFound" }
///       var book: String
///     }
///
/// Source: Varlink, "Interface Definition", Error: identified by its fully-qualified name, with an optional object.
public protocol VarlinkError: Error, JSONWritable, Sendable {
  /// The name, as `interface.Error`. The interface of the method that fails, or `org.varlink.service`, declares it.
  var varlinkName: String { get }
}

/// The six errors of `org.varlink.service`, which any method of any service may answer with.
///
/// Source: the interface `org.varlink.service`.
public enum ServiceError: VarlinkError, Hashable, CustomStringConvertible {
  /// The service has no interface of this name.
  case interfaceNotFound(interface: String)
  /// The interface declares no such method; the name is fully qualified.
  case methodNotFound(method: String)
  /// The method is declared, but this service does not implement it.
  case methodNotImplemented(method: String)
  /// A parameter is missing, unknown or of the wrong type: its path, such as `reminder.tags[2]`.
  case invalidParameter(parameter: String)
  /// The peer may not do this.
  case permissionDenied
  /// The method answers with a stream only, and was called without `more`.
  case expectedMore

  /// The error of this name, its parameters read from the reply; `nil` if it is none of the six.
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

  /// The error's name within `org.varlink.service`.
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

  /// Writes the parameters of the error; its name stands outside of them.
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

  /// The error as a sentence for a person.
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
