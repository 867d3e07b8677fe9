import ChimeSchedule
import Foundation
import Testing

/// Zone files, valid and invalid by RFC 9636.
@Suite struct TZifTests {
  /// Builds a file from parts that can be made invalid.
  struct File {
    var magic = "TZif"
    var version: UInt8 = UInt8(ascii: "2")
    var second: UInt8?
    var transitions: [(Int64, UInt8)] = [(1_000_000, 1), (2_000_000, 0)]
    var types: [(Int32, UInt8, UInt8)] = [(3_600, 0, 0), (7_200, 1, 4)]
    var names = Array("CET\0CEST\0".utf8)
    var leaps: [(Int64, Int32)] = []
    var standardFlags: [UInt8] = []
    var utcFlags: [UInt8] = []
    var footer = "\n\n"
    var counts: [UInt32]?
    var tail: [UInt8] = []

    func header(_ version: UInt8, counts: [UInt32]) -> [UInt8] {
      Array(magic.utf8) + [version] + [UInt8](repeating: 0, count: 15) + counts.flatMap { bytes($0) }
    }

    func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    var bytes: [UInt8] {
      let isWide = version != 0
      var file: [UInt8] = []
      if isWide { file = header(version, counts: [0, 0, 0, 0, 1, 1]) + [0, 0, 0, 0, 0, 0, 0] }
      file += header(
        second ?? version,
        counts: counts
          ?? [utcFlags.count, standardFlags.count, leaps.count, transitions.count, types.count, names.count].map(
            UInt32.init))
      for transition in transitions {
        file += isWide ? bytes(transition.0) : bytes(Int32(truncatingIfNeeded: transition.0))
      }
      file += transitions.map(\.1)
      for type in types { file += bytes(type.0) + [type.1, type.2] }
      file += names
      for leap in leaps { file += (isWide ? bytes(leap.0) : bytes(Int32(truncatingIfNeeded: leap.0))) + bytes(leap.1) }
      file += standardFlags + utcFlags
      if isWide { file += Array(footer.utf8) }
      return file + tail
    }

    func with(_ change: (inout File) -> Void) -> File {
      var copy = self
      change(&copy)
      return copy
    }
  }

  static func read(_ bytes: [UInt8]) throws(ZoneError) -> Zone { try Zone(identifier: "Test/Zone", tzif: bytes) }

  @Test func everyVersionIsRead() throws {
    let old = try Self.read(File().with { $0.version = 0 }.bytes)
    for version in ["2", "3", "4"] {
      let zone = try Self.read(File().with { $0.version = version.utf8.first ?? 0 }.bytes)
      for second in stride(from: Int64(0), to: 3_000_000, by: 250_000) {
        let at = Instant(seconds: second)
        #expect(zone.offset(at: at) == (second >= 1_000_000 && second < 2_000_000 ? 7_200 : 3_600))
        #expect(old.offset(at: at) == zone.offset(at: at))
      }
    }
    #expect(old.abbreviation(at: Instant(seconds: 1_500_000)) == "CEST")
  }

  /// `right/` files count leap seconds; the result is POSIX time.
  @Test func leapSecondsAreRemoved() throws {
    let zone = try Self.read(File().with { $0.leaps = [(500_000, 1), (1_500_000, 2)] }.bytes)
    #expect(zone.nextTransition(after: .earliest)?.instant == Instant(seconds: 999_999))
    #expect(zone.nextTransition(after: Instant(seconds: 1_000_000))?.instant == Instant(seconds: 1_999_998))
  }

