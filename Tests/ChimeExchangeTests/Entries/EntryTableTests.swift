import ChimeSchedule
import ChimeTracking
import Testing

@testable import ChimeExchange

/// Trackers and entries for the tests of their exchange.
enum EntrySamples {
  static let now = Instant(seconds: 1_780_000_000)

  static func tracker(_ id: String, _ kind: Tracker.Kind, _ change: (inout Tracker) -> Void = { _ in }) -> Tracker {
    var tracker = Tracker(
      id: TrackerID(rawValue: id), owner: 7, title: LocalizedText(id), kind: kind, startedOn: .earliest,
      createdAt: .earliest)
    change(&tracker)
    return tracker
  }

  static let trackers = [
    tracker("water", .amount) { $0.unit = Unit("ml") },
    tracker("weight", .measure) {
      $0.unit = Unit("kg")
      for (name, symbol) in [("fat", "%"), ("Waist", "cm")] { $0.fields[name] = Unit(symbol) }
    },
    tracker("prayer", .check) { $0.dayStartsAt = 240 },
    tracker("watches", .check) { $0.hasItems = true },
  ]
  static let speedmaster = Item(
    id: ItemID(rawValue: "speedmaster"), tracker: TrackerID(rawValue: "watches"), owner: 7, title: "Omega Speedmaster",
    createdAt: .earliest)

  static func settings(into: String? = nil, now: Instant = now) -> EntryImportSettings {
    EntryImportSettings(
      owner: 7, now: now, zone: prague, trackers: trackers, items: [speedmaster.tracker: [speedmaster]],
      into: into.map(TrackerID.init(rawValue:)))
  }

  static func read(_ text: String, into: String? = nil) throws -> EntryPlan {
    try EntryTable.read(Array(text.utf8), settings(into: into))
  }

  static func csv(_ entries: [Entry]) -> String {
    entries.reduce(into: EntryTable.header(of: trackers)) { text, entry in
      for tracker in trackers where tracker.id == entry.tracker {
        text += EntryTable.line(entry, of: tracker, among: trackers)
      }
    }
  }
}

@Suite struct EntryTableTests {
  typealias Samples = EntrySamples

  @Test func tableHasTheColumnsOfASpreadsheet() throws {
    let weight = try #require(Samples.trackers.first { $0.kind == .measure })
    let (kilogram, percent) = (try #require(Unit("kg")), try #require(Unit("%")))
    var entry = Entry(
      id: EntryID(rawValue: 17), tracker: weight.id, owner: 7, at: try RFC3339.parse("2026-03-01T06:10:00Z"),
      day: try #require(CivilDate("2026-03-01")), minute: 430, quantity: Quantity(82.4, kilogram),
      note: "after, the \"run\"")
    entry.fields["fat"] = Quantity(21.5, percent)
    #expect(
      Samples.csv([entry])
        == "id,tracker,at,day,value,unit,item,note,fields.Waist,fields.fat\r\n"
        + "17,weight,2026-03-01T07:10:00+01:00,2026-03-01,82.4,kg,,\"after, the \"\"run\"\"\",,21.5\r\n")
  }

  @Test func handWrittenTablesAreRead() throws {
    let plan = try Samples.read(
      "\u{FEFF}Day;Value;Unit;Note\n2026-03-01;82,5;;\n2026-03-02;181.5;lb;heavy\n\n2026-03-03;82;kg;\"two\nlines\"\n",
      into: "weight")
    #expect(plan.faults.map(\.line) == [2])
    #expect(plan.faults.first?.message.contains("82,5") == true)
    #expect(plan.entries.map(\.day.description) == ["2026-03-02", "2026-03-03"])
    #expect(plan.entries.map(\.minute) == [720, 720])
    #expect(plan.entries[0].quantity == Unit("lb").flatMap { Quantity(181.5, $0) })
    #expect(plan.entries[1].note == "two\nlines")
  }

