import ChimeControl
import ChimeCore
import ChimeSchedule

/// A FleetReport makes the answer of `GetFleet` from what was read.
struct FleetReport {
  /// The daemons that backlog the store; only the answering one if the store cannot be shared.
  var members: [FleetMember]
  /// The daemon that has each queue.
  var owners: [DeliveryQueue: Int64]
  /// All queues, also those without pending messages.
  var queues: [StoreGauges.DeliveryQueueGauge]
  /// The number of times that have come and have not fired yet.
  var overdue: Int
  var nextDue: Instant?
  var now: Instant

  /// The most channels that are listed one by one.
  static let channels = 64

  func wire(_ wire: WireMapper, isShared: Bool, store: String, isSystem: Bool) -> DaemonInterface.Fleet {
    let owing = queues.filter { $0.pending > 0 }.sorted { ($1.pending, $0.queue) < ($0.pending, $1.queue) }
    let held = members.filter(\.isLiving).reduce(0) { $0 + $1.shards }
    return DaemonInterface.Fleet(
      isShared: isShared, store: store, daemons: Self.daemons(members, wire, now: now), shards: FleetMember.allShards,
      unassignedShards: max(0, FleetMember.allShards - held), outbox: outbox(owing),
      channels: owing.prefix(Self.channels).map { gauge in
        DaemonInterface.PendingChannel(
          channel: gauge.queue.channel.rawValue, uid: isSystem ? Int(gauge.queue.owner) : nil,
          daemon: owners[gauge.queue].map { Int($0) }, pending: gauge.pending, oldestPendingMs: age(gauge.oldest))
      },
      pending: owing.reduce(0) { $0 + $1.pending }, oldestPendingMs: owing.compactMap { age($0.oldest) }.max(),
      overdue: overdue,
      oldestOverdueMs: overdue > 0 ? age(nextDue) : nil)
  }

  private func outbox(_ owing: [StoreGauges.DeliveryQueueGauge]) -> [DaemonInterface.DaemonBacklog] {
    var backlogs: [Int64: DaemonInterface.DaemonBacklog] = [:]
    for gauge in owing {
      guard let owner = owners[gauge.queue] else { continue }
      var backlog = backlogs[owner] ?? DaemonInterface.DaemonBacklog(daemon: Int(owner), channels: 0, pending: 0)
      backlog.channels += 1
      backlog.pending += gauge.pending
      backlog.oldestPendingMs = [backlog.oldestPendingMs, age(gauge.oldest)].compactMap { $0 }.max()
      backlogs[owner] = backlog
    }
    return backlogs.values.sorted { $0.daemon < $1.daemon }
  }

  private func age(_ instant: Instant?) -> Int? { instant.map { Int(max(0, (now - $0).rawValue)) } }

  static func daemons(_ members: [FleetMember], _ wire: WireMapper, now: Instant) -> [DaemonInterface.Daemon] {
    members.map { member in
      DaemonInterface.Daemon(
        id: Int(member.id), host: member.name, pid: Int(member.process), version: member.version,
        startedAt: wire.time(member.startedAt), state: state(of: member, among: members),
        heartbeatAgeMs: Int(max(0, (now - member.seenAt).rawValue)), isSelf: member.isSelf, shards: member.shards)
    }
  }

  /// A killed daemon stays in the store for a day. It counts as lost only if no newer one runs in its place.
  static func state(of member: FleetMember, among members: [FleetMember]) -> DaemonInterface.Daemon.State {
    if member.isLiving { return member.isDraining ? .draining : .running }
    return members.contains { $0.name == member.name && $0.id > member.id && $0.startedAt > member.seenAt }
      ? .replaced : .lost
  }
}
