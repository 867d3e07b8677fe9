public import ChimeSchedule

/// The public holidays of one country, or of one part of it: which days, and what they are called.
///
///     let czech = try HolidayTable(text).holidays(of: "CZ")
///     czech.names(on: christmasEve)   // ["en": "Christmas Eve", "cs": "Štědrý den"]
public struct PublicHolidays: Hashable, Sendable {
  /// Under this name schedules leave these days out, unless the configuration has a calendar of that name.
  public static let calendarName = "holidays"

  /// The country, with its part where it has one: `CZ`, `DE-BY`.
  public let country: String
  /// The years that are known. Of others nothing is.
  public let years: ClosedRange<Int>

  private struct Day: Hashable, Sendable {
    var date: CivilDate
    var name: Int
  }

  /// In order. A name that comes back every year stands once.
  private var days: [Day] = []
  private var names: [[String: String]] = []

  public init(country: String, years: ClosedRange<Int>) {
    self.country = country
    self.years = years
  }

  /// - Parameter name: by language; `en` at least.
  public mutating func add(_ name: [String: String], on dates: [CivilDate]) {
    days += dates.map { Day(date: $0, name: names.count) }
    days.sort { ($0.date, $0.name) < ($1.date, $1.name) }
    names.append(name)
  }

  /// The days as schedules take them: single, in order, each once.
  public var ranges: [ClosedRange<CivilDate>] {
    var ranges: [ClosedRange<CivilDate>] = []
    for day in days where ranges.last?.upperBound != day.date { ranges.append(day.date...day.date) }
    return ranges
  }

  /// What a day is called, by language; nil when it is none. One of several names has them all.
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
