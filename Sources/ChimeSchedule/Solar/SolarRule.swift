/// A SolarRule is a compiled schedule of the solar dialect.
///
/// Solar days follow the place's own longitude: from one lower transit of the sun (local midnight) to the next,
/// whatever civil clocks show. Day 0 is the one whose mean noon is that of 1970-01-01. A solar day has each event at
/// most once, so the search from day to day neither loses nor doubles one in any zone.
struct SolarRule: Sendable, Hashable {
  let event: SolarEvent
  /// Seconds from the event to the occurrence.
  let shift: Int64
  /// The civil days on which the event itself must fall.
  let days: DayRule
  private let keepsEveryDay: Bool
  private let longitude: Double
  private let sineOfLatitude: Double
  private let cosineOfLatitude: Double
  private let sineOfAltitude: Double

  /// The most seconds by which an event lies outside the 24 hours around the mean noon of its solar day. The equation
  /// of time stays under 20 minutes between 1970 and 9999.
  private static let margin: Int64 = 1_800
  /// The most solar days that a search examines: 400 years. Every event occurs each year at any place, and the search
  /// skips unsuitable years. So after this many days there is no occurrence.
  private static let mostDays = 146_097
  /// The cost of one day in search steps.
  private static let stepsForDay = 8

  init(event: SolarEvent, shift: Int64, days: DayRule, place: Place) {
    self.event = event
    self.shift = shift
    self.days = days
    keepsEveryDay =
      days.weekdays == .everyDay && days.kind == nil && days.except.isEmpty
      && days.first <= Int64(CivilDate.earliest.dayNumber)
      && days.last >= Int64(CivilDate.latest.dayNumber)
    // A place has valid coordinates. The bounds make sure that seconds cannot overflow.
    longitude = SolarRule.bounded(place.longitude, 180)
    (sineOfLatitude, cosineOfLatitude) = Trigonometry.sineAndCosine(SolarRule.bounded(place.latitude, 90))
    sineOfAltitude = Trigonometry.sineAndCosine(event.altitude).sine
  }

  private static func bounded(_ degrees: Double, _ limit: Double) -> Double {
    degrees.isNaN ? 0 : min(max(degrees, -limit), limit)
  }

  /// Returns the first occurrence strictly after an instant, in seconds; `nil` if there is none up to the end of 9999.
  func next(after second: Int64, zone: ZoneTable, _ budget: inout SearchBudget) -> Int64? {
    let after = second - shift
    let west = Int64(longitude * -240)
    // The first solar day that is not over.
    var day = floorDay(after - west - SolarRule.margin)
    let lastDay = floorDay(Instant.latest.seconds - shift - west) + 1
    var looks = 0
    while day <= lastDay, looks < SolarRule.mostDays {
      looks += 1
      if !keepsEveryDay {
        guard let wait = wait(day, west, zone, &budget) else { return nil }
        if wait > 0 {
          guard budget.spend() else { return nil }
          day += wait
          continue
        }
      }
      switch find(day) {
      case .missing(let wait): day += wait
      case .at(let instant):
        if instant > after, keepsEveryDay || days.contains(civilDay(instant, zone)) { return instant + shift }
        day += 1
      }
      guard budget.spend(SolarRule.stepsForDay) else { return nil }
    }
    return nil
  }

  private func civilDay(_ second: Int64, _ zone: ZoneTable) -> Int64 {
    floorDay(second + zone.segment(at: second).offset)
  }

  /// Returns how many solar days to skip because no civil day that they touch is selected; 0 if this one may count,
  /// `nil` if none can follow.
  private func wait(_ day: Int64, _ west: Int64, _ zone: ZoneTable, _ budget: inout SearchBudget) -> Int64? {
    let opens = day * 86_400 + west - SolarRule.margin
    let closes = opens + 86_400 + 2 * SolarRule.margin
    let stretch = zone.segment(at: opens)
    guard stretch.end > closes else { return 0 }
    let first = floorDay(opens + stretch.offset)
    let last = floorDay(closes + stretch.offset)
    // A change of offset can repeat or skip two days at most.
    guard let wanted = days.next(onOrAfter: first, &budget) else { return first > days.last + 3 ? nil : 1 }
    return wanted <= last ? 0 : max(1, wanted - last - 3)
  }

  private func floorDay(_ second: Int64) -> Int64 { Int64(dividedByDay(second).day) }

