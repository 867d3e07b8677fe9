public import ChimeSchedule

/// A Prediction is the expected value of a day, with a 95 % prediction interval that assumes random deviations.
public struct Prediction: Hashable, Sendable, Codable {
  public var day: CivilDate
  public var value: Double
  public var low: Double
  public var high: Double
}

/// A LinearFit is the least-squares line through points.
///
/// With n points (x, y), x̄ and ȳ their means, Sxx = Σ(x − x̄)² and Sxy = Σ(x − x̄)(y − ȳ): the slope is Sxy / Sxx, the
/// line goes through (x̄, ȳ), and s² = Σ(y − ŷ)² / (n − 2). A new value at x₀ lies with 95 % probability in
///
///     ŷ₀ ± t · s · √(1 + 1/n + (x₀ − x̄)² / Sxx),     t the 0.975 quantile of Student's t with n − 2 degrees of freedom
///
/// (D. C. Montgomery, E. A. Peck, G. G. Vining, "Introduction to Linear Regression Analysis", section 2.5;
/// NIST/SEMATECH e-Handbook of Statistical Methods, 4.5.2.1). This assumes independent errors. Weights of consecutive
/// days are slightly dependent, so the interval is too narrow rather than too wide.
struct LinearFit {
  /// The change per day.
  let slope: Double
  private let meanDay: Double
  private let mean: Double
  private let spread: Double
  private let squares: Double
  private let count: Int

  /// Creates the line; nil for points of fewer than two days.
  init?(_ points: [Statistics.Point]) {
    guard let first = points.first else { return nil }
    count = points.count
    // Relative to the first point, because the squares of day numbers would lose precision.
    let origin = first.day.number
    let across = points.map { Double($0.day.number - origin) }
    let up = points.map { $0.value - first.value }
    let (meanAcross, meanUp) = (across.reduce(0, +) / Double(count), up.reduce(0, +) / Double(count))
    spread = across.reduce(0) { $0 + ($1 - meanAcross) * ($1 - meanAcross) }
    guard spread > 0 else { return nil }
    let slope = zip(across, up).reduce(0) { $0 + ($1.0 - meanAcross) * ($1.1 - meanUp) } / spread
    squares = zip(across, up).reduce(0) {
      let off = $1.1 - meanUp - slope * ($1.0 - meanAcross)
      return $0 + off * off
    }
    self.slope = slope
    meanDay = Double(origin) + meanAcross
    mean = first.value + meanUp
  }

  /// Returns the prediction for a day; nil for fewer than three points, which leave nothing to estimate the uncertainty from.
  func prediction(on day: CivilDate) -> Prediction? {
    guard count >= 3 else { return nil }
    let away = Double(day.number) - meanDay
    let value = mean + slope * away
    let deviation = (squares / Double(count - 2)).squareRoot()
    let band = Self.t(count - 2) * deviation * (1 + 1 / Double(count) + away * away / spread).squareRoot()
    return Prediction(day: day, value: value, low: value - band, high: value + band)
  }

  /// Returns the first day on which the line is at a value or beyond it; nil if the line is flat, or takes over ten years.
  func day(of value: Double) -> CivilDate? {
    let days = (meanDay + (value - mean) / slope).rounded(.up)
    guard days.isFinite, abs(days - meanDay) <= 3_653 else { return nil }
    return CivilDate(nearest: Int(days))
  }

  /// Returns the 0.975 quantile of Student's t: up to ten degrees of freedom from the table of M. Abramowitz and I. A. Stegun,
  /// "Handbook of Mathematical Functions", 26.10, with more digits; beyond by the expansion 26.7.5 there, to five digits.
  static func t(_ degrees: Int) -> Double {
    let table = [
      12.706_204_736, 4.302_652_730, 3.182_446_305, 2.776_445_105, 2.570_581_836, 2.446_911_851, 2.364_624_252,
      2.306_004_135, 2.262_157_163, 2.228_138_852,
    ]
    if degrees <= table.count { return table[max(degrees, 1) - 1] }
    let z = 1.959_963_984_540_054
    let (n, z2) = (Double(degrees), z * z)
    let first = z * (z2 + 1) / 4
    let second = z * ((5 * z2 + 16) * z2 + 3) / 96
    let third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384
    let fourth = z * ((((79 * z2 + 776) * z2 + 1_482) * z2 - 1_920) * z2 - 945) / 92_160
    return z + (first + (second + (third + fourth / n) / n) / n) / n
  }
}
