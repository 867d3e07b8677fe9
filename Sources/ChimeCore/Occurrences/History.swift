public import ChimeSchedule

/// How much history is kept.
public struct HistoryLimits: Hashable, Sendable {
  /// How old a time may be; nil for any age.
  public var age: Milliseconds?
  /// How many times are kept, of all reminders; nil for any number. Unanswered ones are not counted out.
  public var count: Int?

  public init(age: Milliseconds? = nil, count: Int? = nil) {
    self.age = age
    self.count = count
  }

  /// How often a daemon looks for what is to go, at most.
  public static let interval = Milliseconds.hours(1)
  /// How many occurrences one transaction looks at, so that firing is not held up.
  public static let batch = 200

  /// What is to go at `now`; nil when nothing is.
  ///
  /// - Parameter last: the scheduled time of the last occurrence that is within `count`; nil when there are not so many.
  public func edge(at now: Instant, last: Instant?) -> HistoryEdge? {
    let edge = HistoryEdge(oldest: age.map { now - $0 }, first: last)
    return edge.end == nil ? nil : edge
  }
}

/// What is to go of the history.
public struct HistoryEdge: Hashable, Sendable {
  /// Times go that were scheduled and closed before, and unanswered ones that were scheduled before.
  public var oldest: Instant?
  /// Closed times go that were scheduled before.
  public var first: Instant?

  public init(oldest: Instant? = nil, first: Instant? = nil) {
    self.oldest = oldest
    self.first = first
  }

  /// What is scheduled from here on stays.
  public var end: Instant? { [oldest, first].compactMap { $0 }.max() }

  /// Whether an occurrence that owes nothing goes.
  public func takes(_ occurrence: Occurrence) -> Bool {
    let isOld = oldest.map { occurrence.id.scheduledAt < $0 && (occurrence.endedAt ?? .earliest) < $0 } ?? false
    let isSurplus = first.map { occurrence.id.scheduledAt < $0 } ?? false
    switch occurrence.state {
    case .snoozed, .awaited: return false
    case .fired, .delivered: return isOld
    case .done, .dismissed, .missed: return isOld || isSurplus
    }
  }
}

/// What one transaction of pruning came to.
public struct Pruned: Hashable, Sendable {
  /// Occurrences that were removed.
  public var count: Int
  /// Where to go on; nil: where this one began.
  public var past: OccurrenceID?
  /// Whether there is no more to look at.
  public var isOver: Bool

  public init(count: Int, past: OccurrenceID?, isOver: Bool) {
    self.count = count
    self.past = past
    self.isOver = isOver
  }
}
