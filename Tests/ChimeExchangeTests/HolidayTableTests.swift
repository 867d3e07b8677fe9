import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeExchange

/// The format of the table of public holidays, and deviations from it.
@Suite struct HolidayTableTests {
  private static let body = """
    @XX A Bee C
    New Year's Day\t0101
    Spring|Jaro\t0320,0321
    Bee Day\t0502\t=Bee
    Founding\t0603,\t!A,C
    Founding\t,0604\t!A,C
    Double\t0101
    @YY
    Only\t1224
    """ + "\n"

  private static func table(_ body: String = body, head: String? = nil) throws -> HolidayTable {
    let first = body.prefix { _ in true }.components("@YY").first ?? ""
    let index =
      head
      ?? "years 2025 2026\nfrom a test\nXX 0 \(first.utf8.count)\nYY \(first.utf8.count) \(body.utf8.count - first.utf8.count)\n"
    return try HolidayTable("\(index)\n\(body)")
  }

  private static func dates(_ holidays: PublicHolidays) -> [String] { holidays.ranges.map { "\($0.lowerBound)" } }

  @Test func countryHasItsHolidaysAndRegionsHaveMore() throws {
    let table = try Self.table()
    #expect(table.sections.keys.sorted() == ["XX", "YY"])
    #expect(table.parts(of: "XX") == ["A", "Bee", "C"])
    #expect(try Self.dates(table.holidays(of: "yy")) == ["2025-12-24", "2026-12-24"])
    #expect(
      try Self.dates(table.holidays(of: "XX"))
        == ["2025-01-01", "2025-03-20", "2025-06-03", "2026-01-01", "2026-03-21", "2026-06-04"])
    #expect(try Self.dates(table.holidays(of: "XX-A")) == ["2025-01-01", "2025-03-20", "2026-01-01", "2026-03-21"])
    let bee = try table.holidays(of: "xx-bee")
    #expect(bee.country == "XX-Bee")
    #expect(Self.dates(bee).contains("2025-05-02") && Self.dates(bee).contains("2026-06-04"))
  }

  @Test func holidayHasItsNamesInEachLanguage() throws {
    let holidays = try Self.table().holidays(of: "XX")
    #expect(holidays.names(on: try #require(CivilDate("2025-03-20"))) == ["en": "Spring", "cs": "Jaro"])
    #expect(holidays.names(on: try #require(CivilDate("2025-01-01"))) == ["en": "New Year's Day; Double"])
    #expect(holidays.names(on: try #require(CivilDate("2025-03-21"))) == nil)
  }

  @Test func unknownCountriesAndRegionsAreRefused() throws {
    let table = try Self.table()
    for code in ["ZZ", "", "-", "X", "XX ", "X\u{0}"] {
      #expect(throws: HolidayTable.Failure.unknownCountry, "\(code)") { try table.holidays(of: code) }
    }
    for code in ["XX-", "XX-D", "XX-A-B"] {
      #expect(throws: HolidayTable.Failure.unknownPart(known: ["A", "Bee", "C"]), "\(code)") {
        try table.holidays(of: code)
      }
    }
  }

  @Test func damagedTableIsRefused() throws {
    for head in [
      "", "years 2026 2025\n", "years 2025\n", "years 2025 2026\nXX 0 99999\n", "years 2025 2026\nXX -1 5\n",
      "years 2025 2026\nXX 9223372036854775807 1\n",
    ] {
      #expect(throws: HolidayTable.Failure.damaged, "\(head)") { try Self.table(head: head) }
    }
    for line in ["New Year", "New Year\t0132", "New Year\t0101,0101,0101", "New Year\tx", "A\t0101\t=B\tC", "\t0101"] {
      let body = "@XX\n\(line)\n"
      let table = try Self.table(body, head: "years 2025 2026\nXX 0 \(body.utf8.count)\n")
      #expect(throws: HolidayTable.Failure.damaged, "\(line)") { try table.holidays(of: "XX") }
    }
  }
}

extension Substring {
  fileprivate func components(_ separator: String) -> [Substring] { split(separator: separator) }
}
