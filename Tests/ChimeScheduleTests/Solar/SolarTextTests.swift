import Testing

@testable import ChimeSchedule

/// Solar schedules as users write them: understood, distinguished from phrases, or rejected. Now is Friday 2026-11-20
/// 23:22:13.
@Suite struct SolarTextTests {
  static let prague = Place(latitude: 50.0875, longitude: 14.4213)

  static let table: [(text: String, canonical: String)] = [
    ("sunrise", "sunrise"), ("sunset", "sunset"), ("SunSet", "sunset"), ("sunup", "sunrise"), ("sundown", "sunset"),
    ("dawn", "dawn"), ("dusk", "dusk"), ("civil dawn", "dawn"), ("civil dusk", "dusk"),
    ("nautical dawn", "nautical dawn"), ("nautical dusk", "nautical dusk"),
    ("astronomical dawn", "astronomical dawn"), ("astronomical dusk", "astronomical dusk"),
    ("solar noon", "solar noon"), ("solar midday", "solar noon"), ("at solar noon", "solar noon"),
    ("daily at solar noon", "solar noon"), ("at sunset", "sunset"), ("daily at sunset", "sunset"),
    ("every day at sunset", "sunset"), ("everyday at sunset", "sunset"), ("every sunset", "sunset"),
    ("each dawn", "dawn"), ("sunset daily", "sunset"), ("sunset every day", "sunset"),
    ("sunset - 30m", "sunset - 30m"), ("sunset -30m", "sunset - 30m"), ("sunset-30m", "sunset - 30m"),
    ("sunset \u{2013} 30m", "sunset - 30m"), ("sunset \u{2212} 30m", "sunset - 30m"),
    ("sunset\u{2013}30m", "sunset - 30m"), ("at\u{A0}sunset\u{202F}-\u{A0}30m", "sunset - 30m"),
    ("sunset \u{2212}30m", "sunset - 30m"), ("sunset + 1h30m", "sunset + 90m"), ("sunset + 0m", "sunset"),
    ("sunset + 2h 5 min", "sunset + 2h5m"), ("sunrise + 12h", "sunrise + 12h"), ("dusk - 12h", "dusk - 12h"),
    ("sunset + 15s", "sunset + 15s"), ("sunset + an hour", "sunset + 1h"),
    ("30m before sunset", "sunset - 30m"), ("1h after sunrise", "sunrise + 1h"),
    ("an hour after sunset", "sunset + 1h"), ("at 30 minutes before nautical dawn", "nautical dawn - 30m"),
    ("1 hour and 30 minutes before solar noon", "solar noon - 90m"),
    ("30m before sunset on weekdays", "sunset - 30m on weekdays"),
    ("weekdays 30m before sunset", "sunset - 30m on weekdays"),
    ("daily 10m after dusk", "dusk + 10m"), ("every day 10m after dusk", "dusk + 10m"),
    ("sunset + 1h on fri", "sunset + 1h on fri"), ("sunset - 30m on fri,sat", "sunset - 30m on fri,sat"),
    ("every fri at sunset - 30m", "sunset - 30m on fri"), ("fridays at sunset", "sunset on fri"),
    ("on fridays at sunset", "sunset on fri"), ("weekdays at sunrise", "sunrise on weekdays"),
    ("mon, wed and fri at dawn", "dawn on mon,wed,fri"), ("fri-mon at dusk", "dusk on fri-mon"),
    ("weekends at astronomical dusk", "astronomical dusk on weekends"), ("sunset every fri", "sunset on fri"),
    ("sunset weekdays", "sunset on weekdays"), ("sunset on mon-sun", "sunset"), ("at sunset on fri", "sunset on fri"),
    ("sunset until 2026-12-31", "sunset until 2026-12-31"),
    ("sunset starting 2026-12-01", "sunset starting 2026-12-01"),
    (
      "sunset on fri starting 2026-12-01 09:00 until 2027-06-01T00:00:00Z",
      "sunset on fri starting 2026-12-01 09:00 until 2027-06-01T00:00:00Z"
    ),
    ("sunset 3 times", "sunset starting 2026-11-20T22:22:14Z 3 times"),
    ("sunset, 3 times, starting 2026-12-01", "sunset starting 2026-12-01 3 times"),
    (
      "sunset on fri except 2026-12-24..2026-12-26 except 2026-12-25",
      "sunset on fri except 2026-12-24..2026-12-26"
    ),
    (
      "civil dawn + 5m on weekdays until 2027-01-01 except 2026-12-25",
      "dawn + 5m on weekdays until 2027-01-01 except 2026-12-25"
    ),
    ("solar noon", "solar noon"), (" Solar Noon + 10m on sat", "solar noon + 10m on sat"),
    ("  \tsunset", "sunset"), ("sunset 1000 times", "sunset starting 2026-11-20T22:22:14Z 1000 times"),
  ]

