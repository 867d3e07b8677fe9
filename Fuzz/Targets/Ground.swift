public import ChimeSchedule

/// What schedules are read against here: a moment, zones made without any file, a place and a calendar. It is the same in
/// each run and on each machine.
public enum Ground {
  /// Friday 20 November 2026, 22:22:13 UTC.
  public static let now = Instant(seconds: 1_795_213_333)

  /// Zones by name: two with the usual summer time, one whose summer time is half an hour, and one that leaps over a day.
  static let zones: [String: Zone] = [
    "Europe/Prague": zone("Europe/Prague", footer: "CET-1CEST,M3.5.0,M10.5.0/3", offset: 3_600),
    "America/New_York": zone("America/New_York", footer: "EST5EDT,M3.2.0,M11.1.0", offset: -18_000),
    "Australia/Lord_Howe": zone("Australia/Lord_Howe", footer: "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", offset: 37_800),
    "Pacific/Apia": zone("Pacific/Apia", footer: "<+13>-13", offset: -36_000, change: (1_798_624_800, 46_800)),
  ]

  static let newYork = zones["America/New_York"] ?? .utc
  static let lordHowe = zones["Australia/Lord_Howe"] ?? .utc
  static let apia = zones["Pacific/Apia"] ?? .utc

  public static let scheduleContext = ScheduleContext(
    zone: zones["Europe/Prague"] ?? .utc, place: Place(latitude: 50.0875, longitude: 14.4213),
    zones: { Ground.zones[$0] }, calendar: { $0 == "holidays" ? Ground.holidays : nil },
    lastDone: Instant(seconds: 1_795_100_000))

  static func scheduleContext(_ zone: Zone) -> ScheduleContext {
    var other = scheduleContext
    other.zone = zone
    return other
  }

  private static let holidays: [ClosedRange<CivilDate>] = [(12, 24, 26), (1, 1, 1)].compactMap { month, first, last in
    guard let start = CivilDate(year: month == 1 ? 2_027 : 2_026, month: month, day: first),
      let end = CivilDate(year: month == 1 ? 2_027 : 2_026, month: month, day: last)
    else { return nil }
    return start...end
  }.sorted { $0.lowerBound < $1.lowerBound }

  /// A TZif file of version 2 with at most one transition, and a footer.
  private static func zone(
    _ name: String, footer: String, offset: Int32, change: (instant: Int64, offset: Int32)? = nil
  ) -> Zone {
    func big(_ value: Int64, _ bytes: Int) -> [UInt8] {
      (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
    }
    func block(_ times: [Int64], _ offsets: [Int32]) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        + [0, 0, 0, Int64(times.count), Int64(offsets.count), 4].flatMap { big($0, 4) }
        + times.flatMap { big($0, 8) } + times.indices.map { UInt8($0 + 1) }
        + offsets.flatMap { big(Int64($0), 4) + [0, 0] } + Array("LMT".utf8) + [0]
    }
    let bytes =
      block([], [0]) + block(change.map { [$0.instant] } ?? [], [offset] + (change.map { [$0.offset] } ?? []))
      + Array("\n\(footer)\n".utf8)
    do {
      return try Zone(identifier: name, tzif: bytes)
    } catch {
      fatalError("the ground's zone \(name): \(error)")
    }
  }
}
