import ChimeSchedule
import Testing

@testable import ChimeExchange

/// Content lines, escapes, dates and durations.
@Suite struct TextTests {
  @Test(
    arguments: [
      ("A:b", "A", [], "b"), ("a-1:", "A-1", [], ""), ("A;X=1:b:c;d", "A", ["X=1"], "b:c;d"),
      ("A;X=\"1;2:3,4\";Y=5,\"6\":b", "A", ["X=1;2:3,4", "Y=5|6"], "b"), ("A;X=:b", "A", ["X="], "b"),
      ("A;X=a^nb^^c^'d^e^:v", "A", ["X=a\nb^c\"d^e^"], "v"),
    ] as [(String, String, [String], String)])
  func contentLinesAreParsed(_ text: String, _ name: String, _ parameters: [String], _ value: String) throws {
    let line = try #require(ContentLine(Array(text.utf8)[...], line: 1))
    #expect(line.name == name)
    #expect(line.parameters.map { "\($0.name)=\($0.values.joined(separator: "|"))" } == parameters)
    #expect(line.value == value)
  }

  @Test(arguments: ["", ":", "A", "A B:c", "A;:b", "A;X:b", "A;X=\"1:b", "A;X=\"1\"2:b", "Ä:b"])
  func invalidContentLinesAreRefused(_ text: String) {
    #expect(ContentLine(Array(text.utf8)[...], line: 1) == nil)
  }

  @Test(arguments: [
    ("a\r\nb\nc", ["1 a", "2 b", "3 c"]), ("a\r\n  b\r\n\tc\nd", ["1 a bc", "4 d"]),
    ("\u{FEFF}a\n\n\nb", ["1 a", "4 b"]),
    (" a\nb", ["1  a", "2 b"]), ("a\n \n \nb\n", ["1 a", "4 b"]), ("", []), ("\n \n", []),
  ])
  func linesAreUnfolded(_ text: String, _ expected: [String]) {
    var reader = LineReader(Array(text.utf8))
    var lines: [String] = []
    while let (bytes, line) = reader.next() { lines.append("\(line) \(String(decoding: bytes, as: UTF8.self))") }
    #expect(lines == expected)
  }

  @Test func foldWithinACharacterIsJoined() {
    let euro = Array("\u{20AC}".utf8)
    var reader = LineReader(euro.prefix(1) + Array("\r\n ".utf8) + euro.dropFirst())
    #expect(reader.next().map { String(decoding: $0.bytes, as: UTF8.self) } == "\u{20AC}")
  }

  @Test(arguments: ["", "plain", "a,b;c\\d\ne", "\\", "\\n", "é,日本"])
  func escapedTextReadsBack(_ text: String) {
    #expect(CalendarText.unescaped(CalendarText.escaped(text)) == text)
    #expect(CalendarText.list("\(CalendarText.escaped(text)),x") == [text, "x"])
  }

  @Test(
    arguments: [
      ("PT15M", 0, 900), ("-PT15M", 0, -900), ("+P1D", 1, 0), ("P1W", 7, 0), ("P0DT0H30M0S", 0, 1_800),
      ("-P1DT2H3M4S", -1, -7_384), ("PT0S", 0, 0), ("P1W2D", 9, 0),
    ] as [(String, Int64, Int64)])
  func durationsReadBack(_ text: String, _ days: Int64, _ seconds: Int64) throws {
    let duration = try #require(CalendarDuration(text))
    #expect(duration == CalendarDuration(days: days, seconds: seconds))
    #expect(CalendarDuration(duration.text) == duration, "\(duration.text)")
  }

  @Test(arguments: [
    "", "P", "PT", "15M", "P15M", "PT1D", "P1DT", "PTM", "P1M", "PT1M1H", "P-1D", "PT99999999999999999999S",
    "P99999999999D",
  ])
  func invalidDurationsAreRefused(_ text: String) { #expect(CalendarDuration(text) == nil) }

  @Test func everyWindowsZoneMapsToAKnownZone() {
    let rows = WindowsZones.table.split(separator: "\n").map { $0.split(separator: "=") }
    #expect(rows.count >= 139)
    #expect(Set(rows.map { $0[0].lowercased() }).count == rows.count)
    for row in rows {
      #expect(row.count == 2)
      #expect(zone(String(row[1])) != nil, "\(row)")
      #expect(WindowsZones.identifier(row[0].uppercased()) == String(row[1]))
    }
    #expect(WindowsZones.identifier("Prague Standard Time") == nil)
  }
}

/// Any file is parsed in bounded time.
@Suite struct HostileFileTests {
  static let settings = CalendarImportTests.settings

  /// A text of 64 KiB that repeats one unit.
  struct Filling: Sendable, CustomTestStringConvertible {
    var unit: String
    var before = ""
    var after = ""

