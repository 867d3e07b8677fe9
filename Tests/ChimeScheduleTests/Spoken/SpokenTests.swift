import Testing

@testable import ChimeSchedule

/// Spoken schedules, from the syntax of other programs: Todoist, Google, Apple, Taskwarrior, at(1), remind and org. Now
/// is Monday 2026-11-23 08:15 in Prague.
@Suite struct SpokenTests {
  static let monday = instant("2026-11-23T07:15:00Z")

  static func scheduleContext() throws -> ScheduleContext {
    ScheduleContext(zone: try zone("Europe/Prague"), calendar: { $0 == "holidays" ? [] : nil })
  }

  @Test func configuredTimesOfDayApply() throws {
    var words = WordTimes.usual
    for (index, word) in WordTimes.all.enumerated() {
      words[keyPath: word.time] = try #require(CivilTime(hour: word.hours.upperBound, minute: index + 1))
    }
    var scheduleContext = try Self.scheduleContext()
    scheduleContext.words = { [words] in words }
    for (text, canonical) in [
      ("every weekday", "weekdays at 23:01"),
      ("every 3 days after done", "every 3 days after done at 23:01 starting 2026-11-26"),
      ("every 2 weeks", "every 2 weeks on mon at 23:01 starting 2026-11-23"), ("friday", "at 2026-11-27 23:01"),
      ("every morning", "daily at 11:02"), ("tomorrow afternoon", "at 2026-11-24 18:03"),
      ("friday evening", "at 2026-11-27 23:04"), ("tonight", "at 2026-11-23 23:05"),
      ("every night", "daily at 23:06"), ("lunchtime on friday", "at 2026-11-27 23:07"),
      ("daily at teatime", "daily at 23:08"), ("end of day on friday", "at 2026-11-27 23:09"),
      ("weekdays at cob", "weekdays at 23:09"), ("quarter to lunchtime on friday", "at 2026-11-27 22:52"),
      // These contain a time.
      ("noon on friday", "at 2026-11-27 12:00"), ("daily at midnight", "daily at 00:00"),
      ("at 8 tonight", "at 2026-11-23 20:00"), ("friday morning at 9", "at 2026-11-27 09:00"),
    ] {
      #expect(try Schedule.parse(text, now: Self.monday, in: scheduleContext).canonical == canonical, "\(text)")
      // The canonical text does not depend on the configured words.
      #expect(try Schedule.parse(canonical, now: Self.monday, in: Self.scheduleContext()).canonical == canonical)
    }
  }

  /// The words are requested only when needed, because the command asks the daemon for them.
  @Test func configuredWordsAreRequestedOnlyWhenNeeded() throws {
    var scheduleContext = try Self.scheduleContext()
    scheduleContext.words = {
      Issue.record("the words were asked for")
      return .usual
    }
    for text in [
      "weekdays at 8:30", "in 25 minutes", "every 90m from 8 to 22", "friday at 5pm", "noon on friday", "30 8 * * 1-5",
      "at 8 tonight", "every day at 7",
    ] {
      _ = try Schedule.parse(text, now: Self.monday, in: scheduleContext)
    }
  }

