import ChimeControl
import ChimeCore
import ChimeSchedule
import Varlink

/// A DaemonHandler answers the methods about the daemon as a whole.
struct DaemonHandler: DaemonInterface.Handler, RequestPart {
  let requestContext: RequestContext

  func handle(_: DaemonInterface.Status) async throws -> DaemonInterface.Status.Reply {
    let status = await status()
    let loopState = status.snapshot
    var problem: String?
    var counts = StoreCounts()
    var next: ReminderRecord?
    var trackers: Int?
    var tenants: [DaemonInterface.Tenant] = []
    var silence: Silence?
    var undeliverable = status.undeliverable
    do {
      (counts, next, trackers, tenants, silence) = try await store.read { [self] transaction in
        (
          try transaction.counts(owner: caller.sees),
          try firstComing(in: transaction),
          try transaction.trackers(owner: caller.sees).count,
          try use(of: status.seats, in: transaction),
          try transaction.silence(of: caller.owner)
        )
      }
      if undeliverable == nil { undeliverable = try await loop.undeliverableReminders(owner: caller.sees) }
    } catch { problem = (error as? StoreFailure)?.sentence ?? "\(error)" }
    let due = next?.coming
    // Tenants do not see the notices about the daemon itself.
    let notices =
      (caller.tenant == nil ? loopState.notices : []) + resting(loopState.rests)
      + unread(loopState.replies) + [undeliverable?.notice].compactMap { $0 }
    return DaemonInterface.Status.Reply(
      status: DaemonInterface.Health(
        version: Product.version, pid: loopState.pid, instance: loopState.isSystem ? .system : .user,
        startedAt: wire.time(loopState.startedAt), zone: context.zones.local.identifier, store: loopState.storePath,
        storeProblem: problem ?? loopState.storeProblem, unrecorded: loopState.unrecorded,
        lastSnapshot: loopState.lastSnapshot.map(wire.snapshot),
        reminders: counts.reminders,
        openOccurrences: counts.openOccurrences,
        expectations: counts.expectations == 0 ? nil : counts.expectations,
        expectationsDown: counts.expectationsDown == 0 ? nil : counts.expectationsDown,
        pendingDeliveries: counts.pendingDeliveries,
        deadDeliveries: counts.deadDeliveries, nextDue: due.map { wire.time($0) },
        nextTitle: due == nil ? nil : next?.reminder.title, connections: loopState.connections,
        clockEvents: loopState.clockEvents, residentBytes: loopState.residentBytes, summary: loopState.summary,
        attention: notices.filter { $0.kind != UndeliverableReminders.kind }.map(\.sentence), notices: notices,
        trackers: trackers,
        daemons: caller.tenant == nil ? await daemons() : nil, tenants: tenants.isEmpty ? nil : tenants,
        silence: silence.flatMap { $0.until > now ? wire.silence($0) : nil }, undeliverable: undeliverable?.count,
        heartbeat: caller.tenant == nil
          ? loopState.heartbeat.map { .init(acceptedAt: $0.acceptedAt.map { wire.time($0) }, problem: $0.sentence) }
          : nil))
  }

  /// Returns the reminder that comes first, with its texts filled in.
  private func firstComing(in transaction: any StoreTransaction) throws -> ReminderRecord? {
    guard var record = try transaction.firstComing(owner: caller.sees) else { return nil }
    record.reminder = try record.reminder.filled(in: transaction, context, now: now)
    return record
  }

  /// Returns the loop's part of a status. If the store does not answer, it is what the loop has at hand.
  private func status() async -> EventLoop.Status {
    guard let store = store as? RequestStore else { return await loop.status(for: caller, looksAtStore: true) }
    let found = try? await store.wait.call(on: store.executor) { [loop, caller] in
      await loop.status(for: caller, looksAtStore: true)
    }
    if let found { return found }
    return await loop.status(for: caller, looksAtStore: false)
  }

  /// The most tenants that a status lists.
  private static let mostTenants = 1_000

  private func use(
    of seats: [Tenants.TenantState], in transaction: any StoreTransaction
  ) throws -> [DaemonInterface.Tenant] {
    guard !seats.isEmpty else { return [] }
    let pending = Dictionary(
      try transaction.gauges().queues.map { ($0.queue.owner, $0.pending) }, uniquingKeysWith: +)
    return try seats.prefix(Self.mostTenants).map { seat in
      let count = try seat.number.map { try transaction.reminderCount(of: $0) } ?? 0
      return seat.wire(reminders: count, pending: seat.number.flatMap { pending[$0] } ?? 0)
    }
  }

