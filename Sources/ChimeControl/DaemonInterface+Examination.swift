// What `io.chime.Daemon.Examine` answers with, as `Interfaces/io.chime.Daemon.varlink` describes it.
extension DaemonInterface {
  /// The files of the configuration as they lie there now.
  public struct ConfigurationState: Codable, Equatable, Sendable {
    public var path: String
    /// Those that were read, in order.
    public var files: [String]
    /// Why they cannot be taken, with file and line.
    public var problem: String?
    /// Whether they are what the daemon has in force; nil without a daemon.
    public var isInForce: Bool?

    public init(
      path: String, files: [String], problem: String? = nil, isInForce: Bool? = nil
    ) {
      self.path = path
      self.files = files
      self.problem = problem
      self.isInForce = isInForce
    }
  }

  public enum NotificationServer: String, Codable, Sendable, CaseIterable {
    case running, startable, missing, unknown
  }

  /// The session bus of the daemon's environment, and who shows notifications there.
  public struct BusState: Codable, Equatable, Sendable {
    /// Nil: the environment names none.
    public var address: String?
    public var problem: String?
    public var server: NotificationServer
    /// What it calls itself, with its version.
    public var serverName: String?
    public var capabilities: [String]?
    /// Why the server did not answer.
    public var serverProblem: String?

    public init(
      address: String? = nil, problem: String? = nil, server: NotificationServer, serverName: String? = nil,
      capabilities: [String]? = nil, serverProblem: String? = nil
    ) {
      self.address = address
      self.problem = problem
      self.server = server
      self.serverName = serverName
      self.capabilities = capabilities
      self.serverProblem = serverProblem
    }
  }

  /// How popups are shown.
  public struct DesktopState: Codable, Equatable, Sendable {
    public var transport: String
    public var program: String
    /// Where the program was found.
    public var path: String?
    /// Whether new reminders, or any that still come, are shown there; nil where that was not found out.
    public var isNeeded: Bool?

    public init(
      transport: String, program: String, path: String? = nil, isNeeded: Bool? = nil
    ) {
      self.transport = transport
      self.program = program
      self.path = path
      self.isNeeded = isNeeded
    }
  }

  /// The store's files.
  public struct StoreState: Codable, Equatable, Sendable {
    public var path: String
    /// What is wrong with it; nil when nothing was found.
    public var problem: String?
    /// Whether it was read through to the end.
    public var isWhole: Bool
    public var bytes: Int
    /// When it was written to last.
    public var changedAt: Wire.Time?
    public var freeBytes: Int?
    /// Files that were damaged and set aside.
    public var leftovers: [String]
    public var latestSnapshot: StoreSnapshot?
    public var keptSnapshots: Int
    /// ISO 8601.
    public var snapshotEvery: String
    /// Of a store on a server that could be looked at.
    public var database: DatabaseState?

    public init(
      path: String, problem: String? = nil, isWhole: Bool, bytes: Int, changedAt: Wire.Time? = nil,
      freeBytes: Int? = nil, leftovers: [String],
      latestSnapshot: StoreSnapshot? = nil, keptSnapshots: Int, snapshotEvery: String, database: DatabaseState? = nil
    ) {
      self.path = path
      self.problem = problem
      self.isWhole = isWhole
      self.bytes = bytes
      self.changedAt = changedAt
      self.freeBytes = freeBytes
      self.leftovers = leftovers
      self.latestSnapshot = latestSnapshot
      self.keptSnapshots = keptSnapshots
      self.snapshotEvery = snapshotEvery
      self.database = database
    }
  }

  /// The server of a store in a database.
  public struct DatabaseState: Codable, Equatable, Sendable {
    /// As PostgreSQL numbers it: 150003 is 15.3.
    public var version: Int
    public var standbys: Int
    /// Nil: it cannot be seen.
    public var synchronousStandbys: Int?
    public var waitsForStandby: Bool
    public var clockAheadMs: Int
    public var roundTripMs: Int
    /// In seconds.
    public var oldestTransaction: Int?
    public var oldestHolder: String?
    public var hasAutovacuum: Bool
    public var deadRows: Int
    public var liveRows: Int
    public var connections: Int
    public var maxConnections: Int
    /// Nil: a daemon of before does not say.
    public var missingMonths: Int?
    public var timesOutside: Int?

