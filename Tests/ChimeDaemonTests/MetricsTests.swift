import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Counters, gauges, and their text format.
@Suite struct MetricsTests {
  @Test func labelsAndNumbersFollowTheTextFormat() {
    var text = Exposition()
    text.family("chime_x_total", .counter, "What it is.") {
      $0.add(3, ["a": "q\"b\\s\nn", "b": "ě"])
      $0.add(0.25)
    }
    text.family("chime_none", .gauge, "Not there.") { _ in }
    #expect(
      text.text
        == "# HELP chime_x_total What it is.\n# TYPE chime_x_total counter\n"
        + "chime_x_total{a=\"q\\\"b\\\\s\\nn\",b=\"ě\"} 3\nchime_x_total 0.25\n")
    #expect(Exposition.number(.infinity) == "+Inf")
    #expect(Exposition.number(1_795_331_792.515) == "1795331792.515")
    #expect(Exposition.number(5_000_000_000) == "5000000000")
  }

  private static let occurrence = Occurrence(
    id: OccurrenceID(reminder: ReminderID(rawValue: "r7k2"), scheduledAt: Instant(seconds: 0)), title: "Tea", owner: 1,
    state: .fired)

  private static func daemonEvent(
    _ kind: DaemonEvent.Kind, _ id: MessageID? = nil, late: Int64? = nil, missed: (MissReason, Int)? = nil
  ) -> DaemonEvent {
    var daemonEvent = DaemonEvent(kind: kind, id: id, occurrence: occurrence, message: "")
    daemonEvent.latenessMicroseconds = late
    daemonEvent.missed = missed.map { (reason: $0.0, count: $0.1) }
    return daemonEvent
  }

  @Test func eventsAreCounted() {
    var meters = Meters()
    meters.count(Self.daemonEvent(.fired, .fired, late: 800), transport: .desktop)
    meters.count(Self.daemonEvent(.fired, .firedLate, late: 7_200_000_000), transport: .desktop)
    meters.count(Self.daemonEvent(.fired, .firedAgain), transport: .desktop)
    meters.count(Self.daemonEvent(.missed, missed: (.downtime, 41)), transport: .desktop)
    meters.count(Self.daemonEvent(.delivered, late: 5_000_000), transport: .webhook)
    meters.count(Self.daemonEvent(.failed), transport: .webhook)
    meters.count(Self.daemonEvent(.failed, .givenUp), transport: .command)
    meters.count(Self.daemonEvent(.failed, .messageCancelled), transport: .command)
    meters.count(Self.daemonEvent(.snoozed), transport: .desktop)
    meters.count(Self.daemonEvent(.clock), transport: .desktop)
    meters.count(Self.daemonEvent(.added), transport: .desktop)
    #expect(meters.fired == [.onTime: 1, .late: 1, .repeated: 1])
    #expect(meters.missed == [.downtime: 41])
    #expect(
      meters.attempts == [
        .init(transport: .webhook, outcome: .delivered): 1, .init(transport: .webhook, outcome: .failed): 1,
        .init(transport: .command, outcome: .givenUp): 1, .init(transport: .command, outcome: .cancelled): 1,
      ])
    #expect(meters.answers == [.snoozed: 1] && meters.clock == [.step: 1])
    // Only firings count: 0.8 ms in the first bucket, two hours in the last but one.
    #expect(meters.lateness.buckets.first == 1 && meters.lateness.buckets[13] == 1)
    #expect(meters.lateness.sum == 7_200.0008)
  }

  /// Delivered and failed messages are counted by event; deferred or canceled ones are not.
  @Test func messagesAreCountedByTheirEvent() {
    var meters = Meters()
    func count(_ event: DeliveryEvent?, _ state: Delivery.State) {
      let delivery = Delivery(
        id: DeliveryID(rawValue: "msg_1"), occurrence: Self.occurrence.id,
        queue: DeliveryQueue(owner: 1, channel: ChannelName(rawValue: "list")), round: Self.occurrence.rounds,
        createdAt: Instant(seconds: 0), event: event)
      meters.count(OutboundMessage(delivery: delivery, occurrence: Self.occurrence, reminder: nil), state)
    }
    let at = Instant(seconds: 9)
    count(nil, .delivered(at: at))
    count(.init(.event(.done)), .delivered(at: at))
    count(.init(.event(.done)), .dead(at: at))
    count(.init(.event(.done)), .waiting(until: at))
    count(.init(.withdrawal), .delivered(at: at))
    count(.init(.withdrawal), .cancelled(at: at))
    #expect(
      meters.deliveries == [
        .init(kind: .event(.fired), outcome: .delivered): 1, .init(kind: .event(.done), outcome: .delivered): 1,
        .init(kind: .event(.done), outcome: .givenUp): 1, .init(kind: .withdrawal, outcome: .delivered): 1,
      ])
    #expect(Self.text(queues: []).contains("chime_deliveries_total{event=\"withdrawal\",outcome=\"given_up\"} 0\n"))
  }

  static func text(
    queues: [StoreGauges.DeliveryQueueGauge], isSystem: Bool = false, isReadable: Bool = true,
    members: [FleetMember] = [],
    tenants: [Tenants.TenantState] = [], hasHeartbeat: Bool = false, now: Instant = Instant(seconds: 200)
  ) -> String {
    var snapshot = EventLoop.Snapshot(
      pid: 1, isSystem: isSystem, startedAt: Instant(seconds: 100), storePath: "/x", storeProblem: nil, unrecorded: 0,
      connections: 1, clockEvents: 0, residentBytes: 1_000, summary: "", notices: [],
      lastSnapshot: StoreSnapshot(takenAt: Instant(seconds: 150), path: "/s", bytes: 1), rests: [:])
    if hasHeartbeat {
      var heartbeat = Heartbeat()
      heartbeat.taken(.beat, at: Instant(seconds: 190))
      snapshot.heartbeat = heartbeat
    }
    let readings = MetricsText.Readings(
      counts: StoreCounts(reminders: 5, openOccurrences: 2, pendingDeliveries: 3, deadDeliveries: 1),
      gauges: StoreGauges(reminders: 9, scheduled: 4, queues: queues), dueToday: 3, nextDue: Instant(seconds: 260),
      overdue: now > Instant(seconds: 260) ? 2 : 0, tenants: [Tenant.firstNumber: 12])
    return MetricsText(
      meters: Meters(), snapshot: snapshot, transactions: 7, storeBytes: 4_096, readings: isReadable ? readings : nil,
      endpoints: [], members: members, months: members.isEmpty ? nil : (5, 12), tenants: tenants, now: now
    ).text
  }

  private static func gauge(_ index: Int, owner: UInt32 = 1) -> StoreGauges.DeliveryQueueGauge {
    StoreGauges.DeliveryQueueGauge(
      queue: DeliveryQueue(owner: owner, channel: ChannelName(rawValue: "e\(index)")), pending: index,
      oldest: index == 0 ? nil : Instant(seconds: 140), dead: 1)
  }

  @Test func remindersAreCountedByState() {
    let text = Self.text(queues: [Self.gauge(3)])
    for line in [
      "chime_reminders{state=\"scheduled\"} 4", "chime_reminders{state=\"unanswered\"} 1",
      "chime_reminders{state=\"inactive\"} 4", "chime_reminders_due_today 3", "chime_next_due_timestamp_seconds 260",
      "chime_outbox_pending{channel=\"e3\"} 3", "chime_outbox_oldest_seconds{channel=\"e3\"} 60",
      "chime_store_transactions_total 7", "chime_store_up 1", "chime_snapshot_timestamp_seconds 150",
      "chime_build_info{version=\"0.1.0\",instance=\"user\"} 1", "chime_lateness_seconds_bucket{le=\"+Inf\"} 0",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
  }

  /// However many endpoints there are, each family has 64 series and one for the rest.
  @Test func manyEndpointsShareALimitedNumberOfSeries() {
    let text = Self.text(queues: (0..<1_000).map { Self.gauge($0) })
    let pending = text.split(separator: "\n").filter { $0.hasPrefix("chime_outbox_pending{") }
    #expect(pending.count == 65)
    #expect(pending.first == "chime_outbox_pending{channel=\"e999\"} 999")
    let rest = (0..<936).reduce(0, +)
    #expect(pending.last == "chime_outbox_pending{channel=\"\"} \(rest)")
    #expect(text.contains("chime_outbox_dead{channel=\"\"} 936\n"))
  }

  @Test func systemDaemonLabelsOwners() {
    let text = Self.text(queues: [Self.gauge(1, owner: 7)], isSystem: true)
    #expect(text.contains("chime_outbox_pending{uid=\"7\",channel=\"e1\"} 1\n"))
    #expect(text.contains("instance=\"system\""))
  }

  @Test func overdueTimesAreReported() {
    let (early, late) = (Self.text(queues: []), Self.text(queues: [], now: Instant(seconds: 265)))
    #expect(early.contains("chime_overdue 0\n") && early.contains("chime_overdue_oldest_seconds 0\n"))
    #expect(late.contains("chime_overdue 2\n") && late.contains("chime_overdue_oldest_seconds 5\n"))
  }

  static let members = [
    FleetReportTests.member(1, "app1", isLiving: false, seen: 90), FleetReportTests.member(2, "app2", seen: 199),
    FleetReportTests.member(3, "app1", seen: 198, shards: 100),
    FleetReportTests.member(4, "app3", isLiving: false, seen: 140),
  ]

  /// The daemons that share the store, without replaced ones.
  @Test func fleetIsReported() {
    let text = Self.text(queues: [], members: Self.members)
    for line in [
      "chime_fleet_daemons{state=\"running\"} 2", "chime_fleet_daemons{state=\"lost\"} 1",
      "chime_fleet_shards{host=\"app1\",pid=\"4713\"} 100",
      "chime_fleet_heartbeat_age_seconds{host=\"app3\",pid=\"4714\"} 60",
      "chime_fleet_unassigned_shards 28", "chime_history_partitions 5", "chime_history_unpartitioned_occurrences 12",
    ] { #expect(text.contains(line + "\n"), "\(line): \(text)") }
    #expect(!text.contains("4711"))
    #expect(!Self.text(queues: []).contains("fleet"), "nobody shares it")
  }

  private static var acme: Tenants.TenantState {
    var definition = TenantDefinition(name: "acme")
    definition.reminders = 50
    var seat = Tenants.TenantState(definition: definition, number: Tenant.firstNumber)
    (seat.taken, seat.refused) = (7, 3)
    return seat
  }

  @Test func tenantsAreReported() {
    let text = Self.text(queues: [Self.gauge(1, owner: Tenant.firstNumber)], isSystem: true, tenants: [Self.acme])
    for line in [
      "chime_tenant_reminders{tenant=\"acme\"} 12", "chime_tenant_reminders_limit{tenant=\"acme\"} 50",
      "chime_tenant_requests_total{tenant=\"acme\"} 7", "chime_tenant_requests_refused_total{tenant=\"acme\"} 3",
      "chime_outbox_pending{tenant=\"acme\",channel=\"e1\"} 1",
    ] { #expect(text.contains(line + "\n"), "\(line): \(text)") }
  }

  @Test func heartbeatIsReported() {
    let text = Self.text(queues: [], hasHeartbeat: true)
    #expect(text.contains("chime_heartbeats_total{outcome=\"accepted\"} 0\n"))
    #expect(text.contains("chime_heartbeat_timestamp_seconds 190\n"))
    #expect(!Self.text(queues: []).contains("heartbeat"), "nobody is notified")
  }

  @Test func unreadableStoreIsReported() {
    let text = Self.text(queues: [], isReadable: false)
    #expect(text.contains("chime_store_up 0\n"))
    #expect(!text.contains("chime_reminders"))
  }

  /// docs/operations.md has a row for each family, with its type, in the order of the text.
  @Test func manualListsEachMetric() throws {
    let families = Self.text(
      queues: [Self.gauge(1)], members: Self.members, tenants: [Self.acme], hasHeartbeat: true
    )
    .split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
    .map { $0.split(separator: " ").dropFirst(2).map(String.init) }
    let root = URL(filePath: Package.folder)
    let manual = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
    let rows = manual.split(separator: "\n").filter { $0.hasPrefix("| `chime_") }.map { row in
      row.split(separator: "|").prefix(2).map { $0.trimmingCharacters(in: ["`", " "]) }
    }
    #expect(rows == families)
  }

  @Test(arguments: ["chime.prom", "/var/lib/chime", "/x/.prom", "/x/chime.txt"])
  func fileNameThatNoCollectorReadsIsRefused(_ path: String) {
    var loaded = LoadedConfiguration()
    #expect(throws: ConfigurationError.self) {
      try ConfigurationFiles.apply(Array("[metrics]\nfile = \"\(path)\"\n".utf8), file: "c.toml", to: &loaded)
    }
  }

  @Test func metricsFileIsReplacedAtomicallyAndRemoved() throws {
    let folder = RunFolder.url.appending(path: "chime-metrics-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = MetricsFile(path: folder.path(percentEncoded: false) + "/chime.prom")
    try file.write("one\n")
    try file.write("two\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) == ["chime.prom"])
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "two\n")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o644)
    file.remove()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(throws: SystemError.self) { try MetricsFile(path: "/nonexistent/chime.prom").write("") }
  }
}
