import ChimeControl
import ChimeCore
import ChimeSchedule

/// Finds what a client named: by id, by a unique prefix of it, or by its title.
struct Lookup {
  let transaction: any StoreTransaction
  /// Nil: everyone's.
  let owner: UInt32?
  /// What titles with something to fill in are read with; without it they are found as they are written.
  var filling: (context: ReminderContext, now: Instant)?

  func reminder(_ text: String) throws -> ReminderRecord {
    if let record = try transaction.reminder(ReminderID(rawValue: text)), isVisible(record.reminder.owner) {
      return record
    }
    guard !text.isEmpty, text.utf8.count <= ReminderFields.maxTitleBytes else { throw notFound(text) }
    if let titled = try titled(text) { return titled }
    if let filled = try filled(text) { return filled }
    let prefixed = try transaction.reminders(ReminderFilter(owner: owner, idPrefix: text), page: Page(limit: 6))
    if prefixed.count == 1 { return prefixed[0] }
    if prefixed.count > 1 { throw ambiguous(text, prefixed) }
    throw notFound(text, near: try near(text))
  }

  /// Of several reminders of one title the one that waits for an answer is meant, then the one that is to come, then the one
  /// that ended last: whoever sets "Tea" each day has many that are over. Two that wait, or two that are to come, are told
  /// apart by whoever asks.
  private func titled(_ title: String) throws -> ReminderRecord? {
    let live = try transaction.reminders(
      ReminderFilter(owner: owner, title: title, includesFinished: false), page: Page(limit: 200))
    let open = live.filter { $0.open > 0 }
    let meant = open.isEmpty ? live : open
    guard meant.count < 2 else { throw ambiguous(title, Array(meant.prefix(6))) }
    if let only = meant.first { return only }
    func end(_ record: ReminderRecord) -> Instant { record.last?.id.scheduledAt ?? record.reminder.createdAt }
    // As many as `near` looks through: a name is not to cost more than a listing.
    let ended = try transaction.reminders(ReminderFilter(owner: owner, title: title), page: Page(limit: 500))
    return ended.max { end($0) < end($1) }
  }

  /// A reminder whose title has something to fill in, by what a person reads there, or by its beginning.
  private func filled(_ text: String) throws -> ReminderRecord? {
    guard let filling else { return nil }
    let wanted = text.lowercased()
    let found = try transaction.reminders(
      ReminderFilter(owner: owner, includesFinished: false), page: Page(limit: 500)
    ).compactMap { record -> (record: ReminderRecord, isWhole: Bool)? in
      guard ReminderText.hasPlaces(record.reminder.title) else { return nil }
      let title = try record.reminder.filledTitle(in: transaction, filling.context, now: filling.now).lowercased()
      return title.hasPrefix(wanted) ? (record, title == wanted) : nil
    }
    let meant = found.contains(where: \.isWhole) ? found.filter(\.isWhole) : found
    guard meant.count < 2 else { throw ambiguous(text, Array(meant.map(\.record).prefix(6))) }
    return meant.first?.record
  }

  /// The title as a person reads it.
  private func title(_ reminder: Reminder) -> String {
    guard let filling else { return reminder.title }
    let filled = try? reminder.filledTitle(in: transaction, filling.context, now: filling.now)
    return filled ?? reminder.title
  }

  /// An occurrence by its id; or the latest open one of a reminder; or, without a name, the one that fired last.
  func occurrence(_ text: String?) throws -> Occurrence {
    guard let text else {
      let open = try transaction.occurrences(OccurrenceFilter(owner: owner, openOnly: true), page: Page(limit: 200))
      // One that was moved has not fired: nobody answers it without a name.
      guard
        let latest = open.filter({ $0.firedAt != nil }).max(by: {
          ($0.firedAt ?? .earliest) < ($1.firedAt ?? .earliest)
        })
      else {
        throw ControlFailure.conflict("no reminder waits for an answer")
      }
      return latest
    }
    if let id = OccurrenceID(text) {
      if let found = try transaction.occurrence(id), isVisible(found.owner) { return found }
      throw ControlFailure.notFound(what: "occurrence", id: text, near: [])
    }
    let record = try reminder(text)
    let filter = OccurrenceFilter(owner: owner, reminder: record.reminder.id, openOnly: true)
    if let open = try transaction.occurrences(filter, page: Page(limit: 1)).first { return open }
    // Done and dismissed stay an answer to what was answered last, so that a button and a command may race.
    if let last = record.last { return last }
    throw ControlFailure.conflict("\"\(title(record.reminder))\" (\(record.reminder.id)) has not fired yet")
  }

  private func isVisible(_ owner: UInt32) -> Bool { self.owner.map { $0 == owner } ?? true }

  private func ambiguous(_ text: String, _ records: [ReminderRecord]) -> ControlFailure {
    let candidates = records.map { record in
      "\(record.reminder.id) \(title(record.reminder)) (\(record.reminder.schedule.canonical))"
    }
    return .ambiguous(id: text, candidates: candidates)
  }

  private func notFound(_ text: String, near: [String] = []) -> ControlFailure {
    .notFound(what: "reminder", id: String(text.prefix(200)), near: near)
  }

  private func near(_ text: String) throws -> [String] {
    let all = try transaction.reminders(ReminderFilter(owner: owner), page: Page(limit: 500)).map(\.reminder)
    return SpellingSuggestions.to(text, among: all.map(\.id.rawValue) + Array(Set(all.map(title))))
  }
}
