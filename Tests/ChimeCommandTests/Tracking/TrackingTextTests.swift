import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

/// Texts that people write for trackers: amounts, past moments, ranges, weekdays, names.
@Suite struct TrackingTextTests {
  @Test(
    arguments: [
      ("250ml", 250, "ml"), ("250", 250, nil), ("82.4kg", 82.4, "kg"), ("82.4 kg", 82.4, "kg"), ("82,4kg", 82.4, "kg"),
      ("0,25 l", 0.25, "l"), ("18.5%", 18.5, "%"), ("-3", -3, nil), ("+3", 3, nil), (".5", 0.5, nil),
      ("1234567", 1_234_567, nil), ("12,5", 12.5, nil), ("3 štamprle", 3, "štamprle"),
      ("Speedmaster", nil, nil), ("", nil, nil), ("2x4", nil, nil), ("ml", nil, nil), ("1.2.3", nil, nil),
      ("5-3", nil, nil),
      ("٣", nil, nil),
    ] as [(String, Double?, String?)])
  func parsesAmounts(_ text: String, _ value: Double?, _ unit: String?) throws {
    let amount = try AmountText.parse(text)
    #expect(amount?.value == value)
    #expect(amount?.unit == unit)
  }

  /// In half of the world a comma separates thousands.
  @Test(arguments: ["1,750", "1,750ml", "1,234,567", "1,5.2"])
  func refusesAmbiguousAmounts(_ text: String) {
    #expect(throws: Failure.self) { try AmountText.parse(text) }
  }

  /// It is Friday 27 March 2026, 09:26:40 in Prague.
  @Test(
    arguments: [
      ("now", "2026-03-27T09:26:40+01:00"), ("7:15", "2026-03-27T07:15:00+01:00"),
      ("at 7:15", "2026-03-27T07:15:00+01:00"), ("yesterday 21:00", "2026-03-26T21:00:00+01:00"),
      ("yesterday at 9pm", "2026-03-26T21:00:00+01:00"), ("yesterday", "2026-03-26T12:00:00+01:00"),
      ("today", "2026-03-27T09:26:40+01:00"), ("mon 8:00", "2026-03-23T08:00:00+01:00"),
      ("friday 8:00", "2026-03-27T08:00:00+01:00"), ("sat", "2026-03-21T12:00:00+01:00"),
      ("2026-03-01", "2026-03-01T12:00:00+01:00"), ("2026-03-01 06:30", "2026-03-01T06:30:00+01:00"),
      ("2026-03-01T06:30", "2026-03-01T06:30:00+01:00"), ("20m ago", "2026-03-27T09:06:40+01:00"),
      ("20m", "2026-03-27T09:06:40+01:00"), ("2 hours ago", "2026-03-27T07:26:40+01:00"),
      ("2026-03-26T20:00:00Z", "2026-03-26T21:00:00+01:00"), ("2025-07-01 12:00", "2025-07-01T12:00:00+02:00"),
    ] as [(String, String)])
  func parsesPastMoments(_ text: String, _ expected: String) throws {
    let zone = try ZoneFiles(environment: ["TZ": "Europe/Prague"]).zone("local")
    let moment = try PastMoment.parse(text, option: "at", now: Samples.now, zone: zone)
    #expect(RFC3339.format(moment, in: zone) == expected)
  }