  static let table: [(text: String, canonical: String)] = [
    ("today at 16:00", "at 2026-11-23 16:00"),
    ("today at 4pm", "at 2026-11-23 16:00"),
    ("tomorrow at 4pm", "at 2026-11-24 16:00"),
    ("tmr 4pm", "at 2026-11-24 16:00"),
    ("tomorrow morning", "at 2026-11-24 08:00"),
    ("tomorrow afternoon", "at 2026-11-24 15:00"),
    ("tomorrow evening", "at 2026-11-24 19:00"),
    ("tomorrow night", "at 2026-11-24 22:00"),
    ("friday evening", "at 2026-11-27 19:00"),
    ("saturday morning at 10", "at 2026-11-28 10:00"),
    ("this weekend", "at 2026-11-28 09:00"),
    ("next week", "at 2026-11-30 09:00"),
    ("next monday", "at 2026-11-30 09:00"),
    ("wednesday at 7pm", "at 2026-11-25 19:00"),
    ("27th", "at 2026-11-27 09:00"),
    ("the 27th at noon", "at 2026-11-27 12:00"),
    ("jan 27", "at 2027-01-27 09:00"),
    ("27 jan 2028", "at 2028-01-27 09:00"),
    ("01/27/2027", "at 2027-01-27 09:00"),
    ("27/1/2027 at 9am", "at 2027-01-27 09:00"),
    ("in 5 days", "at 2026-11-28 08:15"),
    ("in 3 weeks", "at 2026-12-14 08:15"),
    ("in 2 weeks at 10:30", "at 2026-12-07 10:30"),
    ("end of month", "at 2026-11-30 09:00"),
    ("end of the month at 18:00", "at 2026-11-30 18:00"),
    ("every day", "daily at 09:00"),
    ("daily", "daily at 09:00"),
    ("every morning", "daily at 08:00"),
    ("every afternoon", "daily at 15:00"),
    ("every evening", "daily at 19:00"),
    ("every night", "daily at 22:00"),
    ("every weekday", "weekdays at 09:00"),
    ("every workday at 8:45", "weekdays at 08:45"),
    ("every weekend", "weekends at 09:00"),
    ("every week", "every mon at 09:00"),
    ("weekly", "every mon at 09:00"),
    ("every month", "day 23 of month at 09:00"),
    ("monthly at noon", "day 23 of month at 12:00"),
    ("every year", "every nov 23 at 09:00"),
    ("yearly", "every nov 23 at 09:00"),
    ("every monday, friday", "mon,fri at 09:00"),
    ("at 8 and 20 o'clock every day", "daily at 08:00,20:00"),
    ("ev mon, fri at 20:00", "mon,fri at 20:00"),
    ("every other day", "every 2 days at 09:00 starting 2026-11-23"),
    ("every other week", "every 2 weeks on mon at 09:00 starting 2026-11-23"),
    ("every other month", "every 2 months on day 23 at 09:00 starting 2026-11-23"),
    ("every other year", "every 2 years on nov 23 at 09:00 starting 2026-11-23"),
    ("every other friday", "every 2 weeks on fri at 09:00 starting 2026-11-23"),
    ("every 3rd friday", "third fri of month at 09:00"),
    ("every first monday at 7:30", "first mon of month at 07:30"),
    ("every 2nd monday of the month", "second mon of month at 09:00"),
    ("every 27th", "day 27 of month at 09:00"),
    ("every jan 27th", "every jan 27 at 09:00"),
    ("every 14 jan, 14 apr, 15 jun, 15 sep", "every jan 14,apr 14,jun 15,sep 15 at 09:00"),
    ("every last day", "last day of month at 09:00"),
    ("every last day of the month", "last day of month at 09:00"),
    ("every 1st workday of the month", "first weekday of month at 09:00"),
    ("every last workday", "last weekday of month at 09:00"),
    ("every 15th workday", "15th weekday of month at 09:00"),
    ("every quarter", "every jan 1,apr 1,jul 1,oct 1 at 09:00"),
    ("every! 3 days", "every 3 days after done at 09:00 starting 2026-11-26"),
    ("every! day at 9pm", "every day after done at 21:00 starting 2026-11-24"),
    ("every 12 hours", "every 12h starting 2026-11-23T19:15:00Z"),
    ("every hour", "every 1h starting 2026-11-23T08:15:00Z"),
    ("every 3 days starting tomorrow", "every 3 days at 09:00 starting 2026-11-24"),
    ("every monday until jan 1", "every mon at 09:00 until 2027-01-01"),
    ("every day for 3 weeks", "daily at 09:00 until 2026-12-13"),
    ("every day from 10 may until 20 may", "daily at 09:00 starting 2027-05-10 until 2027-05-20"),
    ("every day ending aug 3", "daily at 09:00 until 2027-08-03"),
    ("every mon at 8pm for 5 times", "every mon at 20:00 starting 2026-11-23T07:15:01Z 5 times"),
    ("every 2 weeks starting friday", "every 2 weeks on fri at 09:00 starting 2026-11-27"),
    ("tonight", "at 2026-11-23 20:00"),
    ("tonight at 9", "at 2026-11-23 21:00"),
    ("at 9 tonight", "at 2026-11-23 21:00"),
    ("this afternoon", "at 2026-11-23 15:00"),
    ("this evening at 6", "at 2026-11-23 18:00"),
    ("this morning at 11", "at 2026-11-23 11:00"),
    ("at noon", "at 2026-11-23 12:00"),
    ("at noon tomorrow", "at 2026-11-24 12:00"),
    ("at midnight", "at 2026-11-24 00:00"),
    ("midnight tonight", "at 2026-11-24 00:00"),
    ("in an hour", "at 2026-11-23T08:15:00Z"),
    ("in half an hour", "at 2026-11-23T07:45:00Z"),
    ("in a half hour", "at 2026-11-23T07:45:00Z"),
    ("in an hour and a half", "at 2026-11-23T08:45:00Z"),
    ("in 1 hour and a half", "at 2026-11-23T08:45:00Z"),
    ("in one and a half hours", "at 2026-11-23T08:45:00Z"),
    ("in 2.5 hours", "at 2026-11-23T09:45:00Z"),
    ("in two hours and fifteen minutes", "at 2026-11-23T09:30:00Z"),
    ("in a couple of hours", "at 2026-11-23T09:15:00Z"),
    ("in a quarter of an hour", "at 2026-11-23T07:30:00Z"),
    ("in three quarters of an hour", "at 2026-11-23T08:00:00Z"),
    ("in 90 mins", "at 2026-11-23T08:45:00Z"),
    ("in 1h30", "at 2026-11-23T08:45:00Z"),
    ("in twenty-five minutes", "at 2026-11-23T07:40:00Z"),
    ("in a hundred minutes", "at 2026-11-23T08:55:00Z"),
    ("20 minutes from now", "at 2026-11-23T07:35:00Z"),
    ("a week from now", "at 2026-11-30 08:15"),
    ("in a week", "at 2026-11-30 08:15"),
    ("in a month", "at 2026-12-23 08:15"),
    ("in a year", "at 2027-11-23 08:15"),
    ("in a fortnight", "at 2026-12-07 08:15"),
    ("in 2 days at 9", "at 2026-11-25 09:00"),
    ("in three days at half past nine", "at 2026-11-26 09:30"),
    ("the day after tomorrow at 8am", "at 2026-11-25 08:00"),
    ("day after tomorrow", "at 2026-11-25 09:00"),
    ("on thursday at 5", "at 2026-11-26 05:00"),
    ("on thursday at 5 in the afternoon", "at 2026-11-26 17:00"),
    ("thursday at 5:15 p.m.", "at 2026-11-26 17:15"),
    ("this friday at 6pm", "at 2026-11-27 18:00"),
    ("coming friday", "at 2026-11-27 09:00"),
    ("this coming sunday at 11am", "at 2026-11-29 11:00"),
    ("friday next week at 3pm", "at 2026-12-04 15:00"),
    ("next week friday", "at 2026-12-04 09:00"),
    ("next week on wednesday at 14:00", "at 2026-12-02 14:00"),
    ("december 24th at 6 p.m.", "at 2026-12-24 18:00"),
    ("6pm on december 24", "at 2026-12-24 18:00"),
    ("the 24th of december", "at 2026-12-24 09:00"),
    ("on the 15th at 3pm", "at 2026-12-15 15:00"),
    ("15th of next month", "at 2026-12-15 09:00"),
    ("first of next month at 8", "at 2026-12-01 08:00"),
    ("last day of next month", "at 2026-12-31 09:00"),
    ("first monday of january 2027 at 9", "at 2027-01-04 09:00"),
    ("first monday of january", "at 2027-01-04 09:00"),
    ("monday, december 7 at 9", "at 2026-12-07 09:00"),
    ("mondays at 6", "every mon at 06:00"),
    ("mondays and wednesdays at 18:30", "mon,wed at 18:30"),
    ("mon wed fri 7am", "mon,wed,fri at 07:00"),
    ("every monday, wednesday and friday at 7 a.m.", "mon,wed,fri at 07:00"),
    ("tuesdays in the evening", "every tue at 19:00"),
    ("every tuesday evening at 8", "every tue at 20:00"),
    ("every weekday morning at 7", "weekdays at 07:00"),
    ("monday to friday at 8", "weekdays at 08:00"),
    ("mon-thu 9:15", "mon-thu at 09:15"),
    ("every day at 8am and 8pm", "daily at 08:00,20:00"),
    ("every day at noon and midnight", "daily at 00:00,12:00"),
    ("daily at half past six in the evening", "daily at 18:30"),
    ("quarter to one in the afternoon", "at 2026-11-23 12:45"),
    ("weekdays at quarter to one in the afternoon", "weekdays at 12:45"),
    ("half past twelve in the afternoon", "at 2026-11-23 12:30"),
    ("quarter to one in the morning", "at 2026-11-24 00:45"),
    ("tomorrow at half past twelve in the morning", "at 2026-11-24 00:30"),
    ("quarter to one tonight", "at 2026-11-24 00:45"),
    ("half past twelve at night", "at 2026-11-24 00:30"),
    ("quarter past midnight tonight", "at 2026-11-24 00:15"),
    ("daily at quarter to one at night", "daily at 00:45"),
    ("quarter to twelve at night", "at 2026-11-23 23:45"),
    ("quarter past noon", "at 2026-11-23 12:15"),
    ("quarter to noon", "at 2026-11-23 11:45"),
    ("every day at 10 at night", "daily at 22:00"),
    ("every month on the 15th", "day 15 of month at 09:00"),
    ("every month on the first friday at 10", "first fri of month at 10:00"),
    ("on the 1st of every month", "day 1 of month at 09:00"),
    ("the 1st and 15th of every month at 9", "day 1,15 of month at 09:00"),
    ("last friday of every month at 16:00", "last fri of month at 16:00"),
    ("2nd and 4th tuesday of the month at 19:00", "second tue,fourth tue of month at 19:00"),
    ("every 2nd and 4th tuesday", "second tue,fourth tue of month at 09:00"),
    ("first friday of every other month", "every 2 months on first fri at 09:00 starting 2026-11-23"),
    ("every 3 months", "every 3 months on day 23 at 09:00 starting 2026-11-23"),
    ("every six months on the 1st", "every 6 months on day 1 at 09:00 starting 2026-11-23"),
    ("every year on dec 24 at 18:00", "every dec 24 at 18:00"),
    ("annually on june 1st", "every jun 1 at 09:00"),
    ("dec 24 every year", "every dec 24 at 09:00"),
    ("every two weeks on tuesday at 7pm", "every 2 weeks on tue at 19:00 starting 2026-11-23"),
    ("on tuesday every two weeks", "every 2 weeks on tue at 09:00 starting 2026-11-23"),
    ("fortnightly", "every 2 weeks on mon at 09:00 starting 2026-11-23"),
    ("every fortnight on friday", "every 2 weeks on fri at 09:00 starting 2026-11-23"),
    ("every four weeks", "every 4 weeks on mon at 09:00 starting 2026-11-23"),
    ("every 10 days", "every 10 days at 09:00 starting 2026-11-23"),
    ("every 2 days at 8 and 20", "every 2 days at 08:00,20:00 starting 2026-11-23"),
    ("once a day at 7", "daily at 07:00"),
    ("once a week", "every mon at 09:00"),
    ("once a month", "day 23 of month at 09:00"),
    ("once every 3 days", "every 3 days at 09:00 starting 2026-11-23"),
    ("every half hour", "every 30m starting 2026-11-23T07:45:00Z"),
    ("every half an hour from 9 to 5 on weekdays", "every 30m from 09:00 to 17:00 on weekdays"),
    ("every 20 minutes between 9am and 5pm", "every 20m from 09:00 to 17:00"),
    ("every hour 9 to 5", "every 1h from 09:00 to 17:00"),
    ("every hour 9-17 mon-fri", "every 1h from 09:00 to 17:00 on weekdays"),
    ("hourly from 8 till 6", "every 1h from 08:00 to 18:00"),
    ("every two hours between noon and 8pm", "every 2h from 12:00 to 20:00"),
    ("every other hour", "every 2h starting 2026-11-23T09:15:00Z"),
    ("every 1.5 hours", "every 90m starting 2026-11-23T08:45:00Z"),
    ("every hour and a half", "every 90m starting 2026-11-23T08:45:00Z"),
    ("every 45 minutes until 5pm", "every 45m starting 2026-11-23T08:00:00Z until 2026-11-23 17:00"),
    ("every 2h from 22:00 to 6:00", "every 2h from 22:00 to 06:00"),
    ("every 15 minutes from 8 to 10 at weekends", "every 15m from 08:00 to 10:00 on weekends"),
    ("every 15 minutes from 8 to 10 on weekends", "every 15m from 08:00 to 10:00 on weekends"),
    ("eom", "at 2026-11-30 09:00"),
    ("eoy", "at 2026-12-31 09:00"),
    ("2026-12-01T09:00", "at 2026-12-01 09:00"),
    ("20261201T0900", "at 2026-12-01 09:00"),
    ("now + 2 weeks", "at 2026-12-07 08:15"),
    ("noon on friday", "at 2026-11-27 12:00"),
    ("1st", "at 2026-12-01 09:00"),
    ("weekdays", "weekdays at 09:00"),
    ("teatime", "at 2026-11-23 16:00"),
    ("teatime tomorrow", "at 2026-11-24 16:00"),
    ("noon tomorrow", "at 2026-11-24 12:00"),
    ("midnight", "at 2026-11-24 00:00"),
    ("now + 1 hour", "at 2026-11-23T08:15:00Z"),
    ("now + 3 days", "at 2026-11-26 08:15"),
    ("10am jul 31", "at 2027-07-31 10:00"),
    ("1am tomorrow", "at 2026-11-24 01:00"),
    ("at 1730", "at 2026-11-23 17:30"),
    ("at 1730 tomorrow", "at 2026-11-24 17:30"),
    ("5:00 pm friday", "at 2026-11-27 17:00"),
    ("24.12.2026", "at 2026-12-24 09:00"),
    ("at 9 24.12.", "at 2026-12-24 09:00"),
    ("on 24.12. at 8:30", "at 2026-12-24 08:30"),
    ("2026/12/24", "at 2026-12-24 09:00"),
    ("at 10 day after tomorrow", "at 2026-11-25 10:00"),
    ("3 dec 2026 at 15:00", "at 2026-12-03 15:00"),
    ("dec 3, 2026, 3pm", "at 2026-12-03 15:00"),
    ("fri 8 jan at 10", "at 2027-01-08 10:00"),
    ("13/6 at 9", "at 2027-06-13 09:00"),
    ("daily at 9 except saturdays and sundays", "weekdays at 09:00"),
    ("every day except weekends at 7", "weekdays at 07:00"),
    ("weekdays at 8 except mondays", "tue-fri at 08:00"),
    ("weekdays except fridays at 8", "mon-thu at 08:00"),
    ("every day but not on sundays", "mon-sat at 09:00"),
    ("daily at 8 except in july and august", "daily at 08:00 except jul 1..aug 31"),
    ("daily at 8 except from 1 to 15 july", "daily at 08:00 except jul 1..jul 15"),
    ("daily at 8 except dec 24 to jan 2", "daily at 08:00 except dec 24..jan 2"),
    ("every weekday at 9 except holidays", "weekdays at 09:00 except on holidays"),
    ("at 5p", "at 2026-11-23 17:00"),
    ("at 17h30", "at 2026-11-23 17:30"),
    ("at 9 o'clock", "at 2026-11-23 09:00"),
    ("at quarter past 10", "at 2026-11-23 10:15"),
    ("at quarter to 9", "at 2026-11-23 08:45"),
    ("20 past 8 tomorrow", "at 2026-11-24 08:20"),
    ("at 8 in the evening", "at 2026-11-23 20:00"),
    ("at 8 in the morning", "at 2026-11-24 08:00"),
    ("at 12 at night", "at 2026-11-24 00:00"),
    ("tomorrow at 3 in the afternoon", "at 2026-11-24 15:00"),
    ("by friday 5pm", "at 2026-11-27 17:00"),
    ("close of business friday", "at 2026-11-27 17:00"),
    ("end of day", "at 2026-11-23 17:00"),
    ("eod tomorrow", "at 2026-11-24 17:00"),
    ("saturday lunchtime", "at 2026-11-28 12:00"),
    ("first mon of jan 2027 at 9", "at 2027-01-04 09:00"),
    ("at 5pm dec 24", "at 2026-12-24 17:00"),
    ("every dec 21st and 31st at 9", "every dec 21,dec 31 at 09:00"),
  ]

