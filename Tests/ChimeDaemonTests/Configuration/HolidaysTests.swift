import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon
@testable import ChimeExchange

/// The bundled public holidays, and their countries.
@Suite struct HolidaysTests {
  private static func table() throws -> HolidayTable { try #require(HolidayCountry.table) }

  private static func day(_ text: String) throws -> CivilDate { try #require(CivilDate(text)) }

  @Test func holidaysOfEveryCountryAndRegionCanBeRead() throws {
    let table = try Self.table()
    #expect(table.sections.count > 200)
    #expect(table.years.count >= 10)
    for country in table.sections.keys.sorted() {
      for code in [country] + (table.parts(of: country) ?? []).map({ "\(country)-\($0)" }) {
        let holidays = try table.holidays(of: code)
        #expect(holidays.country == code)
        #expect(holidays.ranges.allSatisfy { table.years.contains($0.lowerBound.year) }, "\(code)")
        #expect(holidays.ranges.allSatisfy { holidays.names(on: $0.lowerBound)?["en"]?.isEmpty == false }, "\(code)")
      }
    }
  }

  /// Known holidays, from printed calendars.
  @Test func holidaysMatchPrintedCalendars() throws {
    let table = try Self.table()
    for (country, date, english, czech) in [
      ("CZ", "2026-12-24", "Christmas Eve", "Štědrý den"), ("CZ", "2027-03-26", "Good Friday", "Velký pátek"),
      ("CZ", "2030-11-17", nil, "Den boje za svobodu a demokracii a Mezinárodní den studentstva"),
      ("DE", "2028-10-03", "German Unity Day", nil), ("DE-BY", "2027-01-06", "Epiphany", nil),
      ("US", "2026-11-26", "Thanksgiving Day", nil), ("GB-SCT", "2027-11-30", "Saint Andrew's Day", nil),
    ] as [(String, String, String?, String?)] {
      let names = try table.holidays(of: country).names(on: Self.day(date))
      #expect(names != nil, "\(country) \(date)")
      if let english { #expect(names?["en"] == english) }
      #expect(names?["cs"] == czech)
    }
    #expect(try table.holidays(of: "DE").names(on: Self.day("2027-01-06")) == nil, "not all of Germany")
    #expect(try table.holidays(of: "CZ").names(on: Self.day("2026-12-23")) == nil)
  }

  @Test func configuredCountryOverridesTheLocale() throws {
    var configuration = Configuration()
    func code(_ environment: [String: String]) -> String? {
      HolidayCountry.code(configuration, environment: environment)
    }
    #expect(code(["LANG": "cs_CZ.UTF-8"]) == "CZ")
    #expect(code(["LANG": "en_US.UTF-8", "LC_TIME": "de_AT@euro"]) == "AT")
    #expect(code(["LC_ALL": "C.UTF-8", "LANG": "sk_SK"]) == "SK")
    for locale in ["C", "POSIX", "", "C.UTF-8", "cs", "cs_", "_CZ_", "xx_XX", "cs_cz_CZ"] {
      #expect(code(["LANG": locale]) == nil, "\(locale)")
    }
    configuration.holidayCountry = "DE-BY"
    #expect(code(["LANG": "cs_CZ.UTF-8"]) == "DE-BY")
  }

  private static func apply(_ text: String) throws -> LoadedConfiguration {
    var loaded = LoadedConfiguration()
    try ConfigurationFiles.apply(Array(text.utf8), file: "chimed.toml", to: &loaded)
    return loaded
  }

  @Test func countryIsReadAndPrinted() throws {
    let loaded = try Self.apply("[calendars]\ncountry = \"de-by\"\noffice = [\"2026-12-28\"]")
    #expect(loaded.configuration.holidayCountry == "DE-BY")
    #expect(loaded.configuration.calendars.keys.sorted() == ["office"])
    #expect(loaded.text.contains("[calendars]\ncountry = \"DE-BY\""))
    #expect(try Self.apply(loaded.text).configuration == loaded.configuration)
    #expect(try Self.apply("[calendars]\ncountry = \"\"").configuration.holidayCountry == "")
  }

  @Test(arguments: [
    ("country = \"ZZ\"", "chimed.toml:2:11: calendars.country must be the code of a country such as \"CZ\""),
    ("country = 3", "found 3"),
    ("country = [\"2026-12-24\"]", "found an array"),
    ("country = \"DE-XX\"", "calendars.country: DE does not have this part; it has DE-Augsburg, DE-BB, DE-BE"),
    ("country = \"CZ-PR\"", "calendars.country: Chime knows no parts of CZ; give only the country"),
  ])
  func unknownCountryIsRefused(line: String, sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try Self.apply("[calendars]\n\(line)") }
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
  }

  @Test func customCalendarNamedHolidaysOverridesTheCountry() throws {
    let zones = ZoneCatalog(localLink: "/nonexistent")
    var calendars = CalendarFiles()
    #expect(calendars.update([:], country: "CZ", zones: zones) == ["holidays"])
    #expect(calendars.holidays?.country == "CZ")
    let eve = try Self.day("2026-12-24")
    #expect(calendars.days["holidays"]?.contains(eve...eve) == true)
    let czech = calendars.fingerprint
    #expect(calendars.update([:], country: "CZ", zones: zones).isEmpty)

    let own = try Self.day("2026-12-31")
    #expect(calendars.update(["holidays": .days([own...own])], country: "CZ", zones: zones) == ["holidays"])
    #expect(calendars.days["holidays"] == [own...own])
    #expect(calendars.holidays == nil)

    #expect(calendars.update([:], country: "DE", zones: zones) == ["holidays"])
    #expect(calendars.holidays?.country == "DE")
    #expect(calendars.fingerprint != czech)
    #expect(calendars.update([:], country: nil, zones: zones) == ["holidays"])
    #expect(calendars.days.isEmpty)
  }

  /// Half a year before the end of the table, reminders that use it are reported.
  @Test func remindersNearTheEndOfTheTableAreReported() throws {
    let holidays = try Self.table().holidays(of: "CZ")
    let end = holidays.years.upperBound
    func at(_ text: String) throws -> Instant { try RFC3339.parse(text) }
    #expect(try holidays.ending(for: 3, now: at("\(end)-06-01T00:00:00Z")) == nil)
    #expect(try holidays.ending(for: 0, now: at("\(end + 1)-06-01T00:00:00Z")) == nil)
    #expect(
      try holidays.ending(for: 1, now: at("\(end)-08-01T00:00:00Z"))
        == "Chime knows public holidays through \(end), and one reminder leaves them out; a newer Chime knows more")
    #expect(try holidays.ending(for: 3, now: at("\(end + 1)-06-01T00:00:00Z"))?.contains("3 reminders leave") == true)
  }
}
