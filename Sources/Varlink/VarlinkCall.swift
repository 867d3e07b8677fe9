/// A VarlinkCall is a method call received by a server. Its parameters are decoded on demand.
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
  /// Identifies a call within its connection, to address replies.
  public struct ID: Hashable, Sendable {
    let ordinal: UInt64
  }

  public let id: ID
  /// The fully qualified method, `interface.Method`.
  public let method: String
  /// Whether the client accepts several replies.
  public let more: Bool
  /// Whether the client expects no reply. Replies are dropped.
  public let oneway: Bool
  /// Whether the client asks to leave Varlink after the reply.
  public let upgrade: Bool

  /// The parameters object as received; empty if missing.
  private let rawParameters: [UInt8]

  init(id: ID, method: String, envelope: Envelope, message: [UInt8]) {
    self.id = id
    self.method = method
    more = envelope.more
    oneway = envelope.oneway
    upgrade = envelope.upgrade
    rawParameters = envelope.parameters.map { Array(message[$0]) } ?? []
  }

  /// Decodes the parameters. Missing parameters count as an empty object.
  ///
  /// - Throws: ``ServiceError/invalidParameter(parameter:)`` with the path of the wrong field.
  public func parameters<P: JSONReadable>(_ type: P.Type = P.self) throws(ServiceError) -> P {
    do {
      return try JSONReader.read(type, from: rawParameters)
    } catch {
      throw .invalidParameter(parameter: error.path.isEmpty ? "parameters" : error.path)
    }
  }

  /// Returns a single string parameter; nil if it is missing or not a string.
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

/// Formats the path of a value within parameters: `reminder.tags[2]`.
enum FieldPath {
  static func member(_ name: String, of path: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
