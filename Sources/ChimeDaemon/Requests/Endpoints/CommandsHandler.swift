import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A CommandsHandler answers the methods about the commands that deliver reminders.
struct CommandsHandler: CommandsInterface.Handler, RequestPart {
  let requestContext: RequestContext

  func handle(_: CommandsInterface.List) async throws -> CommandsInterface.List.Reply {
    let book = commands.book
    let counts = try await store.read { [self] transaction in
      try book.commands.mapValues { try pending(to: $0.name, transaction) }
    }
    return CommandsInterface.List.Reply(
      commands: book.commands.values.sorted { $0.name < $1.name }.map { command in
        CommandsInterface.Command(
          name: command.name.rawValue, program: command.program, arguments: command.arguments,
          enabled: book.isEnabled, timeLimit: DurationText.formatISO8601(command.timeLimit),
          overlap: CommandsInterface.Command.Overlap(rawValue: command.overlap.rawValue) ?? .queue,
          problem: book.isEnabled ? commands.problem(of: command) : "commands are switched off: \(book.remedy)",
          pending: counts[command.name] ?? 0, running: commands.running(command.name))
      })
  }

  func handle(_ request: CommandsInterface.Test) async throws -> CommandsInterface.Test.Reply {
    let book = commands.book
    guard let command = book.commands[ChannelName(rawValue: request.name)] else {
      throw ControlFailure.notFound(
        what: "command", id: String(request.name.prefix(200)),
        similar: SpellingSuggestions.to(request.name, among: book.commands.keys.map(\.rawValue)))
    }
    try need(book.isEnabled, conflict: "commands are switched off: \(book.remedy)")
    let test = await commands.test(command, owner: caller.owner)
    return CommandsInterface.Test.Reply(
      result: CommandsInterface.TestResult(
        ok: test.isDelivered, program: test.path, arguments: test.arguments, input: test.input,
        variables: test.variables, status: test.attempt.status, output: test.output, truncated: test.isCut,
        error: test.attempt.error, durationMs: Int(test.attempt.took.rawValue)))
  }

  /// Returns the number of pending messages of a command: those that the caller sees.
  private func pending(to name: ChannelName, _ transaction: any StoreTransaction) throws -> Int {
    try [DeliveryFilter.State.pending, .waiting].reduce(0) { sum, state in
      let filter = DeliveryFilter(owner: caller.sees, channel: name, state: state)
      return sum + (try transaction.deliveries(filter, page: Page(limit: 10_000)).count)
    }
  }
}
