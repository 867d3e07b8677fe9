import ChimeSchedule
import Testing

/// Canonical forms of calendar expressions. The comparison with systemd covers thousands; these explain the form.
@Suite struct CalendarCanonicalTests {
  struct Row: Sendable {
    var text, canonical: String
    init(_ text: String, _ canonical: String) {
      self.text = text
      self.canonical = canonical
    }
  }

  static let table: [Row] = [
    Row("minutely", "*-*-* *:*:00"),
    Row("hourly", "*-*-* *:00:00"),
    Row("daily", "*-*-* 00:00:00"),
    Row("Weekly", "Mon *-*-* 00:00:00"),
    Row("monthly", "*-*-01 00:00:00"),
    Row("quarterly", "*-01,04,07,10-01 00:00:00"),
    Row("yearly", "*-01-01 00:00:00"),
    Row("ANNUALLY", "*-01-01 00:00:00"),
    Row("semi-annually", "*-01,07-01 00:00:00"),
    Row("biannually", "*-01,07-01 00:00:00"),
    Row("daily UTC", "*-*-* 00:00:00 UTC"),
    Row("daily Europe/Prague", "*-*-* 00:00:00 Europe/Prague"),
    // The examples of systemd.time(7).
    Row("Sat,Thu,Mon..Wed,Sat..Sun", "Mon..Thu,Sat,Sun *-*-* 00:00:00"),
    Row("Mon,Sun 12-*-* 2,1:23", "Mon,Sun 2012-*-* 01,02:23:00"),
    Row("Wed *-1", "Wed *-*-01 00:00:00"),
    Row("Wed..Wed,Wed *-1", "Wed *-*-01 00:00:00"),
    Row("Wed, 17:48", "Wed *-*-* 17:48:00"),
    Row("Wed..Sat,Tue 12-10-15 1:2:3", "Tue..Sat 2012-10-15 01:02:03"),
    Row("*-*-7 0:0:0", "*-*-07 00:00:00"),
    Row("10-15", "*-10-15 00:00:00"),
    Row("monday *-12-* 17:00", "Mon *-12-* 17:00:00"),
    Row("Mon,Fri *-*-3,1,2 *:30:45", "Mon,Fri *-*-01,02,03 *:30:45"),
    Row("12,14,13,12:20,10,30", "*-*-* 12,13,14:10,20,30:00"),
    Row("12..14:10,20,30", "*-*-* 12..14:10,20,30:00"),
    Row("mon,fri *-1/2-1,3 *:30:45", "Mon,Fri *-01/2-01,03 *:30:45"),
    Row("03-05 08:05:40", "*-03-05 08:05:40"),
    Row("08:05:40", "*-*-* 08:05:40"),
    Row("05:40", "*-*-* 05:40:00"),
    Row("Sat,Sun 12-05 08:05:40", "Sat,Sun *-12-05 08:05:40"),
    Row("Sat,Sun 08:05:40", "Sat,Sun *-*-* 08:05:40"),
    Row("2003-03-05 05:40", "2003-03-05 05:40:00"),
    Row("05:40:23.4200004/3.1700005", "*-*-* 05:40:23.420000/3.170001"),
    Row("2003-02..04-05", "2003-02..04-05 00:00:00"),
    Row("2003-03-05 05:40 UTC", "2003-03-05 05:40:00 UTC"),
    Row("2003-03-05", "2003-03-05 00:00:00"),
    Row("03-05", "*-03-05 00:00:00"),
    Row("*:2/3", "*-*-* *:02/3:00"),
    Row("Mon-Fri 9:00", "Mon..Fri *-*-* 09:00:00"),
    Row("Monday,tuesday,SUN", "Mon,Tue,Sun *-*-* 00:00:00"),
    Row("Mon..Sun 9:00", "*-*-* 09:00:00"),
    Row("Mon,", "Mon *-*-* 00:00:00"),
    Row("2026-02~03", "2026-02~03 00:00:00"),
    Row("*-*~1 18:00", "*-*~01 18:00:00"),
    Row("02~*", "*-02-* 00:00:00"),
    Row("*~22..28/3", "*-*~22..28/3 00:00:00"),
    Row("69-1-1", "2069-01-01 00:00:00"),
    Row("70-1-1", "1970-01-01 00:00:00"),
    Row("98..2/2-1-1", "1998..2002/2-01-01 00:00:00"),
    Row("8..18/3:0", "*-*-* 08..17/3:00:00"),
    Row("8..9/3:0", "*-*-* 08:00:00"),
    Row("9..9:0", "*-*-* 09:00:00"),
    Row("*:*:*", "*-*-* *:*:*"),
    Row("*:*:7,0/1", "*-*-* *:*:*"),
    Row("*:*:0/0.5", "*-*-* *:*:00/0.500000"),
    Row("*:*:0.1..2.9", "*-*-* *:*:00.100000..02.100000"),
    Row("9:0:0.9999995", "*-*-* 09:00:01"),
    Row("*-*-*   9:00", "*-*-* 09:00:00"),
    Row("@1796115600", "2026-12-01 09:00:00 UTC"),
    Row("@ 5", "1970-01-01 00:00:05 UTC"),
    Row("Tue @1796115600", "Tue 2026-12-01 09:00:00 UTC"),
    Row("  daily\t", "*-*-* 00:00:00"),
  ]

