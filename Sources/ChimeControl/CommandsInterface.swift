/// `io.chime.Commands`, as `Interfaces/io.chime.Commands.varlink` describes it.
public enum CommandsInterface {
  public static let name = "io.chime.Commands"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.commands }

  public enum Overlap: String, Codable, Sendable, CaseIterable { case queue, skip, parallel }

  public struct Command: Codable, Equatable, Sendable {
    public var name: String
    public var program: String
    /// Given as they are; no shell reads them.
    public var arguments: [String]
    /// Whether commands are run at all.
    public var enabled: Bool
    /// How long a run may take (ISO 8601).
    public var timeLimit: String
    /// What becomes of a message that comes while it still runs.
    public var overlap: Overlap
    /// Why it could not be run now; null when it could.
    public var problem: String?
    /// Messages that it still has to take.
    public var owed: Int
    /// Runs under way, tests included.
    public var running: Int

    public init(
      name: String, program: String, arguments: [String], enabled: Bool, timeLimit: String, overlap: Overlap,
      problem: String? = nil, owed: Int, running: Int
    ) {
      self.name = name
      self.program = program
      self.arguments = arguments
      self.enabled = enabled
      self.timeLimit = timeLimit
      self.overlap = overlap
      self.problem = problem
      self.owed = owed
      self.running = running
    }
  }

  /// What a test gave the program and what came of it.
  public struct TestResult: Codable, Equatable, Sendable {
    /// Whether it ended with a status that means delivered.
    public var ok: Bool
    /// The path of what was run.
    public var program: String
    public var arguments: [String]
    /// Its standard input: JSON.
    public var input: String
    /// Its variables that tell of the message, each as NAME=value.
    public var variables: [String]
    /// Its exit status; null when it has none.
    public var status: Int?
    /// What it wrote on both outputs, at most 64 KiB.
    public var output: String
    /// Whether it wrote more than that.
    public var cut: Bool
    public var error: String?
    public var tookMs: Int

    public init(
      ok: Bool, program: String, arguments: [String], input: String, variables: [String], status: Int? = nil,
      output: String, cut: Bool, error: String? = nil, tookMs: Int
    ) {
      self.ok = ok
      self.program = program
      self.arguments = arguments
      self.input = input
      self.variables = variables
      self.status = status
      self.output = output
      self.cut = cut
      self.error = error
      self.tookMs = tookMs
    }
  }

  public enum List {
    public static let method = "io.chime.Commands.List"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var commands: [Command]

      public init(commands: [Command]) {
        self.commands = commands
      }
    }
  }

  /// Runs a command now with a sample message, and answers when it has ended.
  public enum Test {
    public static let method = "io.chime.Commands.Test"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String

      public init(name: String) {
        self.name = name
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var result: TestResult

      public init(result: TestResult) {
        self.result = result
      }
    }
  }
}
