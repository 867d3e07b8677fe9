public import ChimeSchedule

/// HistoryLimits say how much history to keep.
public struct HistoryLimits: Hashable, Sendable {
  /// The highest age of an occurrence; nil for no limit.
  public var age: Milliseconds?
  /// The number of occurrences to keep, of all reminders; nil for no limit. Unanswered ones stay regardless.
  public var count: Int?

  public init(age: Milliseconds? = nil, count: Int? = nil) {
    self.age = age
    self.count = count
  }

  /// The shortest time between two prunings.
  public static let interval = Milliseconds.hours(1)
  /// The number of occurrences that one transaction reads, so that firing is not delayed.
  public static let batch = 200

  /// Returns what to remove at `now`; nil for nothing.
  ///
  /// - Parameter last: the scheduled time of the last occurrence within `count`; nil if there are fewer.
  public func edge(at now: Instant, last: Instant?) -> HistoryEdge? {
    let edge = HistoryEdge(oldest: age.map { now - $0 }, first: last)
    return edge.end == nil ? nil : edge
  }
}

/// A HistoryEdge says which part of the history to remove.
public struct HistoryEdge: Hashable, Sendable {
  /// Remove occurrences scheduled and closed before this, and unanswered ones scheduled before it.
  public var oldest: Instant?
  /// Remove closed occurrences scheduled before this.
  public var first: Instant?

  public init(oldest: Instant? = nil, first: Instant? = nil) {
    self.oldest = oldest
    self.first = first
  }

  /// The limit from which on everything stays.
  public var end: Instant? { [oldest, first].compactMap { $0 }.max() }

  /// Returns whether to remove an occurrence, provided that it has no pending deliveries.
  public func takes(_ occurrence: Occurrence) -> Bool {
    // A run of missed times goes with its last one.
    let last = max(occurrence.id.scheduledAt, occurrence.missedRun?.through ?? .earliest)
    let isOld = oldest.map { last < $0 && (occurrence.endedAt ?? .earliest) < $0 } ?? false
    let isSurplus = first.map { last < $0 } ?? false
    switch occurrence.state {
    case .snoozed, .awaited: return false
    case .fired, .delivered: return isOld
    case .done, .dismissed, .missed: return isOld || isSurplus
    }
  }
}

/// A Pruned is the result of one pruning transaction.
public struct Pruned: Hashable, Sendable {
  /// The number of occurrences removed.
  public var count: Int
  /// The occurrence after which to go on; nil to start where this transaction did.
  public var past: OccurrenceID?
  /// Whether everything has been read.
  public var isOver: Bool

  public init(count: Int, past: OccurrenceID?, isOver: Bool) {
    self.count = count
    self.past = past
    self.isOver = isOver
  }
}
