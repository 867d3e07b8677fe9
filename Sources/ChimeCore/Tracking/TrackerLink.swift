public import ChimeTracking

/// A TrackerLink connects a reminder with a tracker that knows whether the thing was done.
///
///     TrackerLink(tracker: water, quietWhenDone: true, followsEntries: true)
public struct TrackerLink: Hashable, Sendable, Codable {
  /// A tracker of the reminder's owner. If it is removed, the link has no effect.
  public var tracker: TrackerID
  /// Whether *Done* logs an entry.
  public var logsWhenDone: Bool
  /// The amount that *Done* logs; nil for the tracker's usual amount.
  public var amount: Quantity?
  /// The unit in which `amount` is shown.
  public var unit: Unit?
  /// Whether times are skipped (`MissReason.doneAlready`) once the day's goal is met.
  public var quietWhenDone: Bool
  /// Whether an entry moves the next time: the schedule's interval then counts from the entry.
  public var followsEntries: Bool
  /// Whether the rest of an amount's daily goal is spread over the rest of the day's times.
  public var pace: Bool

  public init(
    tracker: TrackerID, logsWhenDone: Bool = true, amount: Quantity? = nil, unit: Unit? = nil,
    quietWhenDone: Bool = false,
    followsEntries: Bool = false, pace: Bool = false
  ) {
    self.tracker = tracker
    self.logsWhenDone = logsWhenDone
    self.amount = amount
    self.unit = unit
    self.quietWhenDone = quietWhenDone
    self.followsEntries = followsEntries
    self.pace = pace
  }
}

extension Tracker {
  /// A Portion is what *Done* logs to a tracker.
  public enum Portion: Hashable, Sendable {
    /// A check, without an amount.
    case check
    case amount(Quantity)

    public var quantity: Quantity? { if case .amount(let quantity) = self { quantity } else { nil } }
  }

  /// Returns what *Done* logs; nil if the answer does not say enough.
  public func portion(of link: TrackerLink) -> Portion? {
    guard !hasItems else { return nil }
    switch kind {
    case .check: return .check
    case .amount: return (link.amount ?? usual).flatMap { $0 > .zero ? .amount($0) : nil }
    case .measure: return nil
    }
  }
}
