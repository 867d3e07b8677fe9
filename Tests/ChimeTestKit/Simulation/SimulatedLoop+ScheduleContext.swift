import ChimeCore
import ChimeSchedule

// Start, clock, zones and queues, mirroring `EventLoop`.
extension SimulatedLoop {
  func start() {
    write(.start, tells: false) { transaction, _ in
      try transaction.releaseClaims()
      return (try transaction.endpoints(owner: nil), try Downtime.trace(in: transaction))
    } _: { [self] result in
      if case .success(let ((known, trace), wakeups)) = result { return begin(known, wakeups, after: trace) }
      // A read-only store can still be read; the start is recorded later.
      read {
        (try $0.endpoints(owner: nil), try $0.wakeups(), try Downtime.trace(in: $0))
      } _: { [self] result in
        guard case .success(let (known, wakeups, trace)) = result else {
          // The daemon exits with an error, and the service manager restarts it.
          die()
          world.loop = nil
          return world.later(5_000) { [world] in world.boot() }
        }
        degradedMode.needsStart = true
        storeFailed()
        begin(known, wakeups, after: trace)
      }
    }
  }

  private func begin(_ known: [Endpoint], _ wakeups: NextWakeups, after trace: Downtime.Trace?) {
    if uptime.runningSince == startedAt {
      downtime = Downtime(after: trace, until: startedAt, channels: [.desktop])
    }
    adopt(known)
    if degradedMode.needsStart { handle(.kept) }
    handle(.wakeups(wakeups))
    isReady = true
    world.note { "chimed is ready" }
    reviewScheduleContext()
  }

  // MARK: Queues

  func adopt(_ known: [Endpoint]) {
    let former = outbox.endpoints
    outbox.endpoints = Dictionary(known.map { ($0.queue, $0) }) { _, last in last }
    let renewed = Set(former.keys).union(outbox.endpoints.keys).filter { queue in
      var (one, other) = (former[queue], outbox.endpoints[queue])
      one?.failingSince = nil
      other?.failingSince = nil
      return one != other
    }
    drop { former[$0.delivery.queue] != nil && outbox.endpoints[$0.delivery.queue] == nil }
    handle(.policies(Self.policies(of: known), renewed: renewed))
  }

  func refreshEndpoints(_ done: @escaping () -> Void) {
    read {
      try $0.endpoints(owner: nil)
    } _: { [self] result in
      if case .success(let known) = result { adopt(known) }
      done()
    }
  }

  static func policies(of known: [Endpoint]) -> DeliveryQueuePolicies {
    let limit = Milliseconds.seconds(20)
    let queues = known.map { ($0.queue, DeliveryQueuePolicy($0, concurrency: 8, attemptLimit: limit)) }
    return DeliveryQueuePolicies(
      queues: Dictionary(queues) { _, last in last },
      desktop: DeliveryQueuePolicy(concurrency: 64, attemptLimit: limit),
      usual: DeliveryQueuePolicy(concurrency: 8, attemptLimit: limit))
  }

  // MARK: The clock

  func clockChanged(step: Milliseconds, slept: Milliseconds) {
    if step > .seconds(1) || step < .seconds(-1) { outbox.seenFailing = [:] }
    if step < .zero { uptime.clockWentBack(to: world.wall) }
    if slept > .seconds(1) {
      // After sleep, evaluate everything anew, whether or not logind reported it.
      resumed()
    } else {
      handle(step < .zero ? .clockWentBack(by: .zero - step) : .awake)
    }
    if step < .seconds(-1) { recomputeDueTimes([.backwardStep]) }
    if step > .seconds(1) { rememberClock() }
    if step < .minutes(-1) { wakeQueues { _ in true } }
  }

  private func rememberClock() {
    write(.note, tells: false) { transaction, now in
      try Recompute.rememberClock(in: transaction, now: now)
    } _: { _ in
    }
  }

  func resumed() {
    outbox.seenFailing = [:]
    handle(.woke)
    surroundingsChanged()
    recomputeDueTimes([])
    reevaluateHeld { _ in }
  }

  /// Retries pending recomputation and wake-ups until the store accepts them.
  private func makeUpLater() {
    arrears += 1
    let mine = arrears
    world.later(Scheduler.storeRetry.rawValue) { [self] in
      guard isAlive, !isStopping, arrears == mine, !renewal.pending.isEmpty || owesWaking else { return }
      tryStore { [self] in
        if !renewal.pending.isEmpty || owesWaking { makeUpLater() }
      }
    }
  }

  func wakeQueues(_ isMeant: @escaping (DeliveryQueue) -> Bool) {
    write(.wake) { transaction, now in
      for queue in try transaction.wakeups().outbox.keys.sorted() where isMeant(queue) {
        try transaction.wake(queue: queue, now: now)
      }
    } _: { [self] result in
      guard case .success(let (_, wakeups)) = result else {
        owesWaking = true
        return makeUpLater()
      }
      handle(.policies(scheduler.policies, renewed: []))
      handle(.wakeups(wakeups))
    }
  }

  // What due times are computed from.

  /// Reacts to a change of the machine's zone, the zone rules, or the calendars.
  func surroundingsChanged() {
    var reasons: Set<Recompute> = []
    if world.zones.localName != knownLocal || world.zones.rules[world.zones.localName] != knownRules[knownLocal] {
      reasons.insert(.localZone)
    }
    let unchanged = world.zones.rules.filter { knownRules[$0.key] == $0.value }.keys
    if unchanged.count < world.zones.rules.count { reasons.insert(.zoneRules(unchanged: Set(unchanged))) }
    if world.holidays != context.calendars { reasons.insert(.calendars(["holidays"])) }
    if world.quiet != context.quiet { reasons.insert(.quietHours) }
    guard !reasons.isEmpty else { return }
    (knownRules, knownLocal) = (world.zones.rules, world.zones.localName)
    let version = context.version + 1
    context.zones = world.zones
    context.quiet = world.quiet
    context.calendars = world.holidays
    context.version = version
    recomputeDueTimes(reasons)
  }

