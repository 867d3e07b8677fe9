import ChimeCore
import ChimeSchedule

/// A FleetChecker is an independent model of what a fleet promises (docs/fleet.md). It sees each commit, each attempt and
/// each arrival, whichever daemon made it.
final class FleetChecker {
  unowned let world: FleetSimulation
  private var occurrences: [OccurrenceID: Occurrence] = [:]
  private var deliveries: [DeliveryID: Delivery] = [:]
  private var reminders: [ReminderID: Reminder] = [:]
  /// When each removed reminder was removed.
  private var removed: [ReminderID: Instant] = [:]
  /// When each reminder, and the next round of each occurrence, was last set. A request may be recorded long after its
  /// own time.
  private var reminderSet: [ReminderID: Instant] = [:]
  private var recurrenceSet: [OccurrenceID: Instant] = [:]
  private var arrived: [DeliveryID: Int] = [:]
  /// When each delivery was recorded as ended, in milliseconds of the simulation.
  private var ended: [DeliveryID: Int64] = [:]
  /// The last attempt at each delivery.
  private var sent: [DeliveryID: (by: ObjectIdentifier, node: Int64, at: Int64)] = [:]
  /// What was acknowledged.
  private var added: Set<ReminderID> = []
  private var answered: Set<OccurrenceID> = []
  private var answeredBy: [String: OccurrenceID] = [:]
  private var rounds: Set<InvariantChecker.Round> = []
  /// The spans in which something may be late, in milliseconds of the simulation.
  private var disturbances: [(from: Int64, until: Int64)] = []
  private var nobodySince: Int64? = 0

  /// How long a lost daemon may hold up what it had, in milliseconds: the others end its sessions and take its leases at
  /// their next beat after the lease.
  static let takeover = LeaseRenewal.lease + LeaseRenewal.interval
  /// How late a time may fire, or a message may arrive, while nothing disturbs the fleet.
  private static let patience: Int64 = 1_500
  private static let messagePatience: Int64 = 3_000

  init(_ world: FleetSimulation) { self.world = world }

  private var contents: MemoryContents { world.server.transaction.contents }

  func fail(_ text: @autoclosure () -> String, always: Bool = false) { world.fail(text(), always: always) }

  // MARK: Disturbances

  func isDisturbed(for span: Int64) { disturb(from: world.now, until: world.now + span) }

  private func disturb(from: Int64, until: Int64) {
    guard let last = disturbances.last, from <= last.until else { return disturbances.append((from, until)) }
    disturbances[disturbances.count - 1] = (min(last.from, from), max(last.until, until))
  }

  /// - Parameter areHealthy: whether any member works and reaches the database.
  func membersHaveChanged(areHealthy: Bool) {
    if !areHealthy {
      nobodySince = nobodySince ?? world.now
    } else if let since = nobodySince {
      disturb(from: since, until: world.now + Self.takeover)
      nobodySince = nil
    }
  }

  /// Returns for how long nothing disturbed the fleet between two times.
  private func calm(from: Instant, until: Instant) -> Int64 {
    let (from, until) = ((from - world.start).rawValue, (until - world.start).rawValue)
    var sum = until - from
    for span in disturbances.reversed() {
      if span.until < from - 86_400_000 { break }
      sum -= max(0, min(span.until, until) - max(span.from, from))
    }
    if let nobodySince { sum -= max(0, until - max(nobodySince, from)) }
    return sum
  }

  /// Returns for how long nothing could fire.
  private func outage(from: Instant, until: Instant) -> Int64 {
    (until - from).rawValue - calm(from: from, until: until)
  }

  // MARK: Commits

  func committed(_ changed: MemoryTransaction.Changes, _ work: Work, _ member: SimulatedMember) {
    for id in changed.reminders {
      if let reminder = contents.reminders[id] {
        if reminders[id]?.generation != reminder.generation { reminderSet[id] = world.wall }
        reminders[id] = reminder
      } else if removed[id] == nil {
        removed[id] = world.wall
      }
    }
    for id in changed.occurrences.sorted(by: { $0.description < $1.description }) { check(id, work, member) }
    for id in changed.deliveries.sorted(by: { $0.rawValue < $1.rawValue }) { check(id, work, member) }
  }

