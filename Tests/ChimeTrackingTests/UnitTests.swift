import ChimeTracking
import Testing

@Suite struct UnitTests {
  @Test(arguments: [("lb", 180.4), ("kg", 82.4), ("floz", 12), ("st", 11.5), ("pages", 31)])
  func aValueComesBackAsItWas(_ symbol: String, _ value: Double) throws {
    let unit = try #require(Unit(symbol))
    #expect(Quantity(value, unit)?.value(in: unit) == value)
  }

  @Test func eightGlassesAreTheGoal() throws {
    let ounce = try #require(Unit("floz"))
    let glass = try #require(Quantity(8, ounce))
    #expect((0..<8).reduce(Quantity.zero) { sum, _ in sum + glass } == Quantity(64, ounce))
  }

  @Test(arguments: ["", "a b", "50", "aaaaaaaaaaaaaaaaa"]) func noUnit(_ text: String) { #expect(Unit(text) == nil) }
}
