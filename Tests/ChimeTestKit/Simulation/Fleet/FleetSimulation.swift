import ChimeCore
import ChimeSchedule

/// A FleetSimulation runs a plan on three daemons that share one simulated database.
///
/// Each daemon is the real `LoopCore`, with the real decisions about shares and leases; `SimulatedMember` is its shell. A
/// `FleetChecker` checks what they do together.
final class FleetSimulation {
  let plan: SimulationPlan
  let start: Instant
  /// The time since the start in milliseconds, which nobody sets.
  private(set) var now: Int64 = 0
  private var events = EventQueue()
  private(set) lazy var server = FleetServer(self)
  private(set) lazy var checker = FleetChecker(self)
  /// The members that run, by their places.
  private(set) var members: [String: SimulatedMember] = [:]
  private var behaviors: [ChannelName: ChannelBehavior] = [:]
  let context: ReminderContext
  var figures = SimulationFigures()
  private(set) var fault: String?
  private var diary: [String] = []
  private let keepsDiary: Bool
  private var salt: UInt64 = 0
  private var saltedAt: Int64 = -1
  private var position = 0
  private(set) var isHealed = false

  static func run(_ plan: SimulationPlan, diary: Bool) -> Simulation.Outcome {
    var world = FleetSimulation(plan, keepsDiary: diary)
    world.runEvents()
    for member in world.members.values { member.die() }
    if !isKnownUniquelyReferenced(&world) { world.fail("something keeps the simulation after its end") }
    return Simulation.Outcome(fault: world.fault, figures: world.figures, diary: world.diary)
  }

  private init(_ plan: SimulationPlan, keepsDiary: Bool) {
    self.plan = plan
    self.keepsDiary = keepsDiary
    start = plan.start
    context = ReminderContext(zones: SimulatedZones(local: "UTC"))
  }

  /// The database's time.
  var wall: Instant { start + .milliseconds(now) }

  var places: [String] { (1...plan.members).map { "m\($0)" } }

  // MARK: Time

  /// The time between the last fault and the end.
  private static let rest = Milliseconds.minutes(6).rawValue

  private func runEvents() {
    for (index, place) in places.enumerated() { later(Int64(index) * 700) { [self] in boot(place) } }
    let last = plan.actions.last?.at.rawValue ?? 0
    while fault == nil, step(until: last + 30_000) {}
    heal()
    let end = now + Self.rest
    while fault == nil, step(until: end) {}
    if fault == nil { checker.checkEnd() }
    figures.runs += 1
    figures.simulated = figures.simulated + .milliseconds(now)
    // What is still to come holds the simulation, which holds the queue: it would never be freed.
    events = EventQueue()
  }

  private func heal() {
    note { "all faults end" }
    isHealed = true
    behaviors = [:]
    startServer()
    for member in places.compactMap({ members[$0] }) {
      member.cutUntil = 0
      if member.isFrozen { goOn(member) }
    }
    for place in places where members[place] == nil { boot(place) }
    checker.isDisturbed(for: 15_000)
    // Endpoints that failed are tried at once.
    later(10_000) { [self] in
      for queue in queues { ask(PlannedAction(.zero, .endpoint, queue.channel.rawValue)) }
    }
  }

  private func step(until end: Int64) -> Bool {
    let action = position < plan.actions.count && !isHealed ? plan.actions[position] : nil
    if let action, action.at.rawValue <= min(end, events.first ?? .max) {
      now = max(now, action.at.rawValue)
      position += 1
      note { action.text }
      perform(action)
    } else if let first = events.first, first <= end {
      now = max(now, first)
      events.take()?()
    } else {
      now = end
      return false
    }
    figures.steps += 1
    return true
  }

  func later(_ milliseconds: Int64, _ body: @escaping () -> Void) { events.put(now + max(0, milliseconds), body) }

  // MARK: Randomness

  func chance(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(bits() % (UInt64(range.upperBound - range.lowerBound) + 1))
  }

  /// Returns a number that depends only on the seed and the moment.
  func bits() -> UInt64 {
    if saltedAt != now { (salt, saltedAt) = (0, now) }
    salt &+= 1
    var generator = SeededGenerator(seed: plan.seed &* 0x9E37_79B9 ^ UInt64(now) &* 0xC2B2_AE3D ^ salt << 48)
    return generator.next()
  }

  // MARK: Members

