import Foundation
import Testing

/// Four daemons on one PostgreSQL server with a synchronous standby, many reminders that become due within seconds,
/// each with a webhook, and injected faults. It prints its measurements.
final class Storm {
  let home: Home
  let size: Int
  let span: Int
  /// The due time of the first reminder, in seconds since the epoch.
  private(set) var begin = 0
  /// The ids of the reminders, by number.
  private(set) var reminders: [String] = []
  /// The primary, and its standby while there is one.
  private(set) var primary: PostgresServer
  private(set) var standby: PostgresServer?
  private let database: String
  private let endpoints = (0..<64).map { "hook\($0)" }
  var daemons: [Daemon] = []
  /// The injected faults, in the order of their end.
  var incidents: [Incident] = []
  /// The network namespace of the last daemon, with one link each to the servers and the receiver.
  let network: Network?
  /// The receiver's record.
  var received: String { home.path + "/received" }

  init(_ home: Home, size: Int, span: Int, _ network: Network? = nil) async throws {
    (self.home, self.size, self.span, self.network) = (home, size, span, network)
    // Settings of a dedicated server, instead of the defaults for small machines.
    let settings =
      ["shared_buffers = 256MB", "max_wal_size = 4GB"]
      + (network.map { ["listen_addresses = '\($0.address(of: .database))'"] } ?? [])
    primary = try await PostgresServer.begin(settings: settings)
    database = try await primary.makeDatabase()
    let standby = try await PostgresServer.begin(settings: settings, port: 5433, following: primary)
    self.standby = standby
    try await primary.waitForStandby()
    func configuration(_ hosts: String) -> String {
      """
      [store]
      engine = "postgres"
      connection = "host=\(hosts) port=5432,5433 dbname=\(database) user=chime"
      """
    }
    try home.configure(configuration("\(primary.folder),\(standby.folder)"))
    for number in 0..<4 { try FileManager.default.makeFolder(folder(number)) }
    if let address = network?.address(of: .database) {
      try home.write(configuration("\(address),\(address)"), to: folder(3) + "/chimed.toml")
    }
    let url = "http://\(receiverAddress):\(try await startReceiver())/"
    daemons.append(try await start(0))
    for name in endpoints {
      _ = try await call(
        0, "io.chime.Endpoints.Put",
        ["name": .string(name), "url": .string(url), "secret": .string(Receiver.secret)])
    }
    for number in 1..<4 {
      try FileManager.default.copyItem(atPath: folder(0) + "/secrets", toPath: folder(number) + "/secrets")
      daemons.append(try await start(number))
    }
    try await sharesAreEven()
  }

  private var receiverAddress: String { network?.address(of: .web) ?? "127.0.0.1" }

  private func startReceiver() async throws -> Int {
    let program = home.path + "/crowd-receiver"
    let made = try await home.run(
      "cc", ["-std=gnu11", "-O2", "-o", program, Machine.support("crowd-receiver.c")])
    guard made.status == 0 else { throw HarnessFailure(made.text) }
    // The response delay: long enough that attempts are always in flight, short enough to keep up.
    let delay = min(400, max(20, 20_000 * span / size))
    let receiver = try await home.spawn(program, [received, "\(delay)", receiverAddress])
    return try await eventually("the receiver says its port") { receiver.lines.first.flatMap { Int($0) } }
  }

  // MARK: Daemons

  private func folder(_ number: Int) -> String { "\(home.path)/member\(number)" }

  func start(_ number: Int) async throws -> Daemon {
    let folder = folder(number)
    var words = [Machine.programs + "/chimed", "--state-dir", folder, "--socket", "\(folder)/socket"]
    // ip(8) execs the program that it runs, so the pid stays.
    if number == 3, let network { words = network.prefix + words + ["--config", "\(folder)/chimed.toml"] }
    return try await home.start(words[0], Array(words.dropFirst()), within: .seconds(60))
  }

