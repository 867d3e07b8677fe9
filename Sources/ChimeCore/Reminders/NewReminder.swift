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
  /// Inserts a reminder under a short id that is free.
  ///
  /// - Parameters:
  ///   - reminder: the definition; its id and generation are replaced.
  ///   - since: the moment after which its times count; nil for `next`.
  /// - Returns: the id.
  public func insert(
    _ reminder: Reminder, next: Instant?, since: Instant? = nil, using generator: inout some RandomNumberGenerator
  ) throws -> ReminderID {
    var reminder = reminder
    reminder.generation = 0
    for attempt in 0..<16 {
      reminder.id = ReminderID(length: 4 + attempt / 4, using: &generator)
      do {
        try upsert(reminder, next: next, since: since)
        return reminder.id
      } catch StoreFailure.idTaken { continue }
    }
    throw StoreFailure.internalError("no free id was found for a reminder")
  }

  /// Inserts one at a time, for engines in which a bulk insert saves nothing.
  public func insert(_ reminders: [NewReminder]) throws -> [Int] {
    var taken: [Int] = []
    for (place, new) in reminders.enumerated() {
      do { try upsert(new.reminder, next: new.next) } catch StoreFailure.idTaken { taken.append(place) }
    }
    return taken
  }
}
