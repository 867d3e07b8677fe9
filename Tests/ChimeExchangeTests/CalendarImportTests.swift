import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeExchange

/// The results of single events and to-dos: `title
///
/// schedule
///
/// zone`, or why they are left out.
@Suite struct CalendarImportTests {
  /// Friday 27 March 2026, 09:26:40 in Prague.
  static let now = Instant(seconds: 1_774_600_000)
  static let settings = ImportSettings(now: now, scheduleContext: scheduleContext)

  static func plan(_ components: String, settings: ImportSettings = settings) throws -> ImportPlan {
    let text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Test//EN\n\(components)\nEND:VCALENDAR\n"
    return try CalendarImport.read(Array(text.utf8), settings)
  }

  static func described(_ plan: ImportPlan) -> [String] {
    plan.drafts.map { "\($0.title) | \($0.schedule) | \($0.timezone ?? "-")" }
      + plan.remarks.map { "\($0.line ?? 0) \($0.kind): \($0.message)" }
  }

  static func event(_ lines: String, alarms: String...) -> String {
    let alarms = alarms.map { "BEGIN:VALARM\nACTION:DISPLAY\n\($0)\nEND:VALARM\n" }.joined()
    return "BEGIN:VEVENT\nSUMMARY:E\n\(lines)\n\(alarms)END:VEVENT"
  }

  static func todo(_ lines: String, alarms: String...) -> String {
    let alarms = alarms.map { "BEGIN:VALARM\nACTION:DISPLAY\n\($0)\nEND:VALARM\n" }.joined()
    return "BEGIN:VTODO\nSUMMARY:T\n\(lines)\n\(alarms)END:VTODO"
  }

  /// Returns a zone as Outlook writes it, from 1601 on.
  static func outlook(
    _ name: String, _ standard: String, _ back: String, _ daylight: String, _ forth: String, backAt: String = "02"
  ) -> String {
    func part(_ kind: String, _ from: String, _ to: String, _ day: String, at hour: String = "02") -> String {
      "BEGIN:\(kind)\nDTSTART:16010101T\(hour)0000\nTZOFFSETFROM:\(from)\nTZOFFSETTO:\(to)\n"
        + "RRULE:FREQ=YEARLY;BYDAY=\(day)\nEND:\(kind)\n"
    }
    return "BEGIN:VTIMEZONE\nTZID:\(name)\n" + part("STANDARD", daylight, standard, back, at: backAt)
      + part("DAYLIGHT", standard, daylight, forth) + "END:VTIMEZONE\n"
  }

  /// The rules written for a zone are recognized as that zone when read again.
  @Test func exportedZoneRulesAreRecognized() throws {
    let kathmandu = try #require(scheduleContext.zones("Asia/Kathmandu"))
    for name in WindowsZones.locations {
      let zone = try #require(scheduleContext.zones(name), "\(name)")
      var writer = CalendarWriter()
      writer.component("VCALENDAR") { ZoneComponent(zone, from: 2026).write(to: &$0) }
      let calendar = try #require(try CalendarFile(writer.bytes).calendars.first)
      let rules = try #require(ZoneRules(calendar.components[0], around: Self.now), "\(name)")
      #expect(rules.areThose(of: zone), "\(name)")
      #expect(!rules.areThose(of: name == "Asia/Kathmandu" ? .utc : kathmandu), "\(name)")
    }
  }

