/// A ParseContext holds what a text is parsed against: the time its relative words count from, and what its names mean.
struct ParseContext {
  var now: Instant
  /// Whether the caller ignores the error message. Composing one costs more than parsing.
  var isQuiet = false
  private let box: Box

  /// Keeps copies cheap: each parser copies its context, and a box is one reference instead of one for each closure.
  private final class Box {
    let scheduleContext: ScheduleContext
    init(_ scheduleContext: ScheduleContext) { self.scheduleContext = scheduleContext }
  }

  init(now: Instant, scheduleContext: ScheduleContext) {
    self.now = now
    box = Box(scheduleContext)
  }

  var scheduleContext: ScheduleContext { _read { yield box.scheduleContext } }

  /// The zone of the schedule context.
  var zone: Zone { scheduleContext.zone }
  /// The current time, in whole seconds since 1970.
  var second: Int64 { now.seconds }
  /// Returns the times of day that words such as `morning` stand for.
  func words() -> WordTimes { scheduleContext.words() }
  var civil: CivilDateTime { zone.civil(at: now) }

  /// Returns whether a wall-clock time lies in the future, with gaps shifted and the first pass of a fold taken.
  func isAhead(_ civil: CivilDateTime) -> Bool {
    zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first) > second
  }
}
