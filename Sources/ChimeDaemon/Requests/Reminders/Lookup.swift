import ChimeControl
import ChimeCore
import ChimeSchedule

/// A Lookup finds the reminder or occurrence that a client named: by id, by a unique prefix of it, or by title.
struct Lookup {
  let transaction: any StoreTransaction
  /// The owner of the reminders; nil: everybody.
  let owner: UInt32?
  /// The context in which titles are filled in; nil: titles are compared as they are written.
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
    throw notFound(text, similar: try near(text))
  }

  /// Returns the reminder with a title. One that waits for an answer wins, then one with a time to come, then the one that ended
  /// last: who adds "Tea" each day has many finished ones.
  ///
  /// - Throws: `ambiguous` if two wait, or two have a time to come.
  private func titled(_ title: String) throws -> ReminderRecord? {
    let live = try transaction.reminders(
      ReminderFilter(owner: owner, titles: [title], includesFinished: false), page: Page(limit: 200))
    let open = live.filter { $0.open > 0 }
    let meant = open.isEmpty ? live : open
    guard meant.count < 2 else { throw ambiguous(title, Array(meant.prefix(6))) }
    if let only = meant.first { return only }
    func end(_ record: ReminderRecord) -> Instant { record.last?.id.scheduledAt ?? record.reminder.createdAt }
    // A lookup must not cost more than a listing. `near` has the same limit.
    let ended = try transaction.reminders(ReminderFilter(owner: owner, titles: [title]), page: Page(limit: 500))
    return ended.max { end($0) < end($1) }
  }

  /// Returns a reminder by its title as it reads when it is filled in, or by the beginning of that.
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

  /// Returns the title as a person reads it.
  private func title(_ reminder: Reminder) -> String {
    guard let filling else { return reminder.title }
    let filled = try? reminder.filledTitle(in: transaction, filling.context, now: filling.now)
    return filled ?? reminder.title
  }

  /// Returns an occurrence by its id, or the latest open one of a reminder. Without a name: the open one that fired last.
  func occurrence(_ text: String?) throws -> Occurrence {
    guard let text else {
      let open = try transaction.occurrences(OccurrenceFilter(owner: owner, openOnly: true), page: Page(limit: 200))
      // A moved occurrence has not fired yet, and needs a name.
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
      throw ControlFailure.notFound(what: "occurrence", id: text, similar: [])
    }
    let record = try reminder(text)
    let filter = OccurrenceFilter(owner: owner, reminder: record.reminder.id, openOnly: true)
    if let open = try transaction.occurrences(filter, page: Page(limit: 1)).first { return open }
    // The last answered occurrence is returned, so that a button and a command may race.
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

  private func notFound(_ text: String, similar: [String] = []) -> ControlFailure {
    .notFound(what: "reminder", id: String(text.prefix(200)), similar: similar)
  }

  private func near(_ text: String) throws -> [String] {
    let all = try transaction.reminders(ReminderFilter(owner: owner), page: Page(limit: 500)).map(\.reminder)
    return SpellingSuggestions.to(text, among: all.map(\.id.rawValue) + Array(Set(all.map(title))))
  }
}
