/// Why a call from a ``VarlinkClient`` did not succeed.
public enum VarlinkClientError: Error, Hashable, CustomStringConvertible {
  /// The address is no Unix socket's.
  case invalidAddress(String)
  /// There is no socket at the address.
  case noSocket(VarlinkAddress)
  /// There is a socket, and nobody listens.
  case refused(VarlinkAddress)
  /// The operating system did not allow the connection, or broke it: what was done, and the error number.
  case system(operation: String, errno: Int32)
  /// The service has closed the connection before it answered.
  case closed
  /// The time given has passed. The connection cannot be used any more: the answer may still come.
  case timedOut
  /// The service has answered with an error.
  case remote(RemoteError)
  /// The service has sent something that is no Varlink reply, or of another type than expected.
  case protocolViolation(String)
  /// The call's parameters cannot be encoded.
  case encoding(VarlinkEncodingError)
  /// A stream on this connection has not ended; it must be read to its end or the connection closed.
  case busy

  /// The failure as a sentence.
  public var description: String {
    switch self {
    case .invalidAddress(let text): "'\(text)' is not the address of a Unix socket"
    case .noSocket(let address): "there is no service at \(address)"
    case .refused(let address): "no process listens at \(address)"
    case .system(let operation, let number): "\(operation) failed: \(ClientSocket.message(number))"
    case .closed: "the service has closed the connection"
    case .timedOut: "the service did not answer in time"
    case .remote(let error): "\(error)"
    case .protocolViolation(let problem): "the service violates the Varlink protocol: \(problem)"
    case .encoding(let error): "\(error)"
    case .busy: "the connection is busy with a stream"
    }
  }
}

/// An error a service has answered with.
///
///     } catch VarlinkClientError.remote(let error) {
///       if let missing = error.parameters(NotFound.self, of: "org.example.library.NotFound") { … }
///     }
public struct RemoteError: Error, Hashable, CustomStringConvertible {
  /// The fully-qualified name.
  public let name: String
  private let rawParameters: [UInt8]

  init(name: String, parameters: [UInt8]) {
    self.name = name
    rawParameters = parameters
  }

  /// The error, when it is one of the six of `org.varlink.service`.
  public var service: ServiceError? {
    guard let parameters = parameters(JSON.self) else { return nil }
    return ServiceError(name: name, parameters: parameters)
  }

  /// The parameters as a value.
  ///
  /// - Parameter name: the error they are expected of; any, if left out.
  /// - Returns: `nil` if it is another error, or its parameters are of another type.
  public func parameters<P: JSONReadable>(_ type: P.Type = P.self, of name: String? = nil) -> P? {
    guard name == nil || name == self.name else { return nil }
    return try? JSONReader.read(type, from: rawParameters)
  }

  /// The error as a sentence for a person.
  public var description: String {
    if let service { return service.description }
    return rawParameters.isEmpty ? name : "\(name) \(String(decoding: rawParameters, as: UTF8.self))"
  }
}
