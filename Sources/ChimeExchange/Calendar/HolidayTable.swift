public import ChimeCore
import ChimeSchedule

/// A HolidayTable is the table of public holidays that ships with Chime. `Packaging/holidays` generates it and
/// documents its format.
///
/// It reads only the index and the requested section, not the text of all countries.
public struct HolidayTable: Sendable {
  public let years: ClosedRange<Int>
  private let text: String
  /// The byte ranges of countries, by code (ISO 3166-1 alpha-2).
  let sections: [String: Range<Int>]
  private let bodyStart: Int

  public enum Failure: Error, Hashable, Sendable {
    /// The text does not have the format of the table.
    case damaged
    case unknownCountry
    /// The country is known, but not this part; the known parts are listed.
    case unknownPart(known: [String])
  }

  public init(_ text: String) throws(Failure) {
    var sections: [String: Range<Int>] = [:]
    var years: ClosedRange<Int>?
    var place = 0
    let bytes = text.utf8
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[..<end]
      place += line.count + 1
      rest = rest[bytes.index(after: end)...]
      if line.isEmpty { break }
      let words = Substring(line).split(separator: " ")
      guard words.count == 3, let first = Int(words[1]), let second = Int(words[2]) else { continue }
      if words[0] == "years" {
        guard first <= second, (1970...9999).contains(first), (1970...9999).contains(second) else { throw .damaged }
        years = first...second
      } else {
        guard first >= 0, second >= 0, first <= bytes.count, second <= bytes.count else { throw .damaged }
        sections[String(words[0])] = first..<(first + second)
      }
    }
    guard let years else { throw .damaged }
    let room = bytes.count - place
    guard sections.values.allSatisfy({ $0.upperBound <= room }) else { throw .damaged }
    (self.text, self.sections, self.years, bodyStart) = (text, sections, years, place)
  }

  /// Returns the parts of a country that have holidays of their own; `nil` for an unknown country.
  public func parts(of country: String) -> [String]? {
    lines(of: country)?.first.map { $0.split(separator: " ").dropFirst().map(String.init) }
  }

  private func lines(of country: String) -> [Substring]? {
    guard let range = sections[country] else { return nil }
    let bytes = text.utf8
    let start = bytes.index(bytes.startIndex, offsetBy: bodyStart + range.lowerBound)
    return Substring(bytes[start..<bytes.index(start, offsetBy: range.count)]).split(separator: "\n")
  }

  /// Returns the holidays of a country, `CZ`, or of a part of it, `DE-BY`, in any case.
  public func holidays(of code: String) throws(Failure) -> PublicHolidays {
    let words = code.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let country = (words.first ?? "").uppercased()
    guard let lines = lines(of: country), let head = lines.first else { throw .unknownCountry }
    var part = ""
    if words.count > 1 {
      let known = head.split(separator: " ").dropFirst().map(String.init)
      let wanted = words[1].lowercased()
      guard let found = known.first(where: { $0.lowercased() == wanted }) else { throw .unknownPart(known: known) }
      part = found
    }
    var holidays = PublicHolidays(country: part.isEmpty ? country : "\(country)-\(part)", years: years)
    for line in lines.dropFirst() {
      let fields = line.split(separator: "\t")
      guard (2...3).contains(fields.count) else { throw .damaged }
      if fields.count == 3, !Self.includes(fields[2], part) { continue }
      let texts = fields[0].split(separator: "|")
      guard let english = texts.first else { throw .damaged }
      var name = ["en": String(english)]
      if texts.count > 1 { name["cs"] = String(texts[1]) }
      holidays.add(name, on: try dates(fields[1]))
    }
    return holidays
  }

  /// Returns whether a rule includes a part: `=BW,BY` only these parts; `!AK` all others and the country as a whole.
  private static func includes(_ spot: Substring, _ part: String) -> Bool {
    let isNamed = spot.dropFirst().split(separator: ",").contains { $0 == part }
    return spot.hasPrefix("=") ? isNamed : !isNamed
  }

  /// Parses `1224` for each year, or one date for each year, empty for a year without one.
  private func dates(_ text: Substring) throws(Failure) -> [CivilDate] {
    let days = text.split(separator: ",", omittingEmptySubsequences: false)
    guard days.count == 1 || days.count == years.count else { throw .damaged }
    var result: [CivilDate] = []
    for (place, year) in years.enumerated() {
      let day = days.count == 1 ? days[0] : days[place]
      if day.isEmpty { continue }
      guard let number = Int(day), let date = CivilDate(year: year, month: number / 100, day: number % 100) else {
        throw .damaged
      }
      result.append(date)
    }
    return result
  }
}
