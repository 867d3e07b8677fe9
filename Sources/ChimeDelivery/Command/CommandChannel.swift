public import ChimeCore
public import ChimeSchedule
import Synchronization

/// A CommandChannel delivers a message by running a configured program.
///
/// It uses no shell. The program gets the message as JSON on its standard input and in environment variables. Its
/// output and exit status are recorded, and a success status means delivered. Each run is a process group of its own.
/// At the time limit the group gets SIGTERM, then SIGKILL after `CommandDefinition.patience`. What remains of the group
/// when the program ends is killed. One thread watches all programs.
///
///     let commands = CommandChannel(environment: CommandEnvironment(environment, isSystem: false))
///     commands.adopt(book)
///     commands.send(message) { report in … }
public final class CommandChannel: Channel {
  private let environment: CommandEnvironment
  private let clock: @Sendable () -> Instant
  private let supervisor = Supervisor(name: "chime-commands")
  /// A mutex guards the queue: the loop sends messages, request handlers run tests, and the supervisor's thread reports
  /// events. It is held while the queue decides, never during a report.
  private let runQueue = Mutex(CommandRunQueue())

  /// - Parameter clock: The wall clock; the system's by default.
  public init(environment: CommandEnvironment, clock: (@Sendable () -> Instant)? = nil) {
    self.environment = environment
    self.clock = clock ?? Timestamp.now
  }

  /// Replaces the definitions for later runs. Current runs continue.
  public func adopt(_ book: CommandRegistry) { change { $0.adopt(book) } }

  public var book: CommandRegistry { runQueue.withLock(\.book) }

  /// Returns the number of current runs of a command, tests included.
  public func running(_ name: ChannelName) -> Int { runQueue.withLock { $0.running(name) } }

  /// Returns why the command cannot run now; nil if it can.
  public func problem(of command: CommandDefinition) -> String? {
    environment.path(of: command) == nil ? "there is no executable program \(command.program)" : nil
  }

