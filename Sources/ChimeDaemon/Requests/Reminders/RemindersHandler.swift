import ChimeControl
import ChimeCore
import ChimeSchedule

/// A RemindersHandler answers the methods about reminders.
struct RemindersHandler: RemindersInterface.Handler, ReminderPart, TrackingPart {
  typealias Interface = RemindersInterface

  let requestContext: RequestContext

  func handle(_ request: Interface.Add) async throws -> Interface.Add.Reply {
    let drafted = try writer.draft(request.reminder)
    let first = try fields.firstTime(of: drafted)
    return try await add(token: request.token) { [self] transaction in
      var (reminder, next) = (drafted, first)
      try chains.resolve(&reminder, waitingFor: request.reminder.onlyIfDone, in: transaction)
      if let link = request.reminder.tracker {
        try links.link(&reminder, link, in: transaction)
        next = try writer.firstTime(of: &reminder, in: transaction)
      }
      return (reminder, next)
    }
  }

  /// Adds a reminder. A repeated call with the same token gets the first reply again.
  ///
  /// - Parameter make: returns the reminder without its id, and its next time.
  private func add(
    token: String?, _ make: @escaping @Sendable (any StoreTransaction) throws -> (Reminder, next: Instant?)
  ) async throws -> Interface.Add.Reply {
    try check(token: token)
    return try await commit(token: token) { [self] transaction in
      var (reminder, next) = try make(transaction)
      reminder.id = try writer.insert(reminder, next: next, into: transaction)
      try record(
        .reminderAdded, reminder.title, ChangeDetail(reminders: [.init(before: nil, after: reminder)]), in: transaction)
      let reply = Interface.Add.Reply(
        reminder: try wire.reminder(
          chains.asKept(ReminderRecord(reminder: reminder, next: next), in: transaction), in: transaction),
        warnings: try warnings.about(reminder, transaction) + chains.warnings(about: reminder, transaction)
          + silenceWarning(about: reminder, next, transaction))
      return (reply, [.reminder(.added, reminder, "added \"\(reminder.title)\"")])
    }
  }

  /// Warns that a silence covers the new reminder.
  private func silenceWarning(
    about reminder: Reminder, _ next: Instant?, _ transaction: any StoreTransaction
  ) throws -> [String] {
    guard let silence = try transaction.silence(of: caller.owner), silence.holds(reminder, at: next ?? now),
      silence.until > now
    else { return [] }
    let end = RFC3339.format(silence.until, in: context.zones.local).prefix(16).replacing("T", with: " ")
    return ["nothing rings until \(end): `chime resume --all` ends the silence"]
  }

  func handle(_ request: Interface.Update) async throws -> Interface.Update.Reply {
    try await change(request.id, .reminderEdited, "changed") { [self] reminder, transaction in
      try lay(request.change, over: &reminder, in: transaction)
    }
  }

  func handle(_ request: Interface.Copy) async throws -> Interface.Copy.Reply {
    let reply = try await add(token: request.token) { [self] transaction in
      try transaction.lockTrackers()
      let original = try reminders(in: transaction).reminder(request.id).reminder
      var copy = original
      (copy.id, copy.createdAt, copy.generation) = (ReminderID(rawValue: ""), now, 0)
      (copy.pause, copy.skipNext, copy.chainedTimes, copy.set) = (.none, 0, nil, nil)
      // A copy of a reminder that counts from *done* comes with the original.
      if request.change.when != nil { copy.lastDone = nil }
      do {
        try lay(request.change, over: &copy, isNew: true, in: transaction)
        if original.isExpectation, copy.isExpectation, copy.title == original.title {
          throw ControlFailure.invalidValue(
            field: "title",
            "pings may name \"\(original.title)\" by its title: give the copy another title (chime copy \(original.id) --title …)"
          )
        }
        return (copy, try writer.firstTime(of: &copy, in: transaction))
      } catch  where request.change.when == nil && ControlFailure(error).isOver {
        throw ControlFailure.invalidValue(
          field: "when",
          "\"\(original.title)\" has no further time: give the copy a schedule (chime copy \(original.id) --when …)"
        )
      }
    }
    return Interface.Copy.Reply(reminder: reply.reminder, warnings: reply.warnings)
  }

