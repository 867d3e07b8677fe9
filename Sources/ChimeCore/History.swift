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
  /// - Parameter surplus: the scheduled time of the latest occurrence that is one too many; nil when none is.
  public func edge(at now: Instant, surplus: Instant?) -> HistoryEdge? {
    let oldest = age.map { now - $0 }
    let edge = HistoryEdge(
      closedBefore: [oldest, surplus.map { $0 + .milliseconds(1) }].compactMap { $0 }.max(), openBefore: oldest)
    return edge.closedBefore == nil ? nil : edge
  }
}

/// What is to go of the history.
public struct HistoryEdge: Hashable, Sendable {
  public var closedBefore: Instant?
  public var openBefore: Instant?

  public init(closedBefore: Instant? = nil, openBefore: Instant? = nil) {
    self.closedBefore = closedBefore
    self.openBefore = openBefore
  }

  /// The latest scheduled time that concerns it.
  public var end: Instant? { [closedBefore, openBefore].compactMap { $0 }.max() }

  /// Whether an occurrence that owes nothing goes.
  public func takes(_ occurrence: Occurrence) -> Bool {
    switch occurrence.state {
    case .snoozed: false
    case .fired, .delivered: openBefore.map { occurrence.id.scheduledAt < $0 } ?? false
    case .done, .dismissed, .missed:
      closedBefore.map { occurrence.id.scheduledAt < $0 && (occurrence.endedAt ?? .earliest) < $0 } ?? false
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
