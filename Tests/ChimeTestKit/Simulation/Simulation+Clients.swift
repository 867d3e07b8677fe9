import ChimeCore
import ChimeSchedule
import ChimeTracking

// Client requests, mirroring the request handler.
extension Simulation {
  static let owner: UInt32 = 1_000

  /// Returns the owner that the word `owner` counts from the usual one.
  static func owner(_ words: [String: String]) -> UInt32 {
    words["owner"].flatMap { UInt32($0) }.map { owner + $0 } ?? owner
  }

  static func queue(_ channel: String, _ words: [String: String] = [:]) -> DeliveryQueue {
    DeliveryQueue(owner: owner(words), channel: ChannelName(rawValue: channel))
  }

  func ask(_ action: PlannedAction) { ask([action]) }

  /// Asks for something, or for several changes that one transaction carries out together or not at all.
  func ask(_ actions: [PlannedAction]) {
    guard let first = actions.first, let loop, loop.isReady, !loop.isStopping else { return }
    let (now, context, heard) = (wall, loop.core.context, loop.core.degradedMode.unrecordedOccurrences)
    figures.requests += 1
    loop.write(Work.Kind(actions), context: context, at: now) { [self] transaction, _ in
      asking = store.contents.reminders[ReminderID(rawValue: first.subject)]?.owner ?? Self.owner(first.words)
      let answers = try actions.map {
        try answer($0, in: transaction, context, loop.core.uptime, heard: heard, now: now)
      }
      return (CommitChanges(answers.map(\.0)), answers.contains(where: \.1), try loop.wakeups(in: transaction))
    } _: { [self] result in
      switch result {
      case .success(let (changes, changesEndpoints, wakeups)):
        actions.forEach(checker.acknowledged)
        guard changesEndpoints else { return loop.committed(changes, wakeups, with: context) }
        loop.refreshEndpoints { loop.committed(changes, wakeups, with: context) }
      case .failure(let error):
        figures.refusals += 1
        if error.isPassing { loop.drive { $0.changeRefused(error) } }
      }
    }
  }

  /// Restores endpoints that were disabled or removed.
  func repairEndpoints() {
    guard let loop, loop.isReady, !loop.isStopping else {
      return later(1_000) { [self] in repairEndpoints() }
    }
    for owner in Set(store.contents.reminders.values.map(\.owner)).sorted() {
      let words = owner == Self.owner ? [:] : ["owner": "\(owner - Self.owner)"]
      for name in SimulationPlan.hooks { ask(PlannedAction(.zero, .endpoint, name, 0, words)) }
    }
  }

  struct Refused: Error {}

