public import ChimeSchedule

// A limit is a goal of at most an amount. Other goals are judged by a day's entries at once; a limit is judged when the
// day is over, and is met without entries.

/// A LimitState says how near a day is to its limit.
public enum LimitState: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
  case under
  /// At 80 % of the limit, or where one more usual entry would exceed it.
  case near
  /// Above the limit. A day exactly at the limit has not exceeded it.
  case exceeded

  /// The percentage from which a day is near its limit.
  static let nearFrom = 80

  public static func < (left: LimitState, right: LimitState) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// - Parameter portion: what one more entry probably adds.
  init(_ reached: Quantity, of limit: Quantity, portion: Quantity?) {
    if reached > limit {
      self = .exceeded
    } else if reached > .zero,
      GoalProgress.percent(reached, of: limit) >= Self.nearFrom || portion.map({ reached + $0 > limit }) ?? false
    {
      self = .near
    } else {
      self = .under
    }
  }
}

extension Goal {
  /// The quantity of a count or a total; nil for a value.
  var amount: Quantity? {
    switch target {
    case .count(let count): .ones(count)
    case .total(let total): total
    case .value: nil
    }
  }
}

extension TrackerSummary {
  /// An OpenDay is the newest day of a limit with an entry, which is not judged yet.
  struct OpenDay: Hashable, Sendable, Codable {
    var day: Int
    var isMet: Bool
  }
}

extension ProgressAggregator {
  /// Returns whether a day is met; the day of a limit must be over and count.
  func isMet(_ total: DayTotal?, on day: CivilDate, today: CivilDate) -> Bool {
    guard tracker.isLimited else { return total?.isMet ?? false }
    return day < today && calendar.contains(day.number) && tracker.wasMet(total)
  }

  /// Returns how many days of a range have a number.
  ///
  /// - Parameter totals: those of the range; others are ignored.
  func numbered(in days: ClosedRange<CivilDate>, _ totals: some Sequence<DayTotal>, today: CivilDate) -> Int {
    guard tracker.isLimited else { return totals.count { days.contains($0.day) && isNumbered($0) } }
    let last = min(days.upperBound.number, today.number - 1)
    guard days.lowerBound.number <= last else { return 0 }
    let over = totals.count {
      days.contains($0.day) && $0.day.number <= last && calendar.contains($0.day.number) && !tracker.wasMet($0)
    }
    return calendar.count(days.lowerBound.number, last) - over
  }

  /// Returns the summary with all days before `day` judged. Without a limit, days are judged at once, and nothing changes.
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

  /// Returns a limit's form on a day, with all earlier days judged. If that day has exceeded the limit, it ends the
  /// run; otherwise an unfinished day changes nothing.
  func form(ofLimit summary: TrackerSummary, on day: CivilDate) -> Form {
    let today = day.number
    var form = Form(
      streak: current(summary.run, on: today, of: .everyDay),
      weekdayStreak: current(summary.weekdayRun, on: today, of: .weekdays),
      weekendStreak: current(summary.weekendRun, on: today, of: .weekends), longest: summary.longest,
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
