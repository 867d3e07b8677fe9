import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeExchange

@Suite struct LoopImportTests {
  static func read(_ files: [(String, String)], into: String? = nil, trackers: [Tracker] = EntrySamples.trackers) throws
    -> EntryPlan
  {
    var settings = EntrySamples.settings(into: into)
    settings.trackers = trackers
    return try LoopImport.read(files.map { LoopImport.File(path: $0.0, text: Array($0.1.utf8)) }, settings)
  }

  static let habits = """
    Position,Name,Type,Question,Description,FrequencyNumerator,FrequencyDenominator,Color,Unit,Target Type,Target Value,Archived?
    001,Meditate,YES_NO,"Did you, today?",,1,1,#FF8F00,,,,false
    002,"Run, far",NUMERICAL,,,1,7,#00897B,km,AT_LEAST,20.5,false
    003,Sweets,NUMERICAL,,,1,1,#00897B,pieces/day,AT_MOST,3.0,true
    004,Gym,YES_NO,,,3,7,#00897B,,,,false

    """

  @Test func currentExportIsImported() throws {
    let plan = try Self.read([
      ("Habits.csv", Self.habits),
      (
        "001 Meditate/Checkmarks.csv",
        "Date,Value,Notes\n2026-03-04,YES_MANUAL,\"calm, \"\"really\"\"\"\n2026-03-03,SKIP,\n2026-03-02,NO,no time\n2026-03-01,YES_AUTO,\n"
      ),
      ("001 Meditate/Scores.csv", "Date,Score\n2026-03-04,0.1\n"),
      (
        "002 Run far/Checkmarks.csv",
        "Date,Value,Notes\n2026-03-04,5250,\n2026-03-03,NO,\n2026-03-02,SKIP,\n2026-03-01,YES_MANUAL,\n"
      ),
      ("003 Sweets/Checkmarks.csv", "Date,Value,Notes\n2026-03-04,2000,\n"),
      ("004 Gym/Checkmarks.csv", "Date,Value,Notes\n2026-03-04,YES_MANUAL,\n"),
      // The common file has nothing that the others lack.
      ("Checkmarks.csv", "Date,Meditate,Run, far,Sweets,Gym,\n2026-03-04,YES_MANUAL,5250,2000,YES_MANUAL,\n"),
      ("Scores.csv", "what ever"),
    ])
    #expect(plan.faults == [])
    #expect(plan.trackers.map(\.id.rawValue) == ["meditate", "run-far", "sweets", "gym"])
    #expect(plan.trackers.map(\.kind) == [.check, .amount, .amount, .check])
    #expect(plan.trackers[0].skips.map(\.description) == ["2026-03-03"])
    #expect(plan.trackers[0].startedOn.description == "2026-03-01")
    #expect(plan.trackers[0].counting == .everyDay)
    #expect(plan.trackers[3].counting == .rolling(times: 3, days: 7))
    let kilometre = try #require(Unit("km"))
    #expect(plan.trackers[1].goal == Goal(.total(try #require(Quantity(20.5, kilometre))), each: .week))
    let times = try #require(Unit("times"))
    #expect(plan.trackers[2].goal == Goal(.total(try #require(Quantity(3, times))), atMost: true))
    #expect(plan.trackers[2].unit == times)
    func entries(_ id: String) -> [Entry] { plan.entries.filter { $0.tracker.rawValue == id } }
    #expect(entries("meditate").map(\.note) == ["calm, \"really\""])
    #expect(entries("meditate").map(\.minute) == [720])
    #expect(entries("run-far").map(\.quantity) == [Quantity(5.25, kilometre), Quantity(0.002, kilometre)])
    #expect(entries("sweets").count == 1 && entries("gym").count == 1)
    let remarks = plan.remarks.map { "\($0.line ?? 0) \($0.title ?? ""): \($0.message)" }
    #expect(remarks.contains { $0.hasPrefix("2 Meditate") && $0.hasSuffix("left out: 1") })
    #expect(remarks.contains { $0.hasPrefix("4 Sweets") && $0.contains("archived") })
    #expect(remarks.contains { $0.hasPrefix("4 Sweets") && $0.contains("pieces/day") })
  }

