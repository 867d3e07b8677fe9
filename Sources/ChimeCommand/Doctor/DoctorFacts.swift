import ChimeControl
import ChimeSchedule

/// The facts that `Probes` collects and `HealthChecks` evaluates.
struct DoctorFacts: Sendable {
  /// The version of this command.
  var version = Product.version
  var now = Instant(milliseconds: 0)
  var userID: UInt32 = 0
  var userName = ""
  var isSystem = false
  /// Whether the path of the socket follows from the environment alone.
  var isGuessed = true
  var environment: [String: String] = [:]
  var socket = SocketFacts(path: "")
  var daemon = DaemonAnswer.absent
  /// The daemon's diagnostics, or those of `chimed --diagnose`.
  var diagnostics: DaemonInterface.Diagnostics?
  /// Why there are no diagnostics.
  var diagnosticsProblem: String?
  /// The kernel's clock state, if the daemon may not read it.
  var clock: DaemonInterface.ClockState?
  /// The running programs that synchronize the clock.
  var clockKeepers: [String] = []
  var units: UnitFacts?
  /// Whether the user's services outlive their sessions (lingering); nil without systemd.
  var lingers: Bool?
  /// The result of running the popup program with --version.
  var popupProgram: ProgramRun?
  var endpoints: Asked<[EndpointsInterface.Endpoint]> = .notAsked
  /// The latest attempt's result of each failing endpoint, by name.
  var endpointResults: [String: String] = [:]
  /// The results of test messages with --live, by endpoint name.
  var endpointTests: [String: Asked<EndpointsInterface.TestResult>] = [:]
  var commands: Asked<[CommandsInterface.Command]> = .notAsked
  /// The deliveries that failed for good in the last days, newest first.
  var givenUp: Asked<[DeliveriesInterface.Delivery]> = .notAsked
  var trackers: Asked<Int> = .notAsked
  var packs: Asked<Int> = .notAsked
  var language = LanguageFacts()

  /// The systemctl command for the daemon's units.
  var systemctl: String { isSystem ? "sudo systemctl" : "systemctl --user" }
  /// The chime command that reaches the same daemon.
  var chime: String { isSystem ? "chime --system" : "chime" }
  var journal: String { isSystem ? "journalctl -u chimed -e" : "journalctl --user -u chimed -e" }

  var health: DaemonInterface.Health? { if case .answered(let health, _) = daemon { health } else { nil } }
}

/// An answer of the daemon, or the reason why there is none.
enum Asked<Value: Sendable>: Sendable {
  case notAsked
  case answer(Value)
  case failed(String)

  var value: Value? { if case .answer(let value) = self { value } else { nil } }
}

struct SocketFacts: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case missing, unreachable, socket, other }
  enum Connection: Hashable, Sendable { case notTried, taken, refused, notPermitted, failed(String) }

  var path: String
  var kind = Kind.missing
  var mode: UInt32 = 0
  var owner: UInt32 = 0
  var group = ""
  var connection = Connection.notTried
  /// The process that listens.
  var holder: (Holder)?

  struct Holder: Hashable, Sendable {
    var pid: Int32
    var userID: UInt32
    var name: String
  }
}

enum DaemonAnswer: Sendable {
  case absent
  /// systemd holds the socket and starts the daemon on the first request; doctor does not connect, so as to start nothing.
  case asleep
  /// The daemon answered after so many milliseconds.
  case answered(DaemonInterface.Health, after: Int)
  /// The daemon gave no answer within so many milliseconds.
  case silent(within: Int)
  /// Another user, with this id, listens.
  case foreign(UInt32)
  case notPermitted
  /// The listener does not know this command's methods.
  case stranger(String)
}

/// systemd's state of the two units.
struct UnitFacts: Hashable, Sendable {
  /// Why systemd gives no state.
  var problem: String?
  var service = Unit()
  var socket = Unit()
  /// The program that the service runs, and whether it exists.
  var program: String?
  var programIsThere = true
  /// The `chimed` beside this command.
  var own: String?

  struct Unit: Hashable, Sendable {
    var load = ""
    var fileState = ""
    var active = ""
    var result = ""
    var needsReload = false
    var file = ""
    var dropIns: [String] = []
    var restarts = 0
    /// The unit file shipped with chimed, if another file with different content overrides it.
    var replaces: String?

    var isInstalled: Bool { load == "loaded" || load == "masked" || load == "bad-setting" || load == "error" }
  }
}

struct LanguageFacts: Hashable, Sendable {
  /// The user's preferred languages, best first; empty for English.
  var wanted: [String] = []
  /// The languages with installed translations.
  var there: [String] = []
  /// Whether the C library knows the environment's locale.
  var isKnown = true
}

/// The result of running another program.
enum ProgramRun: Hashable, Sendable {
  case missing
  case notStarted(String)
  case ended(status: Int32, output: String)
  case killed(signal: Int32)
  /// The program was killed after so many milliseconds.
  case tookTooLong(Int)
}