  private func resting(_ rests: [DeliveryQueue: Instant]) -> [DaemonInterface.Notice] {
    rests.filter { caller.sees == nil || $0.key.owner == caller.sees }.sorted { $0.key < $1.key }.map { queue, until in
      let time = RFC3339.format(until, in: context.zones.local).dropFirst(11).prefix(8)
      return DaemonInterface.Notice(
        kind: "endpointBackoff", about: queue.channel.rawValue,
        sentence:
          "endpoint \"\(queue.channel)\" is paused until \(time): at least \(Breaker.threshold) attempts in a row "
          + "have failed"
      )
    }
  }

  /// How long the replies of an endpoint may be unread before a notice says so.
  private static let longUnread = Milliseconds.minutes(1)

  private func unread(_ replies: [DeliveryQueue: ReplySource.Status]) -> [DaemonInterface.Notice] {
    replies.filter { caller.sees == nil || $0.key.owner == caller.sees }.sorted { $0.key < $1.key }.compactMap {
      queue, status in
      guard let problem = status.problem, let since = status.since, now - since >= Self.longUnread else {
        return nil
      }
      let time = RFC3339.format(since, in: context.zones.local).dropFirst(11).prefix(8)
      return DaemonInterface.Notice(
        kind: "repliesUnread", about: queue.channel.rawValue,
        sentence: "answers from endpoint \"\(queue.channel)\" cannot be read since \(time): \(problem)")
    }
  }

  func handle(_: DaemonInterface.TakeSnapshot) async throws -> DaemonInterface.TakeSnapshot.Reply {
    try requireAll()
    guard let task = await loop.takeSnapshot() else {
      throw ControlFailure.storeUnavailable("this store keeps no snapshots")
    }
    return DaemonInterface.TakeSnapshot.Reply(snapshot: wire.snapshot(try await task.value))
  }

  func handle(_: DaemonInterface.ListSnapshots) async throws -> DaemonInterface.ListSnapshots.Reply {
    try requireAll()
    return DaemonInterface.ListSnapshots.Reply(snapshots: (loop.snapshotManager?.snapshots() ?? []).map(wire.snapshot))
  }

  func handle(_: DaemonInterface.Metrics) async throws -> DaemonInterface.Metrics.Reply {
    try requireAll()
    return DaemonInterface.Metrics.Reply(text: await loop.metrics())
  }

  func handle(_: DaemonInterface.Diagnose) async throws -> DaemonInterface.Diagnose.Reply {
    DaemonInterface.Diagnose.Reply(diagnostics: await loop.diagnose(for: caller.sees))
  }

  func handle(_: DaemonInterface.Reload) async throws -> DaemonInterface.Reload.Reply {
    // A reload restarts all channels, and interrupts the deliveries of others.
    try requireAll()
    do {
      try await loop.reload()
    } catch let error as ConfigurationError {
      throw ControlFailure.invalidConfiguration(error.description)
    }
    return DaemonInterface.Reload.Reply()
  }

  /// Throws unless the caller sees everybody's reminders.
  private func requireAll() throws {
    guard caller.sees == nil else { throw ServiceError.permissionDenied }
  }

  // MARK: Fleet

  func handle(_: DaemonInterface.GetFleet) async throws -> DaemonInterface.GetFleet.Reply {
    let loopState = await loop.present()
    let shared = store as? any SharedStore
    let now = now
    let (gauges, overdue, nextDue) = try await store.read { transaction in
      (try transaction.gauges(), try transaction.dueCount(before: now), try transaction.wakeups().nextDue)
    }
    let members = try await shared?.members() ?? [alone(loopState)]
    let queues = gauges.queues.filter { caller.sees == nil || $0.queue.owner == caller.sees }
    let owners =
      try await shared?.queueOwners() ?? Dictionary(queues.map { ($0.queue, members[0].id) }, uniquingKeysWith: { $1 })
    let report = FleetReport(
      members: members, owners: owners, queues: queues, overdue: overdue, nextDue: nextDue, now: now)
    return DaemonInterface.GetFleet.Reply(
      fleet: report.wire(
        wire, isShared: shared != nil, store: loopState.storePath, isSystem: loopState.isSystem))
  }

  /// Returns this daemon as the only member, for a store that cannot be shared.
  private func alone(_ loopState: EventLoop.Snapshot) -> FleetMember {
    FleetMember(
      id: 1, name: ProcessFacts.machine, process: Int64(loopState.pid), version: Product.version,
      startedAt: loopState.startedAt, seenAt: now, isLiving: true, isDraining: false, isSelf: true,
      shards: FleetMember.allShards)
  }

  /// Returns the daemons for `Status`; nil: the store cannot be shared or read.
  private func daemons() async -> [DaemonInterface.Daemon]? {
    guard let members = try? await (store as? any SharedStore)?.members() else { return nil }
    return FleetReport.daemons(members, wire, now: now)
  }
}