    var text: [UInt8] {
      let count = (65_536 - before.utf8.count - after.utf8.count) / unit.utf8.count
      return Array((before + String(repeating: unit, count: count) + after).utf8)
    }
    var testDescription: String { (before + unit + "…" + after).debugDescription }
  }

  static func filled(_ unit: String, before: String = "", after: String = "") -> Filling {
    Filling(unit: unit, before: before, after: after)
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      filled("x"), filled("\n"), filled(" \n"), filled("BEGIN:VCALENDAR\n"), filled("BEGIN:VCALENDAR\nEND:VCALENDAR\n"),
      filled("A:b\n", before: "BEGIN:VCALENDAR\n", after: "END:VCALENDAR\n"),
      filled("A", before: "BEGIN:VCALENDAR\n", after: "\nEND:VCALENDAR\n"),
      filled(";A=b", before: "BEGIN:VCALENDAR\nX", after: ":\nEND:VCALENDAR\n"),
      filled("\n a", before: "BEGIN:VCALENDAR\nX:", after: "\nEND:VCALENDAR\n"),
      filled("\\", before: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:", after: "\nEND:VEVENT\nEND:VCALENDAR\n"),
      filled("^", before: "BEGIN:VCALENDAR\nX;Y=", after: ":\nEND:VCALENDAR\n"),
      filled(
        "20261201T090000,", before: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261201T090000\nRDATE:",
        after: "\nEND:VEVENT\nEND:VCALENDAR\n"),
      filled("BEGIN:VEVENT\nUID:1\nEND:VEVENT\n", before: "BEGIN:VCALENDAR\n", after: "END:VCALENDAR\n"),
      filled(
        "BEGIN:VEVENT\nDTSTART;TZID=a:20261201T090000\nEND:VEVENT\n", before: "BEGIN:VCALENDAR\n",
        after: "END:VCALENDAR\n"),
      filled(
        "BEGIN:VALARM\nTRIGGER:-PT1M\nEND:VALARM\n", before: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261201T090000\n",
        after: "END:VEVENT\nEND:VCALENDAR\n"),
      filled(
        "a,", before: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261201T090000\nCATEGORIES:",
        after: "\nEND:VEVENT\nEND:VCALENDAR\n"),
      filled(
        "BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20261201T090000\nEND:VEVENT\n", before: "BEGIN:VCALENDAR\n",
        after: "END:VCALENDAR\n"),
      filled("# comment\n"), filled("A=b\n"), filled("%"), filled("* "), filled("* * * * *\n"), filled("@reboot\n"),
      filled("# * * * * * x\n"),
      filled("\u{0}"), filled("\u{FEFF}"),
    ])
  func hostileFillingEndsSoon(_ filling: Filling) {
    let text = filling.text
    _ = try? CalendarImport.read(text, Self.settings)
    _ = try? CrontabImport.read(text, Self.settings)
    _ = try? CalendarDays.read(text, in: scheduleContext)
  }

  /// Random bytes, and calendars with a few bytes changed.
  @Test func damagedFilesAreSurvived() {
    var generator = SeededGenerator(state: 20_261_121)
    let sound = Array(
      ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=\"Europe/Prague\":20261201T090000\r\n"
        + "DTEND:20261201T100000Z\r\nSUMMARY:a\\,b\r\n c\r\nRRULE:FREQ=WEEKLY;COUNT=3\r\nEXDATE:20261208T080000Z\r\n"
        + "BEGIN:VALARM\r\nTRIGGER;RELATED=END:-PT15M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n").utf8)
    let tab = Array("CRON_TZ=Europe/Prague\n# Title\n0 9 * * 1-5 cmd \\% x%in\n@daily y\n".utf8)
    for round in 0..<ProofTier.amount(quick: 600, proof: 20_000) {
      var text = round % 2 == 0 ? sound : tab
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: text[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: text.remove(at: place)
        default: text.insert(text[Int.random(in: 0..<text.count, using: &generator)], at: place)
        }
      }
      for draft in (try? CalendarImport.read(text, Self.settings))?.drafts ?? [] { check(draft) }
      for draft in (try? CrontabImport.read(text, Self.settings))?.drafts ?? [] { check(draft) }
      _ = try? CalendarDays.read(text, in: scheduleContext)
    }
  }

  private func check(_ draft: ReminderDraft) {
    #expect(!draft.title.isEmpty && draft.title.utf8.count <= DraftText.maximumTitle)
    #expect(!draft.title.unicodeScalars.contains { $0.properties.generalCategory == .control })
    #expect((draft.body ?? "x").utf8.count <= DraftText.maximumBody)
    #expect(draft.line >= 1)
  }
}

/// The SplitMix64 generator: the same sequence in every run.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
