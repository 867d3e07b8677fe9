import ChimeSchedule
import Testing

@Suite struct ZoneTests {
  /// A local time and its meaning: one instant, a gap with its end, or a fold with both passes.
  static let readings: [(zone: String, civil: String, meaning: [String])] = [
    ("Europe/Prague", "2026-03-29 01:59:59", ["2026-03-29T00:59:59Z"]),
    ("Europe/Prague", "2026-03-29 02:00", ["gap 3600 7200", "2026-03-29T01:00:00Z"]),
    ("Europe/Prague", "2026-03-29 02:59:59", ["gap 3600 7200", "2026-03-29T01:00:00Z"]),
    ("Europe/Prague", "2026-03-29 03:00", ["2026-03-29T01:00:00Z"]),
    ("Europe/Prague", "2026-10-25 01:59:59", ["2026-10-24T23:59:59Z"]),
    ("Europe/Prague", "2026-10-25 02:00", ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"]),
    ("Europe/Prague", "2026-10-25 02:59:59", ["2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"]),
    ("Europe/Prague", "2026-10-25 03:00", ["2026-10-25T02:00:00Z"]),
    ("America/New_York", "2026-03-08 02:30", ["gap -18000 -14400", "2026-03-08T07:00:00Z"]),
    ("America/New_York", "2026-11-01 01:30", ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]),
    ("America/New_York", "9998-03-08 02:30", ["gap -18000 -14400", "9998-03-08T07:00:00Z"]),
    // A change of half an hour.
    ("Australia/Lord_Howe", "2026-10-04 02:15", ["gap 37800 39600", "2026-10-03T15:30:00Z"]),
    ("Australia/Lord_Howe", "2026-10-04 02:30", ["2026-10-03T15:30:00Z"]),
    ("Australia/Lord_Howe", "2026-04-05 01:45", ["2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"]),
    // Back for Ramadan, as negative DST.
    ("Africa/Casablanca", "2026-02-15 02:30", ["2026-02-15T01:30:00Z", "2026-02-15T02:30:00Z"]),
    ("Africa/Casablanca", "2026-03-22 02:30", ["gap 0 3600", "2026-03-22T02:00:00Z"]),
    // A skipped day.
    ("Pacific/Apia", "2011-12-30 12:00", ["gap -36000 50400", "2011-12-30T10:00:00Z"]),
    ("Pacific/Apia", "2011-12-31 00:00", ["2011-12-30T10:00:00Z"]),
    // A missing midnight.
    ("America/Sao_Paulo", "2018-11-04 00:00", ["gap -10800 -7200", "2018-11-04T03:00:00Z"]),
    ("America/Sao_Paulo", "2018-02-17 23:30", ["2018-02-18T01:30:00Z", "2018-02-18T02:30:00Z"]),
    // A fold across midnight.
    ("America/Goose_Bay", "2010-11-06 23:30", ["2010-11-07T02:30:00Z", "2010-11-07T03:30:00Z"]),
    ("America/Goose_Bay", "2010-11-07 00:00:30", ["2010-11-07T03:00:30Z", "2010-11-07T04:00:30Z"]),
    // An offset with seconds.
    ("Africa/Monrovia", "1971-06-01 00:00", ["1971-06-01T00:44:30Z"]),
    ("UTC", "2026-12-01 09:00", ["2026-12-01T09:00:00Z"]),
    // The ends of the range saturate.
    ("Europe/Prague", "1970-01-01 00:00", ["1970-01-01T00:00:00Z"]),
  ]

  @Test(arguments: readings) func localTimesAreResolved(name: String, civil: String, meaning: [String]) throws {
    let civil = try #require(CivilDateTime(civil))
    let text: [String] =
      switch try zone(name).resolve(civil) {
      case .unique(let instant): [RFC3339.format(instant, in: .utc)]
      case .gap(let before, let after, let transition):
        ["gap \(before) \(after)", RFC3339.format(transition, in: .utc)]
      case .fold(let first, let last): [RFC3339.format(first, in: .utc), RFC3339.format(last, in: .utc)]
      }
    #expect(text == meaning)
  }

  @Test func offsetsAndTransitionsAreKnown() throws {
    let prague = try zone("Europe/Prague")
    let at = instant("2026-03-29T01:00:00Z")
    #expect(prague.civil(at: at).description == "2026-03-29 03:00")
    #expect(prague.abbreviation(at: at) == "CEST")
    #expect(prague.abbreviation(at: instant("2026-03-29T00:59:59Z")) == "CET")
    #expect(prague.nextTransition(after: at)?.instant == instant("2026-10-25T01:00:00Z"))
    #expect(Zone.utc.nextTransition(after: at) == nil)
    #expect(Zone.utc.abbreviation(at: at) == "UTC")
    #expect(try zone("America/New_York").civil(at: .earliest).description == "1969-12-31 19:00")
    #expect(try zone("Pacific/Kiritimati").civil(at: .latest).date.year == 10_000)
    #expect(try zone("Asia/Tokyo").nextTransition(after: at) == nil)
    #expect(try zone("Europe/Prague") == prague)
    #expect(try zone("Europe/Bratislava") != prague)
  }

  @Test func identifiersAreValidated() {
    for good in [
      "UTC", "Europe/Prague", "America/Argentina/ComodRivadavia", "Etc/GMT+1", "EST5EDT", "right/GB-Eire", "posix/UTC",
    ] {
      #expect(Zone.isValidIdentifier(good), "\(good)")
    }
    let bad = [
      "", "/etc/passwd", "../etc/passwd", "Europe/../Prague", "Europe//Prague", "Europe/", "Europe/.hidden", ".", "..",
      "Europe/Prague\0", "Europe/Prague\n", "Évrope/Prague", "Europe Prague", "-e", "Europe/-x", "a\\b", "5EDT",
      String(repeating: "a", count: 101), "Europe/Pra%67ue", ":Europe/Prague",
    ]
    for text in bad { #expect(!Zone.isValidIdentifier(text), "\(text)") }
  }
}