  func boot(_ place: String) {
    guard members[place] == nil else { return }
    let member = SimulatedMember(self, place)
    members[place] = member
    figures.starts += 1
    note { "\(place) starts" }
    member.boot()
  }

  func restart(_ place: String, after wait: Int64) {
    members[place] = nil
    membersHaveChanged()
    later(wait) { [self] in boot(place) }
  }

  func left(_ member: SimulatedMember) {
    if members[member.name] === member { members[member.name] = nil }
    note { "\(member.name) has ended" }
    membersHaveChanged()
  }

  private func goOn(_ member: SimulatedMember) {
    note { "\(member.name) goes on" }
    member.goOn()
    membersHaveChanged()
  }

  /// Passes a word of one daemon to the others. It may be lost.
  func notify(_ word: SimulatedMember.Word, from sender: SimulatedMember) {
    guard server.isUp, sender.cutUntil <= now else { return }
    for place in places {
      guard let other = members[place], other !== sender, other.cutUntil <= now, bits() % 8 != 0 else { continue }
      other.later(chance(0...3)) { other.hear(word) }
    }
  }

  /// The members that run, and reach the database.
  var healthy: [SimulatedMember] {
    guard server.isUp else { return [] }
    return places.compactMap { members[$0] }.filter { $0.isReady && !$0.isFrozen && $0.cutUntil <= now }
  }

  func membersHaveChanged() { checker.membersHaveChanged(areHealthy: !healthy.isEmpty) }

  // MARK: Actions

  private func perform(_ action: PlannedAction) {
    let length = max(1, action.amount)
    let member = members[action.subject]
    switch action.verb {
    case .crash, .lose:
      guard let member else { return }
      figures.crashes += 1
      member.die(isNoticed: action.verb == .crash)
      restart(action.subject, after: length)
      checker.isDisturbed(for: FleetChecker.takeover)
    case .stop:
      guard let member, !member.isFrozen else { return }
      member.freeze()
      checker.isDisturbed(for: FleetChecker.takeover)
      membersHaveChanged()
      later(length) { [self] in if member.isFrozen { goOn(member) } }
    case .cut:
      guard let member else { return }
      member.cutUntil = max(member.cutUntil, now + length)
      checker.isDisturbed(for: FleetChecker.takeover)
      membersHaveChanged()
      later(length) { [self] in membersHaveChanged() }
    case .restart:
      guard let member, member.isReady else { return }
      checker.isDisturbed(for: FleetChecker.takeover + 8_000)
      member.stop { [self] in restart(action.subject, after: length) }
    case .store:
      guard server.isUp else { return }
      server.crash(isPromoted: action.subject == "promote")
      checker.isDisturbed(for: length + FleetChecker.takeover)
      membersHaveChanged()
      later(length) { [self] in startServer() }
    case .channel:
      behaviors[ChannelName(rawValue: action.subject)] = ChannelBehavior(
        kind: ChannelBehavior.Kind(rawValue: action.words["mood"] ?? "") ?? .well, takes: action.amount)
    default: ask(action)
    }
  }

  private func startServer() {
    guard !server.isUp else { return }
    note { "the database is there again" }
    server.start()
    membersHaveChanged()
  }

  // MARK: Channels

  var queues: [DeliveryQueue] { SimulationPlan.fleetHooks.map { Simulation.queue($0) } }

  func send(_ message: OutboundMessage, from member: SimulatedMember) {
    checker.sends(message, member)
    figures.attempts += 1
    let mood = behaviors[message.delivery.queue.channel] ?? ChannelBehavior()
    let started = member.wall
    var takes = max(1, mood.takes / 2 + chance(0...max(1, mood.takes)))
    var (outcome, next, status) = (Attempt.Outcome.failed, ChannelReport.NextStep.retry, Int?.none)
    switch mood.kind {
    case .hang: takes = 15_000
    case .fail: status = 500
    case .flaky: if bits() % 2 == 0 { (outcome, next) = (.delivered, .settled) }
    case .busy: (takes, next, status) = (50, .retryAfter(.milliseconds(mood.takes)), 503)
    default: (outcome, next) = (.delivered, .settled)
    }
    takes = min(takes, 15_000)
    later(takes) { [self] in
      if outcome == .delivered || (mood.kind == .hang && bits() % 4 == 0) { checker.arrives(message) }
      member.later(0) {
        member.hear(
          Attempt(number: 0, startedAt: started, took: .milliseconds(takes), outcome: outcome, status: status), next,
          on: message)
      }
    }
  }