  /// Abbreviations. Now is Friday 2026-11-20 23:22:13.
  static let abbreviated: [(text: String, canonical: String)] = [
    ("every 1.5h", "every 90m starting 2026-11-20T23:52:13Z"),
    ("every day", "daily at 09:00"),
    ("every day 8", "daily at 08:00"),
    ("every 90m from 8 until 22:00", "every 90m from 08:00 to 22:00"),
    ("weekdays", "weekdays at 09:00"),
    ("weekdays 8:30", "weekdays at 08:30"),
    ("weekdays at 0830", "weekdays at 08:30"),
    ("weekdays at 8.30", "weekdays at 08:30"),
    ("at 2026-12-01", "at 2026-12-01 09:00"),
    ("tomorrow", "at 2026-11-21 09:00"),
    ("8:30", "at 2026-11-21 08:30"),
    ("noon", "at 2026-11-21 12:00"),
    ("in 5 fortnights", "at 2027-01-29 23:22:13"),
    ("in 1 month", "at 2026-12-20 23:22:13"),
    ("weekdays at 8:30 in the morning", "weekdays at 08:30"),
    ("every 9999w on mon", "every 9999 weeks on mon at 09:00 starting 2026-11-20"),
    ("daily at 8 except on weekends", "weekdays at 08:00"),
    ("daily at 8 until nov 17", "daily at 08:00 until 2027-11-17"),
    ("daily at 8 starting feb 29", "daily at 08:00 starting 2028-02-29"),
    ("every 2 weeks at 9", "every 2 weeks on fri at 09:00 starting 2026-11-20"),
    ("every 2 weeks on tue", "every 2 weeks on tue at 09:00 starting 2026-11-20"),
    ("every month", "day 20 of month at 09:00"),
    ("every month at 9", "day 20 of month at 09:00"),
    ("every 2 months", "every 2 months on day 20 at 09:00 starting 2026-11-20"),
    ("monthly", "day 20 of month at 09:00"),
    ("weekly on mon", "every mon at 09:00"),
    ("every year at 9", "every nov 20 at 09:00"),
    ("every last fri at 9", "last fri of month at 09:00"),
    ("nov 17", "at 2027-11-17 09:00"),
    ("every 15th at 9", "day 15 of month at 09:00"),
    ("daily at 9 after done", "every day after done at 09:00 starting 2026-11-21"),
    ("1st at 9", "at 2026-12-01 09:00"),
  ]

