import ChimeControl
import ChimeSchedule

/// What was found, before anybody has judged it. A value: the probes fill it in, the judges read it.
struct DoctorFacts: Sendable {
  /// Of this command.
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
  /// What the daemon found, or `chimed --examine`.
  var examination: DaemonInterface.Examination?
  /// Why there is none.
  var examinationProblem: String?
  /// What the kernel says of the clock, where the daemon may not ask.
  var clock: DaemonInterface.ClockState?
  /// Programs that run and keep clocks right.
  var clockKeepers: [String] = []
  var units: UnitFacts?
  /// Whether the user's services outlive their sessions; nil where there is no systemd.
  var lingers: Bool?
  /// The run of the program that shows popups with --version.
  var popupProgram: ProgramRun?
  var endpoints: Asked<[EndpointsInterface.Endpoint]> = .notAsked
  /// What the latest attempt of those that fail came to, by name.
  var endpointResults: [String: String] = [:]
  /// With --live, by name.
  var endpointTests: [String: Asked<EndpointsInterface.TestResult>] = [:]
  var commands: Asked<[CommandsInterface.Command]> = .notAsked
  /// Messages that were given up lately, the newest first.
  var givenUp: Asked<[DeliveriesInterface.Delivery]> = .notAsked
  var trackers: Asked<Int> = .notAsked
  var packs: Asked<Int> = .notAsked
  var language = LanguageFacts()

  /// How this user's, or the system's, services are spoken to.
  var systemctl: String { isSystem ? "sudo systemctl" : "systemctl --user" }
  /// The command with the same daemon.
  var chime: String { isSystem ? "chime --system" : "chime" }
  var journal: String { isSystem ? "journalctl -u chimed -e" : "journalctl --user -u chimed -e" }

  var health: DaemonInterface.Health? { if case .answered(let health, _) = daemon { health } else { nil } }
}

/// An answer of the daemon, or why there is none.
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
  /// Who listens.
  var holder: (Holder)?

  struct Holder: Hashable, Sendable {
    var pid: Int32
    var userID: UInt32
    var name: String
  }
}

enum DaemonAnswer: Sendable {
  case absent
  /// systemd holds the socket and starts the daemon with the first request; it was not asked, so that nothing is started.
  case asleep
  /// In milliseconds.
  case answered(DaemonInterface.Health, after: Int)
  /// Within so many milliseconds.
  case silent(within: Int)
  /// Of another user, whose number this is.
  case foreign(UInt32)
  case notPermitted
  /// It is no chimed that knows this command's questions.
  case stranger(String)
}

/// What systemd says of the two units.
struct UnitFacts: Hashable, Sendable {
  /// Why it says nothing.
  var problem: String?
  var service = Unit()
  var socket = Unit()
  /// The program that the service runs, and whether it is there.
  var program: String?
  var programIsThere = true
  /// The chimed that lies beside this command.
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
    /// The file that came with chimed, where another one stands in for it and says something else.
    var replaces: String?

    var isInstalled: Bool { load == "loaded" || load == "masked" || load == "bad-setting" || load == "error" }
  }
}

struct LanguageFacts: Hashable, Sendable {
  /// What the user reads, best first; empty for English.
  var wanted: [String] = []
  /// The languages that there are texts in.
  var there: [String] = []
  /// Whether the C library knows the locale of the environment.
  var isKnown = true
}

/// What a program came to that was run for a look.
enum ProgramRun: Hashable, Sendable {
  case missing
  case notStarted(String)
  case ended(status: Int32, output: String)
  case killed(signal: Int32)
  /// It had to be ended after so many milliseconds.
  case tookTooLong(Int)
}
