import ChimeSchedule

/// Finds the zone of this machine that a TZID means.
///
/// A name goes before a VTIMEZONE's own rules: they are a copy of what the machine knows better, made when the file was.
/// Where the machine knows no such name, the rules say which of its zones is meant.
struct CalendarZones {
  /// The zone of times that name none, and all it may know.
  let scheduleContext: ScheduleContext
  /// What a calendar's VTIMEZONEs say of themselves in X-LIC-LOCATION.
  private let locations: [String: String]
  private let definitions: [String: CalendarComponent]
  private var known: [String: Zone?] = [:]
  /// The moment of the import, around which rules are compared; nil: they are not.
  let now: Instant?
  /// What was found by its rules.
  private(set) var guesses: [(line: Int, name: String, zone: Zone)] = []
  /// The rules of zones that are none of this machine's.
  private var rules: [String: ZoneRules] = [:]
  /// Comparing rules takes longer than looking a name up, and no file has many zones of its own.
  private static let maximumDefinitions = 20
  /// No more names of zones than there are zones are looked up: each may cost a look at a file.
  private static let maximumCount = 1_000

  init(_ scheduleContext: ScheduleContext, calendar: CalendarComponent, now: Instant? = nil) {
    (self.scheduleContext, self.now) = (scheduleContext, now)
    var locations: [String: String] = [:]
    var definitions: [String: CalendarComponent] = [:]
    for zone in calendar.components("VTIMEZONE") {
      guard let name = zone["TZID"]?.value else { continue }
      if let location = zone["X-LIC-LOCATION"]?.value { locations[name] = location }
      if definitions.count < Self.maximumDefinitions { definitions[name] = zone }
    }
    (self.locations, self.definitions) = (locations, definitions)
    if let name = calendar["X-WR-TIMEZONE"]?.value, let zone = find(name), zone != scheduleContext.zone {
      unnamed = zone
    }
  }

  /// The zone that the calendar gives for times that name none; nil: they are read on the clock of their reader, which is
  /// also said where it is the same.
  private(set) var unnamed: Zone?

  /// The zone of that TZID.
  mutating func zone(_ name: String) throws(Refusal) -> Zone {
    if let found = known[name] {
      if let found { return found }
    } else {
      let zone = known.count < Self.maximumCount ? find(name) ?? findByRules(name) : nil
      known[name] = .some(zone)
      if let zone { return zone }
    }
    throw Refusal(
      "this machine has no time zone \"\(excerpt(name))\""
        + (definitions[name] == nil ? "" : ", and no zone with the rules in the file"))
  }

  /// The rules that the file gives a zone for which ``zone(_:)`` has found none here.
  func rules(of name: String) -> ZoneRules? { rules[name] }

  private mutating func findByRules(_ name: String) -> Zone? {
    guard let now, let definition = definitions[name], let rules = ZoneRules(definition, around: now) else {
      return nil
    }
    let candidates =
      [scheduleContext.zone] + WindowsZones.locations.lazy.compactMap { [scheduleContext] in scheduleContext.zones($0) }
    guard let zone = candidates.first(where: rules.areThose) else {
      self.rules[name] = rules
      return nil
    }
    guesses.append((definition.line, name, zone))
    return zone
  }

  private func find(_ name: String) -> Zone? {
    for candidate in candidates(name) where Zone.isValidIdentifier(candidate) {
      if candidate == "UTC" { return .utc }
      if let zone = scheduleContext.zone.identifier == candidate
        ? scheduleContext.zone : scheduleContext.zones(candidate)
      {
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
      for count in [3, 2, 1] where parts.count >= count {
        candidates.append(parts.suffix(count).joined(separator: "/"))
      }
    }
    if let location = WindowsZones.identifier(name) { candidates.append(location) }
    return candidates + candidates.map(Self.capitalized)
  }
}

extension CalendarZones {
  /// As names of zones are written: `Europe/lisbon` is `Europe/Lisbon`, `america/port-au-prince` is `America/Port-au-Prince`.
  private static func capitalized(_ name: String) -> String {
    var result = ""
    var word = ""
    func ended() -> String {
      ["of", "au", "es"].contains(word) ? word : word.prefix(1).uppercased() + word.dropFirst()
    }
    for scalar in name.lowercased().unicodeScalars {
      if "/_-".unicodeScalars.contains(scalar) {
        result += ended()
        result.unicodeScalars.append(scalar)
        word = ""
      } else {
        word.unicodeScalars.append(scalar)
      }
    }
    return result + ended()
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
