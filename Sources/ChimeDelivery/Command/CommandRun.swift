import ChimeCore
import ChimeSchedule
import Glibc

/// One run of a command, as a plain value: what it said, and what came of it.
///
///     starting → running → (ending) → over
struct CommandRun: Sendable {
  /// What a run came to.
  struct Result: Hashable, Sendable {
    var outcome: Attempt.Outcome
    var next: ChannelReport.NextStep
    var status: Int?
    var error: String?
    /// Both outputs as they came, at most `outputLimit` bytes.
    var output: [UInt8] = []
    var isCut = false
    /// What becomes of the occurrence, if the program says so.
    var answer: Occurrence.Answer?
  }

  /// The most that is kept of what a program says; what follows is read and dropped, so that it need not wait.
  static let outputLimit = 65_536

  private let success: [Int]
  private let limit: String
  private let round: Int
  private let program: String
  private var output: [UInt8] = []
  /// The standard output alone.
  private var words: [UInt8] = []
  private var rateLimitedLog: [UInt8] = []
  private var isCut = false
  /// Why it is being ended, if it is.
  private var ending: String?

  /// - Parameters:
  ///   - limit: its time limit in words.
  ///   - round: which round of the occurrence it is about.
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
      rateLimitedLog.append(contentsOf: bytes.prefix(Self.complaintLimit - rateLimitedLog.count))
      return nil
    case .deadline:
      guard ending == nil else { return nil }
      ending = "it took longer than \(limit) and was stopped"
      return .end
    case .ended(let exit): return .over(result(of: exit))
    case .notStarted(let failure): return .over(Self.result(of: failure, program))
    }
  }

  /// The daemon stops: what it has said until now is recorded, and the message comes again.
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

  /// What the last line of its standard output says, as the answer of a webhook does.
  private var said: WebhookAnswer {
    guard !isCut, let line = words.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }).last
    else { return .nothing }
    return WebhookAnswer(Array(line), contentType: nil, round: round)
  }

  /// The first line of what it wrote on standard error.
  private var complaint: String {
    let lines = String(decoding: rateLimitedLog, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let line = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
    return ": " + PlainText.sentence(String(line))
  }

  /// signal(7), those that a program is likely to end by.
  private static func name(_ signal: Int32) -> String {
    let names: [Int32: String] = [
      1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
      11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU, its processor time was used up",
      25: "SIGXFSZ, its file grew too large", 31: "SIGSYS",
    ]
    return names[signal].map { " (\($0))" } ?? ""
  }

  /// A program that cannot be run waits for a person; that is no failure of the message's.
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
    // No process or descriptor to be had just now.
    default: return Result(outcome: .refused, next: .blocked(.seconds(30)), error: "it could not be started: \(error)")
    }
  }
}
