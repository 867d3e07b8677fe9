import ChimeCore
import ChimeSchedule

/// An InvariantChecker is an independent model of the daemon's behavior. It inspects the store after each transaction,
/// derives the expected contents from the timetables, and reports differences.
///
/// It does not use `FiringDecision`, `Scheduler` or `Recompute`. It shares only the next time of a schedule with the
/// code under test, and checks that against civil time (`checkFolds`).
final class InvariantChecker {
  unowned let world: Simulation
  var known: [ReminderID: Known] = [:]
  var occurrences: [OccurrenceID: Occurrence] = [:]
  var deliveries: [DeliveryID: Delivery] = [:]
  /// All times that have fired.
  var fired: [ReminderID: Set<Instant>] = [:]
  var rounds: Set<Round> = []
  /// Times that had fired and whose records were removed while the clock was behind them.
  var prunedAhead: [ReminderID: Set<Instant>] = [:]
  /// How often each message arrived.
  var arrived: [DeliveryID: Int] = [:]
  /// When each delivery was first pending, in milliseconds of CLOCK_MONOTONIC.
  var pendingSince: [DeliveryID: Int64] = [:]
  /// When each queue last had a message refused or lost, in milliseconds of CLOCK_MONOTONIC.
  var troubled: [DeliveryQueue: Int64] = [:]
  /// The recent attempts of each queue with a rate limit, in milliseconds of CLOCK_BOOTTIME.
  var begins: [DeliveryQueue: (rate: EndpointSettings.Rate, at: [Int64])] = [:]
  /// The decisions of this daemon in degraded mode.
  var buffered = Buffered()
  /// The delivery ids under which this daemon showed rounds in degraded mode.
  var shownAs: [Round: DeliveryID] = [:]
  /// The rounds that this daemon knows to be delivered.
  var settled: Set<Round> = []
  /// The rounds that this daemon has reported.
  var reportedRounds: Set<ReportedRound> = []
  /// Deliveries whose outcome cannot be recorded: popups shown in degraded mode of a reminder that was removed, and those
  /// that went with the history.
  var abandoned: Set<DeliveryID> = []
  /// The deliveries that a restoration has removed. They may come again under another id.
  var lost: Set<DeliveryID> = []
  var overdueSince: (id: OccurrenceID, at: Int64)?
  var unrecordedSince: Int64?
  var emptyDegradedFirings = 0
  var wakeSeen: (commits: Int, steps: Int, armed: Instant?) = (0, 0, nil)
  /// The deliveries that were cancelled in a transaction whose commit this daemon knows.
  var calledOff: Set<DeliveryID> = []
  /// Until when each delivery is hidden, and for how long it was when that was set.
  var hidden: [DeliveryID: Hidden] = [:]
  var waitsSeen = (commits: 0, steps: 0)
  var degradedAt: Int64 = -1
  /// The reminder and its due time when the current step was decided.
  var decided: Reminder?
  var decidedDueAt: Instant?
  /// The occurrences that the current transaction has changed.
  var changed: Set<OccurrenceID> = []
  var chains = Chaining()
  lazy var history = HistoryChecker(world)
  lazy var trackers = TrackerChecker(world)
  lazy var tenants = TenantChecker(world)
  var pinging = Pinging()
  private var timetables: [ReminderID: Cached] = [:]
  private var emptyFires = 0
  private var rotation: [ReminderID] = []
  private var second: (at: Int64, steps: Int) = (0, 0)
  private var healedAt = Int64.max

  /// A reminder as its last transaction left it.
  struct Known {
    var reminder: Reminder
    var regular: MemoryContents.Regular?
  }

  struct Round: Hashable {
    var occurrence: OccurrenceID
    var queue: DeliveryQueue
    var round: Int
  }

  struct Hidden {
    var until: Instant
    var wait: Milliseconds
  }

  struct ReportedRound: Hashable {
    var occurrence: OccurrenceID
    var round: Int
  }

  private struct Cached {
    var reminder: Reminder
    var version: Int
    var timetable: Timetable
  }

  private(set) var source: MemoryTransaction

  init(_ world: Simulation) {
    self.world = world
    source = world.store.transaction
  }

  /// Runs checks against an earlier state of the store.
  func look(at contents: MemoryContents, _ body: () -> Void) {
    source = MemoryTransaction(contents, isReadOnly: true)
    body()
    source = world.store.transaction
  }

  /// The contents of the store, or those after the step that is being checked.
  var contents: MemoryContents { source.contents }

  /// The end of each reminder's runs of missed times, by their first time.
  var runs: [ReminderID: [Instant: Instant]] = [:]

