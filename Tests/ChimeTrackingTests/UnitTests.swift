import ChimeTestKit
import ChimeTracking
import Testing

@Suite struct UnitTests {
  @Test(arguments: [("lb", 180.4), ("kg", 82.4), ("floz", 12), ("st", 11.5), ("pages", 31)])
  func valueReadsBack(_ symbol: String, _ value: Double) throws {
    let unit = try #require(Unit(symbol))
    #expect(Quantity(value, unit)?.value(in: unit) == value)
  }

  @Test(arguments: Unit.known.keys.sorted()) func decimalsReadBack(_ symbol: String) throws {
    let unit = try #require(Unit(symbol))
    var random = SeededGenerator(seed: 1)
    let most = min(Quantity.limit(of: unit.dimension) / unit.grains, 1_000_000)
    for decimals in [1.0, 10, 100, 1_000] {
      for _ in 0..<500 {
        let value = Double(Int64.random(in: 0...most * Int64(decimals), using: &random)) / decimals
        #expect(Quantity(value, unit)?.value(in: unit) == value)
      }
    }
  }

  /// Exact by definition: NIST Handbook 44, appendix C.
  @Test(arguments: [
    ("lb", "kg", 0.45359237), ("st", "lb", 14), ("lb", "oz", 16), ("l", "ml", 1000), ("mi", "m", 1609.344),
    ("in", "mm", 25.4),
    ("h", "s", 3600), ("floz", "ml", 29.5735295625), ("kcal", "J", 4184),
  ]) func conversionsAreExact(_ from: String, _ to: String, _ factor: Double) throws {
    let (from, to) = (try #require(Unit(from)), try #require(Unit(to)))
    #expect(try #require(Quantity(1, from)).value(in: to) == factor)
  }

  @Test func sumOfGlassesIsExact() throws {
    let ounce = try #require(Unit("floz"))
    let glass = try #require(Quantity(8, ounce))
    #expect((0..<8).reduce(Quantity.zero) { sum, _ in sum + glass } == Quantity(64, ounce))
  }

  @Test(arguments: ["", "a b", "50", "aaaaaaaaaaaaaaaaa"]) func unknownUnitsAreRefused(_ text: String) {
    #expect(Unit(text) == nil)
  }
}
