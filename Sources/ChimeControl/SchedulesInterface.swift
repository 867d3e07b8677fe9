/// `io.chime.Schedules`, as `Interfaces/io.chime.Schedules.varlink` describes it.
public enum SchedulesInterface {
  public static let name = "io.chime.Schedules"

  /// The interface file, as introspection returns it.
  public static var description: String {
    String(decoding: PackageResources.io_chime_Schedules_varlink, as: UTF8.self)
  }

  /// The canonical form, the next `count` times (5 when null, 1000 at most) strictly after `after` (now when null), and
  /// remarks where a DST change touches one of them.
  public enum Explain {
    public static let method = "io.chime.Schedules.Explain"

    public struct Parameters: Codable, Hashable, Sendable {
      public var when: String
      public var timezone: String?
      public var gap: Wire.Gap?
      public var fold: Wire.Fold?
      public var count: Int?
      public var after: String?

      public init(
        when: String, timezone: String? = nil, gap: Wire.Gap? = nil, fold: Wire.Fold? = nil, count: Int? = nil,
        after: String? = nil
      ) {
        self.when = when
        self.timezone = timezone
        self.gap = gap
        self.fold = fold
        self.count = count
        self.after = after
      }
    }

    public struct Reply: Codable, Hashable, Sendable {
      public var canonical: String
      public var dialect: String
      public var zone: String
      public var next: [Wire.Time]
      public var remarks: [String]

      public init(canonical: String, dialect: String, zone: String, next: [Wire.Time], remarks: [String]) {
        self.canonical = canonical
        self.dialect = dialect
        self.zone = zone
        self.next = next
        self.remarks = remarks
      }
    }
  }
}
