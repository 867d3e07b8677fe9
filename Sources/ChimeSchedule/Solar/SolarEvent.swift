/// A SolarEvent is an event of the sun at one instant of a day.
enum SolarEvent: Sendable, Hashable, CaseIterable {
  case astronomicalDawn, nauticalDawn, dawn, sunrise, noon, sunset, dusk, nauticalDusk, astronomicalDusk

  /// The canonical words.
  var name: String {
    switch self {
    case .astronomicalDawn: "astronomical dawn"
    case .nauticalDawn: "nautical dawn"
    case .dawn: "dawn"
    case .sunrise: "sunrise"
    case .noon: "solar noon"
    case .sunset: "sunset"
    case .dusk: "dusk"
    case .nauticalDusk: "nautical dusk"
    case .astronomicalDusk: "astronomical dusk"
    }
  }

  /// The altitude of the sun's center in degrees above the horizon; without meaning at noon.
  ///
  /// At sunrise and sunset the upper limb touches a level horizon at sea: 34 arc minutes of refraction and 16 of the
  /// sun's radius, as in almanacs. Twilights are geometric.
  var altitude: Double {
    switch self {
    case .sunrise, .sunset: -0.833
    case .dawn, .dusk: -6
    case .nauticalDawn, .nauticalDusk: -12
    case .astronomicalDawn, .astronomicalDusk: -18
    case .noon: 90
    }
  }

  var isRising: Bool {
    switch self {
    case .astronomicalDawn, .nauticalDawn, .dawn, .sunrise: true
    case .noon, .sunset, .dusk, .nauticalDusk, .astronomicalDusk: false
    }
  }
}
