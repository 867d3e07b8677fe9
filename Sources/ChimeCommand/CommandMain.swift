import ChimeWords
import Glibc

/// The command, from the arguments of the process to its exit status.
package enum CommandMain {
  /// Runs the command with the arguments of the process and ends the process.
  package static func run() -> Never {
    // With SIGPIPE ignored, a closed reader is a write error, which ends the command quietly.
    signal(SIGPIPE, SIG_IGN)
    Catalogs.begin()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == Complete.name { Complete.limitTime() }
    let status = run(arguments, in: .process())
    exit(status.rawValue)
  }

  package static func run(_ arguments: [String], in process: CommandProcess) -> ExitCode {
    let status: ExitCode
    if arguments.first == Complete.name {
      status = Complete.run(Array(arguments.dropFirst()), in: process)
      process.output.flush()
      return status
    }
    do {
      let line = try ParsedLine.parse(arguments)
      status = try perform(line, in: process)
    } catch {
      process.output.flush()
      let failure = Failure(any: error)
      let style = Style(when: nil, isTerminal: process.errors.isTerminal, environment: process.environment)
      failure.print(to: process.errors, style: style)
      status = failure.status
    }
    process.output.flush()
    process.errors.flush()
    return status
  }

  private static func perform(_ line: ParsedLine, in process: CommandProcess) throws -> ExitCode {
    let context = Context(line: line, process: process)
    if line.has("help") { return try Help.run(context, path: line.path) }
    if line.has("version") { return try Version.run(context) }
    if line.has("json"), line.has("plain") {
      throw Failure.usage(
        localized(
          "--json and --plain cannot be used together"))
    }
    guard let verb = line.verb else {
      if let word = line.words.first { throw CommandTable.standard.unknown(verb: word, within: []) }
      return try Help.run(context, path: [])
    }
    guard verb.subverbs.isEmpty else {
      let choices = verb.subverbs.map { "chime \(line.verbName) \($0.name)" }.joined(separator: ", ")
      throw Failure.usage(
        localized("chime %1 needs one of its subcommands", line.verbName), hint: localized("there are: %1", choices))
    }
    do {
      return try verb.run(context)
    } catch let failure as Failure {
      // Nothing was done yet: the daemon refuses a name that fits several before it changes anything.
      guard let chosen = try Choosing.line(after: failure, context) else { throw failure }
      return try verb.run(Context(line: chosen, after: context))
    }
  }
}

extension Failure {
  /// Wraps any error as a failure with a message for the user.
  init(any error: any Error) {
    self = error as? Failure ?? .failed("\(error)")
  }

  func print(to sink: TextSink, style: Style) {
    sink.line("\(style("chime:", .bad)) \(TerminalSanitizer.line(message))")
    for line in detail { sink.line(line) }
    for hint in hints { sink.line("  \(TerminalSanitizer.line(localizedServerMessage(hint)))") }
  }
}
