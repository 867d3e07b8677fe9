/// What a schedule of the solar dialect comes down to.
///
/// Solar days are counted by the place's own longitude, from one lower transit of the sun (its midnight) to the next,
/// whatever civil clocks say: day 0 is the one whose mean noon is that of 1970-01-01. A solar day has each event at
/// most once, so that walking from day to day loses none and doubles none in any zone.
struct SolarRule: Sendable, Hashable {
  let event: SolarEvent
  /// Seconds from the event to the occurrence.
  let shift: Int64
  /// The civil days on which the event itself has to fall.
  let days: DayRule
  private let keepsEveryDay: Bool
  private let longitude: Double
  private let sineOfLatitude: Double
  private let cosineOfLatitude: Double
  private let sineOfAltitude: Double

  /// No event lies further outside the 24 hours around the mean noon of its solar day: the equation of time never
  /// reaches 20 minutes between 1970 and 9999.
  private static let margin: Int64 = 1_800
  /// The most solar days that are looked at: 400 years. Every event comes in each year anywhere, and years in which it
  /// never does so on the right days are leapt over, so that this many mean that there is none.
  private static let mostDays = 146_097
  /// What looking for the event on one day costs, in steps of a search.
  private static let stepsForDay = 8

  init(event: SolarEvent, shift: Int64, days: DayRule, place: Place) {
    self.event = event
    self.shift = shift
    self.days = days
    keepsEveryDay =
      days.weekdays == .everyDay && days.kind == nil && days.except.isEmpty
      && days.first <= Int64(CivilDate.earliest.dayNumber)
      && days.last >= Int64(CivilDate.latest.dayNumber)
    // A place has checked its coordinates; a number beyond them could not be told in seconds.
    longitude = SolarRule.bounded(place.longitude, 180)
    (sineOfLatitude, cosineOfLatitude) = Trigonometry.sineAndCosine(SolarRule.bounded(place.latitude, 90))
    sineOfAltitude = Trigonometry.sineAndCosine(event.altitude).sine
  }

  private static func bounded(_ degrees: Double, _ limit: Double) -> Double {
    degrees.isNaN ? 0 : min(max(degrees, -limit), limit)
  }

  /// The first occurrence strictly after an instant, in seconds; `nil` when there is none up to the end of the year 9999.
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

  /// How many solar days may be left out because no civil day that one of them touches is wanted; 0 when this one may
  /// count, `nil` when none can follow.
  private func wait(_ day: Int64, _ west: Int64, _ zone: ZoneTable, _ budget: inout SearchBudget) -> Int64? {
    let opens = day * 86_400 + west - SolarRule.margin
    let closes = opens + 86_400 + 2 * SolarRule.margin
    let stretch = zone.segment(at: opens)
    guard stretch.end > closes else { return 0 }
    let first = floorDay(opens + stretch.offset)
    let last = floorDay(closes + stretch.offset)
    // A change of offset can bring back or leave out two days at most.
    guard let wanted = days.next(onOrAfter: first, &budget) else { return first > days.last + 3 ? nil : 1 }
    return wanted <= last ? 0 : max(1, wanted - last - 3)
  }

  private func floorDay(_ second: Int64) -> Int64 { Int64(dividedByDay(second).day) }

  private enum Finding {
    case at(Int64)
    /// The event does not come on this solar day, nor on those before this many days later.
    case missing(Int64)
  }

  /// The event of a solar day, to the nearest second.
  ///
  /// The sun rises where its altitude is below the event's at one transit and not at the next. Near the poles, where the
  /// seasons move it more than the Earth's rotation does, that may be after noon; elsewhere it is always before.
  private func find(_ day: Int64) -> Finding {
    let meanMidnight = Double(day) * 86_400 - longitude * 240
    let meanNoon = meanMidnight + 43_200
    let noon = transit(near: meanNoon)
    if event == .noon {
      return .at(Trigonometry.nearest(meanNoon - Sun(at: noon.second).equationOfTime * 240))
    }
    let isUpAtNoon = height(noon.sun, 1) >= 0
    // The likelier half of the day first: risings before noon, settings after it.
    let isRising = event.isRising
    let near = transit(near: isRising ? meanMidnight : meanMidnight + 86_400)
    let isUpNear = height(near.sun, -1) >= 0
    if isUpAtNoon, !isUpNear { return .at(crossing(near.second, noon, meanNoon)) }
    let far = transit(near: isRising ? meanMidnight + 86_400 : meanMidnight)
    let isUpFar = height(far.sun, -1) >= 0
    if !isUpAtNoon, isUpFar { return .at(crossing(far.second, noon, meanNoon)) }
    // The heights at the transits change by no more than the declination does, so as many days stay as they are.
    let distance = min(height(near.sun, -1).magnitude, height(noon.sun, 1).magnitude, height(far.sun, -1).magnitude)
    return .missing(max(1, Int64(distance / (Sun.fastestDrift * Trigonometry.degree)) - 1))
  }

  /// The upper or lower transit that belongs to a mean one, and the sun there. The equation of time changes by half a
  /// minute a day, so one step is exact to half a second.
  private func transit(near second: Double) -> (second: Double, sun: Sun) {
    var sun = Sun(at: second)
    let wait = -sun.equationOfTime * 240
    sun.drift(for: wait)
    return (second + wait, sun)
  }

  /// The sine of the altitude, less that of the event's.
  private func height(_ sun: Sun, _ cosineOfHourAngle: Double) -> Double {
    sineOfLatitude * sun.sineOfDeclination + cosineOfLatitude * sun.cosineOfDeclination * cosineOfHourAngle
      - sineOfAltitude
  }

  /// The instant between two transits at which the sun passes the event's altitude, with declination and equation of
  /// time of that very instant: Newton's method from the place where the noon's declination would have it, kept between
  /// the transits by halving.
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
    // Each step halves the bracket at least every other time; 2⁻⁶⁴ of half a day is nothing.
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