  func fail(_ text: @autoclosure () -> String, always: Bool = false) { world.fail(text(), always: always) }

  func timetable(_ reminder: Reminder, _ context: ReminderContext) -> Timetable {
    // A new daemon starts counting versions anew.
    let version = world.figures.starts << 20 | context.version
    if let cached = timetables[reminder.id], cached.version == version,
      cached.reminder.generation == reminder.generation, cached.reminder.lastDone == reminder.lastDone,
      cached.reminder.createdAt == reminder.createdAt
    {
      return cached.timetable
    }
    let timetable = context.timetable(of: reminder)
    timetables[reminder.id] = Cached(reminder: reminder, version: version, timetable: timetable)
    return timetable
  }

  /// Forgets the timetables, because reminders of the same generation may differ.
  func forgetTimetables() { timetables = [:] }

  func forgetTimetable(of id: ReminderID) { timetables[id] = nil }

  /// Returns whether a time must not recur: it has fired, or its ping was awaited.
  func hasFired(_ id: ReminderID, _ time: Instant) -> Bool {
    fired[id]?.contains(time) ?? false || pinging.begun[id]?.contains(time) ?? false
  }

  /// Returns the first time after `instant` that has not fired.
  func firstUnfired(_ reminder: Reminder, _ timetable: Timetable, after instant: Instant) -> Instant? {
    var next = timetable.next(after: instant)
    while let time = next, hasFired(reminder.id, time) { next = timetable.next(after: time) }
    return next
  }

  // MARK: After each transaction

  func committed(_ work: Work) {
    world.figures.commits += 1
    let changes = world.store.transaction.changed
    judge(changes, work)
    guard work.kind == .fire else { return }
    checkDowntime(changes, work)
    emptyFires = changes.reminders.isEmpty && changes.occurrences.isEmpty ? emptyFires + 1 : 0
    if emptyFires > 5 { fail("firing transactions follow each other and do nothing") }
  }

  func judge(_ changes: MemoryTransaction.Changes, _ work: Work) {
    changed = changes.occurrences
    if work.kind == .history { return checkPruning(changes, work) }
    if work.kind == .remember { return checkRemembered(changes, work) }
    tenants.check(changes, work)
    trackers.check(contents, done: isAnswer(work.kind) ? newlyDone(changes) : [], work)
    recordEnds(changes, work)
    let wasDown = isDown(work)
    for id in changes.reminders {
      checkReminder(id, work)
      if contents.reminders[id]?.isExpectation != true { pinging.down.remove(id) }
    }
    for id in changes.occurrences {
      runs[id.reminder, default: [:]][id.scheduledAt] = contents.occurrences[id]?.missedRun?.through
    }
    for id in changes.occurrences { checkOccurrence(id, work) }
    for id in changes.deliveries { checkDelivery(id, work) }
    checkChains(work)
    checkReplacement(work)
    checkPing(changes, work, wasDown: wasDown)
  }

  /// Returns the reminders of what a transaction has ended as done.
  private func newlyDone(_ changes: MemoryTransaction.Changes) -> [Reminder] {
    changes.occurrences.compactMap { id in
      guard contents.occurrences[id]?.state == .done, occurrences[id]?.state != .done else { return nil }
      return contents.reminders[id.reminder]
    }
  }

  /// Returns when an occurrence was done; nil if it was not.
  private func doneAt(_ id: OccurrenceID) -> Instant? {
    guard let occurrence = occurrences[id] else { return nil }
    return [.done, .missed(.doneAlready)].contains(occurrence.state) ? occurrence.endedAt : nil
  }

  /// Checks that nothing but old history is gone, and forgets that too.
  private func checkPruning(_ changes: MemoryTransaction.Changes, _ work: Work) {
    if !changes.reminders.isEmpty { fail("a reminder has changed as the history was shortened") }
    let pending = Set(changes.deliveries.compactMap { deliveries[$0].flatMap { $0.isPending ? $0.occurrence : nil } })
    let gone = history.removed(changes, occurrences, pending: pending, work)
    if gone.count < changes.occurrences.count { fail("an occurrence has changed as the history was shortened") }
    var forgotten: [ReminderID: Set<Instant>] = [:]
    for id in gone {
      if let end = doneAt(id) { forgotten[id.reminder, default: []].insert(end) }
      if hasFired(id.reminder, id.scheduledAt), id.scheduledAt > work.now {
        prunedAhead[id.reminder, default: []].insert(id.scheduledAt)
      }
      fired[id.reminder]?.remove(id.scheduledAt)
      pinging.begun[id.reminder]?.remove(id.scheduledAt)
      runs[id.reminder]?[id.scheduledAt] = nil
      (occurrences[id], pinging.from[id]) = (nil, nil)
    }
    // What else was done at the same moment stays known: another occurrence, or a successful ping.
    for (id, times) in forgotten {
      let ends = times.subtracting(contents.occurrenceIDs(of: id).compactMap(doneAt))
      let pinged = Set((contents.pings[id] ?? []).filter { $0.kind == .succeeded }.map(\.at))
      chains.done[id]?.removeAll { ends.contains($0) && !pinged.contains($0) }
    }
    for id in changes.deliveries {
      if let delivery = deliveries.removeValue(forKey: id) { rounds.remove(Round(delivery)) }
      (hidden[id], pendingSince[id]) = (nil, nil)
      // Its attempt may be under way.
      abandoned.insert(id)
    }
    guard !gone.isEmpty else { return }
    reportedRounds = reportedRounds.filter { !gone.contains($0.occurrence) }
    settled = settled.filter { !gone.contains($0.occurrence) }
    shownAs = shownAs.filter { !gone.contains($0.key.occurrence) }
  }