  /// Applies the given fields, and checks them against other reminders and the tracker.
  private func lay(
    _ change: Interface.Draft, over reminder: inout Reminder, isNew: Bool = false,
    in transaction: any StoreTransaction
  ) throws {
    try fields.apply(change, to: &reminder)
    let reset = change.reset ?? []
    if change.within != nil, reminder.tracker != nil, !reset.contains(.tracker) { throw ReminderLinks.expectsNoEntry }
    if reset.contains(.onlyIfDone) { reminder.onlyIfDone = nil }
    if isNew || change.when != nil || change.onlyIfDone != nil {
      try chains.resolve(&reminder, waitingFor: change.onlyIfDone, in: transaction)
    }
    // A reminder whose tracker is gone or has changed can still get another title.
    guard isNew || change.tracker != nil || change.when != nil || reset.contains(.tracker) || reset.contains(.amount)
    else { return }
    try links.link(&reminder, change.tracker, reset: reset, in: transaction)
  }

  func handle(_ request: Interface.Get) async throws -> Interface.Get.Reply {
    let reachability = await loop.reachability()
    return try await store.read { [self] transaction in
      let record = try reminders(in: transaction).reminder(request.id)
      var reminder = try wire.reminder(record, in: transaction)
      reminder.undeliverable = reachability.problem(of: record.reminder)
      return Interface.Get.Reply(reminder: reminder)
    }
  }

  func handle(_ request: Interface.Remove) async throws -> Interface.Remove.Reply {
    try await commit { [self] transaction in
      try transaction.lockTrackers()
      let record: ReminderRecord
      var isReadable = true
      do {
        record = try reminders(in: transaction).reminder(request.id)
      } catch let failure as StoreFailure {
        guard let stub = try stub(of: transaction.unreadable, request.id) else { throw failure }
        (record, isReadable) = (stub, false)
      }
      let open = try transaction.openOccurrences(of: record.reminder.id) + transaction.awaited(of: record.reminder.id)
      var generator = PooledRandom()
      try Announcing.removal(of: record.reminder, in: transaction, context, now: now, using: &generator)
      try transaction.remove(record.reminder.id, now: now)
      if record.isAlive { try chains.requireUnfollowed([record.reminder], in: transaction) }
      let filled = try record.reminder.filled(in: transaction, context, now: now)
      if isReadable {
        try self.record(.reminderRemoved, filled.title, ChangeDetail(removing: record, open), in: transaction)
      } else {
        try note(.removed, filled.title, in: transaction)
      }
      let removed = PostCommitEffect.reminder(.removed, filled, "removed \"\(filled.title)\"")
      return (
        Interface.Remove.Reply(reminder: try wire.reminder(record, in: transaction)),
        [removed] + open.map { PostCommitEffect.withdraw($0.id) }
      )
    }
  }

  /// Returns what is known of an unreadable reminder, so that it can be removed by its id.
  private func stub(of unreadable: [UnreadableReminder], _ id: String) throws -> ReminderRecord? {
    guard let found = unreadable.first(where: { $0.id.rawValue == id }),
      caller.sees == nil || caller.sees == found.owner
    else { return nil }
    let once = try Schedule(canonical: "at \(RFC3339.format(now, in: .utc))")
    return ReminderRecord(
      reminder: Reminder(id: found.id, owner: found.owner, title: found.title, schedule: once, createdAt: now))
  }

  func handle(_ request: Interface.List) async throws -> Interface.List.Reply {
    let query = try ReminderQuery(request.filter, of: requestContext)
    let page = try page(limit: request.limit)
    let reachability = await loop.reachability()
    return try await store.read { [self] transaction in
      let wire = self.wire
      var wanted: [Interface.Reminder] = []
      var warnings: [String] = []
      var filter = query.stored
      let cursor = try inParts(page, after: place(request.cursor)) { part, place in
        filter.after = place
        let records = try transaction.reminders(filter, page: part)
        warnings += transaction.unreadable.map(\.reason)
        var bytes = 0
        wanted.reserveCapacity(wanted.count + records.count)
        for record in records {
          var reminder = try wire.reminder(record, in: transaction)
          if reminder.state != .finished { reminder.undeliverable = reachability.problem(of: record.reminder) }
          guard query.isWanted(reminder) else { continue }
          bytes += Self.bytes(of: reminder)
          wanted.append(reminder)
        }
        return (records.count + transaction.unreadable.count, bytes, transaction.listedThrough)
      }
      return Interface.List.Reply(reminders: wanted, cursor: cursor, warnings: warnings.isEmpty ? nil : warnings)
    }
  }

  /// The approximate size of a reminder in an answer, in bytes. Short fields count 600 together.
  private static func bytes(of reminder: RemindersInterface.Reminder) -> Int {
    let texts = ReminderFields.texts.reduce(0) { $0 + (reminder[keyPath: $1.shown]?.utf8.count ?? 0) }
    let tags = reminder.tags.reduce(0) { $0 + $1.utf8.count }
    return 600 + reminder.title.utf8.count + reminder.when.utf8.count + texts + tags
  }