  // MARK: Commits

  func committed(_ changed: MemoryTransaction.Changes, _ work: Work, by member: SimulatedMember) {
    figures.commits += 1
    checker.committed(changed, work, member)
    let isForOthers = changed.deliveries.contains {
      guard let entry = server.transaction.contents.outbox[$0], entry.delivery.isPending else { return false }
      return entry.delivery.attempts == 0
    }
    if isForOthers { member.later(0) { member.sayThereIsSomething() } }
  }

  // MARK: Requests

  private struct Refused: Error {}

  private func ask(_ action: PlannedAction) {
    let able = places.compactMap { members[$0] }.filter { $0.isReady && !$0.isFrozen }
    guard !able.isEmpty else { return }
    let member = able[Int(bits() % UInt64(able.count))]
    let context = member.core.context
    figures.requests += 1
    let seed = bits()
    note { "\(member.name) is asked" }
    member.write(Work.Kind([action]), context: context) { transaction, now in
      let changes = try Self.answer(action, in: transaction, context, seed: seed, now: now)
      return (changes, try member.wakeups(in: transaction))
    } _: { [self] result in
      switch result {
      case .success(let (changes, wakeups)):
        checker.acknowledged(action)
        guard action.verb == .endpoint else { return member.committed(changes, wakeups, with: context) }
        member.refreshEndpoints { member.committed(changes, wakeups, with: context) }
      case .failure(let error):
        figures.refusals += 1
        if error.isPassing { member.drive { $0.changeRefused(error) } }
      }
    }
  }

  private static func answer(
    _ action: PlannedAction, in transaction: any StoreTransaction, _ context: ReminderContext, seed: UInt64,
    now: Instant
  ) throws -> CommitChanges {
    var changes = CommitChanges()
    let id = ReminderID(rawValue: action.subject)
    switch action.verb {
    case .add:
      guard try transaction.reminder(id) == nil else { throw Refused() }
      let reminder = try Simulation.reminder(id, action.words, context, now: now)
      guard let next = context.timetable(of: reminder).next(after: now) else { throw Refused() }
      try transaction.upsert(reminder, next: next, since: now)
    case .remove:
      guard try transaction.reminder(id) != nil else { throw Refused() }
      let open = try transaction.occurrences(OccurrenceFilter(reminder: id, openOnly: true), page: Page(limit: 100))
      try transaction.remove(id, now: now)
      (changes.changed, changes.removed) = ([id], [id])
      for occurrence in open { changes.withdrawn[occurrence.id] = .some(nil) }
    case .endpoint:
      let queue = Simulation.queue(action.subject)
      var settings = EndpointSettings()
      settings.concurrency = action.words["concurrency"].flatMap { Int($0) }
      settings.inOrder = action.words["order"] == nil ? nil : true
      try transaction.put(
        Endpoint(queue: queue, url: "https://hooks.example/\(action.subject)", settings: settings, createdAt: now))
      try transaction.wake(queue: queue, now: now)
    default:
      let filter = OccurrenceFilter(reminder: id, openOnly: true)
      guard let occurrence = try transaction.occurrences(filter, page: Page(limit: 1)).first else { throw Refused() }
      let answer: Occurrence.Answer =
        switch action.verb {
        case .done: .done
        case .snooze: .snooze(for: .milliseconds(action.amount))
        default: .dismiss
        }
      let reminder = try transaction.reminder(id)?.reminder
      var generator = SeededGenerator(seed: seed)
      changes = CommitChanges(
        try AnswerTransaction.run(
          answer, to: occurrence, reminder: reminder, in: transaction, context, now: now, using: &generator))
    }
    changes.reminders = [id]
    return changes
  }

  // MARK: Reporting

  func fail(_ text: @autoclosure () -> String, always: Bool = false) {
    guard fault == nil, always || !plan.isJudgedByAuditAlone else { return }
    let clock = "\(RFC3339.format(wall, in: .utc)), \(PlannedAction(.milliseconds(now), .crash).text.dropLast(6))"
    fault = "\(text()) (the database's clock says \(clock) after the start)"
    note { "FAULT: \(fault ?? "")" }
  }

  func note(_ text: () -> String) {
    guard keepsDiary else { return }
    diary.append("\(RFC3339.format(wall, in: .utc)) +\(wall.milliseconds % 1_000) ms: \(text())")
  }
}
