import ChimeSchedule

/// Finds the zone of this machine that a TZID means.
///
/// A VTIMEZONE's own rules are not read: they are a copy of what the machine knows better, made when the file was.
struct CalendarZones {
  /// The zone of times that name none, and all it may know.
  let surroundings: Surroundings
  /// What a calendar's VTIMEZONEs say of themselves in X-LIC-LOCATION.
  private let locations: [String: String]
  private var known: [String: Zone?] = [:]
  /// No more names of zones than there are zones are looked up: each may cost a look at a file.
  private static let maximumCount = 1_000

  init(_ surroundings: Surroundings, calendar: CalendarComponent) {
    self.surroundings = surroundings
    var locations: [String: String] = [:]
    for zone in calendar.components("VTIMEZONE") {
      guard let name = zone["TZID"]?.value, let location = zone["X-LIC-LOCATION"]?.value else { continue }
      locations[name] = location
    }
    self.locations = locations
  }

  /// The zone of that TZID.
  mutating func zone(_ name: String) throws(Refusal) -> Zone {
    if let found = known[name] {
      if let found { return found }
    } else {
      let zone = known.count < Self.maximumCount ? find(name) : nil
      known[name] = .some(zone)
      if let zone { return zone }
    }
    throw Refusal("this machine has no time zone \"\(excerpt(name))\"")
  }

  private func find(_ name: String) -> Zone? {
    for candidate in candidates(name) where Zone.isValidIdentifier(candidate) {
      if candidate == "UTC" { return .utc }
      if let zone = surroundings.zone.identifier == candidate ? surroundings.zone : surroundings.zones(candidate) {
        return zone
      }
    }
    return nil
  }

  /// The name itself; the location that the file has for it; the end of a globally unique name
  /// (`/freeassociation.sourceforge.net/Europe/Prague`, `/mozilla.org/20050126_1/Europe/Prague`); Windows' name.
  private func candidates(_ name: String) -> [String] {
    let name = trimmed(name)
    var candidates = [name]
    if let location = locations[name] { candidates.append(location) }
    if name.hasPrefix("/") {
      // Names have up to three parts; the longest that the machine knows is meant.
      let parts = name.prefix(200).split(separator: "/")
      for count in [3, 2, 1] where parts.count > count {
        candidates.append(parts.suffix(count).joined(separator: "/"))
      }
    }
    if let location = WindowsZones.identifier(name) { candidates.append(location) }
    return candidates
  }
}

/// Why one event, alarm or job is not taken, in a sentence.
struct Refusal: Error, Hashable {
  var reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Enough of a foreign text to recognize it by, without what could speak to a terminal.
func excerpt(_ text: String) -> String {
  let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : $0 }))
  return shown.utf8.count < text.utf8.count ? shown + "…" : shown
}
