import CLinux
import ChimeCore
import ChimeSchedule

/// A CommandEnvironment selects the few variables of the daemon's environment that commands receive.
public struct CommandEnvironment: Hashable, Sendable {
  /// Variables of every command; a command's own variables override them.
  let base: [String: String]

  private static let everywhere = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ"]
  /// Variables of the user's session, which a system daemon does not have.
  private static let session = [
    "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
    "WAYLAND_DISPLAY", "XAUTHORITY", "PULSE_SERVER",
  ]

  /// - Parameters:
  ///   - environment: The daemon's environment.
  ///   - isSystem: Whether the daemon is the system's. Its commands get no session variables.
  public init(_ environment: [String: String], isSystem: Bool) {
    let names = Set(Self.everywhere + (isSystem ? [] : Self.session))
    var base = environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    if base["PATH"]?.isEmpty ?? true { base["PATH"] = Program.usualPath }
    self.base = base
  }

  /// Returns whether the configuration may set a variable: a name by environ(7) in either case, without the prefix
  /// `CHIME_`, which is reserved for the message.
  public static func mayBeSet(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= 128, !name.hasPrefix("CHIME_") else { return false }
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F }
    return isLetter(first) && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
  }

  /// Returns the path of a command's program; nil if there is none that may be run.
  public func path(of command: CommandDefinition) -> String? {
    let path = Program.find(command.program, in: variables(of: command)["PATH"])
    return path.flatMap { Program.isExecutable($0) ? $0 : nil }
  }

  /// Returns the program of a command for one message.
  func program(_ command: CommandDefinition, _ message: OutboundMessage, type: String) throws -> Program {
    var program = Program(
      name: command.program, arguments: command.arguments,
      environment: variables(of: command).merging(Self.facts(message, type: type)) { $1 })
    program.input = try WebhookMessage(message, type: type).bytes() + [UInt8(ascii: "\n")]
    program.output = .pipe
    program.folder = command.folder ?? base["HOME"] ?? "/"
    program.patience = Duration(command.patience)
    let limits = command.limits
    program.limits.memory = limits.memory ?? -1
    program.limits.processor = limits.processorTime.map { max(1, $0.rawValue / 1_000) } ?? -1
    program.limits.files = limits.openFiles ?? -1
    program.limits.processes = limits.processes ?? -1
    program.limits.file_size = limits.fileSize ?? -1
    program.limits.core = 0
    program.limits.nice = Int32(command.nice)
    return program
  }

  private func variables(of command: CommandDefinition) -> [String: String] {
    base.merging(command.environment) { $1 }
  }

  /// Returns the variables about a message. All are always present; those without a value are empty.
  static func facts(_ message: OutboundMessage, type: String) -> [String: String] {
    let occurrence = message.occurrence
    let reminder = message.reminder
    var facts = [
      "CHIME_TYPE": type,
      "CHIME_REMINDER": occurrence.id.reminder.rawValue,
      "CHIME_OCCURRENCE": occurrence.id.description,
      "CHIME_TITLE": message.title,
      "CHIME_BODY": message.body ?? "",
      "CHIME_SCHEDULED_AT": Timestamp.rfc3339(occurrence.id.scheduledAt),
      "CHIME_FIRED_AT": occurrence.firedAt.map(Timestamp.rfc3339) ?? "",
      "CHIME_LATE": occurrence.late?.rawValue ?? "",
      "CHIME_ROUND": String(message.delivery.round),
      "CHIME_URGENCY": (reminder?.urgency ?? .normal).rawValue,
      "CHIME_TAGS": (reminder?.tags ?? []).joined(separator: ","),
      "CHIME_TENANT": message.tenant ?? "",
      "CHIME_DELIVERY": message.delivery.id.rawValue,
      "CHIME_ATTEMPT": String(message.delivery.attempts + 1),
      "CHIME_CHANNEL": message.delivery.queue.channel.rawValue,
    ]
    for text in Reminder.messageTexts {
      facts["CHIME_\(text.name.uppercased())"] = reminder?[keyPath: text.path] ?? ""
    }
    // The C library ends a variable at its first NUL. The JSON keeps the full text.
    return facts.mapValues { value in
      guard value.utf8.contains(0) else { return value }
      return String(String.UnicodeScalarView(value.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
  }
}

extension WebhookMessage where Content == FiredReminder {
  init(_ message: OutboundMessage, type: String) {
    self.init(message)
    self.type = type
  }
}
