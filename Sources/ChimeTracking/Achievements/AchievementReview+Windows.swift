import ChimeSchedule

// Criteria that cover several days at once.
extension CriterionEvaluator {
  /// Returns the target or more if a window that the change affects reaches it; else the value of the window that ends today.
  mutating func inWindows(_ criterion: Criterion, _ tracker: Tracker, _ summary: TrackerSummary) throws -> Int {
    let length = max(criterion.within ?? 1, 1)
    guard let first = summary.firstDay else { return 0 }
    let today = review.today(of: tracker)
    guard first <= today else { return 0 }
    // The days on which an affected window may end.
    var ends = today...today
    switch occasion {
    case .entry(let change):
      let days = change.days.compactMap(\.date).filter { $0 <= today }
      if let least = days.min(), let most = days.max() {
        ends = least...min(most.adding(days: length - 1) ?? today, today)
      }
    case .anew, .item: ends = first...today
    // Days may have passed without an evaluation.
    case .day: ends = max(first, min(today.adding(days: -length) ?? first, summary.lastDay ?? today))...today
    }
    let found = try windows(criterion, tracker, length, ends: ends, first: first)
    return found >= criterion.target || ends.upperBound == today
      ? found : try windows(criterion, tracker, length, ends: today...today, first: first)
  }

  private mutating func windows(
    _ criterion: Criterion, _ tracker: Tracker, _ length: Int, ends: ClosedRange<CivilDate>, first: CivilDate
  ) throws -> Int {
    let from = max(ends.lowerBound.adding(days: 1 - length) ?? first, first)
    let worn = Array(try itemDays(of: tracker, in: min(from, ends.lowerBound)...ends.upperBound))
    var attributes: [ItemID: String]?
    if criterion.kind == .distinctValues {
      attributes = [:]
      for item in try items(of: tracker) { attributes?[item.id] = criterion.value(of: item) }
    }
    var window = Window(attributes: attributes)
    var (added, dropped, last) = (0, 0, 0)
    for number in ends.lowerBound.dayNumber...ends.upperBound.dayNumber {
      while added < worn.count, worn[added].day.dayNumber <= number {
        window.add(worn[added], 1)
        added += 1
      }
      while dropped < added, Int(worn[dropped].day.dayNumber) <= Int(number) - length {
        window.add(worn[dropped], -1)
        dropped += 1
      }
      if criterion.kind == .evenRotation {
        let isFull = Int(first.dayNumber) <= Int(number) - length + 1
        last = isFull && window.items >= criterion.minimum ?? 1 ? window.evenness : 0
      } else {
        last = window.distinct
      }
      if last >= criterion.target { return last }
    }
    return last
  }

  /// A Window counts what occurs in consecutive days.
  private struct Window {
    let attributes: [ItemID: String]?
    private var counts: [ItemID: Int] = [:]
    private var values: [String: Int] = [:]

    init(attributes: [ItemID: String]?) { self.attributes = attributes }

    var items: Int { counts.count }
    var distinct: Int { attributes == nil ? counts.count : values.count }
    var evenness: Int { Rotation.evenness(of: counts.values) ?? 0 }

    mutating func add(_ day: ItemDay, _ sign: Int) {
      guard day.count > 0 else { return }
      Self.add(day.count * sign, to: &counts, day.item)
      if let value = attributes?[day.item] { Self.add(day.count * sign, to: &values, value) }
    }

    private static func add<Key>(_ count: Int, to counts: inout [Key: Int], _ key: Key) {
      let sum = (counts[key] ?? 0) + count
      counts[key] = sum == 0 ? nil : sum
    }
  }

  /// Returns by how much one entry's change alters the number of anniversaries on which an item was used.
  mutating func anniversaries(_ change: EntryChange, _ tracker: Tracker) throws -> Int {
    var sum = 0
    let (removed, added) = (change.removed, change.added)
    if removed?.item == added?.item, removed?.day == added?.day { return 0 }
    for (entry, sign) in [(removed, -1), (added, 1)] {
      guard let entry, let id = entry.item, let item = try items(of: tracker).first(where: { $0.id == id }),
        item.hasAnniversary(on: entry.day)
      else { continue }
      let count = try facts.itemDays(of: tracker.id, in: entry.day...entry.day).first { $0.item == id }?.count ?? 0
      // Only the day's first entry of the item, or its last, changes the number.
      if count == (sign > 0 ? 1 : 0) { sum += sign }
    }
    return sum
  }

  /// Returns on how many of its anniversaries an item was used.
  mutating func anniversaries(of item: Item?, _ tracker: Tracker) throws -> Int {
    guard let item, let since = item.since, let last = try summary(of: tracker).lastDay, last > since else { return 0 }
    let start = since.fields
    var count = 0
    for year in start.year + 1...max(last.year, start.year + 1) {
      guard let day = CivilDate(year: year, month: start.month, day: start.day), day <= last else { continue }
      if try facts.itemDays(of: tracker.id, in: day...day).contains(where: { $0.item == item.id && $0.count > 0 }) {
        count += 1
      }
    }
    return count
  }

