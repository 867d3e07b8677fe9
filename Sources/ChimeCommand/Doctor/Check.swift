import ChimeWords

/// The checks of `chime doctor`, in the order of its report. The raw values are part of the JSON output and stay stable.
enum Check: String, CaseIterable, Sendable {
  case daemon, socket, units, lingering, configuration, store, diskSpace, snapshots, secrets
  case bus, notifications, desktop, endpoints, commands, channels, deliveries, heartbeat, trackers, tenants
  case clock, zone, wake, language

  /// Its name in the report, in English, and the function that adds its findings.
  var row: (title: String, judge: (HealthChecks, inout CheckFindings) -> Void) {
    switch self {
    case .daemon: (localizable("daemon"), { $0.daemon(&$1) })
    case .socket: (localizable("socket"), { $0.socket(&$1) })
    case .units: (localizable("units"), { $0.units(&$1) })
    case .lingering: (localizable("lingering"), { $0.lingering(&$1) })
    case .configuration: (localizable("configuration"), { $0.configuration(&$1) })
    case .store: (localizable("store"), { $0.store(&$1) })
    case .diskSpace: (localizable("disk space"), { $0.diskSpace(&$1) })
    case .snapshots: (localizable("snapshots"), { $0.snapshots(&$1) })
    case .secrets: (localizable("secrets"), { $0.secrets(&$1) })
    case .bus: (localizable("session bus"), { $0.bus(&$1) })
    case .notifications: (localizable("notifications"), { $0.notifications(&$1) })
    case .desktop: (localizable("popups"), { $0.desktop(&$1) })
    case .endpoints: (localizable("endpoints"), { $0.endpoints(&$1) })
    case .commands: (localizable("commands"), { $0.commands(&$1) })
    case .channels: (localizable("channels"), { $0.channels(&$1) })
    case .deliveries: (localizable("deliveries"), { $0.deliveries(&$1) })
    case .heartbeat: (localizable("heartbeat"), { $0.heartbeat(&$1) })
    case .trackers: (localizable("trackers"), { $0.trackers(&$1) })
    case .tenants: (localizable("tenants"), { $0.tenants(&$1) })
    case .clock: (localizable("clock"), { $0.clock(&$1) })
    case .zone: (localizable("time zone"), { $0.zone(&$1) })
    case .wake: (localizable("waking"), { $0.wake(&$1) })
    case .language: (localizable("language"), { $0.language(&$1) })
    }
  }
}
