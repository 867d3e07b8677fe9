import ChimeControl

/// `chime skip ID|TITLE`
enum Skip {
  static let verb = Verb(
    name: "skip", group: .change, arguments: ["ID|TITLE"], summary: "Skip the next time of a reminder",
    options: [.value("count", "n", "N", "Skip the next N times; 0 undoes it")],
    examples: ["chime skip Stand-up", "chime skip r7k2 -n 0"],
    json: "`reminder`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let count = try context.line.count("count", minimum: 0, maximum: 10_000)
    let reply: RemindersInterface.Skip.Reply = try context.daemon().call(RemindersInterface.Skip(id: id, count: count))
    Adding.answer(context, reply.reminder)
    return .success
  }
}