  @Test(arguments: table) func spokenTimesHaveTheirMeaning(_ text: String, _ canonical: String) throws {
    try expect(text, canonical, now: Self.monday)
  }

  @Test(arguments: abbreviated) func missingPartsHaveTheirDefaults(_ text: String, _ canonical: String) throws {
    try expect(text, canonical, now: friday)
  }

  private func expect(_ text: String, _ canonical: String, now: Instant) throws {
    let scheduleContext = try Self.scheduleContext()
    let schedule = try Schedule.parse(text, now: now, in: scheduleContext)
    #expect(schedule.canonical == canonical)
    #expect(try Schedule(canonical: canonical) == schedule)
    #expect(try Schedule.parse(canonical, now: now, in: scheduleContext) == schedule)
    #expect(try Schedule.parse(text.uppercased(), now: now, in: scheduleContext) == schedule)
  }

  /// Ambiguous or meaningless texts are rejected, never guessed.
  static let refused: [String] = [
    "tom at 4pm",
    "next friday",
    "next month",
    "every 2, 15, 27",
    "tuesday december 7 at 9",
    "twice a day",
    "3 times a day",
    "3 times daily", "twice daily", "3 times every day",
    "biweekly",
    "yesterday",
    "5/6 at 9",
    "weekdays at 8 except monday",
    "daily until june",
    "every year on the 31st of month",
    "yearly on the 1st friday",
    "9am in the evening",
    "at 3 tonight",
    "8 and 9pm daily",
    "every 90m from 8 to 10pm",
    "every third friday",
    "every 27",
    "dec 21st and 31st at 9",
  ]

