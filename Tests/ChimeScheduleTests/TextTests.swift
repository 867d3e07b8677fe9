import ChimeSchedule
import Foundation
import Testing

@Suite struct TextTests {
  @Test(arguments: [
    ("2026-12-01T09:00:00+01:00", 1_796_112_000_000), ("2026-12-01T08:00:00Z", 1_796_112_000_000),
    ("2026-12-01t08:00:00z", 1_796_112_000_000), ("2026-12-01T08:00:00.5Z", 1_796_112_000_500),
    ("2026-12-01T08:00:00.123999999Z", 1_796_112_000_123), ("1970-01-01T00:00:00Z", 0),
    ("1969-12-31T19:00:00-05:00", 0), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ("2026-12-01T08:00:00-00:00", 1_796_112_000_000),
  ])
  func timestampsReadBack(text: String, milliseconds: Int64) throws {
    let parsed = try RFC3339.parse(text)
    #expect(parsed.milliseconds == milliseconds)
    for name in [
      "UTC", "Europe/Prague", "America/New_York", "Australia/Lord_Howe", "Africa/Monrovia", "Pacific/Kiritimati",
    ] {
      #expect(try RFC3339.parse(RFC3339.format(parsed, in: zone(name))) == parsed)
    }
  }

  @Test(arguments: [
    "", "2026-12-01", "2026-12-01T09:00:00", "2026-12-01 09:00:00Z", "2026-12-01T09:00Z", "2026-12-01T24:00:00Z",
    "2026-02-30T09:00:00Z", "2026-13-01T09:00:00Z", "2026-12-01T09:00:60Z", "2026-12-01T09:60:00Z",
    "2026-12-01T09:00:00.Z",
    "2026-12-01T09:00:00+1:00", "2026-12-01T09:00:00+24:00", "2026-12-01T09:00:00+01:60", "2026-12-01T09:00:00Z ",
    " 2026-12-01T09:00:00Z", "12026-12-01T09:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00Z",
    "2026-12-01T09:00:00Z\0", "２026-12-01T09:00:00Z", String(repeating: "9", count: 100_000),
  ])
  func invalidTimestampsAreRefused(_ text: String) {
    let error = #expect(throws: FormatError.self) { try RFC3339.parse(text) }
    #expect((error?.message.utf8.count ?? 0) < 600)
  }

  @Test func timestampsAreFormattedInAZone() throws {
    let at = instant("2026-12-01T08:00:00Z")
    #expect(try RFC3339.format(at, in: zone("Europe/Prague")) == "2026-12-01T09:00:00+01:00")
    #expect(try RFC3339.format(at, in: zone("Europe/London")) == "2026-12-01T08:00:00+00:00")
    #expect(RFC3339.format(at + .milliseconds(7), in: .utc) == "2026-12-01T08:00:00.007Z")
    #expect(try RFC3339.format(.earliest, in: zone("America/New_York")) == "1969-12-31T19:00:00-05:00")
    #expect(try RFC3339.format(.latest, in: zone("Europe/Prague")) == "9999-12-31T23:59:59.999Z")
    #expect(try RFC3339.format(.earliest, in: zone("Africa/Monrovia")) == "1969-12-31T23:16:00-00:44")
  }

  @Test(
    arguments: [
      ("90m", 5_400_000, "90m"), ("1h30m", 5_400_000, "90m"), ("2 days", 172_800_000, "2d"), ("1w", 604_800_000, "1w"),
      ("20m", 1_200_000, "20m"), ("250ms", 250, "250ms"), ("1 hour and 30 minutes", 5_400_000, "90m"), ("0s", 0, "0s"),
      ("1 week, 2 days", 777_600_000, "9d"), ("36h", 129_600_000, "36h"), ("125m", 7_500_000, "2h5m"),
      ("1h30m15s", 5_415_000, "1h30m15s"), ("1500ms", 1_500, "1s500ms"), ("120s", 120_000, "2m"),
      ("7d", 604_800_000, "1w"),
      ("1H 5MIN", 3_900_000, "65m"),
    ] as [(String, Int64, String)])
  func durationsReadBack(text: String, milliseconds: Int64, canonical: String) throws {
    let duration = try DurationText.parse(text)
    #expect(duration.rawValue == milliseconds)
    #expect(DurationText.format(duration) == canonical)
    #expect(try DurationText.parse(canonical) == duration)
    #expect(try DurationText.parseISO8601(DurationText.formatISO8601(duration)) == duration)
  }

  @Test(arguments: [
    "", "90", "m", "-5m", "1.5h", "1 month", "5x", "1h 1h", "1h!", "9999999999999999999w", "420000w", "1h\0", "an hour",
  ])
  func invalidDurationsAreRefused(_ text: String) {
    #expect(throws: FormatError.self) { try DurationText.parse(text) }
  }

  @Test func misspelledUnitGetsASuggestion() {
    let error = #expect(throws: FormatError.self) { try DurationText.parse("90n") }
    #expect(error?.message == #"90n: "n" is not a unit of time (column 3); did you mean 90m?"#)
    #expect(error?.suggestion == "90m")
  }

  @Test(
    arguments: [
      ("PT10M", 600_000, "PT10M"), ("P1DT2H", 93_600_000, "P1DT2H"), ("P2W", 1_209_600_000, "P14D"),
      ("PT0S", 0, "PT0S"),
      ("PT0.5S", 500, "PT0.5S"), ("PT1,25S", 1_250, "PT1.25S"), ("-PT10M", -600_000, "-PT10M"),
      ("+PT90M", 5_400_000, "PT1H30M"),
      ("pt10m", 600_000, "PT10M"), ("P1D", 86_400_000, "P1D"), ("PT1H1S", 3_601_000, "PT1H1S"),
      ("PT0.0009S", 0, "PT0S"),
    ] as [(String, Int64, String)])
  func iso8601DurationsReadBack(text: String, milliseconds: Int64, canonical: String) throws {
    let duration = try DurationText.parseISO8601(text)
    #expect(duration.rawValue == milliseconds)
    #expect(DurationText.formatISO8601(duration) == canonical)
  }

  @Test(arguments: [
    "", "P", "PT", "P1", "10M", "P1M", "P1Y", "PT1D", "PT1S1M", "PT1M1M", "P1DT", "PT1.5H", "PT.5S", "PT1.S", "P-1D",
    "PT1S ",
    "PT99999999999999999999S", "P9999999999D", "P\u{11}D", "--PT1S",
  ])
  func invalidISO8601DurationsAreRefused(_ text: String) {
    #expect(throws: FormatError.self) { try DurationText.parseISO8601(text) }
  }

  @Test func extremeDurationsAreFormatted() {
    for value in [Int64.min, .min + 1, -1, 1, .max] {
      let duration = Milliseconds.milliseconds(value)
      #expect(!DurationText.format(duration).isEmpty)
      #expect(!DurationText.formatISO8601(duration).isEmpty)
    }
  }

  /// Schedules are encoded as text.
  @Test func schedulesAreEncodedAsText() throws {
    struct Value: Codable, Equatable {
      var schedule: Schedule
      var gap: GapRule
      var fold: FoldRule
      var date: CivilDate
      var time: CivilTime
      var civil: CivilDateTime
      var day: Weekday
    }
    let json =
      #"{"civil":"2026-12-01 09:00","date":"2026-12-01","day":1,"fold":"both","gap":"shift","schedule":"weekdays at 08:30","time":"09:00"}"#
    let value = try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Schedule].self, from: Data(#"["every 90n"]"#.utf8))
    }
  }
}
