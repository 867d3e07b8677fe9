import ChimeControl
import Testing

@testable import ChimeCommand

/// `chime fleet`, and the line of `chime status` about the daemons that share the store.
@Suite struct FleetTests {
  static func daemon(
    _ id: Int, _ host: String, _ state: DaemonInterface.Daemon.State = .running, heartbeatAgeMs: Int = 1_200,
    shards: Int = 128
  ) -> DaemonInterface.Daemon {
    DaemonInterface.Daemon(
      id: id, host: host, pid: 4_710 + id, version: "0.1.0", startedAt: Samples.time(1_774_590_000), state: state,
      heartbeatAgeMs: heartbeatAgeMs, isSelf: id == 1, shards: shards)
  }

  static func fleet(
    _ daemons: [DaemonInterface.Daemon], isShared: Bool = true, change: (inout DaemonInterface.Fleet) -> Void = { _ in }
  ) -> DaemonInterface.Fleet {
    var fleet = DaemonInterface.Fleet(
      isShared: isShared, store: isShared ? "postgres: dbname=chime" : "/home/u/chime.db", daemons: daemons,
      shards: 256,
      unassignedShards: 0, outbox: [], channels: [], pending: 0, overdue: 0)
    change(&fleet)
    return fleet
  }

  private static func outcome(
    _ fleet: DaemonInterface.Fleet, _ options: String..., language: String = "C.UTF-8"
  ) throws -> Outcome {
    chime(
      ["fleet"] + options,
      daemon: try FakeDaemon { _, _ in .reply(DaemonInterface.GetFleet.Reply(fleet: fleet)) },
      environment: ["LANG": language])
  }

  private static let busy = fleet([
    daemon(1, "app1"), daemon(2, "app2"), daemon(3, "app3", .lost, heartbeatAgeMs: 200_000, shards: 0),
    daemon(4, "app2", .replaced, heartbeatAgeMs: 900_000, shards: 0),
  ]) { fleet in
    fleet.channels = [
      .init(channel: "team", daemon: 2, pending: 7, oldestPendingMs: 3_000),
      .init(channel: "mail", pending: 1, oldestPendingMs: 900),
    ]
    fleet.outbox = [.init(daemon: 2, channels: 1, pending: 7, oldestPendingMs: 3_000)]
    (fleet.pending, fleet.oldestPendingMs, fleet.overdue, fleet.oldestOverdueMs) = (8, 3_000, 1, 61_000)
    fleet.unassignedShards = 85
  }

  @Test func fleetIsShownWithItsPendingMessages() throws {
    let outcome = try Self.outcome(Self.busy)
    #expect(outcome.status == .success)
    #expect(
      outcome.output == """
        2 daemons share the store.
        1 time is overdue, by 1 min 1 s; 8 messages are pending, the oldest for 3 s. 85 parts of the outbox have no daemon at this moment.

        HOST   PID  VERSION  SINCE                 HEARTBEAT       SHARDS  PENDING  OLDEST  STATE
        app1  4711  0.1.0    Fri 2026-03-27 06:40  1 s ago            128        0       -  running, answers here
        app2  4712  0.1.0    Fri 2026-03-27 06:40  1 s ago            128        7     3 s  running
        app3  4713  0.1.0    Fri 2026-03-27 06:40  3 min 20 s ago       0        0       -  lost

        CHANNEL  PENDING  OLDEST  DAEMON
        team           7     3 s  app2, process 4712
        mail           1     0 s  nobody's

        """, "\(outcome.output)")
  }

  /// One clear sentence for a daemon that is alone.
  @Test func singleDaemonSaysThatItIsAlone() throws {
    let file = try Self.outcome(Self.fleet([Self.daemon(1, "app1", shards: 256)], isShared: false))
    #expect(
      file.output == """
        This daemon runs alone: its store is a file, which daemons cannot share. Several daemons can share a PostgreSQL database.
        Nothing is overdue; no message is pending.

        """, "\(file.output)")
    #expect(file.errors.contains("`chime store move --to postgres --dry-run` tests the move"), "\(file.errors)")
    let database = try Self.outcome(Self.fleet([Self.daemon(1, "app1", shards: 256)]))
    #expect(
      database.output.hasPrefix(
        "One daemon uses the store (process 4711 on app1): another with the same connection would share its work.\n"),
      "\(database.output)")
    // A lost daemon is mentioned.
    let lost = try Self.outcome(Self.fleet([Self.daemon(1, "app1", shards: 256), Self.daemon(2, "app2", .lost)]))
    #expect(lost.output.hasPrefix("1 daemon uses the store.") && lost.output.contains("lost"), "\(lost.output)")
  }

  @Test func jsonOutputHasAllFields() throws {
    let json = try Self.outcome(Self.busy, "--json").output
    for part in [
      #""isShared":true"#, #""unassignedShards":85"#, #""oldestOverdueMs":61000"#, #""state":"replaced""#,
      #""channel":"mail","uid":null,"daemon":null,"pending":1"#, #""isSelf":true"#,
    ] { #expect(json.contains(part), "\(part): \(json)") }
    let alone = try Self.outcome(Self.fleet([Self.daemon(1, "app1", shards: 256)], isShared: false), "--json").output
    #expect(alone.contains(#""isShared":false"#) && alone.contains(#""oldestPendingMs":null"#), "\(alone)")
    let plain = try Self.outcome(Self.busy, "--plain").output.split(separator: "\n")
    #expect(plain.count == 5)
    #expect(plain[0] == "id\thost\tpid\tversion\tstartedAt\tstate\theartbeatAgeMs\tisSelf\tshards")
    #expect(plain[3].hasPrefix("3\tapp3\t4713\t") && plain[3].contains("\tlost\t200000\tfalse\t0"))
  }

  @Test func statusNamesTheDaemonsInOneLine() throws {
    func status(_ daemons: [DaemonInterface.Daemon]?) throws -> String {
      var health = Samples.health()
      health.daemons = daemons
      return chime(
        ["status"],
        daemon: try FakeDaemon { [health] method, _ in
          method == DaemonInterface.Status.method
            ? .reply(DaemonInterface.Status.Reply(status: health))
            : .reply(EndpointsInterface.List.Reply(endpoints: []))
        }, environment: ["LANG": "C.UTF-8"]
      ).output
    }
    #expect(
      try status(Self.busy.daemons).hasSuffix(
        "  daemons     2 running: app1 (this one), app2; app3 sent its last heartbeat 3 min 20 s ago\n"))
    for alone in [nil, [Self.daemon(1, "app1")], [Self.daemon(1, "app1"), Self.daemon(2, "app1", .replaced)]] {
      #expect(try !status(alone).contains("daemons"))
    }
  }
}
