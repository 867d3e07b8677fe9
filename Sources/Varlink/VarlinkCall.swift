/// A method call as a server receives it: its head is read, its parameters are decoded when asked for.
///
///     let call: VarlinkCall = …            // from ServerConnection.next()
///     switch call.method {
///     case "org.example.ping.Ping":
///       let ping = try call.parameters(Ping.self)
///       try connection.reply(Pong(pong: ping.ping), to: call.id)
///     default:
///       connection.fail(ServiceError.methodNotImplemented(method: call.method), call: call.id)
///     }
///
/// Source: Varlink, "Method Call", Call.
public struct VarlinkCall: Sendable {
  /// Names one call of one connection; the connection's replies are addressed to it.
  public struct ID: Hashable, Sendable {
    let ordinal: UInt64
  }

  /// Which call of its connection this is.
  public let id: ID
  /// The fully-qualified method, `interface.Method`.
  public let method: String
  /// Whether the client accepts several replies.
  public let more: Bool
  /// Whether the client expects no reply; what is replied all the same is dropped.
  public let oneway: Bool
  /// Whether the client asks to leave Varlink after the reply.
  public let upgrade: Bool

  /// The parameters object as it came, or nothing.
  private let rawParameters: [UInt8]

  init(id: ID, method: String, envelope: Envelope, message: [UInt8]) {
    self.id = id
    self.method = method
    more = envelope.more
    oneway = envelope.oneway
    upgrade = envelope.upgrade
    rawParameters = envelope.parameters.map { Array(message[$0]) } ?? []
  }

  /// The parameters as a value; missing parameters are an empty object.
  ///
  /// - Throws: ``ServiceError/invalidParameter(parameter:)`` with the path of the field that does not fit.
  public func parameters<P: JSONReadable>(_ type: P.Type = P.self) throws(ServiceError) -> P {
    do {
      return try JSONReader.read(type, from: rawParameters)
    } catch {
      throw .invalidParameter(parameter: error.path.isEmpty ? "parameters" : error.path)
    }
  }

  /// A parameter by itself: its text, or nil when it is not there, or no text.
  ///
  ///     let tenant = call.text("tenant")   // before all parameters are read
  public func text(_ name: String) -> String? {
    var scanner = JSONScanner(rawParameters, maxNesting: .max)
    do throws(JSONScanner.Fault) {
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        if scanner.text(key) != name {
          try scanner.skipValue()
        } else {
          return try scanner.peek() == .string ? scanner.text(try scanner.string()) : nil
        }
      }
    } catch {}
    return nil
  }
}

/// How the place of a value within parameters is written: `reminder.tags[2]`.
enum FieldPath {
  static func member(_ name: String, of path: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
