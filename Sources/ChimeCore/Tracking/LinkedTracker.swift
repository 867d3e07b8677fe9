public import ChimeSchedule
public import ChimeTracking

/// A LinkedTracker holds the data of a reminder's tracker that a decision about the reminder's times needs.
///
/// It is a value, so that the decision stays pure.
///
///     let link = try LinkedTracker.read(for: reminder, from: due.scheduledAt, to: now, in: transaction, context)
///     link?.verdict(on: due.scheduledAt)    // .doneAlready
public struct LinkedTracker: Hashable, Sendable {
  public var link: TrackerLink
  public var tracker: Tracker
  /// The zone in which the tracker's days are read.
  public var zone: Zone
  /// The totals of the days that were read; days without entries have none.
  public private(set) var totals: [CivilDate: DayTotal]

  public init(_ link: TrackerLink, _ tracker: Tracker, zone: Zone, totals: [CivilDate: DayTotal] = [:]) {
    self.link = link
    self.tracker = tracker
    self.zone = zone
    self.totals = totals
  }

  /// The most days that are read back after a downtime.
  static let furthest = 400

  /// Reads the data for times from `first` to `last`, mostly a single day's total.
  ///
  /// - Parameter tracker: the tracker, if it has been read already.
  /// - Returns: nil if the reminder's times depend on no tracker, or if the tracker was removed or is unreadable.
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
      // Without a readable tracker the reminder fires, which is the safer choice.
      return nil
    }
  }

  /// Returns the days that decide about times from `first` to `last`: theirs, and earlier days of the goal's period.
  private func days(from first: Instant, to last: Instant) -> ClosedRange<CivilDate> {
    let (one, other) = (tracker.day(at: first, in: zone).day, tracker.day(at: last, in: zone).day)
    // A later time may belong to an earlier day: in the hour that comes twice, if a day begins within it.
    let (start, end) = (min(one, other), max(one, other))
    let begin = [start, period(of: start).lowerBound, rollingStart(start)].min() ?? start
    // After the clock went back, an open time may be years ahead of `last`, whose day decides too.
    return max(begin, other.adding(days: -Self.furthest) ?? .earliest)...end
  }

  private func rollingStart(_ day: CivilDate) -> CivilDate {
    switch tracker.counting {
    case .weekdays: day
    case .timesAWeek: Self.week(day)
    case .timesAMonth: Self.month(day)
    case .rolling(_, let days): day.adding(days: 1 - max(1, days)) ?? day
    }
  }

  /// Returns the goal's period that contains a day, up to that day.
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

  /// Returns whether a day needs nothing more: the goal of the day, its week or its month is met, or enough days of the
  /// week, month or rolling span up to it are met.
  public func isDone(on day: CivilDate) -> Bool {
    // A limit asks for nothing to be done.
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

  /// Adds an entry that is not in the store yet.
  mutating func add(_ entry: Entry) {
    totals[entry.day] = ProgressAggregator(tracker).total(totals[entry.day], adding: entry)
  }

  /// Returns whether a time is silent because everything is done.
  func isDone(at time: Instant) -> Bool { verdict(on: time) == .doneAlready }

  /// Returns why a time does not fire; nil if it does.
  public func verdict(on time: Instant) -> MissReason? {
    guard link.quietWhenDone else { return nil }
    let day = tracker.day(at: time, in: zone).day
    if isDone(on: day) { return .doneAlready }
    if tracker.pauses.contains(where: { $0.contains(day) }) { return .paused }
    // A weekday that does not count asks for nothing.
    if let weekdays = tracker.weekdays(on: day), !weekdays.contains(day.weekday) { return .skipped }
    return tracker.skips.contains(day) ? .skipped : nil
  }
}

extension LinkedTracker {
  /// The shortest gap between paced times.
  public static let closest = Milliseconds.minutes(15)

  /// Returns the next time of a reminder, paced or not.
  ///
  /// Pacing spreads the rest of the day's goal, in portions of the usual amount (or of what *Done* logs), evenly over the
  /// rest of the window. After a time `t` the next one comes (end − t) ÷ portions later, in whole seconds, but not before
  /// `closest` has passed. If that lies outside the window, or nothing is left, it comes when the next window begins.
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
  /// Returns its next time after `time`, by its schedule and its tracker's data.
  public func next(after time: Instant, in transaction: any StoreTransaction, _ context: ReminderContext) throws
    -> Instant?
  {
    var following = try following(time, in: transaction, context)
    return following.next(after: time)
  }

  /// Returns its next time after `time` that has not fired; a time that fired is not due again.
  public func nextUnfired(after time: Instant, in transaction: any StoreTransaction, _ context: ReminderContext) throws
    -> Instant?
  {
    var following = try following(time, in: transaction, context)
    var next = following.next(after: time)
    while let time = next,
      let known = try transaction.occurrence(OccurrenceID(reminder: id, scheduledAt: time)), known.wasDelivered
    {
      next = following.next(after: time)
    }
    return next
  }

  /// A Following walks through a reminder's times, by its schedule or paced by its tracker.
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
