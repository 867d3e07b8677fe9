/// The level curve. Reading a pack checks the bounds (`faults`); a curve outside of them is clamped.
extension LevelCurve {
  public static let bases = 1...1_000_000
  public static let powers = 1.0...4.0
  /// The highest level.
  public static let highestLevel = 1_000

  /// Returns the XP at which a level starts: `base × (level − 1) ^ power`, rounded down. Thresholds increase strictly;
  /// `level` is clamped to 1…`highestLevel`.
  ///
  ///     LevelCurve(base: 100, power: 1.5).threshold(of: 5)    // 800
  public func threshold(of level: Int) -> Int {
    let steps = min(max(level, 1), Self.highestLevel) - 1
    let base = min(max(base, Self.bases.lowerBound), Self.bases.upperBound)
    // At most 10^6 × 999^4, which is below 10^18.
    return Int((Double(base) * Self.raise(Double(steps), to: clampedPower)).rounded(.down))
  }

  /// Returns the level for an amount of XP, from 1 to `highestLevel`.
  public func level(at experience: Int) -> Int {
    var low = 1
    var high = Self.highestLevel
    while low < high {
      let middle = (low + high + 1) / 2
      if threshold(of: middle) <= experience { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns the XP at which the next level starts; nil at the highest level.
  public func next(after experience: Int) -> Int? {
    let level = level(at: experience)
    return level < Self.highestLevel ? threshold(of: level + 1) : nil
  }

  private var clampedPower: Double {
    power.isNaN ? Self.powers.lowerBound : min(max(power, Self.powers.lowerBound), Self.powers.upperBound)
  }

  /// Returns the power by multiplications and square roots, one per binary digit. IEEE 754 rounds both correctly, so
  /// the result is monotone, equal on every machine, and exact where possible (4 ^ 1.5 = 8).
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
  /// Returns the sum, clamped on overflow.
  func clampedAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