  @Test(arguments: table) func understandsSolarTexts(_ row: (text: String, canonical: String)) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), place: Self.prague)
    let schedule = try Schedule.parse(row.text, now: friday, in: scheduleContext)
    #expect(schedule.canonical == row.canonical)
    #expect(schedule.dialect == .solar)
    #expect(schedule.needsPlace)
    #expect(!schedule.isOneOff)
    let again = try Schedule(canonical: row.canonical)
    #expect(again == schedule)
    guard case .solar(let left) = schedule.rule, case .solar(let right) = again.rule else {
      Issue.record("no solar schedule")
      return
    }
    #expect(left == right)
  }

  static let dialects: [(text: String, dialect: Dialect)] = [
    ("sunset", .solar), ("solar", .solar), ("civil war", .solar), ("at 30m before sunset", .solar),
    ("every fri at sunset", .solar), ("in the dusk", .solar), ("sunset: 8", .solar), ("daily at solar noon", .solar),
    ("at noon", .phrase), ("noon", .phrase), ("noon on friday", .phrase), ("daily at noon", .phrase),
    ("noon - 30m", .phrase), ("8 noon", .phrase),
    ("30m before noon", .solar), ("10m before lunch", .solar), ("daily at 8 except on sunset", .phrase),
    ("daily at 8 until sunset", .phrase),
    ("daily at 8 starting dawn", .phrase), ("daily at 8 except on solar noon", .phrase),
    ("weekdays at 8:30", .phrase), ("sunsets at 8", .phrase), ("sun at 8", .phrase), ("sun,sat at noon", .phrase),
    ("midsunset", .phrase), ("sunsetting", .phrase), ("\u{E9}sunset", .phrase), ("dawn\u{E9}", .phrase),
    ("at civil 8", .phrase), ("startings sunset", .solar), ("nautically", .phrase), ("nautical", .solar),
    ("astronomically", .phrase), ("ASTRONOMICAL DUSK", .solar), ("at nauticallyyyy dusk", .solar),
    ("solar at noon", .solar), ("at solar then noon", .phrase), ("solarnoon", .phrase), ("at solar 9", .phrase),
    ("cron: 30 8 * * sunset", .cron), ("@sunset", .cron), ("calendar: sunset", .calendar),
    ("RRULE:FREQ=DAILY;X=SUNSET", .rrule), ("0 9 * * sunset", .cron), ("", .phrase),
  ]

  @Test(arguments: dialects) func distinguishesSolarTextsFromPhrases(_ row: (text: String, dialect: Dialect)) {
    #expect(ScheduleReader.dialect(of: Array(row.text.utf8)) == row.dialect)
  }

  struct Refusal: Sendable {
    var text: String
    var code: ScheduleError.Code = .invalidSchedule
    var suggestion: String?
    var message: String

    init(_ text: String, _ code: ScheduleError.Code, _ message: String) {
      (self.text, self.code, self.message) = (text, code, message)
    }

    init(_ text: String, try suggestion: String? = nil, _ message: String) {
      (self.text, self.suggestion, self.message) = (text, suggestion, message)
    }
  }

  static let refusals: [Refusal] = [
    Refusal(
      "sunset + 13h", .outOfRange,
      #"sunset + 13h: "13h" is too far from the sun's event (column 10); expected at most 12h, or the event of another day"#
    ),
    Refusal(
      "sunset + 500ms", .outOfRange,
      "sunset + 500ms: a shift has whole seconds (column 10); expected a duration like 30m"),
    Refusal(
      "sunset - 30",
      #"sunset - 30: "30" needs a unit of time (column 10); expected one, as in 30 minutes"#),
    Refusal(
      "sunste - 30m", try: "sunset - 30m",
      #"sunste - 30m: "sunste" cannot begin a schedule (column 1); did you mean sunset?"#),
    Refusal(
      "30m before sunst", try: "30m before sunset",
      #"30m before sunst: "sunst" is not an event of the sun (column 12); did you mean sunset?"#),
    Refusal(
      "30m before noon", try: "30m before solar noon",
      #"30m before noon: "noon" is a clock time (column 12); did you mean solar noon?"#),
    Refusal(
      "10m before lunch",
      #"10m before lunch: "lunch" is not an event of the sun (column 12); expected an event like sunset, civil dawn or solar noon"#
    ),
    Refusal(
      "nautical noon",
      #"nautical noon: "noon" has no such twilight (column 10); expected "dawn" or "dusk""#),
    Refusal(
      "civil sunset",
      #"civil sunset: "sunset" has no such twilight (column 7); expected "dawn" or "dusk""#),
    Refusal(
      "civil dsk", try: "civil dusk",
      #"civil dsk: "dsk" has no such twilight (column 7); did you mean dusk?"#),
    Refusal("solar", #"solar: the end of the schedule is missing (column 6); expected "noon""#),
    Refusal(
      "friday at sunset", try: "every friday at sunset",
      "friday at sunset: a schedule by the sun recurs, but a single day does not (column 1); did you mean every fri?"),
    Refusal(
      "tomorrow at sunset",
      #"tomorrow at sunset: a schedule by the sun recurs, but a date does not (column 1); expected days of the week, or the date after "starting" and "until""#
    ),
    Refusal(
      "sunset on 2026-12-24",
      #"sunset on 2026-12-24: a schedule by the sun recurs, but a date does not (column 8); expected days of the week, or the date after "starting" and "until""#
    ),
    Refusal(
      "every 30m from sunrise to sunset",
      #"every 30m from sunrise to sunset: an interval cannot follow the sun (column 7); expected days like "every fri" before the event, or a window between times of the clock"#
    ),
    Refusal(
      "sunrise and sunset",
      #"sunrise and sunset: "and" is not allowed here (column 9); expected a shift like "- 30m", days like "on fri", "starting", "until", "except", a number of times, or the end"#
    ),
    Refusal(
      "sunrise sunset",
      #"sunrise sunset: "sunset" is a second event of the sun (column 9); expected one event; a second needs a schedule of its own"#
    ),
    Refusal(
      "30m before sunset - 10m",
      "30m before sunset - 10m: there is a second shift (-) (column 19); expected one shift"),
    Refusal(
      "30m befor sunset", try: "30m before sunset",
      #"30m befor sunset: "befor" cannot join a duration and the sun (column 5); did you mean before?"#),
    Refusal(
      "sunset on blue",
      #"sunset on blue: "blue" is not a day of the week (column 11); expected a day of the week (mon, tue, … sun)"#),
    Refusal(
      "sunset 1001 times", .outOfRange,
      #"sunset 1001 times: "1001" is not a possible number of times for the sun (column 8); expected a number from 1 to 1000"#
    ),
    Refusal(
      "sunset until 2026-01-01", .neverOccurs,
      "sunset until 2026-01-01: it has no occurrence between now and its end, 2026-01-01 (now it is 2026-11-20T23:22:13+01:00); expected a future occurrence"
    ),
  ]

  @Test(arguments: refusals) func refusesInvalidTexts(_ row: Refusal) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), place: Self.prague)
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(row.text, now: friday, in: scheduleContext) }
    #expect(error?.code == row.code)
    #expect(error.map { ErrorTests.withoutExample($0.message).said } == row.message)
    #expect(error?.suggestion == row.suggestion)
    guard let suggestion = error?.suggestion else { return }
    #expect(throws: Never.self) { try Schedule.parse(suggestion, now: friday, in: scheduleContext) }
  }

  @Test func solarScheduleNeedsALocation() throws {
    let prague = try zone("Europe/Prague")
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse("at sunset", now: friday, zone: prague) }
    #expect(error?.code == .invalidSchedule)
    #expect(
      error?.message
        == "at sunset: the sun needs a place: set [place] latitude and longitude in chimed.toml or give --place (column 4); "
        + "expected one, as in --place 50.0875,14.4213")
    // A stored one parses, and never occurs.
    let schedule = try Schedule(canonical: "sunset")
    #expect(schedule.timetable(in: prague).next(after: friday) == nil)
    #expect(schedule.timetable(in: prague).next(after: .earliest) == nil)
    #expect(try !Schedule(canonical: "daily at 08:00").needsPlace)
    #expect(throws: ScheduleError.self) { try Schedule(canonical: "sunset 3 times") }
  }

  /// Random damage: texts are rejected or understood, and understood ones round-trip.
  @Test func survivesDamage() throws {
    let damage = Damage(
      seed: 43, rounds: 400, proof: 10_000,
      pieces: [
        "at ", "every ", " and ", ",", "-", "+", " before ", " after ", "solar ", "noon", "dawn", "civil ", "30m",
        "fri",
        " on ", " until ", " times", "\0", "\u{E9}", "\u{2212}", "99999999999999999999", "2026-12-01", " an ",
      ], understood: 6,
      scheduleContext: ScheduleContext(zone: try zone("Europe/Prague"), place: Self.prague))
    damage.expectSurvival(of: Self.table.map(\.text))
  }

  @Test(arguments: [
    String(repeating: "sunset ", count: 9_000), "sunset on " + String(repeating: "mon,", count: 16_000),
    "sunset - " + String(repeating: "1h ", count: 20_000), "solar " + String(repeating: "x", count: 65_000),
    "sunset except " + String(repeating: "2026-12-24,", count: 5_000), String(repeating: "before ", count: 9_000),
    "sunset 99999999999999999999 times", "99999999999999999999h before sunset", "sunset +", "sunset -", "before",
    "civil", "every", "30m before", "an before sunset", "sunset\0", "sunset - 9999w",
  ])
  func refusesHostileTexts(_ text: String) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), place: Self.prague)
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(text, now: friday, in: scheduleContext) }
    #expect((error?.message.unicodeScalars.count ?? 0) <= 1_000)
  }
}