  @Test(
    arguments: [
      ("21:00", "--at 21:00 is in the future"), ("2026-12-01", "--at 2026-12-01 is in the future"),
      ("someday", "--at needs a time such as 21:00"), ("yesterday 25:00", "--at needs a time such as 21:00"),
      ("", "--at needs a time such as 21:00"),
    ] as [(String, String)])
  func refusesInvalidMoments(_ text: String, _ message: String) throws {
    let zone = try ZoneFiles(environment: ["TZ": "Europe/Prague"]).zone("local")
    let failure = #expect(throws: Failure.self) {
      try PastMoment.parse(text, option: "at", now: Samples.now, zone: zone)
    }
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
  }

  @Test(
    arguments: [
      ("1W", "2026-03-21", "2026-03-27"), ("1m", "2026-02-28", "2026-03-27"), ("3M", "2025-12-28", "2026-03-27"),
      ("1Y", "2025-03-28", "2026-03-27"), ("10d", "2026-03-18", "2026-03-27"), ("2026-02", "2026-02-01", "2026-02-28"),
      ("2024-02", "2024-02-01", "2024-02-29"), ("2025", "2025-01-01", "2025-12-31"),
      ("2026-03-01..2026-03-15", "2026-03-01", "2026-03-15"), ("2026-03-01..", "2026-03-01", nil),
      ("..2026-03-01", nil, "2026-03-01"), ("2026-03-01..today", "2026-03-01", "2026-03-27"),
      ("yesterday", "2026-03-26", "2026-03-26"), ("2026-03-05", "2026-03-05", "2026-03-05"),
    ] as [(String, String?, String?)])
  func parsesRanges(_ text: String, _ from: String?, _ to: String?) throws {
    let range = try RangeText.parse(text, today: TrackerYear.today)
    #expect(range?.from == from)
    #expect(range?.to == to)
  }

  @Test(arguments: [
    "", "3", "M", "0W", "-1W", "2026-13", "2026-03-15..2026-03-01", "..", "9999999Y", "2026-02-30..", "x..y",
  ])
  func refusesInvalidRanges(_ text: String) {
    #expect(throws: Failure.self) { try RangeText.parse(text, today: TrackerYear.today) }
  }

  @Test(arguments: [
    ("mon,wed,fri", "mon,wed,fri"), ("mon-fri", "mon,tue,wed,thu,fri"), ("weekdays", "mon,tue,wed,thu,fri"),
    ("fri-mon", "mon,fri,sat,sun"), ("weekends", "sat,sun"), ("daily", "mon,tue,wed,thu,fri,sat,sun"),
    ("Sunday Monday", "mon,sun"), ("thurs", "thu"),
  ])
  func parsesWeekdays(_ text: String, _ expected: String) throws {
    #expect(try WeekdayText.parse(text, option: "days").joined(separator: ",") == expected)
  }

  @Test(arguments: ["", "mo", "monkey", "mon-", "-", "1,2"])
  func refusesInvalidWeekdays(_ text: String) {
    #expect(throws: Failure.self) { try WeekdayText.parse(text, option: "days") }
  }

  @Test(arguments: [
    ("reading", "reading"), ("Evening walk", "evening-walk"), ("  5 km run!", "km-run"),
    ("Čtení knížek", "cteni-knizek"),
    ("Straße & Fluß", "strasse-fluss"), ("a--b", "a-b"),
    (String(repeating: "ab ", count: 20), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab"),
  ])
  func derivesIdentifiersFromTitles(_ title: String, _ expected: String) throws {
    #expect(try TrackerVerbs.identifier(title) == expected)
  }

  @Test(arguments: ["", "123", "日本語", "!!!"])
  func refusesTitlesWithoutAnIdentifier(_ title: String) {
    #expect(throws: Failure.self) { try TrackerVerbs.identifier(title) }
  }

  @Test(
    arguments: [
      ([("2026-07-01", "2026-07-10"), ("2026-07-05", "2026-07-12")], [("2026-07-01", "2026-07-12")]),
      ([("2026-07-11", "2026-07-12"), ("2026-07-01", "2026-07-10")], [("2026-07-01", "2026-07-12")]),
      ([("2026-07-01", "2026-07-10"), ("2026-07-12", nil)], [("2026-07-01", "2026-07-10"), ("2026-07-12", nil)]),
      ([("2026-07-01", nil), ("2026-07-12", "2026-07-20")], [("2026-07-01", nil)]),
      ([("2026-07-01", "2026-07-10"), ("2026-07-03", "2026-07-04")], [("2026-07-01", "2026-07-10")]),
    ] as [([(String, String?)], [(String, String?)])])
  func mergesAdjacentPauses(_ pauses: [(String, String?)], _ expected: [(String, String?)]) {
    let joined = TrackerVerbs.joined(pauses.map { TrackersInterface.Range(from: $0.0, to: $0.1) })
    #expect(joined == expected.map { TrackersInterface.Range(from: $0.0, to: $0.1) })
  }

  @Test(arguments: [(0.0, 0), (0.001, 1), (0.5, 5), (0.99, 9), (1, 10), (2, 10), (-1, 0), (.nan, 0), (.infinity, 0)])
  func drawsProgressBars(_ share: Double, _ filled: Int) {
    #expect(Bar.columns(share, of: 10) == filled)
    let bar = Bar.text(share, width: 10, style: Style(isColored: false))
    #expect(TextWidth.of(bar) == 10 && bar.count { $0 == "━" } == filled)
  }

  @Test(arguments: [
    ("2500", "ml", 2_500.0), ("2.5 l", "ml", 2_500), ("82.4 kg", "kg", 82.4), ("180 lb", "kg", 81.647),
    ("2500ml", "l", 2.5), ("3L", "ml", 3_000), ("0.5 l", "ml", 500), ("0,33 l", "cl", 33), ("3", "ml", 3),
    ("5 km", "m", 5_000), ("1.5h", "min", 90), ("10 kcal", "kJ", 41.84),
  ])
  func convertsAmountsToThePacksUnit(_ text: String, _ unit: String, _ expected: Double) throws {
    #expect(try AmountText.value(text, option: "goal", unit: unit) == expected)
  }

  @Test(
    arguments: [("2 kg", "ml"), ("2 pages", "ml"), ("2 ml", nil), ("2 m", "min"), ("2 l", "kg"), ("much", "ml")]
      as [(String, String?)])
  func refusesAmountsOfAnotherKind(_ text: String, _ unit: String?) {
    #expect(throws: Failure.self) { try AmountText.value(text, option: "goal", unit: unit) }
  }

  @Test(
    arguments: [
      ("x.csv", "id,tracker,at,value", .csv), ("x.txt", "[{\"tracker\":\"water\"}]", .json), ("x", "\u{FEFF}{}", .json),
      ("Checkmarks.csv", "Date,Reading,Running", .loop), ("x.csv", "Date,Reading", .loop),
      ("loop.zip", "PK\u{3}\u{4}", .loop),
    ] as [(String, String, TrackersInterface.Import.Format)])
  func detectsFileFormats(
    _ path: String, _ text: String, _ format: TrackersInterface.Import.Format
  ) throws {
    #expect(try EntryExchange.format(ParsedLine.parse(["entry", "import", path]), path, Array(text.utf8)) == format)
  }
}

