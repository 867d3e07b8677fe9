/// The checks of `chime doctor`, in the order of its report. The raw values are part of the JSON output and stay stable.
enum Check: String, CaseIterable, Sendable {
  case daemon, socket, units, lingering, configuration, store, room, snapshots, secrets
  case bus, notifications, desktop, endpoints, commands, heard, deliveries, heartbeat, trackers, tenants
  case clock, zone, wake, language

  /// What the check covers, for the manual.
  var summary: String {
    switch self {
    case .daemon: "it runs, answers quickly, and has this command's version"
    case .socket: "it exists with the right mode and owner, and a daemon listens"
    case .units:
      "installed, enabled and active; they match the chimed in use, and systemd has read their latest version"
    case .lingering: "a user's daemon continues after log-out, if endpoints or commands need it"
    case .configuration: "it is valid (otherwise with file and line), and loaded"
    case .store: "sound (SQLite's quick check), without damaged files next to it"
    case .room: "free space on the store's file system"
    case .snapshots: "the newest is recent enough"
    case .secrets: "no other user can read a file with secrets"
    case .bus: "the session bus of the daemon's environment answers"
    case .notifications: "a notification server runs, with buttons and markup"
    case .desktop: "notify-send or its replacement exists and answers; or popups use D-Bus"
    case .endpoints: "none is disabled, backs off or lacks its secret; with --live each gets a test message"
    case .commands: "their programs exist and may be run"
    case .heard: "each reminder with a future time has a working channel"
    case .deliveries: "no message was given up in the last seven days"
    case .heartbeat: "the configured receiver gets the heartbeats"
    case .trackers: "trackers and packs can be read"
    case .tenants: "none is near its limit of reminders or has exceeded its requests"
    case .clock: "the clock is synchronized"
    case .zone: "the machine's zone and the time zone database can be read"
    case .wake: "the machine can be woken, if a reminder asks for it"
    case .language: "the translation for the language is installed"
    }
  }
}
