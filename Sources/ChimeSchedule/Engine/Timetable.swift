/// A Timetable is a schedule compiled for one zone: text, bounds and rules as numbers.
///
/// It is a value without a clock. `next(after:)` allocates nothing. Its cost is bounded (``searchSteps``) for every
/// schedule and does not depend on how long ago the schedule began.
///
///     let timetable = schedule.timetable(in: zone)
///     for instant in timetable.occurrences(after: now).prefix(5) { … }
public struct Timetable: Sendable {
  let zone: ZoneTable
  let gap: GapHandling
  let fold: FoldRule
  var engine: Engine
  /// The longest fold that counts once, in seconds. Debian's cron treats a longer one as a clock correction: both
  /// passes count.
  var longestFold = Int64.max
  /// The range of occurrences in seconds. An empty range (first > last) has none.
  var firstSecond: Int64 = 0
  var lastSecond: Int64 = Instant.latest.seconds
  /// Whether counting off the occurrences exceeded its budget; the timetable then has none.
  var isUncountable = false

  /// The steps of one search, over all rules of a schedule: 0.2 ms.
  ///
  /// The costliest schedule in the tests that has an occurrence takes 869 (`SearchBudgetTests`). To prove that nothing
  /// ever occurs takes one cycle of the calendar, 9,700 steps.
  public static let searchSteps = 20_000

  /// The steps for counting off `COUNT` occurrences, over all rules of a schedule.
  static let countingSteps = 30_000

  /// The steps for testing whether one given time is an occurrence: enough to expand the periods around it.
  static let glanceSteps = 200

  /// How occurrences follow each other.
  enum Engine: Sendable {
    /// Times on the wall clock.
    case slots(SlotRule)
    /// A grid within a daily window.
    case window(WindowRule)
    /// A grid of elapsed time.
    case elapsed(ElapsedRule)
    case instant(Int64)
    /// Instants, ascending.
    case instants(ContiguousArray<Int64>)
    case cron(CronRule)
    case calendar(CalendarRule)
    case rrule(RecurrenceRule)
    case recurrences(RecurrenceSet)
    case solar(SolarRule)

    /// The wall-clock times of the engine, if it is defined by these alone.
    var slots: (any WallSlots)? {
      switch self {
      case .slots(let rule): rule
      case .cron(let rule): rule
      case .calendar(let rule): rule
      case .rrule(let rule): rule
      case .window, .elapsed, .instant, .instants, .solar, .recurrences: nil
      }
    }
  }

  init(zone: Zone, gap: GapHandling, fold: FoldRule, engine: Engine) {
    self.zone = zone.table
    self.gap = gap
    self.fold = fold
    self.engine = engine
  }

  /// Returns the first occurrence strictly after `instant`, in whole seconds; `nil` if there is none up to the year
  /// 9999 or within ``searchSteps``.
  public func next(after instant: Instant) -> Instant? {
    var budget = SearchBudget(Self.searchSteps)
    guard let second = next(after: instant.seconds, &budget) else { return nil }
    return Instant(seconds: second)
  }

  func next(after second: Int64, _ budget: inout SearchBudget) -> Int64? {
    let after = max(second, firstSecond - 1)
    guard after < lastSecond else { return nil }
    let found: Int64? =
      switch engine {
      case .slots(let rule): nextSlot(rule, after: after, &budget)
      case .window(let rule): rule.next(after: after, upTo: lastSecond, in: zone, gap, fold, &budget)
      case .elapsed(let rule): rule.next(after: after, upTo: lastSecond, in: zone, &budget)
      case .instant(let instant): instant > after ? instant : nil
      case .instants(let instants): instants.firstSorted(after: after)
      case .cron(let rule): nextSlot(rule, after: after, &budget)
      case .calendar(let rule):
        if let label = rule.label {
          nextLabelled(rule, label, after: after, &budget)
        } else {
          nextSlot(rule, after: after, &budget)
        }
      case .rrule(let rule): nextSlot(rule, after: after, &budget)
      case .recurrences(let set): nextInSet(set, after: after, &budget)
      case .solar(let rule): rule.next(after: after, zone: zone, &budget)
      }
    guard let found, found <= lastSecond else { return nil }
    return found
  }
}