  @Test(arguments: refused) func refusesWithASuggestion(_ text: String) throws {
    let scheduleContext = try Self.scheduleContext()
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse(text, now: Self.monday, in: scheduleContext)
    }
    guard let error else { return }
    // Each error offers help, and each suggestion is valid.
    #expect(!error.expected.isEmpty || error.suggestion != nil)
    for choice in error.choices + [error.suggestion].compactMap({ $0 }) {
      #expect(throws: Never.self) { try Schedule.parse(choice, now: Self.monday, in: scheduleContext) }
    }
  }

  @Test func ambiguousTextsListEachReading() throws {
    let scheduleContext = try Self.scheduleContext()
    for (text, choices) in [
      ("next friday", ["friday", "friday next week"]), ("5/6 at 9", ["may 6 at 9", "jun 5 at 9"]),
      ("daily until june", ["daily until 2027-05-31", "daily until 2027-06-30"]),
      ("weekdays at 8 except monday", ["weekdays at 8 except mondays", "weekdays at 8 except 2026-11-23"]),
      ("every third friday", ["every 3 weeks on friday", "every third friday of month"]),
      ("every 90m from 8 to 10pm", ["every 90m from 08:00 to 22:00", "every 90m from 20:00 to 22:00"]),
    ] {
      let error = #expect(throws: ScheduleError.self) {
        try Schedule.parse(text, now: Self.monday, in: scheduleContext)
      }
      #expect(error?.choices == choices)
      #expect(error?.suggestion == nil)
    }
  }

  /// Whole days keep local time over a DST change, hours do not. Clocks go forward on 29 March.
  @Test(arguments: [
    ("in 2 days", "2026-03-30T13:00:00+02:00"), ("in 48h", "2026-03-30T14:00:00+02:00"),
    ("in 1 week", "2026-04-04T13:00:00+02:00"), ("in 1 month", "2026-04-28T13:00:00+02:00"),
    ("every week", "2026-04-04T09:00:00+02:00"), ("every 10 days", "2026-04-07T09:00:00+02:00"),
    ("every 2 weeks", "2026-04-11T09:00:00+02:00"), ("every 48h", "2026-03-30T14:00:00+02:00"),
  ])
  func daysKeepLocalTimeAcrossAClockChange(_ text: String, _ next: String) throws {
    let prague = try zone("Europe/Prague")
    let now = instant("2026-03-28T12:00:00Z")
    let schedule = try Schedule.parse(text, now: now, zone: prague)
    let found = try #require(schedule.timetable(in: prague).next(after: now))
    #expect(RFC3339.format(found, in: prague) == next)
  }

  /// A suggestion for a damaged text is a schedule with every number, weekday and month that was typed.
  @Test func suggestionsKeepWhatWasTyped() throws {
    let scheduleContext = try Self.scheduleContext()
    var generator = SeededGenerator(seed: 2_121)
    var hints = 0
    for _ in 0..<ProofTier.amount(quick: 600, proof: 20_000) {
      guard let row = Self.table.randomElement(using: &generator) else { continue }
      var text = Array(row.text)
      let place = Int.random(in: 0..<text.count, using: &generator)
      guard text[place].isLetter else { continue }
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: text.remove(at: place)
      case 1: text.insert(text[place], at: place)
      default: if place + 1 < text.count { text.swapAt(place, place + 1) }
      }
      do {
        _ = try Schedule.parse(String(text), now: Self.monday, in: scheduleContext)
      } catch {
        #expect(!error.expected.isEmpty || error.suggestion != nil || !error.choices.isEmpty, "\(String(text))")
        for hint in error.choices + [error.suggestion].compactMap({ $0 }) {
          hints += 1
          #expect(throws: Never.self) { try Schedule.parse(hint, now: Self.monday, in: scheduleContext) }
        }
        guard let hint = error.suggestion else { continue }
        let (typed, offered) = (Self.numbers(String(text)), Self.numbers(hint))
        #expect(typed.allSatisfy { offered[$0.key, default: 0] >= $0.value }, "\(String(text)): \(hint)")
      }
    }
    #expect(hints > 20)
  }

  /// Counts each number in a text; a time on the hour counts as its hour.
  private static func numbers(_ text: String) -> [Int: Int] {
    var counts: [Int: Int] = [:]
    for run in text.split(whereSeparator: { !$0.isNumber }) { counts[Int(run) ?? 0, default: 0] += 1 }
    return counts
  }

  @Test(arguments: [
    "every night", "every 27", "biweekly", "first mon of jan 2027", "dec 21st and 31st", "yearly on the 1st friday",
  ])
  func formerSuggestionsKeepTheirMeaning(_ text: String) throws {
    let scheduleContext = try Self.scheduleContext()
    do {
      // Understood texts contain their own numbers and days.
      let schedule = try Schedule.parse(text, now: Self.monday, in: scheduleContext)
      #expect(["daily at 22:00", "at 2027-01-04 09:00"].contains(schedule.canonical))
    } catch {
      let hint = error.suggestion ?? "every dec 21,dec 31"
      #expect(hint.contains("every dec 21"), "\(hint)")
    }
  }
}
