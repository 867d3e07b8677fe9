/// The curve of levels. Bounds are kept by whoever reads a pack (`faults`); a curve beyond them is taken as the nearest that
/// is within.
extension LevelCurve {
  public static let bases = 1...1_000_000
  public static let powers = 1.0...4.0
  /// Beyond it there is no next.
  public static let highestLevel = 1_000

  /// How many XP a level begins at: `base × (level − 1) ^ power`, rounded down. Each level begins later than the one before.
  /// A level below 1 is taken as 1, one above `highestLevel` as that.
  ///
  ///     LevelCurve(base: 100, power: 1.5).threshold(of: 5)    // 800
  public func threshold(of level: Int) -> Int {
    let steps = min(max(level, 1), Self.highestLevel) - 1
    let base = min(max(base, Self.bases.lowerBound), Self.bases.upperBound)
    // At most 10^6 × 999^4, which is below 10^18.
    return Int((Double(base) * Self.raise(Double(steps), to: clampedPower)).rounded(.down))
  }

  /// The level at so many XP, from 1 to `highestLevel`.
  public func level(at experience: Int) -> Int {
    var low = 1
    var high = Self.highestLevel
    while low < high {
      let middle = (low + high + 1) / 2
      if threshold(of: middle) <= experience { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Where the level after the one at so many XP begins; nil when there is none.
  public func next(after experience: Int) -> Int? {
    let level = level(at: experience)
    return level < Self.highestLevel ? threshold(of: level + 1) : nil
  }

  private var clampedPower: Double {
    power.isNaN ? Self.powers.lowerBound : min(max(power, Self.powers.lowerBound), Self.powers.upperBound)
  }

  /// The power by multiplications and square roots, one for each binary digit: IEEE 754 rounds both correctly, so that it is
  /// monotone, the same on every machine, and exact where the result is (4 ^ 1.5 = 8).
  private static func raise(_ number: Double, to power: Double) -> Double {
    guard number > 0 else { return 0 }
    var result = 1.0
    for _ in 0..<Int(power) { result *= number }
    var rest = power - power.rounded(.down)
    var root = number
    while rest > 0 {
      root.formSquareRoot()
      rest *= 2
      if rest >= 1 {
        result *= root
        rest -= 1
      }
    }
    return result
  }
}

extension Int {
  /// Adds without overflow.
  func clampedAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
