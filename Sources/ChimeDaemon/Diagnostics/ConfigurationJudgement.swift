import ChimeDelivery

/// Validates the configuration on disk, including calendars and commands, for `chimed --check`.
struct ConfigurationJudgement {
  /// The configuration; nil if it cannot be read.
  var loaded: LoadedConfiguration?
  /// The first fault, with its file and line.
  var problem: String?

  init(_ paths: RuntimePaths, _ zones: ZoneCatalog) {
    do {
      let loaded = try paths.loadConfiguration()
      self.loaded = loaded
      problem = Self.calendarProblem(loaded, zones) ?? Self.commandProblem(loaded, paths)
    } catch {
      problem = error.description
    }
  }

  /// Returns the fault of a calendar. A running daemon continues without unreadable calendars, but a check reports them.
  private static func calendarProblem(_ loaded: LoadedConfiguration, _ zones: ZoneCatalog) -> String? {
    var calendars = CalendarFiles()
    _ = calendars.update(loaded.configuration.calendars, zones: zones)
    guard let (name, problem) = calendars.problems.min(by: { $0.key < $1.key }) else { return nil }
    let key = "\(ConfigurationFiles.calendars).\(name)"
    return "\(loaded.origins[key] ?? key): \(key): \(problem)"
  }

  private static func commandProblem(_ loaded: LoadedConfiguration, _ paths: RuntimePaths) -> String? {
    let environment = CommandEnvironment(paths.environment, isSystem: paths.isSystem)
    let missing = loaded.configuration.commands.values.sorted { $0.name < $1.name }
      .first { environment.path(of: $0) == nil }
    guard let missing else { return nil }
    let key = "\(ConfigurationFiles.commands).\(missing.name).program"
    return "\(loaded.origins[key] ?? key): \(key): there is no executable program \(missing.program)"
  }
}
