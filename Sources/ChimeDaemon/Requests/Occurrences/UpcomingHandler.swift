import ChimeControl
import ChimeCore
import ChimeSchedule

/// Lists what is to come: the next time of each reminder, or all times of the days ahead.
extension OccurrencesHandler {
  private typealias UpcomingTime = OccurrencesInterface.UpcomingTime

  func handle(
    _ request: OccurrencesInterface.Upcoming
  ) async throws -> OccurrencesInterface.Upcoming.Reply {
    let page = try page(limit: request.limit)
    let before = try instant(request.before, "before")
    return try await store.read { [self] transaction in
      var filter = ReminderFilter(owner: caller.sees, includesFinished: false)
      var coming: [(at: Instant, UpcomingTime)] = []
      let silences = try transaction.silences()
      // The list is full: later times have no place in it.
      var end = before ?? .latest
      var room = page.limit
      var awaiting: [OccurrencesInterface.Awaiting] = []
      _ = try inParts(page, after: nil) { part, place in
        filter.after = place
        let records = try transaction.reminders(filter, page: part)
        for record in records {
          let awaits = record.coming == nil && record.awaitsOther || wire.waiting(record) != nil
          if awaits, awaiting.count < page.limit {
            awaiting.append(
              .init(
                reminder: record.reminder.id.rawValue,
                title: try record.reminder.filledTitle(in: transaction, context, now: now),
                follows: record.coming == nil ? try wire.chain(of: record.reminder, in: transaction) : nil,
                onlyIfDone: try wire.condition(of: record, in: transaction)))
          }
          coming += try times(
            of: record, before: before == nil ? nil : end, limit: room, silences[record.reminder.owner], in: transaction
          )
          guard coming.count > 2 * room else { continue }
          (coming, room) = Self.earliest(coming, room)
          end = coming.last.map { min(end, $0.at) } ?? end
        }
        return (records.count + transaction.unreadable.count, 0, transaction.listedThrough)
      }
      return OccurrencesInterface.Upcoming.Reply(
        upcoming: Self.earliest(coming, room).kept.map(\.1), awaiting: before == nil ? awaiting.nilIfEmpty : nil)
    }
  }

  /// Returns the first times, at most `room`, and fewer if the answer would be too long. `room` becomes their number.
  private static func earliest(
    _ coming: [(at: Instant, UpcomingTime)], _ room: Int
  ) -> (kept: [(at: Instant, UpcomingTime)], room: Int) {
    let sorted = coming.sorted { $0.at < $1.at }.prefix(room)
    var bytes = 0
    for (place, one) in sorted.enumerated() {
      bytes += 300 + one.1.title.utf8.count + one.1.when.utf8.count
      if bytes >= RequestContext.replyBytes { return (Array(sorted.prefix(place + 1)), place + 1) }
    }
    return (Array(sorted), room)
  }

  /// Returns the next time at which a reminder rings, and the ones after it up to `end`, if given.
  private func times(
    of record: ReminderRecord, before end: Instant?, limit: Int, _ silence: Silence?,
    in transaction: any StoreTransaction
  ) throws -> [(at: Instant, UpcomingTime)] {
    let wire = self.wire
    let next = wire.nextNotification(record)
    var named = record
    named.reminder.title = try record.reminder.filledTitle(in: transaction, context, now: now)
    var list: [(at: Instant, UpcomingTime)] = []
    if let at = [next?.at, wire.repeatAt(record)].compactMap({ $0 }).min(), at < end ?? .latest {
      let isRepeat = at != next?.at
      list.append((at, coming(named, at, silence, held: isRepeat ? nil : next?.held, isRepeat: isRepeat)))
      list[0].1.excludedDays = wire.excludedDays(excludedDays(record.reminder, before: at))
    }
    if let end {
      let plan = NotificationTimes(record.reminder, context, now: now)
      let waiting = wire.waiting(record)
      for one in plan.all(of: record, before: end, limit: limit)
      where list.first?.at != one.at && one.scheduled != waiting {
        list.append(
          (one.at, coming(named, one.at, silence, held: one.at == one.scheduled + plan.offset ? nil : one.scheduled)))
      }
    }
    guard record.reminder.tracker?.quietWhenDone == true, let first = list.first?.at, let last = list.last?.at else {
      return list
    }
    let link = try LinkedTracker.read(
      for: record.reminder, from: min(first, last), to: max(first, last), in: transaction, context)
    for index in list.indices {
      let one = list[index].1
      list[index].1.skipReason = wire.skipReason(
        link, at: list[index].at, isAgain: one.snoozed || one.repeats == true)
    }
    return list
  }

  private func coming(
    _ record: ReminderRecord, _ at: Instant, _ silence: Silence?, held: Instant?, isRepeat: Bool = false
  ) -> UpcomingTime {
    let zone = wire.zone(of: record.reminder)
    return UpcomingTime(
      reminder: record.reminder.id.rawValue, title: record.reminder.title, at: wire.time(at, in: zone),
      snoozed: at == record.snoozedUntil, last: record.last.map { wire.time($0.id.scheduledAt, in: zone) },
      paused: record.reminder.pause.holds(at: at) || silence?.holds(record.reminder, at: at) == true,
      when: record.reminder.schedule.canonical,
      held: held.map { wire.time($0, in: zone) }, repeats: isRepeat)
  }

  /// Returns the days between two instants that calendars exclude from the schedule.
  private func excludedDays(_ reminder: Reminder, before end: Instant) -> [ExcludedDay] {
    // Most schedules name no calendar.
    guard !reminder.schedule.calendarNames.isEmpty else { return [] }
    let scheduleContext = context.scheduleContext(in: context.zone(of: reminder) ?? .utc, at: reminder.place)
    return reminder.schedule.excludedDays(
      after: now, before: end, in: scheduleContext, gap: reminder.gap, fold: reminder.fold, steps: 10_000)
  }
}
