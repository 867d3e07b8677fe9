import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc
import Varlink

/// Collects the facts for the health checks: concurrently, each with a time limit, and without changing anything.
struct Probes: Sendable {
  let socket: SocketPath
  let environment: [String: String]
  let userID: UInt32
  let now: Instant
  /// Whether each endpoint receives a test message.
  var isLive = false

  /// The time limit in milliseconds for each answer of systemd and the daemon.
  static let patience = 1_500
  /// The time limit in milliseconds for diagnostics, which alone may take a second.
  private static let diagnosticsTimeout = 2_500
  private static let programPatience = 1_000
  /// The time limit in milliseconds for all endpoint tests together.
  private static let livePatience = 30_000
  /// The most failed deliveries that are counted.
  static let givenUpLimit = 100
  private static let lately = Milliseconds.days(7)

  func gather() -> DoctorFacts {
    var facts = DoctorFacts()
    facts.now = now
    facts.userID = userID
    facts.userName = Self.name(of: userID)
    facts.isSystem = socket.isSystem
    facts.isGuessed = socket.isGuessed
    facts.environment = environment
    let own = LocalDaemonBinary.path(environment: environment)
    let isSystem = socket.isSystem
    // The socket belongs to the installed units only if it is in its usual place.
    let units: BackgroundValue<UnitFacts>? =
      socket.isGuessed || isSystem
      ? BackgroundValue { UnitProbe.look(isSystem: isSystem, own: own, within: Self.patience) } : nil
    let keepers = BackgroundValue { ClockKeepers.running() }
    facts.lingers = lingers(facts.userName)
    facts.language = LanguageFacts(
      wanted: Catalogs.languages, there: Catalogs.installed, isKnown: Catalogs.knowsLocale)
    facts.socket = SocketProbe.look(at: socket.path)
    facts.units = units?.value(within: Self.patience + 200)
    meet(&facts)
    diagnose(&facts, own)
    if !isSystem, let desktop = facts.diagnostics?.desktop, desktop.transport == "notify-send",
      let path = desktop.path
    {
      facts.popupProgram = RunningProgram.run(path, ["--version"], within: Self.programPatience)
    }
    facts.clockKeepers = keepers.value(within: Self.patience) ?? []
    return facts
  }

  // MARK: The daemon

  private func meet(_ facts: inout DoctorFacts) {
    if let units = facts.units, units.socket.active == "active", ["inactive", "failed"].contains(units.service.active) {
      // A connection would start the daemon.
      facts.daemon = .asleep
      return
    }
    guard facts.socket.kind == .socket else { return }
    SocketProbe.connect(&facts.socket)
    switch facts.socket.connection {
    case .taken: break
    case .notPermitted:
      facts.daemon = .notPermitted
      return
    default: return
    }
    if socket.isGuessed, let holder = facts.socket.holder, holder.userID != userID, holder.userID != 0 {
      facts.daemon = .foreign(holder.userID)
      return
    }
    let began = ContinuousClock.now
    guard let client = connection() else { return }
    do throws(VarlinkClientError) {
      let health = try client.call(DaemonInterface.Status()).status
      facts.daemon = .answered(health, after: Self.milliseconds(since: began))
      ask(client, &facts)
    } catch {
      facts.daemon = Self.answer(error)
    }
  }

  private func connection(timeout: Int = patience) -> VarlinkClient? {
    guard let address = VarlinkAddress(path: socket.path) else { return nil }
    return try? VarlinkClient(address, timeout: .milliseconds(timeout))
  }

  private static func milliseconds(since begin: ContinuousClock.Instant) -> Int {
    let (seconds, fraction) = (ContinuousClock.now - begin).components
    return Int(seconds * 1_000 + fraction / 1_000_000_000_000_000)
  }

  private static func answer(_ error: VarlinkClientError) -> DaemonAnswer {
    switch error {
    case .timedOut: .silent(within: patience)
    case .noSocket, .refused, .closed: .absent
    case .remote(let remote):
      if case .permissionDenied = remote.service { .notPermitted } else { .stranger(remote.name) }
    default: .stranger(String("\(error)".prefix(200)))
    }
  }

