import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Public holidays over the control socket.
@Suite(.serialized) struct HolidayHandlerTests {
  private static let eve = Wire.ExcludedDay(
    date: "2026-12-24", calendar: "holidays", names: ["en": "Christmas Eve", "cs": "Štědrý den"])

  private static func explain(
    _ daemon: TestDaemon, _ when: String, after: String, count: Int = 3
  ) throws -> SchedulesInterface.Explain.Reply {
    try daemon.call(
      SchedulesInterface.Explain(when: when, timezone: "Europe/Prague", count: count, after: after))
  }

  @Test func explanationNamesTheSkippedHolidays() async throws {
    try await TestDaemon.run(inMemory: true) {
      $0.holidayCountry = "CZ"
    } _: { daemon in
      let reply = try Self.explain(daemon, "weekdays at 9 except holidays", after: "2026-12-23T10:00:00Z", count: 2)
      #expect(reply.canonical == "weekdays at 09:00 except on holidays")
      #expect(reply.next.map { $0.at.prefix(10) } == ["2026-12-28", "2026-12-29"])
      #expect(
        reply.excludedDays == [
          Self.eve,
          Wire.ExcludedDay(
            date: "2026-12-25", calendar: "holidays", names: ["en": "Christmas Day", "cs": "1. svátek vánoční"]),
        ])
      #expect(reply.remarks.isEmpty)
      let plain = try Self.explain(daemon, "weekdays at 9", after: "2026-12-23T10:00:00Z")
      #expect(plain.next.first?.at.prefix(10) == "2026-12-24" && plain.excludedDays == nil)
    }
  }

  @Test func explanationSaysWhereTheHolidayTableEnds() async throws {
    try await TestDaemon.run(inMemory: true) {
      $0.holidayCountry = "CZ"
    } _: { daemon in
      let reply = try Self.explain(daemon, "daily at 9 except holidays", after: "2035-12-30T10:00:00Z")
      #expect(reply.next.map { $0.at.prefix(10) } == ["2035-12-31", "2036-01-01", "2036-01-02"])
      #expect(
        reply.remarks == ["Chime knows public holidays through 2035; it does not leave out later ones"])
    }
  }

  @Test func upcomingTimeNamesTheSkippedDay() async throws {
    try await TestDaemon.run(inMemory: true) {
      $0.holidayCountry = "CZ"
    } _: { daemon in
      let _: RemindersInterface.Add.Reply = try daemon.call(
        RemindersInterface.Add(
          reminder: .init(title: "Carp", when: "every dec 24 at 9 except holidays", timezone: "Europe/Prague")))
      let reply: OccurrencesInterface.Upcoming.Reply = try daemon.call(
        OccurrencesInterface.Upcoming())
      let coming = try #require(reply.upcoming.first)
      #expect(coming.at.at.hasPrefix("2036-12-24"), "the first one of which nothing is known")
      #expect(coming.excludedDays?.last?.names == Self.eve.names)
      #expect(coming.excludedDays?.last?.date == "2035-12-24")
    }
  }

  @Test func calendarsAreListedWithTheirDays() async throws {
    try await TestDaemon.run(inMemory: true) {
      $0.holidayCountry = "CZ"
      $0.calendars["office"] = CalendarSource.range("2026-12-28..2026-12-31").map { .days([$0]) }
    } _: { daemon in
      func calendars(
        _ name: String? = nil, from: String = "2026-12-20", count: Int = 2
      ) throws -> [SchedulesInterface.NamedCalendar] {
        try daemon.call(
          SchedulesInterface.Calendars(name: name, from: from, count: count)
        ).calendars
      }
      let all = try calendars()
      #expect(all.map(\.name) == ["holidays", "office"])
      #expect(all.map(\.source) == [.country, .list])
      #expect(all[0].country == "CZ" && all[0].through == 2_035)
      #expect(all[0].days.map(\.from) == ["2026-12-24", "2026-12-25"] && all[0].days[0].names == Self.eve.names)
      #expect(all[1].days == [.init(from: "2026-12-28", to: "2026-12-31")])
      #expect(try calendars("office", from: "2026-12-31").first?.days.count == 1, "a run that has begun")
      #expect(try calendars("office", from: "2027-01-01").first?.days.isEmpty == true)
      for (name, count, field) in [("bank", 2, "name"), ("office", 0, "count"), ("office", 1_001, "count")] {
        #expect(
          daemon.refusal(
            SchedulesInterface.Calendars(name: name, count: count))?
            .text("field") == field)
      }
    }
  }

  @Test func holidaysNeedACountryOrACustomCalendar() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let refusal = daemon.refusal(
        SchedulesInterface.Explain(when: "daily at 9 except holidays"))
      #expect(refusal?.description.contains("write country = ") == true, "\(refusal?.description ?? "")")
    }
    try await TestDaemon.run(inMemory: true) {
      $0.holidayCountry = "CZ"
      $0.calendars["holidays"] = CalendarSource.range("2026-12-28").map { .days([$0]) }
    } _: { daemon in
      let reply = try Self.explain(daemon, "daily at 9 except holidays", after: "2026-12-23T10:00:00Z", count: 5)
      #expect(reply.next.first?.at.prefix(10) == "2026-12-24")
      #expect(reply.excludedDays == [Wire.ExcludedDay(date: "2026-12-28", calendar: "holidays")])
    }
  }
}
