/// A Sun is the position of the sun at an instant, seen from the center of the Earth.
///
/// Source: the equations of NOAA's Global Monitoring Laboratory (*Solar Calculation Details*,
/// gml.noaa.gov/grad/solcalc), which are those of low accuracy in Jean Meeus, *Astronomical Algorithms*, 2nd edition,
/// chapters 22, 25 and 28. The equation of time is computed from the right ascension (Meeus 28.1) instead of NOAA's
/// series, which drops terms of up to three seconds.
///
/// The longitude is exact to 0.01 degrees and the equation of time to a few seconds, between 1800 and 2200. Outside
/// this range both degrade: the polynomials are truncated, and the Earth's rotation is taken as uniform.
struct Sun {
  var sineOfDeclination: Double
  var cosineOfDeclination: Double
  /// The rate of the sine of the declination, per second.
  var drift: Double
  /// How far a sundial is ahead of a mean clock, in degrees of rotation (a degree is four minutes).
  var equationOfTime: Double

  /// The fastest change of declination, in degrees a day: the ecliptic's slope at the equinox, with the perihelion there.
  static let fastestDrift = 0.42

  /// - Parameter second: Seconds since 1970, within the years 1900 to 10000.
  init(at second: Double) {
    // Julian centuries from 2000-01-01 12:00.
    let century = (second / 86_400 - 10_957.5) / 36_525
    let meanLongitude = 280.46646 + century * (36_000.76983 + 0.0003032 * century)
    let anomaly = Trigonometry.sineAndCosine(357.52911 + century * (35_999.05029 - 0.0001537 * century))
    let node = Trigonometry.sineAndCosine(125.04 - 1_934.136 * century)

    let double = 2 * anomaly.sine * anomaly.cosine
    let triple = anomaly.sine * (3 - 4 * anomaly.sine * anomaly.sine)
    let center =
      anomaly.sine * (1.914602 - century * (0.004817 + 0.000014 * century)) + double * (0.019993 - 0.000101 * century)
      + triple * 0.000289
    let nutation = -0.00478 * node.sine
    let longitude = Trigonometry.sineAndCosine(meanLongitude + center - 0.00569 + nutation)

    let meanObliquity =
      23 + (26 + (21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))) / 60) / 60
    let obliquity = Trigonometry.sineAndCosine(meanObliquity + 0.00256 * node.cosine)

    sineOfDeclination = obliquity.sine * longitude.sine
    // The sun is never near the celestial poles.
    cosineOfDeclination = ((1 - sineOfDeclination) * (1 + sineOfDeclination)).squareRoot()
    // The true longitude grows by the mean motion and by the change of the equation of the center.
    let motion = 0.98564736 * (1 + 0.0334 * anomaly.cosine)
    drift = obliquity.sine * longitude.cosine * motion * Trigonometry.degree / 86_400

    let ascension = Trigonometry.arc(y: obliquity.cosine * longitude.sine, x: longitude.cosine)
    let difference = meanLongitude - 0.0057183 - ascension + nutation * obliquity.cosine
    equationOfTime = difference - 360 * Double(Trigonometry.nearest(difference / 360))
  }

  /// Moves the declination by a short time (negative for earlier). The result is exact to 10⁻⁸ for 20 minutes.
  mutating func drift(for seconds: Double) {
    sineOfDeclination += drift * seconds
    cosineOfDeclination = ((1 - sineOfDeclination) * (1 + sineOfDeclination)).squareRoot()
  }
}
