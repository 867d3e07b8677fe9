public import ChimeSchedule

// A limit is a goal of at most so much. All days but its own are judged by their entries; a day of a limit is judged when it is
// over, and is met without any.

/// How near to its limit a day has come.
public enum LimitState: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
  case under
  /// At four fifths of it, or where one more entry of the usual amount would pass it.
  case near
  /// Beyond it. What comes to the limit itself has not passed it.
  case passed

  /// In percent.
  static let nearFrom = 80

  public static func < (left: LimitState, right: LimitState) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// - Parameter portion: what one more entry is likely to add.
  init(_ reached: Quantity, of limit: Quantity, portion: Quantity?) {
    if reached > limit {
      self = .passed
    } else if reached > .zero,
      GoalProgress.percent(reached, of: limit) >= Self.nearFrom || portion.map({ reached + $0 > limit }) ?? false
    {
      self = .near
    } else {
      self = .under
    }
  }
}

extension Tracker {
  /// Whether its goal is a limit.
  public var isLimited: Bool { goal?.isAtMost ?? false }

  /// How near to its limit a day is; nil without a limit. A day keeps the limit that it had.
  public func limitState(of total: DayTotal?) -> LimitState? {
    guard let goal else { return nil }
    let then = total?.goal.flatMap { $0.isAtMost ? $0 : nil } ?? goal
    guard isLimited, let limit = then.amount else { return nil }
    let reached: Quantity = kind == .check ? .ones(total?.count ?? 0) : total?.total ?? .zero
    return LimitState(reached, of: limit, portion: kind == .check ? .one : usual)
  }

  /// Whether a day was met, once it is over: of a limit also without an entry.
  public func wasMet(_ total: DayTotal?) -> Bool {
    limitState(of: total).map { $0 != .passed } ?? total?.isMet ?? false
  }
}

extension Goal {
  /// What a count or a total comes to; nil for a value.
  var amount: Quantity? {
    switch target {
    case .count(let count): .ones(count)
    case .total(let total): total
    case .value: nil
    }
  }
}

extension TrackerSummary {
  /// The newest day of a limit that has an entry, which is not judged yet.
  struct OpenDay: Hashable, Sendable, Codable {
    var day: Int
    var isMet: Bool
  }
}

extension ProgressAggregator {
  /// Whether a day is met: of a limit when it is over and counts.
  func isMet(_ total: DayTotal?, on day: CivilDate, today: CivilDate) -> Bool {
    guard tracker.isLimited else { return total?.isMet ?? false }
    return day < today && calendar.contains(day.number) && tracker.wasMet(total)
  }

  /// How many days of a range have a number.
  ///
  /// - Parameter totals: those of the range; others do no harm.
  func numbered(in days: ClosedRange<CivilDate>, _ totals: some Sequence<DayTotal>, today: CivilDate) -> Int {
    guard tracker.isLimited else { return totals.count { days.contains($0.day) && isNumbered($0) } }
    let last = min(days.upperBound.number, today.number - 1)
    guard days.lowerBound.number <= last else { return 0 }
    let over = totals.count {
      days.contains($0.day) && $0.day.number <= last && calendar.contains($0.day.number) && !tracker.wasMet($0)
    }
    return calendar.count(days.lowerBound.number, last) - over
  }

  /// The summary with all days before one judged. Of what is no limit days are judged as they are entered, and nothing changes.
  public func closed(_ summary: TrackerSummary, before day: CivilDate) -> TrackerSummary {
    guard tracker.isLimited else { return summary }
    var closed = summary.lastDay == nil ? blank : summary
    close(&closed, before: day.number)
    return closed
  }

  func close(_ summary: inout TrackerSummary, before end: Int) {
    var day = max(summary.carry.closed.map { $0 + 1 } ?? calendar.start, calendar.start)
    guard day < end else { return }
    while day < end {
      if calendar.contains(day) {
        let isMet = summary.carry.open.map { $0.day != day || $0.isMet } ?? true
        if isMet {
          summary.metDays += 1
          summary.numberedDays += 1
          addMetDay(CivilDate(nearest: day), to: &summary)
        }
        summary.strength = rule(on: day).step(summary.strength, worth: isMet ? 1 : 0)
        summary.strengthDay = CivilDate(nearest: day)
      }
      day += 1
    }
    summary.carry.closed = end - 1
    if let open = summary.carry.open, open.day < end { summary.carry.open = nil }
  }

  /// How a limit goes on a day that all before are judged of. One that has been passed already ends the run; one that is not
  /// over changes nothing else.
  func form(ofLimit summary: TrackerSummary, on day: CivilDate) -> Form {
    let today = day.number
    var form = Form(
      streak: standing(summary.run, on: today, of: .everyDay),
      weekdayStreak: standing(summary.weekdayRun, on: today, of: .weekdays),
      weekendStreak: standing(summary.weekendRun, on: today, of: .weekends), longest: summary.longest,
      strength: summary.strength)
    guard let open = summary.carry.open, open.day == today, !open.isMet, calendar.contains(today) else { return form }
    form.streak = Streak()
    if WeekdaySet.weekends.contains(day.weekday) {
      form.weekendStreak = Streak()
    } else {
      form.weekdayStreak = Streak()
    }
    form.strength = rule(on: today).step(summary.strength, worth: 0)
    return form
  }
}
