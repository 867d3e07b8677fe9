import ChimeControl
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeCommand

@Suite struct ReportTests {
  /// A folder for one test, deleted at its end.
  final class Folder {
    let path: String

    init() throws {
      path = try RunFolder.makeFolder("report")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
    func text(_ name: String) throws -> String { try String(contentsOfFile: path + "/" + name, encoding: .utf8) }
  }

  static func html(_ year: TrackerYear, _ options: [String] = [], environment: [String: String] = [:]) throws -> String
  {
    let daemon = try FakeTrackers(year: year).daemon()
    let outcome = chime(["report", "-"] + options, daemon: daemon, environment: environment)
    #expect(outcome.status == .success, "\(outcome.errors)")
    return outcome.output
  }

  // MARK: Content

  @Test func fullReportShowsEverySection() throws {
    let html = try Self.html(.full)
    for piece in [
      "A day with something done", "إِنَّ مَعَ الْعُسْرِ يُسْرًا", "Indeed, with hardship comes ease.", "Quran 94:6",
      "class=\"cup\"", "class=\"ring\"", "1500 of 2500 ml", "class=\"band\"", "class=\"mean\"", "class=\"goal-line\"",
      "class=\"flag-line\"", "href=\"#flower-", "class=\"bud\"", "class=\"hex\"", "class=\"hex-way\"", "138 of 150",
      "29 of 50 unlocked", "Special occasions", "Speedmaster", "Most used first", "level 7", "2340 XP",
      "First concert for friends", "src=\"data:image/png;base64,iVBOR", "80 kg", "class=\"now-day\"",
    ] {
      #expect(html.contains(piece), "\(piece)")
    }
    #expect(html.contains("<p lang=\"ar\" dir=\"rtl\">"))
    #expect(html.contains("1 photo was left out"))
    #expect(html.matches(of: /class="hex"/).count == TrackerYear.full.achievements.count { $0.unlockedAt != nil })
    #expect(html.matches(of: /class="hex-off"/).count == TrackerYear.full.achievements.count { $0.unlockedAt == nil })
  }

  /// The title names the period, axes have units, many milliliters become liters, and a share is a percentage.
  @Test func reportNamesItsPeriodAndUnits() throws {
    let html = try Self.html(.full, ["--range", "2026-02-01..2026-03-27"])
    #expect(html.contains("<title>Chime: 2026-02-01 to 2026-03-27</title>"))
    #expect(html.contains("Report of 2026-02-01 to 2026-03-27 · Fri 2026-03-27"))
    #expect(try Self.html(.full, ["--range", "all"]).contains(/<title>Chime: 202\d-\d\d-\d\d to 2026-03-27<\/title>/))
    #expect(
      try Self.html(.full, ["--pack", "weight"]).contains("<title>Chime: Weight, 2025-12-28 to 2026-03-27</title>"))
    #expect(html.contains("<span class=\"unit\" aria-hidden=\"true\">ml</span>"))
    #expect(html.contains("<span class=\"unit\" aria-hidden=\"true\">kg</span>"))
    #expect(html.contains(/<dt>In all<\/dt><dd>[\d,]+(\.\d)? l</))
    #expect(!html.contains(/\d{2},?\d{3} ml/))
    #expect(html.contains(/<dt>Goal met<\/dt><dd>\d+ %<small>\d+ of \d+ days that count</))
  }

  /// On paper the locked achievements are one line.
  @Test func printedReportListsLockedAchievementsInOneLine() throws {
    let html = try Self.html(.full)
    let lines = html.matches(of: /<p class="to-come"><strong>Still locked:<\/strong> ([^<]*)<\/p>/)
    #expect(!lines.isEmpty && lines.allSatisfy { !$0.1.isEmpty })
    let print = try #require(html.firstRange(of: "@media print{")).upperBound
    #expect(html[print...].contains(/\.group\.locked,\.badges \.locked,[^{}]*\{display:none\}/))
    #expect(html[print...].contains(".to-come{display:block") && html[..<print].contains(".to-come{display:none}"))
  }

