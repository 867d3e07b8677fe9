public import ChimeTracking

/// What a reminder has to do with a tracker: it knows then whether the thing was done.
///
///     TrackerLink(tracker: water, quietWhenDone: true, followsEntries: true)
public struct TrackerLink: Hashable, Sendable, Codable {
  /// Of the reminder's owner. A tracker that is gone leaves a reminder like any other.
  public var tracker: TrackerID
  /// *Done* logs an entry of it.
  public var logsWhenDone: Bool
  /// How much it logs; nil: the tracker's usual amount.
  public var amount: Quantity?
  /// What `amount` is shown in.
  public var unit: Unit?
  /// A time is passed over (`MissReason.doneAlready`) when the goal of its day is met.
  public var quietWhenDone: Bool
  /// An entry moves its next time: as long after the entry as its schedule has times apart.
  public var followsEntries: Bool
  /// Of an amount: what remains of the goal is spread over what is left of the day's times.
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
