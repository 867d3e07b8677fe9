import ChimeControl
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// Features that users of the five packs know from other programs.
@Suite struct PackFeatureTests {
  typealias T = TrackersInterface

  private static func weight(goal: Double?) -> T.Tracker {
    TrackerYear.tracker(
      "weight", "Weight", "Váha", .measure, pack: "weight", unit: "kg", decimals: 1,
      goal: goal.map { T.Goal(value: $0) })
  }

  private static func draw(
    _ line: String, width: Int = 80, year: TrackerYear = .full, color: Bool = false, environment: [String: String] = [:]
  ) throws -> String {
    let outcome = chime(
      words(line) + (color ? ["--color", "always"] : []), daemon: try FakeTrackers(year: year).daemon(), width: width,
      isTerminal: true, environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"].merging(environment) { $1 })
    #expect(outcome.status == .success, "\(outcome.errors)")
    for line in outcome.lines where !color { #expect(TextWidth.of(line) <= width, "\(width): \(line)") }
    return outcome.output
  }

  // MARK: Weight

  /// Towards and away depend on the goal's direction; a change that rounds to zero is neither.
  @Test(
    arguments: [
      (-0.7, 82.6, 80, .towards, "↘"), (0.7, 82.6, 80, .away, "↗"), (0.7, 70, 80, .towards, "↗"),
      (-0.7, 70, 80, .away, "↘"), (0.01, 70, 80, .neither, "→"), (-0.04, 82.6, 80, .neither, "→"),
      (-0.7, 82.6, nil, .neither, "↘"),
    ] as [(Double, Double, Double?, MeasureTrend.Heading, String)])
  func trendIsTowardsTheGoalOrAwayFromIt(
    _ rate: Double, _ value: Double, _ goal: Double?, _ heading: MeasureTrend.Heading, _ arrow: String
  ) {
    let trend = MeasureTrend(rate, value: value, of: Self.weight(goal: goal))
    #expect(trend.heading == heading && trend.arrow == arrow)
    #expect(trend.tone == [.towards: .good, .away: .bad, .neither: .plain][heading])
  }

  /// `79.2 kg ↘ 0.3 a week, 76.0 kg on 2026-05-19`, green; red if the goal lies the other way.
  @Test(arguments: [80, 40])
  func todayShowsTheTrendOfAWeight(_ width: Int) throws {
    let page = try Self.draw("today", width: width)
    let told = page.replacing(/\s+/, with: " ")
    #expect(told.contains(/Weight 79\.\d kg ↘ 0\.\d a week, 76\.0 kg on 2026-05-19, fat 21\.4 %/), "\(page)")
    #expect(try Self.draw("today", width: width, color: true).contains("\u{1B}[32m↘ 0."))
    var year = TrackerYear.full
    let weight = try #require(year.trackers.firstIndex { $0.id == "weight" })
    year.trackers[weight].goal = T.Goal(value: 95)
    #expect(try Self.draw("today", width: width, year: year, color: true).contains("\u{1B}[31m↘ 0."))
  }

  @Test func coloredTrendsHaveAnArrow() throws {
    #expect(try Self.draw("logbook weight", color: true).contains(/\u{1B}\[32m\s*-0\.\d/))
    for line in ["stats weight", "chart weight"] {
      let page = try Self.draw(line, color: true)
      #expect(page.contains(/\u{1B}\[3[12]m\s*[↘↗]/), "\(line): \(page)")
    }
    let html = try ReportTests.html(.full, ["--pack", "weight"])
    #expect(html.contains(/class="toward leaf">↘ 0\.\d a week<span class="soft"> towards the goal/))
    #expect(html.contains(/<dd class="toward leaf">↘ −0\.\d kg/))
  }

  /// Body fat: in the list, the logbook, the statistics, its own chart and the report.
  @Test func additionalMeasuresAreShown() throws {
    #expect(try Self.draw("entry list weight -n 3").contains("fat 21.4 %"))
    let logbook = try Self.draw("logbook weight --range 1W")
    #expect(logbook.contains("FAT") && logbook.contains("21.4 %"), "\(logbook)")
    #expect(try Self.draw("stats weight").contains(/fat\s+21\.4 % \(2026-03-27\)/))
    let daemon = try FakeTrackers().daemon()
    let chart = chime(words("chart weight --field fat"), daemon: daemon, width: 80, isTerminal: true)
    #expect(chart.output.contains("Weight: fat (%)"), "\(chart.output)")
    #expect(daemon.calls.last?.parameters["field"] == "fat")
    #expect(try ReportTests.html(.full, ["--pack", "weight"]).contains("Weight: fat"))
    #expect(chime(words("chart weight --field waist"), daemon: daemon).errors.contains("there are: fat"))
    #expect(chime(words("chart water --field fat"), daemon: daemon).errors.contains("no further measures"))
  }

  /// A part of a field's name is enough.
  @Test func fieldIsFoundByAPartOfItsName() throws {
    var tracker = Self.weight(goal: nil)
    tracker.fields = ["body-fat": "%", "body-water": "%", "waist": "cm"]
    #expect(try FieldOption.known("fat", of: tracker) == "body-fat")
    #expect(try FieldOption.known("Waist", of: tracker) == "waist")
    #expect(throws: Failure.self) { try FieldOption.known("body", of: tracker) }
  }

  private static func initialise(
    _ answers: String, _ arguments: [String] = [], _ fake: FakeTrackerDaemon = FakeTrackerDaemon()
  ) throws -> (outcome: Outcome, daemon: FakeDaemon) {
    let daemon = try fake.daemon()
    let outcome = chime(
      ["init"] + arguments, daemon: daemon, width: 80, isTerminal: true, input: answers, isInputTerminal: true,
      environment: ["NO_COLOR": "1"])
    #expect(outcome.status == .success, "\(outcome.errors)")
    return (outcome, daemon)
  }

  /// The first weight is asked for in the chosen unit, and logged at installation.
  @Test func initAsksForTheFirstWeight() throws {
    let (outcome, daemon) = try Self.initialise("weight\nlb\n180.5\n170\n\n\n")
    #expect(outcome.errors.contains("how much is it now, in lb?"))
    let logged = daemon.calls.filter { $0.method.hasSuffix("Trackers.Log") }.map(\.parameters.description)
    #expect(logged == [#"{"amount":180.5,"tracker":"weight"}"#])
    let methods = daemon.methods
    #expect(methods.lastIndex(of: "Trackers.InstallPack") ?? .max < methods.lastIndex(of: "Trackers.Log") ?? -1)
    let script = try Self.initialise("", ["--pack", "weight", "--first", "82.4kg", "--yes"])
    #expect(script.daemon.calls.contains { $0.parameters.description == #"{"amount":82.4,"tracker":"weight"}"# })
    let trial = try Self.initialise("", ["--pack", "weight", "--first", "82.4", "--yes", "--dry-run"])
    #expect(!trial.daemon.methods.contains("Trackers.Log"))
  }

  // MARK: Hydration, and current settings

  @Test func goalQuestionNamesUsualValues() throws {
    var fake = FakeTrackerDaemon()
    fake.packs[0].choices["water"]?.presets = [2_000, 2_500, 3_000]
    #expect(try Self.initialise("\n\n\n\n", [], fake).outcome.errors.contains("usual are 2000, 2500, 3000"))
    let shown = chime(["pack", "show", "hydration"], daemon: try fake.daemon())
    #expect(shown.output.replacing(/\s+/, with: " ").contains("usual are 2000, 2500, 3000"), "\(shown.output)")
  }

  /// When asked again, the brackets contain the current settings, not the pack's defaults.
  @Test func editingStartsFromTheCurrentSettings() throws {
    var fake = FakeTrackerDaemon()
    fake.packs[0].installedAt = Samples.time(1_774_500_000)
    fake.packs[0].trackers[0].goal = T.Goal(total: 3_250, period: .day)
    // The reminder was declined then.
    fake.packs[0].reminders[0].id = nil
    let (outcome, daemon) = try Self.initialise("hydration\n\n\n\n", [], fake)
    #expect(outcome.errors.contains("[3250 ml]") && outcome.errors.contains("[no]"), "\(outcome.errors)")
    let sent = daemon.calls.last { $0.method.hasSuffix("InstallPack") }?.parameters.description
    #expect(sent?.contains(#""reminders":{"drink":false}"#) == true, "\(sent ?? "")")
  }

  // MARK: Watches

  private static let collection: TrackerYear = {
    var year = TrackerYear.full
    year.items[0].until = "2026-01-31"
    year.items[0].photo = "spring.png"
    year.items[1].attributes["style"] = "dive"
    year.items[2].attributes["style"] = "dive"
    let worn = year.entries.lastIndex { $0.tracker == "watches" } ?? 0
    year.entries[worn].item = "tank"
    year.entries[worn].photo = "spring.png"
    return year
  }()

  private static func ids(_ line: String) throws -> [String] {
    let outcome = chime(words(line + " --plain"), daemon: try FakeTrackers(year: collection).daemon())
    #expect(outcome.status == .success, "\(outcome.errors)")
    return outcome.lines.dropFirst().compactMap { $0.split(separator: "\t").first.map(String.init) }
  }

  @Test func itemsAreSortedSearchedAndFiltered() throws {
    #expect(try Self.ids("item list watches --search rolex") == ["submariner"])
    #expect(try Self.ids("item list watches --filter style=dive --sort title") == ["skx007", "submariner"])
    #expect(try Self.ids("item list watches --filter style=dive --filter brand=seiko") == ["skx007"])
    #expect(try Self.ids("item list watches --gone") == ["speedmaster"])
    let byBrand = try Self.ids("item list watches --sort brand --owned")
    #expect(byBrand.count == 11 && byBrand.first == "tank" && byBrand.last == "black-bay", "\(byBrand)")
    // Retired items are last in every order.
    for order in ["used", "last", "title", "since", "brand"] {
      #expect(try Self.ids("item list watches --sort \(order)").last == "speedmaster", "\(order)")
    }
    let last = try Self.ids("item list watches --sort last --owned").compactMap { id in
      Self.collection.items.first { $0.id == id }?.lastDay
    }
    #expect(last == last.sorted(by: >))
    let wrong = chime(words("item list watches --sort brnd"), daemon: try FakeTrackers(year: Self.collection).daemon())
    #expect(wrong.status == .usage && wrong.errors.contains("brand"), "\(wrong.errors)")
    let page = try Self.draw("item list watches", width: 40, year: Self.collection)
    #expect(page.contains("✗ Speedmaster"), "\(page)")
    let none = chime(words("item list watches --search xyz"), daemon: try FakeTrackers(year: Self.collection).daemon())
    #expect(none.errors.contains("None matches, of 12 items."), "\(none.errors)")
  }

  @Test func itemIsShownWithItsAchievements() throws {
    let page = try Self.draw("item show watches Speedmaster", year: Self.collection)
    #expect(
      page.contains("Speedmaster ✗ no longer there") && page.contains("brand") && page.contains("Achievements with it"))
    // No picture sequence is sent to a terminal that has not announced support.
    #expect(!page.contains("\u{1B}_G") && !page.contains("\u{1B}P"))
    let json = chime(words("item show watches tank --json"), daemon: try FakeTrackers(year: Self.collection).daemon())
    #expect(json.output.contains("\"achievements\"") && json.output.contains("\"tank\""))
  }

  @Test func photoIsWrittenToAFile() throws {
    let folder = try ReportTests.Folder()
    let file = folder.path + "/photo.png"
    let daemon = try FakeTrackers(year: Self.collection).daemon()
    let line = ["item", "show", "watches", "speedmaster", "--save", file]
    #expect(chime(line, daemon: daemon).status == .success)
    #expect(try Array(Data(contentsOf: URL(filePath: file))) == TrackerYear.full.photos["spring.png"])
    // An existing file is left alone.
    #expect(chime(line, daemon: daemon).status != .success)
    let none = chime(words("item show watches tank --save x"), daemon: daemon)
    #expect(none.status == .failed && none.errors.contains("has no photo"))
  }

  /// The terminal's answer decides; a photo goes to no terminal without support.
  @Test(
    arguments: [
      ("\u{1B}_Gi=4711;OK\u{1B}\\\u{1B}[?62;c", .kitty), ("\u{1B}[?62;4;22c", .sixel), ("\u{1B}[?64;1;2c", .none),
      ("\u{1B}[?65;14;24c", .none), ("\u{1B}_Gi=4711;ENOENT\u{1B}\\\u{1B}[?62;4c", .sixel), ("", .none), ("4c", .none),
    ] as [(String, TerminalPhoto.Ability)])
  func photoIsShownOnlyIfTheTerminalSupportsIt(_ answer: String, _ ability: TerminalPhoto.Ability) {
    #expect(TerminalPhoto.ability(Array(answer.utf8)) == ability)
  }

  /// Runs the command in a terminal that answers, and returns what it printed.
  private static func show(
    _ answer: String, photo: [UInt8]? = nil, program: @escaping ([String]) -> [UInt8]? = { _ in nil }
  ) throws -> (output: String, errors: String) {
    var year = collection
    if let photo { year.photos["spring.png"] = photo }
    let daemon = try FakeTrackers(year: year).daemon()
    let output = TextSink(isTerminal: true, width: 80)
    let errors = TextSink(isTerminal: true, width: 80)
    var process = CommandProcess(
      environment: [
        "TZ": "Europe/Prague", "LANG": "C.UTF-8", "CHIME_SOCKET": daemon.path, "TERM": "xterm-256color",
        "TMPDIR": try RunFolder.makeFolder("photo"),
      ], userID: 0, now: { Samples.now }, input: TextSource(text: "", isTerminal: true), output: output, errors: errors)
    process.hasScreen = true
    process.askTerminal = { question, end in
      question == TerminalPhoto.question && end == UInt8(ascii: "c") ? Array(answer.utf8) : []
    }
    process.runProgram = program
    #expect(CommandMain.run(["item", "show", "watches", "speedmaster"], in: process) == .success)
    return (output.text, errors.text)
  }

  @Test func photoIsDrawnByEachTerminalProtocol() throws {
    let kitty = "\u{1B}_Gi=4711;OK\u{1B}\\\u{1B}[?62;c"
    let drawn = try Self.show(kitty).output
    let parts = drawn.matches(of: /\u{1B}_G([^;]*);([A-Za-z0-9+\/=]*)\u{1B}\\/)
    #expect(
      parts.first?.output.1.hasPrefix("a=T,f=100,q=2,c=") == true && parts.last?.output.1.hasSuffix("m=0") == true)
    #expect(parts.allSatisfy { $0.output.2.count <= 4_096 })
    let bytes = Data(base64Encoded: parts.map { String($0.output.2) }.joined()).map(Array.init)
    #expect(bytes == TrackerYear.full.photos["spring.png"].flatMap { PhotoFile.clean($0)?.bytes })
    // Sixel needs a program; if there is none, a message says so.
    let sixel = "\u{1B}[?62;4;22c"
    #expect(try Self.show(sixel).errors.contains("chafa or img2sixel"))
    let made = try Self.show(sixel) { $0[0] == "img2sixel" ? Array("\u{1B}Pq#0~\u{1B}\\".utf8) : nil }
    #expect(made.output.contains("\u{1B}Pq#0~"))
    // Output that is no picture is not sent to the terminal, and a file that is no picture not to a program.
    #expect(try Self.show(sixel) { _ in Array("\u{1B}]0;title\u{7}".utf8) }.errors.contains("chafa or img2sixel"))
    let hostile = try Self.show(kitty, photo: Array("<svg onload=alert(1)>".utf8)) { _ in Array("\u{1B}_G".utf8) }
    #expect(hostile.errors.contains("cannot be read") && !hostile.output.contains("\u{1B}_G"))
    #expect(try Self.show("").errors.contains("--save FILE"))
  }

