public import ChimeCore
public import ChimeSchedule
import Synchronization

/// Says what fires by running a program of the configuration's: no shell, the message as JSON on its standard input and
/// in variables, a time limit, its output and exit status in the record.
///
/// A message is delivered when the program ends with a status that means success. Each run is a process group of its own,
/// which is gone when the attempt is over: at the time limit it gets SIGTERM and five seconds later SIGKILL, and whatever
/// of it is left when the program ends is killed. All programs are watched by one thread.
///
///     let commands = CommandChannel(environment: CommandEnvironment(environment, isSystem: false))
///     commands.adopt(book)
///     commands.send(message) { report in … }
public final class CommandChannel: Channel {
  private let environment: CommandEnvironment
  private let clock: @Sendable () -> Instant
  private let supervisor = Supervisor(name: "chime-commands")
  /// Behind a mutex because messages come from the daemon's loop, tests from its desk and events from the supervisor's
  /// thread. Held while the board decides, never while something is reported.
  private let runQueue = Mutex(CommandRunQueue())

  /// - Parameter clock: the wall clock, by default the system's.
  public init(environment: CommandEnvironment, clock: (@Sendable () -> Instant)? = nil) {
    self.environment = environment
    self.clock = clock ?? Timestamp.now
  }

  /// Takes other definitions for what starts from now on; what runs is left to end.
  public func adopt(_ book: CommandRegistry) { change { $0.adopt(book) } }

  /// The definitions in force.
  public var book: CommandRegistry { runQueue.withLock(\.book) }

  /// How many runs of a command are under way, tests included.
  public func running(_ name: ChannelName) -> Int { runQueue.withLock { $0.running(name) } }

  /// Why a command could not be run if it were needed now; nil when it could.
  public func problem(of command: CommandDefinition) -> String? {
    environment.path(of: command) == nil ? "there is no executable program \(command.program)" : nil
  }

  /// Reports `.ended` once, and then `.answered` when the last line of the program's standard output acts on the
  /// occurrence (`WebhookAnswer`).
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let clock = clock
    let job = CommandJob(message: message, type: "reminder.fired") { result, took in
      let attempt = Self.attempt(result, took, number: message.delivery.attempts + 1, endedAt: clock())
      report(.ended(attempt, next: result.next))
      if let answer = result.answer { report(.answered(answer)) }
    }
    change { $0.admit(job) }
  }

  /// Does nothing: what a program has begun, it ends.
  public func withdraw(_ occurrence: OccurrenceID) {}

  /// Ends all programs, and returns when none is left.
  public func stop() async {
    change { $0.close() }
    await supervisor.stop()
  }

  /// Runs a command now with a sample message of type `chime.test`, past its queue, and says all about it.
  ///
  /// Nothing is stored and nothing retried.
  ///
  /// - Parameter owner: whose test it is.
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

  /// Has a command tell that the daemon can fire, past its queue, with the type `chime.heartbeat`. Nothing is stored and
  /// nothing retried.
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

  /// Lets the board decide and carries out its orders.
  private func change(_ decide: (inout CommandRunQueue) -> [CommandRunQueue.Order]) {
    var failures: [(Supervisor.RunID, SpawnFailure)] = []
    let orders = runQueue.withLock { runQueue in
      let orders = decide(&runQueue)
      // What the supervisor is to do is queued under the lock, so that it is done in the order in which it was decided.
      for order in orders {
        if let failure = pass(order) { failures.append(failure) }
      }
      return orders
    }
    for case .report(let job, let result, let took) in orders { job.report(result, took) }
    for (run, failure) in failures { handle(.notStarted(failure), of: run) }
  }

  /// Queues what an order asks of the supervisor. Returns the run that it cannot take.
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

/// What a test gave a command and what came of it.
public struct CommandTest: Hashable, Sendable {
  /// What was run.
  public var path: String
  public var arguments: [String]
  /// Its standard input.
  public var input: String
  /// `NAME=value`: those that tell of the message, by name.
  public var variables: [String]
  /// What it wrote on both outputs, made printable, at most 64 KiB.
  public var output: String
  /// Whether it wrote more than that.
  public var isCut: Bool
  /// Exit status, error and timing.
  public var attempt: Attempt

  /// Whether it ended with a status that means success.
  public var isDelivered: Bool { attempt.outcome == .delivered }
}
