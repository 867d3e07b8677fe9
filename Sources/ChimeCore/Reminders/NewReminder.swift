public import ChimeSchedule

/// A NewReminder is a reminder to insert, with its first time.
public struct NewReminder: Hashable, Sendable {
  /// The definition, of generation 0.
  public var reminder: Reminder
  /// Its next scheduled time; nil if there is none.
  public var next: Instant?

  public init(_ reminder: Reminder, next: Instant? = nil) {
    self.reminder = reminder
    self.next = next
  }
}

extension StoreTransaction {
  /// Inserts one at a time, for engines in which a bulk insert saves nothing.
  public func insert(_ reminders: [NewReminder]) throws -> [Int] {
    var taken: [Int] = []
    for (place, new) in reminders.enumerated() {
      do { try upsert(new.reminder, next: new.next) } catch StoreFailure.idTaken { taken.append(place) }
    }
    return taken
  }
}
