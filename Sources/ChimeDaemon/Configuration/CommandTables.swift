import ChimeControl
import ChimeCore
import ChimeDelivery

/// The switch that allows commands.
package enum CommandSwitch: Hashable, Sendable {
  case on, off
  /// On for a user's daemon, which runs that user's programs; off for the system daemon, which serves many users.
  case user

  /// The value as TOML.
  var text: String {
    switch self {
    case .on: "true"
    case .off: "false"
    case .user: TOMLText.quoted("user")
    }
  }
}

extension TOMLKey<Configuration> {
  static let commandSwitch = Self(
    "commands.enabled", \.commandSwitch,
    "true, false, or \"user\" for true in the daemon of a user and false in the system's",
    read: { value in
      switch value {
      case .scalar(.boolean(let isOn)): isOn ? .on : .off
      case .scalar(.string("user")): .user
      default: nil
      }
    }, write: \.text)
}

extension Configuration {
  /// Returns the registry for the command channel.
  ///
  /// - Parameter file: the configuration file that switches commands on, for messages.
  func commandBook(isSystem: Bool, file: String) -> CommandRegistry {
    var book = CommandRegistry()
    book.commands = commands
    book.isEnabled = commandSwitch == .on || (commandSwitch == .user && !isSystem)
    book.remedy = "write enabled = true under [commands] in \(file)"
    return book
  }
}

extension ConfigurationFiles {
  static let commands = "commands"
  private static let mostCommands = 1_000
  private static let mostVariables = 256
  private static let longestVariable = 32_768

  /// Adopts one entry below `commands`, whose tables are named after the user's commands. `elements` are the entries of
  /// an array.
  static func applyCommand(
    _ entry: TOMLEntry, elements: [TOMLEntry], file: String, to loaded: inout LoadedConfiguration
  ) throws(ConfigurationError) {
    let parts = entry.path.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let name = ChannelName(rawValue: parts[1])
    let table = "\(commands).\(parts[1])"
    if parts.count == 2, entry.value != .table {
      let near = SpellingSuggestions.to(entry.path, among: [TOMLKey.commandSwitch.path]).first
      let shown = TOMLText.harmless(String(table.prefix(80)))
      throw entry.refusal(
        file,
        "\(shown) must be a table, [\(shown)]; found \(entry.value.kind)"
          + (near.map { " (or did you mean \($0)?)" } ?? ""), atKey: true)
    }
    guard name.isValidForEndpoint, !name.rawValue.contains("."), loaded.configuration.commands.count < mostCommands
    else {
      throw entry.refusal(
        file,
        "\(TOMLText.quoted(String(parts[1].prefix(80)))) is not a name for a command: use 1 to 64 letters, digits, "
          + "- or _, and not desktop; at most \(mostCommands) commands", atKey: true)
    }
    var command = loaded.configuration.commands[name] ?? CommandDefinition(name: name, program: "")
    if parts.count == 2 {
      loaded.origins[table] = loaded.origins[table] ?? "\(file):\(entry.line)"
    } else if ["environment", "limits"].contains(parts[2]) {
      guard entry.value == .table else {
        throw entry.refusal(file, "\(entry.path) must be a table; found \(entry.value.kind)")
      }
    } else if parts[2].hasPrefix("environment.") {
      let variable = String(parts[2].dropFirst("environment.".count))
      guard CommandEnvironment.mayBeSet(variable), command.environment.count < mostVariables else {
        throw entry.refusal(
          file,
          "\(TOMLText.quoted(String(variable.prefix(80)))) is not a variable that can be set: use letters, digits "
            + "and _, without a digit or CHIME_ at the start; at most \(mostVariables) for each command",
          atKey: true)
      }
      guard case .string(let text) = entry.value, text.utf8.count <= longestVariable, !text.utf8.contains(0) else {
        throw entry.refusal(
          file, "\(entry.path) must be a string of at most \(longestVariable) bytes; found \(entry.value.kind)")
      }
      command.environment[variable] = text
      loaded.origins[entry.path] = "\(file):\(entry.line)"
    } else {
      try set(
        parts[2], of: TOMLKey<CommandDefinition>.all, more: ["environment"], entry, elements, file: file, in: &command
      ) { "\($0) is not a key of a command; \($1)" }
      loaded.origins[entry.path] = "\(file):\(entry.line)"
    }
    loaded.configuration.commands[name] = command
  }

  /// Requires a program for each command. Several files may define parts of a command.
  static func checkCommands(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
    let named = loaded.configuration.commands.values.filter(\.program.isEmpty).map(\.name).min()
    guard let named else { return }
    let table = "\(commands).\(named)"
    throw ConfigurationError(
      file: loaded.origins[table] ?? table, line: nil, column: nil,
      message: "\(table) needs program, such as program = \"/usr/local/bin/\(named)\"")
  }
}

extension LoadedConfiguration {
  /// The commands' tables as TOML, each value with its origin. Only the names of environment variables are shown, because
  /// their values may be secrets.
  var commandTables: [String] {
    configuration.commands.values.sorted { $0.name < $1.name }.flatMap { command -> [String] in
      let table = "\(ConfigurationFiles.commands).\(command.name)"
      let variables = command.environment.keys.sorted().map { name in
        line("# environment.\(name) is set; its value is not shown", from: "\(table).environment.\(name)")
      }
      return lines(table, TOMLKey<CommandDefinition>.all, of: command) + variables
    }
  }
}
