import ChimeSchedule
import Testing

/// Text → canonical form → the same value. Now is Friday 2026-11-20 23:22:13 in Prague.
@Suite struct CanonicalTests {
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
    ("in 2 days", "at 2026-11-22T22:22:13Z"),
    ("in an hour and 5 minutes", "at 2026-11-20T23:27:13Z"),
    ("IN 1W", "at 2026-11-27T22:22:13Z"),

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
    ("every 2 days starting 2026-12-01", "every 2d starting 2026-12-01"),
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

  @Test(arguments: table) func canonicalForm(text: String, canonical: String) throws {
    let prague = try zone("Europe/Prague")
    let schedule = try Schedule.parse(text, now: friday, zone: prague)
    #expect(schedule.canonical == canonical)
    #expect(schedule.dialect == .phrase)
    let again = try Schedule(canonical: canonical)
    #expect(again == schedule)
    #expect(again.canonical == canonical)
    #expect(try Schedule.parse(canonical, now: friday, zone: prague) == schedule)
  }

  /// From Friday over the change of 29 March 2026: Monday 30 March 08:30 in summer time.
  @Test func weekdaysAcrossTheSpringChange() throws {
    let prague = try zone("Europe/Prague")
    let after = Instant(seconds: 1_774_600_000)
    let schedule = try Schedule.parse("weekdays at 8:30", now: after, zone: prague)
    let next = schedule.timetable(in: prague).next(after: after)
    #expect(next == Instant(seconds: 1_774_852_200))
    #expect(next == instant("2026-03-30T08:30:00+02:00"))
  }
}
