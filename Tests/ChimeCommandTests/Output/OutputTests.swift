import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

@Suite struct OutputTests {
  @Test(arguments: [
    ("", 0), ("Tea", 3), ("čaj", 3), ("cafe\u{301}", 4), ("日本語", 6), ("ｆｕｌｌ", 8), ("한국어", 6), ("👍", 2), ("👍🏽", 2),
    ("👩‍👩‍👧‍👦", 2), ("🇨🇿", 2), ("❤️", 2), ("❤", 1), ("שלום", 4), ("مرحبا", 5), ("a\u{200B}b", 2), ("\u{301}", 0),
    ("a\tb", 2), ("—…", 2),
  ])
  func textWidthCountsColumns(_ text: String, _ width: Int) { #expect(TextWidth.of(text) == width) }

  @Test(arguments: [
    ("Tea", 3, "Tea"), ("Teapot", 4, "Tea…"), ("日本語のテキスト", 7, "日本語…"), ("日本語のテキスト", 6, "日本…"), ("ab", 1, "…"),
    ("ab", 0, ""),
  ])
  func truncationKeepsToTheWidth(_ text: String, _ width: Int, _ expected: String) {
    #expect(TextWidth.truncate(text, to: width) == expected)
    #expect(TextWidth.of(expected) <= width)
  }

  @Test(arguments: [
    ("a\u{1B}[31mb", "a␛[31mb"), ("a\nb\r\nc", "a␤b␍␤c"), ("a\u{7F}\u{9B}31m", "a␡\\u{9B}31m"),
    ("abc\u{202E}fed", "abc\\u{202E}fed"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"), ("a\u{2028}b", "a\\u{2028}b"),
    ("שלום", "שלום"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"), ("می‌خواهم", "می‌خواهم"),
  ])
  func controlCharactersAreEscaped(_ text: String, _ expected: String) {
    #expect(TerminalSanitizer.line(text) == expected)
  }

  @Test(
    arguments: [
      (0, "now"), (1, "in 1 s"), (59, "in 59 s"), (60, "in 1 min"), (95, "in 1 min 35 s"), (720, "in 12 min"),
      (3_599, "in 1 h"), (5_400, "in 1 h 30 min"), (86_399, "in 1 d"), (86_400, "in 1 d"), (90_000, "in 1 d 1 h"),
      (864_000, "in 10 d"), (1_814_400, "in 3 weeks"), (12_960_000, "in 5 months"), (94_672_800, "in 3 years"),
      (-1, "1 s ago"), (-10_800, "3 h ago"), (-172_800, "2 d ago"),
    ] as [(Int64, String)])
  func relativeTimesAreReadable(_ seconds: Int64, _ expected: String) {
    let then = Instant(milliseconds: Samples.now.milliseconds + seconds * 1_000)
    #expect(RelativeTime.text(then, now: Samples.now) == expected)
  }

  /// No duration is printed with 60 of a unit.
  @Test func relativeTimesNeverReachSixtyOfAUnit() {
    for seconds in stride(from: Int64(1), to: 2_000_000, by: 29) {
      let text = RelativeTime.amount(seconds: seconds)
      #expect(!text.contains("60 min") && !text.contains("60 s") && !text.contains("24 h"), "\(seconds): \(text)")
    }
  }

  static let titles = [
    "Drink water", "日本語の長いタイトルがここにあります", "שלום עולם וזו כותרת ארוכה מאוד", "👩‍👩‍👧‍👦 family dinner 🇨🇿",
    "evil\u{1B}[2J\u{202E}title\nx",
    String(repeating: "long ", count: 40),
  ]

  @Test(arguments: [40, 80, 120])
  func tablesFitTheWidth(_ width: Int) throws {
    let reminders = Self.titles.enumerated().map { Samples.reminder("r\($0)", $1) }
    let daemon = try FakeDaemon { _, _ in .reply(RemindersInterface.List.Reply(reminders: reminders)) }
    let outcome = chime(["list"], daemon: daemon, width: width, isTerminal: true)
    #expect(outcome.status == .success)
    let lines = outcome.lines.dropLast()
    #expect(lines.count == Self.titles.count + 1)
    for line in lines {
      let bare = line.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[2m", with: "").replacing("\u{1B}[0m", with: "")
      #expect(TextWidth.of(bare) <= width, "\(bare)")
      #expect(!bare.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) })
    }
    #expect(outcome.output.contains("…"))
  }

  /// A list of eighty columns has the schedule, the next time and the channels; long texts are shortened.
  @Test func narrowTableShortensTextsBeforeItDropsColumns() throws {
    let clock = WallClock(zone: .utc, now: Instant(seconds: 1_795_420_800))
    func table(_ skipReason: String?) -> Table {
      var table = Table(columns: [
        .init(title: "ID"), .init(title: "TITLE", canShrink: true),
        .init(title: "SCHEDULE", canShrink: true, dropOrder: 2), .init(title: "NEXT"),
        .init(title: "LEFT", canShrink: true, dropOrder: 1), .init(title: "TO", canShrink: true, dropOrder: 3),
      ])
      let next = Instant(seconds: 1_795_507_200)
      table.rows.append([
        .init("r7k2"), .init("Stand-up with the whole of the team"), .init("every 90m from 08:00 to 22:00"),
        .init(clock.text(next), short: clock.short(next)), .init("in 24 h, \(skipReason ?? "")", short: skipReason),
        .init("desktop"),
      ])
      return table
    }
    let style = Style(when: nil, isTerminal: false, environment: [:])
    func lines(_ skipReason: String?, _ width: Int?) -> [String] { table(skipReason).lines(width: width, style: style) }
    for width in [70, 80, 100] {
      let lines = lines("skipped", width)
      #expect(
        lines[0].split(separator: " ").map(String.init) == ["ID", "TITLE", "SCHEDULE", "NEXT", "LEFT", "TO"], "\(width)"
      )
      #expect(lines.allSatisfy { TextWidth.of($0) <= width }, "\(lines)")
    }
    #expect(lines("skipped", 80)[1].contains("Tue 08:00  skipped"), "\(lines("skipped", 80))")
    #expect(lines("skipped", nil)[1].contains("Tue 2026-11-24 08:00  in 24 h, skipped"))
    // If even that is too wide, the least important column is dropped first.
    #expect(lines("skipped", 50)[0].split(separator: " ") == ["ID", "TITLE", "NEXT", "LEFT"])
  }

  private static let times: [(Int64, String, String)] = [
    (0, "08:00", "now"), (3_600, "09:00", "in 1 h"), (55_800, "23:30", "in 16 h"), (86_400, "Tue 08:00", "in 1 d"),
    (518_400, "Sun 08:00", "in 6 d"), (604_800, "Mon 11-30 08:00", "in 7 d"), (-86_400, "Sun 11-22 08:00", "1 d ago"),
    (3_456_000, "Sat 2027-01-02 08:00", "in 6 weeks"),
  ]

  /// Outside UTF-8 locales people get ASCII signs of the same width; output for programs is unchanged.
  @Test func outsideUTF8SignsAreASCII() throws {
    for line in ["✓ ★ ☆ ● ◐ ○ · ━━──", "a → b – c…", "↗ ↘ × “x”"] {
      let typed = Glyphs.typed(line)
      #expect(typed.utf8.allSatisfy { $0 < 0x80 }, "\(typed)")
      #expect(TextWidth.of(typed) == TextWidth.of(line))
    }
    #expect(Glyphs.typed("Čaj v 5") == "Čaj v 5", "what a person wrote is theirs")
    for (locale, arrow) in [("C", ">"), ("cs_CZ.ISO-8859-2", ">"), ("C.UTF-8", "→")] {
      let outcome = chime(["doctor"], environment: ["LC_ALL": locale])
      #expect(outcome.output.contains("\(arrow) "), "\(locale): \(outcome.output)")
    }
  }

  @Test(arguments: Self.times)
  func timesHaveAShortForm(_ seconds: Int64, _ text: String, _ relative: String) {
    let now = Instant(seconds: 1_795_420_800)
    let clock = WallClock(zone: .utc, now: now)
    #expect(clock.short(now + .seconds(seconds)) == text)
    #expect(RelativeTime.short(now + .seconds(seconds), now: now) == relative)
  }

  @Test func wideCharactersKeepColumnsAligned() {
    var table = Table(columns: [.init(title: "A", canShrink: true), .init(title: "B")])
    table.rows = Self.titles.map { [.init($0), "|"] }
    let style = Style(when: "never", isTerminal: false, environment: [:])
    let columns = table.lines(width: 30, style: style).dropFirst().map { TextWidth.of($0.prefix { $0 != "|" }) }
    #expect(Set(columns) == [29])
  }

  @Test(
    arguments: [
      (nil, true, [:], true), (nil, false, [:], false), (nil, true, ["NO_COLOR": "1"], false),
      (nil, true, ["NO_COLOR": ""], true),
      (nil, true, ["TERM": "dumb"], false), ("always", false, ["NO_COLOR": "1"], true), ("never", true, [:], false),
    ] as [(String?, Bool, [String: String], Bool)])
  func colorFollowsOptionTerminalAndEnvironment(
    _ when: String?, _ isTerminal: Bool, _ environment: [String: String], _ expected: Bool
  ) {
    #expect(Style(when: when, isTerminal: isTerminal, environment: environment).isColored == expected)
  }

  @Test func jsonEscapesControlCharacters() {
    let value = JSONText.members([
      "a": .string("\"\\\n\u{1}\u{202E}é"), "b": .list([]), "c": .list([.null, .bool(true)]),
    ])
    #expect(value.text() == #"{"a":"\"\\\n\u0001\u202eé","b":[],"c":[null,true]}"#)
    #expect(value.text(indented: true).hasPrefix("{\n  \"a\": "))
  }

  @Test func plainFieldsContainNoTabs() { #expect(Plain.text(.list([.string("a\tb\nc"), .int(2)])) == "a b c,2") }

  /// JSON has every field, in the order of the interface file; a missing value is null.
  @Test func jsonHasEveryFieldOfTheInterface() throws {
    let occurrence = Samples.occurrence()
    let value = JSONText(occurrence, PreferredLanguages(languages: ["cs"]))
    guard case .object(let members) = value else { throw Failure.failed("\(value)") }
    #expect(members.map(\.name) == OccurrencesInterface.Occurrence.fieldNames)
    #expect(Set(members.map(\.name)) == Set(Mirror(reflecting: occurrence).children.compactMap(\.label)))
    #expect(members.first { $0.name == "scheduledAt" }?.value == .string(occurrence.scheduledAt.at))
    #expect(members.first { $0.name == "state" }?.value == .string(occurrence.state.rawValue))
    #expect(members.first { $0.name == "snoozedUntil" }?.value == .null)
  }

  /// A text in several languages is printed in one; names of measures and attributes are not taken for languages.
  @Test func localizedTextsArePrintedInTheUsersLanguage() {
    let day = SchedulesInterface.CalendarDays(
      from: "2026-12-24", to: "2026-12-24", names: ["en": "Eve", "cs": "Štědrý den"])
    #expect(
      JSONText(day, PreferredLanguages(languages: ["cs"])).text()
        == #"{"from":"2026-12-24","to":"2026-12-24","names":"Štědrý den"}"#)
    let item = TrackersInterface.Item(
      id: "a", tracker: "t", title: "A", attributes: ["en": "x"], entries: 0)
    #expect(JSONText(item, PreferredLanguages(languages: ["en"])).text().contains(#""attributes":{"en":"x"}"#))
  }
}
