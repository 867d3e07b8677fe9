import ChimeSchedule
import Testing

/// The text of the rrule dialect: canonical forms, and errors.
@Suite struct RecurrenceTextTests {
  /// Parsed in Prague at 2026-11-20 23:22:13.
  static let canonical: [(text: String, canonical: String)] = [
    ("RRULE:FREQ=DAILY", "DTSTART:20261120T232213 RRULE:FREQ=DAILY"),
    ("freq=weekly;byday=we,mo,we", "DTSTART:20261120T232213 RRULE:FREQ=WEEKLY;BYDAY=MO,WE"),
    ("INTERVAL=1;FREQ=DAILY;WKST=MO", "DTSTART:20261120T232213 RRULE:FREQ=DAILY"),
    (
      "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU\r\nDTSTART:20260105T090000\r\n",
      "DTSTART:20260105T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU"
    ),
    ("DTSTART:20260105T090000 RRULE:FREQ=WEEKLY;WKST=SU", "DTSTART:20260105T090000 RRULE:FREQ=WEEKLY"),
    ("DTSTART:20260105T090000\n  RRULE:FREQ=DAILY", "DTSTART:20260105T090000 RRULE:FREQ=DAILY"),
    ("DTSTART:20260105T0\r\n 90000\r\nRRULE:FREQ=DA\r\n\tILY", "DTSTART:20260105T090000 RRULE:FREQ=DAILY"),
    ("dtstart;tzid=\"America/New_York\":20270902t090000", "DTSTART;TZID=America/New_York:20270902T090000"),
    ("DTSTART;TZID=UTC:20270902T090000", "DTSTART:20270902T090000Z"),
    ("DTSTART;VALUE=DATE:20270902", "DTSTART;VALUE=DATE:20270902"),
    ("DTSTART:20270902", "DTSTART;VALUE=DATE:20270902"),
    ("DTSTART;X-NOTE=1;VALUE=DATE-TIME:20270902T090060", "DTSTART:20270902T090059"),
    (
      "DTSTART;VALUE=DATE:20270902 RRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20280101T000000Z",
      "DTSTART;VALUE=DATE:20270902 RRULE:FREQ=DAILY;UNTIL=20280101"
    ),
    ("RDATE:20270102T090000,20270101T090000,20270102T090000", "DTSTART:20270101T090000 RDATE:20270102T090000"),
    (
      "EXDATE;VALUE=DATE:20270103 RDATE;TZID=Europe/Prague:20270102T090000 DTSTART;TZID=Europe/Prague:20270101T090000 EXDATE:20270105T080000Z,20270106T090000",
      "DTSTART;TZID=Europe/Prague:20270101T090000 RDATE;TZID=Europe/Prague:20270102T090000 EXDATE;VALUE=DATE:20270103 EXDATE;TZID=Europe/Prague:20270106T090000 EXDATE:20270105T080000Z"
    ),
    ("DTSTART:20270101T090000 RDATE;VALUE=DATE:20270105", "DTSTART:20270101T090000 RDATE:20270105T090000"),
    ("DTSTART:20270101T090000 TRIGGER;RELATED=START:-PT90M", "DTSTART:20270101T090000 TRIGGER:-PT1H30M"),
    ("DTSTART:20270101T090000 TRIGGER:-P1DT0H", "DTSTART:20270101T090000 TRIGGER:-P1D"),
    ("DTSTART:20270101T090000 TRIGGER:+P14D", "DTSTART:20270101T090000 TRIGGER:P2W"),
    ("DTSTART:20270101T090000 TRIGGER:PT24H", "DTSTART:20270101T090000 TRIGGER:PT24H"),
    ("DTSTART:20270101T090000 TRIGGER:-PT0S", "DTSTART:20270101T090000"),
    (
      "DTSTART:20270101T090000 RRULE:RSCALE=gregorian;SKIP=forward;FREQ=MONTHLY;BYMONTHDAY=-1,31,+5",
      "DTSTART:20270101T090000 RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=5,31,-1;SKIP=FORWARD"
    ),
    (
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYDAY=-1MO,20TU,+1MO,FR;BYSETPOS=-1,3,1",
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYDAY=FR,1MO,20TU,-1MO;BYSETPOS=1,3,-1"
    ),
    (
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYYEARDAY=-1,200,1;BYHOUR=17,9;BYMINUTE=30,0;BYSECOND=60",
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYYEARDAY=1,200,-1;BYHOUR=9,17;BYMINUTE=0,30;BYSECOND=59"
    ),
    (
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYWEEKNO=53,-1,1;WKST=SU;BYDAY=SU",
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYWEEKNO=1,53,-1;BYDAY=SU;WKST=SU"
    ),
    (
      "DTSTART:19610412T090700Z RRULE:FREQ=YEARLY;UNTIL=20610412T090700Z;BYMONTH=12,4",
      "DTSTART:19610412T090700Z RRULE:FREQ=YEARLY;UNTIL=20610412T090700Z;BYMONTH=4,12"
    ),
  ]

