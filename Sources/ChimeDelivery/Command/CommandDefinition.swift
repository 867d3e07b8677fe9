public import ChimeCore
public import ChimeSchedule

/// A CommandDefinition is a program of the configuration that delivers messages. Clients can name it but not define it.
public struct CommandDefinition: Hashable, Sendable {
  /// What happens to a message that arrives while the command runs for an earlier one.
  public enum Overlap: String, Hashable, Sendable, CaseIterable {
    /// It waits. The command runs once at a time, for all users together.
    case queue
    /// It is canceled, and the reason is recorded.
    case skip
    /// It runs at the same time, up to `maxParallel` runs per user.
    case parallel
  }

  /// Resource limits of a run (setrlimit(2)); nil keeps the daemon's limit.
  public struct Limits: Hashable, Sendable {
    /// Address space of each process in bytes.
    public var memory: Int64?
    /// Processor time of each process.
    public var processorTime: Milliseconds?
    /// Open descriptors of each process.
    public var openFiles: Int64?
    /// Processes and threads of the daemon's user in total, including those outside this run.
    public var processes: Int64?
    /// Maximum size in bytes of a file that it writes.
    public var fileSize: Int64?

    public init() {}
  }

  /// The channel name that `--to` takes.
  public var name: ChannelName
  /// An absolute path, or a name that is looked up in `PATH` at each run.
  public var program: String
  /// Arguments, passed without a shell.
  public var arguments: [String] = []
  /// Variables in addition to those that every command gets.
  public var environment: [String: String] = [:]
  /// Working directory, an absolute path; nil for the home of the daemon's user.
  public var folder: String?
  /// Time limit of a run, from a second to a day.
  public var timeLimit = Milliseconds.minutes(1)
  public var overlap = Overlap.queue
  /// Exit statuses that mean delivered.
  public var success: [Int] = [0]
  public var limits = Limits()
  /// Time between SIGTERM and SIGKILL once the limit is reached.
  public var patience = Milliseconds.seconds(5)
  /// Niceness, 0 to 19 (nice(2)).
  public var nice = 0

  public init(name: ChannelName, program: String) {
    self.name = name
    self.program = program
  }

  /// Maximum simultaneous runs per user.
  public static let maxParallel = 8

  /// Maximum messages of one user in flight.
  public var concurrency: Int { overlap == .queue ? 1 : Self.maxParallel }
  /// Maximum duration of an attempt after its program starts.
  public var longestAttempt: Milliseconds { timeLimit + patience }
}

/// All command definitions, and whether commands are enabled.
public struct CommandRegistry: Hashable, Sendable {
  public var commands: [ChannelName: CommandDefinition] = [:]
  public var isEnabled = true
  /// A sentence that tells the user how to enable commands.
  public var remedy = ""

  public init() {}
}