  @Test func footersAreParsed() throws {
    func zone(_ footer: String, version: String = "3") throws -> Zone {
      try Self.read(
        File().with {
          $0.transitions = []
          $0.footer = "\n\(footer)\n"
          $0.version = version.utf8.first ?? 0
        }.bytes)
    }
    let summer = instant("2026-07-01T12:00:00Z")
    let winter = instant("2026-01-01T12:00:00Z")
    #expect(try zone("<+0330>-3:30").offset(at: summer) == 12_600)
    #expect(try zone("EST5EDT,M3.2.0,M11.1.0").offset(at: summer) == -14_400)
    #expect(try zone("EST5EDT,M3.2.0,M11.1.0").offset(at: winter) == -18_000)
    // Negative DST, as in Irish law.
    #expect(try zone("IST-1GMT0,M10.5.0,M3.5.0/1").abbreviation(at: winter) == "GMT")
    // DST all year: the end of one is the start of the next (RFC 9636 section 3.3.1).
    let always = try zone("XXX3EDT4,0/0,J365/23")
    #expect(always.nextTransition(after: winter) == nil)
    #expect(always.offset(at: winter) == -14_400)
    // Hours that only version 3 permits: Greenland's Saturday 22:00 is Sunday −2.
    let nuuk = try zone("<-02>2<-01>,M3.5.0/-1,M10.5.0/0")
    #expect(nuuk.nextTransition(after: winter)?.instant == instant("2026-03-29T01:00:00Z"))
    #expect(throws: ZoneError.self) { try zone("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", version: "2") }
    // Thursday, 26 hours before Sunday, as in Gaza.
    #expect(
      try zone("EET-2EEST,M3.4.4/50,M10.4.4/50").nextTransition(after: winter)?.instant
        == instant("2026-03-28T00:00:00Z"))
    // Julian days never count 29 February; the other form does.
    let leap = instant("2028-01-01T12:00:00Z")
    #expect(try zone("AAA0BBB,J60,J300").nextTransition(after: leap)?.instant == instant("2028-03-01T02:00:00Z"))
    #expect(try zone("AAA0BBB,59,J300").nextTransition(after: leap)?.instant == instant("2028-02-29T02:00:00Z"))
  }

  /// If the table extends beyond every supported year, the footer is unused.
  @Test func distantTransitionsReplaceTheFooter() throws {
    for second in [253_402_300_800, 1 << 40, 1 << 48, 1 << 58, -(1 << 59)] as [Int64] {
      let file = File().with {
        $0.transitions = [(second, 1)]
        $0.footer = "\nEST5EDT,M3.2.0,M11.1.0\n"
      }
      let zone = try Self.read(file.bytes)
      #expect(zone.offset(at: instant("2026-07-01T12:00:00Z")) == (second < 0 ? -14_400 : 3_600))
      _ = zone.nextTransition(after: .earliest)
      _ = zone.civil(at: .latest)
    }
  }

  static let malformed: [(name: String, file: File, code: ZoneError.Code)] = [
    ("magic", File().with { $0.magic = "TZIF" }, .notTZif),
    ("version 1", File().with { $0.version = UInt8(ascii: "1") }, .notTZif),
    ("version letter", File().with { $0.version = UInt8(ascii: "x") }, .notTZif),
    ("two versions", File().with { $0.second = UInt8(ascii: "3") }, .malformed),
    ("huge counts", File().with { $0.counts = .init(repeating: .max, count: 6) }, .truncated),
    ("huge transitions", File().with { $0.counts = [0, 0, 0, .max, 2, 9] }, .truncated),
    ("huge leap seconds", File().with { $0.counts = [0, 0, 0x7FFF_FFFF, 2, 2, 9] }, .truncated),
    ("no types", File().with { $0.types = [] }, .malformed),
    ("no names", File().with { $0.names = [] }, .malformed),
    ("300 types", File().with { $0.types = .init(repeating: (0, 0, 0), count: 300) }, .malformed),
    ("descending", File().with { $0.transitions = [(2, 0), (1, 1)] }, .malformed),
    ("equal", File().with { $0.transitions = [(2, 0), (2, 1)] }, .malformed),
    ("before the Big Bang", File().with { $0.transitions = [(.min, 0)] }, .malformed),
    ("far future", File().with { $0.transitions = [(.max, 0)] }, .malformed),
    ("type index", File().with { $0.transitions = [(1, 2)] }, .malformed),
    ("name index", File().with { $0.types = [(0, 0, 9)] }, .malformed),
    ("endless name", File().with { $0.names = Array("CET".utf8) }, .malformed),
    ("control character in a name", File().with { $0.names = Array("C\u{1B}T\0CEST\0".utf8) }, .malformed),
    ("offset of 26 hours", File().with { $0.types = [(93_600, 0, 0)] }, .malformed),
    ("smallest offset", File().with { $0.types = [(.min, 0, 0)] }, .malformed),
    ("daylight mark", File().with { $0.types = [(0, 2, 0)] }, .malformed),
    ("indicators", File().with { $0.standardFlags = [1] }, .malformed),
    ("indicator value", File().with { $0.utcFlags = [1, 7] }, .malformed),
    ("leap seconds out of order", File().with { $0.leaps = [(9, 1), (8, 2)] }, .malformed),
    ("leap seconds out of measure", File().with { $0.leaps = [(9, .min)] }, .malformed),
    ("no footer", File().with { $0.footer = "" }, .truncated),
    ("footer without its first newline", File().with { $0.footer = "UTC0\n" }, .invalidFooter),
    ("footer without its last newline", File().with { $0.footer = "\nUTC0" }, .truncated),
    ("short name", File().with { $0.footer = "\nUT0\n" }, .invalidFooter),
    ("no offset", File().with { $0.footer = "\nUTC\n" }, .invalidFooter),
    ("hour 25", File().with { $0.footer = "\nUTC25\n" }, .invalidFooter),
    ("no rule", File().with { $0.footer = "\nCET-1CEST\n" }, .invalidFooter),
    ("half a rule", File().with { $0.footer = "\nCET-1CEST,M3.5.0\n" }, .invalidFooter),
    ("month 13", File().with { $0.footer = "\nCET-1CEST,M13.5.0,M10.5.0\n" }, .invalidFooter),
    ("week 0", File().with { $0.footer = "\nCET-1CEST,M3.0.0,M10.5.0\n" }, .invalidFooter),
    ("weekday 7", File().with { $0.footer = "\nCET-1CEST,M3.5.7,M10.5.0\n" }, .invalidFooter),
    ("day J0", File().with { $0.footer = "\nCET-1CEST,J0,M10.5.0\n" }, .invalidFooter),
    ("day 366", File().with { $0.footer = "\nCET-1CEST,366,M10.5.0\n" }, .invalidFooter),
    (
      "hour 168",
      File().with {
        $0.footer = "\nCET-1CEST,M3.5.0/168,M10.5.0\n"; $0.version = UInt8(ascii: "3")
      }, .invalidFooter
    ),
    ("more after the rule", File().with { $0.footer = "\nCET-1CEST,M3.5.0,M10.5.0,\n" }, .invalidFooter),
    ("digits without end", File().with { $0.footer = "\nUTC\(String(repeating: "9", count: 200))\n" }, .invalidFooter),
    ("long footer", File().with { $0.footer = "\n\(String(repeating: "A", count: 500))0\n" }, .invalidFooter),
    ("large", File().with { $0.tail = .init(repeating: 0, count: 300_000) }, .tooLarge),
  ]

  @Test(arguments: malformed.indices) func refusesMalformed(_ index: Int) {
    let (name, file, code) = Self.malformed[index]
    let error = #expect(throws: ZoneError.self, "\(name)") { try Self.read(file.bytes) }
    #expect(error?.code == code, "\(name)")
  }

  @Test func refusesEachTruncation() throws {
    for name in ["Europe/Prague", "Asia/Tokyo", "UTC"] {
      let whole = Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)")))
      for length in 0..<whole.count {
        #expect(throws: ZoneError.self) { try Self.read(Array(whole[..<length])) }
      }
    }
  }

  @Test func refusesBadNames() {
    let error = #expect(throws: ZoneError.self) { try Zone(identifier: "../x", tzif: File().bytes) }
    #expect(error?.code == .invalidIdentifier)
  }

  /// Damaged files are rejected, or give a zone that can answer all queries.
  @Test func survivesDamage() throws {
    var generator = SeededGenerator(seed: 9_636)
    var accepted = 0
    let names = ["Europe/Prague", "America/New_York", "Africa/Casablanca", "Asia/Tokyo", "right/Europe/Prague"]
    let files = try names.map { Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\($0)"))) }
    let rounds = ProofTier.amount(quick: 300, proof: 5_000)
    for round in 0..<rounds {
      var bytes = files[round % files.count]
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        // Mostly damage header and footer, where it has most effect.
        let place =
          Bool.random(using: &generator)
          ? Int.random(in: max(0, bytes.count - 40)..<bytes.count, using: &generator)
          : Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let zone = try? Self.read(bytes) else { continue }
      accepted += 1
      let schedule = try Schedule(canonical: "daily at 02:30")
      for seconds in [0, 1_774_600_000, 16_725_225_600, 253_402_300_799] as [Int64] {
        let at = Instant(seconds: seconds)
        _ = zone.resolve(zone.civil(at: at))
        _ = zone.nextTransition(after: at)
        _ = zone.abbreviation(at: at)
        _ = schedule.timetable(in: zone, gap: .shift, fold: .both).next(after: at)
      }
    }
    #expect(accepted > rounds / 15)
  }
}
