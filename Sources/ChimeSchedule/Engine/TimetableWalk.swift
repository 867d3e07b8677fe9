/// A TimetableWalk steps through the occurrences of a timetable and caches what it finds on the way.
///
/// With several recurrence rules, it searches again only those whose last result has passed. A rule without further
/// occurrences is not searched again. The budget may cover all searches together.
///
///     var walk = timetable.walk(steps: 100_000)
///     while let time = walk.next(after: time) { … }
public struct TimetableWalk: Sendable {
  public let timetable: Timetable
  /// The steps that its searches took, at least one each.
  public private(set) var steps = 0
  /// Whether the last search exceeded the budget, so that later occurrences are unknown.
  public private(set) var isGivenUp = false
  private let limit: Int
  private var pending: ContiguousArray<Pending> = []

  /// The cached result for one rule of a set: for every instant from `from` up to `found`, the next occurrence is `found`.
  private struct Pending: Sendable {
    var from = Int64.max
    /// `Int64.max` if nothing follows.
    var found = Int64.min
  }

  init(_ timetable: Timetable, steps limit: Int) {
    self.timetable = timetable
    self.limit = limit
    if case .recurrences(let set) = timetable.engine {
      pending = ContiguousArray(repeating: Pending(), count: set.members.count)
    }
  }

  /// Returns the first occurrence strictly after `instant`, as ``Timetable/next(after:)``; also `nil` if the walk has
  /// used up its steps.
  public mutating func next(after instant: Instant) -> Instant? {
    let allowed = min(Timetable.searchSteps, limit - steps)
    guard allowed > 0 else {
      isGivenUp = true
      return nil
    }
    var budget = SearchBudget(allowed)
    let second = next(after: instant.seconds, &budget)
    steps += allowed - max(budget.left, 0) + 1
    isGivenUp = budget.isSpent || timetable.isUncountable
    guard let second, !budget.isSpent else { return nil }
    return Instant(seconds: second)
  }

  private mutating func next(after second: Int64, _ budget: inout SearchBudget) -> Int64? {
    guard case .recurrences(let set) = timetable.engine else { return timetable.next(after: second, &budget) }
    let after = max(second, timetable.firstSecond - 1)
    guard after < timetable.lastSecond else { return nil }
    var best = set.added.firstSorted(after: after) ?? .max
    for index in pending.indices {
      let known = pending[index]
      if known.from > after || known.found <= after {
        let found = timetable.next(ofMember: index, of: set, after: after, &budget)
        guard !budget.isSpent else { return nil }
        pending[index] = Pending(from: after, found: found)
      }
      best = min(best, pending[index].found)
    }
    return best <= timetable.lastSecond ? best : nil
  }
}

extension Timetable {
  /// Returns a walk through the timetable with a budget for all its searches together.
  public func walk(steps: Int = .max) -> TimetableWalk { TimetableWalk(self, steps: steps) }

  /// Returns the occurrences strictly after `instant`, in order, computed lazily.
  ///
  /// - Parameter steps: The budget for all searches together.
  public func occurrences(after instant: Instant, steps: Int = .max) -> Occurrences {
    Occurrences(walk: walk(steps: steps), last: instant)
  }

  /// A lazy sequence of occurrences. It ends with the schedule, at the latest in the year 9999.
  public struct Occurrences: Sequence, IteratorProtocol, Sendable {
    public private(set) var walk: TimetableWalk
    private var last: Instant?

    init(walk: TimetableWalk, last: Instant) {
      self.walk = walk
      self.last = last
    }

    public mutating func next() -> Instant? {
      guard let previous = last else { return nil }
      last = walk.next(after: previous)
      return last
    }
  }
}

// MARK: - Refusal

extension Timetable {
  /// A Burden says why a schedule is refused as too costly to search.
  enum Burden: Hashable {
    /// It has too many occurrences to count off.
    case uncountable
    /// Finding its next occurrence takes too many steps.
    case tooCostly
    /// One of several rules, by its index, never has an occurrence.
    case never(rule: Int)
  }

  /// The result of the search for the first occurrence after an instant.
  struct Finding {
    var next: Int64?
    var burden: Burden?
    var steps: Int
  }

  /// Returns the first occurrence after an instant, and the reason to refuse the schedule, if there is one.
  func finding(after instant: Instant) -> Finding {
    var budget = SearchBudget(Self.searchSteps)
    let next = next(after: instant.seconds, &budget)
    let steps = Self.searchSteps - max(budget.left, 0)
    if isUncountable { return Finding(next: nil, burden: .uncountable, steps: steps) }
    if case .recurrences(let set) = engine, let rule = ruleThatNeverComes(set) {
      return Finding(next: next, burden: .never(rule: rule), steps: steps)
    }
    return Finding(next: next, burden: budget.isSpent ? .tooCostly : nil, steps: steps)
  }

  /// Returns the first of several rules that has no occurrence at all. Such a rule would be searched in vain each time
  /// another rule fires.
  private func ruleThatNeverComes(_ set: RecurrenceSet) -> Int? {
    guard set.members.count + set.added.count > 1 else { return nil }
    var budget = SearchBudget(Self.searchSteps)
    return set.members.indices.first { index in
      let rule = set.members[index].rule
      // A rule that begins after its own end costs nothing.
      guard rule.first <= rule.last, !budget.isSpent else { return false }
      return rule.next(after: rule.first - 1, &budget) == nil && !budget.isSpent
    }
  }
}
