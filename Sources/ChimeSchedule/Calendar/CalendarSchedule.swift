/// A schedule of the calendar dialect, understood: `calendar: Mon..Fri *-*-* 09:00`.
///
/// The grammar and the meaning are those of OnCalendar= in systemd.time(7); the canonical form is the prefix with
/// systemd's normalized form behind it.
struct CalendarSchedule: DialectSchedule {
  let expression: CalendarExpression
  let canonical: String

  /// The name behind the expression. It may be a label of the reminder's own clock (`CEST`) instead of a zone.
  var zoneIdentifier: String? { expression.zone }
  var isOneOff: Bool { expression.isOneOff }

  init(_ bytes: [UInt8], anchor: Anchor?) throws(Fault) {
    var parser = CalendarParser(bytes)
    expression = try parser.parse(
      label: { name in anchor?.zone.table.label(named: name) },
      isKnown: { name in anchor.map { $0.surroundings.zone(named: name) != nil } ?? true })
    canonical = "\(CalendarParser.prefix) \(expression.normalized)"
  }

  /// The label of a zone's clocks that the expression names in place of a zone, as systemd prefers to understand it.
  func label(in zone: Zone) -> String? {
    guard let name = expression.zone, name != "UTC" else { return nil }
    return zone.table.label(named: name)
  }

  func timetable(in surroundings: Surroundings, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    if let label = label(in: surroundings.zone) {
      // Each pass of a fold has a label of its own, so the label tells them apart.
      return Timetable(
        zone: surroundings.zone, gap: .skip, fold: .both, engine: .calendar(CalendarRule(expression, label: label)))
    }
    return Timetable(
      zone: zone, gap: GapHandling(gap, default: .skip), fold: fold ?? .first,
      engine: .calendar(CalendarRule(expression)))
  }
}

extension ZoneTable {
  /// A label that the zone's clocks bear in the long run, in its own spelling. Labels of the past do not count.
  func label(named name: String) -> String? {
    // Any year after those that zone files list by themselves.
    var second = Int64(CivilDate.dayNumber(year: 2400, month: 1, day: 1)) * 86_400
    let end = second + 366 * 86_400
    while second < end {
      let label = abbreviation(at: second)
      if label.utf8.elementsEqual(name.utf8, by: { $0 == $1 || CalendarParser.isLetter($0) && $0 | 0x20 == $1 | 0x20 })
      {
        return label
      }
      second = segment(at: second).end
    }
    return nil
  }
}

extension Timetable {
  /// The first occurrence at which the clock bears the rule's label.
  func nextLabelled(_ rule: CalendarRule, _ label: String, after second: Int64) -> Int64? {
    var after = second
    // What does not happen in one cycle of the calendar does not happen.
    let horizon = second + ZoneTable.cycle
    while after < horizon, let found = nextSlot(rule, after: after) {
      if zone.abbreviation(at: found) == label { return found }
      after = zone.segment(at: found).end - 1
    }
    return nil
  }
}
