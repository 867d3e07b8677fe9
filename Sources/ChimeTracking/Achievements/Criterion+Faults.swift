/// A CriterionFault is an error in a criterion: the key, named like the property, and a sentence without a full stop.
public struct CriterionFault: Hashable, Sendable, CustomStringConvertible {
  public enum Key: String, Hashable, Sendable, CaseIterable {
    case kind, tracker, target, amount, days, minute, attribute, value, within, minimum, month, day, weekdays
  }

  public var key: Key
  public var message: String

  public init(_ key: Key, _ message: String) {
    self.key = key
    self.message = message
  }

  public var description: String { "\(key.rawValue): \(message)" }
}

extension Criterion {
  public typealias Key = CriterionFault.Key

  /// Returns the keys that a kind requires and those it allows; `kind` and `tracker` (except for `level`) are always allowed.
  public static func keys(of kind: Kind) -> (needed: Set<Key>, allowed: Set<Key>) {
    switch kind {
    case .entries, .entriesInDay, .itemsInDay, .daysMet, .entriesForItem, .anniversary, .level, .daysSinceStart,
      .streakOfAny, .weekends:
      ([.target], [])
    case .shareOfGoal: ([.target], [])
    case .amountInEntry, .crossed: ([.amount], [])
    case .goalMet, .goalValue, .firstItem, .firstEntry: ([], [])
    case .perfectWeek, .itemAnniversary: ([], [.target])
    case .streak: ([.target], [.days])
    case .entryBefore, .entryAfter: ([.minute], [.target])
    case .itemsOwned: ([.target], [.attribute, .value])
    case .distinctValues: ([.target, .attribute], [.within])
    case .distinctItems: ([.target, .within], [])
    case .evenRotation: ([.target, .within, .minimum], [])
    case .entryOnDate: ([.month, .day], [.target])
    case .entryOnWeekday: ([.weekdays], [.target, .day])
    }
  }

  /// Returns the errors in the order of the keys; empty if the criterion is valid.
  ///
  ///     Criterion(.distinctItems, target: 5).faults(among: trackers)    // within: distinctItems needs it
  ///
  /// - Parameters:
  ///   - trackers: the pack's trackers.
  ///   - hasLevels: whether the pack has a level curve.
  ///   - hasTarget: whether `target` was given explicitly, if known.
  public func faults(among trackers: [Tracker], hasLevels: Bool = true, hasTarget: Bool = true) -> [CriterionFault] {
    var faults: [Key: String] = [:]
    func fault(_ key: Key, _ message: String) { if faults[key] == nil { faults[key] = message } }

    let keys = Self.keys(of: kind)
    for key in Key.allCases where key != .kind && key != .tracker {
      let isGiven = key == .target ? hasTarget : has(key)
      if !isGiven, keys.needed.contains(key) { fault(key, "\(kind.rawValue) needs it") }
      let isMore = key == .target ? target != 1 : isGiven
      if isMore, !keys.needed.contains(key), !keys.allowed.contains(key) {
        fault(key, "\(kind.rawValue) does not use it")
      }
    }
    checkRanges(fault)
    checkTrackers(trackers, fault)
    if kind == .level, !hasLevels { fault(.kind, "level needs a pack with [levels]") }
    return Key.allCases.compactMap { key in faults[key].map { CriterionFault(key, $0) } }
  }

  private func has(_ key: Key) -> Bool {
    switch key {
    case .kind, .target: true
    case .tracker: tracker != nil
    case .amount: amount != nil
    case .days: days != .all
    case .minute: minute != nil
    case .attribute: attribute != nil
    case .value: value != nil
    case .within: within != nil
    case .minimum: minimum != nil
    case .month: month != nil
    case .day: day != nil
    case .weekdays: weekdays != nil
    }
  }

  private func checkRanges(_ fault: (Key, String) -> Void) {
    func check(_ key: Key, _ number: Int?, _ range: ClosedRange<Int>, _ what: String = "a whole number") {
      guard let number, !range.contains(number) else { return }
      fault(key, "expected \(what) from \(range.lowerBound) to \(range.upperBound), not \(number)")
    }
    switch kind {
    case .shareOfGoal: check(.target, target, 1...1_000, "a percentage")
    case .evenRotation: check(.target, target, 1...100, "a percentage")
    case .level: check(.target, target, 2...LevelCurve.highestLevel, "a level")
    case .anniversary: check(.target, target, 1...200, "a number of years")
    case .entryOnDate, .itemAnniversary: check(.target, target, 1...1_000)
    case .perfectWeek: check(.target, target, 1...520)
    default: check(.target, target, 1...1_000_000)
    }
    check(.minute, minute, (kind == .entryBefore ? 1 : 0)...1439, "a time of day, in minutes after midnight")
    check(.within, within, 2...366, "a number of days")
    check(.minimum, minimum, 2...1_000, "a number of items")
    check(.month, month, 1...12, "a month")
    if kind == .entryOnDate, let month, (1...12).contains(month) {
      check(.day, day, 1...[31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1], "a day of that month")
    } else {
      check(.day, day, 1...31, "a day of the month")
    }
    if weekdays?.isEmpty == true { fault(.weekdays, "expected at least one weekday") }
    if let amount, amount <= .zero {
      fault(.amount, "expected an amount greater than 0")
    }
    if attribute?.isEmpty == true { fault(.attribute, "expected the name of an attribute, such as brand") }
    if value != nil, attribute == nil { fault(.value, "it needs an attribute: name the attribute with that value") }
  }

  private func checkTrackers(_ trackers: [Tracker], _ fault: (Key, String) -> Void) {
    let names = trackers.map(\.id.rawValue).joined(separator: ", ")
    if let tracker, !trackers.contains(where: { $0.id == tracker }) {
      return fault(.tracker, "the pack has no tracker \(tracker); it has \(names.isEmpty ? "none" : names)")
    }
    if kind == .level, tracker != nil { return fault(.tracker, "level covers the whole pack") }
    if kind == .level { return }
    let about = tracker.map { id in trackers.filter { $0.id == id } } ?? trackers
    let culprit: Key = tracker == nil ? .kind : .tracker
    func need(_ what: String, _ holds: (Tracker) -> Bool) {
      if !about.contains(where: holds) { fault(culprit, "\(kind.rawValue) needs \(what)") }
    }
    switch kind {
    case .amountInEntry:
      need("a tracker of amounts or measures") { $0.kind != .check }
      let units = Set(about.filter { $0.kind != .check }.compactMap(\.unit?.dimension))
      if units.count > 1 { fault(.amount, "the tracker is missing: name the tracker of the amount") }
    case .shareOfGoal: need("a tracker with a goal for the day") { $0.kind != .measure && $0.goal?.ofDay != nil }
    case .goalMet, .daysMet: need("a tracker with a goal, or one of checks") { $0.goal != nil || $0.kind == .check }
    case .crossed: need("a measure") { $0.kind == .measure }
    case .goalValue: need("a measure with a goal") { $0.kind == .measure }
    case .itemsOwned, .itemsInDay, .entriesForItem, .distinctValues, .distinctItems, .evenRotation, .firstItem,
      .itemAnniversary:
      need("a tracker with items") { $0.hasItems }
    case .perfectWeek:
      need("a tracker that counts by weekdays") {
        if case .weekdays = $0.counting { $0.streakUnit == .days } else { false }
      }
    default: need("a tracker") { _ in true }
    }
  }
}