  // Perfect weeks.

  mutating func perfectWeeks(_ criterion: Criterion, from kept: Int) throws -> Int {
    let trackers = scope(criterion)
    switch occasion {
    case .item, .day: return kept
    case .entry(let change):
      guard let changed = trackers.first(where: { $0.id == change.tracker }) else { return kept }
      var sum = kept
      var known: [CivilDate: Bool?] = [:]
      // If an edit changes two days, the second keeps its former state while the first is evaluated.
      for day in change.days {
        if let date = day.date { known[date] = .some(try isPerfect(date, trackers, changed, total: .some(day.before))) }
      }
      for day in change.days {
        guard let date = day.date, let after = try isPerfect(date, trackers, changed, total: .some(day.after)),
          let before = known[date] ?? nil
        else { continue }
        if before != after {
          let earlier = try run(from: date, by: -1, atMost: criterion.target * 7, trackers, known)
          let later = try run(from: date, by: 1, atMost: criterion.target * 7, trackers, known)
          let gained = (earlier + 1 + later) / 7 - earlier / 7 - later / 7
          sum += after ? gained : -gained
        }
        known[date] = after
      }
      return sum
    case .anew:
      var firsts: [CivilDate] = []
      var lasts: [CivilDate] = []
      var met: [TrackerID: Set<CivilDate>] = [:]
      // Days with entries, for limits, which are met on days without any.
      var entered: [TrackerID: Set<CivilDate>] = [:]
      for tracker in trackers {
        let totals = try totals(of: tracker)
        if let first = totals.first, let last = totals.last {
          firsts.append(first.day)
          lasts.append(last.day)
        }
        met[tracker.id] = Set(totals.filter(tracker.wasMet).map(\.day))
        if tracker.isLimited { entered[tracker.id] = Set(totals.map(\.day)) }
      }
      guard let first = firsts.min(), let last = lasts.max() else { return 0 }
      var (weeks, run, passed) = (0, 0, 0)
      for number in first.dayNumber...last.dayNumber {
        guard let day = CivilDate(dayNumber: Int(number)) else { continue }
        let due = trackers.filter { $0.isDue(on: day) }
        if due.isEmpty {
          passed += 1
          if passed == Self.longestRest { run = 0 }
          continue
        }
        passed = 0
        let isPerfect = due.allSatisfy { tracker in
          met[tracker.id]?.contains(day) ?? false || entered[tracker.id].map { !$0.contains(day) } ?? false
        }
        run = isPerfect ? run + 1 : 0
        if run > 0, run % 7 == 0 { weeks += 1 }
      }
      return weeks
    }
  }

  /// Returns whether everything due was met; nil if nothing was due.
  private mutating func isPerfect(
    _ day: CivilDate, _ trackers: [Tracker], _ changed: Tracker? = nil, total: DayTotal?? = nil
  ) throws -> Bool? {
    var isAnyDue = false
    for tracker in trackers where tracker.isDue(on: day) {
      isAnyDue = true
      let known = tracker.id == changed?.id ? total : nil
      let total = try known ?? dayTotal(of: tracker, on: day)
      if !tracker.wasMet(total) { return false }
    }
    return isAnyDue ? true : nil
  }

  /// The number of consecutive days with nothing due that ends a run.
  private static var longestRest: Int { 100 }

  /// Returns how many perfect days follow in one direction, ignoring days with nothing due.
  private mutating func run(
    from day: CivilDate, by step: Int, atMost limit: Int, _ trackers: [Tracker], _ known: [CivilDate: Bool?]
  ) throws -> Int {
    var (count, passed) = (0, 0)
    var next = day.adding(days: step)
    while let day = next, count < limit, passed < Self.longestRest {
      switch try known[day] ?? isPerfect(day, trackers) {
      case true?:
        count += 1
        passed = 0
      case false?: return count
      case nil: passed += 1
      }
      next = day.adding(days: step)
    }
    return count
  }

  func dayTotal(of tracker: Tracker, on day: CivilDate) throws -> DayTotal? {
    try facts.dayTotal(of: tracker.id, on: day)
  }
}

extension EntryChange.DayChange {
  var date: CivilDate? { after?.day ?? before?.day }
}

extension Item {
  /// Returns whether a day is an anniversary of the day on which the item was acquired.
  func hasAnniversary(on day: CivilDate) -> Bool {
    guard let since else { return false }
    let (start, day) = (since.fields, day.fields)
    return start.month == day.month && start.day == day.day && day.year > start.year
  }
}
