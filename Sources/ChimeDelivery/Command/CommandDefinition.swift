public import ChimeCore
public import ChimeSchedule

/// A program that says what fires, as the configuration defines it. Clients can name it, never make it.
public struct CommandDefinition: Hashable, Sendable {
  /// What becomes of a message that comes while the command runs for an earlier one.
  public enum Overlap: String, Hashable, Sendable, CaseIterable {
    /// It waits: one run at a time, whoever the messages are for.
    case queue
    /// It is cancelled, and the record says why.
    case skip
    /// It runs beside the others, up to `maxParallel` for each user.
    case parallel
  }

  /// What a run may use at most (setrlimit(2)); nil leaves what the daemon has.
  public struct Limits: Hashable, Sendable {
    /// Bytes of address space of each process.
    public var memory: Int64?
    /// Processor time of each process.
    public var processorTime: Milliseconds?
    /// Open descriptors of each process.
    public var openFiles: Int64?
    /// Processes and threads that the daemon's user may have, all of them counted, not this run's alone.
    public var processes: Int64?
    /// Bytes of a file that it writes.
    public var fileSize: Int64?

    public init() {}
  }

  /// What `--to` takes.
  public var name: ChannelName
  /// An absolute path, or a name that is looked for in the folders of `PATH` at each run.
  public var program: String
  /// Given as they are: no shell reads them.
  public var arguments: [String] = []
  /// Variables besides those that each command gets.
  public var environment: [String: String] = [:]
  /// Where it starts, an absolute path; nil for the home of the daemon's user.
  public var folder: String?
  /// How long a run may take, from a second to a day.
  public var timeLimit = Milliseconds.minutes(1)
  public var overlap = Overlap.queue
  /// The exit statuses that mean it arrived.
  public var success: [Int] = [0]
  public var limits = Limits()
  /// How long it may take to end by itself once its time is up, between SIGTERM and SIGKILL.
  public var patience = Milliseconds.seconds(5)
  /// How much it steps back for others, 0 to 19 (nice(2)).
  public var nice = 0

  public init(name: ChannelName, program: String) {
    self.name = name
    self.program = program
  }

  /// How many runs one user may have at once.
  public static let maxParallel = 8

  /// How many of a user's messages may be under way.
  public var concurrency: Int { overlap == .queue ? 1 : Self.maxParallel }
  /// The longest that an attempt takes once its program runs.
  public var longestAttempt: Milliseconds { timeLimit + patience }
}

/// All commands, and whether they may run.
public struct CommandRegistry: Hashable, Sendable {
  public var commands: [ChannelName: CommandDefinition] = [:]
  public var isEnabled = true
  /// The sentence that tells a person how to switch them on.
  public var remedy = ""

  public init() {}
}