  @Test func itemsAreFoundByIDOrTitleAndOtherwiseCreated() throws {
    let plan = try Samples.read(
      "tracker,day,item\nwatches,2026-03-01,speedmaster\nwatches,2026-03-02,OMEGA Speedmaster\n"
        + "watches,2026-03-03,Růžová Prim 36\nwatches,2026-03-04,růžová prim 36\nwatches,2026-03-05,\n")
    #expect(plan.faults.isEmpty)
    #expect(
      plan.entries.map { $0.item?.rawValue } == ["speedmaster", "speedmaster", "ruzova-prim-36", "ruzova-prim-36", nil])
    #expect(plan.items.map(\.title) == ["Růžová Prim 36"])
  }

  @Test func nightEntriesBelongToTheDayBefore() throws {
    let plan = try Samples.read(
      "tracker,at,day\nprayer,2026-03-02T01:30:00+01:00,\nprayer,2026-03-02T05:30:00+01:00,\n"
        + "prayer,2026-03-02T01:30:00-08:00,2026-03-02\nprayer,2026-03-02T01:30:00+01:00,2026-03-04\n")
    #expect(plan.entries.map(\.day.description) == ["2026-03-01", "2026-03-02", "2026-03-02"])
    // Local wall clock times, wherever that was.
    #expect(plan.entries.map(\.minute) == [90, 330, 90])
    #expect(plan.faults.map(\.line) == [5])
  }

  /// A time in UTC has no local time, so it is converted to the zone here, Prague.
  @Test func timesInUTCAreConvertedToTheLocalDay() throws {
    let plan = try Samples.read(
      "tracker,at,day,value\nwater,2026-03-01T23:30:00Z,,250\nwater,2025-06-30T22:15:00Z,,250\n"
        + "water,2026-03-01T23:30:00+00:00,,250\nwater,2026-03-01T23:30:00Z,2026-03-01,250\nprayer,2026-03-01T02:30:00z,,\n"
    )
    #expect(plan.faults.isEmpty, "\(plan.faults)")
    #expect(
      plan.entries.map { "\($0.tracker) \($0.day) \($0.minute)" }.sorted() == [
        "prayer 2026-02-28 210", "water 2025-07-01 15", "water 2026-03-01 1410", "water 2026-03-01 30",
        "water 2026-03-02 30",

      ])
  }

  @Test(arguments: [
    ("tracker,day,value\nwater,2026-03-01,250\ntea,2026-03-01,1\n", 3, "“tea”"),
    ("tracker,day,value\nwater,2026-02-30,250\n", 2, "a day such as 2026-03-01"),
    ("tracker,at,value\nwater,yesterday,250\n", 2, "a time such as"),
    ("tracker,at,value\nwater,2036-03-01T07:10:00+01:00,250\n", 2, "is in the future"),
    ("tracker,day,value\nwater,2036-03-01,250\n", 2, "is in the future"),
    ("tracker,day,value\nwater,2026-03-01,\n", 2, "expected a number"),
    ("tracker,day,value\nwater,2026-03-01,nan\n", 2, "a number such as 82.4"),
    ("tracker,day,value\nwater,2026-03-01,0x10\n", 2, "a number such as 82.4"),
    ("tracker,day,value\nwater,2026-03-01,-5\n", 2, "greater than 0"),
    ("tracker,day,value\nwater,2026-03-01,1e300\n", 2, "larger than Chime can record"),
    ("tracker,day,value,unit\nwater,2026-03-01,5,kg\n", 2, "converts to ml"),
    ("tracker,day,value\nprayer,2026-03-01,5\n", 2, "is a check"),
    ("tracker,day,item\nprayer,2026-03-01,x\n", 2, "has no items"),
    ("tracker,day,value,fields.fat\nwater,2026-03-01,5,20\n", 2, "no field “fat”"),
    ("tracker,day,value,fields.fat\nweight,2026-03-01,5,much\n", 2, "the column fat"),
    ("tracker,day,value,note\nwater,2026-03-01,5,\(String(repeating: "é", count: 501))\n", 2, "at most 500"),
  ])
  func faultHasItsLine(_ text: String, _ line: Int, _ part: String) throws {
    let plan = try Samples.read(text)
    #expect(plan.faults.map(\.line) == [line])
    #expect(plan.faults.first?.message.contains(part) == true, "\(plan.faults)")
  }

  @Test(
    arguments: [
      ("", nil, "empty"), ("tracker,value\n", 1, "neither a column at nor a column day"),
      ("at,value\n", 1, "no column tracker"),
      ("tracker,at,colour\n", 1, "“colour”"), ("tracker,at,at\n", 1, "twice"), ("tracker,at,fields.\n", 1, "“fields.”"),
      ("tracker,day,value\nwater,2026-03-01\n", 2, "expected 3 columns"),
      ("tracker,day,note\nwater,2026-03-01,a\"b\n", 2, "a quote inside a field"),
      ("tracker,day,note\nwater,2026-03-01,\"a\nb\nc", 2, "has no end"),
      ("tracker,day,note\nwater,2026-03-01,\"a\nb\" c\n", 3, "after the quote"),
      ("tracker,day,note\nprayer,2026-03-01,a\nprayer,2026-03-01,a\u{0}b\n", 3, "NUL"),
    ] as [(String, Int?, String)])
  func invalidTablesAreRefused(_ text: String, _ line: Int?, _ part: String) {
    let error = #expect(throws: ExchangeError.self) { try Samples.read(text) }
    #expect(error?.line == line)
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
  }

  @Test func invalidUTF8IsRefused() {
    let bytes = Array("tracker,day,note\nprayer,2026-03-01,".utf8) + [0xC3, 0x28, 0x0A]
    let error = #expect(throws: ExchangeError.self) { try EntryTable.read(bytes, Samples.settings()) }
    #expect(error?.line == 2 && error?.message.contains("UTF-8") == true)
  }

  @Test(arguments: [
    ("=1+1", "'=1+1"), ("'=x", "''=x"), ("+420", "'+420"), ("-", "'-"), ("@a", "'@a"), ("\tx", "'\tx"),
    ("\n=x", "'\n=x"),
    ("'quoted'", "'quoted'"), ("", ""), ("a=b", "a=b"),
  ])
  func formulasAreEscapedAndReadBack(_ note: String, _ guarded: String) throws {
    var entry = try #require(try Samples.read("tracker,day,value\nwater,2026-03-01,5\n").entries.first)
    entry.note = note
    let csv = Samples.csv([entry])
    let needsQuotes = guarded.utf8.contains { $0 == 0x0A || $0 == 0x09 }
    #expect(csv.contains(needsQuotes ? ",\"\(guarded)\"," : ",\(guarded),"))
    #expect(try Samples.read(csv).entries.first?.note == (note.isEmpty ? nil : note))
  }

  /// Notes follow the rules of logging: several lines, but no other control characters.
  @Test(arguments: [
    ("a\r\nb\rc\nd", "a\nb\nc\nd"), ("a\u{1B}[2Jb\u{9B}c\u{7}", "a[2Jbc"), ("\tx", "\tx"), ("\r\r\n", "\n\n"),
  ])
  func notesContainNoControlCharacters(_ written: String, _ read: String) throws {
    let plan = try Samples.read("tracker,day,value,note\nwater,2026-03-01,5,\"\(written)\"\n")
    #expect(plan.faults.isEmpty && plan.entries.map(\.note) == [read])
  }

  /// A quote that forms one `Character` with its neighbors is doubled too: otherwise it would end the field, and the
  /// next one could be a formula.
  @Test(arguments: ["\u{600}", "\u{D4E}", "\u{301}", "\u{E0061}", "\u{202E}", "\r\n"])
  func quotesAreDoubledBesideCombiningCharacters(_ beside: String) throws {
    for field in ["a\(beside)\",=1+1,\"", "a\"\(beside),=1+1", "\(beside)\"\(beside)"] {
      let line = SeparatedValues.line([field, "b"])
      #expect(try SeparatedValues.read(Array(line.utf8)).map(\.fields) == [[field, "b"]], "\(field.debugDescription)")
      #expect(line.utf8.count { $0 == 0x22 } == 2 + 2 * field.utf8.count { $0 == 0x22 })
    }
  }

  @Test func existingEntriesAreSkippedOnceEach() throws {
    var plan = try Samples.read(
      "tracker,day,value,note\nwater,2026-03-01,250,\nwater,2026-03-01,250,\nwater,2026-03-01,250,x\nwater,2026-03-01,300,\n"
        + "water,2026-03-02,250,\n")
    var known = Array(plan.entries[0...0]) + [plan.entries[2]]
    for index in known.indices { known[index].id = EntryID(rawValue: Int64(index + 40)) }
    #expect(plan.days[TrackerID(rawValue: "water")]?.upperBound.description == "2026-03-02")
    plan.leaveOut(known)
    #expect(plan.present == 2)
    #expect(plan.entries.map(\.day.day) == [1, 1, 2] && plan.entries.map(\.note) == [nil, nil, nil])
    var again = try Samples.read("tracker,day,value\nwater,2026-03-01,250\n")
    again.leaveOut(known)
    #expect(again.entries.isEmpty && again.present == 1)
  }

  /// A round trip preserves every byte, including texts that are hard to quote.
  @Test(arguments: 0..<30 as Range<UInt64>) func roundTripPreservesEveryByte(_ seed: UInt64) throws {
    var random = Numbers(state: seed)
    let pieces = [
      "\"", ",", "\n", "'", "=", "+", "-", "@", "\t", ";", " ", "a", "Ž", "\u{1F4A7}",
      "\u{200F}مرحبا\u{202E}", "e\u{301}",
      "\u{FEFF}", "0", "''=", "\u{600}", "\u{D4E}", "\u{301}", "\u{E0022}", "\u{2067}",
    ]
    func text() -> String? {
      let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined()
      return text.isEmpty ? nil : text
    }
    var entries: [Entry] = []
    for number in 0..<40 {
      guard let tracker = Samples.trackers.randomElement(using: &random) else { continue }
      let zone =
        [
          prague, .utc, zone("America/Los_Angeles") ?? .utc, zone("Pacific/Kiritimati") ?? .utc,
          zone("Asia/Kathmandu") ?? .utc,
        ]
        .randomElement(using: &random) ?? .utc
      let at = Instant(
        milliseconds: Int64.random(in: 946_684_800_000...Samples.now.milliseconds, using: &random)
          / ([1, 1_000].randomElement(using: &random) ?? 1))
      let when = at.milliseconds < 946_684_800_000 ? Instant(seconds: at.milliseconds) : at
      let (day, minute) = tracker.day(at: when, in: zone)
      var entry = Entry(
        id: EntryID(rawValue: Int64(number)), tracker: tracker.id, owner: 7, at: when, day: day, minute: minute,
        note: text())
      if let unit = tracker.unit {
        entry.quantity = Quantity(Double(Int.random(in: 1...5_000_000, using: &random)) / 1_000, unit)
      }
      for (name, unit) in tracker.fields where Bool.random(using: &random) {
        entry.fields[name] = Quantity(Double.random(in: -9...900, using: &random), unit)
      }
      if tracker.hasItems { entry.item = Samples.speedmaster.id }
      entries.append(entry)
    }
    let csv = Samples.csv(entries)
    let plan = try Samples.read(csv)
    #expect(plan.faults == [])
    var back = plan.entries
    #expect(back.count == entries.count)
    for index in back.indices { back[index].id = entries[index].id }
    for (first, second) in zip(entries, back) where first != second { Issue.record("\(first) became \(second)") }
    #expect(Array(Samples.csv(back).utf8) == Array(csv.utf8))
  }
}

/// The SplitMix64 generator.
struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
