import ChimeSchedule
import Testing

/// Rejected texts: the error's code, column, suggestion and message. Now is Friday 2026-11-20 23:22:13 in Prague.
@Suite struct ErrorTests {
  struct Row: Sendable {
    var text: String
    var code: ScheduleError.Code = .invalidSchedule
    var column: Int?
    var suggestion: String?
    var message: String

    init(
      _ text: String, _ code: ScheduleError.Code = .invalidSchedule, at column: Int?, try suggestion: String? = nil,
      _ message: String
    ) {
      (self.text, self.code, self.column, self.suggestion, self.message) = (text, code, column, suggestion, message)
    }
  }

  static let table: [Row] = [
    Row("every 90n", at: 9, try: "every 90m", #"every 90n: "n" is not a unit of time (column 9); did you mean 90m?"#),
    Row("every 90", at: 7, #"every 90: "90" needs a unit of time (column 7); expected one, as in 90 minutes"#),
    Row(
      "every 90 from 8 to 22", at: 7,
      #"every 90 from 8 to 22: "90" needs a unit of time (column 7); expected one, as in 90 minutes"#),
    Row(
      "every 5 mintues", at: 9, try: "every 5 minutes",
      #"every 5 mintues: "mintues" is not a unit of time (column 9); did you mean 5 minutes?"#),
    Row(
      "every 0m", .outOfRange, at: 7,
      #"every 0m: an interval has whole seconds, and at least one (column 7); expected an interval of 1s or more"#),
    Row(
      "every 500ms", .outOfRange, at: 7,
      #"every 500ms: an interval has whole seconds, and at least one (column 7); expected an interval of 1s or more"#),
    Row("every 1h 2h", at: 10, #"every 1h 2h: "2h" repeats a unit of time (column 10); expected each unit once"#),
    Row(
      "every 99999999999999999999m", .outOfRange, at: 7,
      #"every 99999999999999999999m: "99999999999999999999m" is too long (column 7); expected less than 8030 years"#),
    Row(
      "every 36h on mon", at: 14,
      #"every 36h on mon: an interval of more than a day cannot be limited to days of the week (column 14); expected an interval of at most 1d"#
    ),
    Row(
      "every 2d from 8 to 22", at: 7,
      #"every 2d from 8 to 22: an interval of more than a day does not fit a daily window (column 7); expected an interval of at most 1d"#
    ),
    Row(
      "every", at: 6,
      #"every: the end of the schedule is missing (column 6); expected a duration like 90m, or days like mon,wed"#),
    Row(
      "every blue moon", at: 7,
      #"every blue moon: "blue" is not days or a duration (column 7); expected a duration like 90m, or days like mon,wed"#
    ),
    Row(
      "every mondya at 7", at: 7, try: "every monday at 7",
      #"every mondya at 7: "mondya" is not days or a duration (column 7); did you mean monday?"#),
    Row(
      "every 90m from 8", at: 17,
      #"every 90m from 8: the end of the window is missing (column 17); expected "to" and a time"#),
    Row(
      "every 90m from 8 to", at: 20,
      #"every 90m from 8 to: the end of the schedule is missing (column 20); expected a time like 8, 8:30, 8am or noon"#
    ),
    Row(
      "every 90m form 8 to 22", at: 11, try: "every 90m from 8 to 22",
      #"every 90m form 8 to 22: "form" is not allowed here (column 11); did you mean from?"#),
    Row(
      "weekdys at 8", at: 1, try: "weekdays at 8",
      #"weekdys at 8: "weekdys" cannot begin a schedule (column 1); did you mean weekdays?"#),
    Row(
      "dayly at 8", at: 1, try: "daily at 8",
      #"dayly at 8: "dayly" cannot begin a schedule (column 1); did you mean daily?"#),
    Row(
      "tuseday at 9", at: 1, try: "tuesday at 9",
      #"tuseday at 9: "tuseday" cannot begin a schedule (column 1); did you mean tuesday?"#),
    Row(
      "weekdays at", at: 12,
      #"weekdays at: the end of the schedule is missing (column 12); expected a time like 8, 8:30, 8am or noon"#),
    Row(
      "weekdays ta 8", at: 10, try: "weekdays at 8",
      #"weekdays ta 8: "ta" is not allowed after days (column 10); did you mean at?"#),
    Row(
      "weekdays at 25", at: 13,
      #"weekdays at 25: "25" is not an hour of the day (column 13); expected an hour from 0 to 23"#),
    Row(
      "weekdays at 8:60", at: 15, #"weekdays at 8:60: "60" is no minute (column 15); expected two digits from 00 to 59"#
    ),
    Row(
      "weekdays at 8:5", at: 15, try: "weekdays at 8:05",
      #"weekdays at 8:5: "5" is no minute (column 15); did you mean 8:05?"#),
    Row(
      "weekdays at 24:00", at: 13,
      #"weekdays at 24:00: "24" is not an hour of the day (column 13); expected an hour from 0 to 23"#),
    Row(
      "daily at 13pm", at: 10,
      #"daily at 13pm: "13" is not an hour of a twelve-hour clock (column 10); expected an hour from 1 to 12"#),
    Row(
      "daily at noonn", at: 10, try: "daily at noon",
      #"daily at noonn: "noonn" is not a time of day (column 10); did you mean noon?"#),
    Row(
      "daily at 8 and", at: 15,
      #"daily at 8 and: the end of the schedule is missing (column 15); expected a time like 8, 8:30, 8am or noon"#),
    Row(
      "daily at 8,", at: 12,
      #"daily at 8,: the end of the schedule is missing (column 12); expected a time like 8, 8:30, 8am or noon"#),
    Row(
      "mon-fry at 8", at: 5, try: "mon-fri at 8",
      #"mon-fry at 8: "fry" is not a day of the week (column 5); did you mean fri?"#),
    Row(
      "mon,, fri at 8", at: 5,
      #"mon,, fri at 8: "," is not a day of the week (column 5); expected a day of the week (mon, tue, … sun)"#),
    Row(
      "weekdys at 8 untl 2026-12-31", at: 1, try: "weekdays at 8 until 2026-12-31",
      #"weekdys at 8 untl 2026-12-31: "weekdys" cannot begin a schedule (column 1); did you mean weekdays?"#),
    Row(
      "daily at 8 unitl 2026-12-31", at: 12, try: "daily at 8 until 2026-12-31",
      #"daily at 8 unitl 2026-12-31: "unitl" is not allowed here (column 12); did you mean until?"#),
    Row(
      "daily at 8 foo", at: 12,
      #"daily at 8 foo: "foo" is not allowed here (column 12); expected "starting", "until", "except", a number of times, or the end"#
    ),
    Row(
      "friday at 9 and 17", at: 1, try: "every friday at 9 and 17",
      #"friday at 9 and 17: a single day takes one time (column 1); did you mean every fri?"#),
    Row(
      "friday at 9 10 times", at: 13, try: "every friday at 9 10 times",
      #"friday at 9 10 times: "10" cannot be used with a single moment (column 13); did you mean every fri?"#),
    Row(
      "at 9 and 17", at: 4,
      #"at 9 and 17: a single moment has one time (column 4); expected one time, or days like "daily""#),
    Row(
      "at 9 10 times", at: 6, try: "daily at 9 10 times",
      #"at 9 10 times: "10" cannot be used with a single moment (column 6); did you mean daily at?"#),
    Row(
      "at 2026-12-01 9 3 times", at: 17,
      #"at 2026-12-01 9 3 times: "3" cannot be used with a single moment (column 17); expected the end, or a recurring schedule like "every fri at 9""#
    ),
    Row(
      "tomorrow 25:00", at: 10,
      #"tomorrow 25:00: "25" is not an hour of the day (column 10); expected an hour from 0 to 23"#),
    Row(
      "today at 9", .neverOccurs, at: 1, try: "tomorrow at 9",
      #"today at 9: 2026-11-20 09:00 has passed (column 1); did you mean tomorrow?"#),
    Row("25m", at: 1, try: "in 25m", #"25m: "25" cannot begin a schedule (column 1); did you mean in 25m?"#),
    Row(
      "", at: 1,
      #"the schedule is missing (column 1); expected a schedule like "weekdays at 8:30", "every 90m" or "in 25m""#),
    Row(
      "   ", at: 4,
      #"   : the schedule is missing (column 4); expected a schedule like "weekdays at 8:30", "every 90m" or "in 25m""#),
    Row(
      "hello", at: 1,
      #"hello: "hello" cannot begin a schedule (column 1); expected a schedule like "weekdays at 8:30", "every 90m" or "in 25m""#
    ),
    Row(
      "h", at: 1,
      #"h: "h" cannot begin a schedule (column 1); expected a schedule like "weekdays at 8:30", "every 90m" or "in 25m""#
    ),
    Row(
      "🐱 at 8", at: 1,
      #"🐱 at 8: "🐱" cannot begin a schedule (column 1); expected a schedule like "at 8""#
    ),
    Row(
      "každý den v 8", at: 1,
      #"každý den v 8: "každý" cannot begin a schedule (column 1); expected a schedule like "weekdays at 8:30", "every 90m" or "in 25m""#
    ),
    Row(
      "at 2020-01-01 09:00", .neverOccurs, at: nil,
      #"at 2020-01-01 09:00: 2020-01-01 09:00 has passed (now it is 2026-11-20T23:22:13+01:00); expected a future moment"#
    ),
    Row(
      "daily at 8 until 2020-01-01", .neverOccurs, at: nil,
      #"daily at 8 until 2020-01-01: it has no occurrence between now and its end, 2020-01-01 (now it is 2026-11-20T23:22:13+01:00); expected a future occurrence"#
    ),
    Row(
      "daily at 8 except 1970-01-01..9999-12-31", .neverOccurs, at: nil,
      #"daily at 8 except 1970-01-01..9999-12-31: its bounds leave no future occurrence (now it is 2026-11-20T23:22:13+01:00); expected a future occurrence"#
    ),
    Row(
      "daily at 8 starting 2027-01-01 until 2026-12-31", .neverOccurs, at: nil,
      #"daily at 8 starting 2027-01-01 until 2026-12-31: it has no occurrence between now and its end, 2026-12-31 (now it is 2026-11-20T23:22:13+01:00); expected a future occurrence"#
    ),
    Row(
      "at 1969-12-31 09:00", .outOfRange, at: 4,
      #"at 1969-12-31 09:00: "1969" lies outside the years 1970–9999 (column 4); expected a year from 1970 to 9999"#),
    Row(
      "at 10000-01-01 09:00", .outOfRange, at: 4,
      #"at 10000-01-01 09:00: "10000" lies outside the years 1970–9999 (column 4); expected a year from 1970 to 9999"#),
    Row(
      "at 2026-02-30 09:00", at: 4,
      #"at 2026-02-30 09:00: "2026-02-30" is not a day of the calendar (column 4); expected a day from 1 to 28 in that month"#
    ),
    Row(
      "at 2026-13-01 09:00", at: 4,
      #"at 2026-13-01 09:00: "2026-13-01" is not a day of the calendar (column 4); expected a month from 01 to 12"#),
    Row(
      "at 26-12-01 9:00", at: 4,
      #"at 26-12-01 9:00: "26" is not an hour of the day (column 4); expected an hour from 0 to 23"#),
    Row(
      "at 2026-12-01T09:00:00+1:00", at: 24,
      #"at 2026-12-01T09:00:00+1:00: this is not an offset from UTC (column 24); expected Z or an offset like +01:00"#),
    Row(
      "at 9999-12-31T23:00:00-05:00", .outOfRange, at: 4,
      #"at 9999-12-31T23:00:00-05:00: "9999-12-31T23:00:00-05:0…" lies outside the years 1970–9999 (column 4); expected a year from 1970 to 9999"#
    ),
    Row(
      "in 420000w", .outOfRange, at: 4, #"in 420000w: "420000w" is too long (column 4); expected less than 8030 years"#),
    Row("in 0s", .outOfRange, at: 4, #"in 0s: this is less than a second (column 4); expected at least 1s"#),
    Row("in", at: 3, #"in: a duration is missing (column 3); expected a number with a unit, like 90m or 1h30m"#),
    Row(
      "daily at 8 0 times", .outOfRange, at: 12,
      #"daily at 8 0 times: "0" is not a possible number of times (column 12); expected a number from 1 to 10000"#),
    Row(
      "daily at 8 10001 times", .outOfRange, at: 12,
      #"daily at 8 10001 times: "10001" is not a possible number of times (column 12); expected a number from 1 to 10000"#
    ),
    Row(
      "daily at 8 until 2027-01-01 until 2028-01-01", at: 29,
      #"daily at 8 until 2027-01-01 until 2028-01-01: "until" occurs twice (column 29); expected each bound once"#),
    Row(
      "daily at 8 except 2026-12-26..2026-12-24", at: 19, try: "daily at 8 except 2026-12-24..2026-12-26",
      #"daily at 8 except 2026-12-26..2026-12-24: the range of dates ends before it begins (column 19); did you mean 2026-12-24..2026-12-26?"#
    ),
    Row(
      "sunset - 30m", at: 1,
      #"sunset - 30m: the sun needs a place: set [place] latitude and longitude in chimed.toml or give --place (column 1); expected one, as in --place 50.0875,14.4213"#
    ),
    Row("daily at 8\0", at: 11, #"daily at 8\u{0}: a control character (\u{0}) (column 11); expected printable text"#),
    Row(
      "daily\u{1B}[31m at 8", at: 6,
      #"daily\u{1b}[31m at 8: a control character (\u{1b}) (column 6); expected printable text"#),
    Row(
      "daily at\u{7F}8", at: 9,
      #"daily at\u{7f}8: a control character (\u{7f}) (column 9); expected printable text"#),
    Row(
      "mon at 9 starting 2027-01-01", at: 10, try: "every mon at 9 starting 2027-01-01",
      #"mon at 9 starting 2027-01-01: "starting" cannot be used with a single moment (column 10); did you mean every mon?"#
    ),
    Row(
      "every 45m in 5m", at: 11,
      #"every 45m in 5m: "in" is not allowed here (column 11); expected "starting", "until", "except", a number of times, or the end"#
    ),
    Row(
      "daily at 8 except on holidays", at: 22,
      #"daily at 8 except on holidays: there is no calendar named "holidays" (column 22); expected the name of a calendar in the configuration"#
    ),
    Row(
      "daily at 8 except on", at: 21,
      #"daily at 8 except on: the exceptions are missing (column 21); expected a date, or a name of letters, digits, - and _"#
    ),
    Row(
      "daily at 8 except on friday-list-ü", at: 22,
      #"daily at 8 except on friday-list-ü: there is no calendar named "friday-list-" (column 22); expected the name of a calendar in the configuration"#
    ),
    Row(
      "daily at 8 except blue", at: 19,
      #"daily at 8 except blue: "blue" is not a date (column 19); expected a date like 2026-12-24, or "on" and the name of a calendar"#
    ),
    Row(
      "daily at 8 except dec 24..2026-12-26", at: 27,
      #"daily at 8 except dec 24..2026-12-26: a range of days of each year ends with a day of each year (column 27); expected a date without a year, like dec 26, or a year in both"#
    ),
    Row(
      "daily at 8 except dec 32", at: 23,
      #"daily at 8 except dec 32: "32" is not a day of a month (column 23); expected a day from 1 to 31"#),
    Row(
      "feb 30 at 8", .neverOccurs, at: 1,
      #"feb 30 at 8: "feb 30" never comes (column 1); expected days that these months have"#),
    Row(
      "day 30 of feb at 9", .neverOccurs, at: 1,
      #"day 30 of feb at 9: "day 30 of feb" never comes (column 1); expected days that these months have"#),
    Row(
      "day 31 of apr,jun at 9", .neverOccurs, at: 1,
      #"day 31 of apr,jun at 9: "day 31 of apr,jun" never comes (column 1); expected days that these months have"#),
    Row(
      "6th mon of month at 9", .neverOccurs, at: 1,
      #"6th mon of month at 9: no month has more than 5 of these (column 1); expected a place from 1 to 5"#),
    Row(
      "24th weekday of month at 9", .neverOccurs, at: 1,
      #"24th weekday of month at 9: no month has more than 23 of these (column 1); expected a place from 1 to 23"#),
    Row(
      "32nd of month at 9", .neverOccurs, at: 1,
      #"32nd of month at 9: no month has more than 31 days (column 1); expected a place from 1 to 31"#),
    Row(
      "day 32 of month at 9", at: 5,
      #"day 32 of month at 9: "32" is not a day of a month (column 5); expected a day from 1 to 31"#),
    Row(
      "day 15-1 of month at 9", at: 5, try: "day 1-15 of month at 9",
      #"day 15-1 of month at 9: the run of days ends before it begins (column 5); did you mean 1-15?"#),
    Row(
      "every 2 weeks on day 1 at 9", at: 18,
      #"every 2 weeks on day 1 at 9: "day" is not a day of the week (column 18); expected a day of the week (mon, tue, … sun)"#
    ),
    Row(
      "every month on 5 at 9", at: 16, try: "every month on day 5 at 9",
      #"every month on 5 at 9: "5" needs "day" before it (column 16); did you mean day 5?"#),
    Row(
      "every 3 months on day 1 of month at 9", at: 25,
      #"every 3 months on day 1 of month at 9: "of" cannot be used with a count of months (column 25); expected days without "of", as in "every 3 months on day 1""#
    ),
    Row(
      "every 2 months on nov 17 at 9", at: 16,
      #"every 2 months on nov 17 at 9: "on nov 17" is a single day, and this recurs (column 16); expected one of the two, or the day after "starting", as in "every 2 weeks starting tomorrow""#
    ),
    Row(
      "every 3 monts on day 1 at 9", at: 9, try: "every 3 months on day 1 at 9",
      #"every 3 monts on day 1 at 9: "monts" is neither a unit of time nor months or years (column 9); did you mean months?"#
    ),
    Row(
      "every 2 years on 5 at 9", at: 18,
      #"every 2 years on 5 at 9: "5" is not a date of each year (column 18); expected a date like nov 17, or days like "last fri of mar""#
    ),
    Row(
      "every 4 years on feb 29 at 9", .neverOccurs, at: nil,
      #"every 4 years on feb 29 at 9: its bounds leave no future occurrence (now it is 2026-11-20T23:22:13+01:00); expected a future occurrence"#
    ),
    Row(
      "every 0 days at 9", .outOfRange, at: 7,
      #"every 0 days at 9: "0" is not a possible number of steps (column 7); expected a number from 1 to 2932896"#),
    Row(
      "every 3000000 days at 9", .outOfRange, at: 7,
      #"every 3000000 days at 9: "3000000" is not a possible number of steps (column 7); expected a number from 1 to 2932896"#
    ),
    Row(
      "last friday at 9", at: 13, try: "last friday of month at 9",
      #"last friday at 9: the month of these days is missing (column 13); did you mean last friday of month?"#),
    Row(
      "first mon at 9", at: 11, try: "first mon of month at 9",
      #"first mon at 9: the month of these days is missing (column 11); did you mean first mon of month?"#),
    Row(
      "first mon month at 9", at: 11, try: "first mon of month at 9",
      #"first mon month at 9: "month" needs "of" before it (column 11); did you mean of month?"#),
    Row(
      "first mon of mnth at 9", at: 14, try: "first mon of month at 9",
      #"first mon of mnth at 9: "mnth" is not a month (column 14); did you mean month?"#),
    Row(
      "first mon,wed of month at 9", at: 11, try: "first mon,first wed of month at 9",
      #"first mon,wed of month at 9: "wed" does not say which one of the month (column 11); did you mean first wed?"#),
    Row(
      "frist mon of month at 9", at: 1, try: "first mon of month at 9",
      #"frist mon of month at 9: "frist" cannot begin a schedule (column 1); did you mean first?"#),
    Row(
      "thrid tue of month at 9", at: 1, try: "third tue of month at 9",
      #"thrid tue of month at 9: "thrid" cannot begin a schedule (column 1); did you mean third?"#),
    Row(
      "lst day of month at 9", at: 1, try: "last day of month at 9",
      #"lst day of month at 9: "lst" cannot begin a schedule (column 1); did you mean last?"#),
    Row(
      "novmber 17 at 8", at: 1, try: "november 17 at 8",
      #"novmber 17 at 8: "novmber" cannot begin a schedule (column 1); did you mean november?"#),
    Row("nov at 8", at: 5, #"nov at 8: "at" is not a day of a month (column 5); expected a day from 1 to 31"#),
    Row(
      "nov 17, foo at 9", at: 9,
      #"nov 17, foo at 9: "foo" is not a day of a month (column 9); expected a date like nov 17, or days like "last day of month""#
    ),
    Row(
      "15 of month at 9", at: 1, try: "day 15 of month at 9",
      #"15 of month at 9: "15" cannot begin a schedule (column 1); did you mean day 15 of month at 9?"#),
    Row(
      "friday of month at 9", at: 8,
      #"friday of month at 9: a place in the month is missing (column 8); expected a place before the day, as in "first fri of month" or "last day of month""#
    ),
    Row(
      "every other weekday at 9", at: 13,
      #"every other weekday at 9: working days cannot be counted in turns (column 13); expected days of every so many weeks, as in "every 2 weeks on mon,wed,fri""#
    ),
    Row(
      "every other foo at 9", at: 13,
      #"every other foo at 9: "foo" cannot be used with "every other" (column 13); expected "day", "week", "month", "year" or a day like tue"#
    ),
    Row(
      "every 48h at 9", at: 11,
      #"every 48h at 9: an interval takes no time of day (column 11); expected a number of days, as in "every 3 days at 9""#
    ),
    Row(
      "every 45m at 9", at: 11,
      #"every 45m at 9: an interval takes no time of day (column 11); expected a number of days, as in "every 3 days at 9""#
    ),
    Row(
      "every 2d on mon at 9", at: 13,
      #"every 2d on mon at 9: an interval of more than a day cannot be limited to days of the week (column 13); expected an interval of at most 1d"#
    ),
    Row(
      "at 9 every 2h", at: 4,
      #"at 9 every 2h: an interval takes no time of day (column 4); expected days, or a part of the day, as in "every 2h from 8 to 18""#
    ),
    Row(
      "at 9 every 2 weks", at: 12,
      #"at 9 every 2 weks: an interval takes no time of day (column 12); expected days, or "from" and "to" after it"#),
    Row(
      "every month after done at 9", at: 1,
      #"every month after done at 9: only days, weeks or an interval can count from completion (column 1); expected a schedule like "every 3 days after done at 9""#
    ),
    Row(
      "every 48h after done at 9", at: 22,
      #"every 48h after done at 9: an interval takes no time of day (column 22); expected a number of days, as in "every 3 days at 9""#
    ),
    Row(
      "every 3 days after dinner", at: 20,
      #"every 3 days after dinner: "dinner" is not allowed after "after" (column 20); expected "done""#),
    Row(
      "every 3 days after done at 9 3 times", at: 30,
      #"every 3 days after done at 9 3 times: a schedule that counts from completion cannot have a number of times, because each answer moves it (column 30); expected "until" and a date"#
    ),
    Row(
      "daily at sunset", at: 10,
      #"daily at sunset: the sun needs a place: set [place] latitude and longitude in chimed.toml or give --place (column 10); expected one, as in --place 50.0875,14.4213"#
    ),
    Row(
      "Mon..Fri *-*-* 09:00", at: 10, try: "calendar: Mon..Fri *-*-* 09:00",
      #"Mon..Fri *-*-* 09:00: the time is missing (column 10); did you mean calendar: Mon..Fri *-*-* 09:00?"#),
    Row(
      "*-*-01 09:00", at: 1, try: "calendar: *-*-01 09:00",
      #"*-*-01 09:00: "*" cannot begin a schedule (column 1); did you mean calendar: *-*-01 09:00?"#),
    Row(
      "BEGIN:VEVENT DTSTART:20261201T090000", at: 1,
      #"BEGIN:VEVENT DTSTART:20261201T090000: this is a part of a calendar file (column 1); expected only its DTSTART and RRULE lines; whole files are imported (chime import FILE)"#
    ),
  ]

  static func withoutExample(_ message: String) -> (said: String, example: String?) {
    guard let found = message.firstRange(of: "; for example \"") else { return (message, nil) }
    return (String(message[..<found.lowerBound]), String(message[found.upperBound...].dropLast()))
  }

  @Test(arguments: table) func refusesInvalidPhrases(_ row: Row) throws {
    let prague = try zone("Europe/Prague")
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(row.text, now: friday, zone: prague) }
    guard let error else { return }
    #expect(error.code == row.code)
    #expect(error.column == row.column)
    #expect(error.suggestion == row.suggestion)
    // The rest of the message is an example of a schedule.
    let (said, example) = Self.withoutExample(error.message)
    #expect(said == row.message)
    if let example { #expect(throws: Never.self) { try Schedule.parse(example, now: friday, zone: prague) } }
    guard let suggestion = error.suggestion else { return }
    #expect(throws: Never.self) { try Schedule.parse(suggestion, now: friday, zone: prague) }
  }
}
