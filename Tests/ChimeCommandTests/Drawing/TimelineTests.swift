import ChimeControl
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// Timelines of `chime next` and `chime history`.
@Suite struct TimelineTests {
  private static func time(_ seconds: Int64) -> Wire.Time { Samples.time(Samples.now.seconds + seconds) }

  private static func coming(
    _ id: String, _ title: String, _ seconds: Int64, snoozed: Bool = false,
    skipReason: Wire.SkipReason? = nil
  ) -> OccurrencesInterface.UpcomingTime {
    OccurrencesInterface.UpcomingTime(
      reminder: id, title: title, at: time(seconds), snoozed: snoozed, paused: false, when: "", skipReason: skipReason)
  }

  private static func past(
    _ id: String, _ title: String, _ seconds: Int64, _ state: OccurrencesInterface.Occurrence.State,
    late: OccurrencesInterface.Occurrence.Late? = nil, missed: OccurrencesInterface.Occurrence.Missed? = nil
  ) -> OccurrencesInterface.Occurrence {
    OccurrencesInterface.Occurrence(
      id: "\(id)@\(seconds)", reminder: id, title: title, state: state, scheduledAt: time(seconds), late: late,
      missed: missed,
      rounds: 1)
  }

  static func daemon() throws -> FakeDaemon {
    try FakeDaemon { method, _ in
      if method == OccurrencesInterface.Upcoming.method {
        let water = (1...20).map { coming("water", "Drink water", Int64($0) * 5_400 - 3_000) }
        let rest = [
          coming("tea", "Tea", 300, snoozed: true), coming("jp", "日本語の長いタイトルがここにあります", 40_000),
          coming("read", "Read a page", 30_000, skipReason: .doneAlready), coming("read", "Read a page", 80_000),
        ]
        let all = (water + rest).sorted { $0.at.at < $1.at.at }
        return .reply(OccurrencesInterface.Upcoming.Reply(upcoming: all.filter { $0.at.at < time(86_400).at }))
      }
      let all = [
        past("tea", "Tea", -600, .delivered), past("water", "Drink water", -3_000, .done),
        past("water", "Drink water", -8_400, .done, late: .suspend),
        past("water", "Drink water", -13_800, .missed, missed: .suspend),
        past("read", "Read a page", -40_000, .missed, missed: .doneAlready),
        past("read", "Read a page", -60_000, .dismissed),
      ]
      return .reply(OccurrencesInterface.List.Reply(occurrences: all))
    }
  }