  @Test(arguments: table) func expressionHasOneCanonicalForm(_ row: Row) throws {
    let schedule = try Schedule(canonical: "calendar: " + row.text)
    #expect(schedule.canonical == "calendar: " + row.canonical)
    #expect(schedule.dialect == .calendar)
    #expect(try Schedule(canonical: schedule.canonical) == schedule)
    #expect(try Schedule(canonical: "CALENDAR:" + row.canonical) == schedule)
  }

  /// A canonical form parses to the same value.
  @Test func canonicalFormReadsBack() throws {
    var generator = CalendarGenerator(seed: 11)
    var accepted = 0
    let rounds = ProofTier.amount(quick: 500, proof: 10_000)
    for _ in 0..<rounds {
      let text = generator.expression(near: generator.number(1970...2199)) + (generator.chance(20) ? " Asia/Gaza" : "")
      guard let schedule = try? Schedule(canonical: "calendar: " + text) else { continue }
      accepted += 1
      let again = try Schedule(canonical: schedule.canonical)
      #expect(again == schedule, "\(text)")
      let after = Instant(seconds: Int64(generator.number(0...7_000_000_000)))
      #expect(
        again.timetable(in: .utc).next(after: after) == schedule.timetable(in: .utc).next(after: after), "\(text)")
    }
    #expect(accepted > rounds / 2)
  }

  @Test func survivesDamage() throws {
    let damage = Damage(
      seed: 44, rounds: 600, proof: 10_000,
      pieces: [
        "*", "/", "-", "~", "..", ",", ":", " ", "Mon", "fri", "0", "31", "60", "2199", "99999999999999999999", ".5",
        "UTC",
        " Europe/Prague", "daily", "@", "\0", "é", "calendar:", "CET",
      ], understood: 10, scheduleContext: ScheduleContext(zone: try zone("Europe/Prague"), zones: { try? zone($0) }))
    damage.expectSurvival(of: Self.table.map { "calendar: \($0.text)" })
  }

  @Test func zonesAndSingleMomentsAreRecognized() throws {
    #expect(try Schedule(canonical: "calendar: 09:00 Europe/Prague").zoneIdentifier == "Europe/Prague")
    #expect(try Schedule(canonical: "calendar: 09:00 utc").zoneIdentifier == "UTC")
    #expect(try Schedule(canonical: "calendar: 09:00").zoneIdentifier == nil)
    // It may be a label of the reminder's own zone.
    #expect(try Schedule(canonical: "calendar: 09:00 CET").zoneIdentifier == nil)
    #expect(try Schedule(canonical: "calendar: 2026-12-01 09:00").isOneOff)
    #expect(try Schedule(canonical: "calendar: 2026-12~01 09:00:00.5 UTC").isOneOff)
    #expect(try !Schedule(canonical: "calendar: *-12-01 09:00").isOneOff)
    #expect(try !Schedule(canonical: "calendar: 2026-12-01 09:00:0/2").isOneOff)
  }
}