  private func call(_ number: Int, _ method: String, _ parameters: JSON) async throws -> JSON {
    let socket = folder(number) + "/socket"
    let answer = try await blocking { try RawSocket(path: socket, timeout: 120).call(method, parameters) }
    guard answer.error == nil else { throw HarnessFailure("\(method): \(answer)") }
    return answer.parameters
  }

  func sql(_ statement: String) async throws -> String {
    let (primary, database) = (primary, database)
    return try await blocking { try primary.sql(statement, on: database) }
  }

  /// Waits until all four daemons have equal shares.
  func sharesAreEven() async throws {
    try await eventually("the shares are equal", within: .seconds(60), every: .milliseconds(100)) {
      try await sql("SELECT count(*) FROM chime.shard_lease WHERE node IS NOT NULL GROUP BY node") == "64\n64\n64\n64"
    }
  }

  private func node(of daemon: Daemon) async throws -> String {
    try await sql("SELECT max(id) FROM chime.node WHERE process = \(daemon.process.pid)")
  }

  /// Waits until others have all queues of a lost daemon, and checks the promised 8 s.
  private func takeover(of node: String, _ what: String) async throws {
    let lost = ContinuousClock.now
    try await eventually("the others have its queues", within: .seconds(60), every: .milliseconds(20)) {
      try await sql("SELECT count(*) FROM chime.shard_lease WHERE node = \(node)") == "0"
    }
    let took = ContinuousClock.now - lost
    log("\(what): the others had all of its queues after \(took)")
    #expect(took < .seconds(8))
  }

  // MARK: Reminders

  /// Adds all reminders through all daemons, 5,000 per request, each due at a second of the span.
  func fill() async throws {
    let clock = ContinuousClock.now
    // Allow for the time that adding takes on a busy machine.
    begin = Int(Date().timeIntervalSince1970) + 10 + size / 1_000
    let drafts = (0..<size).map { number in
      let time = Date(timeIntervalSince1970: Double(due(number)))
      return [
        "title": .string("Number \(number)"), "when": .string("at \(time.formatted(.iso8601))"),
        "channels": [.string(endpoints[number % endpoints.count])],
      ] as JSON
    }
    let chunks = stride(from: 0, to: size, by: 5_000).map { Array(drafts[$0..<min($0 + 5_000, size)]) }
    for (place, chunk) in chunks.enumerated() {
      let answer = try await call(place % 4, "io.chime.Reminders.AddMany", ["reminders": .array(chunk)])
      reminders += answer["ids"].elements.compactMap(\.string)
    }
    log("\(size) reminders were added in \(ContinuousClock.now - clock), due within \(span) s")
    #expect(Set(reminders).count == size)
    #expect(Date().timeIntervalSince1970 < Double(begin), "they were added before the first of them was due")
  }

  /// Returns the due time in seconds since the epoch: each endpoint has reminders in each second.
  func due(_ number: Int) -> Int { begin + number / endpoints.count % span }
  /// The same as an SQL expression over occurrences.
  var dueInSQL: String { "\(begin) + split_part(title, ' ', 2)::int / \(endpoints.count) % \(span)" }

  func fired() async throws -> Int {
    try Int(await sql("SELECT count(*) FROM chime.occurrence")) ?? 0
  }

  /// Waits until so many percent have fired.
  func progress(_ hundredths: Int) async throws {
    try await eventually("\(hundredths) of 100 have fired", within: .seconds(600), every: .milliseconds(50)) {
      try await fired() >= size * hundredths / 100
    }
  }

  /// Checks that the fault happens during the firing.
  private func inTheMidst(_ what: String) async throws {
    let (fired, delivered) = (
      try await fired(), try await sql("SELECT count(*) FROM chime.delivery WHERE state = 2")
    )
    let senders = try await sql(
      "SELECT count(DISTINCT s.node) FROM chime.delivery_queue l JOIN chime.shard_lease s ON s.shard = l.shard")
    log("\(what): when \(fired) had fired and \(delivered) were delivered, by \(senders) daemons")
    #expect(0 < fired && fired < size && (Int(senders) ?? 0) > 1, "in the midst of it")
  }

