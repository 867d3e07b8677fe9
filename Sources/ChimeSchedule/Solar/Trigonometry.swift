/// Trigonometry computes sines, cosines and arcs in degrees with IEEE 754 arithmetic and square roots alone.
///
/// The standard library has no such functions, and those of C libraries differ in the last digits between machines.
/// These give the same bits everywhere. They are exact to 10⁻¹² for angles up to 10⁹ degrees.
///
/// Source: the power series 4.3.65, 4.3.66 and 4.4.42 in Abramowitz and Stegun, *Handbook of Mathematical Functions*
/// (1964), after reducing the argument to a range in which they converge quickly.
enum Trigonometry {
  static let degree = 0.017453292519943295

  /// Returns the sine and the cosine of an angle.
  ///
  ///     Trigonometry.sineAndCosine(30)   // (0.5, 0.866…)
  ///
  /// - Parameter degrees: A number between −10⁹ and 10⁹. Values outside are clamped.
  @inline(__always)
  static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
    let angle = min(max(degrees, -1e9), 1e9)
    // Removing whole right angles is exact: products of 90 and small integers have no rounding error.
    let turns = Int(angle * (1 / 90) + (angle < 0 ? -0.5 : 0.5))
    let rest = (angle - Double(turns) * 90) * degree
    let square = rest * rest
    // The next terms, of degrees 17 and 16, are below 10⁻¹⁵ for an eighth of a turn.
    let sine =
      rest
      * (1 + square
        * (-1 / 6 + square
          * (1 / 120 + square
            * (-1 / 5_040 + square
              * (1 / 362_880
                + square * (-1 / 39_916_800 + square * (1 / 6_227_020_800 + square * (-1 / 1_307_674_368_000))))))))
    let cosine =
      1 + square
      * (-1 / 2 + square
        * (1 / 24 + square
          * (-1 / 720 + square
            * (1 / 40_320
              + square * (-1 / 3_628_800 + square * (1 / 479_001_600 + square * (-1 / 87_178_291_200)))))))
    switch turns & 3 {
    case 0: return (sine, cosine)
    case 1: return (cosine, -sine)
    case 2: return (-sine, -cosine)
    default: return (-cosine, sine)
    }
  }

  /// Returns the angle, −180…180, of a point from the positive x axis; 0 for the origin.
  ///
  ///     Trigonometry.arc(y: 1, x: 1)   // 45
  static func arc(y: Double, x: Double) -> Double {
    let (height, width) = (y.magnitude, x.magnitude)
    guard height > 0 || width > 0 else { return 0 }
    let isSteep = height > width
    var ratio = isSteep ? width / height : height / width
    // The series for up to 11.25 degrees, around 0, 22.5 and 45 degrees.
    var base = 0.0
    if ratio > tangent34 {
      ratio = (ratio - 1) / (1 + ratio)
      base = 45
    } else if ratio > tangent11 {
      ratio = (ratio - tangent22) / (1 + ratio * tangent22)
      base = 22.5
    }
    let square = ratio * ratio
    let series =
      ratio
      * (1 + square
        * (-1 / 3 + square
          * (1 / 5 + square
            * (-1 / 7 + square
              * (1 / 9 + square
                * (-1 / 11
                  + square * (1 / 13 + square * (-1 / 15 + square * (1 / 17)))))))))
    var angle = base + series / degree
    if isSteep { angle = 90 - angle }
    if x < 0 { angle = 180 - angle }
    return y < 0 ? -angle : angle
  }

  /// Returns the nearest integer of a value far within `Int64`, with halves away from zero. Unlike `rounded()` it needs
  /// no C library on processors without such an instruction.
  static func nearest(_ value: Double) -> Int64 { Int64(value < 0 ? value - 0.5 : value + 0.5) }

  /// Returns the angle, 0…180, of a cosine. Cosines beyond ±1 count as ±1.
  static func arcCosine(_ cosine: Double) -> Double {
    let cosine = min(max(cosine, -1), 1)
    return arc(y: ((1 - cosine) * (1 + cosine)).squareRoot(), x: cosine)
  }

  /// The tangents of 11.25, 22.5 and 33.75 degrees.
  private static let tangent11 = 0.198912367379658
  private static let tangent22 = 0.41421356237309503
  private static let tangent34 = 0.6681786379192989
}
