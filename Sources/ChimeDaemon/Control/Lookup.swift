import ChimeControl
import ChimeCore
import ChimeSchedule

/// Finds what a client named: by id, by a unique prefix of it, or by its title.
struct Lookup {
  let transaction: any StoreTransaction
  /// Nil: everyone's.
  let owner: UInt32?

  func reminder(_ text: String) throws -> ReminderRecord {
    if let record = try transaction.reminder(ReminderID(rawValue: text)), isVisible(record.reminder.owner) {
      return record
    }
    guard !text.isEmpty, text.utf8.count <= ReminderFields.maxTitleBytes else { throw notFound(text) }
    let titled = try transaction.reminders(ReminderFilter(owner: owner, title: text), page: Page(limit: 6))
    if titled.count == 1 { return titled[0] }
    if titled.count > 1 { throw ambiguous(text, titled) }
    let prefixed = try transaction.reminders(ReminderFilter(owner: owner, idPrefix: text), page: Page(limit: 6))
    if prefixed.count == 1 { return prefixed[0] }
    if prefixed.count > 1 { throw ambiguous(text, prefixed) }
    throw notFound(text, near: try near(text))
  }

  /// An occurrence by its id; or the latest open one of a reminder; or, without a name, the one that fired last.
  func occurrence(_ text: String?) throws -> Occurrence {
    guard let text else {
      let open = try transaction.occurrences(OccurrenceFilter(owner: owner, openOnly: true), page: Page(limit: 200))
      guard let latest = open.max(by: { ($0.firedAt ?? .earliest) < ($1.firedAt ?? .earliest) }) else {
        throw ControlFailure.conflict("nothing is waiting for an answer")
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
    throw ControlFailure.conflict("\"\(record.reminder.title)\" (\(record.reminder.id)) has not fired yet")
  }

  private func isVisible(_ owner: UInt32) -> Bool { self.owner.map { $0 == owner } ?? true }

  private func ambiguous(_ text: String, _ records: [ReminderRecord]) -> ControlFailure {
    .ambiguous(id: text, candidates: records.map { "\($0.reminder.id) \($0.reminder.title)" })
  }

  private func notFound(_ text: String, near: [String] = []) -> ControlFailure {
    .notFound(what: "reminder", id: String(text.prefix(200)), near: near)
  }

  private func near(_ text: String) throws -> [String] {
    let all = try transaction.reminders(ReminderFilter(owner: owner), page: Page(limit: 500)).map(\.reminder)
    return Nearest.to(text, among: all.map(\.id.rawValue) + Array(Set(all.map(\.title))))
  }
}
