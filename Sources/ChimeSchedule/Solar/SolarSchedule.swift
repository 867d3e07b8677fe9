/// A SolarSchedule is a parsed schedule of the solar dialect: `sunset - 30m on fri`, with the bounds of phrases.
///
/// Weekdays, dates in bounds and exceptions refer to the civil day, in the schedule's zone, of the event itself, before
/// the shift.
struct SolarSchedule: DialectSchedule {
  var event: SolarEvent
  /// Seconds from the event to the occurrence.
  var shift: Int64 = 0
  var days = WeekdaySet.everyDay
  var bounds = Phrase.Bounds()

  /// The longest shift in either direction, in seconds.
  static let longestShift: Int64 = 12 * 3_600
  /// The largest number in `N times`. It is smaller than for a phrase, because the search must find all occurrences.
  static let largestCount = 1_000

  init(event: SolarEvent) { self.event = event }

  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    var parser = SolarParser(bytes, context: context)
    self = try parser.schedule()
  }

  var canonical: String {
    var text = event.name
    if shift != 0 { text += " \(shift < 0 ? "-" : "+") \(DurationText.format(.seconds(abs(shift))))" }
    if days != .everyDay { text += " on \(days.canonical)" }
    return text + bounds.canonical
  }

  var needsPlace: Bool { true }
  var calendarNames: [String] { bounds.exceptCalendars }

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    guard let place = scheduleContext.place else {
      var never = Timetable(zone: zone, gap: .shift, fold: .first, engine: .instant(0))
      never.lastSecond = -1
      return never
    }
    let fold = fold ?? .first
    let except = bounds.exceptions(in: scheduleContext)
    let whole = timetable(place, zone, fold, except: DayRanges([]))
    var timetable = except.isEmpty ? whole : timetable(place, zone, fold, except: except)
    guard let count = bounds.count else { return timetable }
    // Exceptions remove occurrences and add none, so counting ignores them.
    var budget = SearchBudget(Timetable.countingSteps)
    var last = whole.firstSecond - 1
    for _ in 0..<count {
      guard budget.spend(), let next = whole.next(after: last, &budget) else { break }
      last = next
    }
    timetable.isUncountable = budget.isSpent
    timetable.lastSecond = budget.isSpent ? -1 : min(timetable.lastSecond, last)
    return timetable
  }

  private func timetable(
    _ place: Place, _ zone: Zone, _ fold: FoldRule, except: DayRanges
  ) -> Timetable {
    var rule = DayRule(weekdays: days, except: except)
    // Clocks near the ends of the range show days outside it.
    rule.first = Int64(CivilDate.earliest.dayNumber) - 2
    rule.last = Int64(CivilDate.latest.dayNumber) + 2
    if case .date(let date) = bounds.starting { rule.first = Int64(date.dayNumber) }
    if case .date(let date) = bounds.until { rule.last = Int64(date.dayNumber) }
    var timetable = Timetable(
      zone: zone, gap: .shift, fold: fold,
      engine: .solar(SolarRule(event: event, shift: shift, days: rule, place: place)))
    let clocks = zone.table
    switch bounds.starting {
    case .civil(let civil):
      timetable.firstSecond = max(0, clocks.instant(civil.wallSeconds, gap: .shift, fold: fold))
    case .instant(let instant): timetable.firstSecond = instant.seconds
    case .date, nil: break
    }
    switch bounds.until {
    case .civil(let civil):
      let end = clocks.instant(civil.wallSeconds, gap: .shift, fold: fold == .first ? .first : .last)
      timetable.lastSecond = min(timetable.lastSecond, end)
    case .instant(let instant): timetable.lastSecond = instant.seconds
    case .date, nil: break
    }
    return timetable
  }
}