  /// Whatever else a program writes beside a picture or within one does not reach the terminal.
  @Test(
    arguments: [
      ("\u{1B}P0;1;0q\"1;1;6;6#0;2;0;0;0#0!6~-\u{1B}\\\n", .sixel, "\u{1B}P0;1;0q\"1;1;6;6#0;2;0;0;0#0!6~-\u{1B}\\"),
      ("\u{1B}]0;title\u{7}\u{1B}Pq~\u{1B}\\\u{1B}]52;c;eA==\u{7}", .sixel, "\u{1B}Pq~\u{1B}\\"),
      ("\u{1B}Pq~\u{1B}]0;title\u{7}~\u{1B}\\", .sixel, nil), ("\u{1B}P$qm\u{1B}\\", .sixel, nil),
      ("\u{1B}P+q544e\u{1B}\\", .sixel, nil), ("\u{1B}Pq~", .sixel, nil),
      (
        "\u{1B}_Ga=T,f=32,s=1,v=1,m=1;AAAA\u{1B}\\\u{1B}_Gm=0;AA==\u{1B}\\\n", .kitty,
        "\u{1B}_Ga=T,f=32,s=1,v=1,m=1;AAAA\u{1B}\\\u{1B}_Gm=0;AA==\u{1B}\\"
      ),
      ("\u{1B}_Ga=T,t=t;L3RtcC94\u{1B}\\", .kitty, nil), ("\u{1B}_Ga=d\u{1B}\\", .kitty, nil),
      ("\u{1B}_Gm=0;A\u{9C}\u{1B}\\", .kitty, nil), ("\u{1B}_Gm=0;A\u{1B}[5n\u{1B}\\", .kitty, nil),
    ] as [(String, TerminalPhoto.Ability, String?)])
  func onlyThePictureReachesTheTerminal(_ output: String, _ ability: TerminalPhoto.Ability, _ shown: String?) {
    #expect(TerminalPhoto.pictures(Array(output.utf8), ability) == shown.map { Array($0.utf8) })
  }

