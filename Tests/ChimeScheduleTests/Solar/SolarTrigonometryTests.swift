import Foundation
import Testing

@testable import ChimeSchedule

/// Compares the library's sines, cosines and arcs with those of the C library.
@Suite struct SolarTrigonometryTests {
  @Test func sinesAndCosinesMatchTheCLibrary() {
    var generator = SeededGenerator(seed: 1)
    var angles =
      (-720...720).map { Double($0) } + [0.5, -0.5, 44.999_999_999, 45.000_000_001, 134.999_999_999, -1e-300]
    for scale in [1.0, 90, 360, 1e4, 1e6, 1e7] {
      angles += (0..<3_000).map { _ in Double.random(in: -scale...scale, using: &generator) }
    }
    for angle in angles {
      let (sine, cosine) = Trigonometry.sineAndCosine(angle)
      let radians = angle.remainder(dividingBy: 360) * .pi / 180
      #expect(abs(sine - Foundation.sin(radians)) < 1e-12, "\(angle)")
      #expect(abs(cosine - Foundation.cos(radians)) < 1e-12, "\(angle)")
    }
  }

  @Test func rightAnglesAreExact() {
    for turn in -40...40 {
      let (sine, cosine) = Trigonometry.sineAndCosine(Double(turn) * 90)
      #expect(sine == [0, 1, 0, -1][turn & 3])
      #expect(cosine == [1, 0, -1, 0][turn & 3])
    }
    #expect(Trigonometry.sineAndCosine(1e300).sine.isFinite)
    #expect(Trigonometry.sineAndCosine(-.infinity).cosine.isFinite)
  }

  @Test func arcsMatchTheCLibrary() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<ProofTier.amount(quick: 2_000, proof: 20_000) {
      let x = Double.random(in: -1...1, using: &generator)
      let y = Double.random(in: -1...1, using: &generator)
      #expect(abs(Trigonometry.arc(y: y, x: x) - Foundation.atan2(y, x) * 180 / .pi) < 1e-10)
      #expect(abs(Trigonometry.arcCosine(x) - Foundation.acos(x) * 180 / .pi) < 1e-10)
    }
    #expect(Trigonometry.arc(y: 0, x: 0) == 0)
    #expect(Trigonometry.arc(y: 0, x: -1) == 180)
    #expect(Trigonometry.arc(y: -1, x: 0) == -90)
    #expect(abs(Trigonometry.arc(y: 1, x: 1) - 45) < 1e-13)
    #expect(Trigonometry.arcCosine(1.5) == 0)
    #expect(Trigonometry.arcCosine(-1.5) == 180)
  }

  /// Meeus's worked example: chapter 25, 1992 October 13.0 TD, and the equation of time of chapter 28.
  @Test func workedExampleOfMeeusMatches() {
    let sun = Sun(at: Double(instant("1992-10-13T00:00:00Z").seconds))
    let declination = 90 - Trigonometry.arcCosine(sun.sineOfDeclination)
    #expect(abs(declination - -7.78507) < 0.00005)
    // 3.427351 degrees (13 min 42.6 s) by the high-accuracy theory; 0.003 degrees are 0.7 s.
    #expect(abs(sun.equationOfTime - 3.427351) < 0.003)
  }
}
