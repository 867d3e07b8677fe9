import ChimeWords

/// The checks of `chime doctor`, in the order of its report. The raw values are part of the JSON output and stay stable.
enum Check: String, CaseIterable, Sendable {
  case daemon, socket, units, lingering, configuration, store, room, snapshots, secrets
  case bus, notifications, desktop, endpoints, commands, heard, deliveries, heartbeat, trackers, tenants
  case clock, zone, wake, language

  /// What the check covers, for the manual.
  var summary: String {
    switch self {
    case .daemon: "it runs, answers, how fast, and is of this command's version"
    case .socket: "there, of the right mode and owner, and somebody listens"
    case .units: "installed, enabled, active, those that came with chimed, and read by systemd since they were changed"
    case .lingering: "the daemon of a user goes on after they log out, where endpoints or commands need it"
    case .configuration: "it can be taken, with file and line where not, and is what is in force"
    case .store: "sound (SQLite's quick check), and nothing damaged was left beside it"
    case .room: "free space on the store's file system"
    case .snapshots: "the newest is no older than it should be"
    case .secrets: "no file of secrets is open to others"
    case .bus: "the session bus of the daemon's environment answers"
    case .notifications: "a notification server is there, with buttons and markup"
    case .desktop: "notify-send, or what stands in for it, is there and answers; or D-Bus is used"
    case .endpoints: "none is disabled, rests or lacks its secret; with --live each gets a test message"
    case .commands: "their programs are there and may be run"
    case .heard: "each reminder that still comes has a channel that somebody hears"
    case .deliveries: "no message was given up in the last seven days"
    case .heartbeat: "who watches the daemon from outside hears of it, where somebody does"
    case .trackers: "trackers and packs can be read"
    case .tenants: "none is near its limit of reminders, or has made too many requests; where there are some"
    case .clock: "something keeps it to the time of the world"
    case .zone: "the machine's zone and the database of zones can be read"
    case .wake: "the machine can be woken, where a reminder asks for it"
    case .language: "the texts are there in the language that was asked for"
    }
  }
}