  /// Runs the command for a message. Reports `.ended` once, then `.answered` if the last line of standard output acts
  /// on the occurrence (`WebhookAnswer`).
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let clock = clock
    let job = CommandJob(message: message, type: "reminder.fired") { result, took in
      let attempt = Self.attempt(result, took, number: message.delivery.attempts + 1, endedAt: clock())
      report(.ended(attempt, next: result.next))
      if let answer = result.answer { report(.answered(answer)) }
    }
    change { $0.admit(job) }
  }

  /// Does nothing. A program that has started runs to its end.
  public func withdraw(_ occurrence: OccurrenceID) {}

  /// Ends all programs and returns when none is left.
  public func stop() async {
    change { $0.close() }
    await supervisor.stop()
  }

  /// Runs a command now with a `chime.test` message, outside its queue. Nothing is stored or retried.
  ///
  /// - Parameter owner: The user who asked for the test.
  public func test(_ command: CommandDefinition, owner: UInt32) async -> CommandTest {
    let message = Self.sample(
      of: command.name, "A test", "A test message of Chime. No reminder has fired.", owner: owner, at: clock())
    let input = (try? WebhookMessage(message, type: Self.testType).bytes()) ?? []
    let (result, took) = await run(message, type: Self.testType)
    let facts = CommandEnvironment.facts(message, type: Self.testType)
    return CommandTest(
      path: environment.path(of: command) ?? command.program, arguments: command.arguments,
      input: String(decoding: input, as: UTF8.self),
      variables: facts.map { "\($0.key)=\($0.value)" }.sorted(),
      output: PlainText.withoutControls(String(decoding: result.output, as: UTF8.self), lines: true),
      isCut: result.isCut,
      attempt: Self.attempt(result, took, number: 1, endedAt: clock()))
  }

  /// Runs a command with a `chime.heartbeat` message, outside its queue. Nothing is stored or retried.
  public func beat(_ name: ChannelName) async -> HeartbeatMessage.Outcome {
    let book = book
    guard let command = book.commands[name] else { return .refused("there is no command \(name) in [commands]") }
    guard book.isEnabled else { return .refused("commands are switched off: \(book.remedy)") }
    let message = Self.sample(of: command.name, "Chime can fire", "", owner: 0, at: clock())
    let (result, _) = await run(message, type: "chime.heartbeat")
    guard result.outcome != .delivered else { return .taken }
    return .refused(result.error ?? "the command \(name) has failed")
  }

  private func run(
    _ message: OutboundMessage, type: String
  ) async -> (result: CommandRun.Result, took: Milliseconds) {
    await withCheckedContinuation { continuation in
      let job = CommandJob(message: message, type: type, isTest: true) { continuation.resume(returning: ($0, $1)) }
      change { $0.admit(job) }
    }
  }

  private static let testType = "chime.test"

  private static func sample(
    of name: ChannelName, _ title: String, _ body: String, owner: UInt32, at now: Instant
  ) -> OutboundMessage {
    var random = SystemRandom()
    let due = Instant(seconds: now.seconds)
    let id = OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: due)
    let reminder = (try? Schedule(canonical: "at \(Timestamp.rfc3339(due))")).map {
      Reminder(
        id: id.reminder, owner: owner, title: title, body: body.isEmpty ? nil : body, schedule: $0, channels: [name],
        tags: ["test"], createdAt: due)
    }
    return OutboundMessage(
      delivery: Delivery(
        id: DeliveryID(at: now, using: &random), occurrence: id, queue: DeliveryQueue(owner: owner, channel: name),
        round: 1,
        createdAt: now),
      occurrence: Occurrence(id: id, title: title, owner: owner, state: .fired, firedAt: now, rounds: 1),
      reminder: reminder)
  }

  private static func attempt(
    _ result: CommandRun.Result, _ took: Milliseconds, number: Int, endedAt: Instant
  ) -> Attempt {
    Attempt(
      number: number, startedAt: endedAt - took, took: took, outcome: result.outcome, status: result.status,
      answer: PlainText.excerpt(result.output), error: result.error)
  }

  private func handle(_ event: Supervisor.Event, of run: Supervisor.RunID) { change { $0.handle(event, of: run) } }

  /// Applies a decision of the queue and executes its orders.
  private func change(_ decide: (inout CommandRunQueue) -> [CommandRunQueue.Order]) {
    var failures: [(Supervisor.RunID, SpawnFailure)] = []
    let orders = runQueue.withLock { runQueue in
      let orders = decide(&runQueue)
      // Orders are passed to the supervisor under the lock, which keeps them in order.
      for order in orders {
        if let failure = pass(order) { failures.append(failure) }
      }
      return orders
    }
    for case .report(let job, let result, let took) in orders { job.report(result, took) }
    for (run, failure) in failures { handle(.notStarted(failure), of: run) }
  }

  /// Passes an order to the supervisor. Returns the run if the supervisor refuses it.
  private func pass(_ order: CommandRunQueue.Order) -> (Supervisor.RunID, SpawnFailure)? {
    switch order {
    case .start(let run, let job, let command):
      guard let program = try? environment.program(command, job.message, type: job.type) else {
        return (run, .system(SystemError("json", 0)))
      }
      let failure = supervisor.start(run, program, deadline: Duration(command.timeLimit)) { [weak self] event in
        self?.handle(event, of: run)
      }
      return failure.map { (run, $0) }
    case .end(let run): supervisor.end(run, with: Supervisor.terminate)
    case .report: break
    }
    return nil
  }
}

/// The input and the result of a command test.
public struct CommandTest: Hashable, Sendable {
  /// Path of the program.
  public var path: String
  public var arguments: [String]
  /// Standard input.
  public var input: String
  /// The variables about the message as `NAME=value`, sorted by name.
  public var variables: [String]
  /// Printable text of standard output and standard error, at most 64 KiB.
  public var output: String
  /// Whether the output was truncated.
  public var isCut: Bool
  /// Exit status, error and timing.
  public var attempt: Attempt

  public var isDelivered: Bool { attempt.outcome == .delivered }
}
