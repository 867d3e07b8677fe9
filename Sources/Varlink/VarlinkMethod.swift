/// A VarlinkMethod value holds the parameters of one method call.
///
///     struct Ping: Codable, VarlinkMethod {
///       static let method = "org.example.ping.Ping"
///       var ping: String
///       struct Reply: Codable, JSONCodable { var pong: String }
///     }
///     let pong = try client.call(Ping(ping: "hello")).pong
///
/// Source: Varlink, "Method Call".
public protocol VarlinkMethod: JSONCodable, Equatable, Sendable {
  /// The output parameters; ``Empty`` for a method without output.
  associatedtype Reply: JSONCodable

  /// The fully qualified name.
  static var method: String { get }
}
