import ChimeSchedule
import Foundation
import Testing

@Suite struct QuietHoursTests {
  /// Text and canonical form, which parses to the same value.
  @Test(arguments: [
    ("22:00-07:00", "22:00-07:00"), ("22-7", "22:00-07:00"), (" 22:00 - 7:30 ", "22:00-07:30"),
    ("mon-fri 22:00-07:00", "mon-fri 22:00-07:00"), ("weekdays 22:00-07:00", "mon-fri 22:00-07:00"),
    ("sat,sun 23:00-09:00", "sat,sun 23:00-09:00"), ("weekends 23-9", "sat,sun 23:00-09:00"),
    ("SUN, Saturday 1:00-2:00", "sat,sun 01:00-02:00"), ("fri-mon 00:00-24:00", "mon,fri-sun 00:00-24:00"),
    ("mon,wed-fri,sun 12:00-13:00", "mon,wed-fri,sun 12:00-13:00"), ("daily 12:00-13:00", "12:00-13:00"),
    ("mon-sun 12:00-13:00", "12:00-13:00"), ("22:00-00:00", "22:00-24:00"), ("22:00-0", "22:00-24:00"),
    ("0:00-0:01", "00:00-00:01"), ("23:59-24:00", "23:59-24:00"), ("tues,thur 9:00-9:05", "tue,thu 09:00-09:05"),
  ])
  func spansHaveOneCanonicalForm(text: String, canonical: String) throws {
    let span = try QuietSpan(text)
    #expect(span.description == canonical)
    #expect(try QuietSpan(canonical) == span)
    let stored = try JSONEncoder().encode(QuietHours([span]))
    #expect(String(decoding: stored, as: UTF8.self) == "[\"\(canonical)\"]")
    #expect(try JSONDecoder().decode(QuietHours.self, from: stored) == QuietHours([span]))
  }

  /// Invalid texts, with the column and message of the error.
  @Test(arguments: [
    ("", 1, "a time is missing"), ("22:00", 6, "the end is missing"), ("22:00-", 7, "a time is missing"),
    ("22:00-25:00", 7, "00:00 to 24:00"), ("24:00-07:00", 1, "00:00 to 23:59"), ("22:60-07:00", 1, "not a time of day"),
    ("22:0-07:00", 1, "not a time of day"), ("mon 22:00-07:00 x", 17, "is not allowed"),
    ("mo 22:00-07:00", 1, "\"mo\" is not a weekday"), ("mon- 22:00-07:00", 6, "a day is missing"),
    ("mon-weekends 22:00-07:00", 1, "not a range of days"), ("mon, 22:00-07:00", 6, "a day is missing"),
    ("22:00-22:00", 1, "did you mean 00:00-24:00?"), ("222:00-07:00", 1, "not a time of day"),
    ("22:00–07:00", 6, "the end is missing"),
  ])
  func invalidSpansAreRefused(text: String, column: Int, part: String) {
    do {
      let span = try QuietSpan(text)
      Issue.record("taken as \(span)")
    } catch {
      #expect(error.column == column, "\(error.message)")
      #expect(error.message.contains(part), "\(error.message)")
    }
  }

