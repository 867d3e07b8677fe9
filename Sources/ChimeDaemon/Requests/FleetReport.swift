import ChimeControl
import ChimeCore
import ChimeSchedule

/// What `GetFleet` answers with, of what has been read. A function of values.
struct FleetReport {
  /// Those that have the store; of a store that nobody can share, the one that answers.
  var members: [FleetMember]
  /// Whose each queue is.
  var owners: [DeliveryQueue: Int64]
  /// The queues, those that owe nothing among them.
  var queues: [StoreGauges.DeliveryQueueGauge]
  /// Times that have come and have not fired yet.
  var overdue: Int
  var nextDue: Instant?
  var now: Instant

  /// How many channels are told one by one.
  static let channels = 64

  func wire(_ wire: WireMapper, isShared: Bool, store: String, isSystem: Bool) -> DaemonInterface.Fleet {
    let owing = queues.filter { $0.owed > 0 }.sorted { ($1.owed, $0.queue) < ($0.owed, $1.queue) }
    let held = members.filter(\.isLiving).reduce(0) { $0 + $1.shares }
    return DaemonInterface.Fleet(
      isShared: isShared, store: store, daemons: Self.daemons(members, wire, now: now), shares: FleetMember.allShares,
      freeShares: max(0, FleetMember.allShares - held), outbox: outbox(owing),
      channels: owing.prefix(Self.channels).map { gauge in
        DaemonInterface.OwedChannel(
          channel: gauge.queue.channel.rawValue, uid: isSystem ? Int(gauge.queue.owner) : nil,
          daemon: owners[gauge.queue].map { Int($0) }, owed: gauge.owed, oldestOwedMs: age(gauge.oldest))
      },
      owed: owing.reduce(0) { $0 + $1.owed }, oldestOwedMs: owing.compactMap { age($0.oldest) }.max(), overdue: overdue,
      oldestOverdueMs: overdue > 0 ? age(nextDue) : nil)
  }

  private func outbox(_ owing: [StoreGauges.DeliveryQueueGauge]) -> [DaemonInterface.Share] {
    var shares: [Int64: DaemonInterface.Share] = [:]
    for gauge in owing {
      guard let owner = owners[gauge.queue] else { continue }
      var share = shares[owner] ?? DaemonInterface.Share(daemon: Int(owner), channels: 0, owed: 0)
      share.channels += 1
      share.owed += gauge.owed
      share.oldestOwedMs = [share.oldestOwedMs, age(gauge.oldest)].compactMap { $0 }.max()
      shares[owner] = share
    }
    return shares.values.sorted { $0.daemon < $1.daemon }
  }

  private func age(_ instant: Instant?) -> Int? { instant.map { Int(max(0, (now - $0).rawValue)) } }

  static func daemons(_ members: [FleetMember], _ wire: WireMapper, now: Instant) -> [DaemonInterface.Daemon] {
    members.map { member in
      DaemonInterface.Daemon(
        id: Int(member.id), host: member.name, pid: Int(member.process), version: member.version,
        startedAt: wire.time(member.startedAt), state: state(of: member, among: members),
        unheardMs: Int(max(0, (now - member.seenAt).rawValue)), isAsked: member.isAsked, shares: member.shares)
    }
  }

  /// One that was killed stays in the store for a day: it is missed only where none has come in its place.
  static func state(of member: FleetMember, among members: [FleetMember]) -> DaemonInterface.Daemon.State {
    if member.isLiving { return member.isLeaving ? .leaving : .running }
    return members.contains { $0.name == member.name && $0.id > member.id && $0.startedAt > member.seenAt }
      ? .replaced : .lost
  }
}

extension RequestHandler {
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

  /// This daemon, where no other can have the store.
  private func alone(_ loopState: EventLoop.Snapshot) -> FleetMember {
    FleetMember(
      id: 1, name: ProcessFacts.machine, process: Int64(loopState.pid), version: Product.version,
      startedAt: loopState.startedAt, seenAt: now, isLiving: true, isLeaving: false, isAsked: true,
      shares: FleetMember.allShares)
  }

  /// For `Status`; nil where no other can have the store, or it cannot be read.
  func daemons() async -> [DaemonInterface.Daemon]? {
    guard let members = try? await (store as? any SharedStore)?.members() else { return nil }
    return FleetReport.daemons(members, wire, now: now)
  }
}
