/// A ScheduleContext holds what a schedule depends on besides its text: its zone, and what its names refer to.
///
/// Schedules read no files and no configuration, so the caller passes this in.
///
///     let scheduleContext = ScheduleContext(zone: prague, place: Place(latitude: 50.0875, longitude: 14.4213))
///     let schedule = try Schedule.parse("sunset - 30m on fri", now: now, in: scheduleContext)
public struct ScheduleContext: Sendable {
  /// The reminder's zone. A zone in the text itself takes precedence (`calendar: 09:00 Europe/Prague`).
  public var zone: Zone
  /// The location used for sunrise and sunset; `nil` refuses schedules that need it.
  public var place: Place?
  /// Looks up a zone by name; `nil` if the machine does not have it. `UTC` is always known.
  public var zones: @Sendable (String) -> Zone?
  /// Looks up the days of a calendar that a text names after `except on`; `nil` if there is no such calendar.
  public var calendar: @Sendable (String) -> [ClosedRange<CivilDate>]?
  /// The names of the known calendars. Only the parser of a line with title, time and exceptions calls it.
  public var calendarNames: @Sendable () -> Set<String> = { ["holidays"] }
  /// When the reminder was last done, for schedules that count from there.
  public var lastDone: Instant?
  /// Whether plain intervals count from ``lastDone`` too (``Schedule/canFollowEntries``): `every 90m from 8:00 to
  /// 22:00` then comes 90 minutes after it, within the window.
  public var followsDone = false

  /// The times of a schedule that counts from another reminder (``Schedule/chain``).
  public var chainedTimes: [Instant] = []

  /// Returns the times that words for times of day stand for. Called only for such a word, or for a day without a time.
  public var words: @Sendable () -> WordTimes = { .usual }

  /// The language of spoken times besides English; `nil` for English alone. Text from programs is English only.
  public var language: SpokenLanguage?

  public init(
    zone: Zone, place: Place? = nil, zones: @escaping @Sendable (String) -> Zone? = { _ in nil },
    calendar: @escaping @Sendable (String) -> [ClosedRange<CivilDate>]? = { _ in nil }, lastDone: Instant? = nil
  ) {
    self.zone = zone
    self.place = place
    self.zones = zones
    self.calendar = calendar
    self.lastDone = lastDone
  }

  func zone(named name: String) -> Zone? { name == zone.identifier ? zone : name == "UTC" ? .utc : zones(name) }
}

/// A Place is a point on the Earth, in degrees.
///
///     Place(latitude: 50.0875, longitude: 14.4213)   // Prague
public struct Place: Sendable, Hashable, Codable {
  /// Degrees north of the equator: −90…90.
  public let latitude: Double
  /// Degrees east of Greenwich: −180…180.
  public let longitude: Double

  /// Makes a place; `nil` if a coordinate is out of range or not a number.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// - Throws: `DecodingError` when a coordinate is out of range.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let latitude = try container.decode(Double.self, forKey: .latitude)
    let longitude = try container.decode(Double.self, forKey: .longitude)
    guard let place = Place(latitude: latitude, longitude: longitude) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "no place on the Earth"))
    }
    self = place
  }
}
