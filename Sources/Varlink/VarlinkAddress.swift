/// Where a service listens: `unix:/run/example.socket`, or `unix:@name` in Linux's abstract name space.
///
/// What follows a `;` (such as `;mode=0600`) is a matter of the service and is passed over.
///
///     let address = VarlinkAddress("unix:/run/org.example.ping")
///
/// Source: Varlink, "Address".
public struct VarlinkAddress: Hashable, Sendable, CustomStringConvertible {
  /// The longest path a Unix socket can have, in bytes.
  static let maxPathBytes = 107

  /// The path, or the abstract name behind its `@`.
  public let path: String

  /// The address of a socket in the file system, or `@name`.
  ///
  /// - Returns: `nil` for a path that is empty, holds a NUL byte, or is longer than the 107 bytes a socket's may have.
  public init?(path: String) {
    guard !path.isEmpty, path != "@", path.utf8.count <= Self.maxPathBytes, !path.utf8.contains(0) else { return nil }
    self.path = path
  }

  /// - Returns: `nil` for a text that is no `unix:` address.
  public init?(_ text: String) {
    guard text.hasPrefix("unix:") else { return nil }
    self.init(path: String(text.dropFirst(5).prefix { $0 != ";" }))
  }

  /// Whether the name is abstract: no file stands for it.
  public var isAbstract: Bool { path.hasPrefix("@") }

  /// The address as it is written.
  public var description: String { "unix:\(path)" }
}