  /// A weekly limit is not supported.
  @Test func weeklyLimitIsSkipped() throws {
    let plan = try Self.read([
      (
        "Habits.csv",
        "Position,Name,Type,Question,Description,FrequencyNumerator,FrequencyDenominator,Color,Unit,Target Type,"
          + "Target Value,Archived?\n001,Wine,NUMERICAL,,,1,7,#00897B,glass,AT_MOST,7.0,false\n"
      ), ("001 Wine/Checkmarks.csv", "Date,Value,Notes\n2026-03-04,2000,\n"),
    ])
    #expect(plan.trackers.map(\.goal) == [nil])
    #expect(plan.remarks.contains { $0.title == "Wine" && $0.message.hasPrefix("a limit applies to a day here") })
  }

  @Test func commonFileAloneIsImported() throws {
    let plan = try Self.read([
      ("/home/me/Checkmarks.csv", "Date,Meditate,Say \"hi\",Walk,\n2026-03-02,2,0,5000,\n2026-03-01,3,2,-1,\n")
    ])
    #expect(plan.faults == [])
    #expect(plan.trackers.map(\.title.texts) == [["en": "Meditate"], ["en": "Say \"hi\""], ["en": "Walk"]])
    #expect(plan.trackers.map(\.kind) == [.check, .check, .amount])
    #expect(plan.entries.map(\.tracker.rawValue) == ["meditate", "say-hi", "walk"])
    #expect(plan.entries.last?.quantity == Quantity(grains: 5_000_000))
    #expect(plan.trackers[0].skips.map(\.description) == ["2026-03-01"])
  }

  @Test func oldExportIsImported() throws {
    let plan = try Self.read([
      (
        "Habits.csv",
        "Position,Name,Question,Description,NumRepetitions,Interval,Color\n001,Wake up early,,,2,3,#00897B\n"
      ),
      ("001 Wake up early/Checkmarks.csv", "2016-03-04,2\n2016-03-03,1\n2016-03-02,-3\n2016-03-01,0\n"),
    ])
    #expect(plan.faults == [])
    #expect(plan.trackers.map(\.counting) == [.rolling(times: 2, days: 3)])
    #expect(plan.trackers.first?.skips.map(\.description) == ["2016-03-02"])
    #expect(plan.entries.map(\.day.description) == ["2016-03-04"])
  }

  @Test func existingEntriesAreRecognized() throws {
    let file = [("Checkmarks.csv", "Date,Gym,\n2026-03-02,YES_MANUAL,\n2026-03-01,SKIP,\n")]
    let first = try Self.read(file)
    var second = try Self.read(file, trackers: first.trackers)
    #expect(second.trackers.isEmpty)
    #expect(second.remarks.contains { $0.message.contains("skipped days are left out: 1") })
    second.leaveOut(first.entries)
    #expect(second.entries.isEmpty && second.present == 1)
    // A tracker of the same name but another kind does not match.
    var weight = EntrySamples.trackers[1]
    weight.title = "Gym"
    weight.id = TrackerID(rawValue: "gym")
    #expect(try Self.read(file, trackers: [weight]).trackers.map(\.id.rawValue) == ["gym-2"])
  }

