/// Asks a timetable for one time after the other, and remembers what it found out on the way.
///
/// Of several recurrence rules only those are searched whose last answer has passed, and one that has nothing more is not
/// searched again. All its searches together may be bounded.
///
///     var walk = timetable.walk(steps: 100_000)
///     while let time = walk.next(after: time) { … }
public struct TimetableWalk: Sendable {
  public let timetable: Timetable
  /// The steps that its searches have taken, at least one each.
  public private(set) var steps = 0
  /// Whether the last search was given up, so that nothing is known of what follows.
  public private(set) var isGivenUp = false
  private let limit: Int
  private var pending: ContiguousArray<Pending> = []

  /// What is known of one rule of a set: after every instant from `from` on, up to `found`, it comes at `found` next.
  private struct Pending: Sendable {
    var from = Int64.max
    /// The greatest number when nothing follows.
    var found = Int64.min
  }

  init(_ timetable: Timetable, steps limit: Int) {
    self.timetable = timetable
    self.limit = limit
    if case .recurrences(let set) = timetable.engine {
      pending = ContiguousArray(repeating: Pending(), count: set.members.count)
    }
  }

  /// The first occurrence strictly after `instant`, as ``Timetable/next(after:)``; `nil` too when the walk has taken all its
  /// steps.
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
  /// A way through the timetable whose searches together take no more steps than given.
  public func walk(steps: Int = .max) -> TimetableWalk { TimetableWalk(self, steps: steps) }

  /// The occurrences strictly after `instant`, in order, computed as they are asked for.
  ///
  /// - Parameter steps: What the searches for all of them together may take.
  public func occurrences(after instant: Instant, steps: Int = .max) -> Occurrences {
    Occurrences(walk: walk(steps: steps), last: instant)
  }

  /// A lazy sequence of occurrences; it ends with the schedule, at the latest in the year 9999.
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

// MARK: - What is refused

extension Timetable {
  /// Why nobody should have to search for the times of a schedule.
  enum Burden: Hashable {
    /// Its occurrences are too many to count off.
    case uncountable
    /// Finding its next occurrence takes too many steps.
    case tooCostly
    /// One of several rules, by its place, never comes.
    case never(rule: Int)
  }

  /// What finding the first occurrence after an instant comes to.
  struct Finding {
    var next: Int64?
    var burden: Burden?
    var steps: Int
  }

  /// The first occurrence after an instant, and whether the schedule is one that may be kept.
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

  /// The first of several rules that has no occurrence from its beginning on. It would be searched for in vain whenever
  /// another rule has fired.
  private func ruleThatNeverComes(_ set: RecurrenceSet) -> Int? {
    guard set.members.count + set.added.count > 1 else { return nil }
    var budget = SearchBudget(Self.searchSteps)
    return set.members.indices.first { index in
      let rule = set.members[index].rule
      // One that begins behind its own end costs nothing.
      guard rule.first <= rule.last, !budget.isSpent else { return false }
      return rule.next(after: rule.first - 1, &budget) == nil && !budget.isSpent
    }
  }
}