  @Test func spansMustLeaveAMinuteOfTheWeek() throws {
    for texts in [
      ["00:00-24:00"], ["22:00-07:00", "07:00-22:00"], ["mon-fri 0:00-24:00", "sat,sun 0-12", "weekends 12-0"],
    ] {
      #expect(throws: QuietHoursError.neverLoud) { try QuietHours(texts) }
    }
    #expect(throws: QuietHoursError.tooMany) { try QuietHours(Array(repeating: "22-7", count: 33)) }
    _ = try QuietHours(["00:00-23:59"])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(QuietHours.self, from: Data(#"["00:00-24:00"]"#.utf8))
    }
    #expect(try QuietHours([String]()) == .never)
  }

  /// Examples in Prague; 20 November 2026 is a Friday.
  @Test(arguments: [
    ("22:00-07:00", "2026-11-20T21:59:59+01:00", nil),
    ("22:00-07:00", "2026-11-20T22:00:00+01:00", "2026-11-21T07:00:00+01:00"),
    ("22:00-07:00", "2026-11-21T06:59:59+01:00", "2026-11-21T07:00:00+01:00"),
    ("22:00-07:00", "2026-11-21T07:00:00+01:00", nil),
    // The weekday is that of the span's start.
    ("fri 22:00-07:00", "2026-11-21T03:00:00+01:00", "2026-11-21T07:00:00+01:00"),
    ("sat 22:00-07:00", "2026-11-21T03:00:00+01:00", nil),
    // Sunday night into Monday, and a whole weekend.
    ("sun 22:00-07:00", "2026-11-22T23:00:00+01:00", "2026-11-23T07:00:00+01:00"),
    ("sat,sun 00:00-24:00", "2026-11-21T00:00:00+01:00", "2026-11-23T00:00:00+01:00"),
    // Clocks go from 02:00 to 03:00, and from 03:00 back to 02:00.
    ("01:00-02:30", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00"),
    // A span that ends exactly when the clock goes back includes the repeated hour.
    ("22:00-03:00", "2026-10-25T01:00:00+02:00", "2026-10-25T03:00:00+01:00"),
    ("22:00-02:00", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"),
    ("22:00-07:00", "2026-03-28T23:00:00+01:00", "2026-03-29T07:00:00+02:00"),
    ("22:00-07:00", "2026-10-24T23:00:00+02:00", "2026-10-25T07:00:00+01:00"),
    ("01:00-02:30", "2026-10-25T02:15:00+02:00", "2026-10-25T02:30:00+02:00"),
    ("01:00-02:30", "2026-10-25T02:15:00+01:00", "2026-10-25T02:30:00+01:00"),
  ])
  func quietHoursEndAtTheirTime(span: String, at text: String, end: String?) throws {
    let found = try QuietHours([span]).end(ofQuietAt: instant(text), in: zone("Europe/Prague"))
    #expect(found == end.map { instant($0) })
  }

  /// Compares with a reading of the clock at each minute.
  @Test(arguments: [
    ("Europe/Prague", "2026-03-26T00:00:00Z"), ("Europe/Prague", "2026-10-22T00:00:00Z"),
    ("America/New_York", "2026-10-29T00:00:00Z"), ("Australia/Lord_Howe", "2026-04-02T00:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-01T00:00:00Z"), ("America/Sao_Paulo", "2018-11-01T00:00:00Z"),
    ("Africa/Casablanca", "2026-02-12T00:00:00Z"), ("Pacific/Apia", "2011-12-26T00:00:00Z"),
    ("Asia/Kathmandu", "1985-12-29T00:00:00Z"), ("UTC", "2026-12-28T00:00:00Z"),
  ])
  func hoursMatchTheClockAtEachMinute(name: String, from: String) throws {
    let zone = try zone(name)
    let (start, minutes) = (instant(from), 9 * 1_440)
    let readings = (0...minutes).map { zone.civil(at: start + .minutes(Int64($0))) }
    for seed in 1...ProofTier.amount(quick: 4, proof: 40) as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let spans = try (0...Int.random(in: 0...2, using: &random)).map { _ in try Self.span(&random) }
      guard let hours = try? QuietHours(spans) else { continue }
      let isQuiet = readings.map { reading in spans.contains { Self.contains(reading, $0) } }
      // From the end, so that the next non-quiet minute is known at each.
      var nextLoud: Int?
      for minute in (0...minutes).reversed() {
        let now = start + .minutes(Int64(minute))
        let end = hours.end(ofQuietAt: now, in: zone)
        if !isQuiet[minute] {
          nextLoud = minute
          #expect(end == nil, "\(hours.texts) at \(now) in \(name), seed \(seed)")
        } else if let nextLoud {
          #expect(end == start + .minutes(Int64(nextLoud)), "\(hours.texts) at \(now) in \(name), seed \(seed)")
        }
        guard (end == nil) == !isQuiet[minute] else { return }
      }
    }
  }

  private static func span(_ random: inout SeededGenerator) throws -> QuietSpan {
    let days = Weekday.allCases.filter { _ in Bool.random(using: &random) }.map(\.abbreviation).joined(separator: ",")
    let (start, length) = (Int.random(in: 0..<1_440, using: &random), Int.random(in: 1..<1_440, using: &random))
    func text(_ minute: Int) -> String { "\(minute / 60 % 24):\(minute % 60 < 10 ? "0" : "")\(minute % 60)" }
    return try QuietSpan("\(days) \(text(start))-\(text(start + length))")
  }

  /// An independent definition of a span: by days, not by minutes of the week.
  private static func contains(_ reading: CivilDateTime, _ span: QuietSpan) -> Bool {
    let minute = reading.time.hour * 60 + reading.time.minute
    guard let yesterday = reading.date.adding(days: -1)?.weekday else { return false }
    if span.end > span.start {
      return span.days.contains(reading.date.weekday) && (span.start..<span.end).contains(minute)
    }
    return span.days.contains(reading.date.weekday) && minute >= span.start
      || span.days.contains(yesterday) && minute < span.end
  }
}