  func handle(_ request: Interface.Pause) async throws -> Interface.Pause.Reply {
    let until = try instant(request.until, "until")
    if let until, until <= now {
      throw ControlFailure.invalidValue(field: "until", "give a future time")
    }
    let reply = try await change(request.id, .reminderPaused, "paused") { reminder, _ in
      reminder.pause = until.map(Pause.until) ?? .indefinitely
    }
    return Interface.Pause.Reply(reminder: reply.reminder)
  }

  func handle(_ request: Interface.Resume) async throws -> Interface.Resume.Reply {
    let reply = try await change(request.id, .reminderResumed, "resumed") { reminder, _ in reminder.pause = .none }
    return Interface.Resume.Reply(reminder: reply.reminder)
  }

  func handle(_ request: Interface.PauseAll) async throws -> Interface.PauseAll.Reply {
    guard let until = try instant(request.until, "until"), until > now else {
      throw ControlFailure.invalidValue(field: "until", "give a future time")
    }
    let silence = Silence(until: until, coversCritical: request.critical == true)
    return try await commit { [self] transaction in
      let before = try transaction.silence(of: caller.owner)
      try transaction.setSilence(silence, of: caller.owner)
      try record(.silenced, "", ChangeDetail(silence: .init(before: before, after: silence)), in: transaction)
      return (Interface.PauseAll.Reply(silence: wire.silence(silence)), [])
    }
  }

  func handle(_: Interface.ResumeAll) async throws -> Interface.ResumeAll.Reply {
    try await commit { [self] transaction in
      let silence = try transaction.silence(of: caller.owner)
      if let silence {
        try transaction.setSilence(nil, of: caller.owner)
        if silence.until > now {
          try record(.silenceEnded, "", ChangeDetail(silence: .init(before: silence, after: nil)), in: transaction)
        }
      }
      return (Interface.ResumeAll.Reply(silence: silence.flatMap { $0.until > now ? wire.silence($0) : nil }), [])
    }
  }

  func handle(_ request: Interface.Skip) async throws -> Interface.Skip.Reply {
    let count = request.count ?? 1
    try need(Reminder.skips.contains(count), "count", "give a number from 0 to \(Reminder.skips.upperBound)")
    let reply = try await change(
      request.id, .reminderSkipped, count == 0 ? "skips nothing of" : "skips the next \(count) of"
    ) { reminder, _ in reminder.skipNext = count }
    return Interface.Skip.Reply(reminder: reply.reminder)
  }

  /// Changes one reminder: reads it, applies `edit`, finds its next time, writes it.
  private func change(
    _ id: String, _ kind: TrackingChange.Kind, _ verb: String,
    edit: @escaping @Sendable (inout Reminder, any StoreTransaction) throws -> Void
  ) async throws -> Interface.Update.Reply {
    try await commit { [self] transaction in
      try transaction.lockTrackers()
      var record = try reminders(in: transaction).reminder(id)
      let (before, next) = (record.reminder, record.next)
      try edit(&record.reminder, transaction)
      let isOther = record.reminder != before
      try writer.rewrite(&record, from: before, in: transaction)
      if isOther {
        try self.record(
          kind, try before.filled(in: transaction, context, now: now).title,
          ChangeDetail(reminders: [.init(before: before, after: record.reminder, next: next)]), in: transaction)
      }
      let reply = Interface.Update.Reply(
        reminder: try wire.reminder(chains.asKept(record, in: transaction), in: transaction),
        warnings: try warnings.about(record.reminder, transaction))
      let filled = try record.reminder.filled(in: transaction, context, now: now)
      return (reply, [.reminder(.changed, filled, "\(verb) \"\(filled.title)\"")])
    }
  }
}

/// A ReminderQuery is the filter of a listing.
struct ReminderQuery: Sendable {
  private let filter: RemindersInterface.Filter?
  /// The part that the store applies.
  let stored: ReminderFilter

  init(_ filter: RemindersInterface.Filter?, of request: RequestContext) throws {
    self.filter = filter
    stored = ReminderFilter(
      owner: request.caller.sees, tag: filter?.tag, text: filter?.text,
      dueFrom: try request.instant(filter?.dueFrom, "dueFrom"),
      dueBefore: try request.instant(filter?.dueBefore, "dueBefore"),
      includesFinished: filter?.all == true || filter?.state == .finished)
  }

  /// Applies the rest of the filter: a state depends on the occurrences.
  func isWanted(_ reminder: RemindersInterface.Reminder) -> Bool {
    if let state = filter?.state { return reminder.state == state }
    return filter?.all == true || reminder.state != .finished
  }
}

extension ControlFailure {
  /// Whether the schedule has no time to come.
  fileprivate var isOver: Bool {
    if case .invalidSchedule(let error) = self { error.code == .neverOccurs } else { false }
  }
}
