import ChimeSchedule

/// A ProgressAggregator adds up entries to days, and days to a summary.
///
/// A day's total and the tracker's summary are stored, so that one more entry costs the same for ten entries or a
/// million. Only a change of the past needs more reading: the day's entries, and the totals of all days.
///
///     let aggregator = ProgressAggregator(tracker)
///     let old = try store.dayTotal(of: key, on: entry.day)
///     let new = aggregator.total(old, adding: entry)
///     var summary = try store.summary(of: key) ?? TrackerSummary()
///     if !aggregator.add(new, replacing: old, to: &summary) {
///       summary = aggregator.summary(of: try store.dayTotals(of: key, in: .earliest ... .latest))
///     }
///
/// After an edit or a removal, the day's total is `total(of: entriesOfTheDay)`. A removal, an edit that moves an entry to
/// another day, a changed definition and an undo always need `summary(of:)`; an edit within a day needs it if `add` fails.
public struct ProgressAggregator: Sendable {
  public let tracker: Tracker
  let calendar: CountedCalendar
  /// The rules, one per era of the calendar.
  private let rules: [StrengthRule]
  /// The longest window of these rules. A day outside the window of its own era may lie in that of the next.
  private let longestWindow: Int

  public init(_ tracker: Tracker) {
    self.tracker = tracker
    calendar = CountedCalendar(tracker)
    rules = calendar.eras.map { StrengthRule(tracker, $0.weekdays) }
    longestWindow = rules.map(\.window).max() ?? 1
  }

  /// Returns the rule that applies on a day.
  func rule(on day: Int) -> StrengthRule { rules[calendar.era(of: day)] }

  // Days.

  /// Returns a day's total with one more entry, which must be of that day and logged after all others in the total.
  public func total(_ known: DayTotal?, adding entry: Entry) -> DayTotal {
    let quantity = tracker.kind == .check ? nil : entry.quantity
    var total =
      known
      ?? DayTotal(
        day: entry.day, count: 0, total: .zero, firstAt: entry.at, lastAt: entry.at, firstMinute: entry.minute,
        lastMinute: entry.minute, isMet: false)
    if known == nil || entry.at >= total.lastAt { total.last = quantity ?? total.last }
    total.count += 1
    if let quantity {
      if tracker.kind == .amount { total.total = total.total + quantity }
      total.least = min(total.least ?? quantity, quantity)
      total.most = max(total.most ?? quantity, quantity)
    }
    total.firstAt = min(total.firstAt, entry.at)
    total.lastAt = max(total.lastAt, entry.at)
    let minute = tracker.minuteOfDay(entry.minute)
    if minute < tracker.minuteOfDay(total.firstMinute) { total.firstMinute = entry.minute }
    if minute > tracker.minuteOfDay(total.lastMinute) { total.lastMinute = entry.minute }
    return evaluated(total)
  }

  /// Returns a day's total with the verdict of the tracker's current goal.
  public func evaluated(_ total: DayTotal) -> DayTotal {
    var total = total
    total.goal = tracker.goal
    total.isMet = isMet(total)
    return total
  }

  /// Returns the total of a day's entries, in any order; nil if there are none.
  public func total(of entries: some Sequence<Entry>) -> DayTotal? {
    entries.sorted { ($0.at, $0.id) < ($1.at, $1.id) }.reduce(nil) { total($0, adding: $1) }
  }

  /// Returns whether the entries of a day meet its goal. Without a goal per day, one entry is enough.
  private func isMet(_ total: DayTotal) -> Bool {
    switch total.goal?.ofDay {
    case _ where total.goal?.isAtMost == true: tracker.wasMet(total)
    case .count(let wanted): total.count >= wanted
    case .total(let wanted): total.total >= wanted
    case .value, nil: total.count > 0
    }
  }

  /// Returns whether a day has a number, as in "8 of 10": it counts and is met. A day off can be met, but has no number.
  public func isNumbered(_ total: DayTotal) -> Bool { total.isMet && counts(total.day) }

  func counts(_ day: CivilDate) -> Bool { calendar.contains(day.number) }

  // The summary.

  /// Updates a summary with the total of its newest day or a later one, reading nothing else, at constant cost.
  ///
  /// - Parameter old: the day's total at the last update; nil if it had no entry.
  /// - Returns: whether that was possible. If not, the summary is unchanged and must be recomputed by `summary(of:)`,
  ///   because the day lies in the past, or has less of something than before.
  public func add(_ new: DayTotal, replacing old: DayTotal?, to summary: inout TrackerSummary) -> Bool {
    guard canAdd(new, replacing: old, to: summary) else { return false }
    if summary.lastDay == nil { summary = blank }
    if tracker.isLimited {
      close(&summary, before: new.day.number)
      summary.carry.open = .init(day: new.day.number, isMet: tracker.wasMet(new))
      addRecords(new, old, to: &summary)
      return true
    }
    addRecords(new, old, to: &summary)
    let becameMet = new.isMet && !(old?.isMet ?? false)
    let counts = calendar.contains(new.day.number)
    if becameMet {
      summary.metDays += 1
      if counts {
        summary.numberedDays += 1
        addMetDay(new.day, to: &summary)
      }
    }
    addToPeriod(new, old, becameMet: becameMet, to: &summary)
    if counts { addStrength(new, becameMet: becameMet, to: &summary) }
    return true
  }

