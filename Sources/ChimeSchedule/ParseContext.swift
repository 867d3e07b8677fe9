/// What a text is read against: what its relative words count from, and what its names refer to.
struct ParseContext {
  var now: Instant
  /// Whether nobody reads why a text is refused, which takes longer to put into words than all else.
  var isQuiet = false
  private let box: Box

  /// Each reader of a text copies its anchor, which in a box is one reference and not one for each name it knows.
  private final class Box {
    let scheduleContext: ScheduleContext
    init(_ scheduleContext: ScheduleContext) { self.scheduleContext = scheduleContext }
  }

  init(now: Instant, scheduleContext: ScheduleContext) {
    self.now = now
    box = Box(scheduleContext)
  }

  var scheduleContext: ScheduleContext { _read { yield box.scheduleContext } }

  /// The zone of the surroundings.
  var zone: Zone { scheduleContext.zone }
  /// The second that has begun.
  var second: Int64 { now.seconds }
  /// When the words for times of day are.
  func words() -> WordTimes { scheduleContext.words() }
  var civil: CivilDateTime { zone.civil(at: now) }

  /// Whether a reading of the wall clock, with the usual rules for gaps and folds, still lies ahead.
  func isAhead(_ civil: CivilDateTime) -> Bool {
    zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first) > second
  }
}
