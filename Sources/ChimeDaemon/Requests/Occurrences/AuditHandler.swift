import ChimeControl
import ChimeCore
import ChimeSchedule

/// Reports whether all times that should have come have come.
extension OccurrencesHandler {
  /// The approximate number of times in one answer. The last reminder is always whole.
  private static let timesInAnswer = 50_000
  private static let remindersInAnswer = 1_000

  func handle(_ request: OccurrencesInterface.Audit) async throws -> OccurrencesInterface.Audit.Reply {
    let end = min(try instant(request.before, "before") ?? now, now)
    let since = try instant(request.since, "since")
    if let since, since >= end {
      throw ControlFailure.invalidValue(field: "since", "give a past time that is before the end")
    }
    // An audit may read the whole history.
    return try await store.readApart { [self] transaction in
      let kept = try ScheduleAudit.keptSince(in: transaction)
      let log = ScheduleContextLog(try transaction.notes(named: ScheduleContextLog.notePrefix))
      let start = [since, kept].compactMap { $0 }.max()
      let named = try request.reminders.map { texts in try texts.map { try audited($0, in: transaction) } }
      var (audits, times, first): ([OccurrencesInterface.ReminderAudit], Int, Instant) = ([], 0, end)
      var last = request.cursor.map { ReminderID(rawValue: $0) }
      var isOver = false
      repeat {
        let ids = try named ?? transaction.versionedIDs(owner: caller.sees, after: last, limit: 100)
        for id in ids {
          try life.goOn()
          let versions = try transaction.versions(of: id)
          last = id
          guard let latest = versions.last else { continue }
          let audit = try ScheduleAudit.of(
            versions, from: start ?? .earliest, before: end, in: transaction, context, log, now: now,
            goOn: { try life.goOn() })
          first = min(first, versions[0].from)
          times += audit.times
          audits.append(try wired(audit, versions.count, latest, from: start, before: end, in: transaction))
          if named == nil, times >= Self.timesInAnswer || audits.count >= Self.remindersInAnswer { break }
        }
        // A full answer leaves the rest of these ids to the next one.
        isOver = named != nil || ids.isEmpty || ids.count < 100 && last == ids.last
      } while !isOver && times < Self.timesInAnswer && audits.count < Self.remindersInAnswer
      let zone = context.zones.local
      return OccurrencesInterface.Audit.Reply(
        audits: audits, since: wire.time(start ?? first, in: zone), before: wire.time(end, in: zone),
        cursor: isOver ? nil : last?.rawValue)
    }
  }

  /// Finds a reminder that exists, or a removed one by its id.
  private func audited(_ text: String, in transaction: any StoreTransaction) throws -> ReminderID {
    do {
      return try reminders(in: transaction).reminder(text).reminder.id
    } catch ControlFailure.notFound(let what, let id, let similar) {
      let gone = ReminderID(rawValue: text)
      guard let owner = try transaction.versions(of: gone).last?.reminder.owner,
        caller.sees.map({ $0 == owner }) ?? true
      else { throw ControlFailure.notFound(what: what, id: id, similar: similar) }
      return gone
    }
  }

  private func wired(
    _ audit: ScheduleAudit, _ count: Int, _ latest: ReminderVersion, from start: Instant?, before end: Instant,
    in transaction: any StoreTransaction
  ) throws -> OccurrencesInterface.ReminderAudit {
    let reminder = latest.reminder
    let zone = wire.zone(of: reminder)
    let givenUp = try transaction.deliveries(
      DeliveryFilter(reminder: reminder.id, state: .dead, from: start, before: end), page: Page(limit: 10_000))
    return OccurrencesInterface.ReminderAudit(
      reminder: reminder.id.rawValue, title: reminder.title, when: reminder.schedule.canonical,
      removed: !latest.isInForce, versions: count, unknown: audit.unknown.flatMap { .init(rawValue: $0.rawValue) },
      times: audit.times, onTime: audit.onTime,
      late: LateCause.allCases.compactMap { cause in
        audit.late[cause].map { OccurrencesInterface.ReasonCount(reason: cause.rawValue, count: $0) }
      },
      missed: MissReason.allCases.compactMap { reason in
        audit.missed[reason].map { OccurrencesInterface.ReasonCount(reason: reason.rawValue, count: $0) }
      },
      moved: audit.moved, waiting: audit.waiting, uncertain: audit.uncertain, unexplained: audit.unexplained,
      unexplainedTimes: audit.unexplainedTimes.map { wire.time($0, in: zone) }, onRequest: audit.beside,
      givenUp: givenUp.count, lateness: audit.lateness.counts, timeToDone: audit.answers.counts)
  }
}
