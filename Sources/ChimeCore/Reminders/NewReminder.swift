public import ChimeSchedule

/// A reminder that is to be inserted among others, with its first time.
public struct NewReminder: Hashable, Sendable {
  /// Of generation 0.
  public var reminder: Reminder
  /// Its next scheduled time; nil when there is none.
  public var next: Instant?

  public init(_ reminder: Reminder, next: Instant? = nil) {
    self.reminder = reminder
    self.next = next
  }
}

extension StoreTransaction {
  /// One after the other, for an engine to which many are not cheaper than each by itself.
  public func insert(_ reminders: [NewReminder]) throws -> [Int] {
    var taken: [Int] = []
    for (place, new) in reminders.enumerated() {
      do { try upsert(new.reminder, next: new.next) } catch StoreFailure.idTaken { taken.append(place) }
    }
    return taken
  }
}
