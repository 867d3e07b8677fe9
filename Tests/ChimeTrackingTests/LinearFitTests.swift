@testable import ChimeTracking
import ChimeSchedule
import Testing

@Suite struct LinearFitTests {
  /// scipy.stats.t.ppf(0.975, n).
  @Test(arguments: [
    (1, 12.706204736174694), (2, 4.302652729749462), (5, 2.5705818356363146), (10, 2.228138851986274),
    (11, 2.200985160091639), (12, 2.1788128296672284), (20, 2.085963447265864), (30, 2.0422724563012378),
    (100, 1.9839715185235518), (1000, 1.9623390808264083),
  ]) func quantilesMatchScipy(_ degrees: Int, _ expected: Double) {
    #expect((LinearFit.t(degrees) - expected).magnitude < 5e-6)
  }

  /// Three points on a line leave no uncertainty; one off the line causes much.
  @Test func threePointsGiveAPredictionInterval() throws {
    let exact = try #require(LinearFit([0, 1, 2].map { Statistics.Point(monday.plus($0), Double($0) * 2 + 1) }))
    let sure = try #require(exact.prediction(on: monday.plus(10)))
    #expect((sure.value - 21).magnitude < 1e-9 && sure.high - sure.low < 1e-9)
    // Through 0, 0, 1: slope 0.5, s = √(1/6), t = 12.706, at x = 3: 4/3 ± 12.706 · 0.408248 · √(1 + 1/3 + 4/2).
    let bent = try #require(LinearFit(zip([0, 1, 2], [0, 0, 1]).map { Statistics.Point(monday.plus($0), $1) }))
    let unsure = try #require(bent.prediction(on: monday.plus(3)))
    #expect((unsure.value - 4.0 / 3).magnitude < 1e-9)
    #expect(
      (unsure.high - unsure.value - 12.706204736 * (1.0 / 6).squareRoot() * (10.0 / 3).squareRoot()).magnitude < 1e-6)
    #expect(LinearFit([Statistics.Point(monday, 1)]) == nil)
    #expect(LinearFit([Statistics.Point(monday, 1), Statistics.Point(monday, 2)]) == nil)
  }

  @Test(arguments: [0, 0.001, 1.0 / 26, 0.0769230769, 0.2]) func halfLifePowersAreExact(_ exponent: Double) {
    // The product of four equal factors is the power of four times the exponent.
    let half = StrengthRule.half(toThe: exponent)
    #expect((half * half * half * half - StrengthRule.half(toThe: exponent * 4)).magnitude < 1e-15)
    #expect((StrengthRule.half(toThe: 1) - 0.5).magnitude < 1e-15)
    #expect((StrengthRule.half(toThe: 0.5) - 0.5.squareRoot()).magnitude < 1e-15)
  }
}
