/// A ZoneError says why the bytes of a zone file were refused. It quotes nothing of the file.
public struct ZoneError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, Codable {
    /// The name does not have the form of an IANA time zone name.
    case invalidIdentifier
    /// The file is shorter than its header says.
    case truncated
    /// The bytes are not a TZif file, or the version is unknown.
    case notTZif
    /// The file has more than `Zone.maximumFileSize` bytes.
    case tooLarge
    /// A count, an index, an order or an offset violates RFC 9636.
    case malformed
    /// The footer after the tables is not a valid TZ string.
    case invalidFooter
  }

  public let code: Code
  /// The error as a sentence, without the zone's name.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
