import ChimeSchedule
import Testing

@testable import ChimeCommand

/// Locations as people write them.
@Suite struct PlaceTests {
  @Test(
    arguments: [
      ("50.0875,14.4213", 50.0875, 14.4213), ("50.0875, 14.4213", 50.0875, 14.4213),
      ("-33.8688 151.2093", -33.8688, 151.2093),
      ("33.8688S 151.2093E", -33.8688, 151.2093), ("40.7128n,74.0060w", 40.7128, -74.006), ("0,0", 0, 0),
      ("90°N 180°W", 90, -180), ("+1,-1", 1, -1),
    ] as [(String, Double, Double)])
  func acceptsCoordinates(_ text: String, _ latitude: Double, _ longitude: Double) throws {
    #expect(try PlaceText.parse(text, option: "place") == Place(latitude: latitude, longitude: longitude))
  }

  @Test(arguments: [
    "", "50", "50,", "50,14,3", "91,0", "0,181", "nan,0", "inf,0", "0x10,0", "1e1,0", "50E,14N", "-50S,14E", "Prague",
    "14.4213E 50.0875N",
  ])
  func refusesInvalidCoordinates(_ text: String) {
    let failure = #expect(throws: Failure.self) { try PlaceText.parse(text, option: "place") }
    #expect(failure?.status == .usage)
    #expect(failure?.message.contains("50.0875,14.4213") == true)
  }

  @Test func printedLocationReadsBack() throws {
    let place = try PlaceText.parse("33.8688S 151.2093E", option: "place")
    #expect(try PlaceText.parse(PlaceText.text(place.latitude, place.longitude), option: "place") == place)
    #expect(PlaceText.text(nil, nil).isEmpty)
  }
}