  enum Fault: String, CaseIterable, Sendable {
    /// A daemon is killed.
    case kill
    /// A daemon is stopped within a transaction, beyond its lease.
    case freeze
    /// A daemon is stopped while it waits for responses, beyond its lease.
    case stall
    /// A daemon loses the servers, and reconnects later.
    case cut
    /// The primary is killed, and its standby promoted.
    case promote
    /// All daemons and servers are killed and restarted.
    case restart
    /// Daemons are stopped one after another, each for about the length of a lease.
    case stops
    /// A daemon is cut off repeatedly, each time for about the length of a lease.
    case cuts
    /// The primary is stopped for 15 s.
    case still
    /// Sixteen random faults, several at a time.
    case chaos

    /// The minimum span of the due times, in seconds.
    var span: Int {
      switch self {
      case .kill, .freeze, .stall, .cut, .promote, .restart: 40
      case .stops, .cuts: 110
      case .still: 60
      case .chaos: 130
      }
    }
  }

  /// A fault with its start and end, in milliseconds since the epoch.
  struct Incident: Sendable {
    let what: String
    let begin: Int64
    let end: Int64
    /// Whether no daemon could work during it.
    let hitsAll: Bool
    /// Whether no other fault overlapped it.
    let isSingle: Bool
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  func over(_ what: String, since begin: Int64, hitsAll: Bool = false, isSingle: Bool = true) {
    incidents.append(Incident(what: what, begin: begin, end: Self.now, hitsAll: hitsAll, isSingle: isSingle))
  }

  func suffer(_ fault: Fault) async throws {
    switch fault {
    case .kill: try await killOne()
    case .freeze: try await freezeOne("a daemon is stopped in a transaction", when: Self.inTransaction)
    case .stall: try await freezeOne("a daemon is stopped in deliveries", when: Self.inDeliveries)
    case .cut: try await cutOneOff()
    case .promote: try await loseThePrimary()
    case .restart: try await restartEverything()
    case .stops: try await stopInARow()
    case .cuts: try await cutInARow()
    case .still: try await freezeThePrimary()
    case .chaos: try await chaos()
    }
  }

  private func killOne() async throws {
    let node = try await node(of: daemons[1])
    try await inTheMidst("a daemon is killed")
    let killed = Self.now
    try await daemons[1].crash()
    over("a daemon is killed", since: killed)
    try await takeover(of: node, "a daemon is killed")
    daemons[1] = try await start(1)
  }

  /// Returns a query for a daemon's current transaction, within which it is to be stopped.
  private static func inTransaction(_ node: String) -> String {
    """
    SELECT state || ': ' || regexp_replace(left(query, 60), '\\s+', ' ', 'g') FROM pg_stat_activity
    WHERE application_name LIKE 'chimed \(node), %' AND state IN ('idle in transaction', 'active')
    """
  }

  /// Returns a query for the number of a daemon's claimed deliveries, while it is idle in the database.
  private static func inDeliveries(_ node: String) -> String {
    """
    SELECT count(*) || ' deliveries under way' FROM chime.delivery d
      JOIN chime.delivery_queue l ON l.key = d.queue JOIN chime.shard_lease s ON s.shard = l.shard
    WHERE s.node = \(node) AND d.state <= 1 AND d.epoch = s.epoch AND d.visible_at > coalesce(d.state_at, d.created_at)
      AND d.visible_at > extract(epoch FROM clock_timestamp()) * 1000
      AND NOT EXISTS (\(inTransaction(node)))
    HAVING count(*) > 0
    """
  }

  /// Stops a daemon when `moment` matches, beyond its lease.
  private func freezeOne(_ what: String, when moment: (String) -> String) async throws {
    let frozen = daemons[2].process
    let node = try await node(of: daemons[2])
    try await inTheMidst(what)
    let doing = try await eventually("it is stopped in the midst", within: .seconds(60), every: .milliseconds(5)) {
      () -> String? in
      frozen.send(SIGSTOP)
      let found = try await sql(moment(node))
      if found.isEmpty { frozen.send(SIGCONT) }
      return found.isEmpty ? nil : found
    }
    log("\(what): \(doing)")
    let stopped = Self.now
    try await takeover(of: node, what)
    let before = frozen.errors.count
    frozen.send(SIGCONT)
    over(what, since: stopped)
    try await eventually("it knows the outcome", within: .seconds(60)) {
      frozen.errors.dropFirst(before).contains("this daemon sent the database no heartbeat for")
    }
  }

