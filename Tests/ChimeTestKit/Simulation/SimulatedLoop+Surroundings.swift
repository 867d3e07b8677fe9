import ChimeCore
import ChimeSchedule

// The start, the clock, the zones and the lanes: as `EventLoop` has them.
extension SimulatedLoop {
  func start() {
    write(.start, tells: false) { transaction, _ in
      try transaction.releaseClaims()
      return (try transaction.endpoints(owner: nil), try Downtime.trace(in: transaction))
    } _: { [self] result in
      if case .success(let ((known, trace), horizon)) = result { return begin(known, horizon, after: trace) }
      // One that can only be read is asked all the same, and told later that a new daemon runs.
      read {
        (try $0.endpoints(owner: nil), try $0.horizon(), try Downtime.trace(in: $0))
      } _: { [self] result in
        guard case .success(let (known, horizon, trace)) = result else {
          // The daemon ends with an error, and the service manager starts it again.
          die()
          world.loop = nil
          return world.later(5_000) { [world] in world.boot() }
        }
        standby.owesStart = true
        storeFailed()
        begin(known, horizon, after: trace)
      }
    }
  }

  private func begin(_ known: [Endpoint], _ horizon: Horizon, after trace: Downtime.Trace?) {
    if absence.runningSince == startedAt {
      downtime = Downtime(after: trace, until: startedAt, channels: [.desktop])
    }
    adopt(known)
    if standby.owesStart { handle(.kept) }
    handle(.horizon(horizon))
    isReady = true
    world.note { "chimed is ready" }
    reviewSurroundings()
  }

  // MARK: Lanes

