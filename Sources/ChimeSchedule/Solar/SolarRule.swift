/// What a schedule of the solar dialect comes down to.
struct SolarRule: Sendable, Hashable {
  /// The first occurrence strictly after an instant, in seconds; `nil` when there is none up to the end of the year 9999.
  func next(after second: Int64, zone: ZoneTable) -> Int64? { nil }
}