  /// Carries out a request.
  ///
  /// - Returns: what it has changed, and whether the endpoints are to be read again.
  private func answer(
    _ action: PlannedAction, in transaction: any StoreTransaction, _ context: ReminderContext, _ uptime: Uptime,
    heard: Set<OccurrenceID>, now: Instant
  ) throws -> (CommitChanges, Bool) {
    var changes = CommitChanges()
    let id = ReminderID(rawValue: action.subject)
    switch action.verb {
    case .add:
      guard try transaction.reminder(id) == nil else { throw Refused() }
      let reminder = try Self.reminder(id, action.words, context, now: now)
      try requireOthers(of: reminder, in: transaction)
      let next = try firstTime(of: reminder, context, after: now)
      try transaction.upsert(reminder, next: next, since: now)
    case .remove:
      guard let owner = try transaction.reminder(id)?.reminder.owner else { throw Refused() }
      let open =
        try transaction.occurrences(OccurrenceFilter(reminder: id, openOnly: true), page: Page(limit: 100))
        + transaction.awaited(of: id)
      for selection in [ReminderSelection.following(id, owner: owner), .needing(id, owner: owner)]
      where try !transaction.reminderIDs(selection, after: nil, limit: 1).isEmpty { throw Refused() }
      try transaction.remove(id, now: now)
      (changes.changed, changes.removed) = ([id], [id])
      for occurrence in open { changes.withdrawn[occurrence.id] = .some(nil) }
    case .edit, .pause, .resume, .skip:
      try change(id, in: transaction, context, now: now) { reminder in
        switch action.verb {
        case .pause: reminder.pause = action.amount == 0 ? .indefinitely : .until(now + .milliseconds(action.amount))
        case .resume: reminder.pause = .none
        case .skip: reminder.skipNext = Int(action.amount)
        default:
          var edited = try Self.reminder(id, action.words, context, now: now)
          edited.pause = reminder.pause
          edited.skipNext = reminder.skipNext
          edited.lastDone = reminder.lastDone
          edited.chainedTimes = reminder.chainedTimes
          edited.createdAt = reminder.createdAt
          edited.generation = reminder.generation
          edited.owner = reminder.owner
          try requireOthers(of: edited, in: transaction)
          reminder = edited
        }
      }
      changes.changed = [id]
    case .done, .dismiss, .snooze:
      let filter = OccurrenceFilter(reminder: id, openOnly: true)
      guard let occurrence = try transaction.occurrences(filter, page: Page(limit: 1)).first,
        !heard.contains(occurrence.id)
      else { throw Refused() }
      let answer: Occurrence.Answer =
        switch action.verb {
        case .done: .done
        case .dismiss: .dismiss
        default: .snooze(for: .milliseconds(action.amount))
        }
      let reminder = try transaction.reminder(id)?.reminder
      var generator = SeededGenerator(seed: 0)
      let work = try AnswerTransaction.run(
        answer, to: occurrence, reminder: reminder, in: transaction, context, now: now, using: &generator)
      changes = CommitChanges(work)
    case .ping: changes = try ping(action, in: transaction, context, uptime, heard: heard, now: now)
    case .fire:
      guard let record = try transaction.reminder(id) else { throw Refused() }
      var generator = SeededGenerator(seed: bits())
      let (occurrence, deliveries) = FiringDecision(now: now, uptime: Uptime(runningSince: now))
        .fireNow(record.reminder, using: &generator)
      let known = try transaction.occurrence(occurrence.id)
      if known?.firedAt != nil || heard.contains(occurrence.id) { throw Refused() }
      let due = DueReminder(reminder: record.reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: now)
      try transaction.record([
        FiringResult(
          due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
          skipNext: record.reminder.skipNext)
      ])
    case .track, .log, .undo: return (try track(action, in: transaction, context, now: now), false)
    default: return try answerAboutChannels(action, in: transaction, now: now)
    }
    changes.reminders = [id]
    return (changes, false)
  }

