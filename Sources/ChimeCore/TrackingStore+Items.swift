public import ChimeSchedule
public import ChimeTracking

// What a store that keeps counts by item and day can answer with one look; these defaults come to the same.
extension TrackingTransaction {
  public func itemCount(of item: ItemID, key: TrackerKey) throws -> Int {
    try itemCounts(of: key, in: nil).first { $0.item == item }?.count ?? 0
  }

  public func itemDays(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [ItemDay] {
    try dayTotals(of: key, in: days).flatMap { total in
      try itemCounts(of: key, in: total.day...total.day).map { ItemDay(day: total.day, item: $0.item, count: $0.count) }
    }
  }
}
