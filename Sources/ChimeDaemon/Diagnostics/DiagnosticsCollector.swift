import CLinux
import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeStorePostgres
import ChimeStoreSQLite
import Dispatch
import Glibc

/// Looks at what a daemon stands on: in the daemon, for `Examine`, and without one, for `chimed --examine`.
///
/// Changes nothing. It blocks for up to two seconds, so that it has threads of its own.
struct DiagnosticsCollector: Sendable {
  let paths: RuntimePaths
  /// What the daemon has in force; nil without one.
  let inForce: Configuration?
  let zones: ZoneCatalog
  /// Whose secrets may be named; nil: everybody's.
  var sees: UInt32?

  /// How long the bus and the store may take, side by side.
  static let patience = Milliseconds.seconds(1)

  /// - Parameter needsDesktop: whether a reminder that still comes is shown on the desktop; nil where that is not known.
  func run(wakeProblem: String?, wantsWake: Bool?, needsDesktop: Bool?) -> DaemonInterface.Examination {
    let judged = ConfigurationJudgement(paths, zones)
    // As the daemon has it; without one, as it would be.
    let configuration = inForce ?? judged.loaded?.configuration ?? Configuration()
    let bus = BackgroundValue { BusProbe.look(in: paths.environment, within: Self.patience) }
    let store = BackgroundValue { storeState(configuration) }
    return DaemonInterface.Examination(
      version: Product.version, isDaemon: inForce != nil,
      configuration: DaemonInterface.ConfigurationState(
        path: paths.configurationPath, files: judged.loaded?.files ?? [], problem: judged.problem,
        isInForce: inForce.map { $0 == judged.loaded?.configuration }),
      desktop: desktop(configuration, needsDesktop), bus: bus.value, store: store.value, openFiles: openFiles(),
      zone: zone(),
      clock: clock(), wakeProblem: wakeProblem, wantsWake: wantsWake)
  }

  private func storeState(_ configuration: Configuration) -> DaemonInterface.StoreState {
    if configuration.storeEngine == .postgres { return databaseState(configuration) }
    // The store of a daemon is where it was at its start.
    let path =
      inForce == nil && !configuration.storePath.isEmpty ? configuration.storePath : paths.storePath
    let found = SQLiteStore.inspect(path: path, within: Double(Self.patience.rawValue) / 1_000)
    return DaemonInterface.StoreState(
      path: found.path, problem: found.fault.map(Self.sentence), isWhole: found.isWhole, bytes: Int(found.bytes),
      changedAt: found.changedAt.map(time), freeBytes: found.freeBytes.map { Int($0) }, leftovers: found.leftovers,
      latestSnapshot: found.snapshots.first.map {
        DaemonInterface.StoreSnapshot(
          takenAt: time($0.takenAt),
          path: $0.path, bytes: Int($0.bytes), beforeUpgradeFrom: $0.beforeUpgradeFrom)
      }, keptSnapshots: configuration.snapshots,
      snapshotEvery: DurationText.formatISO8601(configuration.snapshotEvery))
  }

  /// A store on a server, of which there is no file to look at.
  private func databaseState(_ configuration: Configuration) -> DaemonInterface.StoreState {
    let opening = StoreOpening(paths, configuration)
    // What a daemon is called after is what it has open, whatever the configuration says now.
    let path = inForce == nil ? (try? opening.name()) ?? "postgres:" : paths.storePath
    var (problem, found): (String?, DatabaseInspection?)
    do {
      found = try opening.inspectDatabase()
    } catch {
      problem = Self.sentence(error)
    }
    return DaemonInterface.StoreState(
      path: path, problem: problem, isWhole: true, bytes: Int(found?.bytes ?? 0), leftovers: [], keptSnapshots: 0,
      snapshotEvery: DurationText.formatISO8601(configuration.snapshotEvery), database: found.map(Self.server))
  }

  private static func server(_ found: DatabaseInspection) -> DaemonInterface.DatabaseState {
    DaemonInterface.DatabaseState(
      version: found.version, standbys: found.standbys, synchronousStandbys: found.synchronousStandbys,
      waitsForStandby: found.waitsForStandby, clockAheadMs: Int(found.clockAhead), roundTripMs: Int(found.roundTrip),
      oldestTransaction: found.oldestTransaction.map { Int($0.seconds) }, oldestHolder: found.oldestTransaction?.holder,
      hasAutovacuum: found.hasAutovacuum, deadRows: Int(found.deadRows), liveRows: Int(found.liveRows),
      connections: found.connections, maxConnections: found.maxConnections, missingMonths: found.missingMonths,
      timesOutside: Int(found.timesOutside))
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
    // The system's unit keeps the clock out of the daemon's reach.
    guard state >= 0 else { return nil }
    return DaemonInterface.ClockState(isSynchronized: state == 1, maxErrorMicroseconds: Int(error))
  }

  // MARK: Files for nobody else

  private func openFiles() -> [DaemonInterface.OpenFile] {
    var found: [DaemonInterface.OpenFile] = []
    // Not below a folder that nobody else can enter: what is in there is out of reach, but a mode is a mode.
    if let open = Self.open(paths.stateFolder, allowed: 0o700) { found.append(open) }
    let folder = paths.secrets.folder
    if let open = Self.open(folder, allowed: 0o700) { found.append(open) }
    for name in SystemFiles.names(in: folder).sorted() {
      if let sees, !name.hasPrefix("\(sees)-") { continue }
      if let open = Self.open("\(folder)/\(name)", allowed: 0o600) { found.append(open) }
    }
    return found
  }

  private static func open(_ path: String, allowed: mode_t) -> DaemonInterface.OpenFile? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { return nil }
    let mode = status.st_mode & 0o777
    guard mode & ~allowed & 0o077 != 0 else { return nil }
    return DaemonInterface.OpenFile(
      path: path, problem: "other users may read or change it (mode 0\(String(mode, radix: 8)))",
      remedy: "chmod \(String(allowed, radix: 8)) \(ShellText.quoted(path))")
  }
}

/// A value that another thread works out.
private final class BackgroundValue<Value: Sendable>: @unchecked Sendable {
  // Written by one thread before it enters the semaphore, read by one after it.
  private var result: Value?
  private let isThere = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Value) {
    DispatchQueue(label: "io.chime.examination").async {
      self.result = body()
      self.isThere.signal()
    }
  }

  /// Waits for it. To be asked once.
  var value: Value {
    isThere.wait()
    guard let result else { preconditionFailure("the semaphore was signalled without a value") }
    return result
  }
}