extension Timetable {
  init(phrase: Phrase, in scheduleContext: ScheduleContext, zone: Zone, gap: GapHandling, fold: FoldRule) {
    let except = phrase.bounds.exceptions(in: scheduleContext)
    let done = scheduleContext.lastDone
    self.init(phrase, zone.table, gap, fold, except: except, done: done)
    if scheduleContext.followsDone, phrase.canFollowEntries, let done { follow(done) }
    guard let count = phrase.bounds.count else { return }
    if case .elapsed(let step, .weekdays(.everyDay)) = phrase.pattern {
      // At most 2³⁸ seconds times 10 000.
      lastSecond = min(lastSecond, firstSecond + step * Int64(count - 1))
      return
    }
    // Exceptions remove occurrences and add none, so counting ignores them.
    let whole = except.isEmpty ? self : Timetable(phrase, zone.table, gap, fold, except: DayRanges([]), done: done)
    var budget = SearchBudget(Self.countingSteps)
    var last = firstSecond - 1
    for _ in 0..<count {
      guard budget.spend(), let next = whole.next(after: last, &budget) else { break }
      last = next
    }
    isUncountable = budget.isSpent
    lastSecond = isUncountable ? -1 : min(lastSecond, last)
  }

  private init(
    _ phrase: Phrase, _ zone: ZoneTable, _ gap: GapHandling, _ fold: FoldRule, except: DayRanges, done: Instant?
  ) {
    self.zone = zone
    self.gap = gap
    self.fold = fold
    func instant(_ wall: Int64) -> Int64 { zone.instant(wall, gap: .shift, fold: fold) }
    func today(_ second: Int64) -> Int64 {
      Int64(dividedByDay(second + zone.segment(at: second).offset).day)
    }
    let bounds = phrase.bounds
    var days = DayRule(weekdays: .everyDay, except: except)
    if case .date(let date) = bounds.starting { days.first = Int64(date.dayNumber) }
    if case .date(let date) = bounds.until { days.last = Int64(date.dayNumber) }
    switch bounds.starting {
    case .civil(let civil): firstSecond = max(0, instant(civil.wallSeconds))
    case .instant(let instant): firstSecond = instant.seconds
    case .date, nil: break
    }
    switch bounds.until {
    case .civil(let civil):
      lastSecond = min(lastSecond, zone.instant(civil.wallSeconds, gap: .shift, fold: fold == .first ? .first : .last))
    case .instant(let instant): lastSecond = instant.seconds
    case .date, nil: break
    }
    /// Returns the day from which rotas count.
    func startingDay() -> Int64 {
      switch bounds.starting {
      case .date(let date): Int64(date.dayNumber)
      case .civil(let civil): Int64(civil.date.dayNumber)
      case .instant(let instant): today(instant.seconds)
      case nil: 0
      }
    }
    func slots(_ times: [CivilTime]) -> Engine {
      .slots(SlotRule(days: days, times: ContiguousArray(times.map { Int64($0.secondOfDay) })))
    }

    switch phrase.pattern {
    case .once(.instant(let instant)): engine = .instant(instant.seconds)
    case .once(.civil(let civil)):
      days.first = Int64(civil.date.dayNumber)
      days.last = days.first
      engine = slots([civil.time])
    case .once(.date(let date)):
      days.first = Int64(date.dayNumber)
      days.last = days.first
      engine = slots([.midnight])
    case .times(let kind, let times):
      days.set(kind, starting: startingDay())
      engine = slots(times)
    case .window(let step, let from, let to, let kind):
      days.set(kind, starting: startingDay())
      let end = Int64(to.secondOfDay) + (to <= from ? 86_400 : 0)
      engine = .window(WindowRule(days: days, step: step, from: Int64(from.secondOfDay), to: end))
    case .elapsed(let step, let kind):
      if case .date(let date) = bounds.starting {
        firstSecond = max(0, zone.instant(Int64(date.dayNumber) * 86_400, gap: .shift, fold: .first))
      }
      days.set(kind, starting: startingDay())
      // The days of a grid are those on which its points fall, so its start is an instant like any other.
      days.first = 0
      engine = .elapsed(ElapsedRule(days: days, step: step, anchor: firstSecond))
    case .daysAfterDone(let step, let times):
      var anchor = startingDay()
      if let done { anchor = today(done.seconds) + Int64(step) }
      days.first = max(days.first, anchor)
      days.kind = .days(step: Int64(step), anchor: anchor)
      engine = slots(times)
    case .elapsedAfterDone(let step):
      if case .date(let date) = bounds.starting {
        firstSecond = max(0, zone.instant(Int64(date.dayNumber) * 86_400, gap: .shift, fold: .first))
      }
      days.first = 0
      var anchor = firstSecond
      if let done {
        // Rounded up so that it never comes early. Both are below 2³⁸.
        anchor = (done.milliseconds + 999) / 1_000 + step
        firstSecond = max(firstSecond, anchor)
      }
      engine = .elapsed(ElapsedRule(days: days, step: step, anchor: anchor))
    }
  }
}

