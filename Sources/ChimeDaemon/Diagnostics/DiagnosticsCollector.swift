import CLinux
import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeStorePostgres
import ChimeStoreSQLite
import Glibc

/// A DiagnosticsCollector examines the environment of a daemon: for `Diagnose` in a daemon, and for `chimed --diagnose`
/// without one.
///
/// It changes nothing. It blocks for up to two seconds, so it runs on its own threads.
struct DiagnosticsCollector: Sendable {
  let paths: RuntimePaths
  /// The daemon's configuration; nil without a daemon.
  let inForce: Configuration?
  let zones: ZoneCatalog
  /// The owner whose secrets may be named; nil for all.
  var sees: UInt32?

  /// The time limit of the bus and the store, which are examined in parallel.
  static let patience = Milliseconds.seconds(1)

  /// Examines everything. `needsDesktop` says whether an active reminder uses the desktop; nil if unknown.
  func run(wakeProblem: String?, wantsWake: Bool?, needsDesktop: Bool?) -> DaemonInterface.Diagnostics {
    let judged = ConfigurationJudgement(paths, zones)
    // Use the daemon's configuration, or the one that a daemon would use.
    let configuration = inForce ?? judged.loaded?.configuration ?? Configuration()
    let bus = BackgroundValue { BusProbe.look(in: paths.environment, within: Self.patience) }
    let store = BackgroundValue { storeState(configuration) }
    return DaemonInterface.Diagnostics(
      version: Product.version, isDaemon: inForce != nil,
      configuration: DaemonInterface.ConfigurationState(
        path: paths.configurationPath, files: judged.loaded?.files ?? [], problem: judged.problem,
        isLoaded: inForce.map { $0 == judged.loaded?.configuration }),
      desktop: desktop(configuration, needsDesktop), bus: bus.value, store: store.value, exposedFiles: exposedFiles(),
      zone: zone(),
      clock: clock(), wakeProblem: wakeProblem, wantsWake: wantsWake)
  }

  private func storeState(_ configuration: Configuration) -> DaemonInterface.StoreState {
    if configuration.storeEngine == .postgres { return databaseState(configuration) }
    // A daemon's store is where it was at the start.
    let path =
      inForce == nil && !configuration.storePath.isEmpty ? configuration.storePath : paths.storePath
    let found = SQLiteStore.inspect(path: path, within: Double(Self.patience.rawValue) / 1_000)
    return DaemonInterface.StoreState(
      path: found.path, problem: found.fault.map(Self.sentence), isComplete: found.isWhole, bytes: Int(found.bytes),
      changedAt: found.changedAt.map(time), freeBytes: found.freeBytes.map { Int($0) },
      quarantinedFiles: found.leftovers,
      latestSnapshot: found.snapshots.first.map {
        DaemonInterface.StoreSnapshot(
          takenAt: time($0.takenAt),
          path: $0.path, bytes: Int($0.bytes), beforeUpgradeFrom: $0.beforeUpgradeFrom)
      }, maxSnapshots: configuration.snapshots,
      snapshotEvery: DurationText.formatISO8601(configuration.snapshotEvery))
  }

  /// Returns the state of a database, which has no file to examine.
  private func databaseState(_ configuration: Configuration) -> DaemonInterface.StoreState {
    let opening = StoreOpening(paths, configuration)
    // A daemon's name comes from its open store, whatever the configuration says now.
    let path = inForce == nil ? (try? opening.name()) ?? "postgres:" : paths.storePath
    var (problem, found): (String?, DatabaseInspection?)
    do {
      found = try opening.inspectDatabase()
    } catch {
      problem = Self.sentence(error)
    }
    return DaemonInterface.StoreState(
      path: path, problem: problem, isComplete: true, bytes: Int(found?.bytes ?? 0), quarantinedFiles: [],
      maxSnapshots: 0,
      snapshotEvery: DurationText.formatISO8601(configuration.snapshotEvery), database: found.map(Self.server))
  }

