import ChimeControl
import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon

/// The report about daemons that share a store.
@Suite struct FleetReportTests {
  static func member(
    _ id: Int64, _ host: String, isLiving: Bool = true, isDraining: Bool = false, started: Int64? = nil, seen: Int64,
    shards: Int = 128
  ) -> FleetMember {
    FleetMember(
      id: id, name: host, process: 4_710 + id, version: "0.1.0", startedAt: Instant(seconds: started ?? (id * 40)),
      seenAt: Instant(seconds: seen), isLiving: isLiving, isDraining: isDraining, isSelf: id == 2,
      shards: isLiving ? shards : 0)
  }

  private static func queue(_ name: String, owner: UInt32 = 1) -> DeliveryQueue {
    DeliveryQueue(owner: owner, channel: ChannelName(rawValue: name))
  }

  private static func gauge(_ name: String, _ pending: Int, oldest: Int64?) -> StoreGauges.DeliveryQueueGauge {
    StoreGauges.DeliveryQueueGauge(
      queue: queue(name), pending: pending, oldest: oldest.map { Instant(seconds: $0) }, dead: 9)
  }

  private static let wire = WireMapper(context: ReminderFieldsTests.fields.context, now: Instant(seconds: 200))

  @Test func reportNamesLostAndReplacedDaemons() {
    let members = [
      Self.member(1, "app1", isLiving: false, seen: 90), Self.member(2, "app2", seen: 199),
      Self.member(3, "app1", seen: 198), Self.member(4, "app3", isLiving: false, seen: 170),
      Self.member(5, "app4", isDraining: true, seen: 198),
      // Two daemons on one machine: neither replaces the other.
      Self.member(6, "app2", isLiving: false, started: 100, seen: 130),
      Self.member(7, "app2", started: 120, seen: 199),
    ]
    #expect(
      members.map { FleetReport.state(of: $0, among: members) } == [
        .replaced, .running, .running, .lost, .draining, .lost, .running,
      ])
    let told = FleetReport.daemons(members, Self.wire, now: Instant(seconds: 200))
    #expect(told.map(\.heartbeatAgeMs) == [110_000, 1_000, 2_000, 30_000, 2_000, 70_000, 1_000])
    #expect(told.filter(\.isSelf).map(\.id) == [2])
  }

  @Test func pendingMessagesAreCountedByDaemon() {
    let report = FleetReport(
      members: [Self.member(1, "app1", seen: 199), Self.member(2, "app2", seen: 199, shards: 100)],
      owners: [Self.queue("team"): 1, Self.queue("mail"): 1, Self.queue("idle"): 2],
      queues: [
        Self.gauge("team", 3, oldest: 150), Self.gauge("mail", 5, oldest: 190), Self.gauge("idle", 0, oldest: nil),
        Self.gauge("nobody", 1, oldest: 195),
      ],
      overdue: 2, nextDue: Instant(seconds: 197), now: Instant(seconds: 200))
    let told = report.wire(Self.wire, isShared: true, store: "postgres:", isSystem: false)
    #expect(told.outbox == [.init(daemon: 1, channels: 2, pending: 8, oldestPendingMs: 50_000)])
    #expect(told.channels.map(\.channel) == ["mail", "team", "nobody"])
    #expect(told.channels.map(\.daemon) == [1, 1, nil] && told.channels.allSatisfy { $0.uid == nil })
    #expect(told.pending == 9 && told.oldestPendingMs == 50_000)
    #expect(told.overdue == 2 && told.oldestOverdueMs == 3_000)
    #expect(told.unassignedShards == 28)
    let system = report.wire(Self.wire, isShared: true, store: "postgres:", isSystem: true)
    #expect(system.channels.map(\.uid) == [1, 1, 1])
  }

  /// At most 64 channels with pending messages are named; all are counted.
  @Test func manyChannelsAreCountedAndSomeNamed() {
    let report = FleetReport(
      members: [Self.member(2, "app", seen: 200, shards: 256)], owners: [:],
      queues: (1...200).map { Self.gauge("c\($0)", $0, oldest: 100) }, overdue: 0, nextDue: Instant(seconds: 900),
      now: Instant(seconds: 200))
    let told = report.wire(Self.wire, isShared: false, store: "/x", isSystem: false)
    #expect(told.channels.count == 64 && told.channels.first?.pending == 200)
    #expect(told.pending == 20_100 && told.oldestOverdueMs == nil && told.unassignedShards == 0)
  }
}
