public import ChimeSchedule

/// PublicHolidays are the public holidays of a country or one of its regions, with their names.
///
///     let czech = try HolidayTable(text).holidays(of: "CZ")
///     czech.names(on: christmasEve)   // ["en": "Christmas Eve", "cs": "Štědrý den"]
public struct PublicHolidays: Hashable, Sendable {
  /// The calendar name for these days in schedules, unless the configuration defines a calendar of that name.
  public static let calendarName = "holidays"

  /// The country, with a region if any: `CZ`, `DE-BY`.
  public let country: String
  /// The years with known holidays.
  public let years: ClosedRange<Int>

  private struct Day: Hashable, Sendable {
    var date: CivilDate
    var name: Int
  }

  /// The days in order. A name that recurs every year is stored once in `names`.
  private var days: [Day] = []
  private var names: [[String: String]] = []

  public init(country: String, years: ClosedRange<Int>) {
    self.country = country
    self.years = years
  }

  /// - Parameter name: by language, `en` at least.
  public mutating func add(_ name: [String: String], on dates: [CivilDate]) {
    days += dates.map { Day(date: $0, name: names.count) }
    days.sort { ($0.date, $0.name) < ($1.date, $1.name) }
    names.append(name)
  }

  /// The days in the form that schedules use: single days, in order, each once.
  public var ranges: [ClosedRange<CivilDate>] {
    var ranges: [ClosedRange<CivilDate>] = []
    for day in days where ranges.last?.upperBound != day.date { ranges.append(day.date...day.date) }
    return ranges
  }

  /// Returns the names of a day by language, joined if there are several; nil if it is no holiday.
  public func names(on date: CivilDate) -> [String: String]? {
    var result: [String: String]?
    for day in days where day.date == date {
      let name = names[day.name]
      result =
        result.map { all in
          var all = all
          for (language, text) in name { all[language] = all[language].map { "\($0); \(text)" } ?? text }
          return all
        } ?? name
    }
    return result
  }
}