  private func track(
    _ action: PlannedAction, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> CommitChanges {
    var generator = SeededGenerator(seed: bits())
    let owner = Self.owner(action.words)
    let work = TrackingOperations(in: transaction, owner: owner, context, now: now)
    let key = TrackerKey(owner: owner, id: TrackerID(rawValue: action.subject))
    func amount(_ number: Int64) -> Quantity { Quantity(grains: number * Quantity.one.grains) }
    do {
      switch action.verb {
      case .track:
        guard try transaction.tracker(key) == nil else { throw Refused() }
        let goal = action.amount
        let isAmount = action.words["usual"] != nil
        var tracker = Tracker(
          id: key.id, owner: key.owner, title: LocalizedText(action.subject), kind: isAmount ? .amount : .check,
          goal: goal == 0
            ? nil
            : Goal(
              isAmount ? .total(amount(goal)) : .count(Int(goal)),
              each: action.words["per"].flatMap(Goal.Period.init) ?? .day),
          usual: action.words["usual"].flatMap { Int64($0) }.map(amount),
          startedOn: context.zones.local.civil(at: now).date, createdAt: now)
        tracker.dayStartsAt = action.words["from"].flatMap { Int($0) } ?? 0
        return CommitChanges(try work.put(tracker, using: &generator))
      case .log:
        guard let tracker = try transaction.tracker(key) else { throw Refused() }
        let quantity = tracker.kind == .amount ? amount(action.amount) : nil
        return CommitChanges(try work.log(EntryDraft(tracker: key.id, quantity: quantity), using: &generator))
      default: return try takeBack(work)
      }
    } catch is TrackingRefused {
      throw Refused()
    }
  }

  private func ping(
    _ action: PlannedAction, in transaction: any StoreTransaction, _ context: ReminderContext, _ uptime: Uptime,
    heard: Set<OccurrenceID>, now: Instant
  ) throws -> CommitChanges {
    let id = ReminderID(rawValue: action.subject)
    guard let record = try transaction.reminder(id), record.reminder.isExpectation,
      !heard.contains(where: { $0.reminder == id })
    else { throw Refused() }
    var generator = SeededGenerator(seed: bits())
    let work = try PingTransaction.run(
      Ping(at: now, kind: action.ping, uid: Self.owner), of: record, in: transaction, context, uptime: uptime,
      using: &generator)
    var changes = CommitChanges()
    (changes.changed, changes.pinged) = (work.chained.map(\.after.id), [id])
    for closed in work.closed { changes.withdrawn[closed.occurrence.id] = .some(nil) }
    return changes
  }

  /// Rejects a reminder that depends on a missing reminder, or on itself through others.
  private func requireOthers(of reminder: Reminder, in transaction: any StoreTransaction) throws {
    let others = reminder.dependsOn
    for id in others where try transaction.reminder(id)?.reminder.owner != reminder.owner { throw Refused() }
    guard try Chains.cycle(of: reminder, through: others, in: transaction) == nil else { throw Refused() }
  }

  /// Returns the first time of a reminder; nil for one that follows another without an outcome yet.
  private func firstTime(of reminder: Reminder, _ context: ReminderContext, after now: Instant) throws -> Instant? {
    let next = context.timetable(of: reminder).next(after: now)
    guard next != nil || reminder.follows != nil else { throw Refused() }
    return next
  }

  private func answerAboutChannels(
    _ action: PlannedAction, in transaction: any StoreTransaction, now: Instant
  ) throws -> (CommitChanges, Bool) {
    var changes = CommitChanges()
    let queue = Self.queue(action.subject, action.words)
    switch action.verb {
    case .endpoint:
      var settings = EndpointSettings()
      settings.concurrency = action.words["concurrency"].flatMap { Int($0) }
      settings.inOrder = action.words["order"] == nil ? nil : true
      if let rate = action.words["rate"].flatMap({ Int($0) }) {
        settings.rate = EndpointSettings.Rate(count: rate, span: .minutes(1))
      }
      try transaction.put(
        Endpoint(queue: queue, url: "https://hooks.example/\(action.subject)", settings: settings, createdAt: now))
      try transaction.wake(queue: queue, now: now)
    case .forget: guard try transaction.removeEndpoint(queue, now: now) else { throw Refused() }
    case .enable, .disable:
      guard var endpoint = try transaction.endpoint(queue) else { throw Refused() }
      endpoint.failingSince = nil
      endpoint.disabled =
        action.verb == .enable ? nil : Endpoint.Disabled(reason: "it was disabled by hand", at: now)
      try transaction.put(endpoint)
      if action.verb == .enable { try transaction.wake(queue: queue, now: now) }
    case .redeliver:
      let filter = DeliveryFilter(owner: queue.owner, channel: queue.channel, state: .dead)
      for delivery in try transaction.deliveries(filter, page: Page(limit: 50)) {
        if try transaction.occurrence(delivery.occurrence)?.isOpen == true,
          try transaction.replay(delivery.id, now: now)
        {
          changes.opened = [queue]
        }
      }
      return (changes, false)
    case .discard:
      var pending: Set<DeliveryID> = []
      for state in [DeliveryFilter.State.pending, .waiting] {
        let filter = DeliveryFilter(owner: queue.owner, channel: queue.channel, state: state)
        pending.formUnion(try transaction.deliveries(filter, page: Page(limit: 500)).map(\.id))
      }
      for id in pending { try transaction.acknowledge(id, attempt: nil, state: .cancelled(at: now)) }
      changes.cancelled = pending
      return (changes, false)
    default: return (changes, false)
    }
    return (changes, true)
  }

  /// Edits a reminder as the request handler does.
  private func change(
    _ id: ReminderID, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    _ edit: (inout Reminder) throws -> Void
  ) throws {
    guard var record = try transaction.reminder(id) else { throw Refused() }
    let before = record.reminder
    try edit(&record.reminder)
    let after = record.reminder
    var nextDueAt = record.isHeld ? now : nil
    if after.schedule != before.schedule, !after.schedule.countsFromDone { record.reminder.lastDone = nil }
    if after.schedule != before.schedule { record.reminder.chainedTimes = nil }
    if after.schedule != before.schedule || after.timezone != before.timezone || after.gap != before.gap
      || after.fold != before.fold
    {
      (record.next, nextDueAt) = (try firstTime(of: record.reminder, context, after: now), nil)
    }
    record.reminder.generation += 1
    try transaction.upsert(record.reminder, next: record.next, nextDueAt: nextDueAt, since: now)
  }

  /// Builds a reminder from the words of a plan.
  static func reminder(
    _ id: ReminderID, _ words: [String: String], _ context: ReminderContext, now: Instant
  ) throws -> Reminder {
    let zone = ZoneChoice(words["zone"] ?? "local")
    guard let rules = context.zones.zone(for: zone) else { throw Refused() }
    let schedule = try Schedule.parse(words["when"] ?? "", now: now, in: context.scheduleContext(in: rules))
    var reminder = Reminder(
      id: id, owner: owner(words), title: words["when"] ?? "", schedule: schedule, timezone: zone, createdAt: now)
    reminder.gap = words["gap"].flatMap(GapRule.init)
    reminder.fold = words["fold"].flatMap(FoldRule.init)
    reminder.within = words["within"].flatMap { Int64($0) }.map { .seconds($0) }
    reminder.onlyIfDone = words["needs"].map(ReminderID.init)
    reminder.urgency = words["urgency"].flatMap(Urgency.init) ?? (reminder.isExpectation ? .critical : .normal)
    reminder.catchUp = CatchUp(
      suspend: words["suspend"].flatMap(CatchUpRule.init) ?? .latest,
      downtime: words["downtime"].flatMap(CatchUpRule.init) ?? .latest)
    if let grace = words["grace"].flatMap({ Int64($0) }) { reminder.grace = .seconds(grace) }
    if let jitter = words["jitter"].flatMap({ Int64($0) }) { reminder.jitter = .seconds(jitter) }
    if let channels = words["channels"] {
      reminder.channels = channels.split(separator: ",").map { ChannelName(rawValue: String($0)) }
    }
    if let nag = words["nag"]?.split(separator: "x").compactMap({ Int64($0) }), nag.count == 2 {
      reminder.nag = Nag(every: .seconds(nag[0]), max: Int(nag[1]))
      if let channel = words["joins"] {
        reminder.nag?.escalation = [Nag.Step(from: 2, channels: [ChannelName(rawValue: channel)])]
      }
    }
    reminder.wake = words["wake"] != nil
    reminder.tracker = words["tracker"].map { name in
      TrackerLink(
        tracker: TrackerID(rawValue: name), logsWhenDone: words["logs"] == nil, quietWhenDone: words["silent"] != nil)
    }
    if words["hours"] != nil || words["handling"] != nil {
      let hours = try words["hours"].map { try QuietHours($0.split(separator: ";").map { String($0) }) }
      reminder.quiet = QuietRule(hours: hours, handling: words["handling"].flatMap(QuietRule.Handling.init))
    }
    return reminder
  }
}
