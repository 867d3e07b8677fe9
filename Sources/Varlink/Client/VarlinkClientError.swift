/// Why a call of a ``VarlinkClient`` failed.
public enum VarlinkClientError: Error, Hashable, CustomStringConvertible {
  /// The address is no Unix socket address.
  case invalidAddress(String)
  /// No socket exists at the address.
  case noSocket(VarlinkAddress)
  /// A socket exists, but no process listens.
  case refused(VarlinkAddress)
  /// A system call failed: the operation and its error number.
  case system(operation: String, errno: Int32)
  /// The service closed the connection before it replied.
  case closed
  /// The time limit passed. The connection is unusable, since the reply may still arrive.
  case timedOut
  /// The service replied with an error.
  case remote(RemoteError)
  /// The service sent an invalid reply, or one of an unexpected type.
  case protocolViolation(String)
  /// The parameters cannot be encoded.
  case encoding(VarlinkEncodingError)
  /// A stream on this connection has not ended. Read it to its end or close the connection.
  case busy

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

/// A RemoteError is the error of a service's reply.
///
///     } catch VarlinkClientError.remote(let error) {
///       if let missing = error.parameters(NotFound.self, of: "org.example.library.NotFound") { … }
///     }
public struct RemoteError: Error, Hashable, CustomStringConvertible {
  /// The fully qualified name.
  public let name: String
  private let rawParameters: [UInt8]

  init(name: String, parameters: [UInt8]) {
    self.name = name
    rawParameters = parameters
  }

  /// The error as a ``ServiceError``; nil if it is not of `org.varlink.service`.
  public var service: ServiceError? {
    guard let parameters = parameters(JSON.self) else { return nil }
    return ServiceError(name: name, parameters: parameters)
  }

  /// Decodes the parameters.
  ///
  /// - Parameter name: The expected error; nil for any.
  /// - Returns: `nil` for another error or for parameters of another type.
  public func parameters<P: JSONReadable>(_ type: P.Type = P.self, of name: String? = nil) -> P? {
    guard name == nil || name == self.name else { return nil }
    return try? JSONReader.read(type, from: rawParameters)
  }

  public var description: String {
    if let service { return service.description }
    return rawParameters.isEmpty ? name : "\(name) \(String(decoding: rawParameters, as: UTF8.self))"
  }
}