  /// The month shows the letter of each day's watch, in 80 columns and in 40.
  @Test(arguments: [80, 40])
  func monthShowsTheWatchOfEachDay(_ width: Int) throws {
    let page = try Self.draw("month watches", width: width, year: Self.collection)
    #expect(page.contains(/A [^×]+ ×\d/), "\(page)")
    let letter = try #require(page.firstMatch(of: /([A-Za-z]) Tank Must ×/)?.output.1)
    #expect(page.contains("[27 \(letter)") || page.contains("[27\(letter)"), "\(page)")
    let json = chime(words("month watches --json"), daemon: try FakeTrackers(year: Self.collection).daemon()).output
    #expect(json.contains(/"2026-03-27":\s*\[[^\]]*"tank"/), "\(json.suffix(600))")
  }

  /// A watch has the same letter in the month and in the report, however often it was worn in either.
  @Test func watchHasTheSameLetterInMonthAndReport() throws {
    let html = try ReportTests.html(Self.collection, ["--pack", "watches"])
    let report = html.matches(of: /<b class="\w+">([A-Za-z])<\/b> <span dir="auto">([^<]+)</).map {
      let title = $0.output.2.replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      return "\($0.output.1) \(title)"
    }
    #expect(report.count > 2, "\(html.count)")
    var seen = Set<String>()
    for month in ["2026-01", "2026-02", "2026-03"] {
      let page = try Self.draw("month watches --month \(month)", width: 120, year: Self.collection)
      let letters = page.matches(of: /([A-Za-z]) ([^×●○·\n]+) ×\d/).map { "\($0.output.1) \($0.output.2)" }
      #expect(!letters.isEmpty && Set(letters).isSubset(of: report), "\(month): \(letters), \(report)")
      seen.formUnion(letters)
    }
    #expect(seen.count > 2)
  }

