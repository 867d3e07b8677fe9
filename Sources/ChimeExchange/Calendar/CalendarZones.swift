import ChimeSchedule

/// CalendarZones finds this machine's zone for a TZID.
///
/// A name takes precedence over the rules of a VTIMEZONE, because the machine's rules are newer than the copy in the
/// file. If the machine does not know the name, it compares the rules to find the zone.
struct CalendarZones {
  /// The zone of times without one, and the known zones.
  let scheduleContext: ScheduleContext
  /// The X-LIC-LOCATION of the calendar's VTIMEZONEs, by TZID.
  private let locations: [String: String]
  private let definitions: [String: CalendarComponent]
  private var known: [String: Zone?] = [:]
  /// The time of the import, around which rules are compared; `nil` to compare none.
  let now: Instant?
  /// The zones that were found by their rules.
  private(set) var guesses: [(line: Int, name: String, zone: Zone)] = []
  /// The rules of zones that this machine lacks.
  private var rules: [String: ZoneRules] = [:]
  /// The most definitions to compare. A comparison is slower than a lookup, and files have few zones of their own.
  private static let maximumDefinitions = 20
  /// The most names to look up. There are not more zones than this, and each lookup may read a file.
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

  /// The calendar's zone for times without one; `nil` if they use the reader's clock, or if both are the same.
  private(set) var unnamed: Zone?

  /// Returns the zone of a TZID.
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

  /// Returns the file's rules of a zone for which ``zone(_:)`` found none.
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

  /// Returns the name itself, the file's location for it, the end of a globally unique name
  /// (`/freeassociation.sourceforge.net/Europe/Prague`, `/mozilla.org/20050126_1/Europe/Prague`), and the zone of a
  /// Windows name.
  private func candidates(_ name: String) -> [String] {
    let name = trimmed(name)
    var candidates = [name]
    if let location = locations[name] { candidates.append(location) }
    if name.hasPrefix("/") {
      // Names have up to three parts. The longest known one is meant.
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
  /// Returns a zone name in its usual case: `Europe/Lisbon` for `Europe/lisbon`, `America/Port-au-Prince` for
  /// `america/port-au-prince`.
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

/// A Refusal says, in a sentence, why one event, alarm or job is not imported.
struct Refusal: Error, Hashable {
  var reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Returns enough of a foreign text to recognize it, without control characters that could affect a terminal.
func excerpt(_ text: String) -> String {
  let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : $0 }))
  return shown.utf8.count < text.utf8.count ? shown + "…" : shown
}