  private enum Finding {
    case at(Int64)
    /// The event occurs neither on this solar day nor on the days until that many days later.
    case missing(Int64)
  }

  /// Returns the event of a solar day, to the nearest second.
  ///
  /// The sun rises between two transits if its altitude is below the event's at the first and not at the second. Near
  /// the poles, where the seasons move the sun more than the Earth's rotation does, this may happen after noon;
  /// elsewhere it is always before.
  private func find(_ day: Int64) -> Finding {
    let meanMidnight = Double(day) * 86_400 - longitude * 240
    let meanNoon = meanMidnight + 43_200
    let noon = transit(near: meanNoon)
    if event == .noon {
      return .at(Trigonometry.nearest(meanNoon - Sun(at: noon.second).equationOfTime * 240))
    }
    let isUpAtNoon = height(noon.sun, 1) >= 0
    // Try the likelier half of the day first: sunrise before noon, sunset after it.
    let isRising = event.isRising
    let near = transit(near: isRising ? meanMidnight : meanMidnight + 86_400)
    let isUpNear = height(near.sun, -1) >= 0
    if isUpAtNoon, !isUpNear { return .at(crossing(near.second, noon, meanNoon)) }
    let far = transit(near: isRising ? meanMidnight + 86_400 : meanMidnight)
    let isUpFar = height(far.sun, -1) >= 0
    if !isUpAtNoon, isUpFar { return .at(crossing(far.second, noon, meanNoon)) }
    // The altitude at a transit changes no faster than the declination, so it stays on its side for that many days.
    let distance = min(height(near.sun, -1).magnitude, height(noon.sun, 1).magnitude, height(far.sun, -1).magnitude)
    return .missing(max(1, Int64(distance / (Sun.fastestDrift * Trigonometry.degree)) - 1))
  }

  /// Returns the true transit near a mean one, and the sun there. The equation of time changes by half a minute a day,
  /// so one step is exact to half a second.
  private func transit(near second: Double) -> (second: Double, sun: Sun) {
    var sun = Sun(at: second)
    let wait = -sun.equationOfTime * 240
    sun.drift(for: wait)
    return (second + wait, sun)
  }

  /// Returns the sine of the sun's altitude minus that of the event's.
  private func height(_ sun: Sun, _ cosineOfHourAngle: Double) -> Double {
    sineOfLatitude * sun.sineOfDeclination + cosineOfLatitude * sun.cosineOfDeclination * cosineOfHourAngle
      - sineOfAltitude
  }

  /// Returns the instant between two transits at which the sun passes the event's altitude.
  ///
  /// It uses Newton's method with the declination and equation of time of each instant, starts from the solution for
  /// the declination at noon, and falls back to bisection to stay between the transits.
  private func crossing(_ midnight: Double, _ noon: (second: Double, sun: Sun), _ meanNoon: Double) -> Int64 {
    var low = min(midnight, noon.second)
    var high = max(midnight, noon.second)
    let isRising = event.isRising
    let reach = cosineOfLatitude * noon.sun.cosineOfDeclination
    let cosine = (sineOfAltitude - sineOfLatitude * noon.sun.sineOfDeclination) / reach
    var second = (low + high) / 2
    if cosine.magnitude < 1 {
      let angle = Trigonometry.arcCosine(cosine) * 240
      let guess = midnight < noon.second ? noon.second - angle : noon.second + angle
      if guess > low, guess < high { second = guess }
    }
    // At least every other step halves the bracket; 2⁻⁶⁴ of half a day is negligible.
    for _ in 0..<128 {
      let sun = Sun(at: second)
      let hour = Trigonometry.sineAndCosine((second - meanNoon) / 240 + sun.equationOfTime)
      let height = height(sun, hour.cosine)
      if (height < 0) == isRising { low = second } else { high = second }
      let slope =
        sun.drift * (sineOfLatitude - cosineOfLatitude * hour.cosine * sun.sineOfDeclination / sun.cosineOfDeclination)
        - cosineOfLatitude * sun.cosineOfDeclination * hour.sine * (Trigonometry.degree / 240)
      let next = second - height / slope
      let isInside = next > low && next < high
      let step = isInside ? next - second : (low + high) / 2 - second
      second += step
      if step.magnitude < 0.005 || high - low < 0.005 { break }
    }
    return Trigonometry.nearest(second)
  }
}