  /// Checks that the history of a backup adds what is missing, and changes nothing.
  private func checkRemembered(_ changes: MemoryTransaction.Changes, _ work: Work) {
    for id in changes.reminders where contents.reminders[id] != known[id]?.reminder {
      fail("the history of a backup has changed the reminder \(id)")
    }
    for id in changes.deliveries where contents.outbox[id]?.delivery != deliveries[id] {
      fail("the history of a backup has changed the delivery \(id)")
    }
    var backup: [OccurrenceID: Occurrence] = [:]
    for case .occurrence(let occurrence) in world.restored { backup[occurrence.id] = occurrence }
    for id in changes.occurrences where contents.occurrences[id] != occurrences[id] {
      guard let new = contents.occurrences[id], occurrences[id] == nil else {
        fail("the history of a backup has changed \(id)")
        continue
      }
      let isGone = contents.reminders[id.reminder] == nil
      let state = backup[id].map { isGone && ($0.isOpen || $0.isAwaited) ? .dismissed : $0.state }
      if new.state != state || new.firedAt != backup[id]?.firedAt { fail("\(id) is remembered as \(new)") }
      occurrences[id] = new
      runs[id.reminder, default: [:]][id.scheduledAt] = new.missedRun?.through
      if new.firedAt != nil { fired[id.reminder, default: []].insert(id.scheduledAt) }
      if let end = doneAt(id) { chains.done[id.reminder, default: []].append(end) }
      guard contents.reminders[id.reminder]?.isExpectation == true else { continue }
      if new.wasDelivered { pinging.begun[id.reminder, default: []].insert(id.scheduledAt) }
      if new.isAwaited { pinging.from[id] = id.scheduledAt }
      if new.isOpen, new.firedAt != nil { pinging.down.insert(id.reminder) }
    }
  }

  func acknowledged(_ action: PlannedAction) {
    let id = ReminderID(rawValue: action.subject)
    guard action.verb == .add || action.verb == .edit, known[id] != nil else { return }
    if contents.reminders[id] == nil { fail("the reminder \(id) was acknowledged and is gone") }
  }

  // MARK: After each step

  func check() {
    if world.mono / 1_000 == second.at {
      second.steps += 1
      if second.steps > 100_000 { fail("a hundred thousand steps in one second", always: true) }
    } else {
      second = (world.mono / 1_000, 0)
    }
    guard let loop = world.loop else { return }
    let limit = Scheduler.prefetch + 64 * 64
    world.figures.mostHeld = max(world.figures.mostHeld, loop.core.outbox.held.count)
    if loop.core.outbox.held.count > limit {
      fail("\(loop.core.outbox.held.count) claimed deliveries are held in memory")
    }
    guard loop.isReady, !loop.isStopping, loop.busy == 0, world.untold == 0 else { return }
    if let wakeups = try? world.store.transaction.wakeups() {
      checkTimers(loop, wakeups)
      checkWaits(loop)
      checkWake(loop)
      tenants.checkPromptness(loop)
      checkDegradedMode(loop, wakeups)
      checkAwaitedTimes()
      history.check(loop)
    }
    if rotation.isEmpty { rotation = known.keys.sorted() }
    if let id = rotation.popLast() { audit(id, loop) }
  }

  func clockWasSet(by step: Milliseconds) {
    begins = [:]
    history.clockWasSet(by: step)
    // A daemon that starts later may not notice; and less than a minute is not worth a transaction.
    if step < .zero, step >= .minutes(-1) || world.loop?.isReady != true {
      hidden = hidden.mapValues { Hidden(until: $0.until, wait: $0.wait - step) }
    }
    pinging.lastSuccess = [:]
    permitDelays(for: 0)
  }

