import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Varlink

extension RequestHandler {
  typealias Interface = RemindersInterface

  /// The longest token that is taken.
  static let maxTokenBytes = 256

  func handle(_ request: Interface.Add) async throws -> Interface.Add.Reply {
    let drafted = try draft(request.reminder)
    let first = try fields.firstTime(of: drafted)
    return try await add(token: request.token) { [self] transaction in
      var (reminder, next) = (drafted, first)
      try chain(&reminder, waitingFor: request.reminder.onlyIfDone, in: transaction)
      if let link = request.reminder.tracker {
        try self.link(&reminder, link, in: transaction)
        next = try firstTime(of: &reminder, in: transaction)
      }
      return (reminder, next)
    }
  }

  /// Adds a reminder, once for each token.
  ///
  /// - Parameter make: the reminder, without its id, and its next time.
  private func add(
    token: String?, _ make: @escaping @Sendable (any StoreTransaction) throws -> (Reminder, next: Instant?)
  ) async throws -> Interface.Add.Reply {
    try check(token: token)
    return try await commit { [self] transaction in
      if let token, let kept = try transaction.answer(owner: caller.owner, token: token) {
        return (try JSONReader.read(Interface.Add.Reply.self, from: kept), [])
      }
      var (reminder, next) = try make(transaction)
      reminder.id = try insert(reminder, next: next, into: transaction)
      try record(
        .reminderAdded, reminder.title, ChangeDetail(reminders: [.init(before: nil, after: reminder)]), in: transaction)
      let reply = Interface.Add.Reply(
        reminder: try wire.reminder(
          asKept(ReminderRecord(reminder: reminder, next: next), in: transaction), in: transaction),
        warnings: try warnings(about: reminder, transaction) + chainWarnings(about: reminder, transaction)
          + silenceWarning(about: reminder, next, transaction))
      if let token {
        try transaction.keepAnswer(JSONWriter.bytes(of: reply), owner: caller.owner, token: token, now: now)
      }
      return (reply, [.reminder(.added, reminder, "added \"\(reminder.title)\"")])
    }
  }

  /// What is added while everything is silent is silent too.
  private func silenceWarning(
    about reminder: Reminder, _ next: Instant?, _ transaction: any StoreTransaction
  ) throws -> [String] {
    guard let silence = try transaction.silence(of: caller.owner), silence.holds(reminder, at: next ?? now),
      silence.until > now
    else { return [] }
    let end = RFC3339.format(silence.until, in: context.zones.local).prefix(16).replacing("T", with: " ")
    return ["nothing rings until \(end): `chime resume --all` ends the silence"]
  }

  func check(token: String?) throws {
    if let token, !(1...Self.maxTokenBytes).contains(token.utf8.count) {
      throw ControlFailure.invalidValue(field: "token", "give 1 to \(Self.maxTokenBytes) bytes")
    }
  }

  /// A reminder made of the configuration's defaults and what the client gave; its id is not yet known.
  func draft(_ draft: Interface.Draft) throws -> Reminder {
    let unnamed = ReminderID(rawValue: "")
    guard let title = draft.title else { throw ControlFailure.invalidValue(field: "title", "the title is missing") }
    guard let when = draft.when else { throw ControlFailure.invalidValue(field: "when", "the schedule is missing") }
    let zone = draft.timezone.map(ZoneChoice.init) ?? configuration.timezone
    let place = try fields.place(draft.latitude, draft.longitude)
    var reminder = Reminder(
      id: unnamed, owner: caller.owner, title: title,
      schedule: try fields.schedule(when, in: zone, at: place), timezone: zone, place: place,
      channels: configuration.defaultChannels,
      catchUp: configuration.catchUp, grace: configuration.grace, jitter: configuration.jitter,
      snoozeLengths: configuration.snooze, createdAt: now)
    // The schedule has been read.
    var rest = draft
    rest.when = nil
    try fields.apply(rest, to: &reminder)
    return reminder
  }

  static var expectsNoEntry: ControlFailure {
    .invalidValue(
      field: "within",
      "an expectation ends with a ping, and a tracker's reminder with an entry: give only one of the two")
  }

  func insert(
    _ reminder: Reminder, next: Instant?, into transaction: any StoreTransaction
  ) throws -> ReminderID {
    var generator = PooledRandom()
    for attempt in 0..<16 {
      var candidate = reminder
      candidate.id = ReminderID(length: 4 + attempt / 4, using: &generator)
      do {
        try transaction.upsert(candidate, next: next, since: now)
        return candidate.id
      } catch StoreFailure.idTaken { continue }
    }
    throw ControlFailure.limitExceeded("ids")
  }