  /// The first day's column is one of fourteen, not as wide as the page.
  @Test func firstDayHasAColumnOfNormalWidth() throws {
    var year = TrackerYear.full
    year.days["water"] = year.days["water"].map { Array($0.suffix(1)) }
    let html = try Self.html(year)
    let breadths = html.matches(of: /class="column[^"]*" d="M[\d.]+ 400V[\d.]+h([\d.]+)/).compactMap { Double($0.1) }
    #expect(!breadths.isEmpty && breadths.allSatisfy { $0 < 100 }, "\(breadths)")
  }

  /// The line of the average ends inside the plot, at yesterday's column: today is not over.
  @Test func averageLineEndsAtYesterday() throws {
    let html = try Self.html(.full, ["--pack", "hydration", "--range", "1M"])
    let plot = try #require(
      html.firstMatch(of: /class="column met" d="([^"]*)".*?class="mean" d="([^"]*)"/.dotMatchesNewlines()))
    let unmet = try #require(html.firstMatch(of: /class="column" d="([^"]*)"/)).output.1
    let columns = "\(unmet)\(plot.output.1)".matches(of: /M([\d.]+) 400V[\d.]+h([\d.]+)/).compactMap { column in
      Double(column.output.1).flatMap { left in Double(column.output.2).map { left + $0 / 2 } }
    }.sorted()
    let points = plot.output.2.matches(of: /[ML]([\d.]+)[ ]/).compactMap { Double($0.output.1) }
    let (last, today) = (try #require(points.last), try #require(columns.last))
    #expect(today > 950 && last < today)
    #expect(columns.suffix(2).first.map { abs($0 - last) < 0.5 } ?? false, "\(last) of \(columns.suffix(2))")
  }

  /// The first value of a weight is drawn as a single point must be, with its goal.
  @Test func firstMeasureIsDrawnAsAPoint() throws {
    var year = TrackerYear.full
    year.days["weight"] = year.days["weight"].map { Array($0.suffix(1)) }
    let html = try Self.html(year, ["--pack", "weight"])
    let x = try #require(html.firstMatch(of: /class="raw few" d="M([\d.]+)[ ]/)).output.1
    #expect((50...300).contains(try #require(Double(x))))
    #expect(html.contains("class=\"goal-line\"") && !html.contains("class=\"mean\""))
  }

  /// There is no garden for months before the first day.
  @Test func gardensBeginInTheFirstMonth() throws {
    let gardens = try Self.html(.full, ["--pack", "goal", "--range", "1Y"]).matches(of: /class="card garden"/).count
    let fresh = try Self.html(.fresh, ["--pack", "goal", "--range", "1Y"]).matches(of: /class="card garden"/).count
    #expect(gardens > fresh && fresh <= 1, "\(gardens), \(fresh)")
  }

  @Test func sectionsWithoutDataAreLeftOut() throws {
    let html = try Self.html(.full, ["--pack", "weight"])
    #expect(html.contains("79.2 kg") && html.contains("class=\"band\""))
    for piece in ["class=\"cup\"", "class=\"hex\"", "#flower-", "Speedmaster", "adhkar", "1500 of 2500"] {
      #expect(!html.contains(piece), "\(piece)")
    }
    #expect(!html.contains("data:image"))
  }

  /// A day with a weigh-in is met; the goal is reached when the weight reaches it.
  @Test func weightGoalIsReachedByTheValueOnly() throws {
    var year = TrackerYear.full
    let last = try #require(year.days["weight"]?.indices.last)
    year.days["weight"]?[last].met = true
    let above = try Self.html(year, ["--pack", "weight"])
    #expect(!above.contains("Goal reached") && !above.contains("<small>reached</small>"))
    #expect(above.contains("forecast for"))
    let onTheWay = try TerminalPictureTests.draw("today", width: 80, year: year).output
    #expect(!onTheWay.contains("Goal reached"))
    year.days["weight"]?[last].value = 75.9
    let there = try Self.html(year, ["--pack", "weight"])
    #expect(there.contains("Goal reached: 76.0 kg!") && there.contains("<small>reached</small>"))
    let today = try TerminalPictureTests.draw("today", width: 80, year: year).output
    #expect(today.contains("★ Goal reached: 76.0 kg!"), "\(today)")
  }

  @Test func emptyReportSaysWhatToDoNext() throws {
    let fresh = try Self.html(.fresh)
    #expect(fresh.contains("chime log water 250ml") && fresh.contains("chime log weight 76kg"))
    #expect(fresh.contains("chime log watches NAME") && !fresh.contains("class=\"plot\""))
    let empty = try Self.html(.empty)
    #expect(empty.contains("Nothing is tracked yet") && empty.contains("<code>chime init</code>"))
  }

  /// A report without trackers has the expected jobs only.
  @Test func expectedJobsHaveARowEach() throws {
    var fake = FakeTrackers(year: .empty)
    let time = Wire.Time(at: "2026-03-29T05:00:00+02:00", zone: "Europe/Prague")
    fake.expectations = [
      .init(
        id: "r7k2", title: "Nightly <backup>", when: "daily at 03:00", within: "PT2H", state: .down, downSince: time,
        recentRuns: [
          .init(at: time, result: .succeeded), .init(at: time, result: .failed), .init(at: time, result: .missed),
        ])
    ]
    let outcome = chime(["report", "-"], daemon: try fake.daemon())
    #expect(outcome.status == .success, "\(outcome.errors)")
    for piece in [
      "Expected jobs", "1 is down.", "Nightly &lt;backup&gt;", "class=\"succeeded\"", "class=\"failed\"",
      "class=\"missed\"",
      "1 went well, 1 failed, 1 no ping",
    ] {
      #expect(outcome.output.contains(piece), "\(piece)")
    }
    #expect(!outcome.output.contains("Nothing is tracked yet"))
  }

  @Test func statisticsCoverTheRangeAndTheCalendarTheYear() throws {
    let html = try Self.html(.full, ["--range", "2026-03-01..2026-03-15"])
    #expect(html.contains("The statistics cover 2026-03-01 to 2026-03-15."))
    #expect(html.contains("Apr 2025"))
    #expect(html.matches(of: /<h4>[A-Z][a-z]+ 20\d\d<\/h4>/).count == 1, "one garden: that of March")
  }

  @Test func textsOfPacksAreInTheReadersLanguage() throws {
    let html = try Self.html(.full, environment: ["LANG": "cs_CZ.UTF-8"])
    #expect(html.contains("<html lang=\"cs") && html.contains("Ranní ptáče") && html.contains("Vždyť s obtíží"))
    #expect(!html.contains("Early Bird"))
  }

  // MARK: Escaping

  /// Notes, titles and names are always text, and the page loads and runs nothing.
  @Test func reportRunsAndLoadsNothing() throws {
    let html = try Self.html(.full)
    #expect(html.contains("&lt;img src=x onerror=alert(1)&gt;") && html.contains("Sport &lt;II&gt;"))
    #expect(html.contains("Third position &quot;onload=&quot;alert(1)"))
    let lower = html.lowercased()
    for piece in [
      "<script", "<img src=x", "http://", "https://", "@import", "javascript:", "<link", "<iframe", "\"onload=\"",
    ] {
      #expect(!lower.contains(piece), "\(piece)")
    }
    #expect(html.contains("default-src &#39;none&#39;"))
    let sources = html.matches(of: /(src|href|xlink:href)="([^"]*)"/).map(\.2)
    #expect(
      sources.allSatisfy { $0.hasPrefix("#") || $0.hasPrefix("data:image/") },
      "\(sources.filter { !$0.hasPrefix("data") })")
    #expect(html.matches(of: /url\(([^)]*)\)/).map(\.1).allSatisfy { $0 == "#glass" })
  }

  /// U+FFFF, U+1FFFE and U+FDD0, which are not allowed in text.
  static let nonCharacters = String(
    String.UnicodeScalarView(([0xFFFF, 0x1FFFE, 0xFDD0] as [UInt32]).compactMap { Unicode.Scalar($0) }))

  @Test(arguments: [
    ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"), ("\u{0}\u{1B}[0m\u{7F}\u{85}x", "[0mx"), ("a\tb\nc", "a\tb\nc"),
    (nonCharacters + "ž\u{1F600}", "ž\u{1F600}"), ("]]>--></style>", "]]&gt;--&gt;&lt;/style&gt;"),
  ])
  func textIsEscaped(_ text: String, _ expected: String) {
    #expect(Markup.text(text).html == expected)
    #expect(tag("p", ["title": text]) { text }.html == "<p title=\"\(expected)\">\(expected)</p>")
  }

  @Test(
    arguments: [
      (0, "0"), (1.5, "1.5"), (-2.25, "-2.25"), (-0.004, "0"), (1.005, "1"), (0.05, "0.05"), (1e99, "1000000"),
      (.nan, "0"), (-.infinity, "0"), (12.3456, "12.35"),
    ] as [(Double, String)])
  func coordinatesUseADecimalPoint(_ value: Double, _ expected: String) { #expect(coordinate(value) == expected) }

  // MARK: The file

  @Test func reportFileIsCompleteAndPrivate() throws {
    let folder = try Folder()
    let daemon = try FakeTrackers().daemon()
    let path = folder.path + "/my report.html"
    let outcome = chime(["report", path, "--browser", "no"], daemon: daemon)
    #expect(outcome.status == .success && outcome.output.hasPrefix("\(path) was written ("))
    #expect(outcome.errors.contains("1 photo was left out"))
    #expect(folder.names == ["my report.html"], "nothing else is left behind")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let text = try folder.text("my report.html")
    #expect(text.hasPrefix("<!DOCTYPE html>") && text.hasSuffix("</html>\n"))
    // A report may replace a report.
    #expect(chime(["report", path, "--browser", "no", "--pack", "weight"], daemon: daemon).status == .success)
    #expect(try folder.text("my report.html").utf8.count < text.utf8.count)
  }

  @Test func existingForeignFileIsNotOverwritten() throws {
    let folder = try Folder()
    let daemon = try FakeTrackers().daemon()
    let path = folder.path + "/.bashrc"
    try "alias ll='ls -l'\n".write(toFile: path, atomically: true, encoding: .utf8)
    let outcome = chime(["report", path, "--browser", "no"], daemon: daemon)
    #expect(outcome.status == .failed && outcome.errors.contains("is not a report of Chime"))
    #expect(daemon.calls.isEmpty && folder.names == [".bashrc"])
    #expect(try folder.text(".bashrc") == "alias ll='ls -l'\n")
  }

  @Test(arguments: [
    (["report", "/tmp"], ExitCode.failed, "is a folder"), (["report", "/nonexistent/x.html"], .failed, "cannot write"),
    (["report", "a", "b"], .usage, "writes one file"), (["report", "-", "--json"], .usage, "--json"),
    (["report", "-", "--range", "7X"], .usage, "--range"), (["report", "-", "--pack", "wieght"], .failed, "weight"),
    (["report", "-", "--browser", "maybe"], .usage, "--browser must be one of"),
  ])
  func refusesInvalidOptions(_ arguments: [String], _ status: ExitCode, _ message: String) throws {
    let outcome = chime(arguments, daemon: try FakeTrackers().daemon())
    #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test func jsonOutputDescribesTheFile() throws {
    let folder = try Folder()
    let path = folder.path + "/r.html"
    let outcome = chime(["report", path, "--json"], daemon: try FakeTrackers().daemon())
    let told = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(told?["file"] as? String == path && told?["photos"] as? Int == 1 && told?["photosOmitted"] as? Int == 1)
    #expect(told?["bytes"] as? Int == (try folder.text("r.html")).utf8.count)
    #expect((told?["trackers"] as? [String])?.first == "water")
  }
}