  private func check(_ id: OccurrenceID, _ work: Work, _ member: SimulatedMember) {
    let old = occurrences[id]
    guard let new = contents.occurrences[id] else { return fail("the occurrence \(id) is gone") }
    defer { if old?.recursAt != new.recursAt { recurrenceSet[id] = world.wall } }
    occurrences[id] = new
    if let firedAt = new.firedAt, old?.firedAt == nil {
      world.figures.fires += 1
      if firedAt < id.scheduledAt { fail("\(id) fired before its time, at \(firedAt.text)") }
      if work.kind != .fire { fail("\(work.kind) has fired \(id)") }
      let late = calm(from: max(id.scheduledAt, reminderSet[id.reminder] ?? .earliest), until: world.wall)
      if late > Self.patience { fail("\(id) fired \(late) ms late, although nothing disturbed the fleet for so long") }
    } else if let old, old.firedAt != nil {
      if old.firedAt != new.firedAt, new.rounds == old.rounds { fail("\(id) has fired twice") }
      if new.rounds > old.rounds {
        world.figures.repeats += 1
        if new.rounds != old.rounds + 1 { fail("\(id) goes from round \(old.rounds) to \(new.rounds)") }
        guard let at = old.recursAt else { return fail("\(id) fired again without a reason") }
        if at > world.wall { fail("\(id) fired again before its time") }
        if old.state == .done || old.state == .dismissed { fail("\(id) fired again after it was \(old.state)") }
        let late = calm(from: max(at, recurrenceSet[id] ?? .earliest), until: world.wall)
        if late > Self.patience { fail("\(id) fired again \(late) ms late") }
      }
      if old.state == .done, new.state != .done { fail("\(id) was done, and is \(new.state)") }
    } else if case .missed(let reason) = new.state, old?.state != new.state {
      world.figures.misses[reason, default: 0] += new.missedRun?.count ?? 1
      if outage(from: id.scheduledAt, until: world.wall) < 50_000 { fail("\(id) was missed, and the fleet was there") }
    }
  }

  private func check(_ id: DeliveryID, _ work: Work, _ member: SimulatedMember) {
    guard let entry = contents.outbox[id] else { return fail("the delivery \(id) is gone") }
    let new = entry.delivery
    defer { deliveries[id] = new }
    let attempts = contents.attempts[id] ?? []
    if attempts.map(\.number) != Array(1..<(attempts.count + 1)) || attempts.count != new.attempts {
      fail("the attempts of \(id) are numbered \(attempts.map(\.number)), and it counts \(new.attempts)")
    }
    guard let old = deliveries[id] else {
      if !rounds.insert(InvariantChecker.Round(new)).inserted {
        fail("round \(new.round) of \(new.occurrence) is pending twice for \(new.queue.channel)")
      }
      return
    }
    guard old.state != new.state else { return }
    if !old.isPending { return fail("\(work.kind) of \(member.name) has made \(id) \(new.state); it was \(old.state)") }
    if !new.isPending { ended[id] = world.now }
    if case .delivered = new.state {
      if arrived[id] ?? 0 == 0 { fail("\(id) is recorded as delivered, and has not arrived") }
      checkLateness(of: old)
    }
  }

  /// Checks when a message was delivered to an endpoint that is always well.
  private func checkLateness(of delivery: Delivery) {
    guard SimulationPlan.steadyHooks.contains(delivery.queue.channel.rawValue), delivery.attempts == 0 else { return }
    let late = calm(from: delivery.ownTime, until: world.wall)
    if late > Self.messagePatience {
      fail("\(delivery.id) to \(delivery.queue.channel) was delivered \(late) ms late, and nothing disturbed the fleet")
    }
  }

  // MARK: Attempts

