/// A CalendarSchedule is a parsed schedule of the calendar dialect: `calendar: Mon..Fri *-*-* 09:00`.
///
/// Grammar and meaning are those of OnCalendar= in systemd.time(7). The canonical form is the prefix and systemd's
/// normalized form.
struct CalendarSchedule: DialectSchedule {
  let expression: CalendarExpression
  let canonical: String

  /// The zone of the expression. A name shaped like a label (`CET`, `EST`) may also be a label of the reminder's own
  /// clock. Only ``timetable(in:zone:gap:fold:)`` can tell, so such a name is `nil` here.
  var zoneIdentifier: String? { expression.zone.flatMap { CalendarSchedule.isLabel($0) ? nil : $0 } }

  private static func isLabel(_ name: String) -> Bool {
    let letters = name.utf8.allSatisfy { (0x41...0x5A).contains($0) } && (3...5).contains(name.utf8.count)
    return letters && name != "UTC" || name.utf8.first == UInt8(ascii: "+") || name.utf8.first == UInt8(ascii: "-")
  }
  var isOneOff: Bool { expression.isOneOff }

  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    var parser = CalendarParser(bytes)
    expression = try parser.parse(
      label: { name in context?.zone.table.label(named: name) },
      isKnown: { name in context.map { $0.scheduleContext.zone(named: name) != nil } ?? true })
    canonical = "\(CalendarParser.prefix) \(expression.normalized)"
  }

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    var zone = zone
    if let name = expression.zone, zoneIdentifier == nil {
      // systemd tries the local labels first.
      if let label = scheduleContext.zone.table.label(named: name) {
        // The passes of a fold have different labels, so the label tells them apart.
        return Timetable(
          zone: scheduleContext.zone, gap: .skip, fold: .both, engine: .calendar(CalendarRule(expression, label: label))
        )
      }
      zone = scheduleContext.zone(named: name) ?? zone
    }
    return Timetable(
      zone: zone, gap: GapHandling(gap, default: .skip), fold: fold ?? .first,
      engine: .calendar(CalendarRule(expression)))
  }
}

extension ZoneTable {
  /// Returns the zone's spelling of a label that its clocks use permanently. Labels used only in the past do not count.
  func label(named name: String) -> String? {
    // Any year after those that zone files list explicitly.
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
  /// Returns the first occurrence at which the clock shows the rule's label.
  func nextLabelled(
    _ rule: CalendarRule, _ label: String, after second: Int64, _ budget: inout SearchBudget
  ) -> Int64? {
    var after = second
    // The search covers one cycle of the calendar, after which nothing new can happen.
    let searchLimit = second + ZoneTable.cycle
    while after < searchLimit, let found = nextSlot(rule, after: after, &budget) {
      if zone.abbreviation(at: found) == label { return found }
      guard budget.spend(4) else { return nil }
      after = zone.segment(at: found).end - 1
    }
    return nil
  }
}
