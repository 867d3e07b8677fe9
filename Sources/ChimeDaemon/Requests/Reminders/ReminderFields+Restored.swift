import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Reminders that come back whole, from a backup: no draft has been judged for them.
extension ReminderFields {
  /// A reminder as a client that asks for all of it gets it, judged before any of its times is computed.
  ///
  /// That its schedule still has a time to come is not asked for: it had one when the backup was made.
  func judged(_ reminder: Reminder) throws -> Reminder {
    var judged = reminder
    // What a client gives of these is laid over what there is.
    (judged.nag, judged.quiet) = (nil, nil)
    try apply(WireMapper.draft(of: reminder), to: &judged)
    guard Reminder.skips.contains(reminder.skipNext) else {
      throw ControlFailure.invalidValue(
        field: "skipNext", "give a number from 0 to \(Reminder.skips.upperBound)")
    }
    if let link = reminder.tracker { try judge(link) }
    // Another machine may lack the zone, and then it follows UTC; what is no name of one is nobody's.
    if case .named(let name) = reminder.timezone, !Zone.isValidIdentifier(name) { throw unknownZone(name) }
    if let set = reminder.set { _ = try text(set, "set", maximum: 255) }
    // A canonical text may be of several lines: that of a recurrence.
    _ = try text(reminder.schedule.canonical, "when", maximum: Self.maxWhenBytes, multiline: true)
    return judged
  }

  private func judge(_ link: TrackerLink) throws {
    guard TrackerID(checking: link.tracker.rawValue) != nil else {
      throw ControlFailure.invalidValue(field: "tracker", "the id of a tracker is invalid")
    }
    guard let amount = link.amount else { return }
    guard (1...Quantity.limit(of: link.unit?.dimension ?? .count)).contains(amount.grains) else {
      throw ControlFailure.invalidValue(
        field: "tracker", "an amount must be more than zero, and not larger than Chime can record")
    }
  }
}
