import ChimeSchedule

/// A ZoneComponent is a zone's rules as a VTIMEZONE, for programs that do not know the zone's name.
///
/// Changes of offset that follow one rule to the end of the range become a rule. Earlier ones are listed.
///
/// Source: RFC 5545 section 3.6.5.
struct ZoneComponent {
  /// An Observance is a change from one offset to another, at onsets on the clock before the change.
  struct Observance: Hashable {
    var name: String
    var before: Int
    var after: Int
    var onsets: [CivilDateTime]
    /// The rule that continues from the first onset.
    var rule: String?
  }

  let identifier: String
  private(set) var observances: [Observance] = []

  /// The number of years to examine, enough for each weekday to come up in every rule.
  private static let years = 120

  /// - Parameter year: The first year for which the rules must be right.
  init(_ zone: Zone, from year: Int) {
    identifier = zone.identifier
    guard let first = CivilDateTime(year: max(year, 1970), month: 1, day: 1) else { return }
    let start = zone.instant(of: first)
    let offset = zone.offset(at: start)
    observances.append(
      Observance(name: zone.abbreviation(at: start), before: offset, after: offset, onsets: [first]))
    var changes: [Change] = []
    var last = start
    while let transition = zone.nextTransition(after: last), let change = Change(transition, zone),
      change.wall.date.year <= max(year, 2026) + Self.years
    {
      changes.append(change)
      last = transition.instant
    }
    let tail = Self.ruled(changes)
    for change in changes.dropLast(tail.count) {
      let known = observances.dropFirst().firstIndex {
        $0.name == change.name && $0.before == change.before && $0.after == change.after
      }
      if let known {
        observances[known].onsets.append(change.wall)
      } else {
        observances.append(
          Observance(name: change.name, before: change.before, after: change.after, onsets: [change.wall]))
      }
    }
    for change in tail.prefix(2) {
      let same = tail.filter { $0.kind == change.kind }
      observances.append(
        Observance(
          name: change.name, before: change.before, after: change.after, onsets: [change.wall],
          rule: Self.rule(same)))
    }
  }

  private struct Change {
    struct Kind: Hashable {
      var before: Int
      var after: Int
      var month: Int
      var weekday: Weekday
      var time: CivilTime
    }

    var name: String
    var wall: CivilDateTime
    var before: Int
    var after: Int

    init?(_ transition: Transition, _ zone: Zone) {
      guard let wall = CivilDateTime(secondsOnClock: transition.instant.seconds + Int64(transition.offsetBefore)) else {
        return nil
      }
      self.wall = wall
      name = zone.abbreviation(at: transition.instant)
      before = transition.offsetBefore
      after = transition.offsetAfter
    }

    var kind: Kind {
      Kind(before: before, after: after, month: wall.date.month, weekday: wall.date.weekday, time: wall.time)
    }
  }

  /// Returns the last changes as far back as they follow a rule: two kinds alternate, one of each a year, each on one
  /// weekday within the same seven days of a month.
  private static func ruled(_ changes: [Change]) -> ArraySlice<Change> {
    guard changes.count >= 2 * 28 else { return [] }
    var days: [Change.Kind: ClosedRange<Int>] = [:]
    var start = changes.count
    for index in changes.indices.reversed() {
      let change = changes[index]
      let day = change.wall.date.day
      let kind = change.kind
      if index + 2 < changes.count {
        guard changes[index + 2].kind == kind, changes[index + 2].wall.date.year == change.wall.date.year + 1 else {
          break
        }
      }
      let range = days[kind].map { min($0.lowerBound, day)...max($0.upperBound, day) } ?? day...day
      guard range.count <= 7 else { break }
      days[kind] = range
      start = index
    }
    let tail = changes[start...]
    return tail.count >= 2 * 28 && days.count == 2 && days.values.allSatisfy { $0.count == 7 } ? tail : []
  }

  private static func rule(_ changes: [Change]) -> String? {
    guard let change = changes.first, let first = changes.map(\.wall.date.day).min() else { return nil }
    let (_, month, _) = change.wall.date.fields
    let day = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][change.wall.date.weekday.rawValue - 1]
    let length = CivilDate.daysIn(month: month, year: 2001)
    let days =
      if first == length - 6, month != 2 {
        "BYDAY=-1\(day)"
      } else if first % 7 == 1, first < 28 {
        "BYDAY=\(first / 7 + 1)\(day)"
      } else {
        "BYDAY=\(day);BYMONTHDAY=" + (first...first + 6).map(String.init).joined(separator: ",")
      }
    return "FREQ=YEARLY;BYMONTH=\(month);\(days)"
  }
}

extension ZoneComponent {
  func write(to writer: inout CalendarWriter) {
    writer.component("VTIMEZONE") { writer in
      writer.line("TZID:\(identifier)")
      for observance in observances {
        writer.component(observance.after > observance.before ? "DAYLIGHT" : "STANDARD") { writer in
          writer.line("TZNAME:\(observance.name)")
          writer.line("TZOFFSETFROM:\(Self.offset(observance.before))")
          writer.line("TZOFFSETTO:\(Self.offset(observance.after))")
          writer.line("DTSTART:\(observance.onsets[0].basic)")
          if let rule = observance.rule { writer.line("RRULE:\(rule)") }
          let more = observance.onsets.dropFirst()
          if !more.isEmpty { writer.line("RDATE:" + more.map(\.basic).joined(separator: ",")) }
        }
      }
    }
  }

  /// Returns `+0100`, with seconds only if they are not 0.
  private static func offset(_ seconds: Int) -> String {
    let rest = abs(seconds)
    let text = (seconds < 0 ? "-" : "+") + digits(rest / 3_600, 2) + digits(rest / 60 % 60, 2)
    return rest % 60 == 0 ? text : text + digits(rest % 60, 2)
  }
}