  @Test(
    arguments: [
      // The reminder has the zone of its event.
      (event("DTSTART;TZID=Europe/Prague:20261201T090000"), ["E | at 2026-12-01 09:00 | Europe/Prague"]),
      (event("DTSTART:20261201T090000"), ["E | at 2026-12-01 09:00 | -"]),
      (event("DTSTART:20261201T090000Z"), ["E | at 2026-12-01T09:00:00Z | -"]),
      (event("DTSTART;TZID=America/New_York:20261201T090015"), ["E | at 2026-12-01 09:00:15 | America/New_York"]),
      (event("dtstart;tzid=\"Europe/Prague\":20261201t090000"), ["E | at 2026-12-01 09:00 | Europe/Prague"]),
      // Zone names that other programs write.
      (
        event("DTSTART;TZID=/freeassociation.sourceforge.net/Tzfile/Europe/Prague:20261201T090000"),
        ["E | at 2026-12-01 09:00 | Europe/Prague"]
      ),
      (
        event("DTSTART;TZID=/mozilla.org/20050126_1/America/Argentina/Buenos_Aires:20261201T090000"),
        ["E | at 2026-12-01 09:00 | America/Argentina/Buenos_Aires"]
      ),
      (
        event("DTSTART;TZID=Central Europe Standard Time:20261201T090000"),
        ["E | at 2026-12-01 09:00 | Europe/Budapest"]
      ),
      (
        "BEGIN:VTIMEZONE\nTZID:Office\nX-LIC-LOCATION:Asia/Tokyo\nEND:VTIMEZONE\n"
          + event("DTSTART;TZID=Office:20261201T090000"), ["E | at 2026-12-01 09:00 | Asia/Tokyo"]
      ),
      (event("DTSTART;TZID=/Europe/Stockholm:20261201T090000"), ["E | at 2026-12-01 09:00 | Europe/Stockholm"]),
      (event("DTSTART;TZID=europe/lisbon:20261201T090000"), ["E | at 2026-12-01 09:00 | Europe/Lisbon"]),
      (
        event("DTSTART;TZID=America/Port-Au-Prince:20261201T090000"),
        ["E | at 2026-12-01 09:00 | America/Port-au-Prince"]
      ),
      // Zones defined in the file only are recognized by their rules; the reader's own zone takes precedence.
      (
        outlook("Customized Time Zone", "-0500", "1SU;BYMONTH=11", "-0400", "2SU;BYMONTH=3")
          + event("DTSTART;TZID=Customized Time Zone:20261201T090000\nRRULE:FREQ=DAILY"),
        [
          "E | DTSTART;TZID=America/New_York:20261201T090000 RRULE:FREQ=DAILY | America/New_York",
          "4 note: the zone \"Customized Time Zone\" is read as America/New_York, which has the same rules",
        ]
      ),
      (
        outlook("(UTC+01:00) Home", "+0100", "-1SU;BYMONTH=10", "+0200", "-1SU;BYMONTH=3", backAt: "03")
          + event("DTSTART;TZID=\"(UTC+01:00) Home\":20261201T090000"),
        [
          "E | at 2026-12-01 09:00 | Europe/Prague",
          "4 note: the zone \"(UTC+01:00) Home\" is read as Europe/Prague, which has the same rules",
        ]
      ),
      // A rule that never occurs matches no zone, and is not searched for long.
      (
        outlook("Never", "+0100", "1SU;BYMONTH=2;BYMONTHDAY=31", "+0200", "1SU;BYMONTH=2;BYMONTHDAY=30")
          + event("DTSTART;TZID=Never:20261201T090000"),
        ["19 refused: this machine has no time zone \"Never\", and no zone with the rules in the file"]
      ),
      // A day of change that no zone has.
      (
        outlook("Nowhere", "+0100", "-1TU;BYMONTH=10", "+0200", "-1SU;BYMONTH=3")
          + event("DTSTART;TZID=Nowhere:20261201T090000"),
        [
          "E | at 2026-12-01T08:00:00Z | -",
          "19 note: this machine has no time zone \"Nowhere\"; its time has the file's offset",
        ]
      ),
      // The times of a recurring event in it are listed: summer time ends on Tuesday 26 October 2027.
      (
        outlook("Nowhere", "+0100", "-1TU;BYMONTH=10", "+0200", "-1SU;BYMONTH=3")
          + event(
            "DTSTART;TZID=Nowhere:20271025T090000\nRRULE:FREQ=DAILY;UNTIL=20271028T080000Z\n"
              + "EXDATE;TZID=Nowhere:20271027T090000"),
        [
          "E | DTSTART:20271025T070000Z RDATE:20271026T080000Z,20271028T080000Z | -",
          "19 note: this machine has no time zone \"Nowhere\"; its times are listed, with the file's offsets",
        ]
      ),
      (
        "BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0317\nTZOFFSETTO:+0317\n"
          + "END:STANDARD\nEND:VTIMEZONE\n" + event("DTSTART;TZID=Odd:20261201T010000"),
        [
          "E | at 2026-11-30T21:43:00Z | -",
          "12 note: this machine has no time zone \"Odd\"; its time has the file's offset",
        ]
      ),
      (
        "BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0317\nTZOFFSETTO:+0317\n"
          + "END:STANDARD\nEND:VTIMEZONE\n" + event("DTSTART;TZID=Odd:20561201T010000"),
        [
          "12 refused: this machine has no time zone \"Odd\", and the file does not give the offsets of that time"
        ]
      ),
      // A start that its rule does not match is included too, unless it is excluded (RFC 5545 section 3.8.5.3).
      (
        event("DTSTART:20261202T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"),
        [
          "E | DTSTART:20261202T090000Z RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR RDATE:20261202T090000Z | -",
          "4 note: its rule does not include its start, which is taken too",
        ]
      ),
      (
        event("DTSTART:20261202T090000Z\nEXDATE:20261202T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"),
        [
          "E | DTSTART:20261202T090000Z RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR | -"
        ]
      ),
      (
        event("DTSTART;VALUE=DATE:20261202\nRRULE:FREQ=WEEKLY;BYDAY=MO\nRDATE;VALUE=DATE:20261204"),
        [
          "E | DTSTART:20261202T090000 RRULE:FREQ=WEEKLY;BYDAY=MO RDATE:20261202T090000,20261204T090000 | -",
          "4 note: its rule does not include its start, which is taken too",
        ]
      ),
      // Limits that RFC 5545 defines for yearly rules only.
      (
        event("DTSTART:20270517T090000Z\nRRULE:FREQ=WEEKLY;BYWEEKNO=20"),
        [
          "E | DTSTART:20270517T090000Z RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO,TU,WE,TH,FR,SA,SU | -",
          "4 note: BYWEEKNO with FREQ=WEEKLY is read as each such day of a year",
        ]
      ),
      (
        event("DTSTART:20270101T090000Z\nRRULE:FREQ=DAILY;BYYEARDAY=1,100;COUNT=4"),
        [
          "E | DTSTART:20270101T090000Z RRULE:FREQ=YEARLY;COUNT=4;BYYEARDAY=1,100 | -",
          "4 note: BYYEARDAY with FREQ=DAILY is read as each such day of a year",
        ]
      ),
      (
        "BEGIN:VTIMEZONE\nTZID:Bad\nBEGIN:STANDARD\nDTSTART:x\nEND:STANDARD\nEND:VTIMEZONE\n"
          + event("DTSTART;TZID=Bad:20261201T090000"),
        ["10 refused: this machine has no time zone \"Bad\", and no zone with the rules in the file"]
      ),
      // The calendar's own zone applies to times without one, but not to all-day events.
      (
        "X-WR-TIMEZONE:America/New_York\n" + event("DTSTART:20261201T090000"),
        ["E | at 2026-12-01 09:00 | America/New_York"]
      ),
      ("X-WR-TIMEZONE:America/New_York\n" + event("DTSTART;VALUE=DATE:20261224"), ["E | at 2026-12-24 09:00 | -"]),
      ("X-WR-TIMEZONE:Europe/Prague\n" + event("DTSTART:20261201T090000"), ["E | at 2026-12-01 09:00 | -"]),
      ("X-WR-TIMEZONE:Nowhere\n" + event("DTSTART:20261201T090000"), ["E | at 2026-12-01 09:00 | -"]),
      // Empty rules.
      (event("DTSTART:20261201T090000\nRRULE:"), ["E | at 2026-12-01 09:00 | -"]),
      (event("DTSTART:20261201T090000\nRRULE:;"), ["E | at 2026-12-01 09:00 | -"]),
      (
        event("DTSTART;TZID=Customized Time Zone:20261201T090000"),
        ["4 refused: this machine has no time zone \"Customized Time Zone\""]
      ),
      (
        event("DTSTART;TZID=../../etc/passwd:20261201T090000"),
        ["4 refused: this machine has no time zone \"../../etc/passwd\""]
      ),
      // All-day events.
      (event("DTSTART;VALUE=DATE:20261224"), ["E | at 2026-12-24 09:00 | -"]),
      (event("DTSTART;VALUE=DATE:20261224", alarms: "TRIGGER:-PT15H"), ["E | at 2026-12-23 09:00 | -"]),
      (event("DTSTART;VALUE=DATE:20261224", alarms: "TRIGGER:PT9H30M"), ["E | at 2026-12-24 09:30 | -"]),
      // Alarms: each once; days by the wall clock, hours as elapsed time (the clocks change on 25 October, 03:00 to 02:00).
      (
        event(
          "DTSTART;TZID=Europe/Prague:20261201T090000", alarms: "TRIGGER:-PT15M", "TRIGGER:-P0DT0H15M0S", "TRIGGER:-P1D"
        ),
        ["E | at 2026-12-01 08:45 | Europe/Prague", "E | at 2026-11-30 09:00 | Europe/Prague"]
      ),
      (
        event("DTSTART;TZID=Europe/Prague:20261025T090000", alarms: "TRIGGER:-P1D", "TRIGGER:-PT24H"),
        ["E | at 2026-10-24 09:00 | Europe/Prague", "E | at 2026-10-24 10:00 | Europe/Prague"]
      ),
      (
        // Both 02:30s of that night: the second can only be written in UTC.
        event("DTSTART;TZID=Europe/Prague:20261025T030000", alarms: "TRIGGER:-PT30M", "TRIGGER:-PT90M"),
        ["E | at 2026-10-25T01:30:00Z | Europe/Prague", "E | at 2026-10-25 02:30 | Europe/Prague"]
      ),
      (
        event("DTSTART:20261201T090000Z\nDTEND:20261201T100000Z", alarms: "TRIGGER;RELATED=END:-PT5M"),
        ["E | at 2026-12-01T09:55:00Z | -"]
      ),
      (
        event("DTSTART:20261201T090000Z\nDURATION:PT2H", alarms: "TRIGGER;RELATED=END:PT0S"),
        ["E | at 2026-12-01T11:00:00Z | -"]
      ),
      (
        event("DTSTART;TZID=Europe/Prague:20261201T090000", alarms: "TRIGGER;VALUE=DATE-TIME:20261130T170000Z"),
        ["E | at 2026-11-30T17:00:00Z | Europe/Prague"]
      ),
      (
        event("DTSTART:20261201T090000Z", alarms: "TRIGGER:-PT10M\nREPEAT:3\nDURATION:PT5M"),
        ["E | at 2026-12-01T08:50:00Z | -", "7 note: an alarm repeats; Chime takes it once"]
      ),
      (
        event("DTSTART:20261201T090000Z", alarms: "TRIGGER:soon"),
        ["E | at 2026-12-01T09:00:00Z | -", "7 note: an alarm has no TRIGGER that Chime understands; it is left out"]
      ),
      (
        "BEGIN:VEVENT\nSUMMARY:E\nDTSTART:20261201T090000Z\nBEGIN:VALARM\nACTION:NONE\n"
          + "TRIGGER;VALUE=DATE-TIME:19760401T005545Z\nEND:VALARM\nEND:VEVENT", ["E | at 2026-12-01T09:00:00Z | -"]
      ),
      // Nothing left to remind of.
      (event("DTSTART:20200101T090000Z"), ["4 past: it has passed"]),
      (event("DTSTART:20200101T090000Z", alarms: "TRIGGER:-PT1M", "TRIGGER:-PT2M"), ["4 past: it has passed"]),
      (event("DTSTART:20260327T100000Z", alarms: "TRIGGER:-P1D", "TRIGGER:-PT5M"), ["E | at 2026-03-27T09:55:00Z | -"]),
      (event("DTSTART:20261201T090000Z\nSTATUS:CANCELLED"), ["4 closed: it is cancelled"]),
      (event("STATUS:CONFIRMED"), ["4 refused: it has no start (DTSTART)"]),
      (event("DTSTART:tomorrow"), ["4 refused: \"tomorrow\" is not a date and time"]),
      (event("DTSTART:20260230T090000Z"), ["4 refused: \"20260230T090000Z\" is not a date and time"]),
      (event("DTSTART:19500101T090000Z"), ["4 refused: it begins before 1970"]),
      (
        event("DTSTART:20261201T090000Z\nRRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY"),
        ["4 refused: it has an EXRULE, which iCalendar no longer supports"]
      ),
      // To-dos.
      (todo("DUE;VALUE=DATE:20261224"), ["T | at 2026-12-24 09:00 | -"]),
      (todo("DTSTART;VALUE=DATE:20261220\nDUE;VALUE=DATE:20261224"), ["T | at 2026-12-24 09:00 | -"]),
      (todo("DTSTART:20261220T080000Z\nDUE:20261224T080000Z"), ["T | at 2026-12-24T08:00:00Z | -"]),
      (todo("DTSTART:20261220T080000Z"), ["T | at 2026-12-20T08:00:00Z | -"]),
      (
        todo("DTSTART:20261220T080000Z\nDUE:20261224T080000Z", alarms: "TRIGGER:-PT5M", "TRIGGER;RELATED=END:-PT5M"),
        ["T | at 2026-12-20T07:55:00Z | -", "T | at 2026-12-24T07:55:00Z | -"]
      ),
      (todo("DUE:20261224T080000Z", alarms: "TRIGGER;RELATED=END:-PT5M"), ["T | at 2026-12-24T07:55:00Z | -"]),
      (todo("PRIORITY:1"), ["4 refused: it has no date"]),
      (todo("DUE:20261224T080000Z\nSTATUS:COMPLETED"), ["4 closed: it is done"]),
      (todo("DUE:20261224T080000Z\nCOMPLETED:20261101T080000Z"), ["4 closed: it is done"]),
      (todo("DUE:20261224T080000Z\nPERCENT-COMPLETE:100"), ["4 closed: it is done"]),
      // A changed occurrence whose series is not in the file.
      (event("UID:1\nRECURRENCE-ID:20261201T090000Z\nDTSTART:20261201T100000Z"), ["E | at 2026-12-01T10:00:00Z | -"]),
      // The same event twice: the one with the higher sequence number is used.
      (
        event("UID:1\nSEQUENCE:2\nDTSTART:20261201T100000Z") + "\n"
          + event("UID:1\nSEQUENCE:1\nDTSTART:20261201T090000Z"),
        ["E | at 2026-12-01T10:00:00Z | -"]
      ),
    ] as [(String, [String])])
  func singleEventsBecomeReminders(_ components: String, _ expected: [String]) throws {
    #expect(Self.described(try Self.plan(components)) == expected)
  }