  func sends(_ message: OutboundMessage, _ member: SimulatedMember) {
    let (id, queue) = (message.delivery.id, message.delivery.queue)
    guard let entry = contents.outbox[id] else { return fail("\(id) leaves and is not recorded") }
    let (node, server) = (member.leases.current.node ?? 0, world.server)
    let lease = server.tables.leases[FleetFence.shard(of: queue)]
    let expiry = server.tables.nodes[node]?.expiresAt ?? 0
    switch entry.delivery.state {
    case .delivered, .dead: fail("\(member.name) sends \(id) again after it was recorded as \(entry.delivery.state)")
    case .cancelled:
      let since = world.start + .milliseconds(ended[id] ?? 0)
      if calm(from: since, until: world.wall) > Self.messagePatience {
        fail("\(member.name) sends \(id), which was called off at \(since.text)")
      }
    case .pending, .waiting:
      if contents.claimEpochs[id] != lease.epoch || entry.visibleAt <= entry.delivery.ownTime {
        fail("\(member.name) sends \(id), which it has not claimed")
      }
    }
    // A crash of the server may undo the last heartbeats.
    let isCertain = server.isUp && world.now - server.upSince > LeaseRenewal.lease
    if isCertain, lease.node != node { fail("\(member.name) sends \(id), and its queue belongs to another daemon") }
    if isCertain, expiry <= world.now { fail("\(member.name) sends \(id) after its lease") }
    for other in world.members.values where other.underWay[id] != nil && !other.isFrozen {
      if other === member { fail("\(member.name) sends \(id) twice at the same time") }
      let known = other.leases.current.node ?? 0
      // A daemon that has lost its lease may have attempts in flight.
      if server.isUp, server.tables.nodes[known]?.expiresAt ?? 0 > world.now,
        !wasDisturbed(since: other.underWay[id]?.since ?? 0)
      {
        fail("\(member.name) and \(other.name) send \(id) at the same time")
      }
    }
    let others = member.underWay.values.count { $0.message.delivery.queue == queue }
    let policy = member.core.scheduler.policies[queue]
    if others >= policy.concurrency + 64 { fail("\(others + 1) attempts at \(queue.channel) are in flight at once") }
    sent[id] = (ObjectIdentifier(member), node, world.now)
  }

  private func wasDisturbed(since: Int64) -> Bool {
    disturbances.last.map { $0.until >= since } ?? false || nobodySince != nil
  }

  func arrives(_ message: OutboundMessage) { arrived[message.delivery.id, default: 0] += 1 }

  // MARK: Requests

  func acknowledged(_ action: PlannedAction) {
    let id = ReminderID(rawValue: action.subject)
    switch action.verb {
    case .add: if removed[id] == nil { added.insert(id) }
    case .done:
      // What the request has ended is the latest occurrence that is done.
      let done = contents.occurrences(of: id).last { $0.state == .done }
      if let done { answered.insert(done.id) } else { fail("\(id) was acknowledged as done, and nothing is") }
    default: break
    }
  }

  // MARK: The end

  func checkEnd() {
    for id in added where contents.reminders[id] == nil && removed[id] == nil {
      fail("\(id) was acknowledged and is gone")
    }
    for id in answered where contents.occurrences[id]?.state != .done {
      fail("\(id) was acknowledged as done, and is not")
    }
    for (id, occurrence) in occurrences where contents.occurrences[id] != occurrence {
      fail("the occurrence \(id) has changed without a cause")
    }
    for id in contents.pending.values.joined().map(\.id) {
      guard let entry = contents.outbox[id], entry.visibleAt + .minutes(1) < world.wall else { continue }
      fail("\(id) to \(entry.delivery.queue.channel) is still pending, and all faults have ended")
    }
    for id in reminders.keys.sorted() { checkTimes(of: id) }
    checkShares()
    checkHistory()
  }

  /// Checks that each time has a record.
  private func checkTimes(of id: ReminderID) {
    guard let reminder = reminders[id] else { return }
    // A removed reminder may leave its last times without one.
    let end = min(removed[id] ?? world.wall, world.wall) - .minutes(2)
    var through = Instant.earliest
    for time in world.context.timetable(of: reminder).occurrences(after: reminder.createdAt) {
      guard time < end else { return }
      if let occurrence = contents.occurrences[OccurrenceID(reminder: id, scheduledAt: time)] {
        through = max(through, occurrence.missedRun?.through ?? .earliest)
        continue
      }
      if time > through { return fail("\(id) has no record of \(time.text)") }
    }
  }

  /// Checks that all daemons have the same share.
  private func checkShares() {
    let living = Set(world.members.values.compactMap { $0.leases.current.node })
    let tables = world.server.tables
    let counts = living.map { node in tables.leases.count { $0.node == node } }
    if counts.reduce(0, +) != FleetFence.shards {
      fail("\(FleetFence.shards - counts.reduce(0, +)) parts belong to nobody")
    }
    if let most = counts.max(), let least = counts.min(), most > least + 1 { fail("the parts are shared as \(counts)") }
  }

  /// Checks that the product's own audit finds a record of each time.
  private func checkHistory() {
    let source = MemoryTransaction(contents, isReadOnly: true)
    do {
      let log = ScheduleContextLog(try source.notes(named: ScheduleContextLog.notePrefix))
      for id in try source.versionedIDs(owner: nil, after: nil, limit: 10_000) {
        let audit = try ScheduleAudit.of(
          source.versions(of: id), from: world.start, before: world.wall, in: source, world.context, log,
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