  /// Cuts a daemon off beyond its lease.
  private func cutOneOff() async throws {
    guard let network else { throw HarnessFailure("no daemon has a network of its own") }
    let node = try await node(of: daemons[3])
    try await inTheMidst("a daemon is cut off")
    let pulled = Self.now
    try await network.pull(.database)
    try await takeover(of: node, "a daemon is cut off")
    try await network.plugIn(.database)
    over("a daemon is cut off", since: pulled)
    let back = ContinuousClock.now
    try await eventually("it has a share again", within: .seconds(60), every: .milliseconds(50)) {
      try await sql("SELECT count(*) FROM chime.shard_lease WHERE node = \(try await self.node(of: daemons[3]))") != "0"
    }
    log("a daemon is cut off: it had a share again \(ContinuousClock.now - back) after it could reach the servers")
  }

  private func loseThePrimary() async throws {
    guard let next = standby else { throw HarnessFailure("there is no standby any more") }
    try await inTheMidst("the primary is lost")
    let (lost, began) = (primary, Self.now)
    try await blocking {
      try lost.lose()
      try next.promote()
    }
    over("the primary is lost", since: began, hitsAll: true)
    (primary, standby) = (next, nil)
    let promoted = ContinuousClock.now
    let before = try await fired()
    try await eventually("it continues to fire", within: .seconds(60), every: .milliseconds(20)) {
      try await fired() > before
    }
    let took = ContinuousClock.now - promoted
    log("the primary is lost: fired again \(took) after the standby was promoted")
    #expect(took < .seconds(3))
    for number in 0..<4 {
      _ = try await eventually("it answers", within: .seconds(60)) {
        try? await call(number, "io.chime.Reminders.List", ["limit": 1])
      }
    }
    log("the primary is lost: all daemons answered after \(ContinuousClock.now - promoted)")
  }

  private func restartEverything() async throws {
    try await inTheMidst("everything is killed")
    let servers = [primary, standby].compactMap { $0 }
    let killed = Self.now
    for daemon in daemons { daemon.process.send(SIGKILL) }
    try await blocking { for server in servers { try server.lose() } }
    for daemon in daemons { try await daemon.crash() }
    let lost = ContinuousClock.now
    try await blocking { for server in servers { try server.start(within: 120) } }
    let before = try await fired()
    log("everything is killed: the servers were there again after \(ContinuousClock.now - lost)")
    for number in 0..<4 { daemons[number] = try await start(number) }
    log("everything is killed: the daemons were ready after \(ContinuousClock.now - lost)")
    over("everything is killed", since: killed, hitsAll: true)
    try await eventually("it continues to fire", within: .seconds(60), every: .milliseconds(20)) {
      try await fired() > before
    }
    log("everything is killed: fired again after \(ContinuousClock.now - lost)")
  }

  /// Waits until all have fired and no delivery is pending, then stops the daemons.
  func settle() async throws {
    let limit = Duration.seconds(120 + size / 200)
    try await progress(100)
    log("all had fired \(Int(Date().timeIntervalSince1970) - begin - span + 1) s after the last was due")
    try await eventually("all are delivered", within: limit, every: .milliseconds(200)) {
      try await sql("SELECT count(*) FROM chime.delivery WHERE state <= 1") == "0"
    }
    log("all were delivered \(Int(Date().timeIntervalSince1970) - begin - span + 1) s after the last was due")
    try await sharesAreEven()
    for daemon in daemons {
      let ending = try await daemon.stop()
      #expect(ending == .exited(0), "\(ending): \(daemon.process.errors.suffix(2_000))")
    }
  }

  func log(_ what: String) { print("FleetStormTests: \(what)") }
}

extension FileManager {
  fileprivate func makeFolder(_ path: String) throws {
    try createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }
}