  @Test func todayShowsTheWornWatch() throws {
    #expect(try Self.draw("today", year: Self.collection).contains("Tank Must"))
    let html = try ReportTests.html(Self.collection, ["--pack", "watches"])
    let card = try #require(html.firstRange(of: "class=\"today\"")).lowerBound
    #expect(html[card...].prefix(3_000).contains("Tank Must"))
    // The photo is in the file once, and is shown with the item, on its day and among the retired items.
    #expect(html.matches(of: /data:image\/png;base64,/).count == 1)
    #expect(html.contains(".ph0{background-image:url(data:image/png;base64,iVBOR"))
    #expect(html.matches(of: /class="photo ph0"/).count >= 2 && html.contains("class=\"shots\""))
    #expect(html.contains("No longer there") && html.contains("✗ until 2026-01-31"))
    #expect(html.contains("class=\"wear\""))
    // A file that is no picture is not embedded, regardless of its name.
    var year = Self.collection
    year.photos["spring.png"] = Array("<script>alert(1)</script>".utf8)
    let refused = try ReportTests.html(year, ["--pack", "watches"])
    #expect(!refused.contains("data:image") && refused.contains("1 photo was left out"))
  }

  @Test func achievementsAreFilteredByCategory() throws {
    let page = try Self.draw("achievements watches --category div")
    #expect(page.contains("diversity") && !page.contains("wearing frequency"), "\(page)")
    let wrong = chime(words("achievements --category xyz"), daemon: try FakeTrackers().daemon())
    #expect(wrong.status == .failed && wrong.errors.contains("there is no category \"xyz\""))
  }

