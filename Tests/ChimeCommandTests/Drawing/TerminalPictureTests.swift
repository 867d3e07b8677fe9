import ChimeControl
import ChimeSchedule
import ChimeWords
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// Expected drawings on a terminal, in 80 and in 40 columns.
@Suite struct TerminalPictureTests {
  static let year = try? FakeTrackers().daemon()

  static func draw(_ line: String, width: Int, environment: [String: String] = [:], year: TrackerYear? = nil) throws
    -> Outcome
  {
    let daemon = if let year { try FakeTrackers(year: year).daemon() } else { try #require(Self.year) }
    return chime(
      words(line), daemon: daemon, width: width, isTerminal: true,
      environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"].merging(environment) { $1 })
  }

  @Test(arguments: TerminalPicture.all)
  func drawingsMatchTheExpectedOnes(_ picture: TerminalPicture) throws {
    let outcome = try Self.draw(picture.line, width: picture.width)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.output == picture.expected, "it is now:\n\(outcome.output)")
    for line in outcome.lines { #expect(TextWidth.of(line) <= picture.width, "\(line)") }
  }

  /// A day off that was done anyway has no number: neither in the grid nor in the sentence nor in the flowers.
  @Test func dayOffThatWasDoneHasNoNumber() throws {
    var year = TrackerYear.full
    var days = try #require(year.days["goal"])
    let off = try #require(days.firstIndex { $0.day.hasPrefix("2026-02") && $0.number != nil })
    (days[off].counts, days[off].reason, days[off].number) = (false, "weekday", nil)
    for index in days.indices where index > off { days[index].number = days[index].number.map { $0 - 1 } }
    year.days["goal"] = days
    let month = days.filter { $0.day.hasPrefix("2026-02") }
    let met = month.count { $0.number != nil }
    let due = month.count { $0.counts }
    let last = try #require(month.compactMap(\.number).max())
    let grid = try Self.draw("progress goal --month 2026-02", width: 80, year: year).output
    #expect(grid.contains("Day \(met) of \(due) in this month, \(last) in all."), "\(grid)")
    let numbers = Set(grid.split { !$0.isNumber }.compactMap { Int($0) })
    #expect(numbers.contains(met) && !numbers.contains(met + 1))
    let calendar = try Self.draw("month goal --month 2026-02", width: 80, year: year).output
    #expect(calendar.contains("Met on \(met) of \(due) days."), "\(calendar)")
    let html = try ReportTests.html(year, ["--pack", "goal", "--range", "2026-02-01..2026-02-28"])
    #expect(html.contains("\(met) of \(due) days, \(last) in all"))
  }

  static let commands = [
    "chart weight", "chart water", "chart goal", "logbook weight", "logbook watches", "logbook goal", "month",
    "month weight",
    "month goal", "progress goal", "progress adkhar-evening",
  ]

  /// No drawing is wider than the terminal, however narrow, and without UTF-8 it is ASCII.
  @Test(arguments: commands)
  func drawingsFitEveryWidth(_ line: String) throws {
    for width in ProofTier.amount(quick: [36, 77, 200], proof: [36, 40, 52, 63, 77, 80, 100, 200]) {
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

  /// Colors change nothing but the color.
  @Test(arguments: commands)
  func colorsChangeNoText(_ line: String) throws {
    let bare = try Self.draw(line, width: 80).output
    let painted = try Self.draw(line + " --color always", width: 80).output
    #expect(painted.contains("\u{1B}[") && !bare.contains("\u{1B}"))
    #expect(painted.replacing(/\u{1B}\[[0-9]*m/, with: "") == bare)
  }

  // MARK: For programs and screen readers

  @Test func plainChartHasALinePerDay() throws {
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

  @Test func plainMonthHasALinePerDay() throws {
    let lines = try Self.draw("month water --plain", width: 80).lines.dropLast()
    #expect(lines.count == 28 && lines[0].hasPrefix("day\t") && !lines.joined().contains("○"))
    let numbered = try Self.draw("progress goal --plain", width: 80).lines
    #expect(numbered.count == 29)
    let all = try Self.draw("month --plain", width: 80).lines
    #expect(all[0] == "day\tmet\tdue\tstarted" && all[27].hasPrefix("2026-03-27\t2\t7\t"))
  }

  @Test(arguments: [
    ("chart weight --json", "statistics"), ("logbook weight --json", "entries"), ("month water --json", "days"),
    ("month --json", "summaries"), ("progress goal --json", "milestones"),
  ])
  func jsonOutputIsOneObject(_ line: String, _ member: String) throws {
    let outcome = try Self.draw(line, width: 80)
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(object?[member] != nil)
  }

  @Test func progressNumbersComeFromTheDaemon() throws {
    let outcome = try Self.draw("progress goal --json", width: 80)
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(object?["numberThisMonth"] as? Int == 16 && object?["countedThisMonth"] as? Int == 26)
    #expect(object?["number"] as? Int == 216 && (object?["days"] as? [Any])?.count == 27)
  }

  // MARK: Requests of the logbook

  @Test(
    arguments: [
      ("notes", ["withNotes": true]), ("milestones", ["withMilestones": true]),
      ("weekday=mon,wed", ["weekdays": ["mon", "wed"]]),
      ("text=long run", ["text": "long run"]), ("item=f-91w", ["item": "f-91w"]), ("item=Black", ["item": "black-bay"]),
    ] as [(String, [String: JSON])])
  func filtersAreSentToTheDaemon(_ filter: String, _ expected: [String: JSON]) throws {
    let daemon = try FakeTrackers().daemon()
    let tracker = filter.hasPrefix("item") ? "watches" : "weight"
    let outcome = chime(["logbook", tracker, "--filter", filter], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    let call = try #require(daemon.calls.first { $0.method == TrackersInterface.Entries.method })
    for (name, value) in expected { #expect(call.parameters[name] == value) }
  }

  @Test func weekdayFiltersAreCombined() throws {
    let daemon = try FakeTrackers().daemon()
    let arguments = ["logbook", "weight", "--filter", "weekday=mon", "--filter", "weekday=wed", "--filter", "notes"]
    #expect(chime(arguments, daemon: daemon).status == .success)
    let call = try #require(daemon.calls.first { $0.method == TrackersInterface.Entries.method })
    #expect(call.parameters["weekdays"] == ["mon", "wed"] && call.parameters["withNotes"] == true)
  }

  /// The title states the range drawn, however much was asked for.
  @Test(arguments: ["all", "10Y", "2020-01-01..2029-12-31"]) func chartTitleStatesTheRangeDrawn(_ range: String) throws
  {
    let daemon = try FakeTrackers().daemon()
    let title = chime(["chart", "weight", "--range", range], daemon: daemon, isTerminal: true).lines.first ?? ""
    let days = TrackerYear.full.entries.filter { $0.tracker == "weight" }.map(\.day)
    let (first, last) = (try #require(days.min()), try #require(days.max()))
    func written(_ day: String) -> String { CivilDate(day).map { LocalizedFormat.date($0) } ?? "" }
    #expect(title.contains(written(first)) && title.contains(written(last)), "\(title)")
  }

  /// Further pages of entries are requested until there are no more, and no entry appears twice.
  @Test func allPagesOfALongLogbookAreRead() throws {
    let daemon = try FakeTrackers().daemon()
    let lines = chime(["logbook", "water", "--range", "all", "--plain"], daemon: daemon).lines.dropLast().dropFirst()
    #expect(lines.count == TrackerYear.full.entries.count { $0.tracker == "water" })
    #expect(Set(lines).count == lines.count)
    #expect(daemon.methods.count { $0 == "Trackers.Entries" } == (lines.count + 499) / 500)
  }

  // MARK: Nothing to draw

  @Test(arguments: [
    ("chart water", "There is nothing to draw of Water"), ("logbook weight", "No entry of Weight matches."),
    ("chart goal", "`chime log goal` logs an entry"), ("progress goal", "`chime log goal` makes it day 1"),
  ])
  func emptyStatesSayWhatToDo(_ line: String, _ expected: String) throws {
    let outcome = try Self.draw(line, width: 80, year: .fresh)
    #expect(outcome.status == .success && outcome.errors.contains(expected), "\(outcome.errors)")
  }

  @Test func withoutTrackersInitIsSuggested() throws {
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
    ("month --month 2026-04", .usage, "is in the future"), ("month --month smarch", .usage, "--month"),
    ("progress", .usage, "which tracker?"), ("progress goal now", .usage, "one word too many"),
  ])
  func refusesInvalidRequests(_ line: String, _ status: ExitCode, _ message: String) throws {
    let outcome = try Self.draw(line, width: 80)
    #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome.status): \(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}