/// A tracker's progress in words.
@Suite struct ProgressTextTests {
  private let words = TrackerWords(preferredLanguages: PreferredLanguages(languages: ["en"]))

  private func progress(_ change: (inout TrackersInterface.GoalProgress) -> Void) -> TrackersInterface.GoalProgress {
    var progress = FakeTrackers().progress(TrackerYear.full.trackers[0])
    change(&progress)
    return progress
  }

  @Test func measureShowsItsDistanceToTheGoal() {
    let weight = FakeTrackers().progress(TrackerYear.full.trackers[1])
    var far = weight
    (far.percent, far.value, far.remaining) = (40, 79.25, nil)
    #expect(words.remaining(far) == "3.3 kg to go")
    far.percent = 100
    #expect(words.remaining(far) == nil)
    far.tracker.goal = nil
    #expect(words.remaining(far) == nil)
  }

  @Test(arguments: [
    ("weekday", "not today"), ("paused", "paused"), ("skipped", "skipped"), ("enough", "enough for now"),
    ("notStarted", "not begun yet"), ("of a later version", "0 of 2500 ml"),
  ])
  func dayOffStatesItsReason(_ reason: String, _ text: String) {
    let resting = progress {
      ($0.counts, $0.entries, $0.reason, $0.total, $0.reached) = (false, 0, reason, 0, 0)
    }
    #expect(words.state(resting) == text)
    var logged = resting
    (logged.entries, logged.reached) = (1, 250)
    #expect(words.state(logged) == "250 of 2500 ml")
  }

  @Test(
    arguments: [
      (TrackersInterface.Goal(count: 1), "once a day"), (.init(count: 3, period: .week), "3 times a week"),
      (.init(total: 2_500), "2500 ml a day"), (.init(total: 2_500, period: .month), "2500 ml a month"),
      (.init(value: 80), "80 ml"), (.init(total: 300, atMost: true), "at most 300 ml a day"),
      (.init(count: 1, atMost: true), "at most once a day"), (.init(count: 5, atMost: true), "at most 5 times a day"),
    ])
  func goalsAreDescribed(_ goal: TrackersInterface.Goal, _ text: String) {
    #expect(words.goal(progress { $0.tracker.goal = goal }.tracker) == text)
  }

  @Test(
    arguments: [
      (220.0, .under, false, "220 of 300 ml", "80 ml left"), (300, .near, false, "300 of 300 ml", "0 ml left"),
      (340, .exceeded, false, "340 of 300 ml", "40 ml over"), (100, .under, true, "100 of 300 ml", nil),
    ] as [(Double, TrackersInterface.GoalProgress.Limit, Bool, String, String?)])
  func limitsAreDescribed(
    _ reached: Double, _ limit: TrackersInterface.GoalProgress.Limit, _ isMet: Bool, _ state: String, _ left: String?
  ) {
    let limited = progress {
      $0.tracker.goal = .init(total: 300, atMost: true)
      ($0.reached, $0.limit, $0.met) = (reached, limit, isMet)
    }
    #expect(words.state(limited) == state && words.remaining(limited) == left)
    let tone: Style.Tone = isMet ? .good : limit == .exceeded ? .bad : limit == .near ? .caution : .plain
    #expect(ProgressRows.tone(limited) == tone)
  }

  /// Without a pack's texts, a mood has the default ones.
  @Test func moodsHaveDefaultTexts() {
    for kind in TrackersInterface.Mood.Kind.allCases {
      #expect(!words.mood(TrackersInterface.Mood(kind: kind, title: [:], message: [:], next: [:])).title.isEmpty)
    }
    let own = TrackersInterface.Mood(kind: .lightDay, title: ["en": "Light"], message: [:], next: ["en": "Go on"])
    #expect(words.mood(own) == ("Light", "", "Go on"))
  }
}