  /// Returns the summary of all days that have entries, in order.
  public func summary(of totals: some Sequence<DayTotal>) -> TrackerSummary {
    var summary = blank
    for total in totals { _ = add(total, replacing: nil, to: &summary) }
    return summary
  }

  var blank: TrackerSummary {
    var summary = TrackerSummary()
    summary.run.unit = tracker.streakUnit
    summary.longest.unit = tracker.streakUnit
    return summary
  }

  private func canAdd(_ new: DayTotal, replacing old: DayTotal?, to summary: TrackerSummary) -> Bool {
    guard let last = summary.lastDay else { return old == nil }
    if new.day > last { return old == nil }
    guard new.day == last, let old, old.day == last else { return false }
    func grows<Value: Comparable>(_ was: Value?, _ now: Value?) -> Bool {
      guard let was else { return true }
      return now.map { $0 >= was } ?? false
    }
    return new.count >= old.count && new.total >= old.total && grows(old.most, new.most) && grows(new.least, old.least)
      && new.lastAt >= old.lastAt && new.goal == old.goal && (new.isMet || !old.isMet || tracker.isLimited)
  }

  private func addRecords(_ new: DayTotal, _ old: DayTotal?, to summary: inout TrackerSummary) {
    summary.entries += new.count - (old?.count ?? 0)
    if old == nil { summary.activeDays += 1 }
    summary.firstDay = summary.firstDay ?? new.day
    summary.lastDay = new.day
    summary.lastAt = max(summary.lastAt ?? new.lastAt, new.lastAt)
    summary.mostEntriesInADay = max(summary.mostEntriesInADay, new.count)
    summary.bestShare = max(summary.bestShare, share(of: new))
    switch tracker.kind {
    case .check: break
    case .amount:
      summary.total = summary.total + (new.total - (old?.total ?? .zero))
      summary.mostInADay = max(summary.mostInADay, new.total)
    case .measure:
      if summary.firstDay == new.day { summary.firstValue = new.last }
      summary.lastValue = new.last ?? summary.lastValue
      if let least = new.least { summary.least = min(summary.least ?? least, least) }
      if let most = new.most { summary.most = max(summary.most ?? most, most) }
    }
  }

  /// Returns the part of its goal that a day has reached, in thousandths, rounded down; 0 without a goal per day.
  private func share(of total: DayTotal) -> Int {
    let (has, wants): (Int64, Int64)
    // Reaching much of a limit is no merit.
    if total.goal?.isAtMost == true { return 0 }
    switch total.goal?.ofDay {
    case .count(let count): (has, wants) = (Int64(total.count), Int64(count))
    case .total(let wanted): (has, wants) = (total.total.grains, wanted.grains)
    case .value, nil: return 0
    }
    guard wants > 0, has > 0 else { return 0 }
    let product = has.multipliedFullWidth(by: 1000)
    guard product.high < wants else { return .max }
    return Int(wants.dividingFullWidth(product).quotient)
  }

  // Strength.

  private func addStrength(_ new: DayTotal, becameMet: Bool, to summary: inout TrackerSummary) {
    let day = new.day.number
    let rule = self.rule(on: day)
    if summary.strengthDay != new.day {
      summary.carry.settled = strength(of: summary, beforeDay: day)
      summary.strengthDay = new.day
    }
    guard rule.target != nil else {
      summary.strength = rule.step(summary.carry.settled, worth: StrengthRule.worth(of: new))
      return
    }
    let position = calendar.position(day)
    let amount = rule.contribution(of: new, tracker)
    var recent = summary.carry.recent
    if recent.last?.day == day { recent.removeLast() }
    recent.removeAll { calendar.position($0.day) <= position - longestWindow }
    if amount != 0 { recent.append(TrackerSummary.Contribution(day: day, amount: amount)) }
    if let enough = rule.enough, recent.count > enough { recent.removeFirst(recent.count - enough) }
    summary.carry.recent = recent
    let worth = rule.worth(
      of: recent.lazy.filter { calendar.position($0.day) > position - rule.window }.map(\.amount))
    summary.strength = rule.step(summary.carry.settled, worth: worth)
  }

  /// Returns the strength at the end of the day before one that lies after `strengthDay`.
  func strength(of summary: TrackerSummary, beforeDay day: Int) -> Double {
    guard let from = summary.strengthDay else { return 0 }
    let recent = summary.carry.recent.map { (position: calendar.position($0.day), amount: $0.amount) }
    var strength = summary.strength
    var position = calendar.position(from.number)
    for (era, rule) in zip(calendar.eras, rules) where era.last >= from.number {
      let last = calendar.position(min(era.last, day - 1))
      strength = rule.decay(strength, after: position, through: last, recent: recent)
      guard era.last < day - 1 else { break }
      position = last
    }
    return strength
  }
}