  func warnings(about reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    let asleep = reminder.wake ? loop.wakeAlarm.problem.map { ["the machine cannot be woken for it: \($0)"] } ?? [] : []
    return asleep + (try channelWarnings(about: reminder, transaction))
  }

  private func channelWarnings(about reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    let paths = loop.paths
    return try reminder.channels(atRepeat: .max).compactMap { channel in
      if channel == .desktop {
        return paths.isSystem && paths.environment["DBUS_SESSION_BUS_ADDRESS"] == nil
          ? "the system's chimed has no desktop to show it on: send it to an endpoint or a command, or add it to "
            + "your own chimed"
          : nil
      }
      if let command = commands.book.commands[channel] { return warning(about: command) }
      let endpoint = try transaction.endpoint(DeliveryQueue(owner: reminder.owner, channel: channel))
      if let reason = endpoint?.disabled?.reason { return "the endpoint \(channel) is disabled: \(reason)" }
      return endpoint == nil
        ? "there is no endpoint or command \(channel) yet: messages to it wait until chime endpoint add \(channel) "
          + "URL, or a command in [commands.\(channel)] of the configuration"
        : nil
    }
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
      // What counts from when the other was last done comes when that does.
      if request.change.when != nil { copy.lastDone = nil }
      do {
        try lay(request.change, over: &copy, isNew: true, in: transaction)
        if original.isExpectation, copy.isExpectation, copy.title == original.title {
          throw ControlFailure.invalidValue(
            field: "title",
            "pings may name \"\(original.title)\" by its title: give the copy another title (chime copy "
              + "\(original.id) --title …)"
          )
        }
        return (copy, try firstTime(of: &copy, in: transaction))
      } catch  where request.change.when == nil && ControlFailure(error).isOver {
        throw ControlFailure.invalidValue(
          field: "when",
          "\"\(original.title)\" has no further time: give the copy a schedule (chime copy \(original.id) --when …)"
        )
      }
    }
    return Interface.Copy.Reply(reminder: reply.reminder, warnings: reply.warnings)
  }

  /// Lays what is given over a reminder, and sees that it makes sense with the reminders and the tracker that there are.
  private func lay(
    _ change: Interface.Draft, over reminder: inout Reminder, isNew: Bool = false,
    in transaction: any StoreTransaction
  ) throws {
    try fields.apply(change, to: &reminder)
    let reset = change.reset ?? []
    if change.within != nil, reminder.tracker != nil, !reset.contains(.tracker) { throw Self.expectsNoEntry }
    if reset.contains(.onlyIfDone) { reminder.onlyIfDone = nil }
    if isNew || change.when != nil || change.onlyIfDone != nil {
      try chain(&reminder, waitingFor: change.onlyIfDone, in: transaction)
    }
    // One whose tracker has gone, or is another, can still be given another title.
    guard isNew || change.tracker != nil || change.when != nil || reset.contains(.tracker) || reset.contains(.amount)
    else { return }
    try link(&reminder, change.tracker, reset: reset, in: transaction)
  }

  func handle(_ request: Interface.Get) async throws -> Interface.Get.Reply {
    let hearing = await loop.hearing()
    return try await store.read { [self] transaction in
      let record = try reminders(in: transaction).reminder(request.id)
      var reminder = try wire.reminder(record, in: transaction)
      reminder.unheard = hearing.problem(of: record.reminder)
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
      let open =
        try transaction.occurrences(
          OccurrenceFilter(reminder: record.reminder.id, openOnly: true), page: Page(limit: 100))
        + transaction.awaited(of: record.reminder.id)
      var generator = PooledRandom()
      try Announcing.removal(of: record.reminder, in: transaction, context, now: now, using: &generator)
      try transaction.remove(record.reminder.id, now: now)
      if record.isAlive { try requireUnfollowed([record.reminder], in: transaction) }
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

  /// What is known of a reminder that cannot be read, so that it can be removed by its id.
  private func stub(of unreadable: [UnreadableReminder], _ id: String) throws -> ReminderRecord? {
    guard let found = unreadable.first(where: { $0.id.rawValue == id }),
      caller.sees == nil || caller.sees == found.owner
    else { return nil }
    let once = try Schedule(canonical: "at \(RFC3339.format(now, in: .utc))")
    return ReminderRecord(
      reminder: Reminder(id: found.id, owner: found.owner, title: found.title, schedule: once, createdAt: now))
  }

  func handle(_ request: Interface.List) async throws -> Interface.List.Reply {
    let query = try self.query(request.filter)
    let page = try page(limit: request.limit, cursor: request.cursor)
    let hearing = await loop.hearing()
    return try await store.read { [self] transaction in
      let wire = self.wire
      var wanted: [Interface.Reminder] = []
      var warnings: [String] = []
      let cursor = try inParts(page) { part in
        let records = try transaction.reminders(query, page: part)
        warnings += transaction.unreadable.map(\.reason)
        var bytes = 0
        for record in records {
          var reminder = try wire.reminder(record, in: transaction)
          if reminder.state != .finished { reminder.unheard = hearing.problem(of: record.reminder) }
          guard isWanted(reminder, request.filter) else { continue }
          bytes += Self.bytes(of: reminder)
          wanted.append(reminder)
        }
        return (records.count + transaction.unreadable.count, bytes)
      }
      return Interface.List.Reply(reminders: wanted, cursor: cursor, warnings: warnings.isEmpty ? nil : warnings)
    }
  }

  /// The part of a filter that the store knows.
  func query(_ filter: Interface.Filter?) throws -> ReminderFilter {
    ReminderFilter(
      owner: caller.sees, tag: filter?.tag, text: filter?.text,
      dueFrom: try instant(filter?.dueFrom, "dueFrom"), dueBefore: try instant(filter?.dueBefore, "dueBefore"),
      includesFinished: filter?.all == true || filter?.state == .finished)
  }

  /// The rest of it: what is finished or waiting is told from the occurrences.
  func isWanted(_ reminder: Interface.Reminder, _ filter: Interface.Filter?) -> Bool {
    if let state = filter?.state { return reminder.state == state }
    return filter?.all == true || reminder.state != .finished
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
    guard Reminder.skips.contains(count) else {
      throw ControlFailure.invalidValue(field: "count", "give a number from 0 to \(Reminder.skips.upperBound)")
    }
    let reply = try await change(
      request.id, .reminderSkipped, count == 0 ? "skips nothing of" : "skips the next \(count) of"
    ) { reminder, _ in reminder.skipNext = count }
    return Interface.Skip.Reply(reminder: reply.reminder)
  }

  /// Changes one reminder: reads it, lets `edit` have it, finds its next time, writes it.
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
      try rewrite(&record, from: before, in: transaction)
      if isOther {
        try self.record(
          kind, try before.filled(in: transaction, context, now: now).title,
          ChangeDetail(reminders: [.init(before: before, after: record.reminder, next: next)]), in: transaction)
      }
      let reply = Interface.Update.Reply(
        reminder: try wire.reminder(asKept(record, in: transaction), in: transaction),
        warnings: try warnings(about: record.reminder, transaction))
      let filled = try record.reminder.filled(in: transaction, context, now: now)
      return (reply, [.reminder(.changed, filled, "\(verb) \"\(filled.title)\"")])
    }
  }

  /// Writes a reminder that was `before` until now, and finds its next time where that may be another.
  func rewrite(
    _ record: inout ReminderRecord, from before: Reminder, in transaction: any StoreTransaction
  ) throws {
    // What is held is looked at again: the change may let it come, or pass.
    var nextDueAt = record.isHeld ? now : nil
    let timesChanged =
      record.reminder.schedule != before.schedule || record.reminder.timezone != before.timezone
      || record.reminder.gap != before.gap || record.reminder.fold != before.fold
      || record.reminder.place != before.place || record.reminder.tracker != before.tracker
    if record.reminder.schedule != before.schedule || record.reminder.tracker != before.tracker {
      record.reminder.lastDone =
        record.reminder.countsFromDone
        ? try before.lastDone ?? lastDone(record.reminder.id, transaction) : nil
    }
    if record.reminder.schedule != before.schedule { record.reminder.chainedTimes = nil }
    // A due time that has come is left to the loop; a changed schedule begins afresh from now.
    if timesChanged { (record.next, nextDueAt) = (try firstTime(of: &record.reminder, in: transaction), nil) }
    record.reminder.generation += 1
    try transaction.upsert(record.reminder, next: record.next, nextDueAt: nextDueAt, since: now)
  }

  /// When it was last done, as its history tells.
  private func lastDone(_ id: ReminderID, _ transaction: any StoreTransaction) throws -> Instant? {
    try transaction.occurrences(OccurrenceFilter(reminder: id), page: Page(limit: 100))
      .first { $0.state == .done }?.endedAt
  }
}

extension ControlFailure {
  /// Whether it says that a schedule has no time to come.
  fileprivate var isOver: Bool {
    if case .invalidSchedule(let error) = self { error.code == .neverOccurs } else { false }
  }
}