  @Test func everyFieldIsImported() throws {
    let plan = try Self.plan(
      """
      BEGIN:VEVENT
      SUMMARY:Dinner\\, with a very lo
       ng title
      DTSTART:20261201T190000
      DESCRIPTION:Bring:\\n- wine\\; red\\N- C:\\\\x
      LOCATION;ALTREP="CID:x":Na Příkopě 1\\, Praha
      URL:https://example.org/dinner?a=1,2;b
      CATEGORIES:Friends,Eating\\, drinking
      CATEGORIES:Friends
      PRIORITY:1
      X-UNKNOWN;X=1,"a:b;c":whatever
      END:VEVENT
      """)
    let draft = try #require(plan.drafts.first)
    #expect(draft.title == "Dinner, with a very long title")
    #expect(draft.body == "Bring:\n- wine; red\n- C:\\x")
    #expect(draft.texts["location"] == "Na Příkopě 1, Praha")
    #expect(draft.texts["url"] == "https://example.org/dinner?a=1,2;b")
    #expect(draft.tags == ["Friends", "Eating, drinking"])
    #expect(draft.urgency == .critical)
    #expect(plan.remarks.isEmpty)
  }

  @Test(arguments: [
    ("SUMMARY:", "Untitled"), ("X:Y", "Untitled"), ("SUMMARY:a\\nb\tc\u{1B}[31m", "a b c [31m"),
    ("SUMMARY:\(String(repeating: "é", count: 600))", String(repeating: "é", count: 498) + "…"),
  ])
  func titlesAreCleanedAndCut(_ line: String, _ expected: String) throws {
    let plan = try Self.plan("BEGIN:VEVENT\n\(line)\nDTSTART:20261201T190000\nEND:VEVENT")
    #expect(plan.drafts.map(\.title) == [expected])
    #expect(try #require(plan.drafts.first).title.utf8.count <= 1_000)
  }

