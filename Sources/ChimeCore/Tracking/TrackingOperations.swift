public import ChimeSchedule
public import ChimeTracking

/// TrackingOperations changes an owner's trackers, with everything that follows from it, in one transaction.
///
/// That includes totals, streaks, achievements, XP, milestones, the times of linked reminders, and notices.
///
///     let outcome = try await store.write { transaction in
///       let work = TrackingOperations(in: transaction, owner: 1_000, context, now: now)
///       return try work.log(EntryDraft(tracker: water), using: &random)
///     }
///
/// Each method is one change that `undo` can revert. A method that throws `TrackingRefused`, or an error of the
/// transaction, leaves changes that must not be committed.
public struct TrackingOperations {
  public let transaction: any StoreTransaction
  public let owner: UInt32
  public let context: ReminderContext
  public let now: Instant
  /// Who causes the change, as in `DeliveryEvent.by`; nil for the clock.
  public var way: String?

  public init(
    in transaction: any StoreTransaction, owner: UInt32, _ context: ReminderContext, by way: String? = "cli",
    now: Instant
  ) {
    self.transaction = transaction
    self.owner = owner
    self.context = context
    self.now = now
    self.way = way
  }

  /// The zone in which days are read.
  var zone: Zone { context.zones.local }

  func key(_ id: TrackerID) -> TrackerKey { TrackerKey(owner: owner, id: id) }

  func tracker(_ id: TrackerID) throws -> Tracker {
    guard let tracker = try transaction.tracker(key(id)) else { throw TrackingRefused.noTracker(id) }
    return tracker
  }
}

extension TrackingOperations {
  func begin(_ kind: TrackingChange.Kind, _ tracker: Tracker?, _ subject: String) throws -> Int64 {
    try transaction.begin(
      TrackingChange(owner: owner, at: now, kind: kind, tracker: tracker?.id, subject: subject))
  }
}

extension Tracker {
  /// Returns an entry's name for programs: `250 ml`, an item's id, or the day.
  public func subject(of entry: Entry) -> String {
    if let quantity = entry.quantity { return subject(of: quantity) }
    return entry.item?.rawValue ?? entry.day.description
  }
}

extension Quantity {
  /// Returns the number without the unit, with `decimals` digits after the point, at most 3.
  func plain(in unit: Unit, decimals: Int) -> String {
    let places = min(max(decimals, 0), 3)
    let scale: Int64 = [1, 10, 100, 1_000][places]
    let exact = (value(in: unit) * Double(scale)).rounded()
    // A sum may be the largest `Int64`, which `Double` rounds up.
    let scaled = Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
    let digits = String(scaled.magnitude % scale.magnitude)
    let fraction = places > 0 ? "." + String(repeating: "0", count: places - digits.count) + digits : ""
    return (scaled < 0 ? "-" : "") + String(scaled.magnitude / scale.magnitude) + fraction
  }
}
