import ChimeDelivery
import ChimeSchedule

/// Whether the configuration that lies there can be taken, calendars and commands included: `chimed --check`.
struct ConfigurationJudgement {
  /// Nil when it cannot be read at all.
  var loaded: LoadedConfiguration?
  /// The first thing that is wrong, with its file and line.
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

  /// A daemon that runs goes on without calendars that cannot be read; who asks wants to know.
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
