import ChimeCore
import ChimeSchedule
import Glibc

/// A CommandRun is the state machine of one run of a command. It collects the output and determines the result.
///
///     starting → running → (ending) → over
struct CommandRun: Sendable {
  /// The result of a run.
  struct Result: Hashable, Sendable {
    var outcome: Attempt.Outcome
    var next: ChannelReport.NextStep
    var status: Int?
    var error: String?
    /// Standard output and standard error as written, at most `outputLimit` bytes.
    var output: [UInt8] = []
    var isCut = false
    /// The action on the occurrence that the program requests.
    var answer: Occurrence.Answer?
  }

  /// Maximum output bytes kept. The rest is read and dropped, so that the program never blocks.
  static let outputLimit = 65_536

  private let success: [Int]
  private let limit: String
  private let round: Int
  private let program: String
  private var output: [UInt8] = []
  /// Standard output only.
  private var words: [UInt8] = []
  private var errorOutput: [UInt8] = []
  private var isCut = false
  /// Why the run is being ended; nil if it is not.
  private var ending: String?

  /// - Parameters:
  ///   - limit: The time limit as text.
  ///   - round: The round of the occurrence that is sent.
  init(_ command: CommandDefinition, limit: String, round: Int = 1) {
    self.round = round
    success = command.success
    program = command.program
    self.limit = limit
  }

  enum Action: Hashable, Sendable {
    case end
    case over(Result)
  }

  mutating func handle(_ event: Supervisor.Event) -> Action? {
    switch event {
    case .output(let bytes):
      keep(bytes)
      words.append(contentsOf: bytes.prefix(Self.outputLimit - words.count))
      return nil
    case .errors(let bytes):
      keep(bytes)
      errorOutput.append(contentsOf: bytes.prefix(Self.complaintLimit - errorOutput.count))
      return nil
    case .deadline:
      guard ending == nil else { return nil }
      ending = "it took longer than \(limit) and was stopped"
      return .end
    case .ended(let exit): return .over(result(of: exit))
    case .notStarted(let failure): return .over(Self.result(of: failure, program))
    }
  }

  /// Marks the run as interrupted by the daemon's stop. Its output is recorded, and the message is sent again.
  mutating func stop() { ending = ending ?? ShutdownOutcome.sentence }

  private static let complaintLimit = 1_024

  private mutating func keep(_ bytes: [UInt8]) {
    let room = Self.outputLimit - output.count
    if bytes.count > room { isCut = true }
    output.append(contentsOf: bytes.prefix(room))
  }

  private func result(of exit: ProgramExit) -> Result {
    var result = Result(outcome: .failed, next: .retry, output: output, isCut: isCut)
    switch exit {
    case .status(let status):
      result.status = Int(status)
      if ending == nil, success.contains(Int(status)) {
        result.outcome = .delivered
        result.next = .settled
        switch said {
        case .nothing: break
        case .answer(let answer): result.answer = answer
        case .misunderstood(let why): result.error = "delivered, but its answer is invalid: \(why)"
        }
        return result
      }
      result.error = ending ?? "it ended with status \(status)" + complaint
    case .signal(let number):
      result.error = ending ?? "signal \(number) ended it\(Self.name(number))" + complaint
    }
    if ending == ShutdownOutcome.sentence {
      (result.outcome, result.next) = (ShutdownOutcome.outcome, ShutdownOutcome.next)
    }
    return result
  }

  /// The answer in the last line of standard output, read like a webhook's.
  private var said: WebhookAnswer {
    guard !isCut, let line = words.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }).last
    else { return .nothing }
    return WebhookAnswer(Array(line), contentType: nil, round: round)
  }

  /// The first non-blank line of standard error.
  private var complaint: String {
    let lines = String(decoding: errorOutput, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let line = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
    return ": " + PlainText.sentence(String(line))
  }

  /// Returns the name of a signal that is likely to end a program (signal(7)).
  private static func name(_ signal: Int32) -> String {
    let names: [Int32: String] = [
      1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
      11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU, its processor time was used up",
      25: "SIGXFSZ, its file grew too large", 31: "SIGSYS",
    ]
    return names[signal].map { " (\($0))" } ?? ""
  }

  /// Returns the result of a failed start. A program that cannot run needs a person, so its message is blocked, not
  /// failed.
  private static func result(of failure: SpawnFailure, _ program: String) -> Result {
    func blocked(_ sentence: String) -> Result {
      Result(outcome: .refused, next: .blocked(.minutes(5)), error: sentence)
    }
    func failed(_ sentence: String) -> Result { Result(outcome: .failed, next: .retry, error: sentence) }
    guard case .system(let error) = failure else {
      return blocked("there is no program \(program), or no interpreter as its first line names (#!)")
    }
    switch (error.call, error.number) {
    case ("chdir", _): return blocked("its workingDirectory cannot be entered (\(error))")
    case ("setrlimit", _): return blocked("its limits or its nice value cannot be set (\(error))")
    case ("execve", EACCES): return blocked("the daemon's user may not run \(program) (\(error))")
    case ("execve", ENOEXEC):
      return blocked("\(program) is not a program: a script needs a first line such as #!/bin/sh")
    case ("execve", E2BIG): return failed("its arguments and variables are longer than the system allows")
    case ("start", _):
      return Result(outcome: ShutdownOutcome.outcome, next: ShutdownOutcome.next, error: ShutdownOutcome.sentence)
    // No process or descriptor is available at present.
    default: return Result(outcome: .refused, next: .blocked(.seconds(30)), error: "it could not be started: \(error)")
    }
  }
}