  private static func server(_ found: DatabaseInspection) -> DaemonInterface.DatabaseState {
    DaemonInterface.DatabaseState(
      version: found.version, standbys: found.standbys, synchronousStandbys: found.synchronousStandbys,
      waitsForStandby: found.waitsForStandby, clockSkewMs: Int(found.clockAhead), roundTripMs: Int(found.roundTrip),
      oldestTransactionSeconds: found.oldestTransaction.map { Int($0.seconds) },
      oldestTransactionOwner: found.oldestTransaction?.holder,
      hasAutovacuum: found.hasAutovacuum, deadRows: Int(found.deadRows), liveRows: Int(found.liveRows),
      connections: found.connections, maxConnections: found.maxConnections, missingPartitions: found.missingPartitions,
      unpartitionedRows: Int(found.unpartitionedRows))
  }

  private func time(_ instant: Instant) -> Wire.Time {
    Wire.Time(at: RFC3339.format(instant, in: zones.local), zone: zones.local.identifier)
  }

  private static func sentence(_ failure: StoreFailure) -> String {
    guard case .corrupt(let reason, let place) = failure else { return failure.sentence }
    return place.map { "\(reason): \($0)" } ?? reason
  }

  private func desktop(_ configuration: Configuration, _ isNeeded: Bool?) -> DaemonInterface.DesktopState {
    var desktop = DesktopConfiguration(environment: paths.environment)
    desktop.program = configuration.channels.desktopProgram
    return DaemonInterface.DesktopState(
      transport: configuration.channels.desktopTransport.rawValue, program: desktop.program, path: desktop.programPath,
      isNeeded: configuration.defaultChannels.contains(.desktop) ? true : isNeeded)
  }

  private func zone() -> DaemonInterface.ZoneState {
    let database = zones.folder
    var version: String?
    for name in ["tzdata.zi", "+VERSION", "version"] where version == nil {
      guard let bytes = try? SystemFiles.read("\(database)/\(name)", atMost: 1 << 20) else { continue }
      let line = String(decoding: bytes.prefix(100).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      let word = line.split(separator: " ").last.map(String.init)
      if let word, word.first?.isNumber == true { version = word }
    }
    let works = zones.zone("Europe/Prague") ?? zones.zone("America/New_York")
    return DaemonInterface.ZoneState(
      local: zones.local.identifier, problem: zones.localProblem, version: version,
      databaseProblem: works == nil ? "there are no time zones in \(database)" : nil)
  }

  private func clock() -> DaemonInterface.ClockState? {
    var error: Int64 = 0
    let state = chime_clock_state(&error)
    // The sandbox of the system unit denies access to the clock.
    guard state >= 0 else { return nil }
    return DaemonInterface.ClockState(isSynchronized: state == 1, maxErrorMicroseconds: Int(error))
  }

  // MARK: Private files

  private func exposedFiles() -> [DaemonInterface.ExposedFile] {
    var found: [DaemonInterface.ExposedFile] = []
    // Files below a private folder are unreachable for others, but their modes are checked all the same.
    if let open = Self.open(paths.stateFolder, allowed: 0o700) { found.append(open) }
    let folder = paths.secrets.folder
    if let open = Self.open(folder, allowed: 0o700) { found.append(open) }
    for name in SystemFiles.names(in: folder).sorted() {
      if let sees, !name.hasPrefix("\(sees)-") { continue }
      if let open = Self.open("\(folder)/\(name)", allowed: 0o600) { found.append(open) }
    }
    return found
  }

  private static func open(_ path: String, allowed: mode_t) -> DaemonInterface.ExposedFile? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { return nil }
    let mode = status.st_mode & 0o777
    guard mode & ~allowed & 0o077 != 0 else { return nil }
    return DaemonInterface.ExposedFile(
      path: path, problem: "other users may read or change it (mode 0\(String(mode, radix: 8)))",
      remedy: "chmod \(String(allowed, radix: 8)) \(ShellText.quoted(path))")
  }
}
