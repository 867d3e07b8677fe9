public import ChimeSchedule
public import ChimeTracking

/// What the store knows of the tracker that a reminder is linked to, as far as a decision about the reminder's times needs
/// it: a value, so that the decision stays one of values.
///
///     let link = try LinkedTracker.read(for: reminder, from: due.scheduledAt, to: now, in: transaction, context)
///     link?.verdict(on: due.scheduledAt)    // .doneAlready
public struct LinkedTracker: Hashable, Sendable {
  public var link: TrackerLink
  public var tracker: Tracker
  /// The zone that the tracker's days are read in.
  public var zone: Zone
  /// What the days have that were looked at. One without an entry has no total.
  public private(set) var totals: [CivilDate: DayTotal]

  public init(_ link: TrackerLink, _ tracker: Tracker, zone: Zone, totals: [CivilDate: DayTotal] = [:]) {
    self.link = link
    self.tracker = tracker
    self.zone = zone
    self.totals = totals
  }

  /// The furthest back that an absence is looked into, in days.
  static let furthest = 400

  /// Reads what is needed for the times from `first` to `last`: mostly a single day's total.
  ///
  /// - Parameter tracker: when it has been read already.
  /// - Returns: nil for a reminder whose times do not depend on a tracker, and when that is gone or cannot be read.
  public static func read(
    for reminder: Reminder, from first: Instant, to last: Instant, in transaction: any StoreTransaction,
    _ context: ReminderContext, tracker: Tracker? = nil
  ) throws -> LinkedTracker? {
    guard let link = reminder.tracker, link.quietWhenDone || link.pace else { return nil }
    let key = TrackerKey(owner: reminder.owner, id: link.tracker)
    do {
      guard let tracker = try tracker ?? transaction.tracker(key) else { return nil }
      var linked = LinkedTracker(link, tracker, zone: context.zones.local)
      let days = linked.days(from: first, to: last)
      if days.lowerBound == days.upperBound {
        linked.totals[days.lowerBound] = try transaction.dayTotal(of: key, on: days.lowerBound)
      } else {
        for total in try transaction.dayTotals(of: key, in: days) { linked.totals[total.day] = total }
      }
      return linked
    } catch StoreFailure.internalError {
      // A tracker that cannot be read makes its reminders ring, which is the safer of the two.
      return nil
    }
  }

  /// The days that decide about times from `first` to `last`: theirs, and those of the goal's period before.
  private func days(from first: Instant, to last: Instant) -> ClosedRange<CivilDate> {
    let end = tracker.day(at: max(first, last), in: zone).day
    let start = tracker.day(at: min(first, last), in: zone).day
    let begin = [start, period(of: start).lowerBound, rollingStart(start)].min() ?? start
    return max(begin, end.adding(days: -Self.furthest) ?? .earliest)...end
  }

  private func rollingStart(_ day: CivilDate) -> CivilDate {
    switch tracker.counting {
    case .weekdays: day
    case .timesAWeek: Self.week(day)
    case .timesAMonth: Self.month(day)
    case .rolling(_, let days): day.adding(days: 1 - max(1, days)) ?? day
    }
  }

  /// The goal's period that a day lies in, up to that day.
  private func period(of day: CivilDate) -> ClosedRange<CivilDate> {
    switch tracker.goal?.period {
    case .day, nil: day...day
    case .week: Self.week(day)...day
    case .month: Self.month(day)...day
    }
  }

  private static func week(_ day: CivilDate) -> CivilDate {
    let since = (day.weekday.rawValue - Weekday.monday.rawValue + 7) % 7
    return day.adding(days: -since) ?? day
  }

  private static func month(_ day: CivilDate) -> CivilDate { day.adding(days: 1 - day.day) ?? day }

  private func sum(_ days: ClosedRange<CivilDate>) -> (count: Int, total: Quantity, met: Int) {
    var sum = (count: 0, total: Quantity.zero, met: 0)
    for (day, total) in totals where days.contains(day) {
      sum.count += total.count
      sum.total = sum.total + total.total
      if total.isMet { sum.met += 1 }
    }
    return sum
  }

  /// Whether there is nothing more to do on a day: its goal is met, that of its week or month is, or the week, the month or
  /// the days up to it have as many met days as they are to have.
  public func isDone(on day: CivilDate) -> Bool {
    // Of a limit nothing is to be done.
    if tracker.isLimited { return false }
    switch (tracker.goal?.period ?? .day, tracker.goal?.target) {
    case (.week, .count(let count)), (.month, .count(let count)):
      if sum(period(of: day)).count >= count { return true }
    case (.week, .total(let total)), (.month, .total(let total)):
      if sum(period(of: day)).total >= total { return true }
    default:
      if totals[day]?.isMet == true { return true }
    }
    switch tracker.counting {
    case .weekdays: return false
    case .timesAWeek(let times), .timesAMonth(let times), .rolling(let times, _):
      return sum(rollingStart(day)...day).met >= max(1, times)
    }
  }