  func adopt(_ known: [Endpoint]) {
    let former = outbox.endpoints
    outbox.endpoints = Dictionary(known.map { ($0.lane, $0) }) { _, last in last }
    let renewed = Set(former.keys).union(outbox.endpoints.keys).filter { lane in
      var (one, other) = (former[lane], outbox.endpoints[lane])
      one?.failingSince = nil
      other?.failingSince = nil
      return one != other
    }
    drop { former[$0.delivery.lane] != nil && outbox.endpoints[$0.delivery.lane] == nil }
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

  static func policies(of known: [Endpoint]) -> LanePolicies {
    let limit = Milliseconds.seconds(20)
    let lanes = known.map { ($0.lane, LanePolicy($0, concurrency: 8, attemptLimit: limit)) }
    return LanePolicies(
      lanes: Dictionary(lanes) { _, last in last }, desktop: LanePolicy(concurrency: 64, attemptLimit: limit),
      usual: LanePolicy(concurrency: 8, attemptLimit: limit))
  }

  // MARK: The clock

  func clockChanged(step: Milliseconds, slept: Milliseconds) {
    if step > .seconds(1) || step < .seconds(-1) { outbox.seenFailing = [:] }
    if step < .zero { absence.clockWentBack(to: world.wall) }
    if slept > .seconds(1) {
      // What slept is looked at anew, whatever has been heard of it.
      resumed()
    } else {
      handle(step < .zero ? .clockWentBack(by: .zero - step) : .awake)
    }
    if step < .seconds(-1) { rescan([.backwardStep]) }
    if step > .seconds(1) { rememberClock() }
    if step < .minutes(-1) { wakeLanes { _ in true } }
  }

  private func rememberClock() {
    write(.note, tells: false) { transaction, now in
      try Rescan.rememberClock(in: transaction, now: now)
    } _: { _ in
    }
  }

  func resumed() {
    outbox.seenFailing = [:]
    handle(.woke)
    surroundingsChanged()
    rescan([])
    lookAgain { _ in }
  }

  /// What the store could not take is tried again until it does.
  private func makeUpLater() {
    arrears += 1
    let mine = arrears
    world.later(Agenda.storeRetry.rawValue) { [self] in
      guard isAlive, !isStopping, arrears == mine, !renewal.owed.isEmpty || owesWaking else { return }
      tryStore { [self] in
        if !renewal.owed.isEmpty || owesWaking { makeUpLater() }
      }
    }
  }

  func wakeLanes(_ isMeant: @escaping (Lane) -> Bool) {
    write(.wake) { transaction, now in
      for lane in try transaction.horizon().outbox.keys.sorted() where isMeant(lane) {
        try transaction.wake(lane: lane, now: now)
      }
    } _: { [self] result in
      guard case .success(let (_, horizon)) = result else {
        owesWaking = true
        return makeUpLater()
      }
      handle(.policies(agenda.policies, renewed: []))
      handle(.horizon(horizon))
    }
  }

  // MARK: What due times are read against

  /// The machine's zone, the rules of zones or the calendars are others than they were.
  func surroundingsChanged() {
    var reasons: Set<Rescan> = []
    if world.zones.localName != knownLocal || world.zones.rules[world.zones.localName] != knownRules[knownLocal] {
      reasons.insert(.localZone)
    }
    let unchanged = world.zones.rules.filter { knownRules[$0.key] == $0.value }.keys
    if unchanged.count < world.zones.rules.count { reasons.insert(.zoneRules(unchanged: Set(unchanged))) }
    if world.holidays != bearings.calendars { reasons.insert(.calendars(["holidays"])) }
    if world.quiet != bearings.quiet { reasons.insert(.quietHours) }
    guard !reasons.isEmpty else { return }
    (knownRules, knownLocal) = (world.zones.rules, world.zones.localName)
    let version = bearings.version + 1
    bearings.zones = world.zones
    bearings.quiet = world.quiet
    bearings.calendars = world.holidays
    bearings.version = version
    rescan(reasons)
  }

  private var surroundingsText: String {
    let rules = world.zones.rules.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    return "local \(knownLocal) \(knownRules[knownLocal] ?? "")\ndatabase \(rules)\ncalendars \(bearings.calendars)\n"
      + "quiet \(bearings.quiet.handling.rawValue) \(bearings.quiet.hours.texts)"
  }

  private func reviewSurroundings() {
    let text = surroundingsText
    read { [world] in
      (try Renewal.known(in: $0), try Rescan.clockWentBack($0, now: world.wall))
    } _: { [self] result in
      // What cannot be read, and what cannot be noted, may be old.
      let failed = { [self] in
        renewal.owe(Rescan.all.union([.backwardStep]), now: world.wall)
        makeUpLater()
      }
      guard case .success(let (known, wentBack)) = result else {
        failed()
        return storeFailed()
      }
      if wentBack {
        rescan([.backwardStep])
        wakeLanes { _ in true }
      } else {
        rememberClock()
      }
      guard known != text else { return }
      guard let known else { return noteSurroundings(failed) }
      _ = renewal.goOn(from: known)
      let (before, after) = (known.split(separator: "\n"), text.split(separator: "\n"))
      let changed = Set(after.filter { !before.contains($0) }.compactMap { $0.split(separator: " ").first })
      var reasons: Set<Rescan> = []
      if changed.contains("local") { reasons.insert(.localZone) }
      if changed.contains("database") { reasons.insert(.zoneRules(unchanged: [])) }
      if changed.contains("calendars") { reasons.insert(.calendars(nil)) }
      if changed.contains("quiet") { reasons.insert(.quietHours) }
      rescan(reasons)
    }
  }

  func rescan(_ reasons: Set<Rescan>) {
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
      noteSurroundings(failed) { try Rescan.rememberClock(in: $0, now: $1) }
    }
    let times = { [self] in
      if reasons == [.quietHours] { return end(true) }
      rescan(selection, reasons, after: nil, end)
    }
    guard reasons.contains(where: \.concernsQuiet) else { return times() }
    lookAgain { isDone in if isDone { times() } else { end(false) } }
  }

  private func rescan(
    _ selection: ReminderSelection, _ reasons: Set<Rescan>, after last: ReminderID?, _ done: @escaping (Bool) -> Void
  ) {
    // Small pages, so that what comes in between comes in between.
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
        rescan(selection, reasons, after: end, done)
      }
    }
  }

  private func noteSurroundings(
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
        renewal.owe(Rescan.all, now: world.wall)
        makeUpLater()
      }
      if isDone { noteSurroundings(failed) } else { failed() }
    }
    reschedule(ids, wentBack: true) { [self] isDone in
      if isDone { lookAgain(end) } else { end(false) }
    }
  }

  private func lookAgain(_ done: @escaping (Bool) -> Void) {
    write(.lookAgain) { transaction, now in
      try transaction.lookAgain(now: now)
    } _: { [self] result in
      guard case .success(let (_, horizon)) = result else { return done(false) }
      handle(.horizon(horizon))
      done(true)
    }
  }

  private func reschedule(_ ids: [ReminderID], wentBack: Bool, _ done: @escaping (Bool) -> Void) {
    guard !ids.isEmpty else { return done(true) }
    let (bearings, renewal) = (bearings, renewal)
    write(.rescan) { transaction, now in
      try renewal.mark(transaction, now: now)
      for id in ids { try Rescan.reschedule(id, in: transaction, bearings, now: now, wentBack: wentBack) }
    } _: { [self] result in
      guard case .success(let (_, horizon)) = result else { return done(false) }
      handle(.horizon(horizon))
      done(true)
    }
  }
}
