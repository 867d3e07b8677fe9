import ChimeSchedule
import ChimeWords

/// A location on the command line: `50.0875,14.4213`, latitude first, or with letters `33.8688S 151.2093E`.
enum PlaceText {
  static func parse(_ text: String, option: String) throws -> Place {
    let parts = text.split { $0 == "," || $0.isWhitespace }
    if parts.count == 2, let latitude = degrees(parts[0], "N", "S"), let longitude = degrees(parts[1], "E", "W"),
      let place = Place(latitude: latitude, longitude: longitude)
    {
      return place
    }
    throw Failure.usage(
      localized("--%1 needs degrees north and east, such as 50.0875,14.4213, not \"%2\"", option, text),
      hint: localized("latitudes go from -90 to 90, longitudes from -180 to 180; south and west are negative"))
  }

  /// Returns `50.0875, 14.4213`; empty without a location.
  static func text(_ latitude: Double?, _ longitude: Double?) -> String {
    guard let latitude, let longitude else { return "" }
    return "\(latitude), \(longitude)"
  }

  private static func degrees(_ text: Substring, _ positive: Character, _ negative: Character) -> Double? {
    var digits = text
    var sign = 1.0
    if let letter = digits.last.map({ Character($0.uppercased()) }), letter == positive || letter == negative {
      digits.removeLast()
      guard digits.first != "-", digits.first != "+" else { return nil }
      if letter == negative { sign = -1 }
    }
    if digits.last == "°" { digits.removeLast() }
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.".contains($0)) }) else { return nil }
    return Double(digits).map { $0 * sign }
  }
}
