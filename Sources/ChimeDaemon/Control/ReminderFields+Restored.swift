import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Reminders that come back whole, from a backup: no draft has been judged for them.
extension ReminderFields {
  /// A pack's title has at most 200 characters, of up to 8 bytes each.
  private static let maxWholeTitleBytes = 1_600

  /// Judges a reminder as what a client asks for is judged, before any of its times is computed.
  ///
  /// That its schedule still has a time to come is not asked for: it had one when the backup was made.
  func judge(_ reminder: Reminder) throws {
    try judgeTexts(of: reminder)
    _ = try channels(reminder.channels.map(\.rawValue))
    try judge(reminder.grace, "grace", Self.graces)
    try judge(reminder.jitter, "jitter", Reminder.jitters)
    guard Self.snoozeCounts.contains(reminder.snoozeLengths.count) else {
      throw ControlFailure.invalidValue(field: "snooze", "there are one to ten lengths")
    }
    for length in reminder.snoozeLengths { try judge(length, "snooze", Self.snoozeLengths) }
    guard Reminder.skips.contains(reminder.skipNext) else {
      throw ControlFailure.invalidValue(
        field: "skipNext", "it is a number from 0 to \(Reminder.skips.upperBound)")
    }
    if let nag = reminder.nag { try judge(nag) }
    if let place = reminder.place { _ = try self.place(place.latitude, place.longitude) }
    if let link = reminder.tracker { try judge(link) }
    // Another machine may lack the zone, and then it follows UTC; what is no name of one is nobody's.
    if case .named(let name) = reminder.timezone, !Zone.isValidIdentifier(name) { throw unknownZone(name) }
  }

  private func judgeTexts(of reminder: Reminder) throws {
    func judge(_ text: String?, _ field: String, _ most: Int, lines: Bool = false) throws {
      guard let text else { return }
      guard text.utf8.count <= most else {
        throw ControlFailure.invalidValue(
          field: field, "the \(field) has \(text.utf8.count) bytes; at most \(most) are taken")
      }
      if let control = Self.control(in: text, lines: lines) {
        throw ControlFailure.invalidValue(field: field, "the \(field) has a control character (\(control))")
      }
    }
    guard !reminder.title.trimmed.isEmpty else {
      throw ControlFailure.invalidValue(field: "title", "the title is empty")
    }
    try judge(reminder.title, "title", Self.maxWholeTitleBytes)
    for text in Self.texts {
      try judge(reminder[keyPath: text.kept], text.name, text.maxBytes, lines: text.hasLines)
    }
    guard reminder.tags.count <= Self.maxItems else {
      throw ControlFailure.invalidValue(field: "tags", "give at most \(Self.maxItems) tags")
    }
    for tag in reminder.tags { try judge(tag, "tags", 64) }
    try judge(reminder.set, "set", 255)
    // A canonical text may be of several lines: that of a recurrence.
    try judge(reminder.schedule.canonical, "when", Self.maxWhenBytes, lines: true)
  }

  private func judge(_ length: Milliseconds, _ field: String, _ range: ClosedRange<Milliseconds>) throws {
    guard range.contains(length) else {
      throw ControlFailure.invalidValue(
        field: field,
        "it has to be from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))")
    }
  }

  private func judge(_ nag: Nag) throws {
    try judge(nag.every, "nag", Nag.lengths)
    guard Nag.counts.contains(nag.max), nag.escalation.count <= Nag.maxSteps,
      nag.escalation.allSatisfy({ (1...nag.max).contains($0.from) }),
      zip(nag.escalation, nag.escalation.dropFirst()).allSatisfy({ $0.from <= $1.from })
    else {
      throw ControlFailure.invalidValue(
        field: "nag",
        "it is repeated \(Nag.counts.lowerBound) to \(Nag.counts.upperBound) times, with at most \(Nag.maxSteps) steps "
          + "of escalation among these, in order")
    }
    for step in nag.escalation { _ = try channels(step.channels.map(\.rawValue), "nag") }
  }

  private func judge(_ link: TrackerLink) throws {
    guard TrackerID(checking: link.tracker.rawValue) != nil else {
      throw ControlFailure.invalidValue(field: "tracker", "that is no tracker's id")
    }
    guard let amount = link.amount else { return }
    guard (1...Quantity.limit(of: link.unit?.dimension ?? .count)).contains(amount.grains) else {
      throw ControlFailure.invalidValue(
        field: "tracker", "an amount is more than nothing, and no more than can be")
    }
  }
}