  /// Resets what was in the memory of the previous daemon; its popups may be shown again.
  func daemonStarts() {
    begins = [:]
    (buffered, shownAs, settled, reportedRounds, calledOff) = (Buffered(), [:], [], [], [])
    (pinging.downtimesReported, pinging.fires) = ([:], 0)
    history.daemonStarts()
    daemonWasStopped()
  }

  func healed(at mono: Int64) { healedAt = mono }

  func checkEnd() {
    for id in contents.pending.values.joined().map(\.id) {
      let since = pendingSince[id] ?? 0
      guard since < healedAt + Milliseconds.days(1).rawValue, let entry = contents.outbox[id] else { continue }
      fail(
        "the delivery \(id) to \(entry.delivery.queue.channel) of \(entry.delivery.occurrence) is still pending, days after all faults ended: "
          + "\(entry.delivery.state), visible at \(entry.visibleAt.text)")
    }
    for (id, regular) in contents.regular where regular.dueAt + .minutes(1) < world.wall {
      fail("\(id) was due at \(regular.dueAt.text) and has not fired")
    }
    for (id, at) in contents.again where at + .minutes(1) < world.wall {
      fail("\(id) should have fired again at \(at.text)")
    }
    for id in known.keys where contents.reminders[id] == nil { fail("the reminder \(id) is gone") }
    for (id, occurrence) in occurrences where contents.occurrences[id] != occurrence {
      fail("the occurrence \(id) has changed without a cause")
    }
    if let loop = world.loop { for id in known.keys { audit(id, loop) } }
    checkHistory()
  }

  /// Checks that the product's own audit finds a record of each time in the whole run.
  private func checkHistory() {
    guard let context = world.loop?.core.context else { return }
    do {
      let first = try ScheduleAudit.keptSince(in: source) ?? .earliest
      let log = ScheduleContextLog(try source.notes(named: ScheduleContextLog.notePrefix))
      for id in try source.versionedIDs(owner: nil, after: nil, limit: 10_000) {
        let audit = try ScheduleAudit.of(
          source.versions(of: id), from: min(first, world.wall), before: world.wall, in: source, context, log,
          now: world.wall)
        world.figures.audited += audit.times
        world.figures.uncertain += audit.uncertain
        guard let first = audit.unexplainedTimes.first else { continue }
        fail(
          "the audit finds no record of \(id) at \(first.text), and of \(audit.unexplained) times in all", always: true)
      }
    } catch {
      fail("the history could not be audited: \(error)", always: true)
    }
  }
}

// A store that was restored from a snapshot: the checker goes back with it, and judges as before.
extension InvariantChecker {
  /// What the checker knows of the store.
  struct Model {
    var known: [ReminderID: Known]
    var occurrences: [OccurrenceID: Occurrence]
    var deliveries: [DeliveryID: Delivery]
    var fired: [ReminderID: Set<Instant>]
    var rounds: Set<Round>
    var hidden: [DeliveryID: Hidden]
    var runs: [ReminderID: [Instant: Instant]]
    var done: [ReminderID: [Instant]]
    var pinging: Pinging
    var trackers: TrackerChecker.Model
  }

  var model: Model {
    Model(
      known: known, occurrences: occurrences, deliveries: deliveries, fired: fired, rounds: rounds, hidden: hidden,
      runs: runs, done: chains.done, pinging: pinging, trackers: trackers.model)
  }

  /// Forgets what has happened since the snapshot. What has arrived may arrive again, and what was lost has no row in
  /// which an outcome could be recorded.
  func goBack(to model: Model) {
    lost.formUnion(Set(deliveries.keys).subtracting(model.deliveries.keys))
    abandoned.formUnion(lost)
    (known, occurrences, deliveries) = (model.known, model.occurrences, model.deliveries)
    (fired, rounds, hidden, runs) = (model.fired, model.rounds, model.hidden, model.runs)
    chains.done = model.done
    pinging.last = model.pinging.last
    pinging.lastSuccess = model.pinging.lastSuccess
    (pinging.down, pinging.from, pinging.begun) = (model.pinging.down, model.pinging.from, model.pinging.begun)
    trackers.goBack(to: model.trackers)
    tenants.goBack(contents)
    (shownAs, settled, reportedRounds, calledOff) = ([:], [], [], [])
    (wakeSeen.commits, waitsSeen.commits) = (-1, -1)
    forgetTimetables()
    daemonWasStopped()
  }
}

extension Instant {
  var text: String { RFC3339.format(self, in: .utc) }
}