  @Test func sampleDataIsAddedAndRemovedByOption() throws {
    let daemon = try FakeTrackerDaemon().daemon()
    let added = chime(words("pack add weight --sample"), daemon: daemon)
    #expect(daemon.calls.last?.parameters["sample"] == true)
    #expect(added.errors.contains("chime pack remove weight --sample"), "\(added.errors)")
    #expect(chime(words("pack remove weight --sample --entries"), daemon: daemon).status == .usage)
  }

  // MARK: Goal

  /// Each day of the plan has its number, done or not, future days included.
  @Test(arguments: [80, 40])
  func planNumbersItsDays(_ width: Int) throws {
    var year = TrackerYear.full
    let ahead = (1...35).map { TrackerYear.today.plus($0) }.map { date in
      let counts = ["mon", "tue", "thu", "fri", "sat"].contains(date.weekday.abbreviation)
      return T.DayTotal(day: date.description, entries: 0, met: false, counts: counts)
    }
    year.days["goal"]?.append(contentsOf: ahead)
    let daemon = try FakeTrackers(year: year).daemon()
    let page = try Self.draw("progress goal --plan", width: width, year: year)
    #expect(page.contains("March 2026") && page.contains("April 2026"), "\(page)")
    let plain = chime(words("progress goal --plan --plain"), daemon: daemon).lines.dropFirst()
      .map { $0.split(separator: "\t").map(String.init) }.filter { $0.count == 3 }
    let march = plain.filter { $0[0].hasPrefix("2026-03") }
    #expect(march.map { $0[1] } == (1...march.count).map(String.init))
    #expect(march.contains { $0[2] == "missed" } && march.contains { $0[2] == "done" })
    #expect(march.first { $0[0] == "2026-03-27" }?[2] == "today")
    let april = plain.filter { $0[0].hasPrefix("2026-04") }
    #expect(april.first?[1] == "1" && april.allSatisfy { $0[2] == "upcoming" } && april.count > 15)
    #expect(chime(words("progress goal --plan --json"), daemon: daemon).output.contains(#""state":"upcoming""#))
    #expect(try ReportTests.html(year, ["--pack", "goal"]).contains("class=\"plan upcoming\""))
    // If any days count, there are none to number.
    let goal = try #require(year.trackers.firstIndex { $0.id == "goal" })
    year.trackers[goal].counting = T.Counting(times: 3, per: .week)
    let none = chime(words("progress goal --plan"), daemon: try FakeTrackers(year: year).daemon())
    #expect(none.status == .failed && none.errors.contains("it has no plan of days"))
  }

