import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

/// Returns a zone of this machine, from /usr/share/zoneinfo.
private func zone(_ identifier: String) throws -> Zone {
  let data = try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(identifier)"))
  return try Zone(identifier: identifier, tzif: Array(data))
}

@Suite struct CountingTests {
  @Test func firstReasonIsReported() {
    let tracker = Tracker.sample(
      counting: .weekdays(.weekdays), from: day("2024-01-03"), pauses: [day("2024-01-08")...day("2024-01-12")],
      skips: [day("2024-01-09"), day("2024-01-16")])
    let expected: [(String, NotCounted?)] = [
      ("2024-01-02", .notStarted), ("2024-01-03", nil), ("2024-01-05", nil), ("2024-01-06", .weekday),
      ("2024-01-08", .paused), ("2024-01-09", .paused), ("2024-01-12", .paused), ("2024-01-13", .weekday),
      ("2024-01-15", nil), ("2024-01-16", .skipped), ("2024-01-17", nil),
    ]
    for (text, reason) in expected { #expect(tracker.whyNotCounted(day(text)) == reason, "\(text)") }
  }

  /// Local time decides, also on the days of a clock change.
  @Test(arguments: [
    // Prague: 02:00 becomes 03:00 on 31 March 2024; 03:00 becomes 02:00 on 27 October 2024.
    ("Europe/Prague", 240, "2024-03-31T01:30:00+01:00", "2024-03-30", 90),
    ("Europe/Prague", 240, "2024-03-31T03:59:00+02:00", "2024-03-30", 239),
    ("Europe/Prague", 240, "2024-03-31T04:00:00+02:00", "2024-03-31", 240),
    // The day starts within the skipped hour: at its end.
    ("Europe/Prague", 150, "2024-03-31T01:59:00+01:00", "2024-03-30", 119),
    ("Europe/Prague", 150, "2024-03-31T03:00:00+02:00", "2024-03-31", 180),
    // Both 02:30s in autumn are the same local minute.
    ("Europe/Prague", 150, "2024-10-27T02:29:00+02:00", "2024-10-26", 149),
    ("Europe/Prague", 150, "2024-10-27T02:30:00+02:00", "2024-10-27", 150),
    ("Europe/Prague", 150, "2024-10-27T02:30:00+01:00", "2024-10-27", 150),
    ("Europe/Prague", 0, "2024-10-27T00:00:00+02:00", "2024-10-27", 0),
    // Apia had no 30 December 2011.
    ("Pacific/Apia", 240, "2011-12-29T23:30:00-10:00", "2011-12-29", 1410),
    ("Pacific/Apia", 240, "2011-12-31T04:00:00+14:00", "2011-12-31", 240),
    ("America/New_York", 240, "2024-02-29T03:00:00-05:00", "2024-02-28", 180),
    ("America/New_York", 1439, "2024-03-01T23:58:59-05:00", "2024-02-29", 1438),
  ]) func dayBeginsAtItsConfiguredTime(_ name: String, _ start: Int, _ at: String, _ expected: String, _ minute: Int)
    throws
  {
    let instant = try RFC3339.parse(at)
    let reading = Tracker.sample(dayStartsAt: start).day(at: instant, in: try zone(name))
    #expect(reading.day == day(expected))
    #expect(reading.minute == minute)
  }

  @Test func minutesCountFromTheStartOfTheDay() {
    let tracker = Tracker.sample(dayStartsAt: 240)
    #expect([240, 1380, 90, 239].map(tracker.minuteOfDay) == [0, 1140, 1290, 1439])
    let aggregator = ProgressAggregator(tracker)
    let total = aggregator.total(
      of: [1380, 90, 300].enumerated().map {
        Entry.sample(Int64($0), of: tracker, on: monday, minute: $1)
      })
    #expect(total?.firstMinute == 300)
    #expect(total?.lastMinute == 90)
  }

  @Test func dueDaysAreCounted() {
    let january = day("2024-01-01")...day("2024-01-31")
    func due(_ counting: CountedDays, pauses: [ClosedRange<CivilDate>] = []) -> Int {
      ProgressAggregator(.sample(counting: counting, pauses: pauses)).due(in: january)
    }
    let half = [day("2024-01-08")...day("2024-01-21"), day("2024-01-15")...day("2024-01-22")]
    #expect(due(.everyDay) == 31)
    #expect(due(.everyDay, pauses: half) == 16)
    #expect(due(.weekdays(.weekends)) == 8)
    #expect(due(.weekdays(.weekends), pauses: half) == 4)
    // 31 × 3/7 = 13.3; 16 × 3/7 = 6.9.
    #expect(due(.timesAWeek(3)) == 13)
    #expect(due(.timesAWeek(3), pauses: half) == 7)
    #expect(due(.timesAMonth(10)) == 10)
    #expect(due(.rolling(times: 1, days: 2)) == 16)
    #expect(due(.rolling(times: 2, days: 2)) == 31)
    #expect(ProgressAggregator(.sample(from: day("2024-01-30"))).due(in: january) == 2)
  }
}