  /// Takes an entry into account that is not in the store yet.
  mutating func add(_ entry: Entry) {
    totals[entry.day] = ProgressAggregator(tracker).total(totals[entry.day], adding: entry)
  }

  /// Whether it is for that reason that nothing is to be heard at that time.
  func isDone(at time: Instant) -> Bool { verdict(on: time) == .doneAlready }

  /// Why a time is not heard; nil when it is.
  public func verdict(on time: Instant) -> MissReason? {
    guard link.quietWhenDone else { return nil }
    let day = tracker.day(at: time, in: zone).day
    if isDone(on: day) { return .doneAlready }
    if tracker.pauses.contains(where: { $0.contains(day) }) { return .paused }
    // On a weekday that does not count nothing is asked for.
    if let weekdays = tracker.weekdays(on: day), !weekdays.contains(day.weekday) { return .skipped }
    return tracker.skips.contains(day) ? .skipped : nil
  }
}

extension LinkedTracker {
  /// The closest that paced times come.
  public static let closest = Milliseconds.minutes(15)

  /// The next time, for a reminder that is paced or not.
  ///
  /// What is left of the day's goal, in portions of the usual amount (or of what *Done* logs), is spread evenly over what
  /// is left of the window: after a time `t` the next comes (end − t) ÷ portions later, in whole seconds, but no sooner
  /// than after `closest`; when that lies outside the window, or nothing is left, at the beginning of the next one.
  ///
  ///     // 2,500 ml in portions of 250 ml, from 8:00 to 22:00; 1,000 ml are left at 18:00: after 4 h ÷ 4, at 19:00
  public func next(after time: Instant, _ walk: inout TimetableWalk) -> Instant? {
    let timetable = walk.timetable
    guard link.pace, let goal = pacedGoal, let portion, timetable.hasWindows else { return walk.next(after: time) }
    guard let window = timetable.window(at: time) else { return nil }
    if time < window.lowerBound { return window.lowerBound }
    let day = tracker.day(at: time, in: zone).day
    let left = (goal - (totals[day]?.total ?? .zero)).grains
    if left > 0 {
      let portions = (left - 1) / portion.grains + 1
      let rest = window.upperBound.seconds - time.seconds
      let gap = max(Self.closest.rawValue / 1_000, rest / portions)
      let next = Instant(seconds: time.seconds + gap)
      if next <= window.upperBound { return next }
    }
    return timetable.window(at: window.upperBound + .seconds(1)).map {
      max($0.lowerBound, window.upperBound + .seconds(1))
    }
  }

  private var pacedGoal: Quantity? {
    guard tracker.kind == .amount, let goal = tracker.goal, goal.period == .day, !goal.isAtMost,
      case .total(let total) = goal.target
    else { return nil }
    return total
  }

  private var portion: Quantity? {
    (link.amount ?? tracker.usual).flatMap { $0 > .zero ? $0 : nil }
  }
}

extension Reminder {
  /// Its next time after `time`, with what the store knows of its tracker.
  public func next(after time: Instant, in transaction: any StoreTransaction, _ context: ReminderContext) throws
    -> Instant?
  {
    var following = try following(time, in: transaction, context)
    return following.next(after: time)
  }

  /// Its next time after `time` that has not fired: what has is not due again, however often its time comes.
  public func nextUnfired(after time: Instant, in transaction: any StoreTransaction, _ context: ReminderContext) throws
    -> Instant?
  {
    var following = try following(time, in: transaction, context)
    var next = following.next(after: time)
    while let time = next,
      let known = try transaction.occurrence(OccurrenceID(reminder: id, scheduledAt: time)), known.wasHeard
    {
      next = following.next(after: time)
    }
    return next
  }

  /// Its times one after the other, by its schedule or by what its tracker asks for.
  private struct Following {
    var walk: TimetableWalk
    var link: LinkedTracker?

    mutating func next(after time: Instant) -> Instant? {
      if let link { link.next(after: time, &walk) } else { walk.next(after: time) }
    }
  }

  private func following(
    _ time: Instant, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws -> Following {
    var following = Following(walk: context.timetable(of: self).walk())
    guard tracker?.pace == true else { return following }
    following.link = try LinkedTracker.read(for: self, from: time, to: time, in: transaction, context)
    return following
  }
}