  /// Twenty shapes, each drawn differently; a day keeps its shape.
  @Test func flowersDifferByDay() throws {
    let days = (0..<400).map { TrackerYear.started.plus($0).description }
    let forms = days.map { ReportFlowers.form($0, "goal") }
    #expect(Set(forms) == Set(0..<20))
    #expect(zip(forms, forms.dropFirst()).count { $0 == $1 } < 60)
    #expect(forms == days.map { ReportFlowers.form($0, "goal") })
    #expect(days.contains { ReportFlowers.form($0, "goal") != ReportFlowers.form($0, "other") })
    let drawings = Set(
      (0..<20).map { form in
        ReportFlowers.definitions([form]).html.replacing(ReportFlowers.id(form), with: "")
      })
    #expect(drawings.count == 20)
    let html = try ReportTests.html(.full, ["--pack", "goal"])
    let used = Set(html.matches(of: /href="#(flower-\d+)"/).map { String($0.output.1) })
    #expect(used.count > 8 && used.allSatisfy { html.contains("id=\"\($0)\"") })
  }

  // MARK: Adkhar

  /// The week's strip shows the days of the month.
  @Test func weekStripShowsItsDates() throws {
    let lines = try Self.draw("today").split(separator: "\n")
    let names = try #require(lines.firstIndex { $0.contains("Sat Sun Mon Tue Wed Thu Fri") })
    #expect(lines[names + 1].split(separator: " ") == ["21", "22", "23", "24", "25", "26", "27"])
    let html = try ReportTests.html(.full)
    #expect(html.contains("<span class=\"number\">27</span>"))
  }

  @Test func quotationShowsItsCategoryInItsColor() throws {
    #expect(try Self.draw("today").contains("● Quran"))
    let html = try ReportTests.html(.full)
    #expect(html.contains("class=\"pill \(CategoryColor("quran").hue)\">Quran"))
    let page = try Self.draw("achievements watches", color: true)
    #expect(page.contains("\u{1B}[\(CategoryColor("diversity").tone.rawValue)m●"))
  }

  /// No two categories of a bundled pack have the same color.
  @Test(
    arguments: [
      ["start", "streak", "moment", "volume"], ["quran", "hadith", "wisdom", "journey"],
      ["size", "wearing", "consistency", "diversity", "occasions"],
    ])
  func categoriesHaveDistinctColors(_ categories: [String]) {
    #expect(Set(categories.map { CategoryColor($0) }).count == categories.count)
  }
}
