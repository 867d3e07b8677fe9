/// What a schedule has to be told besides its own text: the zone it is read in, and what it may refer to by name.
///
/// A schedule knows no files and no configuration, so whoever asks brings these along.
///
///     let scheduleContext = ScheduleContext(zone: prague, place: Place(latitude: 50.0875, longitude: 14.4213))
///     let schedule = try Schedule.parse("sunset - 30m on fri", now: now, in: scheduleContext)
public struct ScheduleContext: Sendable {
  /// The reminder's zone. A text that names a zone itself (`calendar: 09:00 Europe/Prague`) is read in that one.
  public var zone: Zone
  /// Where the sun is watched from; `nil` refuses schedules that need it.
  public var place: Place?
  /// Finds a zone that a text names; `nil` when the machine has no such zone. `UTC` is always found.
  public var zones: @Sendable (String) -> Zone?
  /// Finds the days of a calendar that a text names after `except on`; `nil` when there is none of that name.
  public var calendar: @Sendable (String) -> [ClosedRange<CivilDate>]?
  /// The names of the calendars that there are, as far as they are known. Asked only by a line of a title and a time that
  /// leaves out days.
  public var calendarNames: @Sendable () -> Set<String> = { ["holidays"] }
  /// When it was last done, for schedules that count from there.
  public var lastDone: Instant?
  /// Whether intervals too count from ``lastDone`` (``Schedule/canFollowEntries``): `every 90m from 8:00 to 22:00` then
  /// comes 90 minutes after it, within the window.
  public var followsDone = false

  /// The times of a schedule that counts from another reminder (``Schedule/chain``).
  public var chainedTimes: [Instant] = []

  /// When the words for times of day are. Asked only by a text that has such a word, or a day without a time.
  public var words: @Sendable () -> WordTimes = { .usual }

  /// In which language times are said besides English; `nil`: in no other. What a program reads is English only.
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

  /// The zone of that name.
  func zone(named name: String) -> Zone? { name == zone.identifier ? zone : name == "UTC" ? .utc : zones(name) }
}

/// A point on the Earth, in degrees.
///
///     Place(latitude: 50.0875, longitude: 14.4213)   // Prague
public struct Place: Sendable, Hashable, Codable {
  /// Degrees north of the equator: −90…90.
  public let latitude: Double
  /// Degrees east of Greenwich: −180…180.
  public let longitude: Double

  /// `nil` when a coordinate is out of range or not a number.
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