  /// Asks everything else on the same connection.
  private func ask(_ client: VarlinkClient, _ facts: inout DoctorFacts) {
    facts.endpoints = asked {
      try client.call(EndpointsInterface.List())
        .endpoints
    }
    facts.commands = asked {
      try client.call(CommandsInterface.List())
        .commands
    }
    let since = RFC3339.format(now - Self.lately, in: .utc)
    facts.givenUp = asked {
      try client.call(
        DeliveriesInterface.List(
          filter: DeliveriesInterface.Filter(state: .dead, since: since), limit: Self.givenUpLimit)
      ).deliveries
    }
    facts.trackers = asked {
      try client.call(TrackersInterface.List())
        .trackers.count
    }
    facts.packs = asked {
      try client.call(TrackersInterface.Packs())
        .packs.filter { $0.installedAt != nil }.count
    }
    for endpoint in facts.endpoints.value ?? [] where endpoint.failingSince != nil || endpoint.disabled != nil {
      let latest = try? client.call(
        DeliveriesInterface.List(
          filter: DeliveriesInterface.Filter(channel: endpoint.name), limit: 5))
      facts.endpointResults[endpoint.name] = latest?.deliveries.compactMap(\.lastResult).first
    }
    if isLive { test(&facts) }
  }

  private func asked<Value>(_ body: () throws -> Value) -> Asked<Value> {
    do {
      return .answer(try body())
    } catch {
      return .failed(String("\(error)".prefix(200)))
    }
  }

  /// Sends a test message to each working endpoint, concurrently.
  private func test(_ facts: inout DoctorFacts) {
    let names = (facts.endpoints.value ?? []).filter { $0.disabled == nil && $0.problem == nil }.map(\.name)
    let tests = names.prefix(16).map { name in
      (
        name,
        BackgroundValue { () -> Asked<EndpointsInterface.TestResult> in
          guard let client = connection(timeout: Self.livePatience) else { return .failed("no connection") }
          return asked {
            try client.call(EndpointsInterface.Test(name: name)).result
          }
        }
      )
    }
    for (name, test) in tests {
      facts.endpointTests[name] = test.value(within: Self.livePatience) ?? .failed("no answer in time")
    }
  }

  // MARK: Store and system

  private func diagnose(_ facts: inout DoctorFacts, _ own: String?) {
    if facts.health != nil, let client = connection(timeout: Self.diagnosticsTimeout) {
      facts.diagnostics = try? client.call(DaemonInterface.Diagnose()).diagnostics
    }
    // The system's daemon may not read the kernel's clock state.
    guard facts.diagnostics?.clock == nil else { return }
    guard let own else {
      facts.diagnosticsProblem = "there is no chimed beside this command or in PATH"
      return
    }
    var arguments = ["--diagnose"] + (socket.isSystem ? ["--system"] : [])
    if !socket.isGuessed, !socket.isSystem { arguments += ["--socket", socket.path] }
    switch RunningProgram.run(own, arguments, within: Self.diagnosticsTimeout) {
    case .ended(0, let output):
      guard let found = try? JSONReader.read(DaemonInterface.Diagnostics.self, from: Array(output.utf8)) else {
        facts.diagnosticsProblem = "\(own) is of another version"
        return
      }
      facts.clock = found.clock
      if facts.diagnostics == nil { facts.diagnostics = found }
    case .tookTooLong(let limit): facts.diagnosticsProblem = "\(own) --diagnose took longer than \(limit) ms"
    case let run: facts.diagnosticsProblem = "\(own) --diagnose failed (\(run))"
    }
  }

  /// Whether the user lingers; nil without systemd.
  private func lingers(_ user: String) -> Bool? {
    guard !socket.isSystem, access("/run/systemd/system", F_OK) == 0 else { return nil }
    return access("/var/lib/systemd/linger/\(user)", F_OK) == 0
  }

  private static func name(of user: UInt32) -> String {
    var entry = passwd()
    var buffer = [CChar](repeating: 0, count: 16_384)
    // The name points into the buffer, so the buffer must outlive its use.
    return buffer.withUnsafeMutableBufferPointer { buffer in
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil,
        let name = entry.pw_name
      else { return "\(user)" }
      return String(cString: name)
    }
  }
}

/// The programs that synchronize the clock.
enum ClockKeepers {
  /// Names as the kernel truncates them (proc(5), "comm").
  private static let names = [
    "chronyd": "chronyd", "ntpd": "ntpd", "ntpsec": "ntpsec", "openntpd": "openntpd",
    "systemd-timesyn": "systemd-timesyncd", "ptp4l": "ptp4l", "phc2sys": "phc2sys",
  ]

  static func running() -> [String] {
    var found: Set<String> = []
    for entry in Files.entries("/proc") where entry.first?.isNumber == true {
      guard let bytes = Files.read("/proc/\(entry)/comm", limit: 100) else { continue }
      let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      if let known = names[name] { found.insert(known) }
    }
    return found.sorted()
  }
}
