import ChimeSchedule
import Testing

/// The text of cron expressions: parsing, canonical form, and errors.
@Suite struct CronTextTests {
  static let canonical: [(text: String, canonical: String)] = [
    ("cron: 0 9 * * 1-5", "0 9 * * 1-5"), ("0 9 * * mon-fri", "0 9 * * 1-5"), ("CRON:0 9 * * MON-Fri", "0 9 * * 1-5"),
    ("  cron:\t0  9\t* * 1-5  ", "0 9 * * 1-5"), ("cron: 0 0 9 * * 1-5", "0 9 * * 1-5"),
    ("cron: 15 0 9 * * 1-5", "15 0 9 * * 1-5"), ("cron: 0,30 0 9 * * 1", "0,30 0 9 * * 1"),
    ("0-59 0 9 * * 1", "* 0 9 * * 1"), ("*/10 * * * * *", "*/10 * * * * *"), ("*/60 0 9 * * 1", "0 9 * * 1"),
    // Lists are sorted and merged.
    ("5,3,4,3,9 * * * *", "3-5,9 * * * *"), ("1,2 3 * * *", "1,2 3 * * *"), ("0 8-10,9-12 * * *", "0 8-12 * * *"),
    ("0 10-20/5,1 * * *", "0 1,10,15,20 * * *"), ("0 8,10,12,14,16 * * *", "0 8-16/2 * * *"),
    ("0 8,10,12 * * *", "0 8-12/2 * * *"), ("0 8,10 * * *", "0 8,10 * * *"), ("005 07 * * *", "5 7 * * *"),
    // Steps.
    ("*/15 * * * *", "*/15 * * * *"), ("*/1 * * * *", "* * * * *"), ("*/100 9 * * *", "*/60 9 * * *"),
    ("*/7 * * * *", "*/7 * * * *"), ("0,15,30,45 9 * * *", "0-45/15 9 * * *"), ("0,15,30,45 * * * *", "*/15 * * * *"),
    ("1-5/9 9 * * *", "1 9 * * *"), ("10-59/7 * * * *", "10-59/7 * * * *"),
    ("*/999999999999999 9 * * *", "*/60 9 * * *"),
    // A star makes a job run by elapsed time, in whichever of the two fields it stands.
    ("0-59 9 * * *", "0-59 9 * * *"), ("0-59 * * * *", "* * * * *"), ("5 0-23 * * *", "5 0-23 * * *"),
    ("5 * * * *", "5 * * * *"), ("*/30 9 * * *", "*/30 9 * * *"), ("0,30 9 * * *", "0,30 9 * * *"),
    ("0 */24 * * *", "*/60 0 * * *"), ("0 */12 * * *", "0 */12 * * *"), ("0 0,12 * * *", "0 0,12 * * *"),
    ("*/30,10 9 * * *", "*/30,10 9 * * *"), ("*,5 9 * * *", "* 9 * * *"), ("5,* 9 * * *", "0-59 9 * * *"),
    ("5 0-22/2,* * * *", "5 0-23 * * *"), ("*/30,5-20/5 9 * * *", "*/30,5-20/5 9 * * *"),
    // In the day fields a star means that both must match.
    ("0 0 1 * 1", "0 0 1 * 1"), ("0 0 */2 * 1", "0 0 */2 * 1"), ("0 0 1-31/2 * 1", "0 0 1-31/2 * 1"),
    ("0 0 1-31/2 * */2", "0 0 */2 * */2"), ("0 0 1 * */7", "0 0 1 * */7"), ("0 0 */40 * 5", "0 0 */31 * 5"),
    ("0 0 1-31 * 1", "0 0 * * *"), ("0 0 15 * 0-6", "0 0 * * *"), ("0 0 15 * *", "0 0 15 * *"),
    ("0 0 1,17 * *", "0 0 1,17 * *"), ("0,30 */12 * * *", "*/30 */12 * * *"),
    ("0 0 ? * 1", "0 0 * * 1"), ("0 0 1 * ?", "0 0 1 * *"), ("0 0 1-31 * *", "0 0 * * *"), ("0 0 * * 0-7", "0 0 * * *"),
    // Names and Sundays.
    ("0 0 * JAN,Mar *", "0 0 * 1,3 *"), ("0 0 * jan-dec *", "0 0 * * *"), ("0 0 * 1-11/2 *", "0 0 * */2 *"),
    ("0 0 * 1,7 *", "0 0 * 1,7 *"), ("0 0 * * 7", "0 0 * * 0"), ("0 0 * * sun,sat", "0 0 * * 0,6"),
    ("0 0 * * 5-7", "0 0 * * 5-7"), ("0 0 * * sun-tue", "0 0 * * 0-2"), ("0 0 * * 1-7/2", "0 0 * * 1-7/2"),
    ("0 0 * * fri,sat,sun", "0 0 * * 5-7"), ("0 0 * 6-aug mon-3", "0 0 * 6-8 1-3"),
    // L, W and #.
    ("0 0 L * *", "0 0 L * *"), ("0 0 l * *", "0 0 L * *"), ("0 0 L-3 * *", "0 0 L-3 * *"),
    ("0 0 LW * *", "0 0 LW * *"),
    ("0 0 lw,15w,1,L-2W * *", "0 0 1,15W,LW,L-2W * *"), ("0 0 15,L * *", "0 0 15,L * *"), ("0 0 *,L * *", "0 0 * * *"),
    ("0 0 */10,L * 1", "0 0 */10,L * 1"), ("0 0 * * friL", "0 0 * * 5L"), ("0 0 * * 5l", "0 0 * * 5L"),
    ("0 0 * * mon#2", "0 0 * * 1#2"), ("0 0 * * 7#1,0L", "0 0 * * 0#1,0L"), ("0 0 * * 1,mon#2", "0 0 * * 1"),
    ("0 0 * * 5,1#1,5L", "0 0 * * 5,1#1"), ("0 0 L * 5", "0 0 L * 5"), ("30 4 1,15 * 5", "30 4 1,15 * 5"),
    // Words.
    ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"), ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"), ("cron: @Midnight ", "0 0 * * *"), ("@HOURLY", "0 * * * *"),
  ]

  @Test func textsHaveTheirCanonicalForm() throws {
    let prague = try zone("Europe/Prague")
    for (text, wanted) in Self.canonical {
      let schedule = try Schedule.parse(text, now: friday, zone: prague)
      #expect(schedule.canonical == "cron: \(wanted)", "\(text)")
      #expect(schedule.dialect == .cron)
      #expect(!schedule.isOneOff)
      #expect(try Schedule(canonical: schedule.canonical) == schedule, "\(text)")
      #expect(try Schedule(canonical: schedule.canonical).canonical == schedule.canonical, "\(text)")
    }
  }

  static let refused: [(text: String, message: String, suggestion: String?)] = [
    ("60 * * * *", "\"60\" is out of range: the minute goes from 0 to 59 (column 1); did you mean 0?", "0 * * * *"),
    ("0 24 * * *", "\"24\" is out of range: the hour goes from 0 to 23 (column 3); did you mean 0?", "0 0 * * *"),
    ("0 25 * * *", "\"25\" is out of range: the hour goes from 0 to 23 (column 3); expected 0-23", nil),
    (
      "0 0 32 * *",
      "\"32\" is out of range: the day of the month goes from 1 to 31 (column 5); expected 1-31, L, L-3 or 15W",
      nil
    ),
    (
      "0 0 0 * *",
      "\"0\" is out of range: the day of the month goes from 1 to 31 (column 5); expected 1-31, L, L-3 or 15W", nil
    ),
    ("0 0 1 13 *", "\"13\" is out of range: the month goes from 1 to 12 (column 7); expected 1-12 or jan-dec", nil),
    (
      "0 0 * * 8",
      "\"8\" is out of range: the day of the week goes from 0 to 7 (column 9); expected 0-7, sun-sat, 5L or 1#2", nil
    ),
    (
      "99999999999999999999 * * * *",
      "\"99999999999999999999\" is out of range: the minute goes from 0 to 59 (column 1); expected 0-59", nil
    ),
    ("* * * * MOM", "\"MOM\" is no day of the week (column 9); did you mean mon?", "* * * * mon"),
    ("0 9 * * monday", "\"monday\" is no day of the week (column 9); did you mean mon?", "0 9 * * mon"),
    ("0 9 * january *", "\"january\" is no month (column 7); did you mean jan?", "0 9 * jan *"),
    ("cron: 0 9 mon * *", "\"mon\" is no day of the month (column 11); expected 1-31, L, L-3 or 15W", nil),
    (
      "0 9 * *", "there are 4 fields, and the day of the week is missing (column 8); did you mean 0 9 * * *?",
      "0 9 * * *"
    ),
    (
      "cron: 5",
      "there is 1 field, and the hour and the rest are missing (column 8); expected five fields (minute, hour, day of month, month, day of week), or six with the second first",
      nil
    ),
    (
      "cron:",
      "the expression is missing (column 6); expected five fields (minute, hour, day of month, month, day of week), or six with the second first",
      nil
    ),
    (
      "0 0 9 * * 1-5 2026",
      "there are more than six fields (column 15); expected five fields (minute, hour, day of month, month, day of week), or six with the second first",
      nil
    ),
    (
      "0 9 * * 1-5 /usr/bin/backup",
      "\"/usr/bin/backup\" is a command, not a field (column 13); did you mean 0 9 * * 1-5?", "0 9 * * 1-5"
    ),
    ("0 9 * * 1-5 ls", "\"ls\" is a command, not a field (column 13); did you mean 0 9 * * 1-5?", "0 9 * * 1-5"),
    ("0 0 9 * * MOM", "\"MOM\" is no day of the week (column 11); did you mean mon?", "0 0 9 * * mon"),
    ("0 0 9 * * friday", "\"friday\" is no day of the week (column 11); did you mean fri?", "0 0 9 * * fri"),
    (
      "0 9 * * 1-5 backup --all", "\"backup\" is a command, not a field (column 13); did you mean 0 9 * * 1-5?",
      "0 9 * * 1-5"
    ),
    ("*/0 * * * *", "a step of 0 never advances (column 3); did you mean 1?", "*/1 * * * *"),
    ("*/ * * * *", "the step is missing after the slash (column 3); expected a number, as in */2", nil),
    (
      "5-1 * * * *", "the range 5-1 runs backwards, so it would be empty (column 1); did you mean 5-59,0-1?",
      "5-59,0-1 * * * *"
    ),
    (
      "0 22-6 * * *", "the range 22-6 runs backwards, so it would be empty (column 3); did you mean 22-23,0-6?",
      "0 22-23,0-6 * * *"
    ),
    (
      "0 0 * * fri-sun", "the range fri-sun runs backwards, so it would be empty (column 9); did you mean 5-7?",
      "0 0 * * 5-7"
    ),
    (
      "0 0 * * sat-mon", "the range sat-mon runs backwards, so it would be empty (column 9); did you mean 6-7,1?",
      "0 0 * * 6-7,1"
    ),
    ("0 0 * * 7-2", "the range 7-2 runs backwards, so it would be empty (column 9); did you mean 0-2?", "0 0 * * 0-2"),
    (
      "0 0 * dec-feb *", "the range dec-feb runs backwards, so it would be empty (column 7); did you mean 12,1-2?",
      "0 0 * 12,1-2 *"
    ),
    ("5/15 * * * *", "a step needs a range or * before it (column 1); did you mean 5-59/15?", "5-59/15 * * * *"),
    ("0 9 * * 1,", "the day of the week is incomplete (column 11); did you mean 1?", "0 9 * * 1"),
    ("1,,2 9 * * 1", "the minute is incomplete (column 3); did you mean 1,2?", "1,2 9 * * 1"),
    ("1- 9 * * 1", "the minute is incomplete (column 3); expected 0-59", nil),
    (
      "*5 9 * * 1",
      "\"5\" is not allowed in the minute (column 2); expected a comma, or a blank before the next field", nil
    ),
    (
      "cron: 5x 9 * * 1",
      "\"x\" is not allowed in the minute (column 8); expected a comma, or a blank before the next field", nil
    ),
    (
      "cron: 9:30 9 * * 1",
      "\":30\" is not allowed in the minute (column 8); expected a comma, or a blank before the next field", nil
    ),
    ("cron: ? 9 * * 1", "\"?\" is not allowed in the minute (column 7); expected 0-59", nil),
    ("0 9 * * L", "L needs a day of the week before it (column 9); expected 5L or friL for the last Friday", nil),
    ("0 9 * * 1#6", "\"6\" is not a number from 1 to 5 (column 11); expected 1 to 5 after #, or 1L for the last", nil),
    ("0 9 * * mon#-1", "\"-1\" is not a number from 1 to 5 (column 13); did you mean monL?", "0 9 * * monL"),
    (
      "0 9 L-31 * *",
      "\"31\" is not a number of days before the last of the month (column 7); expected L, or L-1 to L-30",
      nil
    ),
    (
      "0 9 1-5W * *",
      "\"W\" is not allowed in the day of the month (column 8); expected a comma, or a blank before the next field",
      nil
    ),
    (
      "@reboot",
      "@reboot means the start of the machine, which is not a time (column 1); expected one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly",
      nil
    ),
    ("@dayly", "\"@dayly\" is not known (column 1); did you mean @daily?", "@daily"),
    ("@daily 5", "\"5\" follows a word that stands for all fields (column 8); did you mean @daily?", "@daily "),
    ("0 0 30 2 *", "no year has such a day (column 5); expected a day that the months have", nil),
    ("0 0 31 4,6,9,11 *", "no year has such a day (column 5); expected a day that the months have", nil),
    ("0 0 L-30 2,4 *", "no year has such a day (column 5); expected a day that the months have", nil),
  ]

  @Test func refusesInvalidExpressions() throws {
    let prague = try zone("Europe/Prague")
    for (text, message, suggestion) in Self.refused {
      let error = #expect(throws: ScheduleError.self, "\(text)") { try Schedule.parse(text, now: friday, zone: prague) }
      #expect(error?.message == "\(text): \(message)")
      #expect(error?.suggestion == suggestion, "\(text)")
      let canNever = text.hasPrefix("0 0 3") && !text.hasPrefix("0 0 32") || text.hasPrefix("0 0 L-30")
      #expect(error?.code == (canNever ? .neverOccurs : .invalidSchedule), "\(text)")
      #expect(throws: ScheduleError.self, "\(text)") { try Schedule(canonical: text) }
    }
  }

  /// Texts without the prefix that are recognized as cron, and others.
  @Test func cronTextsAreRecognizedWithoutAPrefix() throws {
    let prague = try zone("Europe/Prague")
    for text in [
      "* * * * *", "*/5 * * * *", "0 9 * * mon-fri", "0 9 L * *", "0 9 ? * 1#2", "0 9 15W * *", "0 9 * jan *",
      "30 8 1 1 0", "0 0 9 * * mon", "1,2 3-4 5/6 * *", "0 9 * *", "*/5 * *", "* *", "60 99 99 99 99", "0 9 * * MOM",
      "\t0 9 * * 1", "0\t9\t*\t*\t1", "0 9 * * 1-5 /usr/bin/backup", "0 9 LW-1 nov mon",
    ] {
      #expect(dialect(of: text, prague) == .cron, "\(text)")
    }
    for text in [
      "8 9 10", "8:30 9 * * *", "at 0 9 * * *", "2026-12-01 9 * * *", "1 dec 2026 at 9", "24 december 2026 17:30",
      "1-2-3 4 5 6 7", "5", "*", "", "every 5 m * *", "9 am daily", "mon 0 9 * *", "12 nov 2026", "90m 1 2 3 4",
      "*-*-* 09:00", "*-*-* 09:00:00 * *", "8, 9, 10 daily",
    ] {
      #expect(dialect(of: text, prague) != .cron, "\(text)")
    }
    for (text, _) in CanonicalTests.table { #expect(dialect(of: text, prague) == .phrase, "\(text)") }
  }

  /// Returns the dialect of a text; errors are told apart by what they expect.
  private func dialect(of text: String, _ zone: Zone) -> Dialect {
    do {
      return try Schedule.parse(text, now: friday, zone: zone).dialect
    } catch {
      let words = [
        "field", "a step needs", "no day of the week", "the minute", "the hour", "the day of the", "the month",
      ]
      return words.contains { error.message.contains($0) || error.expected.contains($0) } ? .cron : .phrase
    }
  }

  /// Invalid UTF-8 is longer as text, and contains several faults.
  @Test func invalidUTF8IsRefused() {
    let line = Array("cron: \0\0\t * ".utf8) + [UInt8](repeating: 0xA7, count: 9) + Array("bad".utf8)
    #expect(throws: ScheduleError.self) { try CrontabTime(line: line) }
  }

  @Test func crontabLinesAreSplitFromTheirCommand() throws {
    for (line, canonical, command) in [
      ("0 9 * * 1-5 /usr/bin/backup --all", "cron: 0 9 * * 1-5", "/usr/bin/backup --all"),
      (" \t*/5\t* * * *   root  x", "cron: */5 * * * *", "root  x"),
      ("@daily echo é", "cron: 0 0 * * *", "echo é"), ("@hourly", "cron: 0 * * * *", ""),
      ("0 0 1 jan mon\tls", "cron: 0 0 1 1 1", "ls"), ("0 9 * * * * x", "cron: 0 9 * * *", "* x"),
      ("0 9 L * friL", "cron: 0 9 L * 5L", ""),
    ] {
      let time = try CrontabTime(line: Array(line.utf8))
      #expect(time.schedule.canonical == canonical, "\(line)")
      #expect(String(decoding: Array(line.utf8)[time.commandStart...], as: UTF8.self) == command, "\(line)")
    }
    for (line, message, suggestion) in [
      (
        "@reboot /usr/bin/secret",
        "@reboot: @reboot means the start of the machine, which is not a time (column 1); expected one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly",
        nil
      ),
      (
        " 0 24 * * * secret",
        " 0 24 * * *: \"24\" is out of range: the hour goes from 0 to 23 (column 4); did you mean 0?", " 0 0 * * *"
      ),
      ("0 0 30 2 * secret", "0 0 30 2 *: no year has such a day (column 5); expected a day that the months have", nil),
      (
        "5/15 * * * * secret", "5/15 * * * *: a step needs a range or * before it (column 1); did you mean 5-59/15?",
        "5-59/15 * * * *"
      ),
      (
        "",
        "the expression is missing (column 1); expected five fields (minute, hour, day of month, month, day of week), or six with the second first",
        nil as String?
      ),
    ] {
      let error = #expect(throws: ScheduleError.self, "\(line)") { try CrontabTime(line: Array(line.utf8)) }
      #expect(error?.message == message)
      #expect(error?.suggestion == suggestion)
    }
  }
}
