import Testing

@testable import ChimeSchedule

/// The days that calendars remove from a schedule.
@Suite struct ExcludedDayTests {
  private static let now = instant("2026-12-21T12:00:00Z")

  private static func scheduleContext() throws -> ScheduleContext {
    func range(_ first: String, _ last: String) throws -> ClosedRange<CivilDate> {
      try #require(CivilDate(first))...(try #require(CivilDate(last)))
    }
    let days = try [
      "holidays": [range("2026-12-24", "2026-12-26"), range("2027-01-01", "2027-01-01")],
      "office": [range("2026-12-26", "2026-12-30")],
    ]
    return ScheduleContext(zone: try zone("Europe/Prague"), calendar: { days[$0] })
  }

  private static func excludedDays(_ text: String, before end: String, limit: Int = 20) throws -> [String] {
    let scheduleContext = try scheduleContext()
    return try Schedule.parse(text, now: now, in: scheduleContext)
      .excludedDays(after: now, before: instant(end), in: scheduleContext, limit: limit).map {
        "\($0.date) \($0.calendar)"
      }
  }

  @Test func onlyDaysWithATimeAreListedAsExcluded() throws {
    #expect(
      try Self.excludedDays("daily at 9 except on holidays", before: "2027-01-02T12:00:00Z")
        == ["2026-12-24 holidays", "2026-12-25 holidays", "2026-12-26 holidays", "2027-01-01 holidays"])
    #expect(
      try Self.excludedDays("weekdays at 9 except on holidays", before: "2026-12-31T12:00:00Z")
        == ["2026-12-24 holidays", "2026-12-25 holidays"])
    #expect(
      try Self.excludedDays("every sat at 9 except on holidays, office", before: "2027-01-02T12:00:00Z") == [
        "2026-12-26 holidays"
      ]
    )
    #expect(try Self.excludedDays("daily at 9", before: "2027-01-02T12:00:00Z").isEmpty)
  }

  /// A day appears once, however many times it would have had.
  @Test func excludedDayIsListedOnce() throws {
    #expect(
      try Self.excludedDays("every 1h from 8:00 to 18:00 except on holidays", before: "2026-12-25T23:00:00Z")
        == ["2026-12-24 holidays", "2026-12-25 holidays"])
    #expect(
      try Self.excludedDays("daily at 9 except on holidays", before: "2027-01-02T12:00:00Z", limit: 1)
        == ["2026-12-24 holidays"])
  }

  /// All names of public holidays mean the calendar *holidays*; a custom calendar named holiday is a different one.
  @Test func allNamesOfPublicHolidaysMeanTheCalendar() throws {
    for words in [
      "public holidays", "bank holidays", "holiday", "a holiday", "holidays", "the public holidays", "on holidays",
    ] {
      let schedule = try? Schedule.parse("daily at 9 except \(words)", now: Self.now, in: Self.scheduleContext())
      #expect(schedule?.canonical == (words == "a holiday" ? nil : "daily at 09:00 except on holidays"), "\(words)")
    }
    var scheduleContext = try Self.scheduleContext()
    scheduleContext.calendar = { ["holiday", "holidays"].contains($0) ? [] : nil }
    #expect(
      try Schedule.parse("daily at 9 except holiday", now: Self.now, in: scheduleContext).canonical
        == "daily at 09:00 except on holiday")
    scheduleContext.calendar = { $0 == "office" ? [] : nil }
    #expect(throws: ScheduleError.self) {
      try Schedule.parse("daily at 9 except public holidays", now: Self.now, in: scheduleContext)
    }
  }
}
