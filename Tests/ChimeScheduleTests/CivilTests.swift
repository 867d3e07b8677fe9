import ChimeSchedule
import Testing

@Suite struct CivilTests {
  /// Counts days by the simple rules of the calendar: all of a cycle of 400 years, and the last of the range.
  @Test func everyDayHasItsDateAndWeekday() throws {
    var (year, month, day) = (1970, 1, 1)
    var weekday = Weekday.thursday
    var mismatches = 0
    for number in 0...146_097 {
      guard let date = CivilDate(dayNumber: number) else {
        mismatches += 1
        continue
      }
      let fields = date.fields
      if fields != (year, month, day) || date.weekday != weekday { mismatches += 1 }
      if number % 37 == 0, CivilDate(year: year, month: month, day: day) != date { mismatches += 1 }
      day += 1
      if day > CivilDate.daysIn(month: month, year: year) { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
      weekday = weekday == .sunday ? .monday : Weekday(rawValue: weekday.rawValue + 1) ?? .monday
    }
    #expect(mismatches == 0)
    #expect((year, month, day) == (2370, 1, 2))
    for number in stride(from: 0, through: 2_932_896 - 146_097, by: ProofTier.amount(quick: 4_099, proof: 61)) {
      let early = CivilDate(dayNumber: number)
      let late = CivilDate(dayNumber: number + 146_097)
      #expect(early?.year == late.map { $0.year - 400 } && early?.month == late?.month && early?.day == late?.day)
    }
  }

  @Test func datesOutsideTheRangeAreRefused() {
    #expect(CivilDate(year: 1969, month: 12, day: 31) == nil)
    #expect(CivilDate(year: 10_000, month: 1, day: 1) == nil)
    #expect(CivilDate(year: 2100, month: 2, day: 29) == nil)
    #expect(CivilDate(year: 2000, month: 2, day: 29) != nil)
    #expect(CivilDate(year: 2026, month: 0, day: 1) == nil)
    #expect(CivilDate(year: 2026, month: 1, day: .max) == nil)
    #expect(CivilDate(dayNumber: -1) == nil)
    #expect(CivilDate(dayNumber: .max) == nil)
    #expect(CivilDate.latest.adding(days: 1) == nil)
    #expect(CivilDate.latest.adding(days: .max) == nil)
    #expect(CivilDate.earliest.adding(days: .min) == nil)
    #expect(CivilDate.latest.description == "9999-12-31")
    #expect(CivilTime(hour: 24) == nil)
    #expect(CivilTime(hour: 23, minute: 60) == nil)
    #expect(CivilTime(hour: 23, minute: 59, second: 60) == nil)
    #expect(CivilTime(hour: -1) == nil)
  }

  @Test func datesAndTimesAreParsed() {
    #expect(CivilDate("2026-12-01")?.description == "2026-12-01")
    for bad in ["2026-12-1", "2026-02-30", "2026-12-01 ", "２026-12-01", "", "20261201"] {
      #expect(CivilDate(bad) == nil)
    }
    #expect(CivilTime("08:30")?.description == "08:30")
    #expect(CivilTime("08:30:15")?.description == "08:30:15")
    for bad in ["8:30", "08:3", "24:00", "08:30:", "08:30:60"] { #expect(CivilTime(bad) == nil) }
    #expect(CivilDateTime("2026-12-01T09:00")?.description == "2026-12-01 09:00")
    #expect(CivilDateTime("2026-12-01") == nil)
  }

  @Test func weekdaySetsCombine() {
    #expect(WeekdaySet(from: .friday, through: .monday) == [.friday, .saturday, .sunday, .monday])
    #expect(WeekdaySet(from: .monday, through: .monday) == .monday)
    #expect(WeekdaySet(rawValue: 0xFF) == .everyDay)
    #expect(WeekdaySet.weekdays.union(.weekends) == .everyDay)
  }
}
