/// `io.chime.Schedules`, as `Interfaces/io.chime.Schedules.varlink` describes it.
public enum SchedulesInterface {
  public static let name = "io.chime.Schedules"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.schedules }

  public enum Dialect: String, Codable, Sendable, CaseIterable { case phrase, cron, calendar, rrule, solar }

  /// A time of a schedule: RFC 3339 with the offset of its zone, that zone, what its clocks are labelled with then (CET),
  /// how many seconds after `after` it comes, and what a DST change has to do with it, as a sentence; null mostly.
  public struct Moment: Codable, Equatable, Sendable {
    public var at: String
    public var zone: String
    public var label: String
    public var seconds: Int
    public var remark: String?

    public init(at: String, zone: String, label: String, seconds: Int, remark: String? = nil) {
      self.at = at
      self.zone = zone
      self.label = label
      self.seconds = seconds
      self.remark = remark
    }
  }

  /// The canonical form, the next `count` times (5 when null, 1000 at most) strictly after `after` (now when null), and
  /// remarks where a DST change touches one of them, each with its time before it. `zone` is the one that governs: a
  /// schedule may name one itself. Calendars are those of the configuration, and so is the place unless one is given.
  public enum Explain {
    public static let method = "io.chime.Schedules.Explain"

    public struct Parameters: Codable, Equatable, Sendable {
      public var when: String
      public var timezone: String?
      public var gap: Wire.Gap?
      public var fold: Wire.Fold?
      public var count: Int?
      public var after: String?
      public var latitude: Double?
      public var longitude: Double?

      public init(
        when: String, timezone: String? = nil, gap: Wire.Gap? = nil, fold: Wire.Fold? = nil, count: Int? = nil,
        after: String? = nil, latitude: Double? = nil, longitude: Double? = nil
      ) {
        self.when = when
        self.timezone = timezone
        self.gap = gap
        self.fold = fold
        self.count = count
        self.after = after
        self.latitude = latitude
        self.longitude = longitude
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var canonical: String
      public var dialect: String
      public var zone: String
      public var next: [Moment]
      public var remarks: [String]

      public init(canonical: String, dialect: String, zone: String, next: [Moment], remarks: [String]) {
        self.canonical = canonical
        self.dialect = dialect
        self.zone = zone
        self.next = next
        self.remarks = remarks
      }
    }
  }

  /// Writes a schedule in another dialect: its canonical form there, and where the two differ, as sentences.
  public enum Convert {
    public static let method = "io.chime.Schedules.Convert"

    public struct Parameters: Codable, Equatable, Sendable {
      public var when: String
      public var to: Dialect
      public var timezone: String?
      public var latitude: Double?
      public var longitude: Double?

      public init(
        when: String, to: Dialect, timezone: String? = nil, latitude: Double? = nil, longitude: Double? = nil
      ) {
        self.when = when
        self.to = to
        self.timezone = timezone
        self.latitude = latitude
        self.longitude = longitude
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var canonical: String
      public var dialect: String
      public var remarks: [String]

      public init(canonical: String, dialect: String, remarks: [String]) {
        self.canonical = canonical
        self.dialect = dialect
        self.remarks = remarks
      }
    }
  }

  /// When the words for times of day are by the configuration, each as HH:MM: `day` (a day without a time), `morning`,
  /// `afternoon`, `evening`, `tonight`, `night`, `lunchtime`, `teatime`, `endOfDay`. For a client that reads schedules
  /// itself.
  public enum Words {
    public static let method = "io.chime.Schedules.Words"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var words: [String: String]

      public init(words: [String: String]) { self.words = words }
    }
  }
}
