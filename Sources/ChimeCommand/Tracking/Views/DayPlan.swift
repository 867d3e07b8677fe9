import ChimeControl
import ChimeSchedule

/// The days of a month that a tracker requires, numbered from the first, done or not.
struct DayPlan {
  typealias T = TrackersInterface

  var month: CivilDate
  /// The required days, each with its number within the month.
  var days: [Output.PlannedDay]

  /// - Parameter totals: the days of the whole month, in order.
  init(month: CivilDate, totals: [T.DayTotal], today: String) {
    self.month = month
    var number = 0
    days = totals.filter { $0.isAsked }.map { total in
      number += 1
      let state: Output.PlannedDay.State =
        total.met ? .done : total.day > today ? .upcoming : total.day == today ? .today : .missed
      return .init(day: total.day, number: number, state: state)
    }
  }

  var done: Int { days.count { $0.state == .done } }

  /// Whether a tracker requires certain days; one with so many times a week does not.
  static func isOf(_ tracker: T.Tracker) -> Bool { tracker.counting.times == nil }

  /// Reads the plans of several months, from `month` on.
  static func read(
    _ context: Context, _ tracker: T.Tracker, from month: CivilDate, months: Int, today: CivilDate
  ) throws -> [DayPlan] {
    var firsts = [month]
    while firsts.count < months, let last = firsts.last, let next = following(last) { firsts.append(next) }
    let end = firsts.last.flatMap { $0.adding(days: CivilDate.daysIn(month: $0.month, year: $0.year) - 1) } ?? month
    let days = try context.daemon().call(
      T.Days(tracker: tracker.id, range: T.Range(from: month.description, to: end.description))
    ).days
    return firsts.map { first in
      DayPlan(
        month: first, totals: days.filter { $0.day.hasPrefix(first.description.prefix(7)) }, today: today.description)
    }
  }

  private static func following(_ month: CivilDate) -> CivilDate? {
    month.adding(days: CivilDate.daysIn(month: month.month, year: month.year))
  }

  /// Returns a grid: `12●` is done, `13○` missed, `14` in the future.
  func lines(width: Int, today: CivilDate, glyphs: Glyphs, style: Style) -> [String] {
    let known = Dictionary(days.map { ($0.day, $0) }) { $1 }
    let grid = MonthGrid(month: month, today: today) { date in
      guard let day = known[date.description] else { return .init(text: " \(glyphs.free)", tone: .faint) }
      let number = day.number < 10 ? " \(day.number)" : String(day.number)
      return switch day.state {
      case .done: .init(text: number + glyphs.met, tone: .good)
      case .missed: .init(text: number + glyphs.open, tone: .plain)
      case .today, .upcoming: .init(text: number, tone: .plain)
      }
    }
    return [style(DayText.monthAndYear(month), .strong)] + grid.lines(width: min(width, 42), style: style)
  }

  var output: Output.PlannedMonth { .init(month: String(month.description.prefix(7)), days: days) }
}
