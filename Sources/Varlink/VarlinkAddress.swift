/// A VarlinkAddress is a service's address: `unix:/run/example.socket`, or `unix:@name` in Linux's abstract namespace.
///
/// Parameters after a `;` (such as `;mode=0600`) concern only the service and are ignored.
///
///     let address = VarlinkAddress("unix:/run/org.example.ping")
///
/// Source: Varlink, "Address".
public struct VarlinkAddress: Hashable, Sendable, CustomStringConvertible {
  /// Maximum length of a Unix socket's path in bytes.
  static let maxPathBytes = 107

  /// The path, or the abstract name with its `@`.
  public let path: String

  /// Creates the address of a path or of `@name`.
  ///
  /// - Returns: `nil` for a path that is empty, contains a NUL byte, or exceeds 107 bytes.
  public init?(path: String) {
    guard !path.isEmpty, path != "@", path.utf8.count <= Self.maxPathBytes, !path.utf8.contains(0) else { return nil }
    self.path = path
  }

  /// - Returns: `nil` if the text is no valid `unix:` address.
  public init?(_ text: String) {
    guard text.hasPrefix("unix:") else { return nil }
    self.init(path: String(text.dropFirst(5).prefix { $0 != ";" }))
  }

  /// Whether the name is abstract, so that no file exists for it.
  public var isAbstract: Bool { path.hasPrefix("@") }

  public var description: String { "unix:\(path)" }
}