  @Test func fileOfOneHabitIsImportedIntoATracker() throws {
    let file = [("Checkmarks.csv", "Date,Value,Notes\n2026-03-02,YES_MANUAL,well\n")]
    let plan = try Self.read(file, into: "prayer")
    #expect(plan.trackers.isEmpty && plan.entries.map(\.tracker.rawValue) == ["prayer"])
    #expect(
      throws: ExchangeError(
        line: nil, "the file has one habit without its name: name the tracker for it")
    ) {
      try Self.read(file)
    }
    #expect(throws: ExchangeError.self) { try Self.read(file, into: "water") }
    #expect(throws: ExchangeError.self) {
      try Self.read([("Checkmarks.csv", "Date,A,B,\n2026-03-02,2,2,\n")], into: "prayer")
    }
  }

  @Test(
    arguments: [
      ([], nil, "no Checkmarks.csv"),
      ([("Habits.csv", "a,b\n")], 1, "Habits.csv: expected a header with the column Name"),
      ([("Checkmarks.csv", "Date,A,\n2026-03-02,PERHAPS,\n")], 2, "not “PERHAPS”"),
      ([("Checkmarks.csv", "Date,A,\n2026-13-02,NO,\n")], 2, "a day such as"),
      ([("Checkmarks.csv", "Date,Run, far,\n2026-03-02,NO,\n")], 1, "Habits.csv is needed"),
      ([("Checkmarks.csv", "Date,A,B,\n2026-03-02,NO,NO,\n2026-03-01,NO\n")], 3, "3 columns"),
      (
        [("001 A/Checkmarks.csv", "Date,Value,Notes\n2026-03-02\n")], 2,
        "001 A/Checkmarks.csv: expected a day and a value"
      ),
      ([("Habits.csv", "Name,FrequencyNumerator\nA,none\n")], 2, "FrequencyNumerator"),
      ([("Else.csv", "Some,Thing\n1,2\n")], 1, "its first column must be Date"),
    ] as [([(String, String)], Int?, String)])
  func foreignFilesAreRefused(_ files: [(String, String)], _ line: Int?, _ part: String) {
    let error = #expect(throws: ExchangeError.self) { try Self.read(files) }
    #expect(error?.line == line)
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
  }

  @Test func numbersInAYesOrNoHabitAreFaults() throws {
    let plan = try Self.read([
      ("Habits.csv", "Name,Type\nA,YES_NO\n"),
      ("001 A/Checkmarks.csv", "Date,Value\n2026-03-02,YES_MANUAL\n2026-03-01,4000\n"),
    ])
    #expect(plan.faults.map(\.line) == [3])
  }
}

@Suite struct ZipArchiveTests {
  static let archive = Array(Data(base64Encoded: loopArchive) ?? Data())

  @Test func archiveOfLoopIsImported() throws {
    let plan = try LoopImport.read(Self.archive, called: "Loop Habits CSV.zip", EntrySamples.settings())
    #expect(plan.faults == [])
    #expect(plan.trackers.map(\.id.rawValue) == ["read", "run"])
    #expect(plan.entries.count == 10)
    #expect(plan.entries.compactMap(\.note).first == "Page 9, and on")
  }

  /// Any wrong byte leads to a refusal or to the same content.
  @Test func damagedArchiveIsRefused() throws {
    let whole = try ZipArchive.files(in: Self.archive) { _ in true }
    #expect(whole.count == 6)
    let step = ProofTier.amount(quick: 5, proof: 1)
    var refused = 0
    for index in stride(from: 0, to: Self.archive.count, by: step) {
      var bytes = Self.archive
      bytes[index] ^= 0x15
      do {
        let files = try ZipArchive.files(in: bytes) { _ in true }
        // A name, a time or an ignored field may differ, but never the content.
        for file in files { #expect(whole.contains { $0.bytes == file.bytes }) }
      } catch {
        refused += 1
      }
    }
    #expect(refused > Self.archive.count / step / 3)
    for length in stride(from: 0, to: Self.archive.count, by: step) {
      #expect(throws: ExchangeError.self) { try ZipArchive.files(in: Array(Self.archive.prefix(length))) { _ in true } }
    }
  }

  @Test func longTextsAreDecompressed() throws {
    let text = (0..<400).map { "line \($0 * $0) of many words, \($0 % 7)\n" }.joined()
    let packed = Array(try #require(Data(base64Encoded: deflated)))
    #expect(ZipArchive.inflated(packed[...], to: text.utf8.count) == Array(text.utf8))
    #expect(ZipArchive.inflated(packed[...], to: text.utf8.count - 1) == nil)
    #expect(ZipArchive.checksum32(Array("123456789".utf8)) == 0xCBF4_3926)
  }
}