extension Timetable {
  /// Makes an interval count from `done`, rounded up so that nothing comes early.
  private mutating func follow(_ done: Instant) {
    let second = (done.milliseconds + 999) / 1_000
    switch engine {
    case .window(var rule):
      rule.anchor = second
      engine = .window(rule)
    case .elapsed(var rule):
      // Before the schedule begins there is nothing to move.
      guard second + rule.step > firstSecond else { return }
      rule.anchor = second + rule.step
      firstSecond = max(firstSecond, rule.anchor)
      engine = .elapsed(rule)
    default: break
    }
  }

  /// Returns the daily window of an interval (`every 90m from 8:00 to 22:00`) that contains an instant, edges included,
  /// or else the next one; `nil` if there is none.
  ///
  ///     timetable.window(at: noon)    // 08:00 to 22:00 of that day
  public func window(at instant: Instant) -> ClosedRange<Instant>? {
    guard case .window(let rule) = engine else { return nil }
    let second = instant.seconds
    // Windows of adjacent days may overlap if a gap moves an edge. The one that opened last counts.
    var day = Int64(dividedByDay(second + zone.segment(at: second).offset).day) - 3
    var found: ClosedRange<Instant>?
    var budget = SearchBudget(Self.searchSteps)
    while let start = rule.days.next(onOrAfter: day, &budget), budget.spend() {
      let (opens, closes) = rule.edges(onDay: start, in: zone, gap, fold)
      if opens > lastSecond { break }
      if closes >= second, closes >= opens {
        if opens > second, found != nil { break }
        let first = max(opens, firstSecond)
        let last = min(closes, lastSecond)
        if first <= last { found = Instant(seconds: first)...Instant(seconds: last) }
        if opens > second { break }
      }
      day = start + 1
    }
    return found
  }

  /// Whether it is an interval within a daily window.
  public var hasWindows: Bool { if case .window = engine { true } else { false } }
}

extension DayRule {
  /// - Parameter starting: The day from which steps of days, weeks, months or years are counted.
  fileprivate mutating func set(_ days: Phrase.Days, starting: Int64) {
    let date = CivilDate(unchecked: Int32(truncatingIfNeeded: starting)).fields
    switch days {
    case .weekdays(let weekdays): self.weekdays = weekdays
    case .days(let step):
      kind = .days(step: Int64(step), anchor: starting)
      first = max(first, starting)
    case .weeks(let step, let weekdays):
      kind = .weeks(step: Int64(step), monday: starting - (starting % 7 + 10) % 7, weekdays)
      first = max(first, starting)
    case .dates(let dates): kind = .months(MonthRule(groups: dates.groups, except: except.yearly))
    case .months(let step, let selection):
      kind = .months(
        MonthRule(
          groups: [.init(months: 0xFFF, selection: selection)], period: Int64(step),
          anchor: Int64(date.year * 12 + date.month - 1), except: except.yearly))
      first = max(first, starting)
    case .years(let step, let dates):
      kind = .months(
        MonthRule(
          groups: dates.groups, period: Int64(step) * 12, span: 12, anchor: Int64(date.year * 12),
          except: except.yearly))
      first = max(first, starting)
    }
  }
}
