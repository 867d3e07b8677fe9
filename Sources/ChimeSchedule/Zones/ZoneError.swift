/// Why the bytes of a zone file were refused. Nothing of the file's content is repeated in it.
public struct ZoneError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, Codable {
    /// The name is not shaped like an IANA time zone name.
    case invalidIdentifier
    /// The file ends before what its header promises.
    case truncated
    /// It is no TZif file, or of a version from before 2 that says it is something else.
    case notTZif
    /// More than `Zone.maximumFileSize` bytes.
    case tooLarge
    /// A count, an index, an order or an offset breaks a rule of RFC 9636.
    case malformed
    /// The TZ string after the tables is not one.
    case invalidFooter
  }

  public let code: Code
  /// A sentence without the zone's name.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