  private var surroundingsText: String {
    let rules = world.zones.rules.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    return "local \(knownLocal) \(knownRules[knownLocal] ?? "")\ndatabase \(rules)\ncalendars \(context.calendars)\n"
      + "quiet \(context.quiet.handling.rawValue) \(context.quiet.hours.texts)"
  }

  private func reviewScheduleContext() {
    let text = surroundingsText
    read { [world] in
      (try Renewal.known(in: $0), try Recompute.clockWentBack($0, now: world.wall))
    } _: { [self] result in
      // If the notes are unreadable or unwritable, assume that all due times are outdated.
      let failed = { [self] in
        renewal.owe(Recompute.all.union([.backwardStep]), now: world.wall)
        makeUpLater()
      }
      guard case .success(let (known, wentBack)) = result else {
        failed()
        return storeFailed()
      }
      if wentBack {
        recomputeDueTimes([.backwardStep])
        wakeQueues { _ in true }
      } else {
        rememberClock()
      }
      guard known != text else { return }
      guard let known else { return noteScheduleContext(failed) }
      _ = renewal.goOn(from: known)
      let (before, after) = (known.split(separator: "\n"), text.split(separator: "\n"))
      let changed = Set(after.filter { !before.contains($0) }.compactMap { $0.split(separator: " ").first })
      var reasons: Set<Recompute> = []
      if changed.contains("local") { reasons.insert(.localZone) }
      if changed.contains("database") { reasons.insert(.zoneRules(unchanged: [])) }
      if changed.contains("calendars") { reasons.insert(.calendars(nil)) }
      if changed.contains("quiet") { reasons.insert(.quietHours) }
      recomputeDueTimes(reasons)
    }
  }

  func recomputeDueTimes(_ reasons: Set<Recompute>) {
    let reasons = renewal.begin(reasons, now: world.wall)
    guard let first = reasons.first else { return }
    let selection = reasons.count == 1 ? first.selection : .all
    let failed = { [self] in
      renewal.owe(reasons, now: world.wall)
      makeUpLater()
    }
    let end = { [self] (isDone: Bool) in
      renewal.end()
      guard isDone else { return failed() }
      noteScheduleContext(failed) { try Recompute.rememberClock(in: $0, now: $1) }
    }
    let times = { [self] in
      if reasons == [.quietHours] { return end(true) }
      recomputeDueTimes(selection, reasons, after: nil, end)
    }
    guard reasons.contains(where: \.concernsQuiet) else { return times() }
    reevaluateHeld { isDone in if isDone { times() } else { end(false) } }
  }

  private func recomputeDueTimes(
    _ selection: ReminderSelection, _ reasons: Set<Recompute>, after last: ReminderID?, _ done: @escaping (Bool) -> Void
  ) {
    // Small pages, so that other events can come in between.
    read { transaction -> ([ReminderID], ReminderID?) in
      let ids = try transaction.reminderIDs(selection, after: last, limit: 5)
      let concerned = try ids.filter { id in
        guard let record = try transaction.readableReminder(id) else { return false }
        return reasons.contains { $0.concerns(record.reminder) }
      }
      return (concerned, ids.last)
    } _: { [self] result in
      guard case .success(let (ids, end)) = result else {
        storeFailed()
        return done(false)
      }
      reschedule(ids, wentBack: reasons.contains(.backwardStep)) { [self] isDone in
        guard isDone, end != nil else { return done(isDone) }
        recomputeDueTimes(selection, reasons, after: end, done)
      }
    }
  }

  private func noteScheduleContext(
    _ failed: @escaping () -> Void, _ more: @escaping (any StoreTransaction, Instant) throws -> Void = { _, _ in }
  ) {
    let (renewal, text) = (renewal, surroundingsText)
    write(.note) { transaction, now in
      try renewal.note(text, in: transaction, now: now)
      try more(transaction, now)
    } _: { [self] result in
      if case .failure = result { failed() } else { self.renewal.noted() }
    }
  }

  func recompute(_ ids: [ReminderID]) {
    guard !ids.isEmpty else { return }
    renewal.begin(now: world.wall)
    let end = { [self] (isDone: Bool) in
      renewal.end()
      let failed = { [self] in
        renewal.owe(Recompute.all, now: world.wall)
        makeUpLater()
      }
      if isDone { noteScheduleContext(failed) } else { failed() }
    }
    reschedule(ids, wentBack: true) { [self] isDone in
      if isDone { reevaluateHeld(end) } else { end(false) }
    }
  }

  private func reevaluateHeld(_ done: @escaping (Bool) -> Void) {
    write(.reevaluateHeld) { transaction, now in
      try transaction.reevaluateHeld(now: now)
    } _: { [self] result in
      guard case .success(let (_, wakeups)) = result else { return done(false) }
      handle(.wakeups(wakeups))
      done(true)
    }
  }

  private func reschedule(_ ids: [ReminderID], wentBack: Bool, _ done: @escaping (Bool) -> Void) {
    guard !ids.isEmpty else { return done(true) }
    let (context, renewal) = (context, renewal)
    write(.recomputeDueTimes) { transaction, now in
      try renewal.mark(transaction, now: now)
      for id in ids { try Recompute.reschedule(id, in: transaction, context, now: now, wentBack: wentBack) }
    } _: { [self] result in
      guard case .success(let (_, wakeups)) = result else { return done(false) }
      handle(.wakeups(wakeups))
      done(true)
    }
  }
}
