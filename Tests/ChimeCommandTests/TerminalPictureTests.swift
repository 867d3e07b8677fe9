import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// The drawings of a terminal as they are to look, in 80 and in 40 columns.
@Suite struct TerminalPictureTests {
  struct Picture: CustomTestStringConvertible, Sendable {
    var line: String
    var width: Int
    var expected: String

    init(_ line: String, _ width: Int, _ expected: String) {
      (self.line, self.width, self.expected) = (line, width, expected)
    }
    var testDescription: String { "\(line), \(width) columns" }
  }

  static let pictures = [
    Picture(
      "chart weight --range 6M", 80,
      #"""
      Weight (kg), 2025-09-28 to 2026-03-27
      84 ┤
         │
         │⢆   ∘
      82 ┤⠈⣆⡀∘⢀⣀⡀∘  ∘∘∘  ∘
         │∘∘⠘⠒⠉∘⠈⠉⠉⠉⠉⠉⠉⠉⠒⠤⡠⠤⡀   ∘      ∘
         │         ∘   ∘  ∘∘⠱⠤⣀⡠⠤⢄⣀⡠⣀⠤⢄⡤⠤⣀⡀   ∘      ∘∘
         │              ∘  ∘∘  ∘∘ ∘ ∘ ∘ ∘∘⠸⠤⠤⠤⠤⠤⠤⢤⡀∘⢀⡠⠒⠒⠲⢄   ∘ ∘∘∘
      80 ┤                       ∘       ∘∘    ∘  ⠈⠉⠁∘  ∘∘⠙⠒⢆⢄⣀⡠⠤⠒⠢⠤⠤⣄⡀∘⢀⢀∘∘∘   ░░░░░░
         │                                       ∘          ∘∘∘∘  ∘ ∘∘⠈⠉⠉⠁⠉⠊⠑⠒⠢⡠⠄┅┅┅┅┅
         │                                                                    ∘ ░░░░░░
      78 ┤                                                                        ░░░░
         │
         │
      76 ┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
         └─┬───────────┬───────────┬───────────┬───────────┬──────────┬───────────┬───
          Oct         Nov         Dec         Jan         Feb        Mar         Apr

      ∘ a day   ⠒⠒ average of 7 days   ┅░ expected   ┄ goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      The average changes by -0.1 kg a week.
      On Fri 2026-04-10 it is expected between 77.6 kg and 80.0 kg.
      At this rate the goal is reached on Tue 2026-05-19.

      """#),
    Picture(
      "chart weight --range 6M", 40,
      #"""
      Weight (kg), 2025-09-28 to 2026-03-27
      85.0 ┤
           │
      82.5 ┤⢇⡀⣀⡀⣀⢀ ∘
           │∘⠉∘⠉⠉⠁⠙⠒⢆⣀⣀⣀⣀⣀⡀ ∘  ∘
      80.0 ┤      ∘ ∘∘∘∘∘∘⠈⠓⠑⠒⠦⠚⠙⠦⢄⣀⡠⣄⣀⢀∘∘ ░░░
           │                 ∘    ∘∘∘∘∘⠉⠉⠉⠒⠂┅┅
      77.5 ┤                                ░░
           │┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
      75.0 ┤
           └──────┬─────────┬─────────┬───────
                 Nov       Jan       Mar

      ∘ a day   ⠒⠒ average of 7 days
      ┅░ expected   ┄ goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      The average changes by -0.1 kg a week.
      On Fri 2026-04-10 it is expected between
      77.6 kg and 80.0 kg.
      At this rate the goal is reached on Tue
      2026-05-19.

      """#),
    Picture(
      "chart weight --range 1M --ascii", 40,
      #"""
      Weight (kg), 2026-02-28 to 2026-03-27
      80 |    o o  o   o                 :::::
         |****************o   o   ::::::::::::
         |  oo o ooo oo  *********============
         |                    o   ::::::::::::
      78 |                            ::::::::
         |                                 :::
         |
         |
      76 |------------------------------------
         +--+-----------+-----------+---------
          2 Mar      16 Mar      30 Mar

      o a day   * average of 7 days
      =: expected   - goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      The average changes by -0.1 kg a week.
      On Fri 2026-04-10 it is expected between
      77.6 kg and 80.0 kg.
      At this rate the goal is reached on Tue
      2026-05-19.

      """#),
    Picture(
      "chart water --range 2W", 40,
      #"""
      Water (ml), 2026-03-14 to 2026-03-27
      4000 ┤
           │
           │    ▄ ▇                 ▁
           │┄┄┄┄•┄•┄•┄•┄•┄•┄•┄•┄┄┄┄┄•┄┄┄
      2000 ┤• • █ █ ▄   █ █ █ █ • • █ •
           │█ █ █ █ █   █ █ █ █ ▅ █ █ ▃
           │█ █ █ █ █ ▆ █ █ █ █ █ █ █ █
           │█ █ █ █ █ █ █ █ █ █ █ █ █ █
         0 ┤█ █ █ █ █ █ █ █ █ █ █ █ █ █
           └────┬─────────────┬─────────
             16 Mar        23 Mar

      █ a day   • average of 7 days
      ┄ goal 2500 ml
      2247 ml a day on average, on days with
      an entry.

      """#),
    Picture(
      "chart adkhar-reading --range 3M", 40,
      #"""
      A page of reading (days a week),
      2025-12-28 to 2026-03-27
      9 ┤
        │
        │                    █
      6 ┤      █             █ █ █
        │  █   █ █ █         █ █ █
      3 ┤  █ █ █ █ █   █ █ █ █ █ █
        │  █ █ █ █ █ █ █ █ █ █ █ █ █
        │  █ █ █ █ █ █ █ █ █ █ █ █ █
      0 ┤  █ █ █ █ █ █ █ █ █ █ █ █ █
        └──┬────────┬───────┬────────
          Jan      Feb     Mar

      █ a week
      Done on 62 of 90 days.

      """#),
    Picture(
      "logbook weight --range 2026-02-25..2026-03-06", 80,
      #"""
      DATE    WEIGHT   AVG  RATE  NOTES

      March 2026: average 79.3 kg, -0.3 kg
      Fri  6    79.0  79.3  -0.2
      Thu  5    79.8  79.4  -0.3
      Wed  4    79.1  79.3  -0.3
      Mon  2    79.2  79.3  -0.3
      Sun  1    79.3  79.5  -0.1

      February 2026: average 79.6 kg, -0.5 kg
      Sat 28    79.7  79.6  -0.1
      Fri 27    79.3  79.5  -0.2
      Thu 26    79.2  79.6  -0.1  <script>alert('weigh')</script> & "quotes"

      """#),
    Picture(
      "logbook weight --range 2026-02-25..2026-03-06", 40,
      #"""
      DATE    WEIGHT   AVG  NOTES

      March 2026: average 79.3 kg, -0.3 kg
      Fri  6    79.0  79.3
      Thu  5    79.8  79.4
      Wed  4    79.1  79.3
      Mon  2    79.2  79.3
      Sun  1    79.3  79.5

      February 2026: average 79.6 kg, -0.5 kg
      Sat 28    79.7  79.6
      Fri 27    79.3  79.5
      Thu 26    79.2  79.6  <script>alert('we…

      """#),
    Picture(
      "logbook weight --range 1Y --filter milestones", 40,
      #"""
      DATE    WEIGHT   AVG  RATE  NOTES

      February 2026: average 79.6 kg, -0.5 kg
      Wed 18    80.4  79.8  +0.3  ★ 80 kg

      October 2025: average 81.7 kg, -0.6 kg
      Tue 14    81.6  81.8  +0.2  ★ 82 kg

      July 2025: average 83.7 kg, -0.9 kg
      Sun 20    83.6  83.7  -0.1  ★ 84 kg

      May 2025: average 85.7 kg, -0.9 kg
      Mon 19    86.4  86.2   0.0  ★ 86 kg

      """#),
    Picture(
      "logbook watches --range 1W", 40,
      #"""
      DATE    TIME   ITEM          NOTES

      March 2026: 24 of 27 days
      Fri 27  08:00  Tangente 38
      Wed 25  08:00  Submariner
      Tue 24  18:00  Speedmaster
      Tue 24  08:00  Submariner
      Mon 23  08:00  Black Bay 58
      Sun 22  08:00  Tank Must
      Sat 21  08:00  SKX007

      """#),
    Picture(
      "month water", 80,
      #"""
      Water, March 2026
       Mon        Tue        Wed        Thu        Fri        Sat        Sun
                                                                          1○ 90%
        2● 117%    3● 115%    4○ 68%     5○ 60%     6○ 56%     7○ 50%     8○ 97%
        9● 119%   10○ 69%    11● 122%   12● 106%   13○ 64%    14○ 86%    15○ 86%
       16● 115%   17● 122%   18○ 79%    19○ 48%    20○ 99%    21● 101%   22● 101%
       23● 104%   24○ 64%    25○ 81%    26● 108%  [27○ 60%]   28         29
       30         31

      Met on 11 of 27 days.
      ● met   ○ not met   · does not count

      """#),
    Picture(
      "month water", 40,
      #"""
      Water, March 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                                      1○
        2●   3●   4○   5○   6○   7○   8○
        9●  10○  11●  12●  13○  14○  15○
       16●  17●  18○  19○  20○  21●  22●
       23●  24○  25○  26● [27○] 28   29
       30   31

      Met on 11 of 27 days.
      ● met   ○ not met   · does not count

      """#),
    Picture(
      "month --ascii", 40,
      #"""
      March 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                                      1/
        2/   3/   4/   5/   6/   7/   8/
        9/  10/  11/  12/  13/  14/  15/
       16/  17/  18/  19/  20/  21/  22/
       23/  24/  25/  26/ [27/] 28   29
       30   31

      All was met on 0 days.
      x met   / in part   o not met
      . does not count

      """#),
    Picture(
      "progress goal", 80,
      #"""
      Practise the cello, March 2026
       Mon   Tue   Wed   Thu   Fri   Sat   Sun
                                            ·
        1     2     ·     ○     3     4★    ·
        5     6     ·     7     ○     8     ·
        9    10     ·    11    12    13     ·
       14    15     ·    16   [ ○]

      Day 16 of 26 in this month, 216 in all.
      ★ Sat 2026-03-07 Third position "onload="alert(1)
      <img src=x onerror=alert(1)>

      """#),
    Picture(
      "progress goal --month 2026-01 --ascii", 40,
      #"""
      Practise the cello, January 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                       1    2    3    .
        4    o    .    5    6    7    .
        o    8    .    9    o   10*   .
       11   12    .   13   14   15    .
       16   17    .    o   18   19

      Day 19 of 23 in this month, 185 in all.
      * Sat 2026-01-17 First concert for
      friends
      The prelude of the first suite, from
      memory.

      """#),
  ]

  static let year = try? FakeTrackers().daemon()

  static func draw(_ line: String, width: Int, environment: [String: String] = [:], year: TrackerYear? = nil) throws
    -> Outcome
  {
    let daemon = if let year { try FakeTrackers(year: year).daemon() } else { try #require(Self.year) }
    return chime(
      words(line), daemon: daemon, width: width, isTerminal: true,
      environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"].merging(environment) { $1 })
  }

  @Test(arguments: pictures)
  func picturesAreAsTheyWere(_ picture: Picture) throws {
    let outcome = try Self.draw(picture.line, width: picture.width)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.output == picture.expected, "it is now:\n\(outcome.output)")
    for line in outcome.lines { #expect(TextWidth.of(line) <= picture.width, "\(line)") }
  }

  static let commands = [
    "chart weight", "chart water", "chart goal", "logbook weight", "logbook watches", "logbook goal", "month",
    "month weight",
    "month goal", "progress goal", "progress adkhar-evening",
  ]

  /// Nothing is wider than the terminal, however narrow it is, and without UTF-8 the drawing is the typewriter's.
  @Test(arguments: commands)
  func everyWidthIsKept(_ line: String) throws {
    for width in [36, 40, 52, 63, 77, 80, 100, 200] {
      for range in line.hasPrefix("month") || line.hasPrefix("progress")
        ? [""] : [" --range 1W", " --range 1Y", " --range all"]
      {
        let outcome = try Self.draw(line + range, width: width)
        #expect(outcome.status == .success, "\(outcome.errors)")
        for line in outcome.lines { #expect(TextWidth.of(line) <= width, "\(width): \(line)") }
      }
    }
    let typed = try Self.draw(line, width: 80, environment: ["LANG": "C"]).output
    // Titles and notes are the user's own.
    let strange = typed.replacing("…", with: "").filter { !$0.isASCII }
    #expect(strange.isEmpty, "\(typed)")
  }

  /// Colours add nothing but colour.
  @Test(arguments: commands)
  func coloursAreOnlyColours(_ line: String) throws {
    let bare = try Self.draw(line, width: 80).output
    let painted = try Self.draw(line + " --color always", width: 80).output
    #expect(painted.contains("\u{1B}[") && !bare.contains("\u{1B}"))
    #expect(painted.replacing(/\u{1B}\[[0-9]*m/, with: "") == bare)
  }

  // MARK: For programs and screen readers

  @Test func plainChartsHaveALineADay() throws {
    let lines = try Self.draw("chart weight --range 1M --plain", width: 80).lines.dropLast().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    #expect(lines[0] == ["day", "value", "average", "low", "high"])
    #expect(lines.allSatisfy { $0.count == 5 })
    let ahead = lines.dropFirst().filter { $0[3] != "" }
    #expect(lines.dropFirst().filter { $0[0] > "2026-03-27" }.map { $0[0] } == ahead.map { $0[0] })
    #expect(ahead.count == 14 && ahead.allSatisfy { $0[2] == "" })
    #expect(lines.contains { $0[0] == "2026-03-27" && $0[1] == "79.2" && $0[2] != "" })
  }

  @Test func plainMonthsHaveALineADay() throws {
    let lines = try Self.draw("month water --plain", width: 80).lines.dropLast()
    #expect(lines.count == 28 && lines[0].hasPrefix("day\t") && !lines.joined().contains("○"))
    let numbered = try Self.draw("progress goal --plain", width: 80).lines
    #expect(numbered.count == 29)
    let all = try Self.draw("month --plain", width: 80).lines
    #expect(all[0] == "day\tmet\tdue" && all[27] == "2026-03-27\t2\t7")
  }

  @Test(arguments: [
    ("chart weight --json", "statistics"), ("logbook weight --json", "entries"), ("month water --json", "days"),
    ("month --json", "days"), ("progress goal --json", "milestones"),
  ])
  func programsGetOneObject(_ line: String, _ member: String) throws {
    let outcome = try Self.draw(line, width: 80)
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(object?[member] != nil)
  }

  @Test func numbersOfProgressAreTheDaemons() throws {
    let outcome = try Self.draw("progress goal --json", width: 80)
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(object?["numberThisMonth"] as? Int == 16 && object?["countedThisMonth"] as? Int == 26)
    #expect(object?["number"] as? Int == 216 && (object?["days"] as? [Any])?.count == 27)
  }

  // MARK: What the logbook asks for

  @Test(
    arguments: [
      ("notes", ["withNotes": true]), ("milestones", ["withMilestones": true]),
      ("weekday=mon,wed", ["weekdays": ["mon", "wed"]]),
      ("text=long run", ["text": "long run"]), ("item=f-91w", ["item": "f-91w"]), ("item=Black", ["item": "black-bay"]),
    ] as [(String, [String: JSON])])
  func filtersAreTheDaemons(_ filter: String, _ expected: [String: JSON]) throws {
    let daemon = try FakeTrackers().daemon()
    let tracker = filter.hasPrefix("item") ? "watches" : "weight"
    let outcome = chime(["logbook", tracker, "--filter", filter], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    let call = try #require(daemon.calls.first { $0.method == TrackersInterface.Entries.method })
    for (name, value) in expected { #expect(call.parameters[name] == value) }
  }

  /// More entries than one answer holds are asked for until there are no more, and none comes twice.
  @Test func longLogbooksAreRead() throws {
    let daemon = try FakeTrackers().daemon()
    let lines = chime(["logbook", "water", "--range", "all", "--plain"], daemon: daemon).lines.dropLast().dropFirst()
    #expect(lines.count == TrackerYear.full.entries.count { $0.tracker == "water" })
    #expect(Set(lines).count == lines.count)
    #expect(daemon.methods.count { $0 == "Trackers.Entries" } == (lines.count + 499) / 500)
  }

  // MARK: What cannot be drawn

  @Test(arguments: [
    ("chart water", "There is nothing to draw yet of Water"), ("logbook weight", "No entry of Weight fits."),
    ("chart goal", "`chime log goal` records something"), ("progress goal", "`chime log goal` makes it day 1"),
  ])
  func emptyStatesSayWhatToDo(_ line: String, _ expected: String) throws {
    let outcome = try Self.draw(line, width: 80, year: .fresh)
    #expect(outcome.status == .success && outcome.errors.contains(expected), "\(outcome.errors)")
  }

  @Test func withoutTrackersThereIsAWayToBegin() throws {
    let outcome = try Self.draw("month", width: 80, year: .empty)
    #expect(outcome.status == .success && outcome.output.isEmpty && outcome.errors.contains("`chime init`"))
  }

  @Test(arguments: [
    ("chart", ExitCode.usage, "which tracker?"), ("chart wieght", .failed, "weight"),
    ("chart weight --range 9Q", .usage, "--range"),
    ("chart weight --average 1", .usage, "--average"), ("logbook weight --filter note", .usage, "notes"),
    ("logbook weight --filter item=x", .usage, "has no items"),
    ("logbook watches --filter item=zzz", .failed, "no item"),
    ("logbook weight --filter weekday=xyz", .usage, "--filter"), ("month water --month 2026-13", .usage, "--month"),
    ("month --month 2026-04", .usage, "has not come yet"), ("month --month smarch", .usage, "--month"),
    ("progress", .usage, "which tracker?"), ("progress goal now", .usage, "one word too many"),
  ])
  func refusals(_ line: String, _ status: ExitCode, _ message: String) throws {
    let outcome = try Self.draw(line, width: 80)
    #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome.status): \(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}
