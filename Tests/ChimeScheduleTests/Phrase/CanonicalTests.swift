import ChimeSchedule
import Testing

/// Text → canonical form → the same value. Now is Friday 2026-11-20 23:22:13 in Prague.
@Suite struct CanonicalTests {
  /// The calendars that the texts may name.
  static let calendars = ["holidays", "work-2026", "friday-closings"]

  static let table: [(text: String, canonical: String)] = [
    // One moment.
    ("at 2026-12-01 09:00", "at 2026-12-01 09:00"),
    ("2026-12-01 9:00", "at 2026-12-01 09:00"),
    ("on 2026-12-01 at 9", "at 2026-12-01 09:00"),
    ("at 2026-12-01T09:00", "at 2026-12-01 09:00"),
    ("at 2026-12-01T09:00:30", "at 2026-12-01 09:00:30"),
    ("at 2026-12-01T09:00:00+01:00", "at 2026-12-01T08:00:00Z"),
    ("at 2026-12-01T09:00:00Z", "at 2026-12-01T09:00:00Z"),
    ("at 2026-12-01T20:00:00-05:30", "at 2026-12-02T01:30:00Z"),
    ("2026-12-01 noon", "at 2026-12-01 12:00"),
    ("1 dec 2026 at 9", "at 2026-12-01 09:00"),
    ("on December 1, 2026 at 9pm", "at 2026-12-01 21:00"),
    ("dec 1 2026 9:15", "at 2026-12-01 09:15"),
    ("at 18:00", "at 2026-11-21 18:00"),
    ("at 23:30", "at 2026-11-20 23:30"),
    ("at 23:22:13", "at 2026-11-21 23:22:13"),
    ("at 23:22:14", "at 2026-11-20 23:22:14"),
    ("tomorrow at 9", "at 2026-11-21 09:00"),
    ("at 9 tomorrow", "at 2026-11-21 09:00"),
    ("today at 23:59", "at 2026-11-20 23:59"),
    ("friday at 17:30", "at 2026-11-27 17:30"),
    ("friday at 23:30", "at 2026-11-20 23:30"),
    ("on Monday at 7", "at 2026-11-23 07:00"),
    ("at 17:30 on sat", "at 2026-11-21 17:30"),
    ("in 25m", "at 2026-11-20T22:47:13Z"),
    ("in 1h30m", "at 2026-11-20T23:52:13Z"),
    ("in 2 days", "at 2026-11-22 23:22:13"),
    ("in an hour and 5 minutes", "at 2026-11-20T23:27:13Z"),
    ("IN 1W", "at 2026-11-27 23:22:13"),

    ("at 9 on 2026-12-01", "at 2026-12-01 09:00"),
    ("at 9 1 dec 2026", "at 2026-12-01 09:00"),
    ("tomorrow noon", "at 2026-11-21 12:00"),
    ("in 1500ms", "at 2026-11-20T22:22:15Z"),

    // Days of the week.
    ("weekdays at 8:30", "weekdays at 08:30"),
    ("daily at 8", "daily at 08:00"),
    ("every day at 8am", "daily at 08:00"),
    ("everyday at 8", "daily at 08:00"),
    ("at 8 every day", "daily at 08:00"),
    ("at 8 daily", "daily at 08:00"),
    ("at 8 and 18:00 on weekdays", "weekdays at 08:00,18:00"),
    ("weekdays at 8:30 and 18:00", "weekdays at 08:30,18:00"),
    ("weekdays at 18, 8:30, and 12", "weekdays at 08:30,12:00,18:00"),
    ("weekdays at 8 and at 8:00", "weekdays at 08:00"),
    ("mon,wed,fri at 7", "mon,wed,fri at 07:00"),
    ("Monday, Wednesday and Friday at 7 AM", "mon,wed,fri at 07:00"),
    ("fri, wed, mon at 7", "mon,wed,fri at 07:00"),
    ("mon-fri at 7", "weekdays at 07:00"),
    ("monday through friday at 7", "weekdays at 07:00"),
    ("mon–thu at 7", "mon-thu at 07:00"),
    ("fri-mon at 7", "fri-mon at 07:00"),
    ("sun,mon at 7", "mon,sun at 07:00"),
    ("sat,sun,mon at 7", "sat-mon at 07:00"),
    ("thu,sun,mon,tue at 7", "thu,sun-tue at 07:00"),
    ("mon-mon at 7", "every mon at 07:00"),
    ("weekends at 10", "weekends at 10:00"),
    ("weekdays and sat at 10", "mon-sat at 10:00"),
    ("every weekend at noon", "weekends at 12:00"),
    ("every weekday at midnight", "weekdays at 00:00"),
    ("every monday at 7", "every mon at 07:00"),
    ("mondays at 7", "every mon at 07:00"),
    ("on weekdays at 8", "weekdays at 08:00"),
    ("every tue and thu at 20:30:15", "tue,thu at 20:30:15"),
    ("daily at 12am, 12pm", "daily at 00:00,12:00"),
    ("daily at 8:30pm", "daily at 20:30"),

    // Intervals.
    ("every 45m", "every 45m starting 2026-11-20T23:07:13Z"),
    ("every hour", "every 1h starting 2026-11-20T23:22:13Z"),
    ("every 1h30m", "every 90m starting 2026-11-20T23:52:13Z"),
    ("every 36h starting 2026-12-01 09:00", "every 36h starting 2026-12-01 09:00"),
    ("every 2 days starting 2026-12-01", "every 2 days at 09:00 starting 2026-12-01"),
    ("every 48h starting 2026-12-01", "every 48h starting 2026-12-01"),
    ("every 90m from 8:00 to 22:00", "every 90m from 08:00 to 22:00"),
    ("every 90m from 8:00 to 22:00 on mon-fri", "every 90m from 08:00 to 22:00 on weekdays"),
    ("every 90m on weekdays from 8 to 22", "every 90m from 08:00 to 22:00 on weekdays"),
    ("every 20 minutes between 9am and 5pm on mon", "every 20m from 09:00 to 17:00 on mon"),
    ("every 2h from 22:00 to 6:00", "every 2h from 22:00 to 06:00"),
    ("every 6h from 0:00 to 24:00", "every 6h from 00:00 to 00:00"),
    ("every 45m on weekends", "every 45m on weekends starting 2026-11-20T23:07:13Z"),

    ("hourly", "every 1h starting 2026-11-20T23:22:13Z"),
    ("every 30 min from 9-17 on mon..wed", "every 30m from 09:00 to 17:00 on mon-wed"),
    ("every 2h between noon and midnight until 2026-12-31", "every 2h from 12:00 to 00:00 until 2026-12-31"),

    // Months, years, rotas, completion, calendars.
    ("every day 1-5 and 15 of mar-jun at 9", "every day 1-5,15 of mar-jun at 09:00"),
    ("every day 31 of nov-feb at 9", "every jan 31,dec 31 at 09:00"),
    ("every last day of feb at 9", "every last day of feb at 09:00"),
    ("last of month at 9", "last day of month at 09:00"),
    ("first of month at 9", "day 1 of month at 09:00"),
    ("third last weekday of jun,dec at 17:30", "third last weekday of jun,dec at 17:30"),
    ("1st, 3rd and 5th sat of month at 10", "first sat,third sat,fifth sat of month at 10:00"),
    ("first mon of month and last fri of month at 9", "first mon,last fri of month at 09:00"),
    ("first mon, last fri of month at 9", "first mon,last fri of month at 09:00"),
    ("day 1 of jan, last day of jun at 9", "day 1 of jan,last day of jun at 09:00"),
    ("day 31 of jan-dec at 9", "day 31 of month at 09:00"),
    ("every day 31 of month, feb 29 at 9", "every jan 31,feb 29,mar 31,may 31,jul 31,aug 31,oct 31,dec 31 at 09:00"),
    ("every 1 months on day 1 at 9", "day 1 of month at 09:00"),
    ("every 1 weeks on tue at 9", "every tue at 09:00"),
    ("every 1 days at 9", "daily at 09:00"),
    ("each other week on sat at 9", "every 2 weeks on sat at 09:00 starting 2026-11-20"),
    ("every 2 weeks on weekdays at 9", "every 2 weeks on weekdays at 09:00 starting 2026-11-20"),
    ("every 2 weeks on daily at 9", "every 2 weeks on mon-sun at 09:00 starting 2026-11-20"),
    (
      "every 2 years on last fri of mar at 9 starting 2027-03-01",
      "every 2 years on last fri of mar at 09:00 starting 2027-03-01"
    ),
    ("every other year on feb 29, nov 17 at 9", "every 2 years on feb 29,nov 17 at 09:00 starting 2026-11-20"),
    ("annually on nov 17 at 8", "every nov 17 at 08:00"),
    ("every 4 years on feb 29 at 8 starting 2028-01-01", "every 4 years on feb 29 at 08:00 starting 2028-01-01"),
    ("every fortnight after done at 9", "every 2 weeks after done at 09:00 starting 2026-12-04"),
    ("every 7 days after done at 9", "every week after done at 09:00 starting 2026-11-27"),
    ("every 3 days after completion at 9 and 18", "every 3 days after done at 09:00,18:00 starting 2026-11-23"),
    ("every hour after done", "every 1h after done starting 2026-11-20T23:22:13Z"),
    ("every 3 days after done at 9 starting 2026-12-01", "every 3 days after done at 09:00 starting 2026-12-01"),
    (
      "daily at 8 except on holidays and work-2026, 2026-12-31",
      "daily at 08:00 except on holidays,work-2026,2026-12-31"
    ),
    (
      "daily at 8 except 2026-12-31, on work-2026 and holidays",
      "daily at 08:00 except on holidays,work-2026,2026-12-31"
    ),
    ("daily at 8 except on friday-closings", "daily at 08:00 except on friday-closings"),
    ("daily at 8 except jan 1..dec 30", "daily at 08:00 except jan 1..dec 30"),
    ("daily at 8 except 17 nov, feb 28 to mar 1", "daily at 08:00 except feb 28..mar 1,nov 17"),
    ("daily at 8 except dec 30..jan 2, jan 3", "daily at 08:00 except dec 30..jan 3"),
    ("at 9 last day of month", "last day of month at 09:00"),
    ("at 9 every month on day 1", "day 1 of month at 09:00"),
    ("at 8 and 18 monthly on the 1st and 15th", "day 1,15 of month at 08:00,18:00"),
    ("at 9 every 3 days starting 2026-12-01", "every 3 days at 09:00 starting 2026-12-01"),
    ("at 9 the 15th of month", "day 15 of month at 09:00"),
    ("every 30m on first mon of month", "every 30m on first mon of month starting 2026-11-20T22:52:13Z"),
    ("every 90m from 8 to 22 on last day of month", "every 90m from 08:00 to 22:00 on last day of month"),
    ("every 2 days at 9 and 18 until 2027-01-01", "every 2 days at 09:00,18:00 starting 2026-11-20 until 2027-01-01"),
    ("every nov 17 at 8", "every nov 17 at 08:00"),
    ("every 17th nov at 8", "every nov 17 at 08:00"),
    ("every 17 nov at 8", "every nov 17 at 08:00"),
    ("every 17th of november at 8", "every nov 17 at 08:00"),
    ("on nov 17 at 8", "at 2027-11-17 08:00"),
    ("on 17 nov at 8", "at 2027-11-17 08:00"),
    ("nov 17th, 2027 at 8", "at 2027-11-17 08:00"),
    ("at 17th nov 2027 8:00", "at 2027-11-17 08:00"),
    ("every second to last fri of month at 9", "second last fri of month at 09:00"),
    ("every second weekday of month at 9", "second weekday of month at 09:00"),
    ("every fifth week on sun at 9", "every 5 weeks on sun at 09:00 starting 2026-11-20"),
    ("day 1,15 of month at 9", "day 1,15 of month at 09:00"),
    ("last day of month at 18:00", "last day of month at 18:00"),
    ("first mon of month at 9", "first mon of month at 09:00"),
    ("second tue of month at 9", "second tue of month at 09:00"),
    ("third wed of month at 9", "third wed of month at 09:00"),
    ("last fri of mar,jun,sep,dec at 16:00", "last fri of mar,jun,sep,dec at 16:00"),
    ("every day 31 of jan,mar at 9", "every jan 31,mar 31 at 09:00"),
    ("2nd last day of month at 9", "second last day of month at 09:00"),
    ("3rd last day of month at 9", "third last day of month at 09:00"),
    ("second to last fri of month at 9", "second last fri of month at 09:00"),
    ("first weekday of month at 9", "first weekday of month at 09:00"),
    ("last weekday of month at 9", "last weekday of month at 09:00"),
    ("first and third mon of month at 9", "first mon,third mon of month at 09:00"),
    ("day 1-7,15, last day of month at 9", "day 1-7,15,last day of month at 09:00"),
    ("the 15th of month at 9", "day 15 of month at 09:00"),
    ("1st and 15th of the month at 9", "day 1,15 of month at 09:00"),
    ("on the 15th of each month at 9", "day 15 of month at 09:00"),
    ("nov 17 at 8", "at 2027-11-17 08:00"),
    ("17 nov at 8", "at 2027-11-17 08:00"),
    ("17th of nov at 8", "at 2027-11-17 08:00"),
    ("17th nov at 8", "at 2027-11-17 08:00"),
    ("nov 17th at 8", "at 2027-11-17 08:00"),
    ("feb 29 at 8", "at 2028-02-29 08:00"),
    ("every nov 17, dec 24 at 8", "every nov 17,dec 24 at 08:00"),
    ("every nov 17 and 18 at 8", "every nov 17,nov 18 at 08:00"),
    ("every mar 31, jun 30, sep 30, dec 31 at 9", "every mar 31,jun 30,sep 30,dec 31 at 09:00"),
    ("monthly on day 1 at 9", "day 1 of month at 09:00"),
    ("every month on the 15th at 9", "day 15 of month at 09:00"),
    ("every 3 months on day 1 at 9 starting 2026-01-01", "every 3 months on day 1 at 09:00 starting 2026-01-01"),
    ("every 3 months on day 1 at 9", "every 3 months on day 1 at 09:00 starting 2026-11-20"),
    ("every other month on the last fri at 9", "every 2 months on last fri at 09:00 starting 2026-11-20"),
    ("every year on nov 17 at 8", "every nov 17 at 08:00"),
    ("yearly on nov 17 at 8", "every nov 17 at 08:00"),
    ("every 2 years on nov 17 at 8", "every 2 years on nov 17 at 08:00 starting 2026-11-20"),
    ("at 9 on nov 17", "at 2027-11-17 09:00"),
    ("at 9 nov 17", "at 2027-11-17 09:00"),
    ("at 9 on the last day of month", "last day of month at 09:00"),
    ("at 9 every 2 weeks on tue", "every 2 weeks on tue at 09:00 starting 2026-11-20"),
    ("nov 17, 2027 at 8", "at 2027-11-17 08:00"),
    ("17th nov 2027 at 8", "at 2027-11-17 08:00"),
    ("fifth mon of feb at 9", "at 2044-02-29 09:00"),
    ("every fifth mon of feb at 9", "every fifth mon of feb at 09:00"),
    ("every 2 weeks on tue at 19:00 starting 2026-12-01", "every 2 weeks on tue at 19:00 starting 2026-12-01"),
    ("every other week on mon,thu at 8", "every 2 weeks on mon,thu at 08:00 starting 2026-11-20"),
    ("every 3 days at 9 starting 2026-12-01", "every 3 days at 09:00 starting 2026-12-01"),
    ("every second tuesday at 9", "every 2 weeks on tue at 09:00 starting 2026-11-20"),
    ("every second tuesday of month at 9", "second tue of month at 09:00"),
    ("every second", "every 1s starting 2026-11-20T22:22:14Z"),
    ("every second day at 9", "every 2 days at 09:00 starting 2026-11-20"),
    ("every second day of month at 9", "day 2 of month at 09:00"),
    ("every other day at 9", "every 2 days at 09:00 starting 2026-11-20"),
    ("every other tue and thu at 9", "every 2 weeks on tue,thu at 09:00 starting 2026-11-20"),
    ("every third week on mon at 9", "every 3 weeks on mon at 09:00 starting 2026-11-20"),
    ("every 3rd day at 9", "every 3 days at 09:00 starting 2026-11-20"),
    ("every fortnight on mon at 9", "every 2 weeks on mon at 09:00 starting 2026-11-20"),
    ("fortnightly on mon at 9", "every 2 weeks on mon at 09:00 starting 2026-11-20"),
    ("weekly on mon at 9", "every mon at 09:00"),
    ("every week on mon at 9", "every mon at 09:00"),
    ("every 2 days at 9", "every 2 days at 09:00 starting 2026-11-20"),
    ("every 2d", "every 2 days at 09:00 starting 2026-11-20"),
    ("every day after done at 9", "every day after done at 09:00 starting 2026-11-21"),
    ("every 3 days after done at 9", "every 3 days after done at 09:00 starting 2026-11-23"),
    ("every 4h after done", "every 4h after done starting 2026-11-21T02:22:13Z"),
    ("every 2 weeks after done at 8:30", "every 2 weeks after done at 08:30 starting 2026-12-04"),
    ("every 3 days after done", "every 3 days after done at 09:00 starting 2026-11-23"),
    ("every 72h after done", "every 72h after done starting 2026-11-23T22:22:13Z"),
    (
      "every 3 days after done at 9 until 2026-12-24 except 2026-12-01",
      "every 3 days after done at 09:00 starting 2026-11-23 until 2026-12-24 except 2026-12-01"
    ),
    ("every week after done at 9", "every week after done at 09:00 starting 2026-11-27"),
    ("15th of month at 9", "day 15 of month at 09:00"),
    ("daily at 8 except on holidays", "daily at 08:00 except on holidays"),
    ("daily at 8 except on holidays, 2026-12-28", "daily at 08:00 except on holidays,2026-12-28"),
    ("daily at 8 except dec 24..dec 26", "daily at 08:00 except dec 24..dec 26"),
    (
      "daily at 8 except dec 24 to jan 2, on holidays and 2026-11-30 until 2027-02-01",
      "daily at 08:00 until 2027-02-01 except on holidays,2026-11-30,dec 24..jan 2"
    ),
    ("daily at 8 except dec 24, 2026-12-28", "daily at 08:00 except 2026-12-28,dec 24"),
    ("daily at 8 except dec 24, 2026", "daily at 08:00 except 2026-12-24"),
    ("every 2 days at 9 3 times", "every 2 days at 09:00 starting 2026-11-20 23:22:14 3 times"),
    ("every 1h on last day of month", "every 1h on last day of month starting 2026-11-20T23:22:13Z"),
    ("every 90m from 8 to 22 on nov 17,dec 24", "every 90m from 08:00 to 22:00 on nov 17,dec 24"),
    ("every second weekend at 9", "every 2 weeks on weekends at 09:00 starting 2026-11-20"),
    ("every first mon of month at 9", "first mon of month at 09:00"),
    ("every day 1 of month at 9", "day 1 of month at 09:00"),
    ("last fri of month at 9 until 2027-01-01", "last fri of month at 09:00 until 2027-01-01"),
    ("every day 1 of jan, feb 3 at 9", "every jan 1,feb 3 at 09:00"),
    ("every day 1 of jan,feb at 9", "every jan 1,feb 1 at 09:00"),
    ("at 9 every day 1 of jan,feb 3 times", "every jan 1,feb 1 at 09:00 starting 2026-11-20T22:22:14Z 3 times"),
    ("at 9 every nov 17, 3 times", "every nov 17 at 09:00 starting 2026-11-20T22:22:14Z 3 times"),
    ("every day at 8", "daily at 08:00"),
    ("at 9 nov 17, 2027", "at 2027-11-17 09:00"),
    ("at 9 nov 2027 17:00", "at 2027-11-09 17:00"),
    ("every second last day of month at 9", "second last day of month at 09:00"),
    ("every second, fourth mon of month at 9", "second mon,fourth mon of month at 09:00"),
    ("tenth weekday of month at 9", "10th weekday of month at 09:00"),
    ("23rd weekday of month at 9", "23rd weekday of month at 09:00"),
    ("31st last day of month at 9", "31st last day of month at 09:00"),
    ("every second and last mon of month at 9", "second mon,last mon of month at 09:00"),

    // Bounds.
    ("each day at 8 starting now", "daily at 08:00 starting 2026-11-20T22:22:13Z"),
    ("daily at 8 until monday at 12", "daily at 08:00 until 2026-11-23 12:00"),
    ("daily at 8 starting 2026-12-01", "daily at 08:00 starting 2026-12-01"),
    (
      "daily at 8 until 2026-12-31 starting 2026-12-01 12:00",
      "daily at 08:00 starting 2026-12-01 12:00 until 2026-12-31"
    ),
    ("daily at 8 10 times", "daily at 08:00 starting 2026-11-20T22:22:14Z 10 times"),
    ("daily at 8, 10 times", "daily at 08:00 starting 2026-11-20T22:22:14Z 10 times"),
    ("every 45m 3 times", "every 45m starting 2026-11-20T23:07:13Z 3 times"),
    ("daily at 8 starting tomorrow", "daily at 08:00 starting 2026-11-21"),
    ("daily at 8 starting monday 5 times", "daily at 08:00 starting 2026-11-23 5 times"),
    ("daily at 8 except 2026-12-24", "daily at 08:00 except 2026-12-24"),
    ("daily at 8 except 2026-12-24..2026-12-26", "daily at 08:00 except 2026-12-24..2026-12-26"),
    (
      "daily at 8 except 2026-12-24 to 2026-12-26 and 24 dec 2027",
      "daily at 08:00 except 2026-12-24..2026-12-26,2027-12-24"
    ),
    (
      "daily at 8 except 2026-12-26, 2026-12-24,2026-12-25 until 2027-01-31",
      "daily at 08:00 until 2027-01-31 except 2026-12-24..2026-12-26"
    ),
    (
      "daily at 8, except 2026-12-24, until 2027-01-31, 10 times",
      "daily at 08:00 starting 2026-11-20T22:22:14Z until 2027-01-31 10 times except 2026-12-24"
    ),
    ("daily at 8 until 2026-12-01T10:00:00Z", "daily at 08:00 until 2026-12-01T10:00:00Z"),
    ("\tdaily \u{a0}at\n8 ", "daily at 08:00"),
  ]

  @Test(arguments: table) func phrasesHaveTheirCanonicalForm(text: String, canonical: String) throws {
    let scheduleContext = ScheduleContext(
      zone: try zone("Europe/Prague"), calendar: { Self.calendars.contains($0) ? [] : nil })
    let schedule = try Schedule.parse(text, now: friday, in: scheduleContext)
    #expect(schedule.canonical == canonical)
    #expect(schedule.dialect == .phrase)
    let again = try Schedule(canonical: canonical)
    #expect(again == schedule)
    #expect(again.canonical == canonical)
    #expect(try Schedule.parse(canonical, now: friday, in: scheduleContext) == schedule)
  }

  /// From Friday across the DST change of 29 March 2026: Monday 30 March 08:30 in summer time.
  @Test func weekdaysSpanTheSpringClockChange() throws {
    let prague = try zone("Europe/Prague")
    let after = Instant(seconds: 1_774_600_000)
    let schedule = try Schedule.parse("weekdays at 8:30", now: after, zone: prague)
    let next = schedule.timetable(in: prague).next(after: after)
    #expect(next == Instant(seconds: 1_774_852_200))
    #expect(next == instant("2026-03-30T08:30:00+02:00"))
  }
}