    public init(
      version: Int, standbys: Int, synchronousStandbys: Int? = nil, waitsForStandby: Bool, clockAheadMs: Int,
      roundTripMs: Int, oldestTransaction: Int? = nil, oldestHolder: String? = nil, hasAutovacuum: Bool, deadRows: Int,
      liveRows: Int, connections: Int, maxConnections: Int, missingMonths: Int? = nil, timesOutside: Int? = nil
    ) {
      self.version = version
      self.standbys = standbys
      self.synchronousStandbys = synchronousStandbys
      self.waitsForStandby = waitsForStandby
      self.clockAheadMs = clockAheadMs
      self.roundTripMs = roundTripMs
      self.oldestTransaction = oldestTransaction
      self.oldestHolder = oldestHolder
      self.hasAutovacuum = hasAutovacuum
      self.deadRows = deadRows
      self.liveRows = liveRows
      self.connections = connections
      self.maxConnections = maxConnections
      self.missingMonths = missingMonths
      self.timesOutside = timesOutside
    }
  }

  /// A file of secrets that is not for its owner's eyes only.
  public struct OpenFile: Codable, Equatable, Sendable {
    public var path: String
    public var problem: String
    public var remedy: String

    public init(
      path: String, problem: String, remedy: String
    ) {
      self.path = path
      self.problem = problem
      self.remedy = remedy
    }
  }

  /// The time zones as the daemon sees them.
  public struct ZoneState: Codable, Equatable, Sendable {
    public var local: String
    public var problem: String?
    /// Of the database of zones, such as 2026a.
    public var version: String?
    /// Why the database cannot be used.
    public var databaseProblem: String?

    public init(
      local: String, problem: String? = nil, version: String? = nil, databaseProblem: String? = nil
    ) {
      self.local = local
      self.problem = problem
      self.version = version
      self.databaseProblem = databaseProblem
    }
  }

  /// What the kernel says of the clock (adjtimex(2)).
  public struct ClockState: Codable, Equatable, Sendable {
    public var isSynchronized: Bool
    public var maxErrorMicroseconds: Int

    public init(
      isSynchronized: Bool, maxErrorMicroseconds: Int
    ) {
      self.isSynchronized = isSynchronized
      self.maxErrorMicroseconds = maxErrorMicroseconds
    }
  }

  /// What a daemon, or `chimed --examine` without one, finds when it looks at what it stands on.
  public struct Examination: Codable, Equatable, Sendable {
    public var version: String
    /// Whether a running daemon has answered.
    public var isDaemon: Bool
    public var configuration: ConfigurationState
    public var desktop: DesktopState
    public var bus: BusState
    public var store: StoreState
    public var openFiles: [OpenFile]
    public var zone: ZoneState
    public var clock: ClockState?
    /// Why the machine cannot be woken; nil when it can.
    public var wakeProblem: String?
    /// Whether a reminder asks for it; nil without a daemon.
    public var wantsWake: Bool?

    public init(
      version: String, isDaemon: Bool, configuration: ConfigurationState, desktop: DesktopState, bus: BusState,
      store: StoreState, openFiles: [OpenFile], zone: ZoneState, clock: ClockState? = nil, wakeProblem: String? = nil,
      wantsWake: Bool? = nil
    ) {
      self.version = version
      self.isDaemon = isDaemon
      self.configuration = configuration
      self.desktop = desktop
      self.bus = bus
      self.store = store
      self.openFiles = openFiles
      self.zone = zone
      self.clock = clock
      self.wakeProblem = wakeProblem
      self.wantsWake = wantsWake
    }
  }
}
