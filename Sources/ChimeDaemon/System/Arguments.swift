import ChimeControl
import Glibc

/// The daemon's command line.
package struct Arguments: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    case run, check, diagnose, printConfiguration, help, version
    /// Moves the store from the other engine to this one.
    case move(Configuration.StoreEngine)
  }

  package var action = Action.run
  package var isSystem = false
  package var configuration: String?
  package var stateFolder: String?
  package var socket: String?
  /// Whether a move is only tried.
  package var isDry = false

  package static let help = """
    chimed - keeps reminders and fires them

    Usage: chimed [options]

      --system            serve the whole machine: /etc/chime, /var/lib/chime, /run/chime
      --config FILE       read this configuration instead
      --state-dir DIR     keep the store and the secrets here
      --socket PATH       listen here
      --check             say whether the configuration can be taken, and end
      --diagnose           check its environment, print the result as JSON (for chime doctor), and end
      --move-to ENGINE    move the store to postgres or sqlite (for chime store move), and end
      --dry-run           with --move-to: try everything but the moving
      --print-config      say what is in force and from which file, and end
      --help, --version

    Without options it serves its own user:
      configuration   $XDG_CONFIG_HOME/chime/chimed.toml      (~/.config/chime/chimed.toml)
      store           $XDG_STATE_HOME/chime/chime.db          (~/.local/state/chime/chime.db)
      socket          $XDG_RUNTIME_DIR/chime/io.chime         (/run/user/UID/chime/io.chime)
    Under systemd it takes the folders and sockets that the unit gives it.

    SIGHUP reads the configuration again, SIGTERM ends it cleanly.
    Exit status: 0 stopped; 64 usage; 71 the system refused; 73 the socket or a folder cannot be made;
    74 the store cannot be read; 75 another daemon has the store; 78 the configuration or the store is wrong.

    """

  /// Parses the words of the command line.
  ///
  /// - Throws: `UsageError` with a sentence.
  package init(_ words: [String]) throws(UsageError) {
    var rest = words[...]
    func value(_ option: String, _ attached: String?) throws(UsageError) -> String {
      if let attached { return attached }
      guard let value = rest.popFirst() else { throw UsageError(message: "\(option) needs a value") }
      return value
    }
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let attached = parts.count > 1 ? parts[1] : nil
      switch parts[0] {
      case "--system": isSystem = true
      case "--config": configuration = try value("--config", attached)
      case "--state-dir": stateFolder = try value("--state-dir", attached)
      case "--socket": socket = try value("--socket", attached)
      case "--check": action = .check
      case "--diagnose": action = .diagnose
      case "--print-config": action = .printConfiguration
      case "--move-to":
        let name = try value("--move-to", attached)
        guard let engine = Configuration.StoreEngine(rawValue: name) else {
          throw UsageError(message: "--move-to takes postgres or sqlite, not \(name.prefix(80))")
        }
        action = .move(engine)
      case "--dry-run": isDry = true
      case "--help", "-h": action = .help
      case "--version": action = .version
      default:
        let known = [
          "--system", "--config", "--state-dir", "--socket", "--check", "--diagnose",
          "--print-config", "--move-to", "--dry-run", "--help", "--version",
        ]
        let near = SpellingSuggestions.to(parts[0], among: known).first.map { "; did you mean \($0)?" } ?? ""
        throw UsageError(message: "chimed knows no \(word.prefix(80))\(near)")
      }
    }
    if isDry {
      guard case .move = action else { throw UsageError(message: "--dry-run goes with --move-to") }
    }
  }

  package struct UsageError: Error, Hashable, Sendable { package let message: String }

  /// Returns the paths from the options, systemd's directories and the XDG base directories, in this order of precedence.
  package func paths(environment: [String: String], uid: UInt32) -> RuntimePaths {
    let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? "/"
    func folder(_ systemd: String, _ xdg: String, _ fallback: String, _ system: String) -> String {
      if let given = environment[systemd]?.split(separator: ":").first { return String(given) }
      if isSystem { return system }
      if let base = environment[xdg], base.hasPrefix("/") { return base + "/chime" }
      return fallback
    }
    let configurationFolder = folder(
      "CONFIGURATION_DIRECTORY", "XDG_CONFIG_HOME", home + "/.config/chime", "/etc/chime")
    let state =
      stateFolder ?? folder("STATE_DIRECTORY", "XDG_STATE_HOME", home + "/.local/state/chime", "/var/lib/chime")
    let runtime = folder("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR", "/run/user/\(uid)/chime", "/run/chime")
    return RuntimePaths(
      isSystem: isSystem, uid: uid, configurationPath: configuration ?? configurationFolder + "/chimed.toml",
      configurationIsRequired: configuration != nil, stateFolder: state, storePath: state + "/chime.db",
      socketPath: socket ?? runtime + "/io.chime", localLink: environment["CHIME_LOCALTIME"] ?? "/etc/localtime",
      zoneFolder: environment["TZDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/share/zoneinfo",
      environment: environment)
  }
}
