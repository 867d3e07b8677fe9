import ChimeSchedule
import Testing

/// Error messages for invalid calendar expressions.
@Suite struct CalendarErrorTests {
  struct Row: Sendable {
    var text: String
    var column: Int?
    var suggestion: String?
    /// The message without the quoted text.
    var message: String
    var code = ScheduleError.Code.invalidSchedule
  }

  static let table: [Row] = [
    Row(
      text: "Mon..Fri *-*-* 25:00", column: 26, suggestion: nil,
      message: #""25" is no hour (column 26); expected an hour from 0 to 23"#),
    Row(
      text: "dayly", column: 11, suggestion: "daily",
      message: #""dayly" is neither a weekday nor a shorthand (column 11); did you mean daily?"#),
    Row(
      text: "hourlyy", column: 11, suggestion: "hourly",
      message: #""hourlyy" is neither a weekday nor a shorthand (column 11); did you mean hourly?"#),
    Row(
      text: "", column: 11, suggestion: nil,
      message:
        #"the calendar expression is missing (column 11); expected an expression like Mon..Fri *-*-* 09:00, or a word like daily"#
    ),
    Row(
      text: "Monady 09:00", column: 11, suggestion: "Monday 09:00",
      message: #""Monady" is neither a weekday nor a shorthand (column 11); did you mean Monday?"#),
    Row(
      text: "Mo *-*-*", column: 11, suggestion: "Mon *-*-*",
      message: #""Mo" is neither a weekday nor a shorthand (column 11); did you mean Mon?"#),
    Row(
      text: "Fri..Mon 09:00", column: 11, suggestion: "Fri..Sun,Mon 09:00",
      message: #""Fri..Mon" runs backwards, for weeks begin on Monday (column 11); did you mean Fri..Sun,Mon?"#),
    Row(
      text: "Mon, Wed 09:00", column: 16, suggestion: "Mon,Wed 09:00",
      message: #""Wed" is separate from the other weekdays (column 16); did you mean Mon,Wed?"#),
    Row(
      text: "Mon Wed 09:00", column: 15, suggestion: "Mon,Wed 09:00",
      message: #""Wed" is separate from the other weekdays (column 15); did you mean Mon,Wed?"#),
    Row(
      text: "Mon-", column: 15, suggestion: nil,
      message: #"a weekday is missing (column 15); expected weekdays like Mon,Wed..Fri"#),
    Row(
      text: "Mon..Tue..Wed", column: 16, suggestion: nil,
      message: #"a range of weekdays has two ends (column 16); expected a range like Mon..Fri"#),
    Row(
      text: "daily 09:00", column: 11, suggestion: "*-*-* 09:00",
      message: #""daily" is a whole expression by itself (column 11); did you mean *-*-* 09:00?"#),
    Row(
      text: "9", column: 11, suggestion: "9:00",
      message: #""9" is neither a date nor a time (column 11); did you mean 9:00?"#),
    Row(
      text: "*-*-* 9", column: 17, suggestion: "*-*-* 9:00",
      message: #""9" is not a time (column 17); did you mean 9:00?"#),
    Row(
      text: "24:00", column: 11, suggestion: nil,
      message: #""24" is no hour (column 11); expected an hour from 0 to 23"#),
    Row(
      text: "*/5:00", column: 12, suggestion: "0/5:00",
      message: #""*" stands alone in its place (column 12); did you mean 0/5?"#),
    Row(
      text: "*:*/5", column: 14, suggestion: "*:0/5",
      message: #""*" stands alone in its place (column 14); did you mean 0/5?"#),
    Row(
      text: "*-*-*/2", column: 16, suggestion: "*-*-1/2",
      message: #""*" stands alone in its place (column 16); did you mean 1/2?"#),
    Row(
      text: "09:00pm", column: 16, suggestion: nil,
      message: #"times use 24 hours, without "pm" (column 16); expected a time like 21:00"#),
    Row(
      text: "9:00 pm", column: 16, suggestion: nil,
      message: #"times use 24 hours, without "pm" (column 16); expected a time like 21:00"#),
    Row(
      text: "09:00 Europe/Pague", column: 17, suggestion: nil,
      message: #"this machine has no time zone "Europe/Pague" (column 17); expected a name like Europe/Prague"#),
    Row(
      text: "@5 Europe/Pague", column: 14, suggestion: nil,
      message: #"this machine has no time zone "Europe/Pague" (column 14); expected a name like Europe/Prague"#),
    Row(
      text: "09:00 ../../etc/passwd", column: 17, suggestion: nil,
      message:
        #""../../etc/passwd" follows the time (column 17); expected weekdays, a date, a time and a time zone, in this order"#
    ),
    Row(
      text: "09:60", column: 14, suggestion: nil,
      message: #""60" is no minute (column 14); expected a minute from 0 to 59"#),
    Row(
      text: "09:00:60", column: 17, suggestion: nil,
      message: #""60" is no second (column 17); expected a second from 0 to 59, with a fraction where needed"#),
    Row(
      text: "2026-13-01", column: 16, suggestion: nil,
      message: #""13" is no month (column 16); expected a month from 1 to 12"#),
    Row(
      text: "2026-02-30", column: nil, suggestion: nil,
      message: #"it has no future occurrence (now it is 2026-11-20T23:22:13+01:00)"#, code: .neverOccurs),
    Row(
      text: "*-02-30", column: nil, suggestion: nil,
      message: #"it has no future occurrence (now it is 2026-11-20T23:22:13+01:00)"#, code: .neverOccurs),
    Row(
      text: "Mon *-02-30", column: nil, suggestion: nil,
      message: #"it has no future occurrence (now it is 2026-11-20T23:22:13+01:00)"#, code: .neverOccurs),
    Row(
      text: "2300-01-01", column: 11, suggestion: nil,
      message: #""2300" is no year (column 11); expected a year from 1970 to 2199"#, code: .outOfRange),
    Row(
      text: "2020-01-01", column: nil, suggestion: nil,
      message: #"it has no future occurrence (now it is 2026-11-20T23:22:13+01:00)"#, code: .neverOccurs),
    Row(
      text: "2026-12-01T09:00", column: 21, suggestion: "2026-12-01 09:00",
      message: #""T" stands between date and time (column 21); did you mean 2026-12-01 09:00?"#),
    Row(
      text: "*-*~29", column: 15, suggestion: nil,
      message: #""29" is no day from the month's end (column 15); expected a day from the month's end from 1 to 28"#),
    Row(
      text: "*-*~07,27", column: 15, suggestion: nil,
      message:
        #"systemd rejects the list "07,27" (column 15); expected a list in which day 2 counts at most 25 from the month's end"#
    ),
    Row(
      text: "2026~12-01", column: 15, suggestion: "2026-12-01",
      message: #""~" must stand before the day, not the month (column 15); did you mean 2026-12-01?"#),
    Row(
      text: "1-2-3-4", column: 16, suggestion: nil,
      message: #""1-2-3-4" has more than three parts (column 16); expected a date like 2026-12-01 or *-*~01"#),
    Row(
      text: "17..9:00", column: 11, suggestion: "00..09,17..23:00",
      message: #""17..9" runs backwards (column 11); did you mean 00..09,17..23?"#),
    Row(
      text: "09:30..15", column: 14, suggestion: "09:00..15,30..59",
      message: #""30..15" runs backwards (column 14); did you mean 00..15,30..59?"#),
    Row(
      text: "1/0:00", column: 12, suggestion: nil,
      message: #"a step is 0 (column 12); expected a step of at least 1"#),
    Row(
      text: "1/24:00", column: 11, suggestion: nil,
      message: #"the range "1/24" is too small for its step (column 11); expected a step that reaches another hour"#),
    Row(
      text: "*:*:0..0.5", column: 15, suggestion: nil,
      message: #"the range "0..0.5" is too small for its step (column 15); expected a step that reaches another second"#
    ),
    Row(
      text: "@x", column: 11, suggestion: nil,
      message:
        #""@x" is not a count of seconds (column 11); expected whole seconds since 1970 in UTC, like @1796115600"#),
    Row(
      text: "@99999999999", column: 11, suggestion: nil,
      message: #""@99999999999" is out of range (column 11); expected seconds of the years 1970 to 2199"#,
      code: .outOfRange),
    Row(
      text: "@-5", column: 11, suggestion: nil,
      message: #""@-5" is out of range (column 11); expected seconds of the years 1970 to 2199"#, code: .outOfRange),
    Row(
      text: "09:00 Mon..Fri", column: 17, suggestion: nil,
      message:
        #""Mon..Fri" follows the time (column 17); expected weekdays, a date, a time and a time zone, in this order"#),
    Row(
      text: "*-*-* 09:00 *-*-*", column: 23, suggestion: nil,
      message:
        #""*-*-*" follows the time (column 23); expected weekdays, a date, a time and a time zone, in this order"#),
    Row(
      text: "09:00-17:00", column: 16, suggestion: nil,
      message: #""-" is not allowed in a time (column 16); expected a time like 09:00 or *:00/15"#),
    Row(
      text: "12:00:00.", column: 17, suggestion: nil,
      message: #""00." ends with a point (column 17); expected digits after the point"#),
    Row(
      text: "ěšč", column: 11, suggestion: nil,
      message:
        #""ěšč" is neither a date nor a time (column 11); expected an expression like Mon..Fri *-*-* 09:00, or a word like daily"#
    ),
    Row(
      text: "*-*-", column: 15, suggestion: nil,
      message: #"a day of the month is missing (column 15); expected a day of the month from 1 to 31"#),
    Row(
      text: "1,,2:00", column: 13, suggestion: nil,
      message: #"",2:00" is no hour (column 13); expected an hour from 0 to 23"#),
    Row(
      text: "Mon..Fri 9-17:00", column: 21, suggestion: nil,
      message: #""-" is not allowed in a time (column 21); expected a time like 09:00 or *:00/15"#),
    Row(
      text: "*-*-* *:*:*:*", column: 22, suggestion: nil,
      message: #"":*" follows the time (column 22); expected weekdays, a date, a time and a time zone, in this order"#),
    Row(
      text: "5:00 +03", column: 16, suggestion: nil,
      message: #""+03" follows the time (column 16); expected weekdays, a date, a time and a time zone, in this order"#),
    Row(
      text: "07-01 CET", column: nil, suggestion: nil,
      message: #"it has no future occurrence (now it is 2026-11-20T23:22:13+01:00)"#, code: .neverOccurs),
    Row(
      text: "09:00 EDT", column: 17, suggestion: nil,
      message: #"this machine has no time zone "EDT" (column 17); expected a name like Europe/Prague"#),
  ]

  @Test(arguments: table) func refusesInvalidExpressions(_ row: Row) throws {
    let prague = try zone("Europe/Prague")
    let scheduleContext = ScheduleContext(zone: prague, zones: { CalendarOracle.zones($0) })
    let text = "calendar: " + row.text
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(text, now: friday, in: scheduleContext) }
    #expect(error?.code == row.code)
    #expect(error?.column == row.column)
    #expect(error?.suggestion == row.suggestion.map { "calendar: " + $0 })
    #expect(error?.message == "\(text): \(row.message)")
    if let suggestion = error?.suggestion {
      #expect(throws: Never.self) { try Schedule.parse(suggestion, now: friday, in: scheduleContext) }
    }
  }

  /// Long texts are rejected or understood, and messages stay short.
  @Test(arguments: [
    String(repeating: "1,", count: 32_000), String(repeating: "Mon,", count: 16_000),
    String(repeating: "-", count: 65_000),
    String(repeating: "*:", count: 30_000), String(repeating: "9", count: 65_000),
    String(repeating: " ", count: 65_000),
    "*-*-* " + String(repeating: "é", count: 30_000), String(repeating: "a/", count: 30_000),
    "*:*:0." + String(repeating: "1", count: 60_000), "*-*-*" + String(repeating: " ", count: 60_000) + "9:00",
    "@" + String(repeating: "9", count: 60_000), "09:00 " + String(repeating: "Z", count: 60_000),
    "Mon" + String(repeating: "-", count: 60_000), String(repeating: "\u{7}", count: 60_000),
  ])
  func survivesLongTexts(_ text: String) throws {
    do {
      let schedule = try Schedule.parse("calendar: " + text, now: friday, zone: .utc)
      #expect(try Schedule(canonical: schedule.canonical) == schedule)
    } catch {
      #expect(error.message.unicodeScalars.count <= 1_000)
      #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 })
    }
  }

  /// systemd's maximum length of a list, and one more.
  @Test func listsAreBounded() throws {
    let list = (0..<241).map { String($0 % 60) }.joined(separator: ",")
    #expect(try Schedule(canonical: "calendar: *:" + list).canonical.hasSuffix(",58,59:00"))
    let error = #expect(throws: ScheduleError.self) { try Schedule(canonical: "calendar: *:\(list),1") }
    #expect(error?.code == .outOfRange)
  }
}
