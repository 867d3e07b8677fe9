import ChimeControl
import ChimeWords
import FoundationEssentials
import Glibc

/// `chime store move`
enum StoreVerbs {
  static let verb = Verb(
    name: "store", group: .about, summary: "Move the store from its file to a database, or back",
    examples: ["chime store move --to postgres --dry-run"],
    alsoTried: ["database", "migrate", "transfer", "convert"], subverbs: [StoreMove.verb])
}

/// `chime store move --to postgres|sqlite`
enum StoreMove {
  static let verb = Verb(
    name: "move", group: .about, summary: "Move the store from its file to a database, or back",
    details: [
      "The command moves all the daemon's data from the SQLite file to the PostgreSQL database that `connection` of "
        + "`[store]` in chimed.toml names, or back: reminders, due times, history, pending messages, endpoints, "
        + "trackers and entries. It writes in one transaction, reads the data back and compares; a failed move "
        + "leaves nothing behind. The source stays as it is.",
      "Stop the daemon first. The target has to be empty. Afterwards set `engine` in `[store]` and start the "
        + "daemon. Use only one of the two stores: both would fire. Secrets of endpoints and photos are files in "
        + "the state folder and stay there.",
    ],
    options: [
      .value(
        "from", nil, "ENGINE", "The present store; the default is the other one", choices: ["sqlite", "postgres"]),
      .value("to", nil, "ENGINE", "The target", choices: ["postgres", "sqlite"]),
      .value("config", nil, "FILE", "The daemon's configuration, if it is not in its usual place"),
      .flag("dry-run", nil, "Check everything without moving: both stores, permissions, the amount of data"),
    ],
    examples: [
      "chime store move --to postgres --dry-run", "chime --system store move --to postgres",
      "chime store move --from postgres --to sqlite",
    ],
    alsoTried: ["migrate", "transfer", "convert"],
    json:
      "`move`: `source`, `target`, `dryRun`, `durationMs`, `configuration` and `tables`, of each its "
      + "`name` and `rows`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    guard let engine = context.line.value("to") else {
      throw Failure.usage(localized("where to? --to is missing"), hint: "chime store move --to postgres")
    }
    try need(
      context.line.value("from") != engine, localized("source and target of the move are the same"),
      hint: "chime store move --from sqlite --to postgres")
    guard let chimed = LocalDaemonBinary.path(environment: context.process.environment) else {
      throw Failure.failed(localized("there is no chimed beside this command or in PATH"))
    }
    let socket = try SocketPath.chosen(
      by: context.line, environment: context.process.environment, userID: context.process.userID)
    var arguments = ["--move-to", engine]
    if context.line.has("dry-run") { arguments.append("--dry-run") }
    if socket.isSystem { arguments.append("--system") }
    if let file = context.line.value("config") { arguments += ["--config", file] }
    tell(try move(chimed, arguments, context), engine, context)
    return .success
  }

  private static func move(_ chimed: String, _ arguments: [String], _ context: Context) throws -> MoveLine.Result {
    var result: MoveLine.Result?
    var problem: MoveLine.Problem?
    var progress: Progress?
    defer { progress?.end() }
    let status = try LocalDaemonBinary.run(chimed, arguments) { text in
      guard let line = try? JSONDecoder().decode(MoveLine.self, from: Data(text)) else { return }
      if let done = line.progress {
        let shown = progress ?? Progress(context, localized("Moving"), total: done.total)
        progress = shown
        shown.tell(done.done)
      }
      result = line.result ?? result
      problem = line.problem ?? problem
    }
    if let problem {
      throw Failure(
        status: problem.mayPass ? .tryAgain : .failed, message: localizedServerMessage(problem.sentence),
        hints: [localized("nothing was moved")])
    }
    guard let result, status == 0 else {
      throw Failure.failed(
        localized("chimed ended without moving the store (status %1)", String(status)),
        hint: localized("see the messages above, and its configuration: chimed --check"))
    }
    return result
  }

  private static func tell(_ result: MoveLine.Result, _ engine: String, _ context: Context) {
    let tables = result.tables.filter { $0.rows > 0 }
    switch context.format {
    case .json:
      context.print(json: [
        "move": Output.MovedStore(
          source: result.source, target: result.target, dryRun: result.dryRun, durationMs: result.took,
          configuration: result.configuration, tables: result.tables.map { .init(name: $0.name, rows: $0.rows) })
      ])
    case .plain:
      context.out(Plain.line(["table", "rows"]))
      for table in tables { context.out(Plain.line([table.name, String(table.rows)])) }
    case .human:
      guard !context.isQuiet else { break }
      context.out("\(TerminalSanitizer.line(result.source)) → \(TerminalSanitizer.line(result.target))")
      let counts = tables.map { "\($0.name) \(LocalizedFormat.number(Double($0.rows)))" }
      for line in TextWidth.wrap(counts.joined(separator: ", "), to: context.width, indent: 2) { context.out(line) }
      if result.dryRun {
        context.note(localized("The move would work. Nothing was changed: this was a dry run."))
        break
      }
      context.out(localized("Moved, read back and compared."))
      context.note(
        localized("Now write engine = \"%1\" into [store] of %2, and start chimed.", engine, result.configuration))
      if engine == "postgres" {
        context.note(
          localized("Other daemons with that connection then share its work: `%1` shows them.", "chime fleet"))
      }
    }
  }
}