  static let pictures: [(String, Int, String)] = [
    (
      "next --timeline", 80,
      #"""
                                Fri 27 Mar                      Sat 28 Mar
                                 10  12   14  16   18  20   22  00   02  04   06  08
      Tea                       ◐───────────────────────────────┼─────────────────────
      Drink water               ─●──●───●──●───●──●──●───●──●──●┼──●──●───●──●──●───●─
      Read a page               ──────────────────○─────────────┼─────────────────●───
      日本語の長いタイトルが…   ─────────────────────────●──────┼─────────────────────

      ● comes   ◐ snoozed, repeated or held   ○ paused, or done already

      """#
    ),
    (
      "next --timeline", 40,
      #"""
                    Fri 27 Mar     Sat 28 Mar
                      12   16  20  00   04  08
      Tea           ◐──────────────┼──────────
      Drink water   ●─●●─●─●●─●─●●─●●─●─●●─●─●
      Read a page   ─────────○─────┼────────●─
      日本語の長…   ────────────●──┼──────────

      ● comes   ◐ snoozed, repeated or held
      ○ paused, or done already

      """#
    ),
    (
      "history --timeline", 80,
      #"""
                   Thu 26 Mar                              Fri 27 Mar
                    10    12   14    16   18    20    22   00    02   04    06   08
      Tea          ────────────────────────────────────────┼─────────────────────────◐
      Drink water  ────────────────────────────────────────┼───────────────×───◆───●──
      Read a page  ────────────────────○──────────────○────┼──────────────────────────

      ● done   ◐ not answered yet   ○ dismissed, or done already   ◆ came late
      × missed

      """#
    ),
    (
      "history --timeline", 40,
      #"""
                   Thu 26 Mar      Fri 27 Mar
                     12   16  20   00  04   08
      Tea          ────────────────┼─────────◐
      Drink water  ────────────────┼─────×─◆─●
      Read a page  ────────○─────○─┼──────────

      ● done   ◐ not answered yet
      ○ dismissed, or done already
      ◆ came late   × missed

      """#
    ),
    (
      "next --timeline --ascii -n 2", 40,
      #"""
                   Fri 27 Mar      Sat 28 Mar
                     12   16  20   00  04   08
      Tea          /---------------+----------
      Drink water  *-*-**-*-**-*-**+*-*-**-*-*

      * comes   / snoozed, repeated or held

      """#
    ),
    (
      "history --timeline --ascii", 40,
      #"""
                   Thu 26 Mar      Fri 27 Mar
                     12   16  20   00  04   08
      Tea          ----------------+---------/
      Drink water  ----------------+-----!-L-*
      Read a page  --------o-----o-+----------

      * done   / not answered yet
      o dismissed, or done already
      L came late   ! missed

      """#
    ),
  ]

  private func draw(_ line: String, _ width: Int, daemon: FakeDaemon? = nil) throws -> Outcome {
    chime(
      words(line), daemon: try daemon ?? Self.daemon(), width: width, isTerminal: true,
      environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"])
  }

  @Test(arguments: Self.pictures)
  func drawingsMatchTheExpectedOnes(_ line: String, _ width: Int, _ expected: String) throws {
    let outcome = try draw(line, width)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.output == expected, "it is now:\n\(outcome.output)")
  }

  @Test func timelinesFitEveryWidth() throws {
    for width in [30, 36, 40, 52, 80, 132, 200] {
      for line in ["next --timeline", "history --timeline", "next --timeline --before \"20 days\""] {
        let outcome = try draw(line, width)
        for line in outcome.lines { #expect(TextWidth.of(line) <= width && !line.hasSuffix(" "), "\(width): \(line)") }
      }
    }
  }

  /// Marks are placed by the clock, also on a day with 23 hours.
  @Test func marksFollowTheClockOnADayOf23Hours() throws {
    let zone = try Zone(
      identifier: "Europe/Prague", tzif: [UInt8](Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Prague"))))
    // 29 March 2026, 00:00 in Prague; the clock goes from 2 to 3.
    let from = Instant(seconds: 1_774_738_800)
    for (hours, column) in [(0, 0), (1, 2), (2, 4), (12, 24), (22, 44)] {
      let timeline = Timeline(
        from: from, to: from + .hours(23), zone: zone,
        lanes: [.init(title: "x", marks: [.init(at: from + .hours(Int64(hours)), sign: "@")])],
        glyphs: Glyphs(isASCII: true))
      // 46 columns for 23 hours: two per hour. The title takes one, and two are free.
      let lines = timeline.lines(width: 57, style: Style(isColored: false))
      #expect(lines.count == 3)
      let track = Array(lines[2].dropFirst(3))
      #expect(track.count >= 46 && track.firstIndex(of: "@") == column * track.count / 46, "\(lines)")
    }
    let hours = Timeline(
      from: from, to: from + .hours(23), zone: zone, lanes: [.init(title: "x", marks: [])],
      glyphs: Glyphs(isASCII: true)
    ).lines(width: 130, style: Style(isColored: false))[1]
    #expect(hours.contains("01") && hours.contains("03"), "\(hours)")
  }

  /// A timeline of a few hours has labels with minutes: full hours would give it two labels, or none.
  @Test(arguments: [
    (45, 60, ["09:30", "09:40", "09:50", "10:00"]),
    (180, 60, ["09:30", "10:00", "10:30", "11:00", "11:30", "12:00"]),
    (10, 120, ["09:27", "09:28", "09:29"]), (600, 60, ["10", "11", "12"]),
  ])
  func shortTimelineLabelsHaveMinutes(_ minutes: Int64, _ width: Int, _ names: [String]) throws {
    let zone = try Zone(
      identifier: "Europe/Prague", tzif: [UInt8](Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Prague"))))
    let timeline = Timeline(
      from: Samples.now, to: Samples.now + .seconds(minutes * 60), zone: zone, lanes: [.init(title: "x", marks: [])],
      glyphs: Glyphs(isASCII: true))
    let axis = timeline.lines(width: width, style: Style(isColored: false))[1].split(separator: " ").map(String.init)
    #expect(axis.starts(with: names), "\(axis)")
  }

  @Test func machineFormatsHaveTimesAndNoDrawing() throws {
    let daemon = try Self.daemon()
    let json = chime(["next", "--timeline", "--json"], daemon: daemon)
    #expect(try JSON(parsing: json.output)["upcoming"] != nil)
    #expect(daemon.calls[0].parameters.description == #"{"before":"2026-03-28T09:26:40+01:00","limit":10000}"#)
    let plain = try draw("next --timeline --plain", 80)
    #expect(plain.lines[0].hasPrefix("reminder\ttitle\tat"))
    #expect(!plain.output.contains("─"))
    let history = chime(["history", "--timeline", "--plain"], daemon: daemon)
    #expect(history.lines.count == 8)
    #expect(daemon.calls[1].parameters["filter"]?["since"] == "2026-03-26T09:26:40+01:00")
  }

  @Test func allTimesBeforeAMomentAreListed() throws {
    let daemon = try Self.daemon()
    let outcome = chime(["next", "--before", "tomorrow", "-n", "3"], daemon: daemon)
    #expect(daemon.calls[0].parameters.description == #"{"before":"2026-03-28T00:00:00+01:00","limit":4}"#)
    #expect(outcome.lines.count == 5 && outcome.errors.contains("These are the first 3"))
    #expect(chime(["next", "--before", "yesterday"], daemon: daemon).status == .usage)
    #expect(outcome.output.contains("Drink water"))
    let quiet = chime(["next", "-n", "30"], daemon: daemon).output
    #expect(quiet.contains("Read a page (skipped: done already)"), "\(quiet)")
  }

  @Test func emptyTimelineSaysSo() throws {
    let daemon = try FakeDaemon { method, _ in
      method == OccurrencesInterface.Upcoming.method
        ? .reply(OccurrencesInterface.Upcoming.Reply(upcoming: []))
        : .reply(OccurrencesInterface.List.Reply(occurrences: []))
    }
    let next = try draw("next --timeline", 80, daemon: daemon)
    #expect(
      next.output.isEmpty && next.errors.hasPrefix("Nothing is coming before Sat 2026-03-28 09:26:40."),
      "\(next.errors)")
    let history = try draw("history --timeline", 80, daemon: daemon)
    #expect(history.output.isEmpty && history.errors.contains("No time matches"))
  }
}