  @Test(arguments: canonical) func rulesHaveTheirCanonicalForm(_ row: (text: String, canonical: String)) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) })
    let schedule = try Schedule.parse(row.text, now: friday, in: scheduleContext)
    #expect(schedule.dialect == .rrule)
    #expect(schedule.canonical == row.canonical)
    #expect(try Schedule(canonical: schedule.canonical) == schedule)
    #expect(try Schedule.parse(row.canonical, now: friday, in: scheduleContext).canonical == row.canonical)
  }

  struct Refusal: Sendable {
    var text: String
    var code: ScheduleError.Code
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

  static let refusals: [Refusal] = [
    Refusal("RRULE:FERQ=DAILY", at: 7, try: "RRULE:FREQ=DAILY", #""FERQ" is not a part of a rule"#),
    Refusal("FREQ=DIALY", at: 6, try: "FREQ=DAILY", #""DIALY" is not a frequency"#),
    Refusal("RRULE:FREQ=DAILY;INTREVAL=2", at: 18, try: "RRULE:FREQ=DAILY;INTERVAL=2", "is not a part of a rule"),
    Refusal("RRULE:INTERVAL=2", at: 7, "needs FREQ"),
    Refusal("RRULE:FREQ=DAILY;", at: 17, try: "RRULE:FREQ=DAILY", "nothing follows the last semicolon"),
    Refusal("RRULE:", at: 7, "a part is missing here"),
    Refusal("RRULE:FREQ=DAILY;;COUNT=2", at: 18, "a part is missing here"),
    Refusal("RRULE:FREQ=DAILY;FREQ=WEEKLY", at: 18, "there is a second FREQ"),
    Refusal("RRULE:FREQ=DAILY;COUNT=0", .outOfRange, at: 24, "out of range for COUNT"),
    Refusal("RRULE:FREQ=DAILY;COUNT=10001", .outOfRange, at: 24, "1 to 10000"),
    Refusal(
      "RRULE:FREQ=DAILY;COUNT=9999 RRULE:FREQ=WEEKLY;COUNT=2", .outOfRange, at: 35,
      "the rules together count more than 10000"),
    Refusal("RRULE:FREQ=DAILY;INTERVAL=99999999999999999999999", .outOfRange, at: 27, "out of range for INTERVAL"),
    Refusal("RRULE:FREQ=DAILY;INTERVAL=-1", at: 27, "is not a number for INTERVAL"),
    Refusal(
      "RRULE:FREQ=DAILY;COUNT=2;UNTIL=20270101", at: 26, "by COUNT or by UNTIL, not by both (RFC 5545 section 3.3.10)"),
    Refusal("RRULE:FREQ=MONTHLY;BYWEEKNO=2", at: 20, "BYWEEKNO needs FREQ=YEARLY"),
    Refusal("RRULE:FREQ=MONTHLY;BYYEARDAY=2", at: 20, "BYYEARDAY cannot be used with FREQ=MONTHLY"),
    Refusal("RRULE:FREQ=WEEKLY;BYMONTHDAY=2", at: 19, "BYMONTHDAY cannot be used with FREQ=WEEKLY"),
    Refusal("RRULE:FREQ=WEEKLY;BYDAY=2MO", at: 19, "and cannot be used with FREQ=WEEKLY"),
    Refusal("RRULE:FREQ=YEARLY;BYWEEKNO=2;BYDAY=2MO", at: 30, "within the weeks of BYWEEKNO"),
    Refusal("RRULE:FREQ=MONTHLY;BYDAY=6MO", .outOfRange, at: 20, "no month has a day of the week 6 times"),
    Refusal("RRULE:FREQ=MONTHLY;BYDAY=0MO", .outOfRange, at: 26, "no period has"),
    Refusal(
      "RRULE:FREQ=WEEKLY;BYDAY=MON", at: 25, try: "RRULE:FREQ=WEEKLY;BYDAY=MO", #""MON" is not a day of the week"#),
    Refusal("RRULE:FREQ=WEEKLY;BYDAY=MO,", at: 28, "a value is missing in the list of BYDAY"),
    Refusal("RRULE:FREQ=DAILY;BYHOUR=24", .outOfRange, at: 25, "out of range for BYHOUR"),
    Refusal("RRULE:FREQ=DAILY;BYSECOND=61", .outOfRange, at: 27, "out of range for BYSECOND"),
    Refusal("RRULE:FREQ=DAILY;BYSETPOS=1", at: 18, "BYSETPOS needs another BY part to choose from"),
    Refusal(
      "DTSTART;VALUE=DATE:20270201 RRULE:FREQ=DAILY;BYHOUR=8,10;BYSETPOS=1", at: 35,
      "BYSETPOS has nothing to choose from"),
    Refusal("RRULE:FREQ=YEARLY;BYMONTH=5L", at: 27, "no leap months"),
    Refusal("RRULE:FREQ=YEARLY;RSCALE=HEBREW", at: 26, #"the calendar "HEBREW" is not supported"#),
    Refusal(
      "RRULE:FREQ=MONTHLY;SKIP=FORWARD", at: 20, try: "RRULE:FREQ=MONTHLY;RSCALE=GREGORIAN;SKIP=FORWARD",
      "SKIP needs RSCALE (RFC 7529 section 4.1)"),
    Refusal("RRULE:FREQ=YEARLY;BYEASTER=0", at: 19, "the rule would change"),
    Refusal("RRULE:FREQ=DAILY EXRULE:FREQ=WEEKLY", at: 18, "EXRULE is obsolete (RFC 5545 appendix A.1)"),
    Refusal("DTSTART:20270101T090000 DTSTRAT:20270101T090000", at: 25, #""DTSTRAT" is not allowed in a schedule"#),
    Refusal(
      "DTSTART:20270101T090000 RULE:FREQ=DAILY", at: 25, try: "DTSTART:20270101T090000 RRULE:FREQ=DAILY",
      #""RULE" is not allowed"#),
    Refusal("DTSTART:20270101T090000 DTSTART:20270101T090000", at: 25, "there is a second DTSTART"),
    Refusal("DTSTART:2027-01-01T09:00:00", at: 9, try: "DTSTART:20270101T090000", "is not a date"),
    Refusal("DTSTART:20270229T090000", at: 9, #"there is no day "20270229""#),
    Refusal("DTSTART:20270228T250000", at: 9, #"there is no time "250000""#),
    Refusal("DTSTART:00000101T090000", .outOfRange, at: 9, "there is no year 0"),
    Refusal("DTSTART;TZID=Eastern Standard Time:20270101T090000", at: 21, "the value of DTSTART is missing"),
    Refusal(
      "DTSTART;TZID=\"Eastern Standard Time\":20270101T090000", at: 15, "does not have the form of a time zone's name"),
    Refusal("DTSTART;TZID=Europe/Nowhere:20270101T090000", at: 14, "this machine has no time zone"),
    Refusal("DTSTART;TZID=Europe/Prague:20270101T090000Z", at: 28, "RFC 5545 section 3.2.19"),
    Refusal(
      "DTSTART;TZDI=Europe/Prague:20270101T090000", at: 9, try: "DTSTART;TZID=Europe/Prague:20270101T090000",
      "is not a parameter of DTSTART"),
    Refusal("DTSTART;VALUE=DATE:20270101T090000", at: 20, "VALUE=DATE needs a date without a time"),
    Refusal("DTSTART;VALUE=DATE:20270101 RRULE:FREQ=HOURLY", at: 35, "cannot repeat within a day"),
    Refusal(
      "DTSTART:20270101T090000 RDATE;TZID=Europe/Prague:20270101T090000", at: 36, "another clock than DTSTART"),
    Refusal("DTSTART:20270101T090000,20270102T090000", at: 25, "a schedule has only one start"),
    Refusal("DTSTART", at: nil, ""),
    Refusal("EXDATE:20270101T090000", at: 23, "the rule or the date is missing"),
    Refusal("RDATE;VALUE=PERIOD:20270101T090000", at: 20, "is not a period"),
    Refusal("DTSTART:20270101T090000 TRIGGER:15M", at: 33, #""15M" is not a duration"#),
    Refusal("DTSTART:20270101T090000 TRIGGER:-P", at: 33, "has no length"),
    Refusal("DTSTART:20270101T090000 TRIGGER:-P15M", at: 35, "is not allowed here in a duration"),
    Refusal("DTSTART:20270101T090000 TRIGGER;RELATED=END:-PT15M", at: 41, "counts only from its start"),
    Refusal(
      "DTSTART:20270101T090000 TRIGGER;VALUE=DATE-TIME:20270101T090000Z", at: 39, "does not follow the occurrences"),
    Refusal("DTSTART:20270101T090000 TRIGGER:P999999999W", .outOfRange, at: 33, "is too long"),
    Refusal("DTSTART:20270101T090000 RRULE:FREQ=DAILY;COUNT=2\r\n EXDATE:20270101T09000", at: 58, "is not a date"),
    Refusal(
      "DTSTART:20270101T090000\r\nRRULE:FREQ=DA\r\n ILY;BYHOUR=24", .outOfRange, at: 51, "out of range for BYHOUR"),
    Refusal("DTSTART:20200101T090000", .neverOccurs, at: nil, "it has no future occurrence"),
    Refusal(
      "DTSTART:20270101T090000 RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", .neverOccurs, at: nil,
      "it has no future occurrence"),
  ]

  @Test(arguments: refusals) func refusesInvalidRules(_ row: Refusal) throws {
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) })
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(row.text, now: friday, in: scheduleContext) }
    guard let error, row.text != "DTSTART" else { return }
    #expect(error.code == row.code)
    #expect(error.column == row.column, "\(error.message)")
    #expect(error.suggestion == row.suggestion)
    #expect(error.message.contains(row.message), "\(error.message)")
    if let suggestion = error.suggestion {
      #expect(throws: Never.self) { try Schedule.parse(suggestion, now: friday, in: scheduleContext) }
    }
  }

  @Test func canonicalFormContainsTheStart() throws {
    let error = #expect(throws: ScheduleError.self) { try Schedule(canonical: "RRULE:FREQ=DAILY") }
    #expect(error?.message.contains("without DTSTART this counts from the moment of writing") == true)
    // It begins after now, like all schedules.
    let prague = try zone("Europe/Prague")
    let schedule = try Schedule.parse("RRULE:FREQ=DAILY;COUNT=2", now: friday, zone: prague)
    #expect(schedule.timetable(in: prague).next(after: friday) == friday + .days(1))
  }

  /// The canonical form of any generated rule parses to the same value with the same occurrences.
  @Test func canonicalFormsReadBack() throws {
    var generator = SeededGenerator(seed: 7_529)
    func pick(_ values: [String]) -> String { values[Int.random(in: 0..<values.count, using: &generator)] }
    func time() -> String { RandomRule.text(Int64.random(in: 1_700_000_000...1_900_000_000, using: &generator)) }
    func dates() -> String { (0...Int.random(in: 0...3, using: &generator)).map { _ in time() }.joined(separator: ",") }
    let scheduleContext = ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) })
    for _ in 0..<ProofTier.amount(quick: 200, proof: 5_000) {
      let question = RandomRule.question(&generator)
      var zone = pick(["", ";TZID=America/New_York", "Z"])
      let suffix = zone == "Z" ? "Z" : ""
      if zone == "Z" { zone = "" }
      var properties = ["DTSTART\(zone):\(question.start)\(suffix)"]
      let isDate = Int.random(in: 0..<6, using: &generator) == 0 && zone.isEmpty && suffix.isEmpty
      if isDate { properties = ["DTSTART;VALUE=DATE:\(question.start.prefix(8))"] }
      for _ in 0..<Int.random(in: 0...2, using: &generator) {
        let rule =
          isDate ? "FREQ=MONTHLY;BYDAY=\(pick(["1MO", "-2FR,TU", "SU"]))" : RandomRule.question(&generator).rule
        properties.append("RRULE:\(rule)")
      }
      if Bool.random(using: &generator), !isDate { properties.append("RDATE\(zone):\(dates())") }
      if Bool.random(using: &generator) { properties.append("EXDATE:\(time())Z") }
      if Bool.random(using: &generator), !isDate { properties.append("EXDATE:\(dates())") }
      if Bool.random(using: &generator) {
        properties.append("EXDATE;VALUE=DATE:\(time().prefix(8)),\(time().prefix(8))")
      }
      if Bool.random(using: &generator) {
        properties.append("TRIGGER:" + pick(["-PT15M", "P1D", "-P1DT2H3M4S", "PT0S", "-P2W", "PT100H"]))
      }
      let text = properties.shuffled(using: &generator).joined(separator: pick([" ", "\n", "\r\n", "  \t"]))
      let schedule = try Schedule(canonical: text)
      let again = try Schedule(canonical: schedule.canonical)
      #expect(again == schedule, "\(text)")
      #expect(again.canonical == schedule.canonical, "\(text)")
      let after = Instant(seconds: question.after)
      let found = schedule.timetable(in: scheduleContext).occurrences(after: after).prefix(3).map(\.seconds)
      #expect(
        found == again.timetable(in: scheduleContext).occurrences(after: after).prefix(3).map(\.seconds), "\(text)")
      #expect(found == found.sorted())
    }
  }

  /// Long and damaged texts are quickly rejected or understood.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "RRULE:FREQ=DAILY;BYHOUR=" + String(repeating: "9,", count: 30_000) + "9",
      "RRULE:FREQ=YEARLY;BYYEARDAY=" + String(repeating: "-366,", count: 13_000) + "1",
      "RRULE:FREQ=YEARLY;BYDAY=" + String(repeating: "-53MO,", count: 10_000) + "1TU",
      "DTSTART:20270101T090000 RDATE:" + String(repeating: "20270101T090000,", count: 4_000) + "20270101T090000",
      "DTSTART:20270101T090000 " + String(repeating: "RRULE:FREQ=DAILY ", count: 3_000),
      String(repeating: "RRULE:", count: 10_000), "RRULE:" + String(repeating: ";", count: 60_000),
      "DTSTART;" + String(repeating: "X-A=B;", count: 10_000),
      "RRULE:FREQ=DAILY" + String(repeating: "\r\n ", count: 20_000),
      "FREQ=" + String(repeating: "D", count: 65_000), "DTSTART;TZID=\"" + String(repeating: "a", count: 65_000),
      "TRIGGER:" + String(repeating: "P1D", count: 20_000),
      "RRULE:FREQ=DAILY;COUNT=" + String(repeating: "9", count: 60_000),
    ])
  func longTextsAreHandledQuickly(_ text: String) throws {
    let prague = try zone("Europe/Prague")
    do throws(ScheduleError) {
      let schedule = try Schedule.parse(text, now: friday, zone: prague)
      #expect(schedule.canonical.utf8.count <= Schedule.maximumLength)
    } catch {
      #expect(error.message.unicodeScalars.count <= 1_000)
    }
  }

  @Test func survivesDamage() throws {
    let damage = Damage(
      seed: 3_445, rounds: 600, proof: 10_000,
      pieces: [
        ";", ":", "=", ",", "-", "Z", "T", "20270101", "99999999999999999999", "BYDAY=", "MO", "\r\n ", "\0", "é",
        "RRULE:",
        "COUNT=", "UNTIL=", "TZID=", "VALUE=DATE", "EXDATE:", "P1D", " ",
      ], understood: 6,
      scheduleContext: ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) }))
    damage.expectSurvival(of: Self.canonical.map(\.text))
  }
}