  @Test func allDayEventsFireAtTheConfiguredTime() throws {
    var settings = Self.settings
    settings.allDayAt = try #require(CivilTime(hour: 7, minute: 30))
    let plan = try Self.plan(Self.event("DTSTART;VALUE=DATE:20261224"), settings: settings)
    #expect(plan.drafts.map(\.schedule.canonical) == ["at 2026-12-24 07:30"])
  }

  @Test(arguments: [
    ("", "the text is empty; expected BEGIN:VCALENDAR"),
    ("hello", "line 1: this is not iCalendar; expected BEGIN:VCALENDAR"),
    ("SUMMARY:x", "line 1: this is not iCalendar; expected BEGIN:VCALENDAR"),
    ("BEGIN:VCARD\nEND:VCARD", "line 1: this is not iCalendar; expected BEGIN:VCALENDAR"),
    ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR", "line 3: END:VCALENDAR has no matching BEGIN"),
    (
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x",
      "line 2: the text ends before the END of this VEVENT: it is cut off"
    ),
    (
      "BEGIN:VCALENDAR\nVERSION:1.0\nEND:VCALENDAR",
      "line 2: this is vCalendar 1.0; expected iCalendar (VERSION:2.0)"
    ),
    (
      "BEGIN:VCALENDAR\n" + String(repeating: "BEGIN:X\n", count: 9),
      "line 9: components are nested more than 8 deep"
    ),
  ])
  func invalidCalendarsAreRefused(_ text: String, _ message: String) {
    let error = #expect(throws: ExchangeError.self) { try CalendarImport.read(Array(text.utf8), Self.settings) }
    #expect(error?.description == message)
  }
}
