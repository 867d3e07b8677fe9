import ChimeCore
import ChimeSchedule

/// A message for a command, or a test of a command.
struct CommandJob: Sendable {
  let message: OutboundMessage
  let type: String
  /// Whether it starts at once, regardless of other runs.
  var isTest = false
  let report: @Sendable (CommandRun.Result, Milliseconds) -> Void
  var owner: UInt32 { message.delivery.queue.owner }
}

/// A CommandRunQueue decides which command runs start and which wait. It returns orders and has no side effects.
struct CommandRunQueue: Sendable {
  enum Order: Sendable {
    case start(Supervisor.RunID, CommandJob, CommandDefinition)
    case end(Supervisor.RunID)
    case report(CommandJob, CommandRun.Result, Milliseconds)
  }

  private struct Entry {
    let job: CommandJob
    var run: CommandRun
    let started = SuspendingClock.now
    var name: ChannelName { job.message.delivery.queue.channel }
  }

  /// Maximum test runs of all clients together. The limit per owner keeps hanging tests of one owner from using them
  /// up.
  static let maxTests = 16
  static let maxTestsOfAnOwner = 2

  private(set) var book = CommandRegistry()
  private var entries: [Supervisor.RunID: Entry] = [:]
  /// Messages that wait for a run of their command to end, oldest first.
  private var waitingJobs: [CommandJob] = []
  private var lastRun: Supervisor.RunID = 0
  private var isClosed = false

  /// Replaces the definitions. Current runs continue; waiting messages use the new definitions.
  mutating func adopt(_ book: CommandRegistry) -> [Order] {
    self.book = book
    return advance()
  }

  func running(_ name: ChannelName) -> Int { entries.values.count { $0.name == name } }

  mutating func admit(_ job: CommandJob) -> [Order] {
    if isClosed { return [Self.refuse(job, ShutdownOutcome.outcome, ShutdownOutcome.next, ShutdownOutcome.sentence)] }
    if job.isTest {
      let owners = entries.values.filter(\.job.isTest).map(\.job.owner)
      if owners.count(where: { $0 == job.owner }) >= Self.maxTestsOfAnOwner || owners.count >= Self.maxTests {
        return [Self.refuse(job, .refused, .blocked(.seconds(30)), "the limit of concurrent tests is reached")]
      }
    }
    waitingJobs.append(job)
    return advance()
  }

  mutating func handle(_ event: Supervisor.Event, of run: Supervisor.RunID) -> [Order] {
    guard var entry = entries[run] else { return [] }
    let action = entry.run.handle(event)
    switch action {
    case nil:
      entries[run] = entry
      return []
    case .end:
      entries[run] = entry
      return [.end(run)]
    case .over(let result):
      entries[run] = nil
      let took = Milliseconds(entry.started.duration(to: .now))
      return [.report(entry.job, result, took)] + advance()
    }
  }

  mutating func close() -> [Order] {
    isClosed = true
    let refused = waitingJobs
    waitingJobs.removeAll()
    for run in entries.keys { entries[run]?.run.stop() }
    return refused.map { Self.refuse($0, ShutdownOutcome.outcome, ShutdownOutcome.next, ShutdownOutcome.sentence) }
  }

  /// Starts the jobs that may start and refuses those that never can.
  private mutating func advance() -> [Order] {
    var orders: [Order] = []
    var waiting: [CommandJob] = []
    for job in waitingJobs {
      let name = job.message.delivery.queue.channel
      guard let command = book.commands[name] else {
        orders.append(Self.refuse(job, .refused, .blocked(.minutes(5)), "the command \"\(name)\" no longer exists"))
        continue
      }
      guard book.isEnabled else {
        let sentence = "commands are switched off, so \"\(name)\" does not run: \(book.remedy)"
        orders.append(Self.refuse(job, .refused, .blocked(.minutes(5)), sentence))
        continue
      }
      let others = entries.values.filter { $0.name == name && !$0.job.isTest }
      if job.isTest || others.isEmpty || command.overlap == .parallel {
        lastRun += 1
        let limit = Presentation.span(command.timeLimit)
        entries[lastRun] = Entry(
          job: job, run: CommandRun(command, limit: limit, round: job.message.delivery.round))
        orders.append(.start(lastRun, job, command))
      } else if command.overlap == .skip {
        orders.append(
          Self.refuse(
            job, .refused, .cancel,
            "skipped: \"\(name)\" was still running for an earlier reminder"))
      } else {
        waiting.append(job)
      }
    }
    waitingJobs = waiting
    return orders
  }

  private static func refuse(
    _ job: CommandJob, _ outcome: Attempt.Outcome, _ next: ChannelReport.NextStep, _ sentence: String
  ) -> Order {
    .report(job, CommandRun.Result(outcome: outcome, next: next, error: sentence), .zero)
  }
}
