import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule

/// Adds the reminders of files of other programs.
extension RemindersHandler {
  func handle(_ request: Interface.Import) async throws -> Interface.Import.Reply {
    try check(token: request.token)
    let choice = request.timezone.map(ZoneChoice.init) ?? configuration.timezone
    var settings = ImportSettings(now: now, scheduleContext: context.scheduleContext(in: try fields.zone(choice)))
    if let text = request.allDayAt {
      guard let time = CivilTime(text) else {
        throw ControlFailure.invalidValue(field: "allDayAt", "give a time of day, such as 09:00")
      }
      settings.allDayAt = time
    }
    let text = Array(request.text.utf8)
    let plan =
      switch request.format {
      case .crontab: try CrontabImport.read(text, settings, hasUsers: request.system ?? false)
      case .icalendar: try CalendarImport.read(text, settings)
      case .at: try AtImport.read(text, settings)
      case .systemd: try TimerImport.read(text, settings)
      case .remind: try RemindImport.read(text, settings)
      case .taskwarrior: try TaskImport.read(text, settings)
      }
    let candidates = try await candidates(plan, request)
    guard request.dryRun != true else {
      return try await store.read { [self] transaction in
        var reply = candidates.reply
        for candidate in try fresh(candidates, again: request.again ?? false, transaction, &reply) {
          reply.added.append(imported(candidate, id: nil))
        }
        return ordered(reply)
      }
    }
    return try await commit(token: request.token, isLarge: true) { [self] transaction in
      var reply = candidates.reply
      let fresh = try fresh(candidates, again: request.again ?? false, transaction, &reply)
      let added = try insert(fresh.map { NewReminder($0.reminder, next: $0.next) }, into: transaction)
      reply.added = zip(fresh, added).map { imported($0, id: $1.id) }
      try record(added, from: fresh.compactMap(\.draft), in: transaction)
      return (ordered(reply), added.map { .reminder(.added, $0, "added \"\($0.title)\"") })
    }
  }

  /// The reminders that a file asks for, checked like those of any request.
  private struct Candidates: Sendable {
    struct Candidate: Sendable {
      var line: Int
      var reminder: Reminder
      var next: Instant
      /// Nil in a dry run.
      var draft: ChangeDetail.Draft?
    }

    var all: [Candidate] = []
    /// The reply with the remarks so far.
    var reply = Interface.Import.Reply(added: [], remarks: [], warnings: [])
  }

  private func candidates(
    _ plan: ImportPlan, _ request: Interface.Import
  ) async throws -> Candidates {
    // A fault in what applies to all lines fails the request, not each line.
    _ = try writer.draft(
      Interface.Draft(
        title: "sample", when: "every 1h", timezone: request.timezone, channels: request.channels, tags: request.tags,
        within: request.within))
    var candidates = Candidates()
    for remark in plan.remarks {
      candidates.reply.remarks.append(
        Interface.ImportRemark(
          line: remark.line, title: remark.title, kind: .init(rawValue: remark.kind.rawValue) ?? .note,
          message: remark.message))
    }
    for (index, item) in plan.drafts.enumerated() {
      if index % 16 == 15 { try life.goOn() }
      let tags = (request.tags ?? []) + item.tags.filter { !(request.tags ?? []).contains($0) }
      do {
        var wanted = Interface.Draft(
          title: item.title, when: item.schedule.canonical, body: item.body,
          timezone: item.timezone ?? request.timezone, channels: request.channels,
          tags: Array(tags.prefix(ReminderFields.maxItems)),
          urgency: request.within == nil ? .init(rawValue: item.urgency.rawValue) : nil,
          catchUp: item.catchUp.map(wire.catchUp),
          jitter: item.jitter.map(DurationText.formatISO8601), wake: item.wake, within: request.within)
        for text in ReminderFields.texts {
          if let value = item.texts[text.name] { wanted[keyPath: text.given] = value }
        }
        let reminder = try writer.draft(wanted)
        // Files of other programs have no reminders that count from others.
        if let next = try fields.firstTime(of: reminder) {
          candidates.all.append(
            .init(
              line: item.line, reminder: reminder, next: next,
              draft: request.dryRun == true ? nil : try ChangeDetail.Draft(reminder)))
        }
      } catch let failure as ControlFailure {
        candidates.reply.remarks.append(
          Interface.ImportRemark(line: item.line, title: item.title, kind: .refused, message: failure.sentence))
      } catch let error as ScheduleError {
        candidates.reply.remarks.append(
          Interface.ImportRemark(line: item.line, title: item.title, kind: .refused, message: error.message))
      }
    }
    return candidates
  }

  /// Returns the candidates that the owner does not have yet. Title, schedule and time zone tell reminders apart. Of several
  /// equal ones, as many are left out as the store has.
  private func fresh(
    _ candidates: Candidates, again: Bool, _ transaction: any StoreTransaction, _ reply: inout Interface.Import.Reply
  ) throws -> [Candidates.Candidate] {
    struct Look: Hashable {
      var title: String
      var schedule: Schedule
      var timezone: ZoneChoice

      init(_ reminder: Reminder) {
        (title, schedule, timezone) = (reminder.title, reminder.schedule, reminder.timezone)
      }
    }
    reply.warnings = try candidates.all.first.map { try warnings.about($0.reminder, transaction) } ?? []
    if again { return candidates.all }
    var known: [Look: Int] = [:]
    let titles = Array(Set(candidates.all.map(\.reminder.title)))
    // One query for each title would delay all other changes.
    for first in stride(from: 0, to: titles.count, by: 200) {
      let some = Array(titles[first..<min(first + 200, titles.count)])
      let found = try transaction.reminders(
        ReminderFilter(owner: caller.owner, titles: some), page: Page(limit: 10_000))
      for record in found { known[Look(record.reminder), default: 0] += 1 }
    }
    return candidates.all.filter { candidate in
      let look = Look(candidate.reminder)
      guard let count = known[look], count > 0 else { return true }
      known[look] = count - 1
      reply.remarks.append(
        Interface.ImportRemark(line: candidate.line, title: look.title, kind: .duplicate, message: "it exists already"))
      return false
    }
  }

  private func imported(_ candidate: Candidates.Candidate, id: ReminderID?) -> Interface.Imported {
    let reminder = candidate.reminder
    return Interface.Imported(
      line: candidate.line, id: id?.rawValue, title: reminder.title, when: reminder.schedule.canonical,
      timezone: reminder.timezone.text, next: wire.time(candidate.next, in: wire.zone(of: reminder)))
  }

  /// Sorts the remarks by line.
  private func ordered(_ reply: Interface.Import.Reply) -> Interface.Import.Reply {
    var reply = reply
    let remarks = reply.remarks.enumerated().sorted {
      ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
    }
    reply.remarks = remarks.map(\.element)
    return reply
  }
}

extension ControlFailure {
  /// The sentence about one of many.
  var sentence: String {
    switch self {
    case .invalidSchedule(let error): error.message
    case .invalidValue(let field, let message): "the \(field) cannot be used: \(message)"
    default: "it was rejected"
    }
  }
}
