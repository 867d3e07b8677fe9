/// The rules of one time zone.
public struct Zone: Sendable, Hashable {
  public let identifier: String
  public static let utc = Zone(identifier: "UTC")
  init(identifier: String) { self.identifier = identifier }
}
